"""Search for the batch sizes that meet a target, where δ is not monotone.

δ falls with the batch size m where the step that uses a record dominates, and rises where the later steps dominate. The
whole range is therefore searched, not only a bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.search import Certified
from epsilond.calibrators.targets.failures import LOG_10

if TYPE_CHECKING:
    from epsilond.calibrators.projected_sgd.accounts import Accounts
    from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem

MOST_NODES = 128
"""Limit on the ranges of batch sizes m that are examined for constant schedules."""
MOST_LISTED = 256
"""Limit on the values of m that are tried for changing schedules."""
MOST_STEPS_TRIED = 20_000
"""Number of steps of a run beyond twice which no batch size is tried for changing schedules."""
MARGIN = 1e-8
"""Margin in log δ by which a bound for a range of m decides it, for rounding."""


@dataclass(frozen=True, kw_only=True)
class Feasible:
    """A range of batch sizes from `least` to `most`, all of which meet the target."""

    least: int
    most: int


@dataclass(frozen=True)
class BatchRanges:
    """The batch sizes that meet a target.

    Attributes:
        certified: the smallest of them. Its slack is 0 if every smaller batch size is known to miss the target, and
            None if some were not tried.
        ranges: all of them, as ranges in ascending order.
        exhaustive: whether every batch size from 1 to the number of records was decided.
    """

    certified: Certified
    ranges: tuple[Feasible, ...]
    exhaustive: bool


def feasible_batches(problem: ProjectedSgdProblem, accounts: Accounts) -> BatchRanges:
    """Find the ranges of batch sizes that meet the target, and certify the smallest size.

    For constant schedules, a range of batch sizes is decided as a whole or, if that fails, halved. For changing
    schedules, batch sizes are tried one by one. The number of trials is limited, so that some batch sizes may remain
    undecided.

    Args:
        problem: the request, with the clients, the schedules and the privacy target.
        accounts: the guarantees of its runs.

    Returns:
        The ranges, with the guarantee at the smallest batch size.

    Raises:
        Infeasible: no batch size that was tried meets the target.
    """
    is_constant = problem.plan().is_constant
    search = _BatchSearch(problem, accounts)
    ranges, exhaustive = search.bisect() if is_constant else search.scan()
    if not ranges:
        raise _no_batch_suffices(search.best, problem.target.log10_delta)

    # With constant schedules, ranges are decided in ascending order, so that none below the first one is undecided.
    least = ranges[0].least
    slack = 0.0 if is_constant or exhaustive else None
    certified = Certified(least, accounts.guarantee_at(participants=least), slack)
    return BatchRanges(certified, ranges, exhaustive)


def _no_batch_suffices(best: float, target: float) -> Infeasible:
    """Build the error for a run that misses its privacy target at every batch size that was tried.

    Args:
        best: the least log10 δ of all batch sizes that were tried, at most 0.
        target: log10 δ of the target.

    Returns:
        The error, with `best` and `target` as the sides of the failed condition. If the least δ is below 1, the error
        names it as a target that can be met.
    """
    condition = ConditionResult("target", "log10 δ is at most the target", Verdict.NO, best, target)
    nearest = {}
    if best < 0.0:
        # Converted back to a natural logarithm, `best` itself could be rounded below the least log δ.
        nearest = {"log10_delta": math.nextafter(best, 0.0)}
    return Infeasible("no number of participants that was tried meets the target", condition, nearest)


class _BatchSearch:
    """A search over the batch sizes m of projected SGD, where δ is not monotone in m.

    Attributes:
        problem: the request, with the target and the number of clients.
        accounts: the guarantees of its runs.
        best: the least log₁₀ δ of all batch sizes that were tried, at most 0. An error message names it.
    """

    def __init__(self, problem: ProjectedSgdProblem, accounts: Accounts) -> None:
        self.problem = problem
        self.accounts = accounts
        self.best = 0.0

    def meets(self, participants: int) -> bool:
        """Decide whether a batch size meets the target, and update the least log10 δ of all that were tried."""
        guarantee = self.accounts.guarantee_at(participants=participants)
        log_delta = guarantee.curve.upper_log_delta(self.problem.target.epsilon)
        self.best = min(self.best, log_delta / LOG_10)
        return log_delta <= self.problem.target.log_delta

    def bisect(self) -> tuple[tuple[Feasible, ...], bool]:
        """Decide ranges of batch sizes as a whole, by bounds on δ for all sizes in them; halve undecided ranges.

        Returns:
            The ranges that meet the target, in ascending order, and whether all ranges were decided within `MOST_NODES`
            attempts.
        """
        clients = self.problem.clients
        # The first ranges reach from each power of two to the next one, or to the number of clients.
        exponents = range(clients.bit_length())
        octaves = [(2**exponent, min(2 ** (exponent + 1) - 1, clients)) for exponent in exponents]
        pending = octaves[::-1]  # a stack, with the smallest range on top
        ranges: list[Feasible] = []
        for _ in range(MOST_NODES):
            if not pending:
                break
            low, high = pending.pop()
            verdict = self.meets(low) if low == high else self._decide(low, high)
            if verdict is None:
                middle = (low + high) // 2
                pending += [(middle + 1, high), (low, middle)]
            elif verdict:
                _append_range(ranges, low, high)
        return tuple(ranges), not pending

    def _decide(self, low: int, high: int) -> bool | None:
        """Decide for a whole range of batch sizes m whether all of them or none meet the target.

        For n clients and the T = ⌊n/m⌋ steps v of a pass, the bound on δ at m is:

            (m/n) Σ_v g_v,

        where g_v is the δ of a record that is used in step v. It rises with the sensitivity of a step over its noise,
        2L/(√m σ), and with the width of the domain over the noise of a step, 2ρ√m/(ησ). L is the Lipschitz constant, σ
        the noise of a client, ρ the radius of the domain and η the step size.

        The largest values of these ratios, of T and of m/n within the range give an upper bound on every δ. The least
        values give a lower bound.

        Args:
            low: smallest batch size of the range.
            high: largest batch size of the range.

        Returns:
            True if every m meets the target, False if no m does, and None if the bounds do not decide.
        """
        target_log_delta = self.problem.target.log_delta
        # The run of `_bound_over_range` has this many clients. Specs limit their number.
        clients_of_bound = high * (self.problem.clients // low)
        if clients_of_bound > LARGEST_COUNT:
            return None

        # These two trials often show at once that the range cannot be decided as a whole.
        meets_at_low = self.meets(low)
        meets_at_high = self.meets(high)
        if meets_at_low != meets_at_high:
            return None
        # The margin in log δ exceeds the rounding errors of the bounds.
        if meets_at_low:
            all_meet = self._bound_over_range(high, low).upper <= target_log_delta - MARGIN
            return True if all_meet else None
        none_meets = self._bound_over_range(low, high).lower > target_log_delta + MARGIN
        return False if none_meets else None

    def _bound_over_range(self, batch: int, step_batch: int) -> Interval:
        """Bound log δ for a whole range of batch sizes, by a run that combines the smallest and the largest size.

        With `batch` the largest size and `step_batch` the smallest, the upper bound holds for every δ of the range.
        With the two exchanged, the lower bound holds for every δ of the range. `_decide` gives the reason.

        Args:
            batch: batch size m for the width of the domain relative to the noise, and for the factor m/n of δ.
            step_batch: batch size for the sensitivity of a step and for the number of steps.

        Returns:
            The bounds on log δ at the target ε, natural logarithm.
        """
        clients = self.problem.clients
        steps = clients // step_batch
        clients_of_bound = batch * steps
        # The scaled Lipschitz constant gives a step of the combined run the sensitivity of a batch of `step_batch`.
        guarantee = self.accounts.guarantee_at(
            participants=batch,
            clients=clients_of_bound,
            lipschitz=self.problem.lipschitz * math.sqrt(batch / step_batch),
        )
        bounds = guarantee.curve.bound_log_delta(self.problem.target.epsilon)
        # The δ of this run has the factor 1/steps, but the bound for the range has the factor batch/clients.
        log_weight = math.log(clients_of_bound / clients)
        return Interval(bounds.lower + log_weight, bounds.upper + log_weight)

    def scan(self) -> tuple[tuple[Feasible, ...], bool]:
        """Try batch sizes one by one: all of them if they are few, and otherwise a logarithmic grid.

        Between the first grid value that meets the target and the one before it, a smaller batch size that meets the
        target is searched by bisection.

        Returns:
            The batch sizes that meet the target, as ranges in ascending order; and whether every batch size was tried.
        """
        clients = self.problem.clients
        # Much smaller batches would need too many steps in one pass over the clients.
        least = max(1, clients // MOST_STEPS_TRIED)
        are_few = clients - least + 1 <= MOST_LISTED
        candidates = range(least, clients + 1) if are_few else _batch_grid(least, clients)
        ranges: list[Feasible] = []
        failing = least - 1
        for participants in candidates:
            if not self.meets(participants):
                failing = participants
                continue
            # Smaller batches, between the last failing candidate and this one, may meet the target, too.
            if not ranges:
                smallest = self._refine(failing, participants)
                if smallest != participants:
                    _append_range(ranges, smallest, smallest)
            _append_range(ranges, participants, participants)
        return tuple(ranges), are_few and least == 1

    def _refine(self, failing: int, passing: int) -> int:
        """Bisect to a batch size that meets the target, of which the next smaller one misses it or was not tried.

        Args:
            failing: a batch size that misses the target, or that is too small to be tried.
            passing: a larger batch size that meets it.

        Returns:
            The batch size, between both arguments or equal to `passing`.
        """
        while passing - failing > 1:
            middle = (failing + passing) // 2
            if self.meets(middle):
                passing = middle
            else:
                failing = middle
        return passing


def _batch_grid(least: int, most: int) -> list[int]:
    """Return about `MOST_LISTED` batch sizes that are evenly spaced by logarithm.

    Args:
        least: the smallest batch size, at least 1.
        most: the largest batch size.

    Returns:
        The batch sizes in ascending order, each once.
    """
    last = MOST_LISTED - 1
    ratio = most / least
    return sorted({round(least * ratio ** (index / last)) for index in range(MOST_LISTED)})


def _append_range(ranges: list[Feasible], least: int, most: int) -> None:
    """Add a range to the end of an ascending list, joined to the last range if it follows that directly.

    Args:
        ranges: the list, which is changed.
        least: smallest batch size of the new range, above all in the list.
        most: largest batch size of the new range.
    """
    if ranges and ranges[-1].most + 1 == least:
        least = ranges.pop().least
    ranges.append(Feasible(least=least, most=most))

"""Search for the least truncated discrete Laplace noise that meets a target, over several proofs.

The noise has a decay rate α and m levels. An escape is a message that only one of two neighbours can send; all other
messages form the common support.

- `escape` (proof A): α = ε/(R⌊Δ₁⌋), for R rounds and the ℓ1 sensitivity Δ₁. Only escapes then count, and the least m is
  exact.
- `hockey-stick` (B) and `concentrated` (C): a larger α has some privacy loss above ε in the common support, which is
  bounded exactly or by zCDP. The rest of δ is left for escapes.

The search over α uses estimates of these two parts of δ, which take little time. The estimated noises of all proofs
are compared, and the least is certified by `account`. Another noise is certified only if its estimate is nearly as
small.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.estimates.bounds import closed_form_decides
from epsilond.accountants.numerics.root_search import least_integer
from epsilond.accountants.numerics.truncated_laplace import largest_rate, least_levels, variance
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.qtdl.family import CertifiedNoise, IntegerRelease
from epsilond.calibrators.qtdl.problem import METHODS
from epsilond.calibrators.qtdl.rate_search import FAR, LARGEST_RATE, MOST_LEVELS, RateSearch, log_difference_of

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.theorems.papers.das.sensitivity import Movement
    from epsilond.calibrators.qtdl.problem import GridProblem, Method

HOPELESS, WORSE = 1.05, 1.0005
"""Ratios of estimated levels to the best certified levels above which a noise is not certified. The second applies if a
closed form decides, whose estimates err by at most one level."""
LEAST_FURTHEST = 1024
"""Least number of levels by which a search may move up from its start."""
_GROWTH = 4
"""Ratio of the lengths of successive steps in a search for levels."""


class Approach(NamedTuple):
    """A method of proof for the noise, with the distances of neighbours that it uses.

    Attributes:
        method: name of the method in the answer.
        proof: name of the method with the bound that estimates the number m of noise levels. It differs from `method`
            if `concentrated-coupled` is estimated by the bound of `escape` or `concentrated`.
        movement: bounds on the distances of the integers of two neighbours in a round, in grid steps.
    """

    method: Method
    proof: Method
    movement: Movement


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Noise that meets the target by an estimate, and is to be certified.

    Attributes:
        method: name of the method of proof by which the noise is to be certified.
        release: the messages of all rounds.
        rate: decay rate α: the noise is y with probability proportional to e^(−α|y|).
        levels: number of levels m, the largest absolute value of the noise.
        closed: whether δ is a closed form, the probability of an escape: a message that only one of two neighbours can
            send. No other privacy loss then exceeds ε.
    """

    method: Method
    release: IntegerRelease
    rate: float
    levels: int
    closed: bool

    @property
    def order(self) -> tuple[int, float]:
        """Sort key: fewer levels are better, then less variance, as in `CertifiedNoise.order`."""
        return self.levels, variance(self.rate, self.levels)


def candidates(problem: GridProblem, approach: Approach, *, beat: float = math.inf) -> Iterator[Candidate]:
    """Yield integer noises that meet the target with about the fewest levels, by estimates for one method of proof.

    The number of levels is the largest absolute value of the noise. An escape is a message that only one of two
    neighbours can send. `LevelsSearch` certifies the noises later. Nothing is yielded in each of three cases:

    - the probability that rounding fails uses all of δ,
    - privacy losses above ε use all of δ at every decay rate,
    - every noise requires more than `beat` levels.

    Args:
        problem: the request, with the grid, the rounds and the privacy target.
        approach: the method of proof, with bounds on the distances of neighbours in a round (`movement`).
        beat: number of levels of the best earlier candidate; infinite if there is none.

    Yields:
        One or two candidates with different decay rates.
    """
    release = IntegerRelease(problem=problem, movement=approach.movement)
    by_l2 = approach.proof == "concentrated"
    by_escape = approach.proof == "escape"
    if not by_l2:
        release = release.without_l2()

    # The part of δ that remains for privacy losses and escapes.
    log_delta = log_difference_of(problem.target.log_delta, release.log_failure)
    if math.isinf(log_delta):
        return
    if release.total == 0:  # neighbours send the same integers
        yield Candidate(method=approach.method, release=release, rate=1.0, levels=1, closed=False)
        return

    # The decay rates to try, each with the log probability of escapes that it may have.
    if by_escape:
        # The largest decay rate at which no privacy loss, apart from escapes, exceeds ε.
        lossless_rate = largest_rate(problem.target.epsilon, release.total)
        log_escapes = {min(lossless_rate, LARGEST_RATE): log_delta}
    else:
        search = RateSearch(release, log_delta, split=by_l2)
        log_escapes = {rate: search.log_escape(rate) for rate in search.best_rates(beat=beat)}

    for rate, log_escape in log_escapes.items():
        # A client escapes only in rounds in which it is drawn.
        log_escape_if_drawn = log_escape - math.log(problem.rate)
        levels = max(least_levels(rate, release.parts, log_escape_if_drawn), 1)
        yield Candidate(method=approach.method, release=release, rate=rate, levels=levels, closed=by_escape)


class LevelsSearch:
    """Search for the least number of levels, near that of a candidate, for which the certified δ meets the target.

    The guarantees have no lower bound from an example of neighbours; `least_noise` adds it to the best noise.
    """

    def __init__(self, candidate: Candidate) -> None:
        """Prepare the search at the decay rate of a candidate.

        Args:
            candidate: the noise with the number of levels at which the search starts.
        """
        self._candidate = candidate
        self._release = candidate.release
        self._target = candidate.release.problem.target
        self._guarantee = functools.cache(self._compute_guarantee)
        # True if the candidate has exactly the least number of levels, which was decided in decimals. Doubles may not
        # distinguish its δ from that of one level less.
        self._has_exact_levels = candidate.closed and math.isinf(candidate.release.log_failure)

    def certify(self, best: CertifiedNoise | None) -> CertifiedNoise | None:
        """Search for the fewest noise levels m at the candidate's decay rate with which certified δ meets the target.

        Args:
            best: the best certified noise so far; None if there is none. Numbers of levels at which this noise would
                not be better are not tried.

        Returns:
            The noise; None if it is no better than `best`, or if it requires more than `MOST_LEVELS` levels.
        """
        rate, start = self._candidate.rate, self._candidate.levels
        if start > MOST_LEVELS:
            return None
        if self._release.total == 0:  # neighbours send the same integers
            return self._certified_noise(1, is_minimal=True)

        # Start at a number of levels with which this noise would be better than the best one.
        if best is not None:
            useful = self._most_useful_levels(best)
            is_useful = start <= useful or (useful >= 1 and self._excess(useful) <= 0.0)
            if not is_useful:
                return None
            start = min(start, useful)
        if self._is_exact(start) and self._excess(start) <= 0.0:
            return self._certified_noise(start, is_minimal=True)

        # A decrease of m by 1 raises log δ by at most the decay rate. So at least this many levels separate the start
        # from the answer.
        distance = abs(self._excess(start)) / rate
        first_step = math.ceil(distance) if distance < start else 1
        levels = _least_integer_near(self._excess, start, MOST_LEVELS, first_step)
        if levels is None:
            return None
        is_minimal = levels == 1 or self._is_exact(levels) or self._provably_misses(levels - 1)
        return self._certified_noise(levels, is_minimal=is_minimal)

    def _most_useful_levels(self, best: CertifiedNoise) -> int:
        """Return the largest number of levels with which this noise is better than the best one so far.

        The number of levels is the largest absolute value of the noise, and fewer levels are better. With equally many
        levels, less variance is better. The decay rate of this noise is fixed.

        Args:
            best: the best certified noise so far.

        Returns:
            The number of levels; 0 if this noise is worse even with a single level.
        """
        levels, least_variance = best.order
        if variance(self._candidate.rate, levels) < least_variance:
            return levels
        return levels - 1

    def _is_exact(self, levels: int) -> bool:
        """Return whether a number of levels is known to be the least one."""
        return self._has_exact_levels and levels == self._candidate.levels

    def _provably_misses(self, levels: int) -> bool:
        """Return whether the lower numerical bound on δ with a number of levels exceeds the target."""
        bounds = self._guarantee(levels).curve.bound_log_delta(self._target.epsilon)
        return bounds.lower > self._target.log_delta

    def _excess(self, levels: int) -> float:
        """Return the log of the certified δ over the target δ; at most 0 if the target is met."""
        log_delta = self._guarantee(levels).curve.upper_log_delta(self._target.epsilon)
        return log_delta - self._target.log_delta

    def _compute_guarantee(self, levels: int) -> Guarantee:
        """Return the guarantee at the candidate's decay rate and a number of levels.

        It is a closed form if δ is the probability of an escape, and otherwise computed from the privacy losses.
        """
        noise = self._release.noise(self._candidate.rate, levels)
        if self._candidate.closed:
            return self._release.escapes(noise)
        return self._release.guarantee(noise)

    def _certified_noise(self, levels: int, *, is_minimal: bool) -> CertifiedNoise:
        """Return the noise with a number of levels that meets the target.

        Args:
            levels: number of noise levels.
            is_minimal: whether it is proved that one level less misses the target.

        Returns:
            The noise with its guarantee, and the word `proved` or `searched` for its minimality.
        """
        return CertifiedNoise(
            method=self._candidate.method,
            release=self._release,
            noise=self._release.noise(self._candidate.rate, levels),
            guarantee=self._guarantee(levels),
            minimal="proved" if is_minimal else "searched",
        )


def _least_integer_near(excess: Callable[[int], float], start: int, most: int, first_step: int) -> int | None:
    """Find the least integer m ≥ 1 at which a decreasing function is at most 0.

    Steps grow away from the start until they bracket the least m. Bisection ends the search.

    Args:
        excess: the function: log of the certified δ at m levels over the target δ.
        start: the first m that is tried.
        most: largest m from which a further step up is made.
        first_step: length of the first step; at least 1 is used.

    Returns:
        The least m; None if it is far above `start` or above `most`.
    """
    # The search ends without an answer if it has moved so far up from the start.
    furthest = 2 * max(start, LEAST_FURTHEST)
    low, high = start - 1, start

    # Step up until the function is at most 0.
    step = max(first_step, 1)
    while excess(high) > 0.0:
        if high > most or high - start > furthest:
            return None
        low = high
        high += step
        step *= _GROWTH

    # Step down until it is above 0.
    step = max(first_step, 1)
    while low >= 1 and excess(low) <= 0.0:
        high = low
        low -= step
        step *= _GROWTH
    if low < 1:  # the least m may be 1
        return least_integer(excess, 0, high, at_low=math.inf)
    return least_integer(excess, low, high, at_low=excess(low))


def approaches(problem: GridProblem) -> Iterator[Approach]:
    """Yield the methods of proof that are requested and apply: closed forms first, slow ones last.

    By `escape`, δ is the probability of messages that only one neighbour can send. `hockey-stick` composes privacy
    losses, and the other methods use zCDP. `concentrated-coupled` uses bounds on the distances of neighbours that are
    rounded by the same random numbers, which may fail with a small probability.

    Args:
        problem: the request, with bounds on the distance of neighbours; it may name one method.

    Yields:
        Methods of proof, each with the distances of neighbours that it uses.
    """
    certain = problem.movement
    coupled = problem.rounded_together()
    requested = METHODS if problem.method is None else (problem.method,)
    is_subsampled = problem.rate < 1.0

    def l2_or_infinity(movement: Movement) -> float:
        """Return the bound on the ℓ2 distance of neighbours; infinite if there is none."""
        return math.inf if movement.l2 is None else movement.l2

    # An approach has the name of the method, the name of its proof, and the distances of neighbours.
    # With subsampled clients, only zCDP with the least ℓ2 distance composes in reasonable time.
    if is_subsampled and coupled and "concentrated-coupled" in requested:
        yield Approach("concentrated-coupled", "concentrated", min(coupled, key=l2_or_infinity))
        return
    if "escape" in requested and not is_subsampled:
        yield Approach("escape", "escape", certain)
    if "concentrated-coupled" in requested:
        for movement in coupled:
            yield Approach("concentrated-coupled", "escape", movement)
        for movement in coupled:
            yield Approach("concentrated-coupled", "concentrated", movement)
    if "concentrated" in requested and certain.l2 is not None:
        yield Approach("concentrated", "concentrated", certain)
    if "hockey-stick" in requested and not is_subsampled:
        yield Approach("hockey-stick", "hockey-stick", certain)


def least_noise(problem: GridProblem) -> CertifiedNoise:
    """Find the truncated discrete Laplace noise with the fewest levels, by the best requested method of proof.

    The noise of each proof is estimated first. The estimates are certified in ascending order of their levels, until an
    estimate has clearly more levels than the best certified noise.

    Args:
        problem: the request, with the grid, the sensitivities, the rounds and the privacy target.

    Returns:
        The noise with its guarantee, which has the lower bounds on δ by an example of neighbours.

    Guarantees: the upper bound on δ at the target ε is at most the target δ, by evaluation.

    Raises:
        Infeasible: no noise of at most `MOST_LEVELS` levels meets the target.
    """
    estimates: list[Candidate] = []
    for approach in approaches(problem):
        beat = min((candidate.levels for candidate in estimates), default=math.inf)
        estimates += candidates(problem, approach, beat=beat)

    best = None
    most_levels = math.inf
    for candidate in sorted(estimates, key=lambda candidate: candidate.order):
        if candidate.levels > most_levels:
            break
        certified = LevelsSearch(candidate).certify(best)
        if certified is not None and (best is None or certified.order < best.order):
            best = certified
            most_levels = _most_levels(certified, problem.target.epsilon)

    if best is None:
        limit = ConditionResult("noise-offered", "the noise levels that are needed are offered", Verdict.NO)
        # The error suggests a larger δ: the root of the requested one.
        nearest = {"log10_delta": problem.target.log10_delta / 2}
        raise Infeasible("no noise that is offered meets the target", limit, nearest)
    return replace(best, guarantee=best.release.add_witness(best.guarantee, best.noise))


def _most_levels(best: CertifiedNoise, epsilon: float) -> float:
    """Return the largest estimated number of levels with which a noise may still be better than the best one.

    Args:
        best: the best certified noise.
        epsilon: ε of the target. If a closed form decides δ at this ε, estimates are more accurate, and the number is
            smaller.

    Returns:
        The number of levels, which need not be an integer.
    """
    levels = best.noise.noise_levels
    if closed_form_decides(best.guarantee.curve, epsilon, FAR):
        return max(WORSE * levels, levels + 1)
    return HOPELESS * levels

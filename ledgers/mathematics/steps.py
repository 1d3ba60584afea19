"""Charges of a job of equal steps in a Gaussian slot, step after step: quick, certified at every ε, hardly too high.

Let R be the μ² that the slot has left, and c a charge of one step. A charge that is enough for one step when R − (n −
1) c is left is enough whenever more is left. So n steps cost n c, each with its share of η (docs/ledger.md, "Step after
step"). The profile of one step composed with a Gaussian is bounded by a sum of Gaussian profiles (`hinges.py`). The
difference of that sum and the slot's own profile is smooth, and `smooth.py` bounds it everywhere.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.ledgers.mathematics.amounts import (
    Amount,
    float_below,
    less,
    multiple,
    root_above,
    root_below,
    up,
)
from epsilond.ledgers.mathematics.comparison.hinges import GOOD_AREA, ROUGH_AREA, hinges_of
from epsilond.ledgers.mathematics.comparison.smooth import largest_excess, of_gaussian, of_hinges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.ledgers.mathematics.comparison.hinges import Hinges

MOST_PARTS = 12
"""Largest number of different mechanisms in one job."""
MOST_STAGES = 40
"""Largest number of states at which the charge of a step is computed anew, as the slot empties."""
_USUAL_STAGES, _ROUGH_STAGES = 12.0, 6.0
"""Number of stages, groups of steps with one charge, that a whole job should take: for good and for rough prices."""
_FINEST, _COARSEST = 40.0, 3.0
"""Largest and smallest number of stages in which the remaining μ² of the slot falls by a factor e."""
_AIM = 0.93
"""Share of η that the search aims at. The rest is a margin for the ε between those that it evaluates."""
_LAST_DELTA = 0.02
"""δ of the slot's own profile at the last ε that is evaluated, as a share of η."""
_POINTS = 41
"""Number of ε at which the search evaluates the profiles."""
_MOST_TRIALS = 30
"""Largest number of costs that the search tries."""
_TOLERANCE = 1e-6
"""Relative tolerance of the search for a cost; the answer is certified separately."""
_INCREASES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Relative additions to the cost that the search gives, tried in this order until one can be certified."""
_LARGEST_EPSILON = 600.0
"""Largest ε at which e^ε stays far within the range of doubles."""
_GAUSSIAN_ROUNDING = Fraction(1) + Fraction(1, 2**50)
"""Factor above the rounding error of a computed μ."""
_LEAST_LEFT = 2e-3
"""Smallest share of the slot that steps may leave, because smaller remainders need more cells."""


class StepPrices:
    """Prices in μ² of a job that a Gaussian slot pays for step by step.

    A Gaussian slot is a privacy budget in μ², the squared parameter of Gaussian differential privacy. A job consists of
    parts. Each part is a number of runs of one mechanism, and each run is a step.

    Attributes:
        floor: rough lower estimate of the cost, not certified. It treats each step as if it had the full slot and the
            whole additional δ, η, for itself. It is math.inf if not even a single step fits.
    """

    def __init__(self, parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount, rough: bool) -> None:
        """Bound the privacy profile δ(ε) of each mechanism of a job, and estimate the cost of the job.

        The job is a number of runs. A Gaussian slot, a privacy budget in μ², pays for it. The estimate, `floor`, is
        slightly below the cost.

        Args:
            parts: dominating pairs of the mechanisms, each with its number of runs, at least 1.
            remaining: μ² that is left in the slot.
            eta: η, the δ that the whole job may add to the slot's profile. Each run gets an equal share.
            rough: whether to bound profiles by fewer linear pieces and to use fewer stages, that is, groups of runs
                with the same charge.
        """
        runs = sum(count for _, count in parts)
        area = ROUGH_AREA if rough else GOOD_AREA  # accuracy of the linear pieces
        self._stages = _ROUGH_STAGES if rough else _USUAL_STAGES
        self._remaining = remaining

        # Divide η among the runs. The margin exceeds the rounding errors, so that all runs together take at most η.
        whole_eta = float_below(eta)
        self._step_eta = whole_eta / runs * (1.0 - 4 * UNIT_ROUNDOFF)
        self._parts = [(pair, count, hinges_of(pair, self._step_eta, area)) for pair, count in parts]

        # Estimate the cost of each run as if it had the whole slot and all of η for itself, which is too small.
        self._estimates = [_StepCharge(hinges, remaining, 1, whole_eta).search(0.0) for _, _, hinges in self._parts]
        costs = []
        for estimate, (_, count, _) in zip(self._estimates, self._parts, strict=True):
            costs.append(math.inf if estimate is None else estimate * count)
        self.floor = math.fsum(costs)

    def cost(self) -> Amount | None:
        """Return a certified cost of the job in μ², or None if no cost could be certified.

        A Gaussian slot, a privacy budget in μ², pays for the job. The runs are charged in stages, that is, in groups of
        runs with the same charge.

        Returns:
            The cost μ², a decimal amount; None also if it exceeds the rest of the slot.

        Guarantees:
            Let R be the μ² that the slot has left, η the δ that the job may add, and G(m) the pair N(√m, 1) against
            N(0, 1). The privacy profile δ(ε) of the job composed with G(R − cost) is at most the profile of G(R) plus
            η. This holds at every ε and in both directions of the neighbouring data sets.
        """
        # Not even the estimate, which is too small, fits. It may be infinite.
        if not self.floor <= float_below(self._remaining):
            return None
        left, used_stages = self._remaining, 0
        for (pair, count, hinges), estimate in zip(self._parts, self._estimates, strict=True):
            most_stages = MOST_STAGES - used_stages
            stepwise_left, part_stages = self._charge_in_stages(hinges, left, count, estimate or 0.0, most_stages)
            used_stages += part_stages
            gaussian_left = _gaussian_left(pair, left, count)
            remainders = [remainder for remainder in (stepwise_left, gaussian_left) if remainder is not None]
            if not remainders:
                return None
            left = max(remainders)  # the cheaper of the two charges
        return less(self._remaining, left)

    def _charge_in_stages(
        self, hinges: Sequence[Hinges], remaining: Amount, count: int, step_cost: float, most_stages: int
    ) -> tuple[Amount | None, int]:
        """Charge all runs of one mechanism to a privacy budget in μ², and return the budget that is left.

        The cost of a run depends on what is left of the budget. A stage is a group of runs that are charged alike, at
        the cost of its last run. A stage of several runs takes at most about 1/k of the budget that is left, where k is
        `_stages_per_e_fold()`.

        Args:
            hinges: piecewise linear upper bound on the privacy profile of one run, for each direction of its pair.
            remaining: μ² that is left before the first run.
            count: number of runs, at least 1.
            step_cost: initial estimate of the cost of one run.
            most_stages: largest number of stages.

        Returns:
            The μ² that is left after all runs, and the number of stages. The first is None if more stages are needed,
            or if no charge could be certified in one of them.
        """
        stages_per_e_fold = self._stages_per_e_fold()
        left, stages = remaining, 0
        while count > 0:
            if stages == most_stages:
                return None, stages
            stages += 1
            steps = count
            # If all remaining runs would take too much of the budget, the stage gets fewer, but at least one.
            if step_cost * count * stages_per_e_fold > float(left):
                steps = max(1, int(float(left) / (stages_per_e_fold * step_cost)))
            left_after_stage = _StepCharge(hinges, left, steps, self._step_eta).remainder(step_cost)
            if left_after_stage is None:
                return None, stages
            step_cost = float(less(left, left_after_stage)) / steps  # the estimate for the next stage
            left = left_after_stage
            count -= steps
        return left, stages

    def _stages_per_e_fold(self) -> float:
        """Return the number of stages in which the remaining budget may fall by a factor e, from 3 to 40.

        A stage is a group of runs with the same charge. All runs together shall take about `_stages` stages, whether
        they use much of the budget or little.
        """
        # Share of the budget that the runs use. 1.05 corrects for `floor`, an estimate that is slightly below the cost.
        # The limit keeps the logarithm finite.
        share = min(1.05 * self.floor / float_below(self._remaining), 0.98)
        e_folds = -math.log1p(-share)  # log of the budget before the runs divided by the budget after them
        stages_per_e_fold = self._stages / max(e_folds, 1e-300)  # 1e-300 avoids a division by 0
        return min(max(stages_per_e_fold, _COARSEST), _FINEST)


def step_prices(
    parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount, rough: bool = False
) -> StepPrices | None:
    """Prepare the cost of some runs in a privacy budget in μ², from which the runs are subtracted one after another.

    μ is the parameter of Gaussian differential privacy.

    Args:
        parts: dominating pairs of the mechanisms (two distributions whose divergence bounds δ), each with its number of
            runs.
        remaining: μ² that is left of the budget, above 0.
        eta: η > 0, the δ that all runs may add to the δ(ε) of N(μ, 1) against N(0, 1), which the budget allows.
        rough: whether to compute faster, with slightly higher costs. They are certified as well.

    Returns:
        An object with a method `cost` that computes the certified price. None if there are no runs or more than
        `MOST_PARTS` mechanisms, or if the largest ε that matters exceeds `_LARGEST_EPSILON`, so that e^ε might
        overflow.
    """
    nonempty_parts = [(pair, count) for pair, count in parts if count > 0]
    if not 1 <= len(nonempty_parts) <= MOST_PARTS:
        return None
    if not _last_epsilon(remaining, float_below(eta)) <= _LARGEST_EPSILON:
        return None
    return StepPrices(nonempty_parts, remaining, eta, rough)


def _gaussian_left(pair: Pair, remaining: Amount, count: int) -> Amount | None:
    """Subtract the cost of some runs of a Gaussian mechanism from a privacy budget in μ².

    A run of the mechanism N(μ, 1) against N(0, 1) costs μ², rounded up.

    Args:
        pair: dominating pair of one run.
        remaining: μ² that is left in the slot before the runs.
        count: number of runs.

    Returns:
        μ² that is left after the runs. None for a mechanism that is not Gaussian, or if the runs do not fit.
    """
    if pair.gaussian_dp_mu is None:
        return None
    run_cost = up((Fraction(pair.gaussian_dp_mu) * _GAUSSIAN_ROUNDING) ** 2)
    left = less(remaining, multiple(run_cost, count))
    return left if left >= 0 else None


class _StepCharge:
    """Search for the μ² that a Gaussian slot, a privacy budget in μ², must pay for each of several equal steps.

    A step is one run of a mechanism. A cost c of each step suffices if the slot's Gaussian profile δ(ε) before the last
    step is not exceeded by more than η. The profile to compare is that of the step composed with the Gaussian that is
    left after it. `search` finds nearly the least such cost at some ε, and `certify` proves a cost at every ε.
    """

    def __init__(self, hinges: Sequence[Hinges], remaining: Amount, count: int, eta: float) -> None:
        """Prepare the search for the cost in μ² of one of several equal steps, which a Gaussian slot pays for.

        Args:
            hinges: piecewise linear upper bound on the privacy profile of one step, for each direction of its pair.
            remaining: μ² that is left in the slot, a privacy budget, before the first step.
            count: number of steps.
            eta: η of one step, the δ that it may add to the slot's profile.
        """
        self._hinges = hinges
        self._count = count
        self._remaining = remaining
        self._whole = float_below(remaining)
        self._eta = eta
        self._last = _last_epsilon(remaining, eta) if self._whole > 0.0 else 0.0

    def remainder(self, initial_cost: float) -> Amount | None:
        """Charge all steps with a certified cost, and return the μ² that the budget has left after them.

        The cost that `search` returns is not certified. It is raised by up to one percent until it can be certified.

        Args:
            initial_cost: initial estimate of the cost of one step.

        Returns:
            The μ² that is left; None if no cost could be certified, or if the profiles must be compared at an ε above
            `_LARGEST_EPSILON`.
        """
        if not 0.0 < self._last <= _LARGEST_EPSILON:
            return None
        estimate = self.search(initial_cost)
        if estimate is None:
            return None
        for increase in _INCREASES:
            cost = up(estimate * (1.0 + increase))
            if self.certify(cost):
                return less(self._remaining, multiple(cost, self._count))
        return None

    def certify(self, cost: Amount) -> bool:
        """Return whether a cost in μ² is proved to be enough for every step.

        Only the last step is checked, because a cost that is enough when the least is left is enough earlier. False is
        also returned if the steps leave less than the share `_LEAST_LEFT` of the budget.

        Args:
            cost: cost of one step in μ².
        """
        after_last = less(self._remaining, multiple(cost, self._count))
        before_last = less(self._remaining, multiple(cost, self._count - 1))
        if float(after_last) < _LEAST_LEFT * self._whole:
            return False
        # Roundings overestimate the excess: the profile after the step is larger, and the one before it is smaller.
        mu_after, mu_before = root_above(after_last), root_below(before_last)
        for hinges in self._hinges:
            excess = largest_excess(hinges, mu_after, mu_before, self._last, self._eta)
            if not excess <= self._eta:
                return False
        return True

    def search(self, initial_cost: float) -> float | None:
        """Search for the least cost in μ² of one step, by Newton's method with a bracket.

        A budget of m allows the δ(ε) of N(√m, 1) against N(0, 1). Take the last step, composed with the budget that is
        left after it. The cost is enough if the δ(ε) of this exceeds that of the budget before the step by at most
        `_AIM` η, where η is the δ that a step may add. The result is not certified. Only `_POINTS` values of ε are
        checked, and the rest of η is a margin for the others. An excess of 10⁻³ η above the aim is accepted.

        Args:
            initial_cost: initial estimate of the cost in μ².

        Returns:
            The cost; None if every cost that is enough would use up nearly the whole budget.
        """
        most = self._whole * (1.0 - _LEAST_LEFT) / self._count  # all steps leave a share `_LEAST_LEFT` of the budget
        epsilon = np.linspace(0.0, self._last, _POINTS)
        cost = min(initial_cost, 0.5 * most)
        too_small, sufficient = 0.0, most
        for _ in range(_MOST_TRIALS):
            largest_excess_above_aim, newton_cost = self._newton_step(epsilon, cost)
            if largest_excess_above_aim > 0.0:
                too_small = cost
            else:
                sufficient = cost

            is_stationary = abs(newton_cost - cost) <= _TOLERANCE * cost
            if is_stationary and largest_excess_above_aim <= 1e-3 * self._eta:
                return cost
            if sufficient - too_small <= 0.1 * _TOLERANCE * sufficient:
                break

            # If Newton's estimate leaves the bracket, bisect instead.
            is_inside = too_small < newton_cost < sufficient
            cost = newton_cost if is_inside else 0.5 * (too_small + sufficient)
        return sufficient if sufficient < most else None

    def _newton_step(self, epsilon: FloatArray, cost: float) -> tuple[float, float]:
        """Return the largest excess of δ over its limit at a cost in μ², and Newton's next estimate of the cost.

        The excess at ε, to which bounds on rounding errors are added, is:

            (F ⊗ G_μ)(ε) − G_ν(ε) − `_AIM` η.

        F is the upper bound on the profile of one step, and ⊗ composes profiles. G_m is the profile of N(m, 1) against
        N(0, 1). μ² and ν² are left in the budget after and before the last step. Both profiles E satisfy
        dE/d(μ²) = (E″ − E′)/2. So the excess falls with the cost of one of n steps at the rate:

            (n (F ⊗ G_μ)″ − n (F ⊗ G_μ)′ − (n − 1) G_ν″ + (n − 1) G_ν′)/2.

        Args:
            epsilon: the points ε.
            cost: cost of one step.

        Returns:
            The largest excess over all points and both directions of the pair, and the largest of Newton's estimates.
            The estimate is 0 if no point allows a positive one.
        """
        # μ² after and before the last step. The lower bound keeps it positive; a valid charge leaves far more.
        least_left = 1e-3 * self._whole * _LEAST_LEFT
        after_last = max(self._whole - self._count * cost, least_left)
        before_last = max(self._whole - (self._count - 1) * cost, after_last)

        slot = of_gaussian(epsilon, math.sqrt(before_last))
        slot_fall = (self._count - 1) * (slot.curvature - slot.slope)

        largest, next_cost = -math.inf, 0.0
        for hinges in self._hinges:
            step = of_hinges(hinges, epsilon, math.sqrt(after_last))
            # The bounds on the rounding errors count twice, as a margin.
            excess = step.value - slot.value + 2.0 * (step.error + slot.error) - _AIM * self._eta
            fall = 0.5 * (self._count * (step.curvature - step.slope) - slot_fall)
            is_near_root = excess > -0.5 * slot.value  # the linear estimate is useless far below zero
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                costs = np.where((fall > 0.0) & is_near_root, cost + excess / fall, -math.inf)
            largest = max(largest, float(np.max(excess)))
            next_cost = max(next_cost, float(np.max(costs)))
        return largest, next_cost


def _last_epsilon(remaining: Amount, eta: float) -> float:
    """Return an ε from which on the privacy profile δ(ε) of a Gaussian mechanism is at most `_LAST_DELTA` · η.

    Profiles are compared only up to this ε, because δ is negligible next to η beyond it.

    Args:
        remaining: μ² of the Gaussian mechanism N(μ, 1) against N(0, 1), which a privacy budget in μ² has left.
        eta: η, the δ that one step may add to the budget's profile.

    Returns:
        The ε, in nats.
    """
    slot_pair = gaussian_pair(root_above(remaining))
    log_negligible = math.log(_LAST_DELTA * eta)
    return slot_pair.epsilon(log_negligible).upper

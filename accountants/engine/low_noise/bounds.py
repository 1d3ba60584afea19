"""δ(ε) and ε(δ) of Poisson-subsampled Gaussian steps with little noise, from the tables of their total loss."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import ndtr

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.low_noise.span import estimate_depth, estimate_log_moment, round_depth
from epsilond.accountants.engine.low_noise.table import coarse_table, loss_tables
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.low_noise.span import Steps
    from epsilond.accountants.engine.low_noise.table import LossTable

    Laws = Sequence[tuple[Law, int]]


@dataclass(frozen=True)
class Region:
    """Limits within which tables of the total loss are used instead of the contour integral; they affect no bound.

    The limits follow from measurements (docs/low-noise.md, Range). The least loss of a step is log(1 − q) at the rate
    q.

    Attributes:
        least_shift: below it, the compiled kernel has narrower bounds within milliseconds.
        largest_shift: above it, the lattice is too coarse.
        least_rate: below it, few steps have any loss, and other bounds are close.
        near_least: loss above the least one, in nats, that counts as equal to it.
        least_likely: log of the tilted probability that all steps have about the least loss. Above it, the contour
            integral needs ten thousands of frequencies, or does not converge.
        least_likely_of_tests: the same limit for tests, for which the contour integral takes longer.
        few_included: expected number of included contributions up to which the limit for tests applies.
        deepest: −log δ up to which the tables are used; the width of their bounds grows with it.
        most_laws: largest number of different steps, which take two transforms each.
        finer: factors of the number of points for a second table, if the bounds of the first one are too wide.
        steep: change of the logarithm of a bound over a bracket of its root, above which the bracket is halved.
        close: relative distance of the upper and the lower bound on ε at which the search for the lower one starts.
    """

    least_shift: float = 2.0
    largest_shift: float = 200.0
    least_rate: float = 1e-12
    near_least: float = 1e-3
    least_likely: float = -12.0
    least_likely_of_tests: float = -60.0
    few_included: float = 5.0
    deepest: float = 40.0
    most_laws: int = 4
    finer: tuple[float, ...] = (2.0, 4.0)
    steep: float = 3.0
    close: float = 1e-4


REGION = Region()


def has_low_noise(steps: Steps, depth: float, *, for_tests: bool = False) -> bool:
    """Return whether tables of the total loss are better than other engines for these steps.

    They are if δ depends on total losses near the least one. This affects no bound.

    Args:
        steps: distributions of the losses in the direction that removes a contribution, with their counts.
        depth: approximate −log δ.
        for_tests: whether the question is about the most powerful tests.
    """
    if depth > REGION.deepest:
        return False
    log_probability = math.fsum(count * _log_probability_near_least(law) for law, count in steps)
    included = math.fsum(count * law.rate for law, count in steps)
    uses_limit_of_tests = for_tests and included <= REGION.few_included
    least = REGION.least_likely_of_tests if uses_limit_of_tests else REGION.least_likely
    return log_probability - estimate_log_moment(steps, depth) >= least


def _log_probability_near_least(law: SampledGaussianLaw) -> float:
    """Estimate the log probability that the loss of a step is within `REGION.near_least` of the least one."""
    log_odds = math.log1p(-law.rate) - math.log(law.rate)
    noise = 0.5 * law.shift + (log_odds + math.log(REGION.near_least)) / law.shift
    probability = (1.0 - law.rate) * float(ndtr(noise)) + law.rate * float(ndtr(noise - law.shift))
    return math.log(max(probability, 1e-300))


def steps_to_remove(laws: Laws) -> Steps | None:
    """Return the steps in the direction that removes a contribution, if tables of the total loss are suitable for them.

    Args:
        laws: distributions of the losses, with their counts.

    Returns:
        The steps with equal ones counted together. None if a step is not a subsampled Gaussian within the limits of
        `REGION`, if a count is not positive, if the directions differ, or if there are too many different steps.
    """
    counts: Counter[SampledGaussianLaw] = Counter()
    directions = set()
    for law, count in laws:
        if not isinstance(law, SampledGaussianLaw) or count <= 0 or not _is_in_region(law):
            return None
        directions.add(law.direction)
        counts[law if law.direction == "remove" else law.reverse()] += count
    return tuple(counts.items()) if len(directions) == 1 and len(counts) <= REGION.most_laws else None


def _is_in_region(law: SampledGaussianLaw) -> bool:
    """Return whether a step's direction, rate and shift are those for which tables are made."""
    if law.direction == "replace" or not REGION.least_rate <= law.rate < 1.0:
        return False
    return REGION.least_shift <= law.shift <= REGION.largest_shift


def log_delta(laws: Laws, epsilon: float, widest: float) -> Interval | None:
    """Enclose log δ(ε) of Gaussian steps with little noise, for ε ≥ 0, from tables of their total loss.

    Args:
        laws: distributions of the losses, with their counts.
        epsilon: ε in nats.
        widest: largest width of the enclosure, relative to δ.

    Returns:
        The bounds; None if the tables do not apply, or if the bounds are further apart than `widest`.
    """
    steps = steps_to_remove(laws)
    if epsilon < 0.0 or steps is None:
        return None
    to_add = is_to_add(laws)
    depth = 0.0 if to_add else _likely_depth(steps, epsilon)
    bounds = delta_bounds(steps, depth, to_add)
    if bounds is None:
        return None
    finer = bounds.finer(epsilon, widest)
    if finer > 1.0:
        bounds = delta_bounds(steps, depth, to_add, finer) or bounds
    return bounds.log_delta(epsilon, widest)


def epsilon(laws: Laws, log_delta: float, slack: float, widest: float) -> Interval | None:
    """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta` for Gaussian steps with little noise, from tables.

    Args:
        laws: distributions of the losses, with their counts.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds keep from the target.
        widest: largest width of the enclosure of log δ near the upper bound.

    Returns:
        The bounds; None if the tables do not apply or give none, or if log δ is enclosed less closely than `widest`.

    Guarantees: both bounds have been evaluated. At the upper bound, the upper log δ is at most the target less `slack`.
    At the lower bound, the lower log δ is above the target plus `slack`, unless the bound is 0.
    """
    steps = steps_to_remove(laws)
    if steps is None:
        return None
    if _log_delta_at_zero(steps) <= log_delta - slack:
        return Interval(0.0, 0.0)
    to_add = is_to_add(laws)
    depth = 0.0 if to_add else -log_delta
    delta_below = math.exp(log_delta - slack) * (1.0 - 64 * UNIT_ROUNDOFF)
    delta_above = math.exp(log_delta + slack) * (1.0 + 64 * UNIT_ROUNDOFF)
    finer = 1.0
    while True:
        bounds = delta_bounds(steps, depth, to_add, finer)
        crossing = None if bounds is None else _first_at_most(bounds.upper, delta_below)
        if bounds is None or crossing is None:
            return None
        upper = crossing[1]
        if finer > 1.0 or bounds.finer(upper, widest) == 1.0:
            break
        finer = bounds.finer(upper, widest)
    lower_crossing = _first_at_most(bounds.lower, delta_above, upper)
    if lower_crossing is None or bounds.log_delta(upper, widest) is None:
        return None
    return Interval(lower_crossing[0], upper)


def _likely_depth(steps: Steps, epsilon: float) -> float:
    """Estimate −log δ(ε), at least 0, by a coarse table of the total loss, or by a Chernoff bound if no table suits.

    The estimate only chooses the resolution of the final table, so it need not be a bound.

    Args:
        steps: distributions of the losses in the direction that removes a contribution, with their counts.
        epsilon: ε in nats.
    """
    depth = estimate_depth(steps, epsilon)
    table = coarse_table(steps, round_depth(depth)) if has_low_noise(steps, depth) else None
    delta = 0.0 if table is None else table.delta(epsilon)
    return -math.log(delta) if 0.0 < delta < 1.0 else depth


def _log_delta_at_zero(steps: Steps) -> float:
    """Return an upper bound on log δ(0): the log probability that any contribution is included.

    It is log(1 − Π (1 − q_j)^{T_j}), because the outputs have the same distribution if nothing is included.

    Args:
        steps: subsampled steps with the inclusion probabilities q_j, and their numbers T_j.
    """
    log_none = math.fsum(count * math.log1p(-law.rate) for law, count in steps) * (1.0 + 16 * UNIT_ROUNDOFF)
    included = -math.expm1(log_none)
    if included <= 0.0:
        return 0.0
    log_included = math.log(included)
    return log_included + 8 * UNIT_ROUNDOFF * (1.0 - log_included)


def is_to_add(laws: Laws) -> bool:
    """Return whether the laws are those of adding a contribution."""
    law = laws[0][0]
    return isinstance(law, SampledGaussianLaw) and law.direction == "add"


class DeltaBounds(NamedTuple):
    """Bounds on δ(ε), for ε of any sign, from two tables of the total loss.

    Attributes:
        lower: function from an ε to a lower bound on δ(ε).
        upper: function from an ε to an upper bound on δ(ε).
    """

    lower: Callable[[float], float]
    upper: Callable[[float], float]

    def log_delta(self, epsilon: float, widest: float) -> Interval | None:
        """Enclose log δ(ε); None if the bounds on δ differ by more than a relative `widest`."""
        return _narrow(self.lower(epsilon), self.upper(epsilon), widest)

    def finer(self, epsilon: float, widest: float) -> float:
        """Return the factor by which tables need more points so that their bounds are likely to be close enough.

        It is 1 if these tables are close enough, or if no factor that is tried is enough. The distance of the bounds
        decreases with the square of the spacing, or more slowly.

        Args:
            epsilon: ε in nats.
            widest: largest width of the enclosure, relative to δ.
        """
        lower, upper = self.lower(epsilon), self.upper(epsilon)
        excess = (upper - lower) / (widest * lower) if lower > 0.0 else math.inf
        return next((factor for factor in (1.0, *REGION.finer) if excess <= factor**1.9), 1.0)


def delta_bounds(
    steps: Steps, depth: float, to_add: bool, finer: float = 1.0, *, for_tests: bool = False
) -> DeltaBounds | None:
    """Return bounds on δ from two tables of the total loss; None if tables do not suit these steps.

    Args:
        steps: distributions of the losses in the direction that removes a contribution, with their counts.
        depth: approximate −log δ at which the bounds are accurate.
        to_add: whether δ is that of the other direction.
        finer: factor of the number of lattice points, a power of two.
        for_tests: whether the bounds are for tests.

    Returns:
        Functions from ε to a lower and an upper bound on δ; None if tables do not suit these steps.
    """
    if not has_low_noise(steps, depth, for_tests=for_tests):
        return None
    tables = loss_tables(steps, round_depth(depth), finer)
    if tables is None:
        return None
    lower, upper = tables
    return DeltaBounds(reverse_bound(lower), reverse_bound(upper)) if to_add else DeltaBounds(lower.delta, upper.delta)


def reverse_bound(table: LossTable) -> Callable[[float], float]:
    """Return a function from ε to a bound on δ(ε) of the other direction, 1 − e^ε + e^ε δ(−ε).

    Args:
        table: the table with the bound on δ(−ε); its sign decides whether the result is an upper bound.
    """

    def delta(epsilon: float) -> float:
        """Return the bound on δ(ε)."""
        ratio = math.exp(min(epsilon, 700.0))
        rounding = table.sign * 16 * UNIT_ROUNDOFF * ratio
        value = ratio * table.delta(-epsilon) - (ratio - 1.0) + rounding
        return min(max(value, 0.0), 1.0)

    return delta


def _narrow(lower: float, upper: float, widest: float) -> Interval | None:
    """Return bounds on log δ from bounds on δ, rounded outward.

    Args:
        lower: lower bound on δ.
        upper: upper bound on δ.
        widest: largest difference, relative to δ.

    Returns:
        The bounds; None if they differ by more, or the lower one is not positive.
    """
    if not 0.0 < lower <= upper <= lower * (1.0 + widest):
        return None
    log_lower = math.log(lower) - 4 * UNIT_ROUNDOFF * (1.0 - math.log(lower))
    log_upper = math.log(upper) + 4 * UNIT_ROUNDOFF * (1.0 - math.log(upper))
    return Interval(log_lower, min(log_upper, 0.0))


class _ExcessAt(NamedTuple):
    """A point of a search for the ε at which a decreasing function of ε, such as δ, reaches a target.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        excess: log of the function at ε over the target. It is above 0 exactly where the target is exceeded.
    """

    epsilon: float
    excess: float


def _first_at_most(delta: Callable[[float], float], target: float, near: float = 0.0) -> tuple[float, float] | None:
    """Search the smallest ε ≥ 0 at which a decreasing function of ε is at most a target.

    Args:
        delta: the function.
        target: the target.
        near: an ε that is likely to be close to the result and not below it; 0 if none is known.

    Returns:
        Two close ε: the function exceeds the target at the first one, unless it is 0, and not at the second one.
        None if no ε up to 1e12 has been found.
    """

    def excess(epsilon: float) -> float:
        """Return the logarithm of the function over the target, with the exact sign of their difference."""
        value = delta(epsilon)
        log_ratio = math.log(max(value, sys.float_info.min) / target)
        return max(log_ratio, sys.float_info.min) if value > target else min(log_ratio, 0.0)

    def excess_at(epsilon: float) -> _ExcessAt:
        """Return an ε with its excess."""
        return _ExcessAt(epsilon, excess(epsilon))

    low = excess_at(0.0)
    if low.excess <= 0.0:
        return 0.0, 0.0
    if near > 0.0:
        start = excess_at((1.0 - REGION.close) * near)
        low = start if start.excess > 0.0 else low
    high = excess_at(near or 1.0)
    while high.excess > 0.0:
        low, high = high, excess_at(4.0 * high.epsilon)
        if high.epsilon > 1e12:
            return None
    return _close_bracket(excess, low, high)


def _close_bracket(excess: Callable[[float], float], low: _ExcessAt, high: _ExcessAt) -> tuple[float, float]:
    """Shrink a bracket of a root to a relative width of 1e-13, by the Illinois variant of the false position.

    If two successive points are on one side of the root, the weight of the other end is halved. Far from the root the
    bracket is halved, and after many steps every other time, so that it ends for any function.

    Args:
        excess: the function, above 0 at the lower point and at most 0 at the upper one.
        low: the lower point.
        high: the upper point.

    Returns:
        The ends of the bracket.
    """
    low_weight, high_weight = low.excess, high.excess
    step, was_below = 0, False
    while high.epsilon - low.epsilon > 1e-13 * high.epsilon:
        step += 1
        width = high.epsilon - low.epsilon
        bisects = low_weight - high_weight > REGION.steep or (step > 16 and step % 2 == 1)
        share = 0.5 if bisects else low_weight / (low_weight - high_weight)
        least_share = min(4e-14 * high.epsilon / width, 0.5)
        epsilon = low.epsilon + min(max(share, least_share), 1.0 - least_share) * width
        if not low.epsilon < epsilon < high.epsilon:
            break
        point = _ExcessAt(epsilon, excess(epsilon))
        is_below = point.excess > 0.0  # the point is below the root
        weight_factor = 0.5 if step > 1 and is_below == was_below else 1.0
        if is_below:
            low, low_weight, high_weight = point, point.excess, high_weight * weight_factor
        else:
            high, high_weight, low_weight = point, point.excess, low_weight * weight_factor
        was_below = is_below
    return low.epsilon, high.epsilon

"""δ(ε) and ε(δ) of Poisson-subsampled Gaussian steps with little noise, from the tables of their total loss."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import ndtr

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.low_noise.bracket import first_at_most
from epsilond.accountants.engine.low_noise.region import REGION
from epsilond.accountants.engine.low_noise.span import estimate_depth, estimate_log_moment, round_depth
from epsilond.accountants.engine.low_noise.table import coarse_table, loss_tables
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.low_noise.span import Steps
    from epsilond.accountants.engine.low_noise.table import LossTable

    Laws = Sequence[tuple[Law, int]]


def has_low_noise(steps: Steps, depth: float, *, for_tests: bool = False) -> bool:
    """Return whether δ is computed from tables of the total loss S, rather than by inversion of its transform.

    Tables are faster if δ depends on total losses near the least possible one. This is so if all steps together have
    about their least loss with a large enough probability, after weighting by e^{λS} with the exponent λ (tilt) of the
    best Chernoff bound. The decision affects no bound.

    Args:
        steps: loss distribution of each kind of step, in the direction that removes a contribution, with its count.
        depth: approximate −log δ.
        for_tests: whether the tables are for the most powerful tests, which have a wider limit.

    Returns:
        True if tables are the better method.
    """
    if depth > REGION.deepest:
        return False
    # Log probability that every step has about its least loss.
    log_probability = math.fsum(count * _log_probability_near_least(law) for law, count in steps)
    # Tests have a wider limit if few contributions are expected to be included.
    expected_included = math.fsum(count * law.rate for law, count in steps)
    uses_limit_of_tests = for_tests and expected_included <= REGION.few_included
    least_log_probability = REGION.least_likely_of_tests if uses_limit_of_tests else REGION.least_likely
    # Weighting divides the probability by the moment E[e^{λ(S − S₀)}], where S₀ is the least loss.
    return log_probability - estimate_log_moment(steps, depth) >= least_log_probability


def _log_probability_near_least(law: SampledGaussianLaw) -> float:
    """Estimate the log probability that the loss of a step is within `REGION.near_least` of the least one.

    The loss is that small if the noise is below a threshold x. With the rate q, the shift s and the normal distribution
    function Φ, the probability is (1 − q) Φ(x) + q Φ(x − s).

    Args:
        law: distribution of the loss of a subsampled Gaussian step, with q and s.

    Returns:
        The estimate of the log probability, at least about −691.
    """
    log_odds = math.log1p(-law.rate) - math.log(law.rate)
    threshold = 0.5 * law.shift + (log_odds + math.log(REGION.near_least)) / law.shift
    excluded = (1.0 - law.rate) * float(ndtr(threshold))
    included = law.rate * float(ndtr(threshold - law.shift))
    return math.log(max(excluded + included, 1e-300))  # not log 0


def steps_to_remove(laws: Laws) -> Steps | None:
    """Convert steps to the direction that removes a contribution, and count equal ones together.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.

    Returns:
        Distributions in this direction with their counts. None if tables of the total loss are not used: if a step is
        not a subsampled Gaussian, if its shift or rate is outside the limits of `REGION`, if a count is not positive,
        if the directions differ, or if there are too many different steps.
    """
    counts: Counter[SampledGaussianLaw] = Counter()
    directions = set()
    for law, count in laws:
        if not isinstance(law, SampledGaussianLaw) or count <= 0 or not _is_in_region(law):
            return None
        directions.add(law.direction)
        law_to_remove = law if law.direction == "remove" else law.reverse()
        counts[law_to_remove] += count
    if len(directions) != 1 or len(counts) > REGION.most_laws:
        return None
    return tuple(counts.items())


def _is_in_region(law: SampledGaussianLaw) -> bool:
    """Return whether a step's direction, rate and shift are within the limits of `REGION`, for which tables are made.

    Args:
        law: distribution of the loss of a subsampled Gaussian step.

    Returns:
        True if all three are within the limits.
    """
    if law.direction == "replace" or not REGION.least_rate <= law.rate < 1.0:
        return False
    return REGION.least_shift <= law.shift <= REGION.largest_shift


def log_delta(laws: Laws, epsilon: float, widest: float) -> Interval | None:
    """Enclose log δ(ε) of Gaussian steps with little noise, for ε ≥ 0, from tables of their total loss.

    If the bounds of the first tables are too wide, tables with more points are tried.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats.
        widest: largest width of the enclosure, relative to δ.

    Returns:
        The bounds; None if the tables do not suit the steps, or if the bounds are further apart than `widest`.
    """
    steps = steps_to_remove(laws)
    if epsilon < 0.0 or steps is None:
        return None
    to_add = is_to_add(laws)
    # The estimate of −log δ decides where the tables are accurate.
    depth = 0.0 if to_add else _likely_depth(steps, epsilon)
    bounds = delta_bounds(steps, depth, to_add)
    if bounds is None:
        return None
    # Bounds that are too wide get closer with more lattice points.
    finer = bounds.find_refinement(epsilon, widest)
    if finer > 1.0:
        bounds = delta_bounds(steps, depth, to_add, finer) or bounds
    return bounds.log_delta(epsilon, widest)


def epsilon(laws: Laws, log_delta: float, slack: float, widest: float) -> Interval | None:
    """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta` for Gaussian steps with little noise, from tables.

    If the bounds of the first tables are too wide at the upper bound on ε, tables with more points are tried.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds have from the target.
        widest: largest width of the enclosure of log δ near the upper bound.

    Returns:
        The bounds. None if the tables do not suit the steps, if no ε up to 1e12 is found, or if log δ is enclosed less
        closely than `widest` at the upper bound.

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
    # Both targets are moved outward by the rounding of the exponential.
    delta_below = math.exp(log_delta - slack) * (1.0 - 64 * UNIT_ROUNDOFF)
    delta_above = math.exp(log_delta + slack) * (1.0 + 64 * UNIT_ROUNDOFF)

    # The upper bound on ε, from tables that are fine enough there.
    finer = 1.0
    while True:
        bounds = delta_bounds(steps, depth, to_add, finer)
        if bounds is None:
            return None
        crossing = first_at_most(bounds.upper, delta_below)
        if crossing is None:
            return None
        _, upper = crossing
        next_finer = bounds.find_refinement(upper, widest)
        if finer > 1.0 or next_finer == 1.0:
            break
        finer = next_finer

    # The lower bound, from the same tables.
    lower_crossing = first_at_most(bounds.lower, delta_above, upper)
    if lower_crossing is None or bounds.log_delta(upper, widest) is None:
        return None
    lower, _ = lower_crossing
    return Interval(lower, upper)


def _likely_depth(steps: Steps, epsilon: float) -> float:
    """Estimate −log δ(ε), at least 0, by a coarse table of the total loss, or by a Chernoff bound if no table suits.

    The estimate only chooses the resolution of the final table, so it need not be a bound.

    Args:
        steps: loss distribution of each kind of step, in the direction that removes a contribution, with its count.
        epsilon: ε in nats.

    Returns:
        The estimate of −log δ(ε), natural logarithm.
    """
    # The Chernoff bound is the first estimate. A table near it gives a better one.
    chernoff_depth = estimate_depth(steps, epsilon)
    if not has_low_noise(steps, chernoff_depth):
        return chernoff_depth
    table = coarse_table(steps, round_depth(chernoff_depth))
    if table is None:
        return chernoff_depth
    delta = table.delta(epsilon)
    return -math.log(delta) if 0.0 < delta < 1.0 else chernoff_depth


def _log_delta_at_zero(steps: Steps) -> float:
    """Return an upper bound on log δ(0): the log probability that the contribution is included in some step.

    It is log(1 − Π (1 − q_j)^{T_j}). If the contribution is never included, both data sets have the same outputs.

    Args:
        steps: kinds of subsampled steps, each with its inclusion probability q_j, and their numbers T_j.

    Returns:
        The upper bound on log δ(0), at most 0.
    """
    # The sum is negative. Its size is raised by its relative error, so that the result is an upper bound.
    log_never_included = math.fsum(count * math.log1p(-law.rate) for law, count in steps) * (1.0 + 16 * UNIT_ROUNDOFF)
    ever_included = -math.expm1(log_never_included)
    if ever_included <= 0.0:
        return 0.0
    log_ever_included = math.log(ever_included)
    # Rounded up: the relative errors of the exponential and the logarithm.
    return log_ever_included + 8 * UNIT_ROUNDOFF * (1.0 - log_ever_included)


def is_to_add(laws: Laws) -> bool:
    """Return whether the distributions are those of the direction that adds a contribution.

    Args:
        laws: distributions of the losses, with their counts, at least one. The first one decides.

    Returns:
        True if the steps add a contribution, and False if they remove one.
    """
    first_law, _ = laws[0]
    return isinstance(first_law, SampledGaussianLaw) and first_law.direction == "add"


class DeltaBounds(NamedTuple):
    """Bounds on δ(ε), for ε of any sign, from two tables of the total loss.

    Attributes:
        lower: function from an ε to a lower bound on δ(ε).
        upper: function from an ε to an upper bound on δ(ε).
    """

    lower: Callable[[float], float]
    upper: Callable[[float], float]

    def log_delta(self, epsilon: float, widest: float) -> Interval | None:
        """Enclose log δ(ε), if the two bounds on δ are close enough.

        Args:
            epsilon: ε in nats.
            widest: largest difference of the bounds, as a share of δ.

        Returns:
            The lower and the upper bound on log δ(ε). None if they are too far apart, or if the lower bound on δ is 0.
        """
        return _narrow(self.lower(epsilon), self.upper(epsilon), widest)

    def find_refinement(self, epsilon: float, widest: float) -> float:
        """Return the factor by which tables need more points so that their bounds are likely to be close enough.

        The factor is 1 if these tables are close enough, if no factor that is tried is enough, or if the lower bound is
        0. The distance of the bounds decreases with the square of the spacing, or more slowly.

        Args:
            epsilon: ε in nats.
            widest: largest width of the enclosure, relative to δ.

        Returns:
            The factor: 1, or one of `REGION.refinements`.
        """
        lower, upper = self.lower(epsilon), self.upper(epsilon)
        if lower <= 0.0:
            return 1.0
        excess = (upper - lower) / (widest * lower)
        for factor in (1.0, *REGION.refinements):
            # The exponent 1.9, slightly below 2, allows for a slower decrease.
            if excess <= factor**1.9:
                return factor
        return 1.0


def delta_bounds(
    steps: Steps, depth: float, to_add: bool, finer: float = 1.0, *, for_tests: bool = False
) -> DeltaBounds | None:
    """Return functions that bound δ(ε) from below and above, from two tables of the total loss.

    Both tables have approximate probabilities of the total loss on a lattice. One gives upper bounds on δ, and one
    lower bounds.

    Args:
        steps: loss distribution of each kind of step, in the direction that removes a contribution, with its count.
        depth: approximate −log δ at which the bounds are accurate.
        to_add: whether δ is that of the direction that adds a contribution.
        finer: factor of the number of lattice points, a power of two.
        for_tests: whether the bounds are for the most powerful tests, for which tables are used more often.

    Returns:
        Functions from ε to a lower and an upper bound on δ. None if another method is better for these steps
        (`has_low_noise`), or if there is no table.
    """
    if not has_low_noise(steps, depth, for_tests=for_tests):
        return None
    tables = loss_tables(steps, round_depth(depth), finer)
    if tables is None:
        return None
    lower_table, upper_table = tables
    # The reverse direction follows from the same tables.
    if to_add:
        return DeltaBounds(reverse_bound(lower_table), reverse_bound(upper_table))
    return DeltaBounds(lower_table.delta, upper_table.delta)


def reverse_bound(table: LossTable) -> Callable[[float], float]:
    """Return a function from ε to a bound on δ(ε) of the direction that adds a contribution.

    With δ of the opposite direction, it is 1 − e^ε + e^ε δ(−ε), rounded in the direction of the table's bound.

    Args:
        table: the table with the bound on δ(−ε); its sign decides whether the result is an upper bound.

    Returns:
        The function from ε in nats to the bound on δ(ε), in [0, 1].
    """

    def delta(epsilon: float) -> float:
        """Return the bound on δ(ε), in [0, 1]."""
        ratio = math.exp(min(epsilon, 700.0))  # e^710 would overflow
        # The terms are at most e^ε, so the rounding error is a few units of roundoff times that.
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
    is_narrow = 0.0 < lower <= upper <= lower * (1.0 + widest)
    if not is_narrow:
        return None
    # Rounded outward, for the errors of the logarithm and of the subtraction.
    log_lower = math.log(lower) - 4 * UNIT_ROUNDOFF * (1.0 - math.log(lower))
    log_upper = math.log(upper) + 4 * UNIT_ROUNDOFF * (1.0 - math.log(upper))
    return Interval(log_lower, min(log_upper, 0.0))

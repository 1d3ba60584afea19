"""δ(ε) and ε(δ) of steps with a random sensitivity, by the compiled kernel: the rarest sensitivities are replaced.

Such a step is a mixture of Gaussian steps with several shifts. The kernel's work grows with their number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw, DrawnMixtureLaw, MixedLaw, SampledGaussianLaw
from epsilond.accountants.curve.near_tests import BestTests
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour.composition import WIDEST
from epsilond.accountants.engine.contour.grouped_laws import supremum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.curve.near_tests import BestTest


def has_mixtures(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether any step of a composition is a mixture of several shifts, that is, has a random sensitivity.

    Args:
        laws: distribution of the privacy loss of each kind of step, with its number of steps.
    """
    return any(isinstance(law, MixedLaw) for law, _ in laws)


def shorten(laws: Sequence[tuple[Law, int]], log_delta: float) -> tuple[Sequence[tuple[Law, int]], float]:
    """Replace the largest and rarest shifts of Gaussian mixtures by their most likely shift, to save work.

    A mixture is a Gaussian step with a random shift, the sensitivity over the noise. With fewer shifts it costs less.
    The replacement changes δ by about 1e-9 of its value. It cannot increase δ, and it decreases δ by at most the
    probability that it moves.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: estimate of log δ.

    Returns:
        Distributions with a δ of at most that of the given ones, and the log of a bound on the decrease of δ.

    Source: docs/engine-certificate.md, A10, Components moved.
    """
    # All steps together may move a probability of 1e-5 of the largest relative width of δ.
    steps = sum(count for law, count in laws if isinstance(law, MixedLaw))
    log_movable_mass = log_delta + math.log(1e-5 * WIDEST) - math.log(max(steps, 1))

    short_laws: list[tuple[Law, int]] = []
    log_decrease = -math.inf
    for law, count in laws:
        # Steps with a fixed shift stay as they are.
        if not isinstance(law, MixedLaw) or count <= 0:
            short_laws.append((law, count))
            continue
        shorter, log_excess = law.shorten(log_movable_mass)
        short_laws.append((_simplest(shorter), count))
        log_rest = law.log_rest if isinstance(law, DrawnMixtureLaw) else -math.inf
        log_decrease_per_step = log_sum(log_excess, log_rest)
        log_decrease = log_sum(log_decrease, math.log(count) + log_decrease_per_step)
    return short_laws, log_decrease


def _simplest(law: MixedLaw) -> Law:
    """Return a simpler object for the same distribution of the privacy loss, or the mixture itself if there is none.

    A batch without replacement with one shift is an ordinary one. A mixture of the shift 0 and one further shift is
    Poisson subsampling. The kernel has more methods for these cases.

    Args:
        law: distribution of the loss of a step with a random shift.

    Returns:
        The simpler distribution with the same privacy loss, or `law` itself.
    """
    components = law.components
    if isinstance(law, DrawnMixtureLaw):
        return DrawnGaussianLaw(law.rate, law.largest) if len(components) == 1 else law
    if len(components) != 2:
        return law
    # With the shift 0 and one further shift, the weight of the latter is the inclusion probability.
    (smaller_shift, _), (_, weight_of_larger) = components
    if smaller_shift == 0.0 and weight_of_larger <= 0.5:
        return SampledGaussianLaw(weight_of_larger, law.largest, law.direction)
    return law


def log_sum(first: float, second: float) -> float:
    """Return log(e^a + e^b) for two numbers a and b, rounded up.

    Args:
        first: a, which may be infinite.
        second: b, which may be infinite.

    Returns:
        An upper bound on log(e^a + e^b). It is infinite if the larger argument is.
    """
    larger, gap = max(first, second), abs(first - second)
    if math.isinf(larger) or math.isinf(gap):  # at most one term is positive and finite
        return larger
    # Rounded up: the logarithms and the sum err by a few units of roundoff.
    return larger + math.log1p(math.exp(-gap)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(larger))


def log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> kernel.KernelEnclosure | None:
    """Enclose log δ(ε) by the compiled kernel, with the rarest shifts of mixtures replaced (`shorten`).

    The replacement decreases δ by a bounded amount, which is added to the upper bound. Ever rarer shifts are replaced,
    until this amount is negligible.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats.

    Returns:
        The last enclosure; None if the kernel has no answer.
    """
    if epsilon >= supremum(laws):
        return kernel.KernelEnclosure(Interval(-math.inf, -math.inf), 0.0)
    estimate = -8.0  # an initial estimate of log δ; the bounds give better ones
    enclosure: kernel.KernelEnclosure | None = None
    while True:
        short_laws, log_decrease = shorten(laws, estimate)
        next_enclosure = _enclose_short_laws(short_laws, epsilon, log_decrease)
        if next_enclosure is None:
            return enclosure
        enclosure, lower = next_enclosure, next_enclosure.bounds.lower

        # Below e^−700 no more components can be replaced, and their effect is below every double.
        log_negligible = max(lower + math.log(1e-4 * WIDEST), -700.0)
        if log_decrease <= log_negligible:
            return enclosure
        # Take the lower bound as the next estimate, but decrease it by at least 1 and at most to three times its size.
        estimate = max(min(lower, estimate) - 1.0, 3.0 * estimate)


def _enclose_short_laws(
    short_laws: Sequence[tuple[Law, int]], epsilon: float, log_decrease: float
) -> kernel.KernelEnclosure | None:
    """Enclose log δ(ε) of mixtures by the compiled kernel, from their replacements with fewer shifts (`shorten`).

    Args:
        short_laws: the replacements, with their counts.
        epsilon: ε in nats.
        log_decrease: log of a bound on the decrease of δ by the replacement, which is added to the upper bound.

    Returns:
        The enclosure; None if the kernel has no answer.
    """
    try:
        enclosure = kernel.log_delta(short_laws, epsilon)
    except kernel.NoLineDecays:
        return None
    if enclosure is None:
        return None
    # The replacement decreases δ, so that the lower bound holds. The upper one is raised by the decrease.
    lower, upper = enclosure.bounds
    upper = min(log_sum(upper, log_decrease), 0.0)
    width = upper - lower if upper > lower else 0.0
    return kernel.KernelEnclosure(Interval(lower, upper), width)


def upper_log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> float | None:
    """Bound log δ(ε) from above by the compiled kernel, with the rarest shifts of mixtures replaced (`shorten`).

    The first bound replaces shifts that are rare for an initial estimate of δ, the second one those that are rare for
    the first bound.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats.

    Returns:
        The smaller bound, at most 0; None if the kernel has no answer.
    """
    estimate = -8.0  # an initial estimate of log δ
    bounds: list[float] = []
    for _ in range(2):
        # The decrease of δ by the replacement is added to the bound.
        short_laws, log_decrease = shorten(laws, estimate)
        bound_of_short_laws = kernel.upper_log_delta(short_laws, epsilon)
        if bound_of_short_laws is None:
            break
        bounds.append(log_sum(bound_of_short_laws, log_decrease))
        estimate = min(bound_of_short_laws, estimate)
    return min([*bounds, 0.0]) if bounds else None


def upper_log_deltas_of_mixtures(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> list[float] | None:
    """Bound log δ from above at several ε, with the shifts replaced that are rare for the bound at the first ε.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilons: values of ε in nats, at least one.

    Returns:
        One bound for each ε, at most 0; None if the kernel has no answer.
    """
    # Shifts are rare if their probability is negligible relative to the bound on δ at the first ε.
    bound_at_first = upper_log_delta_of_mixtures(laws, epsilons[0])
    if bound_at_first is None:
        return None
    short_laws, log_decrease = shorten(laws, bound_at_first)
    bounds = kernel.upper_log_deltas(short_laws, epsilons)
    if bounds is None:
        return None
    # The replacement decreases δ at every ε by at most the same amount.
    return [min(log_sum(bound, log_decrease), 0.0) for bound in bounds]


def epsilon_of_mixtures(
    laws: Sequence[tuple[Law, int]], log_delta: float, slack: float
) -> kernel.KernelEnclosure | None:
    """Enclose ε(δ) by the compiled kernel, with the rarest components of mixtures replaced by `shorten`.

    The replacement decreases δ by at most e^d, where d is the second result of `shorten`. Both bounds therefore have an
    additional distance of −log(1 − e^{d + slack}/δ) from the target.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds have from the target.

    Returns:
        The enclosure; None if the kernel has no answer, or if e^{d + slack} is at least δ.
    """
    short_laws, log_decrease = shorten(laws, log_delta)
    share = math.exp(log_decrease - log_delta + slack)
    if share >= 1.0:
        return None
    # The factor 1.01 covers the roundings.
    added_slack = -1.01 * math.log1p(-share)
    return kernel.epsilon(short_laws, log_delta, slack + added_slack)


def best_tests_of_mixtures(
    laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float
) -> BestTests | None:
    """Enclose the true positive rate of the most powerful test at each false positive rate α, by the compiled kernel.

    `shorten` replaces components of the mixtures, which decreases δ by a bounded amount. The true positive rate is the
    least γ α + δ(log γ) over γ, so it decreases by at most this amount. The upper bounds are raised by it.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        rates: false positive rates α, in (0, 1).
        rounding: share of 1 + |log δ| by which bounds of log δ are moved outward.

    Returns:
        The tests; None if the kernel has no answer.
    """
    # Shifts are rare if their probability is negligible relative to the least false positive rate.
    short_laws, log_decrease = shorten(laws, math.log(min(rates)))
    tests = kernel.best_tests(short_laws, rates, rounding)
    if tests is None:
        return None
    by_rate: dict[float, BestTest | None] = {}
    for rate, test in tests.by_rate.items():
        by_rate[rate] = None if test is None else _raise_test(test, log_decrease)
    # The upper bound on δ(0) is raised too.
    lower, upper = tests.log_delta_at_zero
    return BestTests(by_rate, Interval(lower, min(log_sum(upper, log_decrease), 0.0)))


def _raise_test(test: BestTest, log_excess: float) -> BestTest:
    """Return a test with the upper bound of its true positive rate increased by e^x, to at most 1.

    Args:
        test: a test, with bounds on its true positive rate.
        log_excess: x, the log of the increase.

    Returns:
        A test with the same lower bound and threshold, and the larger upper bound.
    """
    lower, upper = test.true_positive_rate
    # Rounded up: the exponential, the sum and the product are rounded.
    larger = (upper + math.exp(log_excess)) * (1.0 + 4 * UNIT_ROUNDOFF)
    return test._replace(true_positive_rate=Interval(lower, min(larger, 1.0)))

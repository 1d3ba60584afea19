"""δ(ε) and ε(δ) of steps with a random sensitivity, by the compiled kernel, without the rarest sensitivities.

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
    """Return whether any step of a composition has a random sensitivity, so that it is a mixture of Gaussian steps."""
    return any(isinstance(law, MixedLaw) for law, _ in laws)


def shorten(laws: Sequence[tuple[Law, int]], log_delta: float) -> tuple[Sequence[tuple[Law, int]], float]:
    """Replace rare large shifts of Gaussian mixtures by the most probable shift, to save work.

    A mixture is a Gaussian step with a random shift, the sensitivity over the noise. Each of its shifts costs work. The
    replacement cannot increase δ. If the estimate of δ is good, it decreases δ by about 1e-9 of its value
    (docs/engine-certificate.md, A10, Components moved).

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: estimate of log δ, which determines the rare cases. Any value gives a valid bound.

    Returns:
        The distributions after the replacement, and the log of a bound on the decrease of δ.
    """
    # The probability that all steps together may move: 1e-5 of the largest permitted width of the bounds on δ.
    steps = sum(count for law, count in laws if isinstance(law, MixedLaw))
    log_movable_mass = log_delta + math.log(1e-5 * WIDEST) - math.log(max(steps, 1))

    short_laws: list[tuple[Law, int]] = []
    log_decrease = -math.inf
    for law, count in laws:
        if not isinstance(law, MixedLaw) or count <= 0:
            short_laws.append((law, count))
            continue
        shorter, log_excess = law.shorten(log_movable_mass)
        short_laws.append((_simplest(shorter), count))
        # The kernel also leaves out an infinite loss, which a mixture of batches without replacement may have.
        log_rest = law.log_rest if isinstance(law, DrawnMixtureLaw) else -math.inf
        log_decrease_per_step = log_sum(log_excess, log_rest)
        log_decrease = log_sum(log_decrease, math.log(count) + log_decrease_per_step)
    return short_laws, log_decrease


def _simplest(law: MixedLaw) -> Law:
    """Return the description of a mixture as an ordinary subsampled Gaussian, if it is one.

    It is one if it is a batch without replacement with a single shift, or Poisson sampling: a mixture of the shift 0
    and one further shift, with the sampling rate as its weight. The kernel has more methods for these cases.

    Args:
        law: distribution of the privacy loss of a step with a random shift.

    Returns:
        The simpler description of the same distribution, or `law` itself.
    """
    components = law.components
    if isinstance(law, DrawnMixtureLaw):
        return DrawnGaussianLaw(law.rate, law.largest) if len(components) == 1 else law
    if len(components) != 2:
        return law
    (smaller_shift, _), (_, weight_of_larger) = components
    if smaller_shift == 0.0 and weight_of_larger <= 0.5:
        return SampledGaussianLaw(weight_of_larger, law.largest, law.direction)
    return law


def log_sum(first: float, second: float) -> float:
    """Return an upper bound on log(e^a + e^b), tight to a few units of roundoff.

    Args:
        first: a, which may be infinite.
        second: b, which may be infinite.

    Returns:
        The bound; the larger number itself if a or b is infinite.
    """
    larger, gap = max(first, second), abs(first - second)
    if math.isinf(larger) or math.isinf(gap):  # the sum is infinite, or one term is 0
        return larger
    # The last term exceeds the rounding errors of the logarithm and of the sum.
    return larger + math.log1p(math.exp(-gap)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(larger))


def log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> kernel.KernelEnclosure | None:
    """Enclose log δ(ε) by the compiled kernel, with the rarest shifts of mixtures replaced (`shorten`).

    The replacement decreases δ by a bounded amount, which is added to the upper bound. The function limits it to ever
    rarer shifts, until this amount is negligible.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats.

    Returns:
        The enclosure of the last trial that the kernel answered; None if it answered none.
    """
    # δ is 0 from the largest loss on.
    if epsilon >= supremum(laws):
        return kernel.KernelEnclosure(Interval(-math.inf, -math.inf), 0.0)
    estimate = -8.0  # any initial estimate of log δ is valid; the bounds give better ones
    enclosure: kernel.KernelEnclosure | None = None
    while True:
        short_laws, log_decrease = shorten(laws, estimate)
        next_enclosure = _enclose_short_laws(short_laws, epsilon, log_decrease)
        if next_enclosure is None:
            return enclosure
        enclosure, lower = next_enclosure, next_enclosure.bounds.lower

        # Negligible is 1e-4 of the largest permitted width, and e^−700, which is close to the least double.
        log_negligible = max(lower + math.log(1e-4 * WIDEST), -700.0)
        if log_decrease <= log_negligible:
            return enclosure
        # The next estimate is below the lower bound and the last estimate by at least 1, so that the loop ends. The
        # lower bound may be far too small, so the estimate is at most tripled.
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
    # The replacement cannot increase δ, so the lower bound is valid for the mixtures too.
    lower, upper = enclosure.bounds
    upper = min(log_sum(upper, log_decrease), 0.0)
    width = upper - lower if upper > lower else 0.0
    return kernel.KernelEnclosure(Interval(lower, upper), width)


def upper_log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> float | None:
    """Bound log δ(ε) from above by the compiled kernel, with the rarest shifts of mixtures replaced (`shorten`).

    There are two trials: one replaces shifts that are rare compared with an initial estimate of δ, the next one those
    that are rare compared with the bound of the first.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats.

    Returns:
        The smaller bound, at most 0; None if the kernel has no answer.
    """
    estimate = -8.0  # any initial estimate of log δ is valid
    bounds: list[float] = []
    for _ in range(2):
        short_laws, log_decrease = shorten(laws, estimate)
        bound_of_short_laws = kernel.upper_log_delta(short_laws, epsilon)
        if bound_of_short_laws is None:
            break
        bounds.append(log_sum(bound_of_short_laws, log_decrease))
        estimate = min(bound_of_short_laws, estimate)
    return min([*bounds, 0.0]) if bounds else None


def upper_log_deltas_of_mixtures(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> list[float] | None:
    """Bound log δ from above at several ε by the compiled kernel, with the rarest shifts of mixtures replaced.

    Rare means a probability that is negligible compared with the bound on δ at the first ε (`shorten`).

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilons: values of ε in nats, at least one.

    Returns:
        One bound for each ε, at most 0; None if the kernel has no answer.
    """
    bound_at_first = upper_log_delta_of_mixtures(laws, epsilons[0])
    if bound_at_first is None:
        return None
    short_laws, log_decrease = shorten(laws, bound_at_first)
    bounds = kernel.upper_log_deltas(short_laws, epsilons)
    if bounds is None:
        return None
    # The bound on the decrease of δ holds at every ε.
    return [min(log_sum(bound, log_decrease), 0.0) for bound in bounds]


def epsilon_of_mixtures(
    laws: Sequence[tuple[Law, int]], log_delta: float, slack: float
) -> kernel.KernelEnclosure | None:
    """Enclose ε(δ) by the compiled kernel, with the rarest shifts of mixtures replaced (`shorten`).

    The replacement decreases δ by at most some D. The bounds on ε are therefore those of the shortened mixtures where
    their δ differs from the target by a factor that covers this decrease.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds have from the target in any case.

    Returns:
        The enclosure; None if the kernel has no answer, or if D e^slack is at least the target δ.
    """
    short_laws, log_decrease = shorten(laws, log_delta)
    share = math.exp(log_decrease - log_delta + slack)
    if share >= 1.0:
        return None
    # If the shortened mixtures have at most (1 − share) e^−slack of the target δ, the mixtures themselves have at most
    # e^−slack of it, because D is share · e^−slack of it. The factor 1.01 exceeds the rounding errors.
    added_slack = -1.01 * math.log1p(-share)
    return kernel.epsilon(short_laws, log_delta, slack + added_slack)


def best_tests_of_mixtures(
    laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float
) -> BestTests | None:
    """Enclose the true positive rate of the most powerful test at each false positive rate α, by the compiled kernel.

    `shorten` replaces the rarest shifts of mixtures, which decreases δ by a bounded amount. The true positive rate is
    the least γ α + δ(log γ) over γ, so it decreases by at most this amount, which is added to the upper bounds.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        rates: false positive rates α, in (0, 1).
        rounding: multiple of 1 + |log δ| by which bounds on log δ are moved outward.

    Returns:
        Bounds on the true positive rate at each α, and on log δ(0); None if the kernel has no answer.
    """
    # Shifts are rare if their probability is negligible compared with the least false positive rate.
    short_laws, log_decrease = shorten(laws, math.log(min(rates)))
    tests = kernel.best_tests(short_laws, rates, rounding)
    if tests is None:
        return None
    by_rate: dict[float, BestTest | None] = {}
    for rate, test in tests.by_rate.items():
        by_rate[rate] = None if test is None else _raise_test(test, log_decrease)
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
    # The factor exceeds the rounding errors of the exponential, the sum and the product.
    larger = (upper + math.exp(log_excess)) * (1.0 + 4 * UNIT_ROUNDOFF)
    return test._replace(true_positive_rate=Interval(lower, min(larger, 1.0)))

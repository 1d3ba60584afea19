"""δ(ε) and ε(δ) of compositions of laws with counts: by the compiled kernel, or in Python if the kernel rejects them.

Both certify with the same errors charged (docs/engine-certificate.md, A0 to A10). A law is the distribution of a loss.
Losses are finite here; callers add infinite ones.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw, DrawnMixtureLaw, MixedLaw, SampledGaussianLaw
from epsilond.accountants.curve.near_tests import BestTests
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.composition import WIDEST
from epsilond.accountants.engine.contour.grouped_laws import supremum, transform_decays
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.low_noise import bounds as low_noise
from epsilond.accountants.engine.low_noise.best_tests import best_tests as best_tests_of_tables
from epsilond.accountants.engine.low_noise.best_tests import finds_tests
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.curve.near_tests import BestTest

__all__ = [
    "NO_CERTIFICATE", "SizedTest", "WIDEST", "epsilon", "transform_decays", "log_delta", "supremum", "thresholds",
    "upper_log_delta",
]  # fmt: skip

NO_CERTIFICATE = (ContourRefused, ArithmeticError, ValueError)
"""Errors raised if no certified answer exists, also for numbers beyond the range of doubles."""


class SizedTest(NamedTuple):
    """A test that rejects if the total loss S exceeds ε, with about a requested false positive rate.

    Attributes:
        epsilon: approximate ε of the test, of any sign, in nats.
        width: width of the enclosure of δ there, relative to δ.
        steepness: estimate of |d log Q(S > ε)/dε| there.
        log_delta: function from an ε near it to an enclosure of log δ.
    """

    epsilon: float
    width: float
    steepness: float
    log_delta: Callable[[float], Interval]


def log_delta(laws: Sequence[tuple[Law, int]], epsilon: float, *, widest: float = WIDEST) -> Interval:
    """Enclose log δ(ε) of a composition, by the first of three methods that has a narrow enclosure.

    These are tables of steps with little noise, the compiled kernel, and the contour engine in Python. The contour
    engine integrates the transform of the total privacy loss over a line in the complex plane.

    Args:
        laws: distribution of the privacy loss of each kind of step, with its number of steps.
        epsilon: ε in nats, of any sign.
        widest: largest width of the enclosure, relative to δ.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) if δ is exactly zero.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    from_table = low_noise.log_delta(laws, epsilon, widest)
    if from_table is not None:
        return from_table
    enclose = kernel.log_delta if not _has_mixtures(laws) else _log_delta_of_mixtures
    enclosure = _query_kernel(functools.partial(enclose, laws, epsilon))
    if enclosure is not None and enclosure.width <= widest:
        return enclosure.bounds
    return contour.log_delta(laws, epsilon, widest=widest)


def _query_kernel(enclose: Callable[[], kernel.KernelEnclosure | None]) -> kernel.KernelEnclosure | None:
    """Return the compiled kernel's enclosure; None if it has none but the contour engine may have one.

    Args:
        enclose: function that calls the kernel.

    Raises:
        ContourRefused: the kernel has no answer, and the contour engine would have none either.
    """
    try:
        return enclose()
    except kernel.NoLineDecays as error:
        raise ContourRefused(RefusalReason.NO_DECAY, "on any line of the kernel") from error


def _has_mixtures(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether any law is a mixture of several shifts."""
    return any(isinstance(law, MixedLaw) for law, _ in laws)


def _shorten(laws: Sequence[tuple[Law, int]], log_delta: float) -> tuple[Sequence[tuple[Law, int]], float]:
    """Replace the largest and rarest shifts of mixtures by the most likely one, for an effect of about 1e-9 of δ.

    Args:
        laws: distributions of the losses, with their counts.
        log_delta: estimate of log δ.

    Returns:
        Distributions with a δ of at most that of the given ones, and the log of a bound on the decrease of δ.

    Source: docs/engine-certificate.md, A10, Components moved.
    """
    steps = sum(count for law, count in laws if isinstance(law, MixedLaw))
    # All steps together may move a probability of 1e-5 of the largest relative width of δ.
    log_mass = log_delta + math.log(1e-5 * WIDEST) - math.log(max(steps, 1))
    short_laws: list[tuple[Law, int]] = []
    log_decrease = -math.inf
    for law, count in laws:
        if not isinstance(law, MixedLaw) or count <= 0:
            short_laws.append((law, count))
            continue
        shorter, log_excess = law.shorten(log_mass)
        short_laws.append((_simplest(shorter), count))
        log_rest = law.log_rest if isinstance(law, DrawnMixtureLaw) else -math.inf
        log_decrease = _log_sum(log_decrease, math.log(count) + _log_sum(log_excess, log_rest))
    return short_laws, log_decrease


def _simplest(law: MixedLaw) -> Law:
    """Return a simpler object for the same distribution of the loss, or the mixture itself if there is none.

    A batch without replacement with one shift is an ordinary one. A shift of 0 next to one other is Poisson sampling.
    The kernel has more methods for these cases.
    """
    components = law.components
    if isinstance(law, DrawnMixtureLaw):
        return DrawnGaussianLaw(law.rate, law.largest) if len(components) == 1 else law
    if len(components) == 2 and components[0][0] == 0.0 and components[1][1] <= 0.5:
        return SampledGaussianLaw(components[1][1], law.largest, law.direction)
    return law


def _log_sum(first: float, second: float) -> float:
    """Return log(e^first + e^second), rounded up."""
    larger, gap = max(first, second), abs(first - second)
    if math.isinf(larger) or math.isinf(gap):  # at most one term is positive and finite
        return larger
    return larger + math.log1p(math.exp(-gap)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(larger))


def _log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> kernel.KernelEnclosure | None:
    """Enclose log δ by the compiled kernel, with the rarest shifts of mixtures replaced (`_shorten`).

    The replacement decreases δ by a bounded amount, which is charged to the upper bound. Ever rarer shifts are
    replaced, until this amount is negligible.

    Args:
        laws: distributions of the losses, with their counts.
        epsilon: ε in nats.

    Returns:
        The last enclosure; None if the kernel has no answer.
    """
    if epsilon >= supremum(laws):
        return kernel.KernelEnclosure(Interval(-math.inf, -math.inf), 0.0)
    estimate, enclosure = -8.0, None  # an initial estimate of log δ; the bounds give better ones
    while True:
        short_laws, log_decrease = _shorten(laws, estimate)
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
    """Enclose log δ of the laws that `_shorten` replaced, by the compiled kernel; None if it has no answer.

    Args:
        short_laws: the replacements.
        epsilon: ε in nats.
        log_decrease: log of a bound on the decrease of δ by the replacement, which is added to the upper bound.
    """
    try:
        enclosure = kernel.log_delta(short_laws, epsilon)
    except kernel.NoLineDecays:
        return None
    if enclosure is None:
        return None
    lower, upper = enclosure.bounds
    upper = min(_log_sum(upper, log_decrease), 0.0)
    return kernel.KernelEnclosure(Interval(lower, upper), upper - lower if upper > lower else 0.0)


def _upper_log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> float | None:
    """Bound log δ from above by the compiled kernel, with the rarest shifts of mixtures replaced (`_shorten`).

    The first bound replaces shifts that are rare for an initial estimate of δ, the second one those that are rare for
    the first bound. The smaller bound is returned, or None if the kernel has no answer.

    Args:
        laws: distributions of the losses, with their counts.
        epsilon: ε in nats.
    """
    estimate = -8.0  # an initial estimate of log δ
    bounds: list[float] = []
    for _ in range(2):
        short_laws, log_decrease = _shorten(laws, estimate)
        bound_of_short_laws = kernel.upper_log_delta(short_laws, epsilon)
        if bound_of_short_laws is None:
            break
        bounds.append(_log_sum(bound_of_short_laws, log_decrease))
        estimate = min(bound_of_short_laws, estimate)
    return min([*bounds, 0.0]) if bounds else None


def _epsilon_of_mixtures(
    laws: Sequence[tuple[Law, int]], log_delta: float, slack: float
) -> kernel.KernelEnclosure | None:
    """Enclose ε(δ) by the compiled kernel, with the rarest components of mixtures replaced by `_shorten`.

    The replacement decreases δ by at most e^d, where d is the second result of `_shorten`. Both bounds therefore keep
    an additional distance of −log(1 − e^{d + slack}/δ) from the target. The result is None if the kernel has no answer.

    Args:
        laws: distributions of the losses, with their counts.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds keep from the target.
    """
    short_laws, log_decrease = _shorten(laws, log_delta)
    share = math.exp(log_decrease - log_delta + slack)
    if share >= 1.0:
        return None
    # The factor 1.01 covers the roundings.
    added_slack = -1.01 * math.log1p(-share)
    return kernel.epsilon(short_laws, log_delta, slack + added_slack)


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> float:
    """Return a Chernoff bound on log δ(ε) of a composition, by the compiled kernel or in Python.

    Args:
        laws: distributions of the losses, with their counts.
        epsilon: ε in nats.

    Raises:
        ContourRefused: no usable exponent of the bound was found within the budget.
    """
    if _has_mixtures(laws):
        bound = _upper_log_delta_of_mixtures(laws, epsilon)
    else:
        bound = kernel.upper_log_delta(laws, epsilon)
    return contour.upper_log_delta(laws, epsilon) if bound is None else bound


def epsilon(
    laws: Sequence[tuple[Law, int]], log_delta: float, *, slack: float = 0.0, widest: float = WIDEST
) -> Interval:
    """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, by the methods of `log_delta` in the same order.

    Args:
        laws: distributions of the losses, with their counts.
        log_delta: log of the target δ, finite.
        slack: distance ≥ 0 in log δ that both bounds keep from the target.
        widest: largest width of the enclosure of log δ near the root.

    Guarantees: both bounds have been evaluated. At the upper bound, the upper log δ is at most the target less `slack`.
    At the lower bound, the lower log δ is above the target plus `slack`, unless the bound is 0.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    from_table = low_noise.epsilon(laws, log_delta, slack, widest)
    if from_table is not None:
        return from_table
    enclose = kernel.epsilon if not _has_mixtures(laws) else _epsilon_of_mixtures
    enclosure = _query_kernel(functools.partial(enclose, laws, log_delta, slack))
    if enclosure is not None and enclosure.width <= widest:
        return enclosure.bounds
    return contour.epsilon(laws, log_delta, slack=slack, widest=widest)


def finds_best_tests(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether `best_tests` is likely to answer: by tables, or by the compiled kernel."""
    return finds_tests(laws) or kernel.answers(laws)


def best_tests(laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float) -> BestTests | None:
    """Enclose the true positive rate of the most powerful test at each false positive rate α.

    Tables of steps with little noise come first, then the compiled kernel. If `_shorten` replaces components of
    mixtures, δ decreases by a bounded amount. So does the true positive rate, which is the least γ α + δ(log γ) over γ.
    The upper bounds are raised by this amount.

    Args:
        laws: distributions of the losses, with their counts.
        rates: false positive rates α, in (0, 1).
        rounding: share of 1 + |log δ| by which bounds of log δ are moved outward.

    Returns:
        The tests; None if no engine has an answer.
    """
    from_table = best_tests_of_tables(laws, rates, rounding)
    if from_table is not None:
        return from_table
    if not _has_mixtures(laws):
        return kernel.best_tests(laws, rates, rounding)
    short_laws, log_decrease = _shorten(laws, math.log(min(rates)))
    tests = kernel.best_tests(short_laws, rates, rounding)
    if tests is None:
        return None
    by_rate = {rate: None if test is None else _raise_test(test, log_decrease) for rate, test in tests.by_rate.items()}
    lower, upper = tests.log_delta_at_zero
    return BestTests(by_rate, Interval(lower, min(_log_sum(upper, log_decrease), 0.0)))


def _raise_test(test: BestTest, log_excess: float) -> BestTest:
    """Return the best test with the upper bound of its true positive rate increased by e^`log_excess`, to at most 1."""
    lower, upper = test.true_positive_rate
    larger = (upper + math.exp(log_excess)) * (1.0 + 4 * UNIT_ROUNDOFF)
    return test._replace(true_positive_rate=Interval(lower, min(larger, 1.0)))


def upper_log_deltas(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> Sequence[float] | None:
    """Return upper bounds on log δ at several ε, all with the kernel's quadrature nodes for the first ε.

    For mixtures, shifts that are rare for the bound at the first ε are replaced, as in `_shorten`. The result is None
    if the kernel has no answer.
    """
    if not _has_mixtures(laws):
        return kernel.upper_log_deltas(laws, epsilons)
    first = _upper_log_delta_of_mixtures(laws, epsilons[0])
    if first is None:
        return None
    short_laws, log_decrease = _shorten(laws, first)
    bounds = kernel.upper_log_deltas(short_laws, epsilons)
    if bounds is None:
        return None
    return [min(_log_sum(bound, log_decrease), 0.0) for bound in bounds]


def thresholds(
    laws: Sequence[tuple[Law, int]], log_sizes: Sequence[float], *, widest: float = WIDEST
) -> list[SizedTest | None]:
    """Find the test S > ε of the total loss S with each false positive rate Q(S > ε) = e^x, and log δ around its ε.

    Args:
        laws: distributions of the losses, with their counts.
        log_sizes: logarithms x of the false positive rates.
        widest: largest width of log δ.

    Returns:
        One test per size; None if it cannot be certified.
    """
    return [_sized_test(tuple(laws), log_size, widest) for log_size in log_sizes]


def _sized_test(laws: Sequence[tuple[Law, int]], log_size: float, widest: float) -> SizedTest | None:
    """Find the test S > ε of the total loss S with one false positive rate, by the compiled kernel or in Python.

    Args:
        laws: distributions of the losses, with their counts.
        log_size: logarithm of the false positive rate.
        widest: largest width of log δ.

    Returns:
        The test; None if log δ around it cannot be enclosed this closely.
    """
    try:
        # The test is an estimate, so that the decrease of δ by `_shorten` is not charged.
        short_laws, _ = _shorten(laws, log_size)
        test = kernel.threshold(short_laws, log_size)
        if test is not None and test.width <= widest:
            return SizedTest(*test, functools.partial(_log_delta_or_unknown, laws))
        epsilon, integrand = contour.threshold(laws, log_size)
        lower, upper = integrand.enclosure(epsilon)
    except NO_CERTIFICATE:
        return None
    width = upper - lower
    if not width <= widest:
        return None
    steepness = 1.0 + integrand.line.tilt
    return SizedTest(epsilon, width, steepness, integrand.enclosure)


def _log_delta_or_unknown(laws: Sequence[tuple[Law, int]], epsilon: float) -> Interval:
    """Enclose log δ(ε); the bounds are −∞ and 0 if there is no certificate."""
    try:
        return log_delta(laws, epsilon)
    except NO_CERTIFICATE:
        return Interval(-math.inf, 0.0)

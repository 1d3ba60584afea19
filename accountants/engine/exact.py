"""δ(ε) and ε(δ) of compositions of laws with counts: by the compiled kernel, and where that refuses in Python.

Both certify with the same errors charged (docs/engine-certificate.md, A0 to A10). Losses are finite here: atoms at
infinity are the caller's to add.
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
from epsilond.accountants.engine.contour.composition import WIDEST, falls_enough, supremum
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.curve.near_tests import BestTest

__all__ = [
    "NO_CERTIFICATE", "SizedTest", "WIDEST", "epsilon", "falls_enough", "log_delta", "supremum", "thresholds",
    "upper_log_delta",
]  # fmt: skip

NO_CERTIFICATE = (ContourRefused, ArithmeticError, ValueError)
"""What is raised where there is no answer, also where numbers at the edge of the doubles overflow."""


class SizedTest(NamedTuple):
    """Where a test S > ε has the size that was asked.

    Attributes:
        epsilon: about that ε, of any sign.
        width: relative width of δ there.
        steepness: about |d log Q(S > ε)/dε|.
        log_delta: encloses log δ at any ε near it.
    """

    epsilon: float
    width: float
    steepness: float
    log_delta: Callable[[float], Interval]


def log_delta(laws: Sequence[tuple[Law, int]], epsilon: float, *, widest: float = WIDEST) -> Interval:
    """Enclosure of log δ(ε), ε in nats and of any sign.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) where δ is exactly zero.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    enclose = kernel.log_delta if not _has_mixtures(laws) else _log_delta_of_mixtures
    enclosure = _ask_kernel(functools.partial(enclose, laws, epsilon))
    if enclosure is not None and enclosure.width <= widest:
        return enclosure.ends
    return contour.log_delta(laws, epsilon, widest=widest)


def _ask_kernel(enclose: Callable[[], kernel.KernelEnds | None]) -> kernel.KernelEnds | None:
    """Return the kernel's enclosure; None if it refuses and the contour engine may answer.

    Raises:
        ContourRefused: the contour engine would refuse too.
    """
    try:
        return enclose()
    except kernel.NoLineDecays as error:
        raise ContourRefused(RefusalReason.NO_DECAY, "on any line of the kernel") from error


def _has_mixtures(laws: Sequence[tuple[Law, int]]) -> bool:
    return any(isinstance(law, MixedLaw) for law, _ in laws)


def _shorten(laws: Sequence[tuple[Law, int]], log_delta: float) -> tuple[Sequence[tuple[Law, int]], float]:
    """Move the largest and rarest components of mixtures, which add about a part in 10^9 to a δ.

    Returns:
        The laws, whose δ is no larger, and log of a bound of how much smaller it is (certificate, A10, Components
        moved).
    """
    steps = sum(count for law, count in laws if isinstance(law, MixedLaw))
    log_mass = log_delta + math.log(1e-5 * WIDEST) - math.log(max(steps, 1))
    short: list[tuple[Law, int]] = []
    leak = -math.inf
    for law, count in laws:
        if isinstance(law, MixedLaw) and count > 0:
            shorter, log_excess = law.shorten(log_mass)
            short.append((_simplest(shorter), count))
            log_rest = law.log_rest if isinstance(law, DrawnMixtureLaw) else -math.inf
            leak = _log_sum(leak, math.log(count) + _log_sum(log_excess, log_rest))
        else:
            short.append((law, count))
    return short, leak


def _simplest(law: MixedLaw) -> Law:
    """Return the same law by a name of fewer numbers, for which the kernel knows more ways; or the law itself."""
    components = law.components
    if isinstance(law, DrawnMixtureLaw):
        return DrawnGaussianLaw(law.rate, law.largest) if len(components) == 1 else law
    if len(components) == 2 and components[0][0] == 0.0 and components[1][1] <= 0.5:
        return SampledGaussianLaw(components[1][1], law.largest, law.direction)
    return law


def _log_sum(first: float, second: float) -> float:
    """log(e^first + e^second), rounded up."""
    larger, less = max(first, second), abs(first - second)
    if math.isinf(larger) or math.isinf(less):
        return larger
    return larger + math.log1p(math.exp(-less)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(larger))


def _log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> kernel.KernelEnds | None:
    """Enclose log δ with components moved that hold little of it: ever rarer ones, until little is moved."""
    if epsilon >= supremum(laws):
        return kernel.KernelEnds(Interval(-math.inf, -math.inf), 0.0)
    estimate, enclosure = -8.0, None
    while True:
        short, leak = _shorten(laws, estimate)
        try:
            enclosed = kernel.log_delta(short, epsilon)
        except kernel.NoLineDecays:
            enclosed = None
        if enclosed is None:
            return enclosure
        lower, upper = enclosed.ends
        upper = min(_log_sum(upper, leak), 0.0)
        enclosure = kernel.KernelEnds(Interval(lower, upper), upper - lower if upper > lower else 0.0)
        # What cannot be moved is below every double.
        if leak <= max(lower + math.log(1e-4 * WIDEST), -700.0):
            return enclosure
        estimate = max(min(lower, estimate) - 1.0, 3.0 * estimate)


def _upper_log_delta_of_mixtures(laws: Sequence[tuple[Law, int]], epsilon: float) -> float | None:
    """Bound log δ likewise."""
    estimate, least = -8.0, None
    for _ in range(2):
        short, leak = _shorten(laws, estimate)
        bound = kernel.upper_log_delta(short, epsilon)
        if bound is None:
            return least
        least = min(_log_sum(bound, leak), 0.0 if least is None else least)
        estimate = min(bound, estimate)
    return least


def _epsilon_of_mixtures(laws: Sequence[tuple[Law, int]], log_delta: float, slack: float) -> kernel.KernelEnds | None:
    """Enclose ε(δ) likewise: what is moved adds to the slack."""
    short, leak = _shorten(laws, log_delta)
    share = math.exp(leak - log_delta + slack)
    return kernel.epsilon(short, log_delta, slack - 1.01 * math.log1p(-share)) if share < 1.0 else None


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> float:
    """A Chernoff bound of log δ(ε), ε in nats.

    Raises:
        ContourRefused: no tilt within the budget.
    """
    bound = kernel.upper_log_delta if not _has_mixtures(laws) else _upper_log_delta_of_mixtures
    enclosure = bound(laws, epsilon)
    return contour.upper_log_delta(laws, epsilon) if enclosure is None else enclosure


def epsilon(
    laws: Sequence[tuple[Law, int]], log_delta: float, *, slack: float = 0.0, widest: float = WIDEST
) -> Interval:
    """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, which is finite.

    Guarantees: the upper bound has itself been evaluated. Its upper log δ meets the target less `slack` ≥ 0; the lower
    end has a lower log δ above the target plus `slack`, or is 0. Near the root the enclosure of log δ is no wider than
    `widest`.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    enclose = kernel.epsilon if not _has_mixtures(laws) else _epsilon_of_mixtures
    enclosure = _ask_kernel(functools.partial(enclose, laws, log_delta, slack))
    if enclosure is not None and enclosure.width <= widest:
        return enclosure.ends
    return contour.epsilon(laws, log_delta, slack=slack, widest=widest)


def best_tests(laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float) -> BestTests | None:
    """Enclose the true positive rate of the best test at each false positive rate, by the kernel; None if it refuses.

    With components moved δ falls by at most e^leak. So does the true positive rate, the least γ α + δ(log γ).

    Args:
        laws: distributions of the losses, with their counts.
        rates: false positive rates, in (0, 1).
        rounding: share of 1 + |log δ| by which bounds of log δ are moved outward.
    """
    if not _has_mixtures(laws):
        return kernel.best_tests(laws, rates, rounding)
    short, leak = _shorten(laws, math.log(min(rates)))
    tests = kernel.best_tests(short, rates, rounding)
    if tests is None:
        return None
    by_rate = {rate: None if test is None else _raise_test(test, leak) for rate, test in tests.by_rate.items()}
    lower, upper = tests.log_delta_at_zero
    return BestTests(by_rate, Interval(lower, min(_log_sum(upper, leak), 0.0)))


def _raise_test(test: BestTest, log_excess: float) -> BestTest:
    """Return a best test whose true positive rate may be larger by e^`log_excess`."""
    lower, upper = test.true_positive_rate
    raised = (upper + math.exp(log_excess)) * (1.0 + 4 * UNIT_ROUNDOFF)
    return test._replace(true_positive_rate=Interval(lower, min(raised, 1.0)))


def upper_log_deltas(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> Sequence[float] | None:
    """Return upper bounds of log δ at several ε, from the kernel's nodes for the first; None if it refuses."""
    if not _has_mixtures(laws):
        return kernel.upper_log_deltas(laws, epsilons)
    first = _upper_log_delta_of_mixtures(laws, epsilons[0])
    if first is None:
        return None
    short, leak = _shorten(laws, first)
    bounds = kernel.upper_log_deltas(short, epsilons)
    return None if bounds is None else [min(_log_sum(bound, leak), 0.0) for bound in bounds]


def thresholds(
    laws: Sequence[tuple[Law, int]], log_sizes: Sequence[float], *, widest: float = WIDEST
) -> list[SizedTest | None]:
    """Where the test S > ε has each size e^x under Q, and log δ around it; None where that is refused."""
    return [_sized_test(tuple(laws), log_size, widest) for log_size in log_sizes]


def _sized_test(laws: Sequence[tuple[Law, int]], log_size: float, widest: float) -> SizedTest | None:
    """One of them, read wherever it is asked, or in Python on the line that was laid for it."""
    try:
        test = kernel.threshold(_shorten(laws, log_size)[0], log_size)
        if test is not None and test.width <= widest:
            return SizedTest(*test, functools.partial(_read, laws))
        epsilon, integrand = contour.threshold(laws, log_size)
        lower, upper = integrand.enclosure(epsilon)
    except NO_CERTIFICATE:
        return None
    if not upper - lower <= widest:
        return None
    return SizedTest(epsilon, upper - lower, 1.0 + integrand.line.tilt, integrand.enclosure)


def _read(laws: Sequence[tuple[Law, int]], epsilon: float) -> Interval:
    """log δ(ε), −∞ to 0 where that is refused."""
    try:
        return log_delta(laws, epsilon)
    except NO_CERTIFICATE:
        return Interval(-math.inf, 0.0)

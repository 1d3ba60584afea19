"""δ(ε) and ε(δ) of compositions of laws with counts: by the compiled kernel, or in Python if the kernel rejects them.

Both add the same error bounds (docs/engine-certificate.md, A0 to A10). A law is the distribution of a loss. Losses are
finite here; callers add infinite ones.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import BestTests
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.composition import WIDEST
from epsilond.accountants.engine.contour.grouped_laws import supremum, transform_decays
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.low_noise import bounds as low_noise
from epsilond.accountants.engine.low_noise.best_tests import best_tests as best_tests_of_tables
from epsilond.accountants.engine.low_noise.best_tests import finds_tests
from epsilond.accountants.engine.mixtures import (
    best_tests_of_mixtures,
    epsilon_of_mixtures,
    has_mixtures,
    log_delta_of_mixtures,
    shorten,
    upper_log_delta_of_mixtures,
    upper_log_deltas_of_mixtures,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law

__all__ = [
    "NO_CERTIFICATE", "SizedTest", "WIDEST", "epsilon", "transform_decays", "log_delta", "supremum", "thresholds",
    "upper_log_delta",
]  # fmt: skip

NO_CERTIFICATE = (ContourRefused, ArithmeticError, ValueError)
"""Errors raised if there is no certified answer, for example because numbers leave the range of doubles."""


class SizedTest(NamedTuple):
    """A test that rejects if the total loss S exceeds ε, with about a requested false positive rate.

    Attributes:
        epsilon: approximate ε of the test, of any sign, in nats.
        width: distance of the two bounds on δ at this ε, relative to δ.
        steepness: estimate of |d log Q(S > ε)/dε| at this ε, for the false positive rate Q(S > ε).
        log_delta: function from an ε near it to a lower and an upper bound on log δ.
    """

    epsilon: float
    width: float
    steepness: float
    log_delta: Callable[[float], Interval]


def log_delta(laws: Sequence[tuple[Law, int]], epsilon: float, *, widest: float = WIDEST) -> Interval:
    """Enclose log δ(ε) of a composition, by the first of three methods that has a narrow enclosure.

    1. For steps with little noise, a table of the total loss.
    2. The compiled kernel, which integrates the transform of the total loss over a line in the complex plane.
    3. The same integral in Python (module `contour`).

    Args:
        laws: distribution of the privacy loss of each kind of step, with its number of steps.
        epsilon: ε in nats, of any sign.
        widest: largest width of the enclosure, relative to δ.

    Returns:
        The lower and the upper bound on log δ(ε), both at most 0.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) if δ is exactly zero.

    Raises:
        ContourRefused: no such bounds can be certified within the budget.
    """
    from_table = low_noise.log_delta(laws, epsilon, widest)
    if from_table is not None:
        return from_table
    enclose = log_delta_of_mixtures if has_mixtures(laws) else kernel.log_delta
    enclosure = _query_kernel(functools.partial(enclose, laws, epsilon))
    if enclosure is not None and enclosure.width <= widest:
        return enclosure.bounds
    return contour.log_delta(laws, epsilon, widest=widest)


def _query_kernel(enclose: Callable[[], kernel.KernelEnclosure | None]) -> kernel.KernelEnclosure | None:
    """Return the compiled kernel's bounds, or raise `ContourRefused` if the integral in Python would fail too.

    Args:
        enclose: function that calls the kernel.

    Returns:
        The kernel's two bounds with their width; None if it has none but the integral in Python may give some.

    Raises:
        ContourRefused: the kernel has no answer, and the integral in Python would give none either.
    """
    try:
        return enclose()
    except kernel.NoLineDecays as error:
        raise ContourRefused(RefusalReason.NO_DECAY, "on any line of the kernel") from error


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> float:
    """Return a Chernoff bound on log δ(ε) of a composition, by the compiled kernel or in Python.

    For the total loss S, δ(ε) ≤ E[e^{λS}] e^{−λε} for every exponent λ > 0, times a constant of at most 1. One exponent
    near the best one is used.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats.

    Returns:
        An upper bound on log δ(ε).

    Raises:
        ContourRefused: no usable exponent of the bound was found within the budget.
    """
    enclose = upper_log_delta_of_mixtures if has_mixtures(laws) else kernel.upper_log_delta
    bound = enclose(laws, epsilon)
    return contour.upper_log_delta(laws, epsilon) if bound is None else bound


def epsilon(
    laws: Sequence[tuple[Law, int]], log_delta: float, *, slack: float = 0.0, widest: float = WIDEST
) -> Interval:
    """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, by the methods of `log_delta` in the same order.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_delta: log of the target δ, finite.
        slack: distance ≥ 0 in log δ that both bounds have from the target.
        widest: largest width of the enclosure of log δ near the root.

    Returns:
        The lower and the upper bound on ε, in nats.

    Guarantees: both bounds have been evaluated. At the upper bound, the upper log δ is at most the target less `slack`.
    At the lower bound, the lower log δ is above the target plus `slack`, unless the bound is 0.

    Raises:
        ContourRefused: no such bounds can be certified within the budget.
    """
    from_table = low_noise.epsilon(laws, log_delta, slack, widest)
    if from_table is not None:
        return from_table
    enclose = epsilon_of_mixtures if has_mixtures(laws) else kernel.epsilon
    enclosure = _query_kernel(functools.partial(enclose, laws, log_delta, slack))
    if enclosure is not None and enclosure.width <= widest:
        return enclosure.bounds
    return contour.epsilon(laws, log_delta, slack=slack, widest=widest)


def finds_best_tests(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether `best_tests` is likely to have an answer, by tables or by the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
    """
    return finds_tests(laws) or kernel.answers(laws)


def best_tests(laws: Sequence[tuple[Law, int]], rates: Sequence[float], rounding: float) -> BestTests | None:
    """Enclose the true positive rate of the most powerful test at each false positive rate α.

    They come from tables for steps with little noise, or otherwise from the compiled kernel.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        rates: false positive rates α, in (0, 1).
        rounding: share of 1 + |log δ| by which bounds of log δ are moved outward.

    Returns:
        For each rate, bounds on the true positive rate of the best test, with bounds on log δ(0). None if neither
        method has an answer.
    """
    from_table = best_tests_of_tables(laws, rates, rounding)
    if from_table is not None:
        return from_table
    if has_mixtures(laws):
        return best_tests_of_mixtures(laws, rates, rounding)
    return kernel.best_tests(laws, rates, rounding)


def upper_log_deltas(laws: Sequence[tuple[Law, int]], epsilons: Sequence[float]) -> Sequence[float] | None:
    """Return upper bounds on log δ at several ε, all from the kernel's quadrature nodes for the first ε.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilons: values of ε in nats, at least one.

    Returns:
        One bound for each ε; None if the kernel has no answer.
    """
    if has_mixtures(laws):
        return upper_log_deltas_of_mixtures(laws, epsilons)
    return kernel.upper_log_deltas(laws, epsilons)


def thresholds(
    laws: Sequence[tuple[Law, int]], log_sizes: Sequence[float], *, widest: float = WIDEST
) -> list[SizedTest | None]:
    """Find the test for each of several false positive rates.

    A test rejects if the total loss S exceeds a threshold ε. Its false positive rate is Q(S > ε) = e^x.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_sizes: logarithms x of the false positive rates.
        widest: largest width of the enclosure of log δ at the threshold.

    Returns:
        One test per rate, with bounds on log δ around its ε; None if it cannot be certified.
    """
    return [_sized_test(tuple(laws), log_size, widest) for log_size in log_sizes]


def _sized_test(laws: Sequence[tuple[Law, int]], log_size: float, widest: float) -> SizedTest | None:
    """Find the test with one false positive rate, by the compiled kernel or in Python.

    It rejects if the total privacy loss S exceeds a threshold ε.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        log_size: logarithm of the false positive rate.
        widest: largest width of the enclosure of log δ at the threshold.

    Returns:
        The test; None if log δ around it cannot be enclosed this closely.
    """
    try:
        # `shorten` drops rare shifts of random sensitivities. The test is an estimate, so the effect on δ is not added.
        short_laws, _ = shorten(laws, log_size)
        test = kernel.threshold(short_laws, log_size)
        if test is not None and test.width <= widest:
            return SizedTest(*test, log_delta=functools.partial(_log_delta_or_unknown, laws))
        epsilon, integrand = contour.threshold(laws, log_size)
        lower, upper = integrand.enclosure(epsilon)
    except NO_CERTIFICATE:
        return None
    width = upper - lower
    if not width <= widest:
        return None
    # At the threshold, log Q(S > ε) falls by about 1 + λ per nat, for the exponent λ of the weight e^{λS}.
    steepness = 1.0 + integrand.line.tilt
    return SizedTest(epsilon, width, steepness, integrand.enclosure)


def _log_delta_or_unknown(laws: Sequence[tuple[Law, int]], epsilon: float) -> Interval:
    """Enclose log δ(ε) of a composition. The bounds are −∞ and 0 if no method has certified bounds.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        epsilon: ε in nats, of any sign.

    Returns:
        The lower and the upper bound on log δ(ε).
    """
    try:
        return log_delta(laws, epsilon)
    except NO_CERTIFICATE:
        return Interval(-math.inf, 0.0)

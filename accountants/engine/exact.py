"""δ(ε) and ε(δ) of compositions of laws with counts: by the compiled kernel, and where that refuses in Python.

Both certify with the same errors charged (docs/engine-certificate.md, A0 to A9). Losses are finite here: atoms at
infinity are the caller's to add.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.composition import WIDEST, falls_enough, supremum
from epsilond.accountants.engine.contour.refusal import ContourRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law

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
    found = kernel.log_delta(laws, epsilon)
    if found is not None and found.width <= widest:
        return found.ends
    return contour.log_delta(laws, epsilon, widest=widest)


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> float:
    """A Chernoff bound of log δ(ε), ε in nats.

    Raises:
        ContourRefused: no tilt within the budget.
    """
    found = kernel.upper_log_delta(laws, epsilon)
    return contour.upper_log_delta(laws, epsilon) if found is None else found


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
    found = kernel.epsilon(laws, log_delta, slack)
    if found is not None and found.width <= widest:
        return found.ends
    return contour.epsilon(laws, log_delta, slack=slack, widest=widest)


def thresholds(
    laws: Sequence[tuple[Law, int]], log_sizes: Sequence[float], *, widest: float = WIDEST
) -> list[SizedTest | None]:
    """Where the test S > ε has each size e^x under Q, and log δ around it; None where that is refused."""
    return [_sized_test(tuple(laws), log_size, widest) for log_size in log_sizes]


def _sized_test(laws: Sequence[tuple[Law, int]], log_size: float, widest: float) -> SizedTest | None:
    """One of them, read wherever it is asked, or in Python on the line that was laid for it."""
    test = kernel.threshold(laws, log_size)
    if test is not None and test.width <= widest:
        return SizedTest(*test, functools.partial(_read, laws))
    try:
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

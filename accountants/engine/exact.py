"""δ(ε) and ε(δ) of compositions of laws with counts: by the compiled kernel, and where that refuses in Python.

Both certify with the same errors charged (docs/engine-certificate.md, A0 to A7). Losses are finite here: atoms at
infinity are the caller's to add.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour import thresholds as contour_thresholds
from epsilond.accountants.engine.contour.composition import GOOD_WIDTH, WIDEST
from epsilond.accountants.engine.contour.parts import compiled
from epsilond.accountants.engine.contour.transforms.drawn_gaussian import falls_enough
from epsilond.accountants.engine.contour.transforms.drawn_loss import DrawnLoss
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law

__all__ = [
    "GOOD_WIDTH", "NO_CERTIFICATE", "SizedTest", "WIDEST", "epsilon", "log_delta", "may_serve", "supremum",
    "thresholds", "upper_log_delta",
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


def may_serve(laws: Sequence[tuple[Law, int]]) -> bool:
    """Whether an answer is likely: not where the atoms of drawn losses keep a share, and small losses a fine scale.

    Such compositions are refused without a try (`contour.transforms.drawn_gaussian`).
    """
    drawn = [(DrawnLoss(law.rate, law.shift), count) for law, count in laws if isinstance(law, DrawnGaussianLaw)]
    return not drawn or len(drawn) < len(laws) or falls_enough(drawn)


def log_delta(
    laws: Sequence[tuple[Law, int]],
    epsilon: float,
    *,
    widest: float = WIDEST,
    among_many: bool = False,
    quickly: bool = False,
) -> Interval:
    """Enclosure of log δ(ε), ε in nats and of any sign; `among_many` and `quickly` as in `contour.composition`.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) where δ is exactly zero.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    found = kernel.log_delta(laws, epsilon)
    if found is not None and found.width <= widest:
        return found.ends
    return contour.log_delta(laws, epsilon, widest=widest, among_many=among_many, quickly=quickly)


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float, *, enough: float = -math.inf) -> float:
    """A Chernoff bound of log δ(ε), ε in nats; of the best tilt, unless one at hand is at most `enough`.

    Raises:
        ContourRefused: no tilt within the budget.
    """
    found = kernel.upper_log_delta(laws, epsilon)
    return contour.upper_log_delta(laws, epsilon, enough=enough) if found is None else found


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
    """Where the test S > ε has each size e^x under Q, and log δ around it; None where that would be refused.

    Raises:
        ContourRefused: there is no loss at all.
    """
    found = {log_size: kernel.threshold(laws, log_size) for log_size in log_sizes}
    tests = {
        log_size: SizedTest(*test, functools.partial(_read, tuple(laws)))
        for log_size, test in found.items()
        if test is not None and test.width <= widest
    }
    others = [log_size for log_size in log_sizes if log_size not in tests]
    try:
        known = contour_thresholds.thresholds(laws, others, widest=widest) if others else []
    except NO_CERTIFICATE:
        if not tests:
            raise
        known = []
    tests |= {log_size: _of_profile(each) for log_size, each in zip(others, known, strict=False) if each is not None}
    return [tests.get(log_size) for log_size in log_sizes]


def _of_profile(found: contour_thresholds.Threshold) -> SizedTest:
    return SizedTest(found.epsilon, found.width, 1.0 + found.profile.nodes.place.tilt, found.profile.log_delta)


def _read(laws: Sequence[tuple[Law, int]], epsilon: float) -> Interval:
    """log δ(ε), −∞ to 0 where that is refused."""
    try:
        return log_delta(laws, epsilon)
    except NO_CERTIFICATE:
        return Interval(-math.inf, 0.0)


def supremum(laws: Sequence[tuple[Law, int]]) -> float:
    """An ε from which on δ is zero, rounded up; math.inf if none is known."""
    parts = compiled(laws)
    return parts.supremum * (1.0 + 4 * UNIT_ROUNDOFF * len(parts))

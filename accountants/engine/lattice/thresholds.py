"""Where a test S > ε of a composition has a size under Q, and δ around it from one transform for each end.

Nothing here is certified but the ends themselves, which hold on any grid and tilt: a true positive rate is read at a
few ε close to one another (`trade_off.py`), so that what was transformed for one serves them all, and other sizes whose
ends it keeps as close.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Protocol

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import NearTest, UpperTest, rated
from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.trade_off import LOSS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.laws import Chosen, TiltedEvaluation
    from epsilond.accountants.engine.lattice.survey import LatticePart

_MOST_TURNS = 3
"""Transforms that are tried for one size: an estimate, and two that each suit the ε found on the one before."""
_REACH = 4.0
"""Half the width of the first search for ε, in reciprocals of the steepness: log δ changes by 4 over it."""
_FINE = 5e-5
"""Width in ε [reciprocals of the steepness] at which the search ends: δ changes by the width of its own enclosure."""
_EDGE = 0.05
"""Least ε [reciprocals of the steepness] of a test: points around one that is nearer to 0 would lie below it."""
_SERVED = 1.2
"""Width of log δ, relative to that of the size a transform was laid for, up to which it serves another size."""
_MANY = 8
"""Different laws from which a transform is expensive: its time grows with their number."""
_MOST_WIDTH = 0.1
"""Width of log δ [nat] above which a test is no better than an estimate."""
_TOP, _BELOW_TOP = 1e-6, 1e-8
"""Of the largest loss: how near to it a test is taken for that of it, and how far below it δ is read then."""


class TiltedProfile(Protocol):
    """The profile of a product whose bounds on δ come from transforms at chosen tilts: `product.ComposedProfile`."""

    @property
    def parts(self) -> tuple[LatticePart, ...]:
        """The different factors with their counts."""

    @property
    def supremum(self) -> float:
        """An ε [nat] from which on δ is 0; math.inf if none is known."""

    def test_guess(self, log_size: float) -> tuple[float, float]:
        """Estimate the ε [nat] of the test of a size, and the steepness of its size there."""

    def evaluation(self, epsilon: float) -> TiltedEvaluation:
        """Evaluate the upper bound at one ε, and return the grid and tilt that gave it."""

    def upper_on(self, chosen: Chosen, epsilon: float) -> float:
        """Return the upper bound of log δ on this transform."""

    def lower_on(self, chosen: Chosen, epsilon: float) -> float:
        """Return the lower bound of log δ on this transform."""


def near_tests(order: TiltedProfile, sizes: Sequence[float]) -> list[NearTest | None]:
    """Return a test of about each size.

    A transform that was laid for one size serves the others whose bounds it keeps about as close.

    Returns:
        None for a size whose test is not well above ε = 0, or where the bounds on δ are far apart.
    """
    tests: list[NearTest | None] = []
    known: list[tuple[Chosen, float]] = []
    dear = len(order.parts) >= _MANY
    for size in sizes:
        if (near := _at_the_top(order, size)) is not None:
            tests.append(near)
            continue
        served = (_test_on(order, chosen, size, _SERVED * width) for chosen, width in known)
        near = next((test for test in served if test is not None), None)
        if near is None and (chosen := _suited(order, size)) is not None:
            near = _test_on(order, chosen, size, _MOST_WIDTH)
            if near is not None:
                known.append((chosen, near.width))
        tests.append(None if near is None else rated(near._replace(dear=dear), size))
    return tests


def upper_tests(order: TiltedProfile, sizes: Sequence[float]) -> list[UpperTest | None]:
    """Return a test of about each size with an upper bound only, each from the transform that suits it."""
    return [_upper_test(order, size) for size in sizes]


def _upper_test(order: TiltedProfile, size: float) -> UpperTest | None:
    """Return the test of one size; at the largest loss, where it is beyond that; None where it is not above ε = 0."""
    top = order.supremum
    if order.test_guess(math.log(size))[0] >= top * (1.0 - _TOP):
        return UpperTest(top, -math.inf)
    chosen = _suited(order, size)
    if chosen is None:
        return None
    place = _best(order, chosen, size)
    return UpperTest(place, order.upper_on(chosen, place)) if 0.0 < place < top else None


def _at_the_top(order: TiltedProfile, size: float) -> NearTest | None:
    """The test of the largest loss of all, where that alone is more likely than the size; None anywhere else.

    γ α + E_γ has a corner there, beyond which E is zero.
    """
    top = order.supremum
    if not top < math.inf or order.test_guess(math.log(size))[0] < top * (1.0 - _TOP):
        return None
    chosen = order.evaluation(top * (1.0 - _BELOW_TOP)).tilt
    if chosen is None:
        return None

    def bounds(epsilon: float) -> Interval:
        return Interval(-math.inf, -math.inf) if epsilon >= top else _log_delta_bounds_on(order, chosen, epsilon)

    return NearTest(top, bounds, 0.0, LOSS / (_BELOW_TOP * top) ** 2, bent=True)


def _suited(order: TiltedProfile, size: float) -> Chosen | None:
    """Return the grid and tilt that suit the ε of the test; none where δ is zero or that ε is not above 0."""
    epsilon = order.test_guess(math.log(size))[0]
    chosen: Chosen | None = None
    for _ in range(_MOST_TURNS):
        suited = order.evaluation(epsilon).tilt if epsilon > 0.0 else None
        if suited is None or suited == chosen:
            return suited
        chosen = suited
        epsilon = _best(order, chosen, size, epsilon)
    return chosen


def _best(order: TiltedProfile, chosen: Chosen, size: float, start: float | None = None) -> float:
    """Return the ε at which γ α + E_γ is least by the upper bounds on a transform; at most the ε of γ = 1/α.

    The search is around `start`, or else around the estimated ε; an interval whose end is the best is moved.
    """
    steepness = 1.0 + abs(chosen.place.tilt)
    start = order.test_guess(math.log(size))[0] if start is None else start

    def rate(epsilon: float) -> float:
        return size * math.exp(min(epsilon, 700.0)) + math.exp(order.upper_on(chosen, epsilon))

    reach, most = _REACH / steepness, -math.log(size)
    place = min(max(start, 0.0), most)
    for _ in range(8):
        low, high = max(place - reach, 0.0), min(place + reach, most)
        place = golden_section(rate, low, high, width=_FINE / steepness)
        inner = 0.1 * (high - low)
        if (place > low + inner or low == 0.0) and (place < high - inner or high == most):
            break
        reach *= 2.0
    return place


def _test_on(order: TiltedProfile, chosen: Chosen, size: float, widest: float) -> NearTest | None:
    """Return the test on a given transform; None where its bounds are further apart or it is not well above ε = 0."""
    steepness = 1.0 + abs(chosen.place.tilt)
    epsilon = _best(order, chosen, size)
    bounds = _log_delta_bounds_on(order, chosen, epsilon)
    width = bounds.upper - bounds.lower
    if epsilon * steepness <= _EDGE or not width <= widest:
        return None
    return NearTest(epsilon, functools.partial(_log_delta_bounds_on, order, chosen), width, steepness)


def _log_delta_bounds_on(order: TiltedProfile, chosen: Chosen, epsilon: float) -> Interval:
    """Enclose log δ at an ε near the tilt's own; at ε < 0 only δ ≤ 1 is known."""
    if epsilon < 0.0:
        return Interval(-math.inf, 0.0)
    upper = order.upper_on(chosen, epsilon)
    return Interval(min(order.lower_on(chosen, epsilon), upper), upper)

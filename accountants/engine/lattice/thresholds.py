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
_SETTLED = 0.25
"""A last move, in reciprocals of the steepness, after which the transform is that of the ε found."""
_REACH = 4.0
_FINE, _EDGE = 5e-5, 0.05
_SERVED, _SERVED_BY_DEAR = 1.2, 3.0
"""A width of log δ, in widths where a transform was laid, with which it serves another size too; more of a dear one."""
_MANY, _LARGE = 8, 2**21
"""So many laws, or bytes of sums, make a transform dear."""
_MOST_WIDTH = 0.1
_NOISY = 1e-3
"""How far apart upper bounds of log δ on different transforms are where it matters which of them is read."""
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
        """Evaluate the upper bound at one ε, and return the grids and tilts that gave it."""

    def size_on(self, tilts: Sequence[Chosen]) -> int:
        """Return the bytes that the transforms at these tilts take."""

    def upper_on(self, tilts: Sequence[Chosen], epsilon: float) -> float:
        """Return the least upper bound of log δ on these transforms."""

    def lower_on(self, tilts: Sequence[Chosen], epsilon: float) -> float:
        """Return the largest lower bound of log δ on these transforms."""


def near_tests(order: TiltedProfile, sizes: Sequence[float]) -> list[NearTest | None]:
    """A test about as large as each size; None where it is not well above ε = 0 or δ is known badly there."""
    found: list[NearTest | None] = []
    known: list[tuple[tuple[Chosen, ...], float]] = []
    dear = len(order.parts) >= _MANY
    for size in sizes:
        served = _SERVED_BY_DEAR if dear else _SERVED
        if (near := _at_the_top(order, size)) is not None:
            found.append(near)
            continue
        near = next((test for tilts, width in known if (test := _served(order, tilts, size, served * width))), None)
        if near is None:
            tilts = _suited(order, size)
            near = _served(order, tilts, size, _MOST_WIDTH) if tilts else None
            dear = dear or (bool(tilts) and order.size_on(tilts) >= _LARGE)
            if near is not None:
                known.append((tilts, near.width))
        found.append(None if near is None else rated(near._replace(dear=dear), size))
    return found


def upper_tests(order: TiltedProfile, sizes: Sequence[float]) -> list[UpperTest | None]:
    """The same with upper bounds alone, on transforms of their own: without lower ones none is seen to serve two sizes.

    Each size is read on all of them, as each gives a true end.
    """
    top = order.supremum
    places: list[float] = []
    known: dict[Chosen, None] = {}
    for size in sizes:
        guess = order.test_guess(math.log(size))[0]
        if guess >= top * (1.0 - _TOP):
            places.append(top)
        elif tilts := _suited(order, size):
            known.update(dict.fromkeys(tilts))
            places.append(_best(order, tilts, size, guess, 1.0 + abs(tilts[0].place.tilt)))
        else:
            places.append(0.0)
    return [_upper_test(order, tuple(known), size, place, top) for size, place in zip(sizes, places, strict=True)]


def _upper_test(
    order: TiltedProfile, tilts: tuple[Chosen, ...], size: float, place: float, top: float
) -> UpperTest | None:
    """The least upper bound of all, near a place or near where they say that the test is."""
    if not 0.0 < place < top:
        return UpperTest(top, -math.inf) if place > 0.0 else None
    bounds = [order.upper_on((each,), place) for each in tilts]
    if max(bounds) - min(bounds) > _NOISY:
        steepness = 1.0 + abs(tilts[bounds.index(min(bounds))].place.tilt)
        place = max(_best(order, tilts, size, place, steepness), _EDGE / steepness)
    return UpperTest(place, order.upper_on(tilts, place))


def _at_the_top(order: TiltedProfile, size: float) -> NearTest | None:
    """The test of the largest loss of all, where that alone is more likely than the size; None anywhere else.

    γ α + E_γ has a corner there, beyond which E is zero.
    """
    top = order.supremum
    if not top < math.inf or order.test_guess(math.log(size))[0] < top * (1.0 - _TOP):
        return None
    tilts = order.evaluation(top * (1.0 - _BELOW_TOP)).tilts
    if not tilts:
        return None

    def bounds(epsilon: float) -> Interval:
        return Interval(-math.inf, -math.inf) if epsilon >= top else _log_delta_bounds_on(order, tilts, epsilon)

    return NearTest(top, bounds, 0.0, LOSS / (_BELOW_TOP * top) ** 2, bent=True)


def _suited(order: TiltedProfile, size: float) -> tuple[Chosen, ...]:
    """The grids and tilts that suit the ε of the test; none where δ is zero or that ε is not above 0."""
    epsilon, steepness = order.test_guess(math.log(size))
    tilts: tuple[Chosen, ...] = ()
    for _ in range(_MOST_TURNS):
        if epsilon <= 0.0:
            return ()
        suited = order.evaluation(epsilon).tilts
        if not suited or suited == tilts:
            return suited
        tilts = suited
        steepness = 1.0 + abs(tilts[0].place.tilt)
        place = _best(order, tilts, size, epsilon, steepness)
        if abs(place - epsilon) * steepness <= _SETTLED:
            break
        epsilon = place
    return tilts


def _best(order: TiltedProfile, tilts: Sequence[Chosen], size: float, start: float, steepness: float) -> float:
    """Where γ α + E_γ is least, by the upper bounds on a transform; not beyond γ = 1/α."""

    def rate(epsilon: float) -> float:
        return size * math.exp(min(epsilon, 700.0)) + math.exp(order.upper_on(tilts, epsilon))

    reach, most = _REACH / steepness, -math.log(size)
    low, high = max(start - reach, 0.0), min(start + reach, most)
    for _ in range(8):
        place = golden_section(rate, low, high, width=_FINE / steepness)
        if place <= low + 0.1 * reach and low > 0.0:
            low, high = max(low - 3.0 * reach, 0.0), low + reach
        elif place >= high - 0.1 * reach and high < most:
            low, high = high - reach, min(high + 3.0 * reach, most)
        else:
            break
        reach *= 2.0
    return place


def _served(order: TiltedProfile, tilts: tuple[Chosen, ...], size: float, widest: float) -> NearTest | None:
    """The test on a given transform; None where its ends are further apart or it lies below ε = 0."""
    steepness = 1.0 + abs(tilts[0].place.tilt)
    epsilon = _best(order, tilts, size, order.test_guess(math.log(size))[0], steepness)
    bounds = _log_delta_bounds_on(order, tilts, epsilon)
    width = bounds.upper - bounds.lower
    if epsilon * steepness <= _EDGE or not width <= widest:
        return None
    return NearTest(epsilon, functools.partial(_log_delta_bounds_on, order, tilts), width, steepness)


def _log_delta_bounds_on(order: TiltedProfile, tilts: tuple[Chosen, ...], epsilon: float) -> Interval:
    """Both bounds of log δ at an ε near the tilts' own; of ε < 0 nothing is known but that δ ≤ 1."""
    if epsilon < 0.0:
        return Interval(-math.inf, 0.0)
    upper = order.upper_on(tilts, epsilon)
    return Interval(min(order.lower_on(tilts, epsilon), upper), upper)

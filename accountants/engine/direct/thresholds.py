"""Where a test S > ε of a few steps has a size under Q, and δ around it from as few lattices as serve it well.

Nothing here is certified but the ends themselves. A lattice gives true ends at every ε, and close ones below its own
range too, though less close than a lattice that is laid there: it serves where that hardly shows in γ α + E_γ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.direct.lattice import Lattice
    from epsilond.accountants.engine.direct.profile import DirectProfile

_SERVED = 2.5e-8
"""A width of γ α + E_γ, relative, with which another test's lattice serves: half of what the points around it cost."""
_CLOSER = 2.0
"""By the root of this the points around a test are laid closer, which makes up for what a shared lattice costs."""
_MOST_MOVES = 12
_ASIDE = 0.02
"""How far apart sizes are compared for their steepness, in ε."""


class DirectTest(NamedTuple):
    """A lattice that serves a test.

    Attributes:
        epsilon: about the ε at which the test has the size asked.
        lattice: for ε > 0.
        width: of γ α + E_γ, relative.
        steepness: about |d log Q(S > ε)/dε|, or more.
    """

    epsilon: float
    lattice: Lattice
    width: float
    steepness: float


def direct_tests(
    profile: DirectProfile, sizes: Sequence[float], eased: Callable[[float], bool]
) -> list[DirectTest | None]:
    """For each size the test S > ε; None where ε is not above 0, or where `eased` of the end of its range."""
    lattices: list[Lattice] = []
    found: dict[float, DirectTest | None] = {}
    for size in sorted(sizes):
        place = _range_of(profile, size)
        found[size] = None
        if place is None or eased(profile.representative(place)):
            continue
        tests = (_test(lattice, size) for lattice in lattices)
        near = next((test for test in tests if test is not None and test.width <= _SERVED), None)
        if near is None and (own := profile.lattice_of(place)) is not None:
            near = _test(own, size)
            lattices.append(own)
        found[size] = near
    return [found[size] for size in sizes]


def _range_of(profile: DirectProfile, size: float) -> int | None:
    """The range of the ε at which a test has the size, by coarse lattices; None where that is not above 0."""
    place = profile.range_at_depth(-math.log(size))
    for _ in range(_MOST_MOVES):
        coarse = profile.coarse_of(place)
        if coarse is None:
            return None
        high = profile.ends_of(place)[1]
        if high < profile.steps.supremum and coarse.lattice.size_above(high) > size:
            place += 1
            continue
        epsilon = coarse.lattice.place_of_size(size)
        return min(profile.range_of(epsilon), place) if epsilon > 0.0 else None
    return None


def _test(lattice: Lattice, size: float) -> DirectTest | None:
    """The test on a given lattice; None where it tells nothing of it."""
    epsilon = lattice.place_of_size(size)
    if not 0.0 < epsilon < math.inf:
        return None
    aside = _ASIDE * epsilon + 4.0 * lattice.upper.unit
    sizes = lattice.size_above(epsilon - aside), lattice.size_above(epsilon + aside)
    lower, upper = lattice.log_delta(epsilon)
    if not (min(sizes) > 0.0 and math.isfinite(lower)):
        return None
    steepness = max(_CLOSER * math.log(sizes[0] / sizes[1]) / (2.0 * aside), 1.0)
    value = size * math.exp(min(epsilon, 700.0)) + math.exp(upper)
    width = float(np.expm1(upper - lower)) * math.exp(lower) / value
    return DirectTest(epsilon, lattice, width, steepness)

"""Nodes that neighbouring questions share: laid at tilts of a grid, so that what was asked before changes no answer."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilond.accountants.engine.contour.nodes import build
from epsilond.accountants.engine.contour.profile import ContourProfile
from epsilond.accountants.engine.contour.saddle import Survey, reach_for

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.saddle import Place
    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Part

_COARSEST = 2
"""Bits to which tilts are rounded at least."""
_FINEST = 40
_KEPT = 8


def shared(parts: tuple[Part, ...], place: Place, budget: NodeBudget) -> ContourProfile:
    """A profile laid at the tilt of a grid that is nearest to the place's, within about half the integrand's width.

    It depends on the place through that tilt only.

    Raises:
        Refused: as `build`.
    """
    bits = min(max(_COARSEST, math.ceil(math.log2(0.7 * place.tilt * place.width))), _FINEST)
    exponent = round(math.ldexp(math.log2(place.tilt), bits))
    return _laid(parts, 2.0 ** math.ldexp(exponent, -bits), budget)


@functools.lru_cache(maxsize=_KEPT)
def _laid(parts: tuple[Part, ...], tilt: float, budget: NodeBudget) -> ContourProfile:
    survey = Survey.of(parts, reach_for(tilt), budget)
    place = survey.place(tilt)
    nodes = build(parts, place, survey, place.epsilon, budget)
    return ContourProfile(parts, nodes, place.epsilon, survey.scale_slope(tilt))

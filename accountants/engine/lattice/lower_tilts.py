"""A tilt below that of the saddle, where rare giant losses rule the tilted law: nothing here is certified.

Any tilt gives true ends. At the saddle of a law with rare giant losses these have a share in the tilted total, which is
then so wide that its alias asks for a period many times that of the others. A little further down their share is gone,
and the sum is hardly larger, so that the transform has several times fewer points (docs/engine-certificate.md, B3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.engine.lattice.spectrum import likely_period
from epsilond.accountants.engine.lattice.tilted import Place

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.tilted import Weighted

_PROBE = 2
"""Steps further down, where the variance is looked at first."""
_FALLS = 3.0
"""How many times less it must be there."""
_FURTHEST = 12
"""Steps that are looked at."""
_SHORTER = 0.5
"""Of the period at the saddle, below which another tilt is worth its while."""
_MOST_LOST = 0.6
"""Nats by which the sum may be larger than at the saddle."""


def lower_place(
    laws: Weighted, here: Place, epsilon: float, log_width: float, *, step: float, most: float = 0.0
) -> Place | None:
    """The place below a saddle, in whole steps, with about the shortest period; None where the saddle is as good.

    `log_width` is as of `likely_period`; both places are direct. None, too, where the saddle's period is at most
    `most`.
    """
    least = laws.cumulants(here.tilt)
    probe = laws.cumulants(Place(here.y - _PROBE * step, direct=True).tilt)
    if not least.variance > _FALLS * probe.variance:
        return None
    period = likely_period(laws, here, log_width)
    if period <= most:
        return None
    largest = least.value - here.tilt * epsilon + _MOST_LOST
    best, shortest = None, _SHORTER * period
    for steps in range(1, _FURTHEST + 1):
        place = Place(here.y - steps * step, direct=True).snapped(step)
        if laws.value(place.tilt) - place.tilt * epsilon > largest:
            break
        period = likely_period(laws, place, log_width)
        if period < shortest:
            best, shortest = place, period
    return best

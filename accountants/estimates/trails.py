"""Where a search may start: the noises that were lately found for the same release under other targets.

Noise is smooth in the μ of a target, in logarithms. A trail decides where a search starts and nothing else; only
searches that answer the same wherever they start may follow one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

TRAILS_KEPT, POINTS_KEPT = 32, 16
FURTHEST = 0.4
"""Of log μ: nothing further away is a guide."""


class TrailPoint(NamedTuple):
    """What was found for a target: logarithms of its μ and of the noise, the slope of the search there, and its way.

    The way is a choice of the search's own.
    """

    log_mu: float
    log_noise: float
    slope: float
    way: int = 0


class Trail:
    """The last few points of one release."""

    def __init__(self) -> None:
        self._points: list[TrailPoint] = []

    def add(self, point: TrailPoint) -> None:
        """Remember it, in place of one for about the same target."""
        others = [each for each in self._points if abs(each.log_mu - point.log_mu) > 1e-6]
        self._points = [*others[-POINTS_KEPT + 1 :], point]

    def likely(self, log_mu: float) -> TrailPoint | None:
        """On the curve through the nearest points, of which there must be two at least; None if these are far."""
        near = sorted(self._points, key=lambda each: abs(each.log_mu - log_mu))[:3]
        if len(near) < 2 or abs(near[0].log_mu - log_mu) > FURTHEST or abs(near[1].log_mu - log_mu) > 2.0 * FURTHEST:
            return None
        weights = [
            math.prod((log_mu - other.log_mu) / (each.log_mu - other.log_mu) for other in near if other is not each)
            for each in near
        ]
        noise = sum(weight * each.log_noise for weight, each in zip(weights, near, strict=True))
        return near[0]._replace(log_mu=log_mu, log_noise=noise)


class Trails:
    """Of the releases that were lately calibrated."""

    def __init__(self) -> None:
        self._trails: dict[Hashable, Trail] = {}

    def of(self, release: Hashable) -> Trail:
        """The trail of a release; all are forgotten where they are many."""
        if release not in self._trails and len(self._trails) >= TRAILS_KEPT:
            self._trails.clear()
        return self._trails.setdefault(release, Trail())

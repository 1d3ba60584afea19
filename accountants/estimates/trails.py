"""Start values of a search from recent calibrations: noises of the same release under other targets.

Noise is a smooth function of the target's μ, in logarithms. A trail affects only where a search starts. Only searches
whose answer does not depend on the start may use a trail.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

TRAILS_KEPT, POINTS_KEPT = 32, 16
FURTHEST = 0.4
"""Distance in log μ beyond which a point is not used."""


class TrailPoint(NamedTuple):
    """The result for a target: logarithms of its μ and of the noise, the slope of the search there, and its way.

    The way is a choice that the search makes itself.
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
        """Store a point, and remove any point for about the same target."""
        distinct = [stored for stored in self._points if abs(stored.log_mu - point.log_mu) > 1e-6]
        self._points = [*distinct[-POINTS_KEPT + 1 :], point]

    def likely(self, log_mu: float) -> TrailPoint | None:
        """Return the point on the curve through the nearest points; None if they are fewer than two, or far away."""
        near = sorted(self._points, key=lambda point: abs(point.log_mu - log_mu))[:3]
        if len(near) < 2 or abs(near[0].log_mu - log_mu) > FURTHEST or abs(near[1].log_mu - log_mu) > 2.0 * FURTHEST:
            return None
        weights = [
            math.prod((log_mu - node.log_mu) / (point.log_mu - node.log_mu) for node in near if node is not point)
            for point in near
        ]
        noise = sum(weight * point.log_noise for weight, point in zip(weights, near, strict=True))
        return near[0]._replace(log_mu=log_mu, log_noise=noise)


class Trails:
    """Trails of the releases that were calibrated recently."""

    def __init__(self) -> None:
        self._trails: dict[Hashable, Trail] = {}

    def of(self, release: Hashable) -> Trail:
        """Return the trail of a release. All trails are deleted if there are too many."""
        if release not in self._trails and len(self._trails) >= TRAILS_KEPT:
            self._trails.clear()
        return self._trails.setdefault(release, Trail())

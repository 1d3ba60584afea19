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
    """The result of one calibration.

    Attributes:
        log_mu: logarithm of the μ of Gaussian differential privacy that has the target δ at the target ε.
        log_noise: logarithm of the noise.
        slope: slope of the search's function at the result.
        way: index of the method that the search used; its meaning is the search's own.
    """

    log_mu: float
    log_noise: float
    slope: float
    way: int = 0


class Trail:
    """Results of recent calibrations of the same release for different targets, at most `POINTS_KEPT`."""

    def __init__(self) -> None:
        self._points: list[TrailPoint] = []

    def add(self, point: TrailPoint) -> None:
        """Store a point, and remove any point for about the same target."""
        distinct = [stored for stored in self._points if abs(stored.log_mu - point.log_mu) > 1e-6]
        self._points = [*distinct[-POINTS_KEPT + 1 :], point]

    def likely(self, log_mu: float) -> TrailPoint | None:
        """Estimate the result for another target by interpolating log noise over the two or three nearest targets.

        Args:
            log_mu: logarithm of the target's μ.

        Returns:
            The estimate, with slope and way of the nearest point; None if fewer than two points are near.
        """
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
        """Return the trail of a release, and make it if there is none.

        If there are already `TRAILS_KEPT` trails, they are first deleted.
        """
        if release not in self._trails and len(self._trails) >= TRAILS_KEPT:
            self._trails.clear()
        return self._trails.setdefault(release, Trail())

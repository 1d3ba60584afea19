"""Start values of a search from recent calibrations: noises of the same release under other targets.

Log noise is a smooth function of the log μ of the target. Only searches with an answer that does not depend on the
start may use a trail.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

TRAILS_KEPT, POINTS_KEPT = 32, 16
"""Limits on the number of releases, and on the number of results of one release, that are stored."""
SAME_TARGET = 1e-6
"""Distance in log μ up to which two targets count as one."""
FURTHEST = 0.4
"""Largest distance in log μ of the nearest point for an estimate; the second nearest may be twice as far away."""


class TrailPoint(NamedTuple):
    """The result of one calibration of noise, from which later searches start.

    Attributes:
        log_mu: natural logarithm of the μ of Gaussian differential privacy that has the target δ at the target ε.
        log_noise: natural logarithm of the noise.
        slope: derivative at the result, in log noise, of the function to which the search finds a root.
        way: index of the upper bound on δ that the noise meets, among several bounds of the same release.
    """

    log_mu: float
    log_noise: float
    slope: float
    way: int = 0


class Trail:
    """Results of recent calibrations of the same release for different targets, at most `POINTS_KEPT`.

    A target is described by the μ of Gaussian differential privacy that has its δ at its ε. The necessary noise is a
    smooth function of μ, so the noise for a new target is estimated by interpolation.
    """

    def __init__(self) -> None:
        self._points: list[TrailPoint] = []

    def add(self, point: TrailPoint) -> None:
        """Store a point, and remove points for about the same target, and the oldest if there are too many.

        Args:
            point: the result of one calibration.
        """
        distinct = [stored for stored in self._points if abs(stored.log_mu - point.log_mu) > SAME_TARGET]
        self._points = [*distinct[-POINTS_KEPT + 1 :], point]

    def likely(self, log_mu: float) -> TrailPoint | None:
        """Estimate the result for another target by interpolating log noise over the two or three nearest targets.

        There is no estimate if the nearest target is further away than `FURTHEST` in log μ, or the second nearest
        further than twice that.

        Args:
            log_mu: natural logarithm of the target's μ.

        Returns:
            The estimate, with `slope` and `way` of the nearest point; None if the points are too few or too far away.
        """
        nearest = sorted(self._points, key=lambda point: abs(point.log_mu - log_mu))[:3]
        if len(nearest) < 2:
            return None
        first_distance, second_distance = abs(nearest[0].log_mu - log_mu), abs(nearest[1].log_mu - log_mu)
        if first_distance > FURTHEST or second_distance > 2.0 * FURTHEST:
            return None
        log_noise = sum(_lagrange_weight(point, nearest, log_mu) * point.log_noise for point in nearest)
        return nearest[0]._replace(log_mu=log_mu, log_noise=log_noise)


def _lagrange_weight(point: TrailPoint, nodes: list[TrailPoint], log_mu: float) -> float:
    """Return the weight of a node's value in the interpolating polynomial through all nodes.

    By Lagrange's formula it is the product of (x − x_j)/(x_i − x_j) over the nodes j ≠ i.

    Args:
        point: node i.
        nodes: all nodes, at different log μ.
        log_mu: x, at which the polynomial is evaluated.

    Returns:
        The weight; all weights sum to 1.
    """
    return math.prod((log_mu - node.log_mu) / (point.log_mu - node.log_mu) for node in nodes if node is not point)


class Trails:
    """A store of the results of recent calibrations, from which later searches for a noise start.

    The results are grouped by release, that is, by everything on which a calibration depends except the target. Each
    release has one `Trail` with its results. At most `TRAILS_KEPT` releases are stored.
    """

    def __init__(self) -> None:
        self._trails: dict[Hashable, Trail] = {}

    def of(self, release: Hashable) -> Trail:
        """Return the trail of a release, and create an empty one if there is none.

        All trails are deleted first if there are already `TRAILS_KEPT` trails and the release has none.

        Args:
            release: key of the release.

        Returns:
            The trail, which is stored.
        """
        if release not in self._trails and len(self._trails) >= TRAILS_KEPT:
            self._trails.clear()
        return self._trails.setdefault(release, Trail())

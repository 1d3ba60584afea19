"""The local guarantee of a report as a curve of points (ε₀, δ₀), and the distance of reports from those with δ₀ = 0."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.bracketed_search import upper_epsilon
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

LARGEST_LOCAL_EPSILON = 700.0
"""Largest ε₀ of a local guarantee, in nats; e^700 is still a double."""
_COARSE, _FINE = 24, 96
"""Number of ε₀ at which a guarantee is evaluated: in a first scan, and then in the range of useful δ₀."""
_LARGEST_LOG_DELTA, _DEEPEST = -2.0, -745.0
"""Largest log δ₀ that is of use, and the log δ₀ below which δ₀ is no double above 0."""
OFFSETS = np.asarray([-1.0, -0.5, 0.0, 0.5, 1.0])
"""Offsets of the points of a refinement in log ε₀, relative to the largest offset."""
CELLS = 128
"""Number of cells of noise multipliers per factor of two."""
POINTS_KEPT = 8
"""Number of Gaussian reports of which the points are stored."""


class LocalPoints(NamedTuple):
    """Points (ε₀, δ₀) of a local guarantee, which is the guarantee of a single report.

    Attributes:
        epsilon: increasing values of ε₀, in nats.
        log_delta: upper bound on the natural logarithm of δ₀ at each; −∞ if δ₀ is 0.
    """

    epsilon: FloatArray
    log_delta: FloatArray


@dataclass(frozen=True)
class LocalCurve:
    """The points (ε₀, δ₀) of a local guarantee, which is the guarantee of a single report for every two inputs.

    A guarantee with δ₀ = 0 at some ε₀ ≤ 700 is a single point with log δ₀ = −∞.

    Attributes:
        pair: dominating pair of a single report.
    """

    pair: Pair

    @cached_property
    def points(self) -> LocalPoints:
        """Increasing ε₀ with upper bounds on log δ₀; those of Gaussian reports are stored for later bounds."""
        if self.pair.gaussian_dp_mu:
            return _gaussian_points(self.pair)
        return self._evaluate_points()

    def _evaluate_points(self) -> LocalPoints:
        """Compute points (ε₀, log δ₀) of the guarantee of a single report.

        A pure guarantee, with δ₀ = 0 at some ε₀ ≤ 700, gives one point, the least such ε₀. Otherwise a scan of few ε₀
        finds the range in which δ₀ is neither useless (`_LARGEST_LOG_DELTA`) nor zero as a double (`_DEEPEST`). The
        points are evenly spaced in log ε₀ over that range.

        Returns:
            The points with increasing ε₀. They are those of the scan if no scanned point is useful.
        """
        is_pure = math.isinf(self.pair.log_delta_bounds(LARGEST_LOCAL_EPSILON).upper)
        if is_pure:
            pure_epsilon = upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, -1e300)  # δ₀ = 0
            return LocalPoints(np.asarray([pure_epsilon]), np.asarray([-np.inf]))
        scanned = np.geomspace(1e-6, LARGEST_LOCAL_EPSILON, _COARSE)
        log_delta = self.pair.log_delta(scanned).upper
        useful = np.flatnonzero((log_delta < _LARGEST_LOG_DELTA) & (log_delta > _DEEPEST))
        if useful.size == 0:
            return LocalPoints(scanned, log_delta)

        # One more point of the scan on each side, because the range may end between two of them.
        first = max(int(useful[0]) - 1, 0)
        last = min(int(useful[-1]) + 1, _COARSE - 1)
        epsilon = np.geomspace(scanned[first], scanned[last], _FINE)
        return LocalPoints(epsilon, self.pair.log_delta(epsilon).upper)

    def rough_lower_bound(self, epsilon: float) -> float:
        """Return a rough lower bound on log δ₀ of a single report at ε, its value at the next larger tabulated ε₀.

        The points hold upper bounds on log δ₀. So the result decides only which bounds are evaluated, and enters none.

        Args:
            epsilon: ε, in nats.

        Returns:
            The natural logarithm; −∞ beyond the last point.
        """
        tabulated, log_delta = self.points
        following = int(np.searchsorted(tabulated, epsilon))
        if following == tabulated.size:
            return -math.inf
        return float(log_delta[following])

    def estimate(self, epsilon: FloatArray) -> FloatArray:
        """Estimate log δ₀ at several ε by linear interpolation between the points.

        The estimate is too low below the first point, and too high beyond the last one.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            One natural logarithm for each ε. For a pure guarantee of ε₀ it is 0 below ε₀ and −∞ from ε₀ on.
        """
        tabulated, log_delta = self.points
        if tabulated.size == 1:
            return np.where(epsilon < tabulated[0], 0.0, -np.inf)
        return np.asarray(np.interp(epsilon, tabulated, log_delta))

    @property
    def log_step(self) -> float:
        """Mean spacing of the points in log ε₀."""
        tabulated = self.points.epsilon
        return math.log(tabulated[-1] / tabulated[0]) / max(tabulated.size - 1, 1)

    def spread_points(self, log_centres: FloatArray, largest_offset: float) -> FloatArray:
        """Return five values of ε₀ around each centre, within the range of the tabulated local guarantee.

        Args:
            log_centres: log ε₀ of the centres.
            largest_offset: largest offset in log ε₀ from a centre.

        Returns:
            A row of five ε₀ for each centre, at equal ratios except where they are moved into the range.
        """
        tabulated = self.points.epsilon
        nearby = np.exp(log_centres[:, None] + largest_offset * OFFSETS)
        return np.clip(nearby, tabulated[0], tabulated[-1])

    @property
    def pure_epsilon(self) -> float:
        """ε₀ in nats of a guarantee with δ₀ = 0; math.inf for other guarantees."""
        epsilon, log_delta = self.points
        is_pure = bool(np.isneginf(log_delta).all())
        return float(epsilon[0]) if is_pure else math.inf


@functools.lru_cache(POINTS_KEPT)
def _gaussian_points(pair: Pair) -> LocalPoints:
    """Return the points (ε₀, δ₀) of a Gaussian guarantee, which are stored for the several bounds of one account.

    Args:
        pair: dominating pair of a single Gaussian report, two distributions with a hockey-stick divergence δ₀ at ε₀.

    Returns:
        The points with increasing ε₀, as in `LocalCurve.points`.
    """
    return LocalCurve(pair)._evaluate_points()  # noqa: SLF001


def log_distance(clients: int, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """Compute the log total variation distance of (ε₀, δ₀)-private reports from reports with δ₀ = 0.

    The clone bound is for reports with δ₀ = 0. Real reports of n clients are within the distance:

        sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀,   s = 1/(1 + e^ε₀),

    of such reports. The first term is for the victim's report, the second one for the other reports.

    Args:
        clients: number n of clients.
        epsilon: ε₀ of one report, in nats.
        log_delta: log δ₀ of one report.

    Returns:
        The natural logarithm of the distance, rounded up; −∞ if δ₀ is 0.
    """
    victim_share = 1.0 / (1.0 + np.exp(epsilon))  # s
    log_factor = np.log(victim_share + (clients - 1) * np.exp(-epsilon) * (1.0 + victim_share))
    upper_log_delta = log_delta * (1.0 - 4.0 * UNIT_ROUNDOFF)  # towards 0; −∞ stays
    rounding = UNIT_ROUNDOFF * (16.0 + 4.0 * np.abs(log_factor))
    return np.asarray(upper_log_delta + log_factor + rounding)


class PointPairs(NamedTuple):
    """Points (ε₀, δ₀) and (ε₁, δ₁) of two local guarantees of shuffled reports, as arrays for broadcasting.

    The first guarantee is for one record of the victim, the client to be protected. The second one is for the whole
    contribution of another client. A column of the first and a row of the second give all combinations.

    Attributes:
        victim: ε₀ of the victim's record, in nats.
        log_delta: log δ₀ of the victim's record.
        crowd: ε₁ of another client's whole contribution, in nats.
        log_crowd: log δ₁ of another client's whole contribution.
    """

    victim: FloatArray
    log_delta: FloatArray
    crowd: FloatArray
    log_crowd: FloatArray


class ClonePairs(NamedTuple):
    """Choices of the local privacy parameters (ε₀, ε₁) in the clone bound, as arrays of equal length.

    A choice is also called a clone pair. It has an idealised victim's report, hidden among other reports that look like
    it with probability e^−ε₁.

    Attributes:
        victim: ε₀ of the victim's record, in nats.
        crowd: ε₁ of another client's whole contribution, in nats.
    """

    victim: FloatArray
    crowd: FloatArray


def cell_representative(pair: Pair) -> Pair:
    """Return a Gaussian mechanism's distributions at a rounded noise, so that similar requests share one table.

    A table of bounds on δ is planned for this noise and stored for later requests. Noise multipliers are divided into
    `CELLS` cells per factor of two, and the result has the noise in the middle of the cell. A table has clone bounds
    for several local ε₀. Within a cell, the best ε₀ changes by less than the distance of two ε₀ in the table.

    Args:
        pair: dominating pair of a single report, two distributions with a hockey-stick divergence that bounds δ.

    Returns:
        The pair N(μ, 1) and N(0, 1) for the middle of the cell, or the given pair if it is not Gaussian.
    """
    mu = pair.gaussian_dp_mu
    if not mu:
        return pair
    log2_of_middle = round(CELLS * math.log2(mu)) / CELLS
    return gaussian_pair(2.0**log2_of_middle)

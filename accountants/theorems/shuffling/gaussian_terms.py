"""The distribution of one report's term in the privacy blanket bound of one-dimensional Gaussian reports.

In units of σ the blanket has the density φ(|w| + c), c = C/σ. With the likelihood ratio ρ = e^{2c|w|} of two opposite
contributions and α = e^ε, the term is Y = ρ − α for w > 0 and 1 − αρ for w < 0. `gaussian` bounds δ(ε) by the sum of n
independent terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.step_law import Pieces, StepLaw, WeightedPoints
from epsilond.accountants.theorems.shuffling.gaussian_cells import LUMP, Cells, ExcessMasses

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_LARGEST_EPSILON = 600.0
"""Largest ε, in nats, at which α = e^ε is computed. Beyond it, the upper bound at this ε is valid: δ decreases."""


def growth_at(epsilon: float) -> float:
    """Compute e^ε − 1, with ε limited to 600 so that the result is a double.

    Args:
        epsilon: privacy loss ε ≥ 0, in nats.

    Returns:
        The excess of the factor α = e^ε over 1, called growth in this module.
    """
    return math.expm1(min(epsilon, _LARGEST_EPSILON))


def _negative_value(excess: FloatArray, growth: float) -> FloatArray:
    """Compute 1 − αρ, the value of a report's term for noise w < 0, without cancellation.

    With x = ρ − 1 and g = α − 1 it is −(x + g + gx).

    Args:
        excess: array of x = ρ − 1, the excess of the likelihood ratio over 1.
        growth: g = α − 1 = e^ε − 1.

    Returns:
        One value for each x, at most 0.
    """
    return -(excess + growth + growth * excess)


@dataclass(frozen=True)
class BlanketTerms:
    """Distributions of the term Y of one report, in the privacy blanket bound of Gaussian reports.

    The blanket is the part φ(|w| + c) of a report's density that all contributions have in common. It is divided into
    cells in w. Y is unbounded, so it is cut at an edge w = B of the cells, and at most Φ(c − B) is charged for the
    rest.

    Attributes:
        cells: cells of the blanket with their masses.
        scaled_norm: bound c = C/σ on a contribution, in standard deviations of the noise.
    """

    cells: Cells
    scaled_norm: float

    def find_edge(self, distance: float) -> int:
        """Return the index of the first edge at a given distance beyond the largest contribution.

        The edges divide the noise w into cells, and c is the bound on a contribution. The edge is the first one with
        w − c at least the distance.

        Args:
            distance: least w − c, in standard deviations of the noise.

        Returns:
            An index of at least 8, so that some cells are below the edge, and at most that of the last edge.
        """
        edges = self.cells.edges
        least_index, last_index = 8, edges.size - 1
        index = int(np.searchsorted(edges, self.scaled_norm + distance))
        return min(max(index, least_index), last_index)

    def log_charge(self, last: int) -> float:
        """Return an upper bound on log Φ(c − B), the effect on δ of cutting off the noise beyond B.

        c is the bound on a contribution. All are in standard deviations of the noise.

        Args:
            last: index of the edge B.

        Returns:
            The natural logarithm of this charge, which is added to δ.
        """
        value = float(log_ndtr(self.scaled_norm - self.cells.edges[last]))
        return value + 64 * UNIT_ROUNDOFF * (1.0 + abs(value))  # more than the error of the logarithm

    def distribution(self, growth: float, last: int, *, upper: bool) -> StepLaw:
        """Return a discrete distribution of the term Y of a report, for a one-sided bound on δ = E[(Y₁ + … + Y_n)₊]/n.

        The noise w of a report is divided into cells, and cut at an edge B. A mass of the blanket (the part that all
        reports have in common) at the likelihood ratio ρ gives two values of Y. They are ρ − α for w > 0, and 1 − αρ
        for w < 0. Of the mass beyond B only the value for w < 0 is kept. E[(Y₁ + … + Y_n)₊] grows if Y grows in convex
        order. So a mass that is split between the edges of its cell gives an upper bound, and a mass at its mean a
        lower one.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge B, the last edge of the cells that are used.
            upper: whether the mass of a cell is split between its edges, for an upper bound. Otherwise it is moved to
                its mean, for a lower bound.

        Returns:
            Values of Y with their probabilities and rounding errors, and uniform pieces of its density.
        """
        masses = self._split_masses(last) if upper else self._mean_masses(last)
        positive = masses.excess - growth  # ρ − α
        negative = _negative_value(np.append(masses.excess, masses.excess_beyond), growth)
        # Bounds on the terms that are added up to a value of Y, which determine its rounding error.
        magnitudes = np.concatenate((masses.excess + growth, -negative))
        magnitudes[-1] *= 2.0  # for the mass beyond B
        roundoff = UNIT_ROUNDOFF * (4.0 + 8.0 * self.scaled_norm * float(self.cells.edges[last]))
        mass_beyond = self._mass_beyond(last)
        atoms = WeightedPoints(
            points=np.concatenate((positive, negative)),
            weights=np.concatenate((masses.weights, masses.weights, [mass_beyond])),
            point_errors=roundoff * magnitudes,
            weight_errors=np.concatenate((masses.errors, masses.errors, [1e-14 * mass_beyond])),
        )
        return StepLaw(atoms, self._pieces(growth))

    def _split_masses(self, last: int) -> ExcessMasses:
        """Return the masses of the intervals (cells) below an edge, moved to their ends, for upper bounds on δ.

        Args:
            last: index of the edge.

        Returns:
            The likelihood ratio's excess x at each edge, with the mass that is moved there.
        """
        cells = self.cells
        excess, errors = cells.edge_excess[: last + 1], cells.errors[:last]
        # An edge has mass from the cell above it, moved down, and from the cell below it, moved up.
        weights = np.append(cells.to_low[:last], 0.0) + np.append(0.0, cells.to_high[:last])
        edge_errors = np.append(errors, 0.0) + np.append(0.0, errors)
        return ExcessMasses(excess=excess, weights=weights, errors=edge_errors, excess_beyond=float(excess[-1]))

    def _mean_masses(self, last: int) -> ExcessMasses:
        """Return the masses of the intervals (cells) below an edge, each at its mean, for lower bounds on δ.

        Args:
            last: index of the edge B.

        Returns:
            The mean excess x of the likelihood ratio in each cell, with the mass of the cell. All mass beyond B is at
            its mean excess too.
        """
        cells, scaled_norm = self.cells, self.scaled_norm
        excess = cells.mean_excess[:last]
        excess_beyond = float(excess[-1])
        mass_beyond = self._mass_beyond(last)
        if mass_beyond > 0.0:
            # The mean of ρ = e^{2cw} beyond B is Φ(c − B)/Φ(−(B + c)).
            excess_beyond = float(ndtr(scaled_norm - cells.edges[last])) / mass_beyond - 1.0
        return ExcessMasses(
            excess=excess,
            weights=cells.to_low[:last] + cells.to_high[:last],
            errors=2.0 * cells.errors[:last],
            excess_beyond=excess_beyond,
        )

    def _mass_beyond(self, last: int) -> float:
        """Return the mass Φ(−(B + c)) of the blanket at w > B, for the edge B with index `last`."""
        return float(ndtr(-(self.cells.edges[last] + self.scaled_norm)))

    def _pieces(self, growth: float) -> Pieces:
        """Return the uniform densities that are a part of the density of a report's term Y.

        Let x = ρ − 1 be the excess of the likelihood ratio. A part of its density is a sum of uniform densities on
        intervals [0, x_j]. For positive noise, each gives a uniform density (piece) of Y that begins at 1 − α. For
        negative noise, another piece of the same mass ends there.

        Args:
            growth: α − 1 = e^ε − 1.

        Returns:
            Bounds and mass of each piece. There are none if the cells have no pieces.
        """
        mass, right_end = self.cells.level_mass, self.cells.levels
        at_zero = np.full(right_end.size, -growth)
        return Pieces(
            low=np.concatenate((at_zero, _negative_value(right_end, growth))),
            high=np.concatenate((right_end - growth, at_zero)),
            mass=np.concatenate((mass, mass)),
        )

    def approximate_distribution(self, growth: float, last: int) -> StepLaw:
        """Return a distribution of a report's term Y with few values, for estimates without an error bound.

        The noise is divided into cells. The mass of each `LUMP` neighbouring cells is at its mean excess x of the
        likelihood ratio over 1.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge at which Y is cut.

        Returns:
            Values of Y with their probabilities, and errors of 0.
        """
        lump_count = max(last // LUMP, 2)
        excess, mass = self.cells.lump_excess[:lump_count], self.cells.lump_mass[:lump_count]
        points = np.concatenate((excess - growth, _negative_value(excess, growth)))
        no_errors = np.zeros(points.size)
        weights = np.concatenate((mass, mass))
        return StepLaw(WeightedPoints(points=points, weights=weights, point_errors=no_errors, weight_errors=no_errors))

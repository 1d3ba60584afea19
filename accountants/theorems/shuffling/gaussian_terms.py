"""The distribution of one report's term in the privacy blanket bound of one-dimensional Gaussian reports.

In units of σ the blanket has the density φ(|w| + c), c = C/σ. Let ρ = e^{2c|w|} be the likelihood ratio of two opposite
contributions, and α = e^ε. The term is Y = ρ − α for w > 0 and 1 − αρ for w < 0. `gaussian` bounds δ(ε) by the sum of n
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
"""Largest ε, in nats, at which α = e^ε is computed. Its upper bound is valid at larger ε too, because δ decreases."""
_LEAST_EDGE_INDEX = 8
"""Least index of an edge at which the noise may be cut, so that some cells remain below it."""
_NORMAL_CDF_ERROR = 1e-14
"""Allowance for the relative error of SciPy's normal distribution function."""


def compute_alpha_excess(epsilon: float) -> float:
    """Compute e^ε − 1, with ε limited to 600 so that the result is a double.

    Args:
        epsilon: privacy loss ε ≥ 0, in nats.

    Returns:
        α − 1 for the factor α = e^ε.
    """
    return math.expm1(min(epsilon, _LARGEST_EPSILON))


def _negative_value(excess: FloatArray, alpha_excess: float) -> FloatArray:
    """Compute 1 − αρ, the value of a report's term for noise w < 0, without cancellation.

    With x = ρ − 1 and g = α − 1 it is −(x + g + gx).

    Args:
        excess: array of x = ρ − 1, the excess of the likelihood ratio over 1.
        alpha_excess: g = α − 1 = e^ε − 1.

    Returns:
        One value for each x, at most 0.
    """
    return -(excess + alpha_excess + alpha_excess * excess)


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
        """Return the index of the first edge w of the cells at which w − c is at least a given distance.

        Here w is the noise of a report, and c bounds the absolute value of its contribution.

        Args:
            distance: least w − c, in standard deviations of the noise.

        Returns:
            Index of the edge. It is raised to 8, so that some cells remain below the edge. If no edge is far enough, it
            is the index of the last edge.
        """
        edges = self.cells.edges
        index = int(np.searchsorted(edges, self.scaled_norm + distance))
        return min(max(index, _LEAST_EDGE_INDEX), edges.size - 1)

    def log_cut_cost(self, edge_index: int) -> float:
        """Return an upper bound on log Φ(c − B), which limits the change of δ if noise beyond an edge B is ignored.

        Φ is the standard normal distribution function, and c bounds the absolute value of a contribution. Both c and B
        are in standard deviations of the noise.

        Args:
            edge_index: index of the edge B.

        Returns:
            The natural logarithm of a number that is added to δ when the noise is cut off at B.
        """
        value = float(log_ndtr(self.scaled_norm - self.cells.edges[edge_index]))
        return value + 64 * UNIT_ROUNDOFF * (1.0 + abs(value))  # more than the error of the logarithm

    def distribution(self, alpha_excess: float, edge_index: int, *, upper: bool) -> StepLaw:
        """Build a discrete distribution of the term Y of a report, for a one-sided bound on E[(Y₁ + … + Y_n)₊]/n.

        The noise w of a report is divided into cells. Blanket mass (of the density that all reports have in common) at
        the likelihood ratio ρ = e^{2c|w|} gives two values of Y:

            Y = ρ − α for w > 0,   Y = 1 − αρ for w < 0.

        Beyond an edge B only the value for w < 0 is kept. Splitting the mass of a cell between its edges makes Y larger
        in convex order, and so the expectation. Moving the mass to its mean makes both smaller.

        Args:
            alpha_excess: α − 1 = e^ε − 1.
            edge_index: index of B, the last edge of the cells that are used.
            upper: whether the masses are split, for an upper bound. Otherwise they are at their means, for a lower one.

        Returns:
            Values of Y with their probabilities and bounds on rounding errors, and uniform pieces of its density.
        """
        masses = self._split_masses(edge_index) if upper else self._mean_masses(edge_index)
        positive = masses.excess - alpha_excess  # ρ − α
        negative = _negative_value(np.append(masses.excess, masses.excess_beyond), alpha_excess)
        # The rounding error of Y is in proportion to the largest terms of its sum. It grows with the exponent 2cw of ρ.
        magnitudes = np.concatenate((masses.excess + alpha_excess, -negative))
        magnitudes[-1] *= 2.0  # the mean of ρ beyond B is a quotient, with an error in both parts
        roundoff = UNIT_ROUNDOFF * (4.0 + 8.0 * self.scaled_norm * float(self.cells.edges[edge_index]))
        mass_beyond = self._mass_beyond(edge_index)
        atoms = WeightedPoints(
            points=np.concatenate((positive, negative)),
            weights=np.concatenate((masses.weights, masses.weights, [mass_beyond])),
            point_errors=roundoff * magnitudes,
            weight_errors=np.concatenate((masses.errors, masses.errors, [_NORMAL_CDF_ERROR * mass_beyond])),
        )
        return StepLaw(atoms, self._pieces(alpha_excess))

    def _split_masses(self, edge_index: int) -> ExcessMasses:
        """Split the mass of each interval (cell) of the noise between its two ends, for upper bounds on δ.

        Args:
            edge_index: index of the edge B of the last cell that is used.

        Returns:
            The excess x = ρ − 1 of the likelihood ratio ρ at each edge up to B, with the mass that the cells on both
            sides move there. For noise beyond B, x is larger than at B; it is given the value at B.
        """
        cells = self.cells
        excess, errors = cells.edge_excess[: edge_index + 1], cells.errors[:edge_index]
        # An edge has mass from the cell above it, moved down, and from the cell below it, moved up.
        weights = np.append(cells.to_low[:edge_index], 0.0) + np.append(0.0, cells.to_high[:edge_index])
        edge_errors = np.append(errors, 0.0) + np.append(0.0, errors)
        return ExcessMasses(excess=excess, weights=weights, errors=edge_errors, excess_beyond=float(excess[-1]))

    def _mean_masses(self, edge_index: int) -> ExcessMasses:
        """Move the mass of each interval (cell) of the noise to its mean, for lower bounds on δ.

        Args:
            edge_index: index of the edge B of the last cell that is used.

        Returns:
            The mean of x = ρ − 1 in each cell, with the mass of the cell, where ρ is the likelihood ratio. All mass
            beyond B is at its own mean.
        """
        cells, scaled_norm = self.cells, self.scaled_norm
        excess = cells.mean_excess[:edge_index]
        excess_beyond = float(excess[-1])
        mass_beyond = self._mass_beyond(edge_index)
        if mass_beyond > 0.0:
            # The mean of ρ = e^{2cw} beyond B is Φ(c − B)/Φ(−(B + c)).
            excess_beyond = float(ndtr(scaled_norm - cells.edges[edge_index])) / mass_beyond - 1.0
        return ExcessMasses(
            excess=excess,
            weights=cells.to_low[:edge_index] + cells.to_high[:edge_index],
            errors=2.0 * cells.errors[:edge_index],
            excess_beyond=excess_beyond,
        )

    def _mass_beyond(self, edge_index: int) -> float:
        """Return the mass Φ(−(B + c)) of the blanket at w > B, for the edge B with index `edge_index`."""
        return float(ndtr(-(self.cells.edges[edge_index] + self.scaled_norm)))

    def _pieces(self, alpha_excess: float) -> Pieces:
        """Return the uniform pieces of the density of a report's term Y in the privacy blanket bound.

        With the likelihood ratio ρ of the report, Y is ρ − α for positive noise and 1 − αρ for negative noise. The
        density of x = ρ − 1 contains uniform densities on intervals [0, x_j]. Each gives two pieces of equal mass. For
        positive noise the piece begins at Y = 1 − α, and for negative noise it ends there.

        Args:
            alpha_excess: α − 1 = e^ε − 1.

        Returns:
            Bounds and mass of each piece. There are none if `cells` has no uniform densities.
        """
        mass, right_end = self.cells.piece_mass, self.cells.piece_ends
        at_zero = np.full(right_end.size, -alpha_excess)
        return Pieces(
            low=np.concatenate((at_zero, _negative_value(right_end, alpha_excess))),
            high=np.concatenate((right_end - alpha_excess, at_zero)),
            mass=np.concatenate((mass, mass)),
        )

    def approximate_distribution(self, alpha_excess: float, edge_index: int) -> StepLaw:
        """Build a coarse distribution of a report's term Y, for estimates without an error bound.

        Y is ρ − α for positive noise and 1 − αρ for negative noise, with the likelihood ratio ρ. The noise is divided
        into short intervals (cells). The mass of `LUMP` consecutive cells is moved to the mean of their ρ. Noise beyond
        an edge is dropped.

        Args:
            alpha_excess: α − 1 = e^ε − 1.
            edge_index: index of the edge at which the noise is cut off, rounded down to whole lumps of cells.

        Returns:
            Values of Y with their probabilities, and errors of 0.
        """
        lump_count = max(edge_index // LUMP, 2)  # a single lump is too coarse
        excess, mass = self.cells.lump_excess[:lump_count], self.cells.lump_mass[:lump_count]
        points = np.concatenate((excess - alpha_excess, _negative_value(excess, alpha_excess)))
        no_errors = np.zeros(points.size)
        weights = np.concatenate((mass, mass))  # positive and negative noise are equally probable
        return StepLaw(WeightedPoints(points=points, weights=weights, point_errors=no_errors, weight_errors=no_errors))

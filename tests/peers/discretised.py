"""δ of composed mechanisms with one real output, by privacy losses on a grid and fast Fourier transforms.

Written from the definition, for comparisons: nothing of epsilond is used. Outputs in one cell are taken for one output.
Its loss is divided between the two nearest points of a grid, so that the mean loss stays. The error of both is of the
second order in the distance of the points.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.stats import laplace, norm


@dataclass(frozen=True)
class Mixture:
    """A mixture of shifted copies of one distribution.

    Attributes:
        family: the distribution, `norm` or `laplace` of scipy.
        shifts: shift of each copy.
        weights: probability of each copy.
        scale: scale of the distribution.
    """

    family: Any
    shifts: tuple[float, ...]
    weights: tuple[float, ...]
    scale: float

    def log_density(self, x):
        """Return the logarithm of the density."""
        terms = [self.family.logpdf(x, shift, self.scale) + np.log(w) for shift, w in self._copies()]
        return reduce(np.logaddexp, terms)

    def masses(self, edges):
        """Return the mass between edges, from the tail that is smaller."""
        total = np.zeros(len(edges) - 1)
        for shift, weight in self._copies():
            below, above = self.family.cdf(edges, shift, self.scale), self.family.sf(edges, shift, self.scale)
            total += weight * np.where(edges[1:] <= shift, np.diff(below), -np.diff(above))
        return total

    def _copies(self):
        return [(shift, weight) for shift, weight in zip(self.shifts, self.weights, strict=True) if weight > 0.0]


def poisson(shift, rate, scale, family=norm):
    """Return the output of a batch that contains the record with probability `rate`."""
    return Mixture(family, (0.0, shift), (1.0 - rate, rate), scale)


def losses(p, q, *, step, count, cells):
    """Return masses of P on the losses −count·step … count·step, and the mass of the losses above.

    Args:
        p: distribution of the outputs.
        q: the other distribution.
        step: distance of losses.
        count: number of positive losses.
        cells: number of cells of outputs.
    """
    width = (40.0 if p.family is laplace else 13.0) * p.scale
    shifts = (*p.shifts, *q.shifts)
    edges = np.linspace(min(shifts) - width, max(shifts) + width, cells + 1)
    masses, others = p.masses(edges), q.masses(edges)
    held = (masses > 1e-300) & (others > 1e-300)
    exact = np.log(masses[held] / others[held]) / step
    below = np.floor(exact).astype(int)
    share = exact - below
    places = np.concatenate([below, below + 1])
    weights = np.concatenate([masses[held] * (1.0 - share), masses[held] * share])
    kept = (places >= -count) & (places <= count)
    grid = np.bincount(places[kept] + count, weights[kept], 2 * count + 1)
    return grid, float(weights[places > count].sum() + masses[~held & (masses > others)].sum())


def estimate_delta(parts, epsilon, *, step=1e-4, reach=25.0, cells=100_000, tilt=0.0):
    """Return δ(ε) of a composition in one direction.

    Args:
        parts: pairs (P, Q) with the number of times that each is run.
        epsilon: ε.
        step: distance of losses.
        reach: largest absolute loss of the composition that is kept.
        cells: number of cells of outputs.
        tilt: factor of the losses in an exponential weight of the masses, by which a δ below the rounding is found.
    """
    count = round(reach / step)
    size = 1 << (2 * count).bit_length()
    transform, survives, log_weight = 1.0, 1.0, 0.0
    grid = step * np.concatenate([np.arange(size // 2), np.arange(-size // 2, 0)])
    weights = np.exp(np.where(abs(grid) <= reach * 1.01, tilt * grid, 0.0))
    for p, q, times in parts:
        masses, above = losses(p, q, step=step, count=count, cells=cells)
        survives *= (1.0 - above) ** times
        placed = np.zeros(size)
        placed[: count + 1] = masses[count:]
        placed[-count:] = masses[:count]
        placed *= weights
        log_weight += times * np.log(placed.sum())
        transform = transform * np.fft.rfft(placed / placed.sum()) ** times
    gain = np.where(grid > epsilon, -np.expm1(np.minimum(epsilon - grid, 0.0)), 0.0)
    gain *= np.exp(np.where(gain > 0.0, log_weight - tilt * grid, 0.0))
    return float(gain @ np.fft.irfft(transform, size)) + 1.0 - survives


def larger_delta(parts, epsilon, **grid):
    """Return the larger δ(ε) of both directions of a composition."""
    backward = [(q, p, times) for p, q, times in parts]
    return max(estimate_delta(parts, epsilon, **grid), estimate_delta(backward, epsilon, **grid))

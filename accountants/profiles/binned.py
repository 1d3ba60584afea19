"""Witnesses with finitely many outcomes: the observer sees only the cell that contains an output.

Merging outputs into cells is post-processing. Two distributions over cells are therefore attained whenever the two
distributions over outputs are. A composition of cells is likewise attained by a composition of the outputs. Losses are
understated and masses rounded down. This lowers every δ, also of compositions (docs/engine-certificate.md, B).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference, log_normal_tail, log_one_minus_exp
from epsilond.accountants.profiles.atoms import AtomicProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

ACCURACY = 64 * UNIT_ROUNDOFF
"""Bound on the error of each log mass, per unit of 1 + |log mass|."""
MOST_ATOMS = 512
_PIECES = 512
"""Number of cells between two neighbouring means."""
_CELLS, _REACH = 4097, 40.0
"""Number of cells of Gaussian noise, and their reach beyond the outer means, in standard deviations."""


def finite_pair(log_p: FloatArray, log_q: FloatArray, accuracy: float = ACCURACY) -> Pair:
    """Return the pair of two distributions over the same outcomes.

    Outcomes with nearly the same loss are merged, so that at most a few hundred losses remain.

    Args:
        log_p: log masses of the outcomes under the first distribution.
        log_q: log masses of the outcomes under the second distribution.
        accuracy: bound on the error of each log mass, per unit of 1 + |log mass|.
    """
    return Pair(_profile(log_p, log_q, accuracy), _profile(log_q, log_p, accuracy))


def _profile(log_p: FloatArray, log_q: FloatArray, accuracy: float) -> AtomicProfile:
    """Return the profile of one direction of a pair, as a lower bound: losses and masses are rounded down.

    Args:
        log_p: log masses of the outcomes under the first distribution.
        log_q: log masses under the second distribution.
        accuracy: bound on the error of each log mass, per unit of 1 + |log mass|.
    """
    seen = np.isfinite(log_p)
    if not seen.all():
        log_p, log_q = log_p[seen], log_q[seen]
    certain = np.isneginf(log_q)
    log_infinite = -np.inf
    if certain.any():
        log_infinite = float(np.logaddexp.reduce(log_p[certain], initial=-np.inf))
        log_infinite -= 2 * accuracy * (1.0 + abs(log_infinite))
        log_p, log_q = log_p[~certain], log_q[~certain]
    p, q, cells = _merge_cells(log_p, log_q)
    # Roundings of sequential sums of `cells` positive terms.
    slack = accuracy * (1.0 + np.abs(p)) + accuracy * (1.0 + np.abs(q)) + 2.0 * UNIT_ROUNDOFF * cells
    losses = p - q - 2.0 * slack
    positive = losses > 0.0
    masses = np.minimum(p[positive] - slack[positive], 0.0)
    order = np.argsort(losses[positive], kind="stable")
    losses, masses = losses[positive][order], masses[order]
    return AtomicProfile(tuple(losses.tolist()), tuple(masses.tolist()), log_infinite, 4 * accuracy)


def _merge_cells(log_p: FloatArray, log_q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Merge cells of positive loss that have similar losses, until at most `MOST_ATOMS` remain.

    Merging affects the tightness, but not the validity.

    Returns:
        Log masses of the cells under both distributions, and the number of cells merged into each; 0 if none was
            merged.
    """
    losses = log_p - log_q
    positive = losses > 0.0
    p, q, losses = log_p[positive], log_q[positive], losses[positive]
    if p.size <= MOST_ATOMS:
        return p, q, np.zeros(p.size)
    most = float(losses.max())
    least = min(float(losses.min()), 1e-3 * most)
    place = np.ceil((losses - least) * ((MOST_ATOMS - 1) / (most - least))).astype(np.int64)
    cells = np.bincount(place)
    occupied = cells > 0
    return _log_sums(p, place)[occupied], _log_sums(q, place)[occupied], cells[occupied].astype(np.float64)


def _log_sums(logs: FloatArray, place: IntArray) -> FloatArray:
    """Return log Σ e^{logs} over the entries of each place."""
    top = np.full(int(place.max()) + 1, -np.inf)
    np.maximum.at(top, place, logs)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.bincount(place, np.exp(logs - top[place]))))


@dataclass(frozen=True)
class Mixture:
    """A mixture of copies of one noise at several places on the line, in units of the noise's scale."""

    means: tuple[float, ...]
    log_weights: tuple[float, ...]


@dataclass(frozen=True)
class Noise:
    """Symmetric noise on the line, described by the masses of cells.

    `gaussian` has standard deviation one and `laplace` has scale one. `geometric` has P(y) ∝ e^{−|y|} on the multiples
    of `step`, and its cells contain their lower edge.
    """

    kind: Literal["gaussian", "laplace", "geometric"]
    step: float = 0.0

    def edges(self, means: Sequence[float]) -> FloatArray:
        """Return the edges of the cells: the means, at which Laplace and geometric noise have a kink, and others."""
        distinct = np.unique(np.asarray(means, dtype=np.float64))
        if self.kind == "gaussian":
            return np.linspace(distinct[0] - _REACH, distinct[-1] + _REACH, _CELLS)
        if distinct.size == 1:
            return distinct
        pieces = max(2, min(_PIECES, 4 * MOST_ATOMS // distinct.size))
        between = [np.linspace(left, right, pieces, endpoint=False)[1:] for left, right in itertools.pairwise(distinct)]
        places = np.concatenate(between)
        if self.kind == "geometric":
            places = np.unique(self.step * np.rint(places / self.step))
        right = np.clip(np.searchsorted(distinct, places), 1, distinct.size - 1)
        apart = np.minimum(np.abs(places - distinct[right - 1]), np.abs(distinct[right] - places))
        return np.unique(np.concatenate([places[apart > 1e-6 * float(np.diff(distinct).min())], distinct]))

    def log_cells(self, mixture: Mixture, edges: FloatArray) -> FloatArray:
        """Return the log masses between consecutive edges, below the first edge and above the last edge."""
        low, high = np.append(-np.inf, edges), np.append(edges, np.inf)
        log_masses = np.full(low.size, -np.inf)
        for mean, weight in zip(mixture.means, mixture.log_weights, strict=True):
            log_masses = np.logaddexp(log_masses, weight + self._log_cells(low, high, mean))
        return np.asarray(log_masses)

    def _log_cells(self, low: FloatArray, high: FloatArray, mean: float) -> FloatArray:
        """Return the log mass of the noise around a mean between `low` and `high`, elementwise."""
        above = low >= mean
        with np.errstate(invalid="ignore"):
            if self.kind == "gaussian":
                near, far = np.where(above, low - mean, mean - high), np.where(above, high - mean, mean - low)
                return log_difference(log_normal_tail(near), log_normal_tail(far))
            apart = self.step if self.kind == "geometric" else 0.0
            norm = -np.log1p(np.exp(-self.step)) if self.kind == "geometric" else np.log(0.5)
            nearest = np.where(above, low - mean, mean - high + apart)
            return np.asarray(norm - nearest + log_one_minus_exp(low - high))


def cells_pair(p: Mixture, q: Mixture, noise: Noise, accuracy: float = 0.0) -> Pair:
    """Return the pair of two mixtures of shifted noise, merged into cells of the line for lower bounds on δ.

    The rounding of means and edges is charged. It changes a log mass by units of the largest edge over the narrowest
    cell.

    Args:
        p: the first mixture.
        q: the second mixture.
        noise: the noise of both mixtures.
        accuracy: bound on the error of each log weight.
    """
    edges = noise.edges((*p.means, *q.means))
    widest = float(np.max(np.abs(edges)) / np.min(np.diff(edges, prepend=edges[0] - 1.0)))
    size = float(np.max(np.abs(edges)))
    rounding = (64.0 + 4.0 * (size + widest) + len(p.means) + len(q.means)) * UNIT_ROUNDOFF
    if noise.kind == "gaussian":
        rounding = 4.0 * (1.0 + size) * rounding
    return finite_pair(noise.log_cells(p, edges), noise.log_cells(q, edges), accuracy + rounding)

"""Pairs with finitely many outcomes for lower bounds on δ: the observer sees only the cell that contains an output.

Merging outputs into cells is post-processing, so that δ of the cells is at most δ of the outputs, also in compositions.
Losses and masses are rounded down, which lowers every δ further (docs/engine-certificate.md, B).
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
MOST_ATOMS = 1024
"""Largest number of losses that remain after outcomes are merged."""
_PIECES = 512
"""Number of cells between two neighbouring means."""
_CELLS = 4097
"""Number of cells of Gaussian noise, 2^12 + 1."""
_REACH = 40.0
"""Reach of these cells beyond the outer means, in standard deviations."""


def finite_pair(log_p: FloatArray, log_q: FloatArray, accuracy: float = ACCURACY) -> Pair:
    """Return a pair for lower bounds on δ, from the probabilities of finitely many outcomes under two distributions.

    Outcomes with nearly the same privacy loss are merged, so that at most `MOST_ATOMS` losses remain. Merging is
    post-processing, so it does not increase δ.

    Args:
        log_p: log probabilities of the outcomes under the first distribution.
        log_q: log probabilities of the outcomes under the second distribution, in the same order.
        accuracy: bound on the error of each log probability, per unit of 1 + |log probability|.

    Returns:
        The pair, with the privacy profiles of both directions.
    """
    return Pair(_profile(log_p, log_q, accuracy), _profile(log_q, log_p, accuracy))


def _profile(log_p: FloatArray, log_q: FloatArray, accuracy: float) -> AtomicProfile:
    """Return a lower bound on the privacy profile δ(ε), ε ≥ 0, of two distributions on finitely many outcomes.

    The privacy loss of an outcome is log p − log q. Losses and probabilities are rounded down, which lowers δ. Outcomes
    of negative loss do not contribute to δ.

    Args:
        log_p: log probabilities of the outcomes under the first distribution.
        log_q: log probabilities under the second distribution, in the same order.
        accuracy: bound on the error of each log probability, per unit of 1 + |log probability|.

    Returns:
        The profile of the finitely many losses, in increasing order.
    """
    is_possible = np.isfinite(log_p)
    log_p, log_q = log_p[is_possible], log_q[is_possible]

    # An outcome that is impossible only under the second distribution has an infinite loss.
    has_infinite_loss = np.isneginf(log_q)
    log_infinite = -np.inf
    if has_infinite_loss.any():
        log_infinite = float(np.logaddexp.reduce(log_p[has_infinite_loss], initial=-np.inf))
        log_infinite -= 2 * accuracy * (1.0 + abs(log_infinite))
        log_p, log_q = log_p[~has_infinite_loss], log_q[~has_infinite_loss]

    # A merged probability has the errors of its summands and of their sum. A loss is a difference of two logarithms.
    cell_p, cell_q, number_merged = _merge_cells(log_p, log_q)
    summation_error = 2.0 * UNIT_ROUNDOFF * number_merged
    slack = accuracy * (1.0 + np.abs(cell_p)) + accuracy * (1.0 + np.abs(cell_q)) + summation_error
    losses = cell_p - cell_q - 2.0 * slack
    log_masses = np.minimum(cell_p - slack, 0.0)

    is_positive = losses > 0.0
    losses, log_masses = losses[is_positive], log_masses[is_positive]
    order = np.argsort(losses, kind="stable")
    return AtomicProfile(tuple(losses[order].tolist()), tuple(log_masses[order].tolist()), log_infinite, 4 * accuracy)


def _merge_cells(log_p: FloatArray, log_q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Merge outcomes of positive and similar privacy loss, until at most `MOST_ATOMS` remain.

    Merging affects the tightness of a lower bound on δ, but not its validity, because it is post-processing.

    Args:
        log_p: log probabilities of the outcomes under the first distribution.
        log_q: log probabilities under the second distribution, in the same order.

    Returns:
        Log probabilities of the merged outcomes under both distributions, and the number of outcomes merged into each;
        0 if none was merged.
    """
    losses = log_p - log_q
    is_positive = losses > 0.0
    log_p, log_q, losses = log_p[is_positive], log_q[is_positive], losses[is_positive]
    if losses.size <= MOST_ATOMS:
        return log_p, log_q, np.zeros(losses.size)
    bins = _bins(losses)
    number = np.bincount(bins)
    is_occupied = number > 0
    merged_p, merged_q = _sum_bins(log_p, bins)[is_occupied], _sum_bins(log_q, bins)[is_occupied]
    return merged_p, merged_q, number[is_occupied].astype(np.float64)


def _bins(losses: FloatArray) -> IntArray:
    """Sort privacy losses into at most `MOST_ATOMS` intervals (bins), and return the index of the bin of each.

    The bins are intersections of bins of equal width in the loss and of bins of equal width in its square root. The
    latter are narrow for small losses, which decide δ if the largest loss is far beyond every ε of interest.

    Args:
        losses: positive losses, in nats.

    Returns:
        One index ≥ 0 for each loss. Larger losses have larger or equal indices.
    """
    largest = float(losses.max())
    # The scale begins at the least loss, or at a thousandth of the largest one if that is smaller.
    least = min(float(losses.min()), 1e-3 * largest)
    share = np.clip((losses - least) / (largest - least), 0.0, 1.0)
    half = MOST_ATOMS // 2 - 1
    return np.asarray(np.ceil(share * half) + np.ceil(np.sqrt(share) * half), dtype=np.int64)


def _sum_bins(logs: FloatArray, bins: IntArray) -> FloatArray:
    """Return log Σ e^{logs} over the entries of each bin; −∞ for an empty bin.

    Args:
        logs: natural logarithms.
        bins: index of the bin of each logarithm.

    Returns:
        One natural logarithm for each bin.
    """
    largest = np.full(int(bins.max()) + 1, -np.inf)
    np.maximum.at(largest, bins, logs)
    with np.errstate(divide="ignore"):
        return np.asarray(largest + np.log(np.bincount(bins, np.exp(logs - largest[bins]))))


@dataclass(frozen=True)
class Mixture:
    """A mixture of copies of one noise on the line, each shifted by a mean m_k and with a weight w_k.

    Attributes:
        means: m_k, in units of the noise's scale.
        log_weights: log w_k, natural logarithms, in the same order.
    """

    means: tuple[float, ...]
    log_weights: tuple[float, ...]


@dataclass(frozen=True)
class Noise:
    """A symmetric noise distribution on the line, described by the probabilities of intervals (cells).

    Gaussian noise has standard deviation one and Laplace noise has scale one. Geometric noise has P(y) ∝ e^{−|y|} on
    the multiples of `step`, and its cells contain their lower edge.

    Attributes:
        kind: name of the distribution.
        step: distance of neighbouring values of geometric noise, in units of its scale; not used otherwise.
    """

    kind: Literal["gaussian", "laplace", "geometric"]
    step: float = 0.0

    def edges(self, means: Sequence[float]) -> FloatArray:
        """Return the edges of the cells, the intervals into which outputs are merged.

        For Laplace and geometric noise the edges are the means, where the logarithm of the density has a kink, and
        points between them. Gaussian noise has cells of equal width, which extend beyond the outer means.

        Args:
            means: means of the output in all components of both distributions, in units of the noise's scale.

        Returns:
            The edges, increasing.
        """
        distinct_means = np.unique(np.asarray(means, dtype=np.float64))
        if self.kind == "gaussian":
            return np.linspace(distinct_means[0] - _REACH, distinct_means[-1] + _REACH, _CELLS)
        if distinct_means.size == 1:
            return distinct_means

        # Divide each interval between neighbouring means, with fewer pieces if there are many means.
        pieces = max(2, min(_PIECES, 2 * MOST_ATOMS // distinct_means.size))
        between = [
            np.linspace(left, right, pieces, endpoint=False)[1:] for left, right in itertools.pairwise(distinct_means)
        ]
        candidates = np.concatenate(between)
        if self.kind == "geometric":
            # The noise has values only at multiples of the step.
            candidates = np.unique(self.step * np.rint(candidates / self.step))
        return np.unique(np.concatenate([_far_from(distinct_means, candidates), distinct_means]))

    def log_cells(self, mixture: Mixture, edges: FloatArray) -> FloatArray:
        """Return the log probabilities of the cells, that is, of the intervals of outputs between given edges.

        Args:
            mixture: copies of the noise around several means, each with a weight.
            edges: edges of the cells, increasing, in units of the noise's scale.

        Returns:
            Natural logarithms for the outputs below the first edge, between neighbouring edges, and above the last one.
        """
        low, high = np.append(-np.inf, edges), np.append(edges, np.inf)
        log_masses = np.full(low.size, -np.inf)
        for mean, weight in zip(mixture.means, mixture.log_weights, strict=True):
            log_masses = np.logaddexp(log_masses, weight + self._log_cells(low, high, mean))
        return np.asarray(log_masses)

    def rounding(self, edges: FloatArray, means: int = 2) -> float:
        """Return a bound on the relative error of the probabilities of cells from rounded edges, means and functions.

        An edge is rounded in proportion to its absolute value. This changes the log probability of a cell by up to the
        ratio of the change to the width of the cell.

        Args:
            edges: edges of the cells (intervals of outputs), increasing, in units of the noise's scale.
            means: number of means of all mixtures.
        """
        largest_edge = float(np.max(np.abs(edges)))
        narrowest_cell = np.min(np.diff(edges, prepend=edges[0] - 1.0))
        edge_units = float(largest_edge / narrowest_cell)
        # In units of roundoff: 64 for elementary functions, 4 for the rounding of means and edges, times their effect,
        # and one for each term of the mixture.
        rounding = (64.0 + 4.0 * (largest_edge + edge_units) + means) * UNIT_ROUNDOFF
        # A Gaussian log density changes by up to its argument per unit of the argument.
        return 4.0 * (1.0 + largest_edge) * rounding if self.kind == "gaussian" else rounding

    def _log_cells(self, low: FloatArray, high: FloatArray, mean: float) -> FloatArray:
        """Return the log probabilities of intervals under the noise around one mean.

        The noise is symmetric, so an interval below the mean has the probability of its mirror image. Besides Gaussian
        and Laplace noise there is geometric noise, on the multiples of `step`.

        Args:
            low: lower edges of the intervals. No interval has the mean in its interior, except for Gaussian noise.
            high: upper edges of the intervals.
            mean: mean of the output.

        Returns:
            One natural logarithm for each interval.
        """
        is_above = low >= mean
        with np.errstate(invalid="ignore"):
            near = np.where(is_above, low - mean, mean - high)  # distance of the nearer edge from the mean
            if self.kind == "gaussian":
                far = np.where(is_above, high - mean, mean - low)
                return log_difference(log_normal_tail(near), log_normal_tail(far))
            if self.kind == "laplace":
                return np.asarray(np.log(0.5) - near + log_one_minus_exp(low - high))
            # Geometric noise. An interval contains its lower edge only, so the nearest point of one below the mean is a
            # step below its upper edge.
            distance = np.where(is_above, low - mean, mean - high + self.step)
            log_half = -np.log1p(np.exp(-self.step))
            return np.asarray(log_half - distance + log_one_minus_exp(low - high))


def _far_from(means: FloatArray, candidates: FloatArray) -> FloatArray:
    """Select the possible edges of cells (intervals of outputs) that are not close to a mean of the noise.

    Rounding would matter in a narrow cell between an edge and a mean. The least distance is a millionth of that of two
    means.

    Args:
        means: two or more means, increasing.
        candidates: possible edges between the means.

    Returns:
        The selected edges, in the given order.
    """
    right = np.clip(np.searchsorted(means, candidates), 1, means.size - 1)
    distances = np.minimum(np.abs(candidates - means[right - 1]), np.abs(means[right] - candidates))
    return np.asarray(candidates[distances > 1e-6 * float(np.diff(means).min())])


def cells_pair(p: Mixture, q: Mixture, noise: Noise, accuracy: float = 0.0) -> Pair:
    """Return a pair for lower bounds on δ of two mixtures of shifted noise.

    The observer of this pair sees only the cell, that is, the interval that contains an output. Errors from rounding
    means and edges are included.

    Args:
        p: the first mixture.
        q: the second mixture.
        noise: the noise of both mixtures.
        accuracy: bound on the error of each log weight.

    Returns:
        Two distributions on the cells. By post-processing, their hockey-stick divergence is at most that of the
        mixtures.
    """
    edges = noise.edges((*p.means, *q.means))
    rounding = noise.rounding(edges, len(p.means) + len(q.means))
    log_p, log_q = noise.log_cells(p, edges), noise.log_cells(q, edges)
    return finite_pair(log_p, log_q, accuracy + rounding)

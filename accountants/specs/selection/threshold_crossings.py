"""One output of the sparse vector technique on two neighbours: bounds on its probabilities, as an instance of its loss.

The output is n answers "below", then c answers "above". All queries of the first part have the value a, and all of the
second part the value b. The threshold noise z has density f. A noisy query is below with probability F, and above with
probability G. The output has probability p = ∫ f(z) F(z − a)^n G(z − b)^c dz. On the neighbour the first queries are
larger by 1, and the last ones smaller by 1, or equal if the queries are monotonic. Its probability is then q.

On a cell of z, F and G are monotone, which bounds the cell's part of p: l_i ≤ p_i ≤ u_i. F and G are log-concave, so
the quotients by which the factors fall are monotone too. This gives r_i ≤ 1 with q ≤ Σ p_i r_i. Hence q/p is at most
1 − Σ l_i (1 − r_i)/Σ u_i, and at most Σ u_i r_i/Σ l_i. Two Bernoulli variables of parameters p' ≤ p and ρp', with
ρ ≥ q/p, are dominated by those of parameters p and q (docs/selection.md).
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

_CELLS, _REACH = 4000, 60.0
"""Number of cells of the threshold noise, and their reach in its scales; the rest has a probability of e^−60."""
_COUNTS = (1, 4, 16, 64)
"""Numbers of answers "below" that are tried."""
_QUERY_VALUES = (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0)
"""Values of the queries that are tried, in scales of the noise."""
_LEAST_PROBABILITY = 1e-4
"""Least probability of the output with the largest loss; rarer outputs matter only for δ below it."""

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class ThresholdNoise(NamedTuple):
    """The noise of the sparse vector technique, for queries of sensitivity 1.

    Attributes:
        threshold_scale: Laplace scale of the noise on the threshold.
        query_scale: Laplace scale of the noise on each query.
        answers: c, the number of answers "above" after which the mechanism stops.
        monotonic: whether all queries change in one direction between neighbours.
    """

    threshold_scale: float
    query_scale: float
    answers: int
    monotonic: bool


class ThresholdOutput(NamedTuple):
    """Bounds on the probability of one output of the sparse vector technique on two neighbouring data sets.

    They are the parameters of two Bernoulli variables. A test between these two variables is at most as good as a test
    that observes whether the output occurs. So they give a lower bound on δ.

    Attributes:
        first: lower bound on the probability of the output on the first data set.
        second: the parameter for the neighbour: `first` times an upper bound on the ratio of the two probabilities.
    """

    first: float
    second: float


@lru_cache(maxsize=64)
def crossings(noise: ThresholdNoise) -> tuple[ThresholdOutput, ...]:
    """Return outputs of the sparse vector technique that distinguish two neighbours well, for lower bounds on δ.

    A query is answered by whether its noisy value is below or above the noisy threshold. An output is n answers "below"
    and then the permitted number of answers "above". The query values and n are searched on a small grid.

    Args:
        noise: scales of the noise on the threshold and on queries, and the number of answers "above".

    Returns:
        The output with the largest difference of its two probabilities. Then, if it is another one, the output with the
        largest ratio. Empty if no output is more likely on the first data set than on the neighbour.
    """
    # Divide the range of the threshold's noise into cells. Laplace noise is symmetric, so half of the masses suffice.
    edges = noise.threshold_scale * np.linspace(-_REACH, _REACH, 2 * _CELLS + 1)
    left_edges = edges[: _CELLS + 1]
    left_masses = np.diff(np.exp(_log_distribution(left_edges / noise.threshold_scale)))
    masses = np.append(left_masses, left_masses[::-1])

    # Bound the probabilities of each output by a sum over the cells.
    scaled_edges = edges / noise.query_scale
    shift = 1.0 / noise.query_scale
    above_shift = 0.0 if noise.monotonic else shift
    outputs = []
    # `below` and `above` are the probabilities of the answers for each noise on the threshold.
    for count, low, high in itertools.product(_COUNTS, _QUERY_VALUES, _QUERY_VALUES):
        below = _log_factor(count, scaled_edges - low, scaled_edges - low - shift)
        above = _log_factor(noise.answers, high - scaled_edges, high - scaled_edges - above_shift)
        outputs.append(_crossing(masses, below, above))

    # Choose the output with the largest difference, and the one with the largest ratio unless it is very rare.
    best = [max(outputs, key=lambda output: output.first - output.second)]
    frequent = [output for output in outputs if output.first >= _LEAST_PROBABILITY]
    if frequent:
        best.append(max(frequent, key=lambda output: output.first / output.second))
    return tuple(dict.fromkeys(output for output in best if output.first > output.second))


def _log_distribution(x: Floats) -> Floats:
    """Return the natural logarithm of the distribution function of Laplace noise of scale 1.

    It is x − log 2 for x < 0, and log(1 − e^{−x}/2) otherwise.

    Args:
        x: values of the noise.

    Returns:
        log P(noise ≤ x) for each value, at most 0.
    """
    left_tail = x - math.log(2.0)
    right_tail = np.log1p(-0.5 * np.exp(-np.maximum(x, 0.0)))
    return np.asarray(np.where(x < 0.0, left_tail, right_tail))


def _log_factor(count: int, edges: Floats, shifted_edges: Floats) -> tuple[Floats, Floats]:
    """Return the log probability of n equal answers "above" or "below", and its change on the neighbouring data.

    Given the noise on the threshold, the answers are independent. So n of them have the probability F(x)^n, with the
    distribution function F of Laplace noise of scale 1.

    Args:
        count: n, the number of answers.
        edges: the values x for a grid of threshold noises: threshold minus query for answers "below", query minus
            threshold for answers "above", in scales of the query noise.
        shifted_edges: the same values for the query of the neighbour.

    Returns:
        n log F at `edges`. Then n log F at `shifted_edges` minus n log F at `edges`.
    """
    log_first = count * _log_distribution(edges)
    log_second = count * _log_distribution(shifted_edges)
    return log_first, log_second - log_first


def _crossing(masses: Floats, below: tuple[Floats, Floats], above: tuple[Floats, Floats]) -> ThresholdOutput:
    """Bound the probabilities of one output of the sparse vector technique on two neighbouring data sets.

    The output is n answers "below", then c answers "above". Given the noise on the threshold, each has the probability
    F or G. Let p be the probability of the output on the one data set, and p_i its part from the i-th interval (cell)
    of this noise, with l_i ≤ p_i ≤ u_i. On the neighbour the part is at most p_i r_i, with r_i ≤ 1, so that its
    probability q satisfies:

        q/p ≤ 1 − Σ l_i (1 − r_i)/Σ u_i,      q/p ≤ Σ u_i r_i/Σ l_i.

    A test between Bernoulli variables with the returned parameters is at most as good as one between the outputs. So
    they give a lower bound on δ.

    Args:
        masses: probabilities of the cells of the threshold noise.
        below: log F^n at the edges of the cells, and its change from the one data set to the neighbour. Both increase.
        above: log G^c at the edges, and its change. Both decrease.

    Returns:
        A lower bound p' on p, and p' times an upper bound on q/p. Both are 0 if the lower bound is 0.
    """
    (log_below, change_below), (log_above, change_above) = below, above
    # One factor increases and the other decreases in the threshold noise, so each is extreme at an edge of the cell.
    least = masses * np.exp(log_below[:-1] + log_above[1:])  # l_i
    most = masses * np.exp(log_below[1:] + log_above[:-1])  # u_i
    falls = -np.expm1(np.minimum(change_below[1:] + change_above[:-1], 0.0))  # 1 − r_i
    first = float(np.sum(least)) * (1.0 - _ROUNDING)
    if not first > 0.0:
        return ThresholdOutput(0.0, 0.0)

    # Both bounds on q/p are valid, so the smaller one is. `first` is rounded down, and the ratio up.
    relative_fall = float(least @ falls) / float(np.sum(most)) * (1.0 - _ROUNDING)
    quotient = float(most @ (1.0 - falls)) / float(np.sum(least)) * (1.0 + _ROUNDING)
    ratio = min(1.0 - relative_fall, quotient)
    # Threshold noise beyond the cells can only add its own probability to that on the neighbour.
    return ThresholdOutput(first, first * ratio + _BEYOND)


_BEYOND = 2.0 * math.exp(-_REACH)
"""Bound on the probability that the threshold noise is beyond its cells."""
_ROUNDING = 1e-5
"""Relative rounding of the sums, for noise of at most 1e9 times the sensitivity."""

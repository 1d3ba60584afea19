"""Neighbouring runs of hidden-state projected SGD in one coordinate, for lower bounds on δ.

Distributions are compared in the usual stochastic order, the order of the probabilities of half-lines.

On the line [−ρ, ρ], with W₀ = 0, every loss is λw²/2. The loss of the record has g w added, where g = ±(L − λρ), or 0
if the record is zeroed. All losses are convex, L-Lipschitz and λ-smooth. A step maps w to the projection of (1 − ηλ) w
± ηg/m + N(0, η²σ²/m), with the second term only if the record is in the batch. The step is increasing in w. There are
two ways to bound the distribution of the released model in the order of half-lines. The bound is from below for the run
in which the record pulls up, and from above for the other run. A model that is released after a random step has the
mean of the distributions after each step. The mean keeps both bounds, because the step is drawn independently of the
data.

- *Far from the boundary*: without projection the model is Gaussian. By a union bound over the steps, the projection
  acts with probability at most π. In the first distribution mass π is moved from the top to the bottom of the line, in
  the second from the bottom to the top.
- *Near the boundary*: on a grid, every value is rounded down in the first run and up in the second.

Outcomes are merged until the likelihood ratio increases along the line, so that every optimal event is a half-line.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from epsilond.accountants.profiles.deferred import deferred_pair
from epsilond.accountants.quantities import Relation
from epsilond.accountants.theorems.hidden_states.one_dimensional_run import OneDimensionalRun, one_dimensional_run
from epsilond.accountants.theorems.hidden_states.ordered_cells import (
    ACCURACY,
    half_line_error,
    monotone_pair,
    move_cells_down,
    symmetric_points,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import ProjectedSgd

PLACES = 401
"""Number of grid points; the transition matrix of a step has one entry for each two points."""
MOST_STEPS = 4096
"""Largest number of steps for which an instance is computed."""
_FAR_DEVIATIONS = 7.5
"""Least distance to the boundary, in standard deviations, at which the projection counts only by its probability.

The probability that one step reaches it is then below 1e-13.
"""
_CELLS = 1200
"""Number of edges of the cells on which the Gaussian mixtures are made discrete."""
_COMPONENTS = 8192
"""Largest number of components of the Gaussian mixtures; each has one value for each edge."""
_FEW_COMPONENTS = 1024
"""Largest number of components with `_CELLS` edges; more components have a quarter of them. Fewer edges lower δ."""


def released_model_instances(spec: ProjectedSgd, relation: Relation) -> tuple[Pair, ...]:
    """Return the output distributions of a concrete run of projected SGD on two neighbouring data sets.

    Their hockey-stick divergence is a lower bound on δ: the concrete run attains it, so no valid upper bound is
    smaller.

    Args:
        spec: parameters of projected SGD; the concrete run has these parameters and one coordinate.
        relation: neighbouring relation, such as "replace-one".

    Returns:
        One pair of distributions, which is computed at its first use. The tuple is empty if no such run is known: for
        more than `MOST_STEPS` steps, for changing step sizes or noise, and if batches in a secret order are used again.
    """
    if spec.steps > MOST_STEPS:
        return ()
    line = one_dimensional_run(spec)
    if line is None or not line.has_known_distribution:
        return ()
    relative_shift = 0.0 if relation == "zero-out-one" else -1.0
    compute_pair = functools.partial(_instance_pair, line, relative_shift)
    return (deferred_pair(compute_pair),)


def _instance_pair(line: OneDimensionalRun, relative_shift: float) -> Pair:
    """Return the distributions of the released model of SGD in two neighbouring runs in one dimension.

    Args:
        line: the first run, on a line. The record shifts its model by `line.shift` in each step that uses it.
        relative_shift: shift by the record in the second run, over `line.shift`: 0 if the record is zeroed, −1 if
            it is replaced.

    Returns:
        The two distributions, as masses of intervals of the line. Masses are moved so that the two come closer, by more
        than the numerical error. Hence the δ between them is a lower bound.
    """
    # With a zeroed record and strong convexity, the two runs contract differently.
    contracts_differently = relative_shift == 0.0 and line.spec.strong_convexity > 0.0
    masses = None
    # Gaussian mixtures cost less, but neglect the projection. They are None if it is too likely to have an effect.
    if not contracts_differently:
        masses = _masses_far_from_boundary(line, relative_shift)
    if masses is None:
        masses = _masses_near_boundary(line, relative_shift)
    first, second = masses
    return monotone_pair(first, second)


def _masses_far_from_boundary(line: OneDimensionalRun, relative_shift: float) -> tuple[FloatArray, FloatArray] | None:
    """Return the distributions of the released models of two neighbouring runs, if the projection hardly matters.

    Without the projection, the released models are Gaussian mixtures. Their means are the possible total shifts by the
    record, which are called pulls in units of the shift in one step. Let π bound the probability that the projection
    has an effect. The mass π is moved to an end of the line, so that δ of the two distributions is a lower bound.

    Args:
        line: the run in one dimension.
        relative_shift: shift of the second run by the record, over the shift of the first run.

    Returns:
        The masses of the same intervals for the first and the second run. None if the mixtures are unknown or have too
        many components, or if the boundary is closer than `_FAR_DEVIATIONS` standard deviations.
    """
    # Least distance of the model's mean from the boundary, in standard deviations.
    steps = line.spec.steps
    final_std = line.deviation(steps)
    most_uses = steps if line.has_equal_steps else math.ceil(steps / line.spec.period)
    largest_shift = line.shift * most_uses
    distance = (line.spec.radius - largest_shift) / final_std
    if distance < _FAR_DEVIATIONS:
        return None
    components = _mixture_components(line)
    if components is None:
        return None
    pulls, deviations, weights = components
    # A union bound for π: in each step the model may cross either boundary. The last factor exceeds rounding errors.
    projected_probability = 2.0 * steps * float(ndtr(-distance)) * (1.0 + 1e-9)

    # Less than 1e-18 of the mass is more than 9 standard deviations beyond the largest mean.
    end = largest_shift + 9.0 * final_std
    edge_count = _CELLS if pulls.size <= _FEW_COMPONENTS else _CELLS // 4
    edges = symmetric_points(end, edge_count)
    # Each pull and each variance is a sum of powers of the contraction factor, with two roundings for each step.
    error = ACCURACY + half_line_error(end, float(deviations.min()), roundings=8 + 2 * steps)

    def masses(pull: float) -> FloatArray:
        """Return the masses of the intervals for a pull of the record, with the mass π moved to the lower end."""
        distances = (edges[:, None] - pull * line.shift * pulls[None, :]) / deviations[None, :]
        below, above = ndtr(distances) @ weights, ndtr(-distances) @ weights
        return move_cells_down(below, above, error, projected_probability)

    # The edges are symmetric. With the opposite pull, moving mass up is the mirror image of moving it down.
    return masses(1.0), masses(-relative_shift)[::-1]


def _mixture_components(line: OneDimensionalRun) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the Gaussian mixture that is the distribution of the released model without the projection.

    The model is released after each step of `line.stops` with the same probability.

    Args:
        line: the run.

    Returns:
        Three arrays with one entry for each component: the mean in units of the record's shift in one step, the
        standard deviation, and the weight. None if the means are unknown, or if there are more than `_COMPONENTS`
        components.
    """
    pulls: list[FloatArray] = []
    deviations: list[FloatArray] = []
    weights: list[FloatArray] = []
    count = 0
    for stop in line.stops:
        pulls_and_weights = line.pulls(stop)
        if pulls_and_weights is None:
            return None
        stop_pulls, stop_weights = pulls_and_weights
        count += stop_pulls.size
        if count > _COMPONENTS:
            return None
        pulls.append(stop_pulls)
        deviations.append(np.full(stop_pulls.size, line.deviation(stop)))
        weights.append(stop_weights / len(line.stops))
    return np.concatenate(pulls), np.concatenate(deviations), np.concatenate(weights)


def _masses_near_boundary(line: OneDimensionalRun, relative_shift: float) -> tuple[FloatArray, FloatArray]:
    """Compute the distributions of the released models of two neighbouring runs of projected SGD on a grid.

    Each step multiplies the model by a factor, shifts it, adds Gaussian noise, and projects it onto an interval. The
    first model is rounded down to the grid in every step and the second one up, so that δ does not increase. If the
    record is zeroed, a batch of m records lacks its share λ/m of the strong convexity λ. The steps that use the record
    then contract less.

    Args:
        line: the run on a line.
        relative_shift: shift of the second run by the record, over the shift of the first run: −1 for the opposite
            contribution, 0 for a zeroed record.

    Returns:
        The masses of the grid points for the first and the second run.
    """
    grid = symmetric_points(line.spec.radius, PLACES)
    error = half_line_error(2.0 * line.spec.radius + line.shift, line.noise_std)

    def step(shift: float, contraction: float, *, up: bool) -> FloatArray:
        """Return the transition matrix of a step on the grid.

        Args:
            shift: shift of the model by the record.
            contraction: factor by which the step multiplies the model.
            up: whether values are rounded up, and not down.

        Returns:
            A square matrix; row i is the distribution of the next value from grid point i.
        """
        edges = grid[:-1] if up else grid[1:]
        distances = (edges[None, :] - contraction * grid[:, None] - shift) / line.noise_std
        below, above = ndtr(distances), ndtr(-distances)
        if up:
            return move_cells_down(above[:, ::-1], below[:, ::-1], error)[:, ::-1]
        return move_cells_down(below, above, error)

    def distribution(pull: float, *, up: bool) -> FloatArray:
        """Return the distribution of the released model on the grid for a given shift by the record, its pull.

        Args:
            pull: shift by the record, in units of the shift of the first run; 0 for a zeroed record.
            up: whether the model is rounded up to the grid in every step, and not down.

        Returns:
            The masses of the grid points.
        """
        contraction = line.contraction
        if pull == 0.0:
            contraction += (1.0 - line.contraction) / line.spec.participants
        rest = step(0.0, line.contraction, up=up)
        use = step(pull * line.shift, contraction, up=up)
        return _released_distribution(line, rest, use)

    first = distribution(1.0, up=False)
    if relative_shift == -1.0:
        # The grid is symmetric. With the opposite pull, the distribution rounded up is the mirror image of the first.
        return first, first[::-1]
    return first, distribution(relative_shift, up=True)


def _released_distribution(line: OneDimensionalRun, rest: FloatArray, use: FloatArray) -> FloatArray:
    """Return the distribution of the released model on a grid, which is the mean over all steps that may release it.

    Args:
        line: the run on a line.
        rest: transition matrix of a step without the record; row i is the distribution of the next grid point.
        use: transition matrix of a step that uses the record.

    Returns:
        An array of `PLACES` masses, one for each grid point.
    """
    released = np.zeros(PLACES)
    for stop, model in enumerate(_model_distributions(line, rest, use), start=1):
        if stop in line.stops:
            released += model
    return np.asarray(released / len(line.stops))


def _model_distributions(line: OneDimensionalRun, rest: FloatArray, use: FloatArray) -> Iterator[FloatArray]:
    """Yield the distribution of the model on a grid after each step, by the way in which batches are chosen.

    The model starts in the middle of the grid. Distributions are row vectors of masses.

    Args:
        line: the run on a line.
        rest: transition matrix of a step without the record.
        use: transition matrix of a step that uses the record.

    Yields:
        An array of `PLACES` masses for each step.
    """
    start: FloatArray = np.eye(PLACES)[PLACES // 2]
    # Fresh batches: every step uses the record with the same probability.
    if line.has_equal_steps:
        mixed = (1.0 - line.share) * rest + line.share * use
        return _run_steps(start, itertools.repeat(mixed, line.spec.steps))
    # A known order determines the steps that use the record.
    if line.spec.batches == "cyclic":
        transition_of = {True: use, False: rest}
        uses = line.uses(line.spec.steps)
        return _run_steps(start, (transition_of[bool(is_use)] for is_use in uses))
    # A secret order.
    if line.repeats_one_batch:
        return _repeat_one_batch(line, rest, use, start)
    return _pass_once(line, rest, use, start)


def _run_steps(model: FloatArray, transitions: Iterable[FloatArray]) -> Iterator[FloatArray]:
    """Yield the distribution of a Markov chain after each of several steps, as a row vector of masses.

    Args:
        model: distribution at the start.
        transitions: transition matrix of each step, in the order of the steps.
    """
    for transition in transitions:
        model = np.asarray(model @ transition)
        yield model


def _repeat_one_batch(
    line: OneDimensionalRun, rest: FloatArray, use: FloatArray, start: FloatArray
) -> Iterator[FloatArray]:
    """Yield the distribution of the model after each step if a single secret batch is repeated.

    All steps use the record with probability q = `line.share`, and otherwise none does.

    Args:
        line: the run on a line.
        rest: transition matrix of a step without the record.
        use: transition matrix of a step that uses the record.
        start: distribution at the start, as a row vector of masses.

    Yields:
        The mixture of both cases after each step, a row vector of masses.
    """
    with_record = without_record = start
    for _ in range(line.spec.steps):
        with_record = np.asarray(with_record @ use)
        without_record = np.asarray(without_record @ rest)
        yield np.asarray(line.share * with_record + (1.0 - line.share) * without_record)


def _pass_once(line: OneDimensionalRun, rest: FloatArray, use: FloatArray, start: FloatArray) -> Iterator[FloatArray]:
    """Yield the distribution of the model after each step of a single pass in a secret order.

    The record is used at most once. Each step is that one with the same probability q = `line.share`.

    Args:
        line: the run on a line.
        rest: transition matrix of a step without the record.
        use: transition matrix of a step that uses the record.
        start: distribution at the start, as a row vector of masses.

    Yields:
        The distribution after each step, a row vector of masses.
    """
    before_use = start  # the distribution if the record was not used so far
    after_use = np.zeros(PLACES)  # the joint mass of the model and the event that the record was used
    for step in range(1, line.spec.steps + 1):
        # With probability q the record is used in this step; `before_use` is conditional on no earlier use.
        after_use = after_use @ rest + line.share * (before_use @ use)
        before_use = np.asarray(before_use @ rest)
        unused_probability = max(1.0 - line.share * step, 0.0)
        yield np.asarray(after_use + unused_probability * before_use)

"""Neighbouring runs of hidden-state projected SGD in one coordinate, for lower bounds on δ.

On the line [−ρ, ρ], with W₀ = 0, every loss is λw²/2. The loss of the record has g w added, where g = ±(L − λρ), or 0
if the record is zeroed. All losses are convex, L-Lipschitz and λ-smooth. A step maps w to the projection of (1 − ηλ) w
± ηg/m + N(0, η²σ²/m), with the second term only if the record is in the batch. The step is increasing in w. There are
two ways to bound the distribution of the last model in the order of half-lines. The bound is from below for the run in
which the record pulls up, and from above for the other run.

- *Far from the boundary*: without projection the model is Gaussian. By a union bound over the steps, the projection
  acts with probability at most π. π is removed from the upper end of the first distribution, and from the lower end of
  the second.
- *Near the boundary*: on a grid, every value is rounded down in the first run and up in the second.

Outcomes are merged until the likelihood ratio increases along the line, so that every optimal event is a half-line.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, ndtr, xlog1py, xlogy

from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.deferred import deferred_pair
from epsilond.accountants.quantities import Relation

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import ProjectedSgd

PLACES = 401
"""Number of grid points; the transition matrix of a step has one entry for each two points."""
MOST_STEPS = 4096
"""Largest number of steps for which an instance is computed."""
_FAR = 7.5
"""Least distance to the boundary, in standard deviations, at which the projection counts only by its probability."""
_CELLS = 1200
"""Number of cells of the Gaussian mixtures."""
_ACCURACY = 1e-9
"""Relative error of a cell's mass, far above that of sums of products of rounded probabilities."""
_LEAST = 1e-14
"""Least mass of a cell. A smaller cell has lost its digits and is merged with the next one."""


@dataclass(frozen=True)
class _Line:
    """A run in one dimension, as an example that attains a lower bound on δ.

    Attributes:
        spec: the run.
        contraction: factor by which a step multiplies the model.
        shift: shift of the model by a step that uses the record.
        noise_std: standard deviation of a step's noise.
    """

    spec: ProjectedSgd
    contraction: float
    shift: float
    noise_std: float

    @property
    def has_equal_steps(self) -> bool:
        """True if all steps have the same distribution: full batches, or batches that are drawn anew."""
        return self.spec.period == 1 or self.spec.batches == "without-replacement"

    @property
    def share(self) -> float:
        """The probability that a record is in a given batch."""
        return self.spec.participants / self.spec.clients

    @property
    def has_known_distribution(self) -> bool:
        """True if the distribution of the last model is computed.

        It is not computed if batches of a secret fixed order are used again.
        """
        return self.has_equal_steps or self.spec.batches == "cyclic" or self.spec.steps <= self.spec.period

    def uses(self) -> FloatArray:
        """Return 1 for each step that uses a record of the last batch, in a fixed order, and 0 for the others."""
        steps = np.arange(self.spec.steps)
        return np.where(steps % self.spec.period == (self.spec.steps - 1) % self.spec.period, 1.0, 0.0)

    def pulls(self) -> tuple[FloatArray, FloatArray] | None:
        """Return the possible total shifts of the last model by the record, and their probabilities.

        The unit is the shift of one step. The projection is ignored. The result is None if batches are drawn anew and
        steps contract, because there are then too many possible shifts.
        """
        steps = self.spec.steps
        powers = self.contraction ** np.arange(steps - 1.0, -1.0, -1.0)
        if self.has_equal_steps and self.share == 1.0:
            return np.asarray([powers.sum()]), np.ones(1)
        if self.has_equal_steps:
            times = np.arange(steps + 1.0)
            chosen = gammaln(steps + 1.0) - gammaln(times + 1.0) - gammaln(steps - times + 1.0)
            weights = np.exp(chosen + xlogy(times, self.share) + xlog1py(steps - times, -self.share))
            return (times, np.asarray(weights)) if self.contraction == 1.0 else None
        if self.spec.batches == "cyclic":
            return np.asarray([powers @ self.uses()]), np.ones(1)
        return np.append(powers, 0.0), np.append(np.full(steps, self.share), max(1.0 - steps * self.share, 0.0))


def last_model_instances(spec: ProjectedSgd, relation: Relation) -> tuple[Pair, ...]:
    """Return a pair that neighbouring data sets attain for the last model of a run of equal steps.

    The pair is computed at its first use. There is none for a model that is released earlier, steps or noise that
    change, very long runs, or batches of a secret order that are used again.

    Args:
        spec: the run.
        relation: neighbouring relation.
    """
    step, noise = spec.step_schedule.constant, spec.noise_schedule.constant
    pull = spec.lipschitz - spec.strong_convexity * spec.radius
    if relation == "zero-out-one" and spec.strong_convexity > 0.0:
        return ()  # zeroing a record also removes its strong convexity, so the two runs contract differently
    if spec.release != "last" or step is None or noise is None or not pull > 0.0 or spec.steps > MOST_STEPS:
        return ()
    root = math.sqrt(spec.participants)
    line = _Line(spec, 1.0 - step * spec.strong_convexity, step * pull / spec.participants, step * noise / root)
    if not (line.contraction >= 0.0 and line.noise_std > 0.0 and math.isfinite(line.shift / line.noise_std)):
        return ()
    if not line.has_known_distribution:
        return ()
    return (deferred_pair(functools.partial(_pair, line, 0.0 if relation == "zero-out-one" else -1.0)),)


def _pair(line: _Line, away: float) -> Pair:
    """Return the pair of two runs, where the record shifts a step by `line.shift` or by `away` times that."""
    return _monotone_pair(*(_far(line, away) or _near(line, away)))


def _far(line: _Line, away: float) -> tuple[FloatArray, FloatArray] | None:
    """Return the masses of both last models on cells of the line, if the projection has a negligible effect.

    Without the projection the last models are Gaussian mixtures. Its effect is charged.

    Args:
        line: the run.
        away: shift of the second run, in units of that of the first.

    Returns:
        The masses; None if the mixtures are unknown, or the projection may have a large effect.
    """
    pulls_and_weights = line.pulls()
    steps = line.spec.steps
    deviation = line.noise_std * math.sqrt(float((line.contraction ** (2.0 * np.arange(steps))).sum()))
    if pulls_and_weights is None:
        return None
    most = line.shift * (steps if line.has_equal_steps else math.ceil(steps / line.spec.period))
    distance = (line.spec.radius - most) / deviation
    if distance < _FAR:
        return None
    projected = 2.0 * steps * float(ndtr(-distance)) * (1.0 + 1e-9)
    pulls, weights = pulls_and_weights
    edges = np.linspace(-most - 9.0 * deviation, most + 9.0 * deviation, _CELLS)
    distributions = []
    for side, sign in ((1.0, 1.0), (away, -1.0)):
        below = ndtr((edges[:, None] - side * line.shift * pulls[None, :]) / deviation) @ weights
        # The lower distribution has π of its mass at the lower end, the upper one at the upper end.
        below = np.clip(below + sign * projected, 0.0, 1.0)
        distributions.append(np.diff(below, prepend=0.0, append=1.0))
    return distributions[0], distributions[1]


def _near(line: _Line, away: float) -> tuple[FloatArray, FloatArray]:
    """Return the distributions of both last models on a grid, computed step by step with the projection.

    The first model is rounded down to the grid in every step and the second one up, so that δ does not increase.

    Args:
        line: the run.
        away: shift of the second run, in units of that of the first.
    """
    grid = np.linspace(-line.spec.radius, line.spec.radius, PLACES)

    def step(shift: float, *, up: bool) -> FloatArray:
        """Return the transition matrix of a step with a shift, rounded down or up."""
        edges = grid[:-1] if up else grid[1:]
        below = ndtr((edges[None, :] - line.contraction * grid[:, None] - shift) / line.noise_std)
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def distribution(side: float, *, up: bool) -> FloatArray:
        """Return the distribution of the last model with the record's pull `side`, rounded down or up."""
        return _last_distribution(line, step(0.0, up=up), step(side * line.shift, up=up))

    first = distribution(1.0, up=False)
    # The grid is symmetric. With the opposite pull, the distribution rounded up is the mirror image of the first.
    return first, first[::-1] if away == -1.0 else distribution(away, up=True)


def _last_distribution(line: _Line, rest: FloatArray, use: FloatArray) -> FloatArray:
    """Return the distribution of the last model on the grid.

    Args:
        line: the run.
        rest: transition matrix of a step without the record.
        use: transition matrix of a step that uses the record.
    """
    spec = line.spec
    distribution: FloatArray = np.eye(PLACES)[PLACES // 2]
    if line.has_equal_steps:
        mixed = (1.0 - line.share) * rest + line.share * use
        for _ in range(spec.steps):
            distribution = np.asarray(distribution @ mixed)
        return distribution
    if spec.batches == "cyclic":
        for is_use in line.uses():
            distribution = np.asarray(distribution @ (use if is_use else rest))
        return distribution
    after_use = np.zeros(PLACES)
    for _ in range(spec.steps):
        after_use = after_use @ rest + line.share * (distribution @ use)
        distribution = np.asarray(distribution @ rest)
    return np.asarray(after_use + max(1.0 - line.share * spec.steps, 0.0) * distribution)


def _monotone_pair(first: FloatArray, second: FloatArray) -> Pair:
    """Return the pair of two distributions on cells, merged until the likelihood ratio increases along the line.

    Merging is post-processing, so the pair still gives valid lower bounds on δ. Cells of tiny mass are merged too.

    Args:
        first: masses of the cells under the first distribution.
        second: masses under the second distribution.
    """
    pooled: list[tuple[float, float]] = []
    for p, q in zip(first.tolist(), second.tolist(), strict=True):
        pooled.append((max(p, 0.0), max(q, 0.0)))
        while len(pooled) > 1 and _must_merge(*pooled[-2:]):
            pooled[-2:] = [_merge_cells(*pooled[-2:])]
    if len(pooled) > 1 and min(pooled[-1]) < _LEAST:
        pooled[-2:] = [_merge_cells(*pooled[-2:])]
    log_p, log_q = np.log(np.asarray(pooled)).T
    return finite_pair(log_p, log_q, _ACCURACY)


def _merge_cells(left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float]:
    """Return the sums of the masses of two cells."""
    return left[0] + right[0], left[1] + right[1]


def _must_merge(left: tuple[float, float], right: tuple[float, float]) -> bool:
    """Return whether a cell is too small, or the likelihood ratio decreases from left to right."""
    return min(left) < _LEAST or left[0] * right[1] > right[0] * left[1]

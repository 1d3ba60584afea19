"""What neighbours realise in hidden-state projected SGD: one coordinate, one record that pulls, all others at rest.

On the line [−ρ, ρ] from W₀ = 0 every loss is λw²/2, and the record's own one has g w added, g = ±(L − λρ), or 0 where
it is zeroed: convex, L-Lipschitz and λ-smooth. A step maps w to the projection of (1 − ηλ) w ± ηg/m + N(0, η²σ²/m),
where the record is in the batch; all of it rises with w. Two ways to bound the law of the last model in the order of
half-lines, from below where the record pulls up, and from above where it does not:

- *Far from the ends*: without projection the model is Gaussian, and the projection acts with a probability π at most,
  by a union bound over the steps. π is taken from the upper end of the one law, and from the lower end of the other.
- *Near the ends*: on a grid, every value is rounded down in the one run and up in the other.

Outcomes are joined until the likelihood ratio rises along the line, so that every best event is a half-line.
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
"""Grid points; a step from each to each is one matrix."""
MOST_STEPS = 4096
_FAR = 7.5
"""Standard deviations to the ends from which the projection is left to its probability."""
_CELLS = 1200
_ACCURACY = 1e-9
"""Relative error of a cell's mass, far above that of sums of products of rounded probabilities."""
_LEAST = 1e-14
"""A cell of less mass has lost its digits and is joined to the next one."""


@dataclass(frozen=True)
class _Line:
    """The run on the line: factor of one step, how far the record pulls, and the noise."""

    spec: ProjectedSgd
    keep: float
    moved: float
    spread: float

    @property
    def afresh(self) -> bool:
        """Whether every step is like every other: full batches, or ones that are drawn afresh."""
        return self.spec.period == 1 or self.spec.batches == "without-replacement"

    @property
    def share(self) -> float:
        """The probability of being in a given batch."""
        return self.spec.participants / self.spec.clients

    @property
    def followed(self) -> bool:
        """Whether the law of the last model is worked out: not where batches of a secret fixed order come again."""
        return self.afresh or self.spec.batches == "cyclic" or self.spec.steps <= self.spec.period

    def used(self) -> FloatArray:
        """Whether a record of the last batch is used in each step, where the order is fixed."""
        steps = np.arange(self.spec.steps)
        return np.where(steps % self.spec.period == (self.spec.steps - 1) % self.spec.period, 1.0, 0.0)

    def pulls(self) -> tuple[FloatArray, FloatArray] | None:
        """How far the last model's mean is pulled, in units of one pull, with probabilities."""
        steps = self.spec.steps
        left = self.keep ** np.arange(steps - 1.0, -1.0, -1.0)
        if self.afresh and self.share == 1.0:
            return np.asarray([left.sum()]), np.ones(1)
        if self.afresh:
            times = np.arange(steps + 1.0)
            chosen = gammaln(steps + 1.0) - gammaln(times + 1.0) - gammaln(steps - times + 1.0)
            weights = np.exp(chosen + xlogy(times, self.share) + xlog1py(steps - times, -self.share))
            return (times, np.asarray(weights)) if self.keep == 1.0 else None
        if self.spec.batches == "cyclic":
            return np.asarray([left @ self.used()]), np.ones(1)
        return np.append(left, 0.0), np.append(np.full(steps, self.share), max(1.0 - steps * self.share, 0.0))


def pulled(spec: ProjectedSgd, relation: Relation) -> tuple[Pair, ...]:
    """The instance for the last model of equal steps; none where it is not worked out."""
    step, noise = spec.step_schedule.constant, spec.noise_schedule.constant
    pull = spec.lipschitz - spec.strong_convexity * spec.radius
    if relation == "zero-out-one" and spec.strong_convexity > 0.0:
        return ()  # a zeroed record loses its part of the strong convexity too: the two laws contract unlike
    if spec.release != "last" or step is None or noise is None or not pull > 0.0 or spec.steps > MOST_STEPS:
        return ()
    root = math.sqrt(spec.participants)
    line = _Line(spec, 1.0 - step * spec.strong_convexity, step * pull / spec.participants, step * noise / root)
    if not (line.keep >= 0.0 and line.spread > 0.0 and math.isfinite(line.moved / line.spread)):
        return ()
    if not line.followed:
        return ()
    return (deferred_pair(functools.partial(_pair, line, 0.0 if relation == "zero-out-one" else -1.0)),)


def _pair(line: _Line, away: float) -> Pair:
    return _rising(*(_far(line, away) or _near(line, away)))


def _far(line: _Line, away: float) -> tuple[FloatArray, FloatArray] | None:
    """Cells of two Gaussian mixtures, less what the projection may change; None where that is too much."""
    found = line.pulls()
    steps = line.spec.steps
    deviation = line.spread * math.sqrt(float((line.keep ** (2.0 * np.arange(steps))).sum()))
    if found is None:
        return None
    most = line.moved * (steps if line.afresh else math.ceil(steps / line.spec.period))
    distance = (line.spec.radius - most) / deviation
    if distance < _FAR:
        return None
    projected = 2.0 * steps * float(ndtr(-distance)) * (1.0 + 1e-9)
    pulls, weights = found
    edges = np.linspace(-most - 9.0 * deviation, most + 9.0 * deviation, _CELLS)
    laws = []
    for side, sign in ((1.0, 1.0), (away, -1.0)):
        below = ndtr((edges[:, None] - side * line.moved * pulls[None, :]) / deviation) @ weights
        # A law below moves π of its mass to the lower end, a law above to the upper end.
        below = np.clip(below + sign * projected, 0.0, 1.0)
        laws.append(np.diff(below, prepend=0.0, append=1.0))
    return laws[0], laws[1]


def _near(line: _Line, away: float) -> tuple[FloatArray, FloatArray]:
    """Laws of the last model on a grid, one rounded down in every step and one up."""
    grid = np.linspace(-line.spec.radius, line.spec.radius, PLACES)

    def step(shift: float, *, up: bool) -> FloatArray:
        edges = grid[:-1] if up else grid[1:]
        below = ndtr((edges[None, :] - line.keep * grid[:, None] - shift) / line.spread)
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def released(side: float, *, up: bool) -> FloatArray:
        return _released(line, step(0.0, up=up), step(side * line.moved, up=up))

    first = released(1.0, up=False)
    # The grid is its own mirror image, and with the other sign of the pull so is the law rounded up.
    return first, first[::-1] if away == -1.0 else released(away, up=True)


def _released(line: _Line, rest: FloatArray, used: FloatArray) -> FloatArray:
    """The law of the last model; `rest` and `used` are the steps without the record and with it."""
    spec = line.spec
    law: FloatArray = np.eye(PLACES)[PLACES // 2]
    if line.afresh:
        mixed = (1.0 - line.share) * rest + line.share * used
        for _ in range(spec.steps):
            law = np.asarray(law @ mixed)
        return law
    if spec.batches == "cyclic":
        for taken in line.used():
            law = np.asarray(law @ (used if taken else rest))
        return law
    seen = np.zeros(PLACES)
    for _ in range(spec.steps):
        seen, law = seen @ rest + line.share * (law @ used), np.asarray(law @ rest)
    return np.asarray(seen + max(1.0 - line.share * spec.steps, 0.0) * law)


def _rising(first: FloatArray, second: FloatArray) -> Pair:
    """Cells joined until first/second rises: neighbours that fall are pooled, as in isotonic regression."""
    pooled: list[tuple[float, float]] = []
    for p, q in zip(first.tolist(), second.tolist(), strict=True):
        pooled.append((max(p, 0.0), max(q, 0.0)))
        while len(pooled) > 1 and _must_join(*pooled[-2:]):
            pooled[-2:] = [_joined(*pooled[-2:])]
    if len(pooled) > 1 and min(pooled[-1]) < _LEAST:
        pooled[-2:] = [_joined(*pooled[-2:])]
    log_p, log_q = np.log(np.asarray(pooled)).T
    return finite_pair(log_p, log_q, _ACCURACY)


def _joined(left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float]:
    return left[0] + right[0], left[1] + right[1]


def _must_join(left: tuple[float, float], right: tuple[float, float]) -> bool:
    return min(left) < _LEAST or left[0] * right[1] > right[0] * left[1]

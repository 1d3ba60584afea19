"""From laws with counts to the engine's parts: Gaussian losses join in closed form, equal laws add their counts."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.facts import DrawnGaussianLaw, GaussianLaw, LaplaceLaw, SampledGaussianLaw
from epsilond.accountants.engine.contour.transforms.drawn_gaussian import DrawnGaussian
from epsilond.accountants.engine.contour.transforms.drawn_loss import DrawnLoss
from epsilond.accountants.engine.contour.transforms.gaussian import GaussianTransform
from epsilond.accountants.engine.contour.transforms.hard_cut import CutSampledGaussian
from epsilond.accountants.engine.contour.transforms.laplace import laplace_part
from epsilond.accountants.engine.contour.transforms.sampled_gaussian import (
    EXPONENTS,
    LEAST_RATE,
    SampledGaussianLoss,
    Tilts,
    whole_line,
)
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grid import SampledGaussianGrid
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grids import SampledGaussianGrids
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_rows import LARGEST_RATE, LossRows, shared_line
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Part, ResolvedPart


def _gaussian(law: GaussianLaw, count: int) -> tuple[float, Part | None]:
    return count * law.mu * law.mu, None


def _sampled(law: SampledGaussianLaw, count: int) -> tuple[float, Part | None]:
    if law.rate == 0.0 or law.shift == 0.0:
        return 0.0, None
    if law.rate == 1.0:
        distance = 2.0 * law.shift if law.direction == "replace" else law.shift
        return count * distance * distance, None
    return 0.0, SampledGaussian(SampledGaussianLoss(law.rate, law.shift, EXPONENTS[law.direction]), count)


def _drawn(law: DrawnGaussianLaw, count: int) -> tuple[float, Part | None]:
    if law.rate == 0.0 or law.shift == 0.0:
        return 0.0, None
    if law.rate == 1.0:
        return count * law.shift * law.shift, None
    return 0.0, DrawnGaussian(DrawnLoss(law.rate, law.shift), count, alone=False)


_READERS: dict[type, Callable[..., tuple[float, Part | None]]] = {
    GaussianLaw: _gaussian,
    SampledGaussianLaw: _sampled,
    DrawnGaussianLaw: _drawn,
}
"""For each kind of law: its share of the squared Gaussian shift, and its part otherwise."""


class Parts(tuple["Part", ...]):  # noqa: SLOT001 (no tuple has slots, and this one remembers)
    """Parts that are looked up time and again: their hash is computed once."""

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def supremum(self) -> float:
        """The largest loss of the composition, rounded up but for the roundings of the sum."""
        return math.fsum(part.supremum for part in self)


def compiled(laws: Sequence[tuple[Law, int]] | Parts) -> Parts:
    """The parts of a composition; empty if no loss can be anything but zero. What is compiled already is left as it is.

    Law: k entries of count 1 equal one entry of count k, and order does not matter.
    """
    if isinstance(laws, Parts):
        return laws
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    kept = [(law, count) for law, count in counts.items() if count > 0]
    read = [_READERS[type(law)](law, count) for law, count in kept if not isinstance(law, LaplaceLaw)]
    square = math.fsum(share for share, _ in read)
    parts = [part for _, part in read if part is not None]
    parts = [GaussianTransform(square), *parts] if square > 0.0 else parts
    if len(kept) == 1 and len(parts) == 1 and isinstance(parts[0], DrawnGaussian):
        parts = [replace(parts[0], alone=True)]
    steps = sorted((law.shift, count) for law, count in kept if isinstance(law, LaplaceLaw) and law.shift > 0.0)
    if steps:
        parts.append(laplace_part(*zip(*steps, strict=True), alone=not parts))
    return Parts(parts)


_LEAST_VARIANCE = 1e-24
_DEVIATIONS, _MORE_DEVIATIONS, _BEYOND = 4.8, 12.0, 1.25
"""How many standard deviations of the loss lie behind a δ of one in a million; more where no tilt makes nodes more; how
far beyond the tilt at which giant losses take over."""


def usual_tilt(parts: Sequence[Part]) -> float:
    """About the largest tilt that questions are asked at: a guess from which searches start.

    With s the shift and q the rate of a step, small losses have the variance q² (e^{s²} − 1), and giant ones take over
    at a tilt of about 2 log(1/q)/s². 0 where nothing is known.
    """
    variance, giant = 0.0, math.inf
    for part in parts:
        if isinstance(part, SampledGaussian):
            loss, square = part.loss, part.loss.shift * part.loss.shift
            variance += part.count * loss.rate * loss.rate * math.expm1(min(square, 50.0))
            if loss.exponents.right > 0:
                giant = min(giant, -2.0 * _BEYOND * math.log(loss.rate) / square)
        elif isinstance(part, DrawnGaussian):
            variance += part.count * part.loss.variance
        elif isinstance(part, GaussianTransform):
            variance += part.square
        else:
            return 0.0
    if variance < _LEAST_VARIANCE:
        return 0.0
    return min((_DEVIATIONS if giant < math.inf else _MORE_DEVIATIONS) / math.sqrt(variance), giant)


# T steps of the Poisson-subsampled Gaussian mechanism as a part of a composition, integrated over the whole line ----
@dataclass(frozen=True)
class SampledGaussian:
    """T independent steps of one subsampled Gaussian loss."""

    loss: SampledGaussianLoss
    count: int

    @property
    def log_leak(self) -> float:
        """Nothing is left out."""
        return -math.inf

    @property
    def supremum(self) -> float:
        """T times the loss's own, rounded up."""
        return self.count * self.loss.supremum * (1.0 + 4 * UNIT_ROUNDOFF)

    @property
    def can_be_grouped(self) -> bool:
        """Whether it can be resolved in one array with others."""
        return LEAST_RATE <= self.loss.rate <= LARGEST_RATE

    def cut_at(self, log_leak: float) -> Part:
        """The same steps, those with noise outside an interval left out."""
        return CutSampledGaussian.leaking(self.loss, self.count, log_leak)

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> SampledGaussianGrid:
        """The widest trapezoidal grid that keeps the quadrature error of one step below e^−31/T.

        Raises:
            ContourRefused: the grid exceeds the budget, or the rate is below 1e−100.
        """
        if self.loss.rate < LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.loss.rate:g}")
        rule = whole_line(self.loss, self.count, Tilts(*tilts), frequency, budget.noise_nodes)
        return SampledGaussianGrid(self.loss, self.count, rule, frequency)


# Different steps are resolved together, in groups of about equal shifts: one grid of the noise then suits them all ----
_FEWEST, _MOST = 3, 64
"""How many losses are worth a group, and how many arrays that stay in the cache can hold."""
_SPREAD = 1.25
"""How much larger the largest shift of a group may be than the smallest."""


def resolve_all(
    parts: Sequence[Part], tilts: tuple[float, float], frequency: float, budget: NodeBudget
) -> tuple[ResolvedPart, ...]:
    """What resolves all parts together, the sums over which are those over the parts.

    Raises:
        ContourRefused: some quadrature exceeds the budget.
    """
    if len(parts) < _FEWEST:
        return tuple(part.resolve(tilts, frequency, budget) for part in parts)
    alike = [part for part in parts if isinstance(part, SampledGaussian) and part.can_be_grouped]
    alone = [part for part in parts if not (isinstance(part, SampledGaussian) and part.can_be_grouped)]
    resolved: list[ResolvedPart] = []
    for group in _groups(alike):
        if len(group) < _FEWEST:
            alone.extend(group)
            continue
        losses, counts = LossRows.of([part.loss for part in group]), np.asarray([[float(part.count)] for part in group])
        rule = shared_line(losses, counts, Tilts(*tilts), frequency, budget.noise_nodes)
        resolved.append(SampledGaussianGrids(counts, rule, frequency))
    return (*resolved, *(part.resolve(tilts, frequency, budget) for part in alone))


def _groups(parts: Sequence[SampledGaussian]) -> Iterator[list[SampledGaussian]]:
    """Parts of the same exponents whose shifts are about equal, from the smallest on."""
    ordered = sorted(parts, key=lambda part: (part.loss.exponents, part.loss.shift, part.loss.rate, part.count))
    for _, same in itertools.groupby(ordered, key=lambda part: part.loss.exponents):
        group: list[SampledGaussian] = []
        for part in same:
            if group and (len(group) == _MOST or part.loss.shift > _SPREAD * group[0].loss.shift):
                yield group
                group = []
            group.append(part)
        yield group

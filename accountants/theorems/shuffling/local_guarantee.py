"""What a local guarantee alone proves of a shuffled mechanism: clones and the closed form, at the best (ε₀, δ₀).

A local randomizer that is (ε₀, δ₀) for every two inputs is near one for which the pure statement holds: with
s = 1/(1 + e^{ε₀}),

 - the victim's two laws R₀, R₁ are within sδ₀, in total variation, of two that are ε₀-indistinguishable;
 - every other client's law is e^{−ε₀} H' + (1 − e^{−ε₀}) (something else), with H' within δ₀ of (R₀ + R₁)/2.

So either world is within sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀ of the clone pair (docs/shuffling.md), and a distance of t
adds (1 + e^ε) t to δ. A local guarantee is a curve: any ε₀ may be chosen, at every ε the best.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.search import upper_epsilon
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, estimated_clones
from epsilond.accountants.theorems.shuffling.planned_rows import TABLES_KEPT, Costs, Estimates, grid, in_cell, planned
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import Rows, Table

_LARGEST = 700.0
_COARSE, _FINE = 24, 96
_DEEPEST = -745.0
POINTS_KEPT, CLONES_KEPT = 8, 48


@dataclass(frozen=True)
class LocalCurve:
    """(ε₀, δ₀) pairs of one local guarantee, for every two inputs in both orders.

    A guarantee with δ₀ = 0 at some ε₀ ≤ 700 is one pair, log δ₀ = −inf.
    """

    pair: Pair

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """ε₀, increasing, and upper ends of log δ₀."""
        return _gaussian_points(self.pair) if self.pair.gaussian_dp_mu else self._points()

    def _points(self) -> tuple[FloatArray, FloatArray]:
        if math.isinf(self.pair.log_delta_bounds(_LARGEST).upper):
            pure = upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, -1e300)
            return np.asarray([pure]), np.asarray([-np.inf])
        coarse = np.geomspace(1e-6, _LARGEST, _COARSE)
        values = self.pair.log_delta(coarse).upper
        useful = np.flatnonzero((values < -2.0) & (values > _DEEPEST))
        if useful.size == 0:
            return coarse, values
        low, high = max(int(useful[0]) - 1, 0), min(int(useful[-1]) + 1, _COARSE - 1)
        fine = np.geomspace(coarse[low], coarse[high], _FINE)
        return fine, self.pair.log_delta(fine).upper

    def no_less_at(self, epsilon: float) -> float:
        """What log δ₀ is at least at ε, about: its value at the next of the points, −inf beyond them.

        For choosing what to evaluate alone: it is nothing that a bound may rest on.
        """
        places, log_delta = self.points
        following = int(np.searchsorted(places, epsilon))
        return float(log_delta[following]) if following < places.size else -math.inf

    def estimated(self, epsilon: FloatArray) -> FloatArray:
        """About log δ₀ at several ε, too little below the first of the points; 0 below that of a pure guarantee."""
        places, log_delta = self.points
        if places.size == 1:
            return np.where(epsilon < places[0], 0.0, -np.inf)
        return np.asarray(np.interp(epsilon, places, log_delta))

    @property
    def pure(self) -> float:
        """ε₀ where δ₀ = 0, else math.inf."""
        epsilon, log_delta = self.points
        return float(epsilon[0]) if np.isneginf(log_delta).all() else math.inf


@functools.lru_cache(POINTS_KEPT)
def _gaussian_points(pair: Pair) -> tuple[FloatArray, FloatArray]:
    """Several bounds of one account read them."""
    return LocalCurve(pair)._points()  # noqa: SLF001


def log_distance(clients: int, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """log of sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀, rounded up."""
    share = 1.0 / (1.0 + np.exp(epsilon))
    factor = np.log(share + (clients - 1) * np.exp(-epsilon) * (1.0 + share))
    raised = log_delta * (1.0 - 4.0 * UNIT_ROUNDOFF)  # towards 0, and −∞ stays
    return np.asarray(raised + factor + UNIT_ROUNDOFF * (16.0 + 4.0 * np.abs(factor)))


EVERY = slice(None)
_AROUND = 4
_CHOICES = 96
"""Of ε₀, for each factor of two: always the same ones, so that tables of different noises share them."""


def near(place: int, size: int) -> slice:
    """A few places on either side of one."""
    return slice(max(place - _AROUND, 0), min(place + _AROUND + 1, size))


@dataclass(frozen=True)
class LocalClonesBound(ScaledBound):
    """The clone pair at the (ε₀, δ₀) of a local guarantee that is best at each ε, and never more than local.

    Guarantees: the upper end is a bound whichever pair is chosen; the choice is by an estimate, so that the lower end
    only says how exactly the chosen bound was computed.
    """

    clients: int
    local: LocalCurve
    coarse: bool = False
    _known: dict[int, ClonesBound] = field(default_factory=dict, repr=False, compare=False)

    @property
    def largest_loss(self) -> float:
        return self.local.pure

    @property
    def lossy(self) -> bool:
        """Of Gaussian reports."""
        return self.local.pair.gaussian_dp_mu is not None

    def log_bound(self, epsilon: float) -> Interval:
        """Ends of the chosen clone pair's bound, or of the local one where that is less."""
        own = self.local.pair.log_delta_bounds(epsilon)
        found = self._clones(self._best(epsilon)).log_bound(epsilon)
        upper = min(found.upper, own.upper)
        return Interval(min(found.lower, own.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """The chosen pair's quick bound, or the local one where that may be less."""
        return self._upper_at(self._best(epsilon), epsilon)

    def upwards(self) -> Callable[[float], float]:
        """`upper` at rising ε, the best pair sought among the neighbours of the last one."""
        last: int | None = None

        def upper(epsilon: float) -> float:
            nonlocal last
            last = self._best(epsilon) if last is None else self._best(epsilon, near(last, self.local.points[0].size))
            return self._upper_at(last, epsilon)

        return upper

    def _upper_at(self, place: int, epsilon: float) -> float:
        found = self._clones(place).upper(epsilon)
        if self.local.no_less_at(epsilon) > found:
            return found
        return min(found, self.local.pair.log_delta_bounds(epsilon).upper)

    def _best(self, epsilon: float, among: slice = EVERY) -> int:
        """The pair that looks best, by the normal law that the clones' loss is near."""
        local, log_delta = (part[among] for part in self.local.points)
        return int(np.argmin(self._estimated(epsilon, local, log_delta))) + (among.start or 0)

    def _estimated(self, epsilon: FloatArray | float, local: FloatArray, log_delta: FloatArray) -> FloatArray:
        """About log δ by the clone pairs of some (ε₀, δ₀)."""
        main = estimated_clones(epsilon, local, -local, self.clients)
        charge = log_distance(self.clients, local, log_delta) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(main, charge))

    def rows(self) -> Rows:
        """Of the table of the cell that a Gaussian guarantee lies in, or of one of its own."""
        known = in_cell(self.local.pair)
        made = _made if known.gaussian_dp_mu else _make
        local, table = made(self.clients, known, self.coarse)
        return table.rows(self._costs(local))

    def _costs(self, local: FloatArray) -> Costs:
        """What choices of ε₀ cost."""
        log_delta = self.local.pair.log_delta(local).upper
        return Costs(
            log_distance(self.clients, local, log_delta), lambda epsilon: self.local.pair.log_delta(epsilon).upper
        )

    def planned(self) -> tuple[FloatArray, Table]:
        """A table, and the ε₀ of its choices: closer to each other than those that are known, where any are best."""
        local, log_delta = self.local.points
        at_zero = int(np.argmin(self._estimated(0.0, local, log_delta)))
        scale = (
            2.0
            * math.tanh(0.5 * float(local[at_zero]))
            / math.sqrt((self.clients - 1) * math.exp(-float(local[at_zero])) + 1.0)
        )
        epsilon = grid(scale, float(local[-1]))
        own = self.local.estimated(epsilon)
        if local.size > 1:
            some = slice(None, None, 3)
            rough = self._estimated(epsilon[some, None], local, log_delta)
            best = np.argmin(rough, axis=1)[rough.min(axis=1) < own[some] + 1.0]
            if best.size:
                low, high = max(int(best.min()) - 1, 0), min(int(best.max()) + 1, local.size - 1)
                first, last = (round(_CHOICES * math.log2(local[place])) for place in (low, high))
                local = np.exp2(np.arange(first, last + 1) / _CHOICES)
                log_delta = self.local.pair.log_delta(local).upper
        with np.errstate(divide="ignore", invalid="ignore"):
            known = Estimates(epsilon, self._estimated(epsilon[:, None], local, log_delta), own)

        def pairs(choice: int, at: FloatArray) -> FloatArray:
            return _clones(self.clients, float(local[choice])).uppers(at)

        used, table = planned(known, pairs, self._costs(local), coarse=self.coarse).of_choices()
        return local[used], table

    def _clones(self, place: int) -> ClonesBound:
        if place not in self._known:
            self._known[place] = self._clones_of(*(float(part[place]) for part in self.local.points))
        return self._known[place]

    def _clones_of(self, epsilon: float, log_delta: float) -> ClonesBound:
        distance = float(log_distance(self.clients, np.asarray(epsilon), np.asarray(log_delta)))
        return ClonesBound(self.clients, math.exp(-epsilon), epsilon, distance)


def _make(clients: int, pair: Pair, coarse: bool) -> tuple[FloatArray, Table]:
    return LocalClonesBound(clients, LocalCurve(pair), coarse).planned()


_made = functools.lru_cache(TABLES_KEPT)(_make)


@functools.lru_cache(CLONES_KEPT)
def _clones(clients: int, local: float) -> ClonesBound:
    """A clone pair at no distance, with the law of the clones worked out once."""
    return ClonesBound(clients, math.exp(-local), local)


@dataclass(frozen=True)
class ClosedFormBound(ScaledBound):
    """Theorem F.2 of Lowy and Razaviyayn read as a curve, for one record a client, and never more than local.

    At every ε the least δ whose ε^r is at most ε, subject to δ ≥ 2 e^{−n e^{−ε₀}/16}, plus what δ₀ costs: (1 + e^ε)
    n (1 + e^{−ε₀}/2) δ₀.
    """

    clients: int
    local: LocalCurve

    @property
    def largest_loss(self) -> float:
        return self.local.pure

    def log_bound(self, epsilon: float) -> Interval:
        """The best (ε₀, δ₀) at ε."""
        own = self.local.pair.log_delta_bounds(epsilon)
        local, log_delta = self.local.points
        at = min(epsilon, _LARGEST)
        crowd = np.exp(local) / self.clients
        # Without any local loss the closed form says nothing; the local curve does.
        odds = np.divide(math.expm1(at), np.tanh(0.5 * local), where=local > 0.0, out=np.zeros_like(local))
        rest = odds - 8.0 * crowd
        rest = np.minimum(np.maximum(rest, 0.0), 1e100)
        least = np.maximum(math.log(4.0) - rest * rest / (64.0 * crowd), math.log(2.0) - 1.0 / (16.0 * crowd))
        charge = log_delta + math.log(self.clients) + np.log1p(0.5 * np.exp(-local)) + float(np.logaddexp(0.0, at))
        found = float(np.logaddexp(np.where(rest > 0.0, least, 0.0), charge).min())
        slack = 64 * UNIT_ROUNDOFF * (1.0 + abs(found))
        upper = min(found + slack, own.upper, 0.0)
        return Interval(min(found - slack, own.lower, upper), upper)

"""Shuffled reports of clients who draw among their records: both draws and the order amplify, for one record.

Here a report is the sum of K contributions, drawn from the n of its client without replacement, plus noise. One record
is replaced. Proofs: docs/shuffling.md, Batches.

The existing bounds of a shuffled round speak of a client's whole contribution, of norm at most K times a record's.
Whoever replaces a record moves one report by two records' norms only, but hides among reports that may be anything; so
the clone pair has the record's ε₀ for the victim, and the client's for how often another report is its clone.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import AmplifiedProfile, Share
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Gaussian, Subsampled
from epsilond.accountants.structure import drawn_level
from epsilond.accountants.theorem import Condition, Source, Status, Step, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import TRUSTED_SHUFFLER
from epsilond.accountants.theorems.sampling.batch_instances import opposite_contributions
from epsilond.accountants.theorems.sampling.subsampling import WITHOUT_REPLACEMENT
from epsilond.accountants.theorems.sampling.two_level import FRESH_SELECTION
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, estimated_clones
from epsilond.accountants.theorems.shuffling.local_guarantee import EVERY, LocalCurve, near
from epsilond.accountants.theorems.shuffling.planned_rows import TABLES_KEPT, Costs, Estimates, grid, in_cell, planned
from epsilond.accountants.theorems.shuffling.reports import HIDDEN_FROM, not_replaced
from epsilond.accountants.theorems.shuffling.statements import SAME_RANDOMIZER
from epsilond.accountants.theorems.shuffling.tails import ScaledBound, scaled_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import Shuffled
    from epsilond.accountants.theorems.shuffling.planned_rows import Rows, Table

_SOME, _ROUNDS, _BETWEEN = 4, 5, 96
"""Of points and of ε one in so many is looked at; then so often closer; and how many points that gives."""
_PROOF = "docs/shuffling.md, Batches"

FRESH_BATCHES = Condition(
    "fresh-batches", "in every round each client draws its batch afresh, and nobody else learns which records it holds"
)
BATCH_AMONG_CLONES = Theorem(
    id="epsilond.batch-among-clones",
    title="A record's batch, hidden among the reports of other clients",
    statement=(
        "Let one record move a report by (ε₀, δ₀), and let any two reports be (ε₁, δ₁). Shuffled reports on batches of "
        "K of n records: δ'(ε') = (K/n) δ(log(1 + (e^ε' − 1) n/K)), δ that of the clone pair with ε₀ for the victim "
        "and clones at probability e^−ε₁, plus (1 + e^ε)(sδ₀ + (m − 1) e^−ε₁ (sδ₀ + δ₁)), s = 1/(1 + e^ε₀)"
    ),
    source=Source("epsilond", _PROOF),
    status=Status.PROVED,
    conditions=(FRESH_BATCHES, SAME_RANDOMIZER, TRUSTED_SHUFFLER),
)
BOTH_DRAWS = Theorem(
    id="epsilond.shuffled-batches-of-clients",
    title="Drawing clients and then their records, with shuffled reports",
    statement=(
        "M of N clients draw K of their n records each and their reports are shuffled: for one record and whoever does "
        "not see who takes part, δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)) with q = MK/(Nn) and δ the profile of replacing "
        "one client's whole report among M"
    ),
    source=Source("epsilond", _PROOF),
    status=Status.PROVED,
    conditions=(FRESH_BATCHES, FRESH_SELECTION, TRUSTED_SHUFFLER),
)


@dataclass(frozen=True)
class BatchClonesBound(ScaledBound):
    """The clone pair of a victim with one local guarantee among reports with another, at the best points of both.

    Guarantees: a bound whichever points are chosen; the choice is by an estimate.
    """

    clients: int
    victim: LocalCurve
    others: LocalCurve
    coarse: bool = False
    _known: dict[tuple[int, int], ClonesBound] = field(default_factory=dict, repr=False, compare=False)

    @property
    def lossy(self) -> bool:
        """Of Gaussian reports."""
        return self.victim.pair.gaussian_dp_mu is not None

    def log_bound(self, epsilon: float) -> Interval:
        """Ends of the chosen pair's bound, or of the victim's local one where that is less."""
        own = self.victim.pair.log_delta_bounds(epsilon)
        found = self._clones(*self._best(epsilon)).log_bound(epsilon)
        upper = min(found.upper, own.upper)
        return Interval(min(found.lower, own.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """The chosen pair's quick bound, or the victim's local one where that may be less."""
        return self._upper_at(self._best(epsilon), epsilon)

    def upwards(self) -> Callable[[float], float]:
        """`upper` at rising ε, the best points sought among the neighbours of the last ones."""
        last: tuple[int, int] | None = None

        def upper(epsilon: float) -> float:
            nonlocal last
            rows, columns = self._grid[2].shape
            around = (EVERY, EVERY) if last is None else (near(last[0], rows), near(last[1], columns))
            last = self._best(epsilon, around)
            return self._upper_at(last, epsilon)

        return upper

    def rows(self) -> Rows:
        """Of the table of the cell that Gaussian guarantees lie in, or of one of its own."""
        victim, others = in_cell(self.victim.pair), in_cell(self.others.pair)
        made = _made if victim.gaussian_dp_mu and others.gaussian_dp_mu else _make
        points, table = made(self.clients, victim, others, self.coarse)
        return table.rows(self._costs(*points))

    def _costs(self, victim: FloatArray, other: FloatArray) -> Costs:
        """What choices of ε₀ and ε₁ cost."""
        log_delta, log_other = (
            part.log_delta(at).upper for part, at in ((self.victim.pair, victim), (self.others.pair, other))
        )
        distance = np.asarray(self._distance(victim, log_delta, other, log_other))
        return Costs(distance, lambda epsilon: self.victim.pair.log_delta(epsilon).upper)

    def planned(self) -> tuple[tuple[FloatArray, FloatArray], Table]:
        """A table, and ε₀ and ε₁ of its choices: between points that are known, near the best at some of the ε."""
        scale = math.exp(float(self._estimated(0.0, *self._points()).min()))
        epsilon = grid(scale, float(self.victim.points[0][-1]))
        victim, other = self._path(epsilon)
        costs = self._costs(victim, other)
        main = estimated_clones(epsilon[:, None], victim, -other, self.clients)
        estimates = np.asarray(np.logaddexp(main, costs.log_distance + np.logaddexp(0.0, epsilon)[:, None]))
        made: dict[int, ClonesBound] = {}

        def pairs(choice: int, at: FloatArray) -> FloatArray:
            if choice not in made:
                made[choice] = ClonesBound(self.clients, math.exp(-float(other[choice])), float(victim[choice]))
            return made[choice].uppers(at)

        known = Estimates(epsilon, estimates, self.victim.estimated(epsilon))
        used, table = planned(known, pairs, costs, coarse=self.coarse).of_choices()
        return (victim[used], other[used]), table

    def _path(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ε₀ and ε₁ that are about best at some of the ε, and some between these."""
        some = epsilon[::_SOME]
        points = tuple(part[::_SOME, :] if part.shape[0] > 1 else part[:, ::_SOME] for part in self._points())
        rough = self._estimated(some[:, None, None], *points)
        rows, columns = np.unravel_index(np.argmin(rough.reshape(some.size, -1), axis=1), rough.shape[1:])
        place = [np.log(points[0][rows, 0]), np.log(points[2][0, columns])]
        curves = [self.victim, self.others]
        reach = [
            _SOME * math.log(curve.points[0][-1] / curve.points[0][0]) / max(curve.points[0].size - 1, 1)
            for curve in curves
        ]
        for _ in range(_ROUNDS):
            steps = [
                (each[:, None] + width * np.asarray([-1.0, -0.5, 0.0, 0.5, 1.0]))
                for each, width in zip(place, reach, strict=True)
            ]
            near = [
                np.clip(np.exp(each), curve.points[0][0], curve.points[0][-1])
                for each, curve in zip(steps, curves, strict=True)
            ]
            logs = [curve.estimated(each) for curve, each in zip(curves, near, strict=True)]
            found = self._estimated(
                some[:, None, None], near[0][:, :, None], logs[0][:, :, None], near[1][:, None, :], logs[1][:, None, :]
            ).reshape(some.size, -1)
            best = np.divmod(np.argmin(found, axis=1), 5)
            place = [np.log(each[np.arange(some.size), at]) for each, at in zip(near, best, strict=True)]
            reach = [0.5 * width for width in reach]
        between = np.linspace(0.0, some.size - 1.0, _BETWEEN)
        victim, other = (np.exp(np.interp(between, np.arange(some.size), each)) for each in place)
        return victim, other

    def _estimated(
        self,
        epsilon: FloatArray | float,
        victim: FloatArray,
        log_delta: FloatArray,
        other: FloatArray,
        log_other: FloatArray,
    ) -> FloatArray:
        """About log δ by the clone pairs at some points."""
        main = estimated_clones(epsilon, victim, -other, self.clients)
        charge = self._distance(victim, log_delta, other, log_other) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(main, charge))

    def _upper_at(self, place: tuple[int, int], epsilon: float) -> float:
        found = self._clones(*place).upper(epsilon)
        if self.victim.no_less_at(epsilon) > found:
            return found
        return min(found, self.victim.pair.log_delta_bounds(epsilon).upper)

    def _distance(
        self, victim: FloatArray, log_delta: FloatArray, other: FloatArray, log_other: FloatArray
    ) -> FloatArray:
        """log of sδ₀ + (m − 1) e^−ε₁ (sδ₀ + δ₁), rounded up."""
        own = log_delta - np.logaddexp(0.0, victim)
        crowd = math.log(max(self.clients - 1, 1)) - other + np.logaddexp(own, log_other)
        total = np.logaddexp(own, crowd)
        return total + 64 * UNIT_ROUNDOFF * (1.0 + np.abs(total))

    def _points(self) -> tuple[FloatArray, ...]:
        victim, log_delta = (part[:, None] for part in self.victim.points)
        other, log_other = (part[None, :] for part in self.others.points)
        return victim, log_delta, other, log_other

    def _best(self, epsilon: float, among: tuple[slice, slice] = (EVERY, EVERY)) -> tuple[int, int]:
        """The points that look best, by the normal law that the clones' loss is near."""
        rows, columns = among
        victim, log_share, distance = (part[rows, columns] for part in self._grid)
        main = estimated_clones(epsilon, victim, log_share, self.clients)
        place = int(np.argmin(np.logaddexp(main, distance + np.logaddexp(0.0, epsilon))))
        row, column = divmod(place, distance.shape[1])
        return row + (rows.start or 0), column + (columns.start or 0)

    @cached_property
    def _grid(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ε₀, how often another report is a clone, and the log distance, over the points of both guarantees."""
        victim, log_delta, other, log_other = self._points()
        victim, log_share = np.broadcast_arrays(victim, -other)
        return victim, log_share, self._distance(victim, log_delta, other, log_other)

    def _clones(self, row: int, column: int) -> ClonesBound:
        if (row, column) not in self._known:
            victim, log_delta, other, log_other = self._points()
            self._known[row, column] = self._clones_of(
                float(victim[row, 0]), float(log_delta[row, 0]), float(other[0, column]), float(log_other[0, column])
            )
        return self._known[row, column]

    def _clones_of(self, victim: float, log_delta: float, other: float, log_other: float) -> ClonesBound:
        points = (np.asarray(each) for each in (victim, log_delta, other, log_other))
        return ClonesBound(self.clients, math.exp(-other), victim, float(self._distance(*points)))


def _make(clients: int, victim: Pair, others: Pair, coarse: bool) -> tuple[tuple[FloatArray, FloatArray], Table]:
    return BatchClonesBound(clients, LocalCurve(victim), LocalCurve(others), coarse).planned()


_made = functools.lru_cache(TABLES_KEPT)(_make)


def _batch(theorem: Theorem, spec: Shuffled, case: Case) -> tuple[Subsampled, Gaussian] | Refusal:
    """The draw of a client among its records, and the release on what it drew."""
    if refusal := not_replaced(theorem, case):
        return refusal
    if case.setting.unit != "record":
        return Refusal(theorem, "a client is protected, not one of its records")
    if case.setting.observer not in HIDDEN_FROM:
        return Refusal(theorem, f"the observer {case.setting.observer} knows senders, and order hides nothing")
    draw = spec.mechanism
    if not isinstance(draw, Subsampled) or drawn_level(draw, "record") != "records":
        return Refusal(theorem, "clients do not draw among their records")
    if draw.sampling != "without-replacement" or draw.batch_size is None:
        return Refusal(theorem, "batches are not a fixed number of records drawn without replacement")
    if not isinstance(draw.mechanism, Gaussian):
        return Refusal(theorem, "a report is not a single Gaussian release")
    return draw, draw.mechanism


def _whole_report(draw: Subsampled, release: Gaussian) -> Gaussian:
    """The release as one of a client's whole contribution, of K times the norm; the noise multiplier rounded down."""
    return Gaussian(noise_multiplier=release.noise_multiplier / (draw.batch_size or 1) * (1.0 - 4 * UNIT_ROUNDOFF))


def batch_among_clones(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """The client takes part for certain; its draw among its records amplifies."""
    found = _batch(BATCH_AMONG_CLONES, spec, case)
    if isinstance(found, Refusal):
        return found
    if spec.clients == 1:
        return Refusal(BATCH_AMONG_CLONES, "there is no other report to hide among")
    draw, release = found
    one = case.account(release, case.setting)
    whole = case.account(_whole_report(draw, release), case.setting)
    bound = BatchClonesBound(
        spec.clients, LocalCurve(one.curve.upper), LocalCurve(whole.curve.upper), case.effort == "coarse"
    )
    inner = scaled_pair(bound)
    step = BATCH_AMONG_CLONES.because(
        WITHOUT_REPLACEMENT.because(rate=draw.inclusion_probability),
        one.derivation,
        whole.derivation,
        clients=spec.clients,
        batch_size=draw.batch_size,
        population=draw.population,
    )
    rate = draw.inclusion_probability
    seen = _instances(spec.clients, release, rate, case.setting)
    declared = tuple(dict.fromkeys((*one.declared, FRESH_BATCHES, SAME_RANDOMIZER, TRUSTED_SHUFFLER)))
    return _amplified(inner, rate, seen, step, case.setting, declared)


def both_draws(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Nobody sees whether the client takes part: both draws amplify, and the whole report is what may change."""
    shuffled = spec.mechanism
    if shuffled.kind != "shuffled" or drawn_level(spec, "record") != "clients":
        return Refusal(BOTH_DRAWS, "it is not clients that are drawn and then shuffled")
    found = _batch(BOTH_DRAWS, shuffled, case)
    if isinstance(found, Refusal):
        return found
    if spec.sampling != "without-replacement":
        return Refusal(BOTH_DRAWS, f"clients are drawn by {spec.sampling} sampling")
    draw, release = found
    whole = type(shuffled)(
        clients=shuffled.clients, dimension=shuffled.dimension, mechanism=_whole_report(draw, release)
    )
    clients = Setting(relation="replace-one", unit="client", observer=case.setting.observer)
    inner = case.account(whole, clients)
    rate = spec.inclusion_probability * draw.inclusion_probability
    step = BOTH_DRAWS.because(WITHOUT_REPLACEMENT.because(rate=rate), inner.derivation, rate=rate)
    declared = tuple(dict.fromkeys((*inner.declared, FRESH_BATCHES, FRESH_SELECTION)))
    seen = _instances(shuffled.clients, release, rate, case.setting)
    return _amplified(inner.curve.upper, rate, seen, step, case.setting, declared)


def _amplified(
    inner: Pair, rate: float, witnesses: tuple[Pair, ...], step: Step, setting: Setting, declared: tuple[Condition, ...]
) -> Guarantee:
    """The amplified profile in both orders; the rate is rounded up by its product's error."""
    profile = AmplifiedProfile(inner.forward, min(rate * (1.0 + 4 * UNIT_ROUNDOFF), 1.0)) if rate < 1.0 else None
    curve = Curve(inner if profile is None else Pair(profile, profile), witnesses)
    return Guarantee(setting=setting, curve=curve, derivation=step, declared=declared)


def _instances(reports: int, release: Gaussian, rate: float, setting: Setting) -> tuple[Pair, ...]:
    """The sum of the reports, all records but one at zero and that one at either end: the lower end.

    Noise is rounded up and the rate down, so that it tells no more than the sum does.
    """
    if setting.observer != "shuffled-server":
        return ()
    noise = release.noise_multiplier * math.sqrt(reports) * (1.0 + 4 * UNIT_ROUNDOFF)
    if rate >= 1.0:
        return (gaussian_pair(2.0 / noise),)
    return opposite_contributions(Gaussian(noise_multiplier=noise), Share.at(rate * (1.0 - 4 * UNIT_ROUNDOFF)))


THEOREMS: tuple[Theorem, ...] = (BATCH_AMONG_CLONES, BOTH_DRAWS)
RULES: tuple[Rule, ...] = (
    Rule(BOTH_DRAWS, "subsampled", both_draws, combines=True),
    Rule(BATCH_AMONG_CLONES, "shuffled", batch_among_clones, combines=True),
)

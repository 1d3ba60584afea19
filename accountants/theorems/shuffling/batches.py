"""Shuffled reports of clients that sample their records: sampling and shuffling both amplify the privacy of one record.

Here a report is the sum of K contributions, sampled from the client's n records without replacement, plus noise. One
record is replaced. Proofs: docs/shuffling.md, Batches.

The other bounds of a shuffled round concern a client's whole contribution, with a norm of at most K times that of a
record. Replacing a record moves one report by at most two records' norms, but the other reports may be arbitrary. So
the clone pair has the record's ε₀ for the victim, and the client's ε₁ for the probability that another report is its
clone.
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
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, estimate_clones
from epsilond.accountants.theorems.shuffling.local_guarantee import EVERY, OFFSETS, LocalCurve, neighbourhood
from epsilond.accountants.theorems.shuffling.planned_rows import (
    TABLES_KEPT,
    Costs,
    Estimates,
    cell_representative,
    epsilon_grid,
    plan_table,
)
from epsilond.accountants.theorems.shuffling.reports import HIDDEN_FROM, not_replaced
from epsilond.accountants.theorems.shuffling.statements import SAME_RANDOMIZER
from epsilond.accountants.theorems.shuffling.tails import ScaledBound, scaled_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import Shuffled
    from epsilond.accountants.theorems.shuffling.planned_rows import Rows, Table

_STRIDE, _ROUNDS, _INTERPOLATED = 4, 5, 96
"""Stride in points and in ε of the first scan, number of refinements, and number of interpolated points."""
_PROOF = "docs/shuffling.md, Batches"

FRESH_BATCHES = Condition(
    "fresh-batches",
    "in every round each client draws its batch afresh, and only this client learns which records it holds",
)
BATCH_AMONG_CLONES = Theorem(
    id="epsilond.batch-among-clones",
    title="A record's batch, hidden among the reports of other clients",
    statement=(
        "Let one record move a report by (ε₀, δ₀), and let any two reports be (ε₁, δ₁). Shuffled reports on "
        "batches of K of n records have δ'(ε') = (K/n) δ(log(1 + (e^ε' − 1) n/K)). Here δ is that of a clone "
        "pair, plus (1 + e^ε)(sδ₀ + (m − 1) e^−ε₁ (sδ₀ + δ₁)). The clone pair has ε₀ for the victim and clones "
        "at probability e^−ε₁. The share is s = 1/(1 + e^ε₀)"
    ),
    source=Source("epsilond", _PROOF),
    status=Status.PROVED,
    conditions=(FRESH_BATCHES, SAME_RANDOMIZER, TRUSTED_SHUFFLER),
)
BOTH_DRAWS = Theorem(
    id="epsilond.shuffled-batches-of-clients",
    title="Drawing clients and then their records, with shuffled reports",
    statement=(
        "M of N clients draw K of their n records each, and their reports are shuffled. The observer does not "
        "see who takes part. For one record, δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)) with q = MK/(Nn). Here δ is "
        "the profile of replacing one client's whole report among M"
    ),
    source=Source("epsilond", _PROOF),
    status=Status.PROVED,
    conditions=(FRESH_BATCHES, FRESH_SELECTION, TRUSTED_SHUFFLER),
)


@dataclass(frozen=True)
class BatchClonesBound(ScaledBound):
    """The best clone pair (see `clones`) for a victim with one local guarantee among clients with another one.

    The record of the victim changes. A local guarantee is a curve of points (ε₀, δ₀) of a single report.

    Attributes:
        clients: number of clients, the victim included.
        victim: local guarantee of one record.
        crowd_curve: local guarantee of a client's whole contribution.
        coarse: whether tables have fewer rows, for a search.

    Guarantees: a valid bound for every choice of points; the choice is by an estimate.
    """

    clients: int
    victim: LocalCurve
    crowd_curve: LocalCurve
    coarse: bool = False
    _clone_bounds: dict[tuple[int, int], ClonesBound] = field(default_factory=dict, repr=False, compare=False)

    @property
    def lossy(self) -> bool:
        """True for Gaussian reports, which have δ > 0 at ε = 0."""
        return self.victim.pair.gaussian_dp_mu is not None

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose log δ of the clone pair that seems best at ε, or of the victim's local guarantee if that is lower."""
        local = self.victim.pair.log_delta_bounds(epsilon)
        clones = self._clones(*self._best(epsilon)).log_bound(epsilon)
        upper = min(clones.upper, local.upper)
        return Interval(min(clones.lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return a cheap upper bound on log δ, from the clone pair that seems best at ε and the local guarantee."""
        return self._upper_at(self._best(epsilon), epsilon)

    def sequential_upper(self) -> Callable[[float], float]:
        """Return a form of `upper` for calls with increasing ε; it searches near the best points of the last call."""
        last: tuple[int, int] | None = None

        def upper(epsilon: float) -> float:
            nonlocal last
            rows, columns = self._grid[2].shape
            if last is None:
                last = self._best(epsilon)
            else:
                last = self._best(epsilon, (neighbourhood(last[0], rows), neighbourhood(last[1], columns)))
            return self._upper_at(last, epsilon)

        return upper

    def rows(self) -> Rows:
        """Return the rows of the table of the Gaussian guarantees' cell, or of a table for these guarantees only."""
        victim, crowd = cell_representative(self.victim.pair), cell_representative(self.crowd_curve.pair)
        make = _stored_table if victim.gaussian_dp_mu and crowd.gaussian_dp_mu else _make_table
        points, table = make(self.clients, victim, crowd, self.coarse)
        return table.rows(self._costs(*points))

    def _costs(self, victim: FloatArray, crowd: FloatArray) -> Costs:
        """Return the charges of some choices of ε₀ and ε₁."""
        log_delta = self.victim.pair.log_delta(victim).upper
        log_crowd = self.crowd_curve.pair.log_delta(crowd).upper
        distance = self._distance(victim, log_delta, crowd, log_crowd)
        return Costs(np.asarray(distance), lambda epsilon: self.victim.pair.log_delta(epsilon).upper)

    def plan(self) -> tuple[tuple[FloatArray, FloatArray], Table]:
        """Return values of ε₀ (victim) and ε₁ (other clients), and a table of bounds by the clone pairs at these."""
        scale = math.exp(float(self._estimate(0.0, *self._points()).min()))
        epsilon = epsilon_grid(scale, float(self.victim.points[0][-1]))
        victim, crowd = self._path(epsilon)
        costs = self._costs(victim, crowd)
        main = estimate_clones(epsilon[:, None], victim, -crowd, self.clients)
        log_deltas = np.asarray(np.logaddexp(main, costs.log_distance + np.logaddexp(0.0, epsilon)[:, None]))
        clone_bounds: dict[int, ClonesBound] = {}

        def upper_bounds(choice: int, at: FloatArray) -> FloatArray:
            if choice not in clone_bounds:
                clone_bounds[choice] = ClonesBound(self.clients, math.exp(-float(crowd[choice])), float(victim[choice]))
            return clone_bounds[choice].upper_bounds(at)

        estimates = Estimates(epsilon, log_deltas, self.victim.estimate(epsilon))
        used, table = plan_table(estimates, upper_bounds, costs, coarse=self.coarse).compact()
        return (victim[used], crowd[used]), table

    def _path(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values of ε₀ and ε₁ of which a pair is nearly the best at each ε, by interpolation of best pairs."""
        subset = epsilon[::_STRIDE]
        best = self._scan(subset)
        reach = [_STRIDE * curve.log_step for curve in (self.victim, self.crowd_curve)]
        for _ in range(_ROUNDS):
            best = self._refine(subset, best, reach)
            reach = [0.5 * width for width in reach]
        places = np.arange(subset.size)
        between = np.linspace(0.0, subset.size - 1.0, _INTERPOLATED)
        victim, crowd = (np.exp(np.interp(between, places, logs)) for logs in best)
        return victim, crowd

    def _scan(self, epsilon: FloatArray) -> list[FloatArray]:
        """Return log ε₀ and log ε₁ that are best at each ε, among every fourth point of each guarantee."""
        victim, log_delta, crowd, log_crowd = self._points()
        victim, log_delta = victim[::_STRIDE], log_delta[::_STRIDE]
        crowd, log_crowd = crowd[:, ::_STRIDE], log_crowd[:, ::_STRIDE]
        estimates = self._estimate(epsilon[:, None, None], victim, log_delta, crowd, log_crowd)
        rows, columns = np.unravel_index(np.argmin(estimates.reshape(epsilon.size, -1), axis=1), estimates.shape[1:])
        return [np.log(victim[rows, 0]), np.log(crowd[0, columns])]

    def _refine(self, epsilon: FloatArray, logs: list[FloatArray], reach: list[float]) -> list[FloatArray]:
        """Return log ε₀ and log ε₁ that are best at each ε, among five of each around the given ones."""
        victim = self.victim.spread_points(logs[0], reach[0])
        crowd = self.crowd_curve.spread_points(logs[1], reach[1])
        log_delta, log_crowd = self.victim.estimate(victim), self.crowd_curve.estimate(crowd)
        rows_of_victim = (victim[:, :, None], log_delta[:, :, None])
        columns_of_crowd = (crowd[:, None, :], log_crowd[:, None, :])
        estimates = self._estimate(epsilon[:, None, None], *rows_of_victim, *columns_of_crowd)
        rows, columns = np.divmod(np.argmin(estimates.reshape(epsilon.size, -1), axis=1), OFFSETS.size)
        places = np.arange(epsilon.size)
        return [np.log(victim[places, rows]), np.log(crowd[places, columns])]

    def _estimate(
        self,
        epsilon: FloatArray | float,
        victim: FloatArray,
        log_delta: FloatArray,
        crowd: FloatArray,
        log_crowd: FloatArray,
    ) -> FloatArray:
        """Estimate log δ of clone pairs for a victim of (ε₀, δ₀) among clients of (ε₁, δ₁), with ε₁ = `crowd`."""
        main = estimate_clones(epsilon, victim, -crowd, self.clients)
        charge = self._distance(victim, log_delta, crowd, log_crowd) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(main, charge))

    def _upper_at(self, place: tuple[int, int], epsilon: float) -> float:
        """Return the lower of two bounds of log δ: that of the clone pair at `place` and the local one."""
        bound = self._clones(*place).upper(epsilon)
        if self.victim.rough_lower_bound(epsilon) > bound:
            return bound
        return min(bound, self.victim.pair.log_delta_bounds(epsilon).upper)

    def _distance(
        self, victim: FloatArray, log_delta: FloatArray, crowd: FloatArray, log_crowd: FloatArray
    ) -> FloatArray:
        """Return log of sδ₀ + (m − 1) e^−ε₁ (sδ₀ + δ₁), rounded up, with s = 1/(1 + e^ε₀) and m clients."""
        own = log_delta - np.logaddexp(0.0, victim)
        crowd_distance = math.log(max(self.clients - 1, 1)) - crowd + np.logaddexp(own, log_crowd)
        total = np.logaddexp(own, crowd_distance)
        return total + 64 * UNIT_ROUNDOFF * (1.0 + np.abs(total))

    def _points(self) -> tuple[FloatArray, ...]:
        """Return ε₀ and log δ₀ as columns, ε₁ and log δ₁ as rows."""
        victim, log_delta = (part[:, None] for part in self.victim.points)
        crowd, log_crowd = (part[None, :] for part in self.crowd_curve.points)
        return victim, log_delta, crowd, log_crowd

    def _best(self, epsilon: float, among: tuple[slice, slice] = (EVERY, EVERY)) -> tuple[int, int]:
        """Return the indices of the points (ε₀, δ₀) and (ε₁, δ₁), in two slices, with the least estimate at ε."""
        rows, columns = among
        victim, log_share, distance = (part[rows, columns] for part in self._grid)
        main = estimate_clones(epsilon, victim, log_share, self.clients)
        place = int(np.argmin(np.logaddexp(main, distance + np.logaddexp(0.0, epsilon))))
        row, column = divmod(place, distance.shape[1])
        return row + (rows.start or 0), column + (columns.start or 0)

    @cached_property
    def _grid(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ε₀, log probability that another report is a clone, and log distance, over the points of both guarantees."""
        victim, log_delta, crowd, log_crowd = self._points()
        victim, log_share = np.broadcast_arrays(victim, -crowd)
        return victim, log_share, self._distance(victim, log_delta, crowd, log_crowd)

    def _clones(self, row: int, column: int) -> ClonesBound:
        """Return the bound by the clone pair of two points, given by their indices; it is made once and stored."""
        if (row, column) not in self._clone_bounds:
            victim, log_delta, crowd, log_crowd = self._points()
            self._clone_bounds[row, column] = self._clones_of(
                float(victim[row, 0]), float(log_delta[row, 0]), float(crowd[0, column]), float(log_crowd[0, column])
            )
        return self._clone_bounds[row, column]

    def _clones_of(self, victim: float, log_delta: float, crowd: float, log_crowd: float) -> ClonesBound:
        """Return the clone bound of two points, with the charge for its distance."""
        points = (np.asarray(value) for value in (victim, log_delta, crowd, log_crowd))
        return ClonesBound(self.clients, math.exp(-crowd), victim, float(self._distance(*points)))


def _make_table(clients: int, victim: Pair, crowd: Pair, coarse: bool) -> tuple[tuple[FloatArray, FloatArray], Table]:
    """Return ε₀ and ε₁ of the choices, and the table of two guarantees."""
    return BatchClonesBound(clients, LocalCurve(victim), LocalCurve(crowd), coarse).plan()


_stored_table = functools.lru_cache(TABLES_KEPT)(_make_table)


def _find_batch(theorem: Theorem, spec: Shuffled, case: Case) -> tuple[Subsampled, Gaussian] | Refusal:
    """Return a client's sampling of its records and the Gaussian release on the sample; a refusal for other specs."""
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


def _client_release(draw: Subsampled, release: Gaussian) -> Gaussian:
    """Return the release for a client's whole contribution, of K times the norm, with the noise rounded down."""
    return Gaussian(noise_multiplier=release.noise_multiplier / (draw.batch_size or 1) * (1.0 - 4 * UNIT_ROUNDOFF))


def batch_among_clones(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee for one record of a client that always takes part and samples its records, or a refusal."""
    batch = _find_batch(BATCH_AMONG_CLONES, spec, case)
    if isinstance(batch, Refusal):
        return batch
    if spec.clients == 1:
        return Refusal(BATCH_AMONG_CLONES, "there is no other report to hide among")
    sampling, release = batch
    record = case.account(release, case.setting)
    client = case.account(_client_release(sampling, release), case.setting)
    bound = BatchClonesBound(
        spec.clients, LocalCurve(record.curve.upper), LocalCurve(client.curve.upper), case.effort == "coarse"
    )
    step = BATCH_AMONG_CLONES.because(
        WITHOUT_REPLACEMENT.because(rate=sampling.inclusion_probability),
        record.derivation,
        client.derivation,
        clients=spec.clients,
        batch_size=sampling.batch_size,
        population=sampling.population,
    )
    rate = sampling.inclusion_probability
    attained = _attained_pairs(spec.clients, release, rate, case.setting)
    declared = tuple(dict.fromkeys((*record.declared, FRESH_BATCHES, SAME_RANDOMIZER, TRUSTED_SHUFFLER)))
    return _amplify(scaled_pair(bound), rate, attained, step, case.setting, declared)


def both_draws(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee for one record if clients, and then their records, are sampled secretly; or a refusal."""
    shuffled = spec.mechanism
    if shuffled.kind != "shuffled" or drawn_level(spec, "record") != "clients":
        return Refusal(BOTH_DRAWS, "it is not clients that are drawn and then shuffled")
    batch = _find_batch(BOTH_DRAWS, shuffled, case)
    if isinstance(batch, Refusal):
        return batch
    if spec.sampling != "without-replacement":
        return Refusal(BOTH_DRAWS, f"clients are drawn by {spec.sampling} sampling")
    sampling, release = batch
    whole_contributions = type(shuffled)(
        clients=shuffled.clients, dimension=shuffled.dimension, mechanism=_client_release(sampling, release)
    )
    clients = Setting(relation="replace-one", unit="client", observer=case.setting.observer)
    inner = case.account(whole_contributions, clients)
    rate = spec.inclusion_probability * sampling.inclusion_probability
    step = BOTH_DRAWS.because(WITHOUT_REPLACEMENT.because(rate=rate), inner.derivation, rate=rate)
    declared = tuple(dict.fromkeys((*inner.declared, FRESH_BATCHES, FRESH_SELECTION)))
    attained = _attained_pairs(shuffled.clients, release, rate, case.setting)
    return _amplify(inner.curve.upper, rate, attained, step, case.setting, declared)


def _amplify(
    inner: Pair, rate: float, witnesses: tuple[Pair, ...], step: Step, setting: Setting, declared: tuple[Condition, ...]
) -> Guarantee:
    """Return the guarantee amplified by sampling, δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)), in both directions.

    Args:
        inner: pair that dominates the release on a sample that includes the record; its forward profile is δ.
        rate: probability q that the record is in the sample. The pair is unchanged at q = 1.
        witnesses: pairs that the sampled release attains, for lower bounds.
        step: derivation of the guarantee.
        setting: relation, unit and observer of the guarantee.
        declared: conditions that the caller declares.
    """
    amplified = inner
    if rate < 1.0:
        rounded_up = min(rate * (1.0 + 4 * UNIT_ROUNDOFF), 1.0)  # q is a product of rounded factors
        profile = AmplifiedProfile(inner.forward, rounded_up)
        amplified = Pair(profile, profile)
    curve = Curve(amplified, witnesses)
    return Guarantee(setting=setting, curve=curve, derivation=step, declared=declared)


def _attained_pairs(reports: int, release: Gaussian, rate: float, setting: Setting) -> tuple[Pair, ...]:
    """Return a pair that neighbours attain: the sum of all reports, for a record of C or −C and all others zero.

    The noise is rounded up and the rate down, for lower bounds. No pair if the observer does not see all reports.
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

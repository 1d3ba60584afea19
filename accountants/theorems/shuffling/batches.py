"""Shuffled reports of clients that sample their records: sampling and shuffling both amplify the privacy of one record.

Here a report is the sum of K contributions, sampled from the client's n records without replacement, plus noise. One
record is replaced. Proofs: docs/shuffling.md, Batches.

The bound for clients that always take part is in `batch_clones`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import AmplifiedProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Gaussian, Subsampled
from epsilond.accountants.structure import drawn_level
from epsilond.accountants.theorem import Condition, Source, Status, Step, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import TRUSTED_SHUFFLER
from epsilond.accountants.theorems.sampling.batch_instances import opposite_contributions
from epsilond.accountants.theorems.sampling.subsampling import WITHOUT_REPLACEMENT
from epsilond.accountants.theorems.sampling.two_level import FRESH_SELECTION
from epsilond.accountants.theorems.shuffling.batch_clones import BatchClonesBound
from epsilond.accountants.theorems.shuffling.local_curve import LocalCurve
from epsilond.accountants.theorems.shuffling.reports import HIDDEN_FROM, reject_other_relation
from epsilond.accountants.theorems.shuffling.statements import SAME_RANDOMIZER
from epsilond.accountants.theorems.shuffling.tails import scaled_pair

if TYPE_CHECKING:
    from epsilond.accountants.specs import Shuffled

_PROOF = "docs/shuffling.md, Batches"

FRESH_BATCHES = Condition(
    "fresh-batches",
    "in every round each client draws its batch afresh, and only this client learns which records are in the batch",
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


def _find_batch(theorem: Theorem, spec: Shuffled, case: Case) -> tuple[Subsampled, Gaussian] | Refusal:
    """Return a client's sampling of its records and the Gaussian release on the sample, or a refusal.

    A refusal states why a theorem does not apply.

    Args:
        theorem: the theorem that the refusal names.
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The sampling and the release on its batch; the first refusal if a condition fails.
    """
    # First the request: relation, unit and observer. Then the mechanism: its sampling and its report.
    if refusal := reject_other_relation(theorem, case):
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
    """Return the Gaussian release for a client's whole contribution, which has K times the norm of a record's.

    Args:
        draw: the client's sampling, with K records in a batch.
        release: Gaussian release with the noise multiplier for one record.

    Returns:
        The release with a noise multiplier 1/K times as large, rounded down.
    """
    rounding = 1.0 - 4 * UNIT_ROUNDOFF  # exceeds the relative error of the quotient
    records_in_batch = draw.batch_size or 1
    return Gaussian(noise_multiplier=release.noise_multiplier / records_in_batch * rounding)


def batch_among_clones(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee for one record of a client that sends a shuffled report on sampled records; or a refusal.

    The client always takes part. Its report hides among reports of other clients that may have the same distribution,
    the clones. Sampling then amplifies the guarantee.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee; or a refusal, which states why the theorem does not apply, for a single client and for other
        mechanisms, relations, units and observers.
    """
    batch = _find_batch(BATCH_AMONG_CLONES, spec, case)
    if isinstance(batch, Refusal):
        return batch
    if spec.clients == 1:
        return Refusal(BATCH_AMONG_CLONES, "there is no other report to hide among")
    sampling, release = batch
    rate = sampling.inclusion_probability

    # The guarantees of a single report: for one record, and for a client's whole contribution.
    record = case.account(release, case.setting)
    client = case.account(_client_release(sampling, release), case.setting)
    bound = BatchClonesBound(
        clients=spec.clients,
        victim=LocalCurve(record.curve.upper),
        crowd_curve=LocalCurve(client.curve.upper),
        coarse=case.effort == "coarse",
    )

    step = BATCH_AMONG_CLONES.because(
        WITHOUT_REPLACEMENT.because(rate=rate),
        record.derivation,
        client.derivation,
        clients=spec.clients,
        batch_size=sampling.batch_size,
        population=sampling.population,
    )
    attained = _attained_pairs(spec.clients, release, rate, case.setting)
    declared = tuple(dict.fromkeys((*record.declared, FRESH_BATCHES, SAME_RANDOMIZER, TRUSTED_SHUFFLER)))
    return _amplify(scaled_pair(bound), rate, attained, step, case.setting, declared)


def both_draws(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee for one record if clients, and then their records, are sampled secretly; or a refusal.

    It is the guarantee for replacing a client's whole report, amplified by the probability that the record is in a
    batch.

    Args:
        spec: specification of the draw of clients, with a shuffled mechanism inside.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee; or a refusal, which states why the theorem does not apply, for other mechanisms, relations, units
        and observers.
    """
    shuffled = spec.mechanism
    if shuffled.kind != "shuffled" or drawn_level(spec, "record") != "clients":
        return Refusal(BOTH_DRAWS, "it is not clients that are drawn and then shuffled")
    batch = _find_batch(BOTH_DRAWS, shuffled, case)
    if isinstance(batch, Refusal):
        return batch
    if spec.sampling != "without-replacement":
        return Refusal(BOTH_DRAWS, f"clients are drawn by {spec.sampling} sampling")
    sampling, release = batch
    shuffled_contributions = type(shuffled)(
        clients=shuffled.clients, dimension=shuffled.dimension, mechanism=_client_release(sampling, release)
    )
    clients = Setting(relation="replace-one", unit="client", observer=case.setting.observer)
    inner = case.account(shuffled_contributions, clients)
    # The record is in a batch if its client is drawn, and then the record itself.
    rate = spec.inclusion_probability * sampling.inclusion_probability
    step = BOTH_DRAWS.because(WITHOUT_REPLACEMENT.because(rate=rate), inner.derivation, rate=rate)
    declared = tuple(dict.fromkeys((*inner.declared, FRESH_BATCHES, FRESH_SELECTION)))
    attained = _attained_pairs(shuffled.clients, release, rate, case.setting)
    return _amplify(inner.curve.upper, rate, attained, step, case.setting, declared)


def _amplify(
    inner: Pair, rate: float, witnesses: tuple[Pair, ...], step: Step, setting: Setting, declared: tuple[Condition, ...]
) -> Guarantee:
    """Return a guarantee amplified by sampling without replacement, in both directions.

    For the privacy profile δ of the release on a sample with the record, and the sampling rate q, the profile is:

        δ'(ε) = q δ(log(1 + (e^ε − 1)/q)).

    Args:
        inner: dominating pair of the release on a sample with the record. Its forward profile is δ.
        rate: probability q that the record is in the sample. The pair is unchanged at q = 1.
        witnesses: pairs that the sampled release attains, for lower bounds.
        step: derivation of the guarantee.
        setting: relation, unit and observer of the guarantee.
        declared: conditions that the caller declares.

    Returns:
        The guarantee with its upper bound by the amplified pair, and lower bounds by the attained pairs.
    """
    amplified = inner
    if rate < 1.0:
        # q is a product of rounded factors. It is rounded up, because the profile increases with q.
        rounded_up = min(rate * (1.0 + 4 * UNIT_ROUNDOFF), 1.0)
        profile = AmplifiedProfile(inner.forward, rounded_up)
        amplified = Pair(profile, profile)
    curve = Curve(amplified, witnesses)
    return Guarantee(setting=setting, curve=curve, derivation=step, declared=declared)


def _attained_pairs(reports: int, release: Gaussian, rate: float, setting: Setting) -> tuple[Pair, ...]:
    """Return the distributions of the sum of all shuffled Gaussian reports on two neighbours, for lower bounds on δ.

    The contribution of one record is C or −C, and all other contributions are zero. The sum is a post-processing of the
    reports, so its δ is not larger. The noise is rounded up and the rate down, which lowers δ further.

    Args:
        reports: number of reports.
        release: Gaussian release of a client.
        rate: probability that the record is in a report.
        setting: relation, unit and observer of the guarantee.

    Returns:
        One pair of distributions on neighbours, or none if the observer does not see all reports.
    """
    if setting.observer != "shuffled-server":
        return ()
    noise = release.noise_multiplier * math.sqrt(reports) * (1.0 + 4 * UNIT_ROUNDOFF)  # of the sum, rounded up
    if rate >= 1.0:
        return (gaussian_pair(2.0 / noise),)
    return opposite_contributions(Gaussian(noise_multiplier=noise), Share.at(rate * (1.0 - 4 * UNIT_ROUNDOFF)))


THEOREMS: tuple[Theorem, ...] = (BATCH_AMONG_CLONES, BOTH_DRAWS)
RULES: tuple[Rule, ...] = (
    Rule(BOTH_DRAWS, "subsampled", both_draws, combines=True),
    Rule(BATCH_AMONG_CLONES, "shuffled", batch_among_clones, combines=True),
)

"""Clients who then draw among their own records: what each of the two draws is worth, and for whom.

Which draw amplifies depends on the unit and the observer (docs/decisions/0004-two-level-sampling.md). Proofs:
docs/shifted-noise.md, Two levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.amplification import thin
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.structure import (
    drawn_level,
    left_out_is_the_same,
    of_records,
    open_level,
    pools_records,
)
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.subsampling import drawn_mechanism, not_covered, observes_draw

if TYPE_CHECKING:
    from epsilond.accountants.specs import Subsampled

FRESH_SELECTION = Condition(
    "fresh-selection", "in every round the clients are drawn afresh, without regard to data or to earlier rounds"
)
CLIENTS_THEN_RECORDS = Theorem(
    id="epsilond.clients-then-records",
    title="Drawing clients thins a record's losses and shrinks none",
    statement=(
        "If a record's client takes part with probability q, δ'(ε) = q δ(ε) with δ the profile of the client's own "
        "mechanism: the output without the client may be anything, so a smaller ε cannot be had, and knowing who takes "
        "part changes nothing. It composes as the pair that is the client's with probability q and two equal laws else"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
    conditions=(FRESH_SELECTION,),
)
VISIBLE_SELECTION = Theorem(
    id="epsilond.visible-selection",
    title="Drawing clients in sight of the observer",
    statement=(
        "For a client whose data is replaced or zeroed, and who is seen to take part with probability q, δ'(ε) = q δ(ε)"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
    conditions=(FRESH_SELECTION,),
)
RECORDS_OF_A_CLIENT = Theorem(
    id="epsilond.records-of-a-client",
    title="Drawing among a client's own records does not protect the client",
    statement=(
        "A client's guarantee bounds whatever it contributes, so which of its records it draws changes nothing, and "
        "neither does a draw from all clients' records that leaves the others' as they were"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
)


def clients_then_records(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """The record's pair, thinned by its client's participation; attained where participation is seen."""
    if case.setting.unit != "record" or drawn_level(spec, "record") != "clients":
        return Refusal(CLIENTS_THEN_RECORDS, "the batch is not one of clients where a record is protected")
    return _thinned(CLIENTS_THEN_RECORDS, spec, case)


def visible_selection(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """The client's pair, thinned. A zeroed client takes part with nothing to say; an absent one would be missed."""
    if case.setting.unit != "client" or drawn_level(spec, "client") != "clients":
        return Refusal(VISIBLE_SELECTION, "the batch is not one of clients where a client is protected")
    if not observes_draw(spec, case.setting):
        return Refusal(VISIBLE_SELECTION, f"the observer {case.setting.observer} does not see who is drawn")
    if case.setting.relation == "add-or-remove-one":
        return Refusal(
            VISIBLE_SELECTION,
            f"the observer {case.setting.observer} sees who takes part, and so whether a client is there at all; ask "
            "for an observer who does not, or for another relation",
        )
    return _thinned(VISIBLE_SELECTION, spec, case)


def _thinned(theorem: Theorem, spec: Subsampled, case: Case) -> Guarantee | Refusal:
    if spec.sampling == "with-replacement":
        return Refusal(theorem, "a client drawn twice takes part twice, which is not covered")
    if refusal := not_covered(theorem, spec, case):
        return refusal
    if open_level(spec) and not left_out_is_the_same(spec.sampling, case.setting.relation):
        return Refusal(
            theorem,
            "the level is left open, and drawing clients does not bound drawing a fixed number of n or n − 1 records: "
            "say level clients, if clients are drawn",
        )
    inner = case.account(drawn_mechanism(spec, case.setting), case.setting)
    rate = spec.inclusion_probability
    upper = thin(inner.curve.upper, rate)
    # A reading that was left open has no witness: the other one may protect better.
    certain = spec.level == "clients" and observes_draw(spec, case.setting)
    instances = tuple(thin(pair, rate) for pair in inner.curve.witnesses)
    witnesses = () if not certain else (upper,) if inner.curve.tight else instances
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper, witnesses),
        derivation=theorem.because(inner.derivation, sampling=spec.sampling, rate=rate),
        declared=tuple(dict.fromkeys((*inner.declared, FRESH_SELECTION))),
    )


def records_of_a_client(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """The client's guarantee unchanged, as an upper end: what it draws may be less than the worst it could send."""
    if case.setting.unit != "client" or drawn_level(spec, "client") != "records":
        return Refusal(RECORDS_OF_A_CLIENT, "the batch is not one of records where a client is protected")
    if pools_records(case.root, case.setting.relation):
        return Refusal(
            RECORDS_OF_A_CLIENT,
            "records of all clients are drawn together: without the client others are drawn, or one counts repeatedly",
        )
    inner = case.account(of_records(spec.mechanism), case.setting)
    step = RECORDS_OF_A_CLIENT.because(inner.derivation, sampling=spec.sampling)
    return Guarantee(setting=case.setting, curve=Curve(inner.curve.upper), derivation=step, declared=inner.declared)


THEOREMS: tuple[Theorem, ...] = (CLIENTS_THEN_RECORDS, VISIBLE_SELECTION, RECORDS_OF_A_CLIENT)
RULES: tuple[Rule, ...] = (
    Rule(CLIENTS_THEN_RECORDS, "subsampled", clients_then_records),
    Rule(VISIBLE_SELECTION, "subsampled", visible_selection),
    Rule(RECORDS_OF_A_CLIENT, "subsampled", records_of_a_client),
)

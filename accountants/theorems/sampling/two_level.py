"""Two-level sampling: clients are drawn, and then draw among their own records.

The unit and the observer determine which of the two draws amplifies (docs/decisions/0004-two-level-sampling.md).
Proofs: docs/shifted-noise.md, Two levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.thinned import thin
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.structure import (
    drawn_level,
    left_out_is_the_same,
    of_records,
    open_level,
    pools_records,
)
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.draw_checks import drawn_mechanism, observes_draw, reject_uncovered_spec

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import Subsampled

FRESH_SELECTION = Condition(
    "fresh-selection", "in every round the clients are drawn afresh, without regard to data or to earlier rounds"
)
CLIENTS_THEN_RECORDS = Theorem(
    id="epsilond.clients-then-records",
    title="Drawing clients thins a record's losses and shrinks none",
    statement=(
        "If a record's client takes part with probability q, δ'(ε) = q δ(ε) with δ the profile of the client's own "
        "mechanism. The output without the client is arbitrary, so ε is not smaller, and participation may be public. "
        "It composes as the pair that is the client's with probability q, and two equal distributions otherwise"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
    conditions=(FRESH_SELECTION,),
)
VISIBLE_SELECTION = Theorem(
    id="epsilond.visible-selection",
    title="A draw of clients that the observer sees",
    statement=(
        "If a client's data is replaced or zeroed, and it visibly takes part with probability q, δ'(ε) = q δ(ε)"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
    conditions=(FRESH_SELECTION,),
)
RECORDS_OF_A_CLIENT = Theorem(
    id="epsilond.records-of-a-client",
    title="Drawing among a client's own records does not protect the client",
    statement=(
        "A client's guarantee holds for all its contributions, so a draw among its records does not change it. Nor "
        "does a draw from all clients' records that leaves the other clients' records unchanged"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
)


def clients_then_records(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee q δ(ε) of a record of a client that takes part in a round with probability q.

    δ(ε) is the privacy profile of the client's own mechanism for the record. The guarantee is attained if the observer
    sees which clients take part.

    Args:
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. If no clients are drawn, or if no record is protected, a refusal with the reason.
    """
    if case.setting.unit != "record" or drawn_level(spec, "record") != "clients":
        return Refusal(CLIENTS_THEN_RECORDS, "the batch is not one of clients where a record is protected")
    return _thinned_guarantee(CLIENTS_THEN_RECORDS, spec, case)


def visible_selection(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee q δ(ε) of a client that is drawn with probability q, if the observer sees who is drawn.

    δ(ε) is the privacy profile of the mechanism for a client that is drawn.

    Args:
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee; a refusal with the reason for other units, observers and relations.
    """
    if case.setting.unit != "client" or drawn_level(spec, "client") != "clients":
        return Refusal(VISIBLE_SELECTION, "the batch is not one of clients where a client is protected")
    if not observes_draw(spec, case.setting):
        return Refusal(VISIBLE_SELECTION, f"the observer {case.setting.observer} does not see who is drawn")
    if case.setting.relation == "add-or-remove-one":
        return Refusal(
            VISIBLE_SELECTION,
            (
                f"the observer {case.setting.observer} sees who takes part, and so whether a client is there at "
                "all. Request an observer who does not, or another relation"
            ),
        )
    return _thinned_guarantee(VISIBLE_SELECTION, spec, case)


def _thinned_guarantee(theorem: Theorem, spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee (ε, q δ(ε)) of a mechanism that runs on drawn clients.

    q is the probability that a client is drawn, and δ(ε) the privacy profile of the mechanism for a drawn client. If
    the observer sees who is drawn, some neighbours attain the upper bound, so that there are lower bounds too.

    Args:
        theorem: the theorem that the result or the refusal names.
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee; a refusal with the reason for samplings that are not covered.
    """
    if spec.sampling == "with-replacement":
        return Refusal(theorem, "a client drawn twice takes part twice, which is not covered")
    if spec.largest_batch is not None:
        return Refusal(theorem, "a batch that is truncated leaves clients out because of others")
    if refusal := reject_uncovered_spec(theorem, spec, case):
        return refusal
    if open_level(spec) and not left_out_is_the_same(spec.sampling, case.setting.relation):
        return Refusal(
            theorem,
            (
                "The level is left open. Drawing clients does not bound drawing a fixed number of n or n − 1 "
                "records. Give the level clients, if clients are drawn"
            ),
        )
    inner = case.account(drawn_mechanism(spec, case.setting), case.setting)
    rate = spec.inclusion_probability
    upper = thin(inner.curve.upper, rate)
    # Without a stated level, records may be drawn in place of clients, which may protect better than the bound.
    is_attained = spec.level == "clients" and observes_draw(spec, case.setting)
    attained_pairs: tuple[Pair, ...] = ()
    if is_attained and inner.curve.tight:
        attained_pairs = (upper,)
    elif is_attained:
        attained_pairs = tuple(thin(pair, rate) for pair in inner.curve.witnesses)
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper, attained_pairs),
        derivation=theorem.because(inner.derivation, sampling=spec.sampling, rate=rate),
        declared=tuple(dict.fromkeys((*inner.declared, FRESH_SELECTION))),
    )


def records_of_a_client(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a client that samples among its own records. The sampling does not amplify it.

    The guarantee for all records of the client is an upper bound.

    Args:
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, without lower bounds. Unless clients are protected and each samples among its own records only, a
        refusal with the reason.
    """
    if case.setting.unit != "client" or drawn_level(spec, "client") != "records":
        return Refusal(RECORDS_OF_A_CLIENT, "the batch is not one of records where a client is protected")
    if spec.records_of_one_client is not None:
        return Refusal(RECORDS_OF_A_CLIENT, "the noise refers to one record, and a client may have several")
    if spec.largest_batch is not None:
        return Refusal(RECORDS_OF_A_CLIENT, "a batch that is truncated leaves records out because of others")
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

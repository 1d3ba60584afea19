"""POST /v1/accounts: the guarantee of a run, and the verdict on a claim about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.account import Account, account
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.guarantee import ANY_EPSILON, LOG_10, Guarantee, PrivacyCurve, Tightness
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.meaning import meaning
from epsilond.accountants.quantities import (
    DELTA,
    EPSILON,
    LOG10_DELTA,
    Observer,
    Quantity,
    Relation,
    SettingFields,
    Unit,
    request,
)
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Spec
from epsilond.accountants.specs.runs import MECHANISM
from epsilond.accountants.statements.settings import join_statements, noise_condition, state_guarantee
from epsilond.accountants.structure import DRAW_UNSEEN, Draw, draws_of, loses_amplification
from epsilond.accountants.target import Target, natural_log_delta
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import (
    Caution,
    DeclaredCondition,
    DerivationStep,
    Ends,
    NumericalAnswer,
    ReadFromCurve,
    Served,
    derivation_of,
)
from epsilond.calibrators.cautions import format_bound, not_amplified
from epsilond.calibrators.envelope import declared_answers, numerical_answer
from epsilond.calibrators.notebooks import ShownInNotebooks
from epsilond.calibrators.serving.json_form import UNSERVED

MOST_POINTS = 1000


@request
class Query:
    """Exactly one of these: at which ε or δ to read the curve."""

    epsilon: Annotated[float | None, ANY_EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    epsilons: Annotated[tuple[float, ...] | None, Quantity(description="several ε, at most 1000")] = None
    deltas: Annotated[tuple[float, ...] | None, Quantity(description="several δ, at most 1000")] = None
    log10_deltas: Annotated[tuple[float, ...] | None, Quantity(description="several log10 δ, at most 1000")] = None

    def check(self) -> None:
        """Check that exactly one member is present, with all its values within their domain."""
        names = [name for name in _DOMAINS if getattr(self, name) is not None]
        if len(names) != 1:
            raise InvalidInput.at("", "give exactly one of " + ", ".join(_DOMAINS))
        values = self.values
        if not 1 <= len(values) <= MOST_POINTS:
            raise InvalidInput.at(f"/{names[0]}", "has too few or too many values", allowed=f"1 to {MOST_POINTS}")
        domain = _DOMAINS[names[0]]
        for place, value in enumerate(values):
            if isinstance(value, bool) or not domain.contains(value):
                raise InvalidInput.at(f"/{names[0]}/{place}", "is out of range", allowed=domain.allowed)

    @property
    def name(self) -> str:
        """Name of the member that is present."""
        return next(name for name in _DOMAINS if getattr(self, name) is not None)

    @property
    def values(self) -> tuple[float, ...]:
        """The value or values of the member that is present."""
        value = getattr(self, self.name)
        return tuple(value) if isinstance(value, tuple | list) else (value,)

    @property
    def listed(self) -> bool:
        """True if the member is a list of points."""
        return self.name.endswith("s")


_DOMAINS = {
    "epsilon": ANY_EPSILON,
    "delta": DELTA,
    "log10_delta": LOG10_DELTA,
    "epsilons": ANY_EPSILON,
    "deltas": DELTA,
    "log10_deltas": LOG10_DELTA,
}


@request
class Claim:
    """A statement to be checked: (ε, δ), the δ given once."""

    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    def check(self) -> None:
        """Check that exactly one of `delta` and `log10_delta` is present."""
        natural_log_delta(self.delta, self.log10_delta)


@request
class AccountQuestion(SettingFields):
    """What was run, and what the guarantee is about."""

    spec: Annotated[Spec, MECHANISM]
    claim: Annotated[Claim | None, Quantity(description="an (ε, δ) to be checked")] = None


@request
class AccountProblem(AccountQuestion):
    """What was run, what the guarantee is about, and at which point to read the curve."""

    query: Annotated[Query, Quantity(description="at which ε or δ to read the curve")]


@dataclass(frozen=True, kw_only=True)
class Point:
    """The curve at one point: what was asked has equal ends."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends


@dataclass(frozen=True, kw_only=True)
class StatedGuarantee(ReadFromCurve):
    """What the guarantee is about. `curve` answers at any ε or δ; it is no part of the JSON form."""

    in_words: Annotated[
        str,
        Served("plain statements: the protected unit, the adversary, the conditions and the secret batches"),
    ]
    unit: Unit
    relation: Relation
    observer: Observer
    tight: Annotated[Tightness, Served("where the lower ends come from")]
    curve: PrivacyCurve = field(compare=False, repr=False, metadata=UNSERVED)


@dataclass(frozen=True, kw_only=True)
class AccountGuarantee(StatedGuarantee):
    """The guarantee at the first requested point."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends


@dataclass(frozen=True, kw_only=True)
class ClaimAnswer:
    """Verdict on a claim: `undecidable` between the proved upper bound and the witnessed lower bound."""

    holds: Verdict
    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    margin_epsilon: Annotated[Ends, Served("claimed ε minus the true one at the claimed δ: negative is broken")]
    margin_log10_delta: Annotated[Ends, Served("claimed log10 δ minus the true one at the claimed ε")]


@dataclass(frozen=True, kw_only=True)
class TruePositiveRate:
    """True positive rate of the best attack at a false positive rate."""

    false_positive_rate: float
    true_positive_rate: Ends


@dataclass(frozen=True, kw_only=True)
class MeaningAnswer:
    """What it means to an attacker who tells two neighbours apart."""

    advantage: Annotated[Ends, Served("largest true minus false positive rate")]
    true_positive_rates: tuple[TruePositiveRate, ...]


@dataclass(frozen=True, kw_only=True)
class ConsideredAnswer:
    """A theorem that was tried."""

    theorem: str
    applies: Verdict
    reason: Annotated[str | None, Served("why it does not apply")] = None


@dataclass(frozen=True, kw_only=True)
class Accounted(ShownInNotebooks):
    """What is known of a run without asking at any ε or δ: `guarantee.curve` can be asked at all of them."""

    guarantee: StatedGuarantee
    claim: Annotated[ClaimAnswer | None, Served("where one was made")] = None
    derivation: tuple[DerivationStep, ...]
    considered: tuple[ConsideredAnswer, ...]
    declared_conditions: Annotated[
        tuple[DeclaredCondition, ...], Served("conditions that the spec sets for the data and the program")
    ]
    warnings: tuple[Caution, ...]
    engine_version: str


@dataclass(frozen=True, kw_only=True)
class AccountAnswer(Accounted):
    """The whole answer."""

    guarantee: AccountGuarantee
    numerical: NumericalAnswer
    points: Annotated[tuple[Point, ...] | None, Served("where several were requested")] = None
    meaning: MeaningAnswer


def account_spec(question: AccountQuestion, *, effort: Effort = "default") -> Accounted:
    """Return the guarantee of a run, without figures. The answer's `guarantee.curve` gives δ at any ε, and ε at any δ.

    Raises:
        ConditionViolated: no theorem covers some part of the spec under this relation.
        BeyondBudget: the work would exceed the fixed budget.
    """
    outcome, drawn = _account_for(question, effort), draws_of(question.spec, question.unit)
    guarantee = StatedGuarantee(
        in_words=_sentence(question, outcome, drawn),
        unit=question.unit,
        relation=question.relation,
        observer=question.observer,
        tight=outcome.guarantee.tight,
        curve=PrivacyCurve(outcome.guarantee.curve),
    )
    return Accounted(guarantee=guarantee, **_shared_members(question, outcome, drawn, None))


def answer(problem: AccountProblem, *, effort: Effort = "default") -> AccountAnswer:
    """Return the guarantee of a run, with its figures at the requested ε or δ.

    Guarantees: the bounds enclose the exact figures, which are suprema over all neighbours in the stated setting.

    Raises:
        ConditionViolated: no theorem covers some part of the spec under this relation.
        BeyondBudget: the work would exceed the fixed budget.
    """
    outcome, drawn = _account_for(problem, effort), draws_of(problem.spec, problem.unit)
    guarantee = outcome.guarantee
    points = tuple(point(guarantee, problem.query.name.rstrip("s"), value) for value in problem.query.values)
    first = points[0]
    attack = meaning(guarantee.curve)
    rates = [
        TruePositiveRate(
            false_positive_rate=rate.false_positive_rate, true_positive_rate=Ends.of(rate.true_positive_rate)
        )
        for rate in attack.true_positives
    ]
    return AccountAnswer(
        guarantee=AccountGuarantee(
            in_words=_sentence(problem, outcome, drawn),
            unit=problem.unit,
            relation=problem.relation,
            observer=problem.observer,
            tight=guarantee.tight,
            epsilon=first.epsilon,
            delta=first.delta,
            log10_delta=first.log10_delta,
            curve=PrivacyCurve(guarantee.curve),
        ),
        numerical=numerical_answer(guarantee, Target(min(first.epsilon.upper, 1e9), 0.0)),
        points=points if problem.query.listed else None,
        meaning=MeaningAnswer(advantage=Ends.of(attack.advantage), true_positive_rates=tuple(rates)),
        **_shared_members(problem, outcome, drawn, (problem.query, first)),
    )


def _account_for(question: AccountQuestion, effort: Effort) -> Account:
    """Compute the guarantee of the spec in the requested setting; effort `coarse` takes less time for wider bounds."""
    return account(
        question.spec, relation=question.relation, unit=question.unit, observer=question.observer, effort=effort
    )


def _sentence(question: AccountQuestion, outcome: Account, drawn: tuple[Draw, ...]) -> str:
    """State the protected unit, the observer and the conditions. A spec does not say who adds the noise."""
    statements = state_guarantee(
        definition=None,
        observer=question.observer,
        unit=question.unit,
        relation=question.relation,
        draws=drawn,
        declared=outcome.guarantee.declared,
    )
    return join_statements(statements)


def _shared_members(
    question: AccountQuestion, outcome: Account, drawn: tuple[Draw, ...], reading: tuple[Query, Point] | None
) -> JsonRecord:
    """Return the members that all answers have, by name. `reading` is the query with the first point, if any."""
    guarantee = outcome.guarantee
    considered = [
        ConsideredAnswer(theorem=rule.theorem, applies=rule.applies, reason=rule.reason) for rule in outcome.considered
    ]
    conditions = dict.fromkeys((*guarantee.declared, noise_condition(question.observer)))
    return {
        "claim": judge_claim(guarantee, question.claim) if question.claim else None,
        "derivation": derivation_of(guarantee.derivation),
        "considered": tuple(considered),
        "declared_conditions": declared_answers(conditions),
        "warnings": tuple(_warnings(question, drawn, reading)),
        "engine_version": ENGINE_VERSION,
    }


def point(guarantee: Guarantee, name: str, value: float) -> Point:
    """Return the bounds on δ at a given ε, or on ε at a given δ. Both bounds on the given quantity are its value.

    Args:
        guarantee: the guarantee, whose curve is evaluated.
        name: the given quantity: `epsilon`, `delta` or `log10_delta`.
        value: its value.
    """
    if name == "epsilon":
        bounds = guarantee.curve.log_delta(value)
        return Point(epsilon=Ends(value, value), delta=Ends.delta(bounds), log10_delta=Ends.log10(bounds))
    if name == "delta":
        log_delta, log10_delta = natural_log_delta(value, None), math.log10(value)
        delta = Ends(value, value)
    else:
        log_delta, log10_delta = natural_log_delta(None, value), value
        delta = Ends.delta(Interval(log_delta, log_delta))
    epsilon = Ends.of(guarantee.curve.epsilon(log_delta))
    return Point(epsilon=epsilon, delta=delta, log10_delta=Ends(log10_delta, log10_delta))


def judge_claim(guarantee: Guarantee, claim: Claim) -> ClaimAnswer:
    """Decide whether a run has a claimed (ε, δ), and return the margins of the claim.

    An upper bound on δ or ε proves the claim, and a lower bound on δ disproves it. Otherwise it is undecidable.
    """
    target = Target.of(claim.epsilon, claim.delta, claim.log10_delta)
    log_delta = guarantee.curve.log_delta(claim.epsilon)
    epsilon = guarantee.curve.epsilon(target.log_delta)
    holds = Verdict.UNDECIDABLE
    if log_delta.upper <= target.log_delta or epsilon.upper <= claim.epsilon:
        holds = Verdict.YES
    elif log_delta.lower > target.log_delta:
        holds = Verdict.NO
    return ClaimAnswer(
        holds=holds,
        epsilon=claim.epsilon,
        delta=target.delta,
        log10_delta=target.log10_delta,
        margin_epsilon=Ends(claim.epsilon - epsilon.upper, claim.epsilon - epsilon.lower),
        margin_log10_delta=Ends(
            (target.log_delta - log_delta.upper) / LOG_10, (target.log_delta - log_delta.lower) / LOG_10
        ),
    )


def _warnings(
    question: AccountQuestion, drawn: tuple[Draw, ...], reading: tuple[Query, Point] | None
) -> Iterator[Caution]:
    """Warn of an infinite ε, and of amplification by subsampling that is lost to this observer."""
    if reading is not None and not math.isfinite(reading[1].epsilon.upper):
        yield Caution(code="no-finite-epsilon", message=f"no ε up to {LARGEST_EPSILON:g} has a certified δ this small")
    if loses_amplification(drawn, question.observer, question.unit):
        yield from _draw_cautions(question, reading)


def _draw_cautions(question: AccountQuestion, reading: tuple[Query, Point] | None) -> Iterator[Caution]:
    """Warn that random batches do not amplify privacy, as the observer sees them; with both bounds if one is lower."""
    if reading is None:
        yield not_amplified(question.observer)
        return
    query, seen_point = reading
    try:
        unseen = _account_for(replace(question, observer=DRAW_UNSEEN), "coarse").guarantee
    except NoCertificate:
        return
    quantity = query.name.rstrip("s")
    unseen_point = point(unseen, quantity, query.values[0])
    symbols = {"epsilon": "ε", "delta": "δ", "log10_delta": "log10 δ"}
    figure = "log10_delta" if quantity == "epsilon" else "epsilon"
    seen_bound, unseen_bound = getattr(seen_point, figure).upper, getattr(unseen_point, figure).upper
    if unseen_bound < seen_bound:
        yield not_amplified(
            question.observer,
            f"{symbols[figure]} ≤ {format_bound(seen_bound)} at {symbols[quantity]} = {query.values[0]:g}",
            f"{symbols[figure]} ≤ {format_bound(unseen_bound)}",
        )

"""POST /v1/accounts: the guarantee of a run, and the verdict on a claim about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.account import Account, account
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.meaning import meaning
from epsilond.accountants.quantities import (
    Quantity,
    SettingFields,
    WindowedUnit,
    request,
)
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Spec
from epsilond.accountants.specs.runs import RUN
from epsilond.accountants.statements.mechanisms import adds_noise, restate_for_mechanism
from epsilond.accountants.statements.settings import join_statements, noise_condition, state_guarantee
from epsilond.accountants.statements.statement import Statement
from epsilond.accountants.structure import DRAW_UNSEEN
from epsilond.accountants.structure.random_draws import Draw, draws_of, loses_amplification
from epsilond.accountants.target import Target
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.accounting.attackers import (
    BayesError,
    Directions,
    MeaningAnswer,
    RenyiDivergence,
    TruePositiveRate,
    requested_figures,
)
from epsilond.calibrators.accounting.claims import Claim, ClaimAnswer, judge_claim
from epsilond.calibrators.accounting.guarantees import AccountGuarantee, StatedGuarantee
from epsilond.calibrators.accounting.query import Query
from epsilond.calibrators.answer import (
    Caution,
    DeclaredCondition,
    DerivationStep,
    Ends,
    NumericalAnswer,
    Served,
    derivation_of,
)
from epsilond.calibrators.cautions import format_bound, not_amplified
from epsilond.calibrators.envelope import declared_answers, numerical_answer
from epsilond.calibrators.notebooks import ShownInNotebooks
from epsilond.calibrators.points import Point, point
from epsilond.calibrators.windows import (
    WINDOWS,
    OverWindows,
    bound_over_windows,
    conditions_of_unit,
    reject_uncovered_windows,
)


@request
class AccountQuestion(SettingFields):
    """What was run, and what the guarantee is about."""

    spec: Annotated[Spec, RUN]
    claim: Annotated[
        Claim | None, Quantity(description="claimed guarantee (ε, δ) to check; absent: none is checked")
    ] = None


@request
class AccountProblem(AccountQuestion):
    """A run, the neighbours and adversary of its guarantee, and the ε or δ at which the guarantee is returned."""

    query: Annotated[
        Query,
        Quantity(
            description="values of ε or δ at which the guarantee is returned, and further figures that are requested"
        ),
    ]
    windows: Annotated[int | None, WINDOWS] = None

    def check(self) -> None:
        """Check that a number of windows comes with a unit that has a window, and with a run that it bounds."""
        if self.windows is None:
            return
        if not isinstance(self.unit, WindowedUnit):
            raise InvalidInput.at("/windows", "needs a unit with a window", allowed='{"of": …, "window": …} as unit')
        reject_uncovered_windows(self.windows, self.spec, self.relation)


@dataclass(frozen=True, kw_only=True)
class ConsideredAnswer:
    """A theorem that was tried for the run, and whether it applies."""

    theorem: str
    applies: Verdict
    reason: Annotated[str | None, Served("why the theorem does not apply to this run; absent if it applies")] = None


@dataclass(frozen=True, kw_only=True)
class Accounted(ShownInNotebooks):
    """The account of a run before any ε or δ is chosen: `guarantee.curve` gives one for each value of the other."""

    guarantee: StatedGuarantee
    claim: Annotated[
        ClaimAnswer | None, Served("verdict on the claimed guarantee; absent unless the request has a claim")
    ] = None
    derivation: tuple[DerivationStep, ...]
    considered: tuple[ConsideredAnswer, ...]
    declared_conditions: Annotated[
        tuple[DeclaredCondition, ...],
        Served("conditions of the guarantee on the data and the program, which the service cannot check"),
    ]
    warnings: tuple[Caution, ...]
    engine_version: str


@dataclass(frozen=True, kw_only=True)
class AccountAnswer(Accounted):
    """The account of a run: its guarantee with the proof, and the requested figures."""

    guarantee: AccountGuarantee
    numerical: NumericalAnswer
    points: Annotated[
        tuple[Point, ...] | None,
        Served("ε and δ at each requested point, in their order; absent unless a list of points was requested"),
    ] = None
    over_windows: Annotated[
        OverWindows | None,
        Served("bounds for all windows of one record or client together; absent unless the request has `windows`"),
    ] = None
    meaning: MeaningAnswer
    trade_off: Annotated[
        tuple[TruePositiveRate, ...] | None,
        Served(
            "largest true positive rate of an attacker at each of the requested false_positive_rates, in "
            "their order; absent unless requested"
        ),
    ] = None
    gaussian_dp_mu: Annotated[
        Ends | None,
        Served(
            "bounds on the least μ for which the run has μ-Gaussian differential privacy. The upper bound "
            "is unbounded if no μ is proved, and both are if it is proved that none exists. Absent unless "
            "false_positive_rates or priors were requested"
        ),
    ] = None
    bayes_errors: Annotated[
        tuple[BayesError, ...] | None,
        Served("least error of an attacker at each of the requested priors, in their order; absent unless requested"),
    ] = None
    renyi_divergences: Annotated[
        tuple[RenyiDivergence, ...] | None,
        Served("Rényi divergence at each of the requested orders, in their order; absent unless requested"),
    ] = None
    directions: Annotated[
        tuple[Directions, ...] | None,
        Served("δ of each direction at each of the requested signed_epsilons, in their order; absent unless requested"),
    ] = None


def account_spec(question: AccountQuestion, *, effort: Effort = "default") -> Accounted:
    """Certify the privacy of a run, and return the guarantee as a curve of δ over all ε.

    The answer's `guarantee.curve` gives δ at any ε, and ε at any δ.

    Args:
        question: the spec of the run, with the protected unit, the neighbouring relation and the observer.
        effort: how much work composition may take. More work gives tighter bounds.

    Returns:
        The guarantee with its proof, its conditions and its warnings.

    Raises:
        ConditionViolated: no theorem covers some part of the spec under this relation.
        BeyondBudget: the work would exceed the fixed budget.
    """
    outcome = _account_for(question, effort)
    drawn = draws_of(question.spec, question.unit)
    statements = _state(question, outcome, drawn)
    guarantee = StatedGuarantee(
        in_words=join_statements(statements),
        statements=statements,
        unit=question.unit,
        relation=question.relation,
        observer=question.observer,
        tight=outcome.guarantee.tight,
        curve=PrivacyCurve(outcome.guarantee.curve),
    )
    return Accounted(guarantee=guarantee, **_common_members(question, outcome, drawn, None))


def answer(problem: AccountProblem, *, effort: Effort = "default") -> AccountAnswer:
    """Return the guarantee of a run, with its figures at the requested ε or δ.

    The privacy curve δ(ε) of the run is computed once, and all figures are read from it.

    Guarantees: the bounds enclose the exact figures, which are suprema over all neighbours in the stated setting.

    Args:
        problem: the request: a mechanism, its setting, and the ε or δ of interest.
        effort: the work that compositions may take.

    Returns:
        The guarantee in words and figures. The first requested value gives its ε and δ.

    Raises:
        ConditionViolated: no theorem covers some part of the spec under this relation.
        BeyondBudget: the work would exceed the fixed budget.
    """
    outcome = _account_for(problem, effort)
    drawn = draws_of(problem.spec, problem.unit)
    guarantee = outcome.guarantee
    statements = _state(problem, outcome, drawn)

    # The requested points of the curve, and an attacker's success.
    query = problem.query
    quantity = query.name.rstrip("s")  # a list of values is named in the plural, such as `deltas`
    points = tuple(point(guarantee, quantity, value) for value in query.values)
    first = points[0]
    attack = meaning(guarantee.curve)
    rates = tuple(map(TruePositiveRate.of, attack.true_positives))
    accuracy_point = Target(min(first.epsilon.upper, 1e9), 0.0)  # 1e9 represents an infinite ε; only ε is used

    over_windows = None
    if problem.windows is not None:
        over_windows = bound_over_windows(guarantee.curve, problem.unit, problem.windows, first, query.name)
    return AccountAnswer(
        guarantee=AccountGuarantee(
            in_words=join_statements(statements),
            statements=statements,
            unit=problem.unit,
            relation=problem.relation,
            observer=problem.observer,
            tight=guarantee.tight,
            epsilon=first.epsilon,
            delta=first.delta,
            log10_delta=first.log10_delta,
            curve=PrivacyCurve(guarantee.curve),
        ),
        numerical=numerical_answer(guarantee, accuracy_point),
        points=points if query.listed else None,
        over_windows=over_windows,
        meaning=MeaningAnswer(advantage=Ends.of(attack.advantage), true_positive_rates=rates),
        **requested_figures(guarantee.curve, query),
        **_common_members(problem, outcome, drawn, (query, first)),
    )


def _account_for(question: AccountQuestion, effort: Effort) -> Account:
    """Compute the guarantee of the spec in the requested setting; effort `coarse` takes less time for wider bounds."""
    return account(
        question.spec, relation=question.relation, unit=question.unit, observer=question.observer, effort=effort
    )


def _state(question: AccountQuestion, outcome: Account, drawn: tuple[Draw, ...]) -> tuple[Statement, ...]:
    """Return the guarantee in plain sentences: the protected unit, the observer and the conditions.

    Args:
        question: the request. Its spec does not say who adds the noise, so neither do the sentences.
        outcome: the guarantee.
        drawn: the random draws of the run.

    Returns:
        The sentences, each with a word for its subject.
    """
    statements = state_guarantee(
        definition=None,
        observer=question.observer,
        unit=question.unit,
        relation=question.relation,
        draws=drawn,
        declared=outcome.guarantee.declared,
    )
    return restate_for_mechanism(statements, question.spec, question.observer)


def _common_members(
    question: AccountQuestion, outcome: Account, drawn: tuple[Draw, ...], requested: tuple[Query, Point] | None
) -> JsonRecord:
    """Return the proof, the tried theorems, the conditions and the warnings of an answer, which all answers have.

    Args:
        question: the request: the described run, the protected unit and the observer. It may claim an (ε, δ), which
            the answer then judges.
        outcome: the guarantee of the run, and the theorems that were tried.
        drawn: the random draws of the run.
        requested: the query, with ε and δ at its first point; None if the answer has no ε and δ.

    Returns:
        The values of these members of an answer, by name.
    """
    guarantee = outcome.guarantee
    # Every theorem that was tried, with the reason if it does not apply.
    considered = [
        ConsideredAnswer(theorem=tried.theorem, applies=tried.applies, reason=tried.reason)
        for tried in outcome.considered
    ]
    # The conditions that the caller declares: of the theorems, of the noise, and of time windows.
    window_conditions = conditions_of_unit(question.unit, is_drawn=bool(drawn))
    secret_noise = noise_condition(question.observer, adds_noise=adds_noise(question.spec))
    conditions = dict.fromkeys((*guarantee.declared, secret_noise, *window_conditions))
    return {
        "claim": judge_claim(guarantee, question.claim) if question.claim else None,
        "derivation": derivation_of(guarantee.derivation),
        "considered": tuple(considered),
        "declared_conditions": declared_answers(conditions),
        "warnings": tuple(_warnings(question, drawn, requested)),
        "engine_version": ENGINE_VERSION,
    }


def _warnings(
    question: AccountQuestion, drawn: tuple[Draw, ...], requested: tuple[Query, Point] | None
) -> Iterator[Caution]:
    """Warn of an infinite ε, and of privacy amplification that does not hold against this observer.

    Args:
        question: the request, with the protected unit and the observer.
        drawn: the random draws of the run.
        requested: the query, with ε and δ at its first point; None for an account without figures.

    Yields:
        At most two warnings, each with a code and a message.
    """
    if requested is not None:
        _, first_point = requested
        if not math.isfinite(first_point.epsilon.upper):
            message = f"no ε up to {LARGEST_EPSILON:g} has a certified δ this small"
            yield Caution(code="no-finite-epsilon", message=message)
    if loses_amplification(drawn, question.observer, question.unit):
        yield from _draw_cautions(question, requested)


def _draw_cautions(question: AccountQuestion, requested: tuple[Query, Point] | None) -> Iterator[Caution]:
    """Warn that drawing clients at random gives no amplification against an observer who sees the draw.

    The warning compares the bound with the one for an observer who does not see which clients are drawn.

    Args:
        question: the request, with an observer who sees the draw.
        requested: the query, with ε and δ at its first point. Without it, the warning states no figures.

    Yields:
        The warning. With a query there is none if the bound for an observer who does not see the draw is no lower, or
        if no theorem covers that observer.
    """
    if requested is None:
        yield not_amplified(question.observer)
        return
    query, seen_point = requested
    try:
        unseen = _account_for(replace(question, observer=DRAW_UNSEEN), "coarse").guarantee
    except NoCertificate:
        return

    # Compare the quantity that the query leaves open, at its first value.
    quantity = query.name.rstrip("s")
    value = query.values[0]
    unseen_point = point(unseen, quantity, value)
    figure = "log10_delta" if quantity == "epsilon" else "epsilon"
    seen_bound = getattr(seen_point, figure).upper
    unseen_bound = getattr(unseen_point, figure).upper
    symbols = {"epsilon": "ε", "delta": "δ", "log10_delta": "log10 δ"}
    if unseen_bound < seen_bound:
        yield not_amplified(
            question.observer,
            f"{symbols[figure]} ≤ {format_bound(seen_bound)} at {symbols[quantity]} = {value:g}",
            f"{symbols[figure]} ≤ {format_bound(unseen_bound)}",
        )

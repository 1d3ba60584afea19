"""The risk answers of both accelerated algorithms: the stages' explicit bound, printed orders, lower bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.calibrators.answer import Caution, PrintedReading
from epsilond.calibrators.envelope import declared_answers
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.risk import setting_of
from epsilond.calibrators.risk.answer import Objective, RiskBoundsAnswer, RunAnswer, UpperBound
from epsilond.calibrators.risk.baseline import measured_bounds
from epsilond.calibrators.risk.parts import RiskFields, lower_bound, ratios, reference_rates

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated.answer import AcceleratedPlan
    from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.mb_sgd.problem import Run


def risk_bounds(
    name: str,
    asked: AcceleratedMbSgdProblem,
    fields: RiskFields,
    run: Run,
    noise_std: float,
    *,
    plan: AcceleratedPlan | None,
    printed: Sequence[PrintedReading],
    objective: Objective,
) -> RiskBoundsAnswer:
    """The whole answer. Upper bounds are of `objective`; for the other one there are lower bounds only."""
    applies = fields.problem == objective
    upper = (*_explicit(plan), *_orders(printed)) if applies else ()
    setting = setting_of(asked)
    lower = (lower_bound(fields, setting, fields.trust or "local"),)
    answer = RiskBoundsAnswer(
        algorithm=name,
        run=RunAnswer(
            noise_std=noise_std,
            noise_source="certified" if fields.noise_std is None else "given",
            batch_size=run.batch_size,
            rounds=run.rounds,
            envelope_smoothness=plan.envelope_smoothness if plan else None,
        ),
        upper=upper,
        lower=lower,
        reference=reference_rates(fields, setting),
        ratios=tuple(ratios(upper, lower)),
        declared_conditions=declared_answers(
            dict.fromkeys((INSIDE_DOMAIN, FRESH_NOISE, *(plan.declared if plan and applies else ())))
        ),
        warnings=tuple(_warnings(asked, fields, objective)),
        engine_version=ENGINE_VERSION,
    )
    # The request's gap is that of the algorithm's own objective.
    return measured_bounds(answer, start_of_run(asked, fields.problem, gap=asked.initial_gap if applies else None))


def _explicit(plan: AcceleratedPlan | None) -> Iterator[UpperBound]:
    if plan is not None and plan.risk.upper is not None:
        found = plan.risk.upper
        yield UpperBound(
            theorem=ACCELERATED_RISK_BOUND.id,
            reading="corrected",
            constant="explicit",
            value=found.value,
            terms=found.terms,
            conditions=(),
        )


def _orders(printed: Sequence[PrintedReading]) -> Iterator[UpperBound]:
    """The printed statements hide their constants."""
    for one in printed:
        assert one.reading in ("informal", "complete", "corrected")
        informal = one.parameters.get("informal_excess_risk_scale")
        yield UpperBound(
            theorem=one.theorem,
            reading=one.reading,
            constant="hidden",
            scale=one.parameters["excess_risk_scale"] if informal is None else informal,
            terms={},
            conditions=one.conditions,
        )


def _warnings(asked: AcceleratedMbSgdProblem, fields: RiskFields, objective: Objective) -> Iterator[Caution]:
    yield Caution(
        code="hidden-constants",
        message="lower bounds and scales leave constants and logarithms out: they are orders, never bounds",
    )
    if fields.problem != objective:
        yield Caution(
            code="no-upper-bound-for-this-objective",
            message=f"the upper bounds of this algorithm are of the {objective} excess risk",
        )
    if asked.initial_distance is None:
        yield Caution(code="assumed-initial-distance", message="initial_distance was taken to be the diameter")
    if asked.initial_gap is None:
        yield Caution(code="assumed-initial-gap", message="initial_gap was taken to be lipschitz · diameter")
    if objective == "population" and asked.gradient_std is None:
        yield Caution(code="assumed-gradient-std", message="gradient_std was taken to be lipschitz, its largest value")

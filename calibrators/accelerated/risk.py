"""The risk answers of both accelerated algorithms: the stages' explicit bound, printed orders, lower bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from epsilond.calibrators.answer import Caution, PrintedReading
from epsilond.calibrators.cautions import assumed
from epsilond.calibrators.mb_sgd.members import start_of_run
from epsilond.calibrators.mb_sgd.risk import of_equal_clients, setting_of
from epsilond.calibrators.risk.answer import Objective, UpperBound
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import RiskFields

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated.answer import AcceleratedPlan
    from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem


def bounds_of(
    asked: AcceleratedMbSgdProblem,
    fields: RiskFields,
    *,
    plan: AcceleratedPlan | None,
    printed: Sequence[PrintedReading],
    objective: Objective,
) -> Bounds:
    """Upper bounds are of `objective`; for the other one there are lower bounds only."""
    applies = fields.problem == objective
    return Bounds(
        upper=(*_explicit(plan), *_orders(printed)) if applies else (),
        setting=setting_of(asked),
        # The request's gap is that of the algorithm's own objective.
        start=start_of_run(asked, fields.problem, gap=asked.initial_gap if applies else None),
        declared=plan.declared if plan and applies else (),
        envelope_smoothness=plan.envelope_smoothness if plan else None,
        cautions=tuple(_cautions(asked, fields, objective)),
    )


def _explicit(plan: AcceleratedPlan | None) -> Iterator[UpperBound]:
    if plan is not None and plan.risk.upper is not None:
        found = plan.risk.upper
        yield UpperBound(
            theorem=found.theorem,
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


def _cautions(asked: AcceleratedMbSgdProblem, fields: RiskFields, objective: Objective) -> Iterator[Caution]:
    if fields.problem != objective:
        yield Caution(
            code="no-upper-bound-for-this-objective",
            message=f"the upper bounds of this algorithm are of the {objective} excess risk",
        )
    yield from of_equal_clients(asked)
    yield from assumed(asked, "initial_distance", "initial_gap")
    if objective == "population":
        yield from assumed(asked, "gradient_std")

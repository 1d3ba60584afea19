"""POST /v1/risk-bounds/{algorithm}: bounds on the risk of a run."""

from __future__ import annotations

from functools import cache, partial

from epsilond.app.questions.question import Question
from epsilond.app.questions.validation import Validator
from epsilond.app.workers.work import rendered
from epsilond.calibrators.risk.bounder import RiskBounder
from epsilond.calibrators.risk.bounders import RISK_BOUNDS
from epsilond.calibrators.strict_json import parse


def read_risk_bounds(name: str, body: bytes) -> Question:
    """The bounds of an algorithm that a body asks for.

    Raises:
        Malformed: it is not JSON.
        InvalidInput: it is no run of this algorithm.
    """
    bounder, validated = of_bounder(name)
    problem = validated(parse(body))
    closed_form = bounder.cost(problem) == "closed-form"
    return Question.of("risk-bounds", name, problem, partial(rendered, bounder.solve, problem), closed_form=closed_form)


@cache
def of_bounder(name: str) -> tuple[RiskBounder, Validator]:
    """The bounder of an algorithm, and how its problem is read."""
    bounder = next(each for each in RISK_BOUNDS if each.name == name)
    return bounder, Validator(bounder.problem)

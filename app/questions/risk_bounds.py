"""POST /v1/risk-bounds/{algorithm}: bounds on the risk of a run."""

from __future__ import annotations

from functools import partial

from epsilond.app.questions.question import Question
from epsilond.app.workers.work import render_answer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body


def read_risk_bounds(name: str, body: bytes) -> Question:
    """Read a request for bounds on the excess risk of a run of an algorithm.

    Args:
        name: name of the algorithm.
        body: the JSON text, with the parameters of the run.

    Returns:
        The question. Its computation renders the bounds as JSON.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body does not describe a run of this algorithm.
    """
    bounder = next(candidate for candidate in RISK_BOUNDS if candidate.name == name)
    problem = read_body(bounder.problem, parse(body))
    closed_form = bounder.cost(problem) == "closed-form"
    computation = partial(render_answer, bounder.solve, problem)
    return Question.of("risk-bounds", name, problem, computation, closed_form=closed_form)

"""POST /v1/plans: one problem for every algorithm, ranked."""

from __future__ import annotations

import json
from functools import partial

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonObject
from epsilond.app.questions.calibrations import calibration_of
from epsilond.app.questions.question import Question
from epsilond.app.workers.work import Outcome, RefusedAnswer, RenderedAnswer, render, render_answer
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning import rankings
from epsilond.calibrators.planning.answer import Reached
from epsilond.calibrators.planning.drafts import Draft
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.reach import Found, reach
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body


def read_plan(calibrators: tuple[Calibrator, ...], body: bytes) -> Question:
    """Read a request to rank algorithms for one learning problem, and return the computation to be done.

    Its parts are calibrations for the problem, one for each algorithm that fits.

    Args:
        calibrators: the calibrators to compare.
        body: the JSON text.

    Returns:
        The computation ("question"), of which the answer ranks the algorithms.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a plan, or names an unknown algorithm.
    """
    problem = read_body(PlanProblem, parse(body))
    parts = tuple(_part(draft, problem) for draft in rankings.drafts(calibrators, problem) if draft.request is not None)
    names = tuple(calibrator.name for calibrator in calibrators)
    return Question.of("plan", "plan", (names, problem), partial(answer_of, calibrators, problem), parts=parts)


def answer_of(
    calibrators: tuple[Calibrator, ...], problem: PlanProblem, outcomes: tuple[Outcome, ...]
) -> RenderedAnswer:
    """Combine the calibrations of several algorithms for one learning problem to an answer that ranks them.

    A draft is the problem as a request to the calibrator of one algorithm. It has no request if the problem does not
    fit the algorithm.

    Args:
        calibrators: the calibrators of the plan.
        problem: the problem of the plan.
        outcomes: outcomes of the drafts that have a request, in the order of the drafts.

    Returns:
        The answer as JSON text: the rankings, with the calibration of each algorithm or the reason for its absence.
    """
    remaining_outcomes = iter(outcomes)
    settled: list[tuple[Draft, rankings.Outcome | None]] = []
    for draft in rankings.drafts(calibrators, problem):
        outcome = None if draft.request is None else _convert_outcome(draft, next(remaining_outcomes))
        settled.append((draft, outcome))
    return RenderedAnswer(render(rankings.answer_of(problem, settled)))


def _part(draft: Draft, problem: PlanProblem) -> Question:
    """Return the question of a draft: a single calibration under its own name, or the search that meets a risk."""
    if problem.unknown is None:
        return calibration_of(draft.calibrator, draft.request)
    return Question.of(
        "reach", draft.name, problem, partial(render_answer, reach, draft.calibrator, draft.adapter, problem)
    )


def _convert_outcome(draft: Draft, outcome: Outcome) -> rankings.Outcome:
    """Convert the outcome of one algorithm's calibration to the form in which algorithms are ranked.

    Workers return answers as JSON text, and the ranking needs the numbers in it.

    Args:
        draft: the plan's problem as a request to one calibrator, which calibrates the noise of one algorithm.
        outcome: the answer as JSON, a rejection, or a failure of the service.

    Returns:
        The error of a rejection, the statement that the service failed, or the calibration with the quantities that it
        reaches. They are computed here if the answer does not have them as `reached`.
    """
    if isinstance(outcome, RefusedAnswer):
        assert isinstance(outcome.error, EpsilondError)
        return outcome.error
    if not isinstance(outcome, RenderedAnswer):
        return rankings.Undecided("internal-error: the service failed to compute it")
    answer: JsonObject = json.loads(outcome.body)
    if "reached" not in answer:
        return rankings.outcome_of_calibration(answer, draft.request)
    return Found(
        request=answer["request"], calibration=answer["calibration"], reached=Reached.from_json(answer["reached"])
    )

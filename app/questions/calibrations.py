"""POST /v1/calibrations/{algorithm}: one question, or the same at many values of one field."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Annotated, Any

from pydantic import Discriminator, Tag

from epsilond.app.questions import sweeps
from epsilond.app.questions.question import Question
from epsilond.app.questions.validation import Validator
from epsilond.app.workers.work import rendered
from epsilond.calibrators.calibration import Calibrator, listed
from epsilond.calibrators.strict_json import parse


def read_calibration(home: str, name: str, body: bytes) -> Question:
    """The calibration, or the sweep, that a body asks of an algorithm of module `home`'s list.

    Raises:
        Malformed: it is not JSON.
        InvalidInput: it is no problem of this algorithm.
    """
    calibrator, many, validated = of_calibrator(home, name)
    problem = validated(parse(body))
    if isinstance(problem, many):
        return sweeps.question_of(calibrator, problem, partial(calibration_of, calibrator))
    return calibration_of(calibrator, problem)


def calibration_of(calibrator: Calibrator, problem: Any, *, true_figures: bool = True) -> Question:
    """A single calibration, of a problem that has been read."""
    solve = calibrator.solve if true_figures else partial(calibrator.solve, true_figures=False)
    told = problem if true_figures else (problem, "without true figures")
    closed_form = calibrator.cost(problem) == "closed-form"
    computation = partial(rendered, solve, problem)
    return Question.of("calibration", calibrator.name, told, computation, closed_form=closed_form)


@cache
def of_calibrator(home: str, name: str) -> tuple[Calibrator, type, Validator]:
    """The calibrator of a list, what its sweep is read as, and how either is read."""
    calibrator = listed(home, name)
    many: Any = sweeps.body_type(calibrator)
    one: Any = calibrator.problem
    either = Annotated[Annotated[one, Tag("single")] | Annotated[many, Tag("sweep")], Discriminator(_which)]
    return calibrator, many, Validator(either)


def _which(body: Any) -> str:
    return "sweep" if isinstance(body, Mapping) and "sweep" in body else "single"

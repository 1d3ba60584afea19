"""One calibration at many values of one field: `sweep: {field, values}` in the body of any calibration.

Each value is validated like the field of a single body, and answered from the same cache. A sweep therefore equals its
single calls. An error of a value is the problem of that value only. An error elsewhere is an error of the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import cache, partial
from operator import getitem
from typing import Annotated, ClassVar, Literal, get_type_hints

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Quantity, quantity_of, request
from epsilond.app.catalogue import pascal
from epsilond.app.http.problems import ProblemDocument, problem_of, text_of
from epsilond.app.questions.question import Question
from epsilond.app.workers.work import Outcome, RefusedAnswer, RenderedAnswer
from epsilond.calibrators.answer import Calibration, Served
from epsilond.calibrators.calibration import Calibrator
from epsilond.reading import read_body

MOST_VALUES = 200
FIELD = Quantity(description="the field that takes the values; its value in the body is not used")
VALUES = Quantity(description=f"its values, 1 to {MOST_VALUES}; each is answered by itself")
TRUE_FIGURES = Quantity(
    description="whether printed readings show the true figures at their parameters. For some algorithms this takes "
    "most of the time: use false for a picture"
)
SWEEP = Quantity(description="the same question at each of these values of one field")


@request
class Sweep:
    """One field of a calibration and the values it takes."""

    field: Annotated[str, FIELD]
    values: Annotated[tuple[object, ...], VALUES]
    true_figures: Annotated[bool, TRUE_FIGURES] = True


@dataclass(frozen=True, kw_only=True)
class SweepProblem:
    """A calibration's own fields, but for the one that is swept, and `sweep`."""

    __pydantic_config__: ClassVar = {"extra": "allow"}

    sweep: Annotated[Sweep, SWEEP]


@dataclass(frozen=True, kw_only=True)
class AtValue:
    """The answer at one value, or the problem with it."""

    value: object
    answer: Annotated[Calibration | None, Served("answer of a single call")] = None
    problem: Annotated[ProblemDocument | None, Served("problem document of the single call")] = None


@dataclass(frozen=True, kw_only=True)
class SweepAnswer:
    """The answers of a calibration at many values, in their order."""

    algorithm: str
    sweep: Sweep
    answers: tuple[AtValue, ...]


@cache
def body_type(algorithm: str, problem: Hashable) -> type:
    """Make the request class of a sweep, which is one calibration at many values of one field.

    It has all fields of a calibration, each optional, and the field `sweep` with the name and the values of one field.

    Args:
        algorithm: name of the calibrator.
        problem: request class of its calibrations.
    """
    name = pascal(algorithm)
    hints = get_type_hints(problem, include_extras=True)
    words: object = getitem(Literal, tuple(hints))
    sweep: object = request(
        type(
            f"{name}SweepValues",
            (),
            {
                "__doc__": f"A field of {algorithm} and its values.",
                "__annotations__": {
                    "field": Annotated[words, FIELD],
                    "values": Annotated[tuple[object, ...], VALUES],
                    "true_figures": Annotated[bool, TRUE_FIGURES],
                },
                "true_figures": True,
                "check": _check_count,
            },
        )
    )
    return make_dataclass(
        f"{name}SweepProblem",
        [("sweep", Annotated[sweep, SWEEP]), *((member, hint, field(default=None)) for member, hint in hints.items())],
        namespace={"__doc__": f"The fields of {algorithm}, but for the one that is swept."},
        frozen=True,
        kw_only=True,
    )


def _check_count(self: Sweep) -> None:
    if not 1 <= len(self.values) <= MOST_VALUES:
        raise InvalidInput.at("/values", "has too few or too many entries", allowed=f"1 to {MOST_VALUES}")


def question_of(calibrator: Calibrator, body: SweepProblem, single: Callable[..., Question]) -> Question:
    """Return the question of a sweep. Its parts are the calibrations at those values that are valid.

    Args:
        calibrator: the calibrator of the sweep.
        body: the parsed body of the sweep.
        single: makes the question of one calibration from its request and the keyword `true_figures`.

    Raises:
        InvalidInput: a required field, other than the swept field, is missing.
    """
    name, values, true_figures = body.sweep.field, body.sweep.values, body.sweep.true_figures
    names = [member.name for member in fields(calibrator.problem) if member.name != name]
    present = {member: getattr(body, member) for member in names if getattr(body, member) is not None}
    faults = _missing_fields(calibrator.problem, {*present, name})
    if faults:
        raise InvalidInput(*faults)
    problems = [_read_problem(calibrator.problem, {**present, name: value}) for value in values]
    refused = tuple(RefusedAnswer(problem) if isinstance(problem, InvalidInput) else None for problem in problems)
    valid = [problem for problem in problems if not isinstance(problem, InvalidInput)]
    parts = tuple(single(problem, true_figures=true_figures) for problem in valid)
    join = partial(answer_of, calibrator.name, name, values, refused)
    return Question.of("sweep", calibrator.name, (name, values, present, true_figures), join, parts=parts)


def _missing_fields(problem: type, present: Container[str]) -> list[Fault]:
    """Return a fault for each field without a default that is not present."""
    hints = get_type_hints(problem, include_extras=True)
    faults = []
    for member in fields(problem):
        is_required = member.default is MISSING and member.default_factory is MISSING
        if is_required and member.name not in present:
            quantity = quantity_of(hints[member.name])[1]
            allowed = quantity.allowed if quantity else None
            faults.append(Fault(f"/{member.name}", "is required", allowed or None))
    return faults


def answer_of(
    algorithm: str,
    name: str,
    values: Sequence[object],
    refused: Sequence[RefusedAnswer | None],
    outcomes: tuple[Outcome, ...],
) -> RenderedAnswer:
    """Join the answer of a sweep, which has for each value either an answer or a problem.

    Args:
        algorithm: name of the calibrator.
        name: name of the swept field.
        values: the values of the field.
        refused: the refusal of each invalid value, and None for each valid value.
        outcomes: outcomes of the valid values, in their order.
    """
    remaining = iter(outcomes)
    parts = (_part(value, refusal or next(remaining)) for value, refusal in zip(values, refused, strict=True))
    head = json.dumps({"algorithm": algorithm, "sweep": {"field": name, "values": values}}, ensure_ascii=False)
    return RenderedAnswer(head.encode()[:-1] + b',"answers":[' + b",".join(parts) + b"]}")


def _read_problem(declared: type, members: JsonObject) -> object:
    """Return the problem at one value, or the error that rejects it."""
    try:
        return read_body(declared, members)
    except InvalidInput as error:
        return error


def _part(value: object, outcome: Outcome) -> bytes:
    value_text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    if isinstance(outcome, RenderedAnswer):
        return b'{"value":' + value_text + b',"answer":' + outcome.body + b"}"
    return b'{"value":' + value_text + b',"problem":' + text_of(problem_of(outcome.error)) + b"}"

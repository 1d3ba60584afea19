"""One calibration at many values of one field: `sweep: {field, values}` in the body of any calibration.

Each value is validated and answered like that of a single calibration, with the same cache. An error of a value is the
problem of that value only. An error elsewhere is an error of the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import cache, partial
from operator import getitem
from typing import Annotated, ClassVar, Literal, get_type_hints

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import Quantity, quantity_of, request
from epsilond.app.catalogue import pascal
from epsilond.app.http.problems import ProblemDocument, problem_of, text_of
from epsilond.app.questions.question import Question
from epsilond.app.workers.work import Outcome, RefusedAnswer, RenderedAnswer
from epsilond.calibrators.answer import Calibration, Served
from epsilond.calibrators.calibration import Calibrator
from epsilond.reading import read_body

MOST_VALUES = 200
"""Largest number of values of one sweep."""
FIELD = Quantity(
    description="name of the field that takes different values. A value of this field elsewhere in the body is ignored"
)
VALUES = Quantity(description=f"values of the swept field, 1 to {MOST_VALUES}; each is answered separately")
TRUE_FIGURES = Quantity(
    description="true: where a printed formula prescribes parameters, the certified guarantee there is "
    "computed too. For some algorithms this takes most of the time; use false for a plot"
)
SWEEP = Quantity(description="the name and the values of one field of the calibration, at each of which it is answered")


@request
class Sweep:
    """One field of a calibration and the values it takes."""

    field: Annotated[str, FIELD]
    values: Annotated[tuple[object, ...], VALUES]
    true_figures: Annotated[bool, TRUE_FIGURES] = True


@dataclass(frozen=True, kw_only=True)
class SweepProblem:
    """The fields of a calibration except the swept one, and `sweep` with the name and the values of that field."""

    __pydantic_config__: ClassVar = {"extra": "allow"}

    sweep: Annotated[Sweep, SWEEP]


@dataclass(frozen=True, kw_only=True)
class AtValue:
    """The answer at one value of the swept field, or the problem with this value."""

    value: object
    answer: Annotated[Calibration | None, Served("calibration at this value; absent if there is a problem")] = None
    problem: Annotated[
        ProblemDocument | None,
        Served("problem document with the reason why there is no calibration at this value; absent if there is one"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SweepAnswer:
    """The answers of a calibration at many values, in their order."""

    algorithm: str
    sweep: Sweep
    answers: tuple[AtValue, ...]


@cache
def body_type(algorithm: str, problem: Hashable) -> type:
    """Make the request class of a sweep: all fields of a calibration, each optional, and the field `sweep`.

    Args:
        algorithm: name of the calibrator.
        problem: request class of its calibrations.

    Returns:
        A new dataclass, by which the bodies of requests are read and described.
    """
    hints = get_type_hints(problem, include_extras=True)
    field_types = {member.name: hints[member.name] for member in fields(problem)}  # type: ignore[arg-type]
    optional_fields = [(name, field_type, field(default=None)) for name, field_type in field_types.items()]
    sweep_type: object = _sweep_type(algorithm, tuple(field_types))
    sweep_field = ("sweep", Annotated[sweep_type, SWEEP])
    return make_dataclass(
        f"{pascal(algorithm)}SweepProblem",
        [sweep_field, *optional_fields],
        namespace={"__doc__": f"The fields of {algorithm} except the swept one, and `sweep`."},
        frozen=True,
        kw_only=True,
    )


def _sweep_type(algorithm: str, field_names: tuple[str, ...]) -> type:
    """Make a class like `Sweep` with a `field` that accepts only names of fields of one algorithm.

    Args:
        algorithm: name of the algorithm that is calibrated.
        field_names: names of the fields of its calibrations.

    Returns:
        A new request class with the fields `field`, `values` and `true_figures`.
    """
    field_type: object = getitem(Literal, field_names)
    members = {
        "__doc__": f"A field of {algorithm} and its values.",
        "__annotations__": {
            "field": Annotated[field_type, FIELD],
            "values": Annotated[tuple[object, ...], VALUES],
            "true_figures": Annotated[bool, TRUE_FIGURES],
        },
        "true_figures": True,
        "check": _check_count,
    }
    return request(type(f"{pascal(algorithm)}SweepValues", (), members))


def _check_count(self: Sweep) -> None:
    """Reject a sweep without values or with more than `MOST_VALUES`.

    Args:
        self: the sweep; the function becomes a method of the classes that `_sweep_type` makes.

    Raises:
        InvalidInput: there are too few or too many values.
    """
    if not 1 <= len(self.values) <= MOST_VALUES:
        raise InvalidInput.at("/values", "has too few or too many entries", allowed=f"1 to {MOST_VALUES}")


def question_of(calibrator: Calibrator, body: SweepProblem, single: Callable[..., Question]) -> Question:
    """Return the computation that a sweep requests: a calibration for each of several values of one field.

    A question is a requested computation. It can have other questions as parts. Their results are joined to one answer.

    Args:
        calibrator: the calibrator of the sweep.
        body: the parsed body of the sweep.
        single: makes the question of one calibration from its request. If its keyword `true_figures` is true, the
            answer also has the ε that a paper's formula truly achieves.

    Returns:
        The question, with one part for each valid value. Its answer also has the errors of the invalid values.

    Raises:
        InvalidInput: a required field, other than the swept field, is missing.
    """
    sweep = body.sweep
    common_fields = _common_fields(calibrator.problem, body)
    faults = _missing_fields(calibrator.problem, {*common_fields, sweep.field})
    if faults:
        raise InvalidInput(*faults)
    rejections: list[RefusedAnswer | None] = []
    parts: list[Question] = []
    # Each value is validated as in a single calibration. An invalid one does not fail the sweep.
    for value in sweep.values:
        try:
            problem = read_body(calibrator.problem, {**common_fields, sweep.field: value})
        except InvalidInput as error:
            rejections.append(RefusedAnswer(error))
        else:
            rejections.append(None)
            parts.append(single(problem, true_figures=sweep.true_figures))
    join = partial(join_answers, calibrator.name, sweep.field, sweep.values, tuple(rejections))
    # Everything that the answer depends on. Equal sweeps are computed once.
    inputs = (sweep.field, sweep.values, common_fields, sweep.true_figures)
    return Question.of("sweep", calibrator.name, inputs, join, parts=tuple(parts))


def _common_fields(problem: type, body: SweepProblem) -> JsonRecord:
    """Return the fields that all calibrations of a sweep share: those of the body, without the swept one.

    Args:
        problem: request class of the calibrations.
        body: the parsed body of the sweep.

    Returns:
        The values of the given fields, by name.
    """
    names = [member.name for member in fields(problem) if member.name != body.sweep.field]
    values = {name: getattr(body, name) for name in names}
    # Absent fields are None.
    return {name: value for name, value in values.items() if value is not None}


def _missing_fields(problem: type, present: Container[str]) -> list[Fault]:
    """Return an error for each required field of a request that was not given.

    Args:
        problem: request class; a field without a default is required.
        present: names of the fields that were given.

    Returns:
        The errors, each with the pointer to its field and the values that it may have.
    """
    hints = get_type_hints(problem, include_extras=True)
    faults = []
    for member in fields(problem):
        is_required = member.default is MISSING and member.default_factory is MISSING
        if is_required and member.name not in present:
            _, quantity = quantity_of(hints[member.name])
            allowed = quantity.allowed if quantity else None
            faults.append(Fault(f"/{member.name}", "is required", allowed or None))
    return faults


def join_answers(
    algorithm: str,
    name: str,
    values: Sequence[object],
    rejections: Sequence[RefusedAnswer | None],
    outcomes: tuple[Outcome, ...],
) -> RenderedAnswer:
    """Join the calibrations of a sweep into one answer, which has a calibration or a problem for each value.

    The JSON texts of the outcomes are copied without being parsed.

    Args:
        algorithm: name of the calibrator.
        name: name of the swept field.
        values: the values of the field.
        rejections: the rejection of each invalid value, and None for each valid value.
        outcomes: outcomes of the valid values, in their order.

    Returns:
        The answer as JSON, with the members `algorithm`, `sweep` and `answers`.
    """
    remaining_outcomes = iter(outcomes)
    parts = []
    for value, rejection in zip(values, rejections, strict=True):
        outcome = next(remaining_outcomes) if rejection is None else rejection
        parts.append(_render_part(value, outcome))
    head = json.dumps({"algorithm": algorithm, "sweep": {"field": name, "values": values}}, ensure_ascii=False)
    open_head = head.encode().removesuffix(b"}")
    answers = b",".join(parts)
    return RenderedAnswer(open_head + b',"answers":[' + answers + b"]}")


def _render_part(value: object, outcome: Outcome) -> bytes:
    """Render one value of the swept field with its answer, or with its problem, as JSON.

    Args:
        value: the value of the swept field.
        outcome: the rendered calibration at this value, or the error that it ended with.

    Returns:
        A JSON object with the members `value`, and `answer` or `problem`.
    """
    value_text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    if isinstance(outcome, RenderedAnswer):
        return b'{"value":' + value_text + b',"answer":' + outcome.body + b"}"
    problem_text = text_of(problem_of(outcome.error))
    return b'{"value":' + value_text + b',"problem":' + problem_text + b"}"

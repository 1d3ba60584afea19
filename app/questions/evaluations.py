"""POST /v1/theorems/{id}/evaluations: the formula of a theorem at given inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from operator import getitem
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.theorem import Erratum, Reading, Status, Theorem
from epsilond.app.questions.question import Question
from epsilond.app.workers.work import RenderedAnswer, render
from epsilond.calibrators.answer import ConditionAnswer, Served
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body

INPUTS = Quantity(description="what the formula is evaluated at")
READING = Quantity(description="the formula as printed, or with its errata corrected")


@request
class EvaluationRequest:
    """What a theorem's formula is evaluated at; which inputs it has stands at /v1/theorems/{id}, `inputs_schema`."""

    inputs: Annotated[JsonObject, INPUTS]
    reading: Annotated[Reading, READING] = "printed"


@dataclass(frozen=True, kw_only=True)
class EvaluationAnswer:
    """The outputs of a formula, beside the theorem's conditions, status and errata."""

    outputs: Annotated[
        JsonObject,
        Served("the formula's outputs by name, as in the theorem's `outputs_schema`; an infinite one is unbounded"),
    ]
    conditions: tuple[ConditionAnswer, ...]
    status: Status
    errata: tuple[Erratum, ...]
    reading: Annotated[Reading, Served("which reading of the formula these outputs are of")]


def read_evaluation(home: str, identifier: str, body: bytes) -> Question:
    """The evaluation of a theorem of module `home`'s list that a body asks for.

    Raises:
        MalformedJson: it is not JSON.
        InvalidInput: these are no inputs of the theorem's formula.
    """
    asked = read_body(of_formula(home, identifier), parse(body))
    computation = partial(evaluate, home, identifier, asked.reading, asked.inputs)
    return Question.of("evaluation", identifier, asked, computation)


def evaluate(home: str, identifier: str, reading: Reading, inputs: object) -> RenderedAnswer:
    """The formula of a theorem of module `home`'s list, rendered. Theorems hold functions, so they go by name.

    Raises:
        InvalidInput: as the formula does; pointers lead into the body, where its inputs stand one level down.
    """
    try:
        return RenderedAnswer(render(_theorem(home, identifier).evaluate(inputs, reading)))
    except InvalidInput as error:
        raise InvalidInput(*(Fault(f"/inputs{it.pointer}", it.message, it.allowed) for it in error.faults)) from None


def body_type(theorem: Theorem) -> type:
    """The request class {inputs, reading?} of one theorem's formula, with only the readings it has."""
    readings: object = getitem(Literal, theorem.readings)
    members = {
        "__doc__": f"Evaluate the formula of {theorem.id}.",
        "__annotations__": {"inputs": Annotated[theorem.inputs, INPUTS], "reading": Annotated[readings, READING]},
        "reading": "printed",
    }
    return request(type(EvaluationRequest.__name__, (), members))


@cache
def of_formula(home: str, identifier: str) -> type:
    """Return the request class of the formula of a theorem of a list."""
    return body_type(_theorem(home, identifier))


@cache
def _theorem(home: str, identifier: str) -> Theorem:
    found: Theorem = next(each for each in import_module(home).THEOREMS if each.id == identifier)
    return found

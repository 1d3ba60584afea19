"""POST /v1/theorems/{id}/evaluations: the formula of a theorem at the inputs of the request."""

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

INPUTS = Quantity(description="inputs of the formula by name, as in the theorem's inputs_schema")
READING = Quantity(
    description="which version of the formula is evaluated. printed: as the paper prints it. corrected: with "
    "its known errors corrected"
)


@request
class EvaluationRequest:
    """The inputs of a theorem's formula; `inputs_schema` at /v1/theorems/{id} lists them."""

    inputs: Annotated[JsonObject, INPUTS]
    reading: Annotated[Reading, READING] = "printed"


@dataclass(frozen=True, kw_only=True)
class EvaluationAnswer:
    """The outputs of a formula, with the theorem's conditions, status and errata."""

    outputs: Annotated[
        JsonObject,
        Served(
            'outputs of the formula by name, as in the theorem\'s outputs_schema. ∞ is "unbounded", and −∞ '
            'is "-unbounded"'
        ),
    ]
    conditions: tuple[ConditionAnswer, ...]
    status: Status
    errata: tuple[Erratum, ...]
    reading: Annotated[Reading, Served("version of the formula that was evaluated")]


def read_evaluation(home: str, identifier: str, body: bytes) -> Question:
    """Read a request to evaluate a theorem's formula, and return the question: the computation to be done.

    Args:
        home: module with the list of theorems.
        identifier: id of the theorem.
        body: the JSON text.

    Returns:
        The question; its answer has the outputs of the formula.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body has no valid inputs of the theorem's formula.
    """
    request = read_body(formula_request(home, identifier), parse(body))
    computation = partial(evaluate, home, identifier, request.reading, request.inputs)
    return Question.of("evaluation", identifier, request, computation)


def evaluate(home: str, identifier: str, reading: Reading, inputs: object) -> RenderedAnswer:
    """Evaluate the formula of a theorem, and return the evaluation as JSON.

    The theorem is given by name, because theorems contain functions, which cannot be pickled for a worker.

    Args:
        home: name of the module with the list of theorems.
        identifier: id of the theorem.
        reading: version of the formula: "printed", "corrected" or another version that the theorem has.
        inputs: inputs of the formula.

    Returns:
        The outputs, conditions, status and errata, in the form in which workers return answers.

    Raises:
        InvalidInput: the inputs are not valid. The pointers of its faults begin with "/inputs", as in the body.
    """
    try:
        return RenderedAnswer(render(_theorem(home, identifier).evaluate(inputs, reading)))
    except InvalidInput as error:
        faults = [Fault(f"/inputs{fault.pointer}", fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None


def body_type(theorem: Theorem) -> type:
    """Make the request class for evaluations of one theorem's formula.

    Its fields are `inputs`, of the theorem's own class, and `reading`: the version of the formula, one of the versions
    that the theorem has, by default "printed".

    Args:
        theorem: a theorem with a formula.

    Returns:
        A new class, which is used to read and to describe the bodies of requests.
    """
    readings: object = getitem(Literal, theorem.readings)
    members = {
        "__doc__": f"Evaluate the formula of {theorem.id}.",
        "__annotations__": {"inputs": Annotated[theorem.inputs, INPUTS], "reading": Annotated[readings, READING]},
        "reading": "printed",
    }
    return request(type(EvaluationRequest.__name__, (), members))


@cache
def formula_request(home: str, identifier: str) -> type:
    """Return the request class of the formula of a theorem in the list of module `home`."""
    return body_type(_theorem(home, identifier))


@cache
def _theorem(home: str, identifier: str) -> Theorem:
    """Return the theorem with this id in the list of module `home`."""
    theorem: Theorem = next(candidate for candidate in import_module(home).THEOREMS if candidate.id == identifier)
    return theorem

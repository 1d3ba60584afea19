"""The body and the answer of a formula's evaluation, for all theorems and for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import getitem
from typing import Annotated, Any, Literal

from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.theorem import Erratum, Reading, Status, Theorem
from epsilond.calibrators.answer import ConditionAnswer, Served

INPUTS = Quantity(description="what the formula is evaluated at")
READING = Quantity(description="the formula as printed, or with its errata corrected")


@request
class EvaluationRequest:
    """What a theorem's formula is evaluated at; which inputs it has stands at /v1/theorems/{id}, `inputs_schema`."""

    inputs: Annotated[Mapping[str, Any], INPUTS]
    reading: Annotated[Reading, READING] = "printed"


@dataclass(frozen=True, kw_only=True)
class EvaluationAnswer:
    """The outputs of a formula, beside the theorem's conditions, status and errata."""

    outputs: Annotated[
        Mapping[str, Any],
        Served("the formula's outputs by name, as in the theorem's `outputs_schema`; an infinite one is unbounded"),
    ]
    conditions: tuple[ConditionAnswer, ...]
    status: Status
    errata: tuple[Erratum, ...]
    reading: Annotated[Reading, Served("which reading of the formula these outputs are of")]


def body_type(theorem: Theorem) -> type:
    """The request class {inputs, reading?} of one theorem's formula, with only the readings it has."""
    readings: Any = getitem(Literal, theorem.readings)
    members = {
        "__doc__": f"Evaluate the formula of {theorem.id}.",
        "__annotations__": {"inputs": Annotated[theorem.inputs, INPUTS], "reading": Annotated[readings, READING]},
        "reading": "printed",
    }
    return request(type(EvaluationRequest.__name__, (), members))

"""A theorem as a single document: with its conditions, its errata, and the schemas of its formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import TypeAdapter

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Erratum, Reading, Theorem
from epsilond.app.catalogue import TheoremSummary
from epsilond.app.http.components.walk import Schema
from epsilond.app.http.schemas import map_objects, without_null
from epsilond.calibrators.answer import UNBOUNDED, Served, as_json
from epsilond.listing import ListedCondition, theorem_in_full
from epsilond.reading import read_body

NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": [UNBOUNDED, f"-{UNBOUNDED}"]}]}
"""Schema of a numerical output, which may be infinite at other inputs."""


@dataclass(frozen=True, kw_only=True)
class TheoremDetail(TheoremSummary):
    """A theorem with its conditions, its errata, and the inputs and outputs of its formula if it has one.

    A reading is a way to understand the formula: as printed, or as corrected.
    """

    conditions: tuple[ListedCondition, ...]
    errata: tuple[Erratum, ...]
    readings: Annotated[
        tuple[Reading, ...] | None,
        Served("versions of the formula (readings) that can be evaluated; absent if the theorem has no formula"),
    ] = None
    inputs_schema: Annotated[
        JsonObject | None, Served("JSON schema of the formula's inputs; absent if the theorem has no formula")
    ] = None
    outputs_schema: Annotated[
        JsonObject | None,
        Served(
            "JSON schema of the formula's outputs at the examples. At other inputs some may be absent, or "
            "further ones present. Absent if the theorem has no formula"
        ),
    ] = None
    examples: Annotated[tuple[JsonObject, ...] | None, Served("inputs to try")] = None

    @classmethod
    def of(cls, theorem: Theorem) -> TheoremDetail:
        """Return the complete description of a theorem, with its links and the schemas of its formula.

        Args:
            theorem: a theorem of the service's list. Without a formula, both schemas are None.

        Returns:
            The description, which the service renders as JSON.
        """
        full = theorem_in_full(theorem)
        has_formula = bool(full.readings)
        return cls(
            **vars(full),
            links=TheoremSummary.of(theorem).links,
            inputs_schema=inputs_schema(theorem) if has_formula else None,
            outputs_schema=outputs_schema(theorem) if has_formula else None,
        )


def inputs_schema(theorem: Theorem) -> Schema:
    """Return the JSON schema of the inputs of a theorem's formula."""
    assert theorem.inputs is not None  # it has a formula
    adapter = TypeAdapter[object](theorem.inputs)
    schema: Schema = map_objects(adapter.json_schema(), without_null)
    return schema


def outputs_schema(theorem: Theorem) -> Schema:
    """Return the JSON schema of the outputs of a theorem's formula: their names and types.

    A formula declares its inputs but not its outputs. They are inferred by evaluating the formula at the theorem's
    example inputs, in each reading: as printed, or as corrected.

    Args:
        theorem: a theorem with a formula.

    Returns:
        The schema that all these outputs satisfy. If no example can be evaluated, it is the schema of any object.
    """
    declared: object = theorem.inputs
    answers = []
    for inputs in theorem.examples:
        for reading in theorem.readings:
            try:
                answers.append(as_json(theorem.evaluate(read_body(declared, inputs), reading).outputs))
            except EpsilondError:  # some examples can be evaluated in one reading only
                continue
    return _infer_schema(answers) if answers else {"type": "object"}


def _infer_schema(values: Sequence[Any]) -> Schema:
    """Infer a JSON schema that all given values satisfy.

    Args:
        values: at least one JSON value. An infinite number is a text, which the schema of a number allows.

    Returns:
        The schema of their type. If their types differ, the empty schema, which allows every value.
    """
    if all(isinstance(value, Mapping) for value in values):
        return _infer_object_schema(values)
    if all(isinstance(value, list) for value in values):
        items: list[Any] = []
        for value in values:
            items.extend(value)
        return {"type": "array", "items": _infer_schema(items)} if items else {"type": "array"}

    # Booleans must be tested before numbers, because in Python a bool is an int.
    if all(isinstance(value, bool) for value in values):
        return {"type": "boolean"}
    infinite_numbers = NUMBER["anyOf"][1]["enum"]
    if all(isinstance(value, int | float) or value in infinite_numbers for value in values):
        return NUMBER
    if all(isinstance(value, str) for value in values):
        return {"type": "string"}
    return {}


def _infer_object_schema(values: Sequence[Mapping[str, Any]]) -> Schema:
    """Infer the schema of JSON objects, with a property for each member that at least one of them has."""
    members: dict[str, list[Any]] = {}
    for value in values:
        for name, member in value.items():
            members.setdefault(name, []).append(member)
    return {"type": "object", "properties": {name: _infer_schema(group) for name, group in members.items()}}

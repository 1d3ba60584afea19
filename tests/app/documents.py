"""Reading the OpenAPI document, and the schemas that stand at each theorem."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

import jsonschema

from epsilond.accountants.theorem import Theorem
from epsilond.app.theorem_detail import inputs_schema, outputs_schema

EVALUATIONS = "/v1/theorems/{id}/evaluations"
SWEEPS = "/v1/calibrations/{algorithm}/sweeps"


def conforms(document: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    """Fail unless `value` is of the schema."""
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": document["components"], **schema}
    jsonschema.Draft202012Validator(whole).validate(value)


def resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the document, or the component that it refers to."""
    if "$ref" not in part:
        return part
    _, components, kind, name = part["$ref"].split("/")
    component: dict[str, Any] = document[components][kind][name]
    return component


def content(document: dict[str, Any], operation: dict[str, Any], status: int) -> dict[str, Any]:
    """Return the schema that an operation declares for a status."""
    media_types = resolved(document, operation["responses"][str(status)])["content"]
    schema: dict[str, Any] = next(iter(media_types.values()))["schema"]
    return schema


def with_theorems(document: dict[str, Any], theorems: Iterable[Theorem]) -> dict[str, Any]:
    """The document with an operation for each theorem's evaluations in place of the one for all of them."""
    whole = copy.deepcopy(document)
    common = whole["paths"].pop(EVALUATIONS)["post"]
    schemas = whole["components"]["schemas"]
    for theorem in theorems:
        if theorem.formula is None or theorem.inputs is None:
            continue
        operation = copy.deepcopy(common) | {"operationId": f"evaluate_{theorem.id}"}
        del operation["parameters"]
        request = copy.deepcopy(schemas["EvaluationRequest"])
        request["properties"] |= {
            "inputs": _moved(inputs_schema(theorem), theorem.id, schemas),
            "reading": {"enum": list(theorem.readings)},
        }
        answer = copy.deepcopy(schemas["EvaluationAnswer"])
        answer["properties"]["outputs"] = outputs_schema(theorem)
        asked = operation["requestBody"]["content"]["application/json"]
        asked["schema"] = request
        asked["examples"] = {"first": {"value": {"inputs": dict(theorem.examples[0])}}}
        operation["responses"]["200"] = copy.deepcopy(resolved(whole, operation["responses"]["200"]))
        operation["responses"]["200"]["content"]["application/json"]["schema"] = answer
        whole["paths"][EVALUATIONS.replace("{id}", theorem.id)] = {"post": operation}
    return whole


def _moved(schema: dict[str, Any], name: str, schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema, with its own `$defs` among the document's."""
    place = f"#/components/schemas/{name}."
    moved: dict[str, Any] = json.loads(json.dumps(schema).replace('"#/$defs/', f'"{place}'))
    schemas |= {f"{name}.{key}": each for key, each in moved.pop("$defs", {}).items()}
    return moved

"""The committed OpenAPI document, read for the pages: operations, and the fields of their requests as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scripts.pages.markdown import code, plain, table

FILE = Path(__file__).parents[2] / "openapi" / "openapi.json"
SIGNS = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
HEAD = ("field", "symbol", "what", "unit", "allowed", "if absent")


@cache
def document() -> Mapping[str, Any]:
    """Return the OpenAPI document."""
    content: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def operations() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield method, path and operation, in the document's order."""
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def operation(path: str, method: str = "post") -> Mapping[str, Any] | None:
    """Return the operation of a path and a method; None if there is none."""
    match: Mapping[str, Any] | None = document()["paths"].get(path, {}).get(method)
    return match


def resolve(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a reference names; members next to the reference override its members."""
    if "$ref" not in schema:
        return schema
    target = document()["components"]["schemas"][_name_of(schema)]
    return {**target, **{name: value for name, value in schema.items() if name != "$ref"}}


def parameters(of: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parameters of an operation, those that it shares with others included."""
    return [_component("parameters", parameter) for parameter in of.get("parameters", ())]


def responses(of: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the responses of an operation by status, those that it shares with others included."""
    return {status: _component("responses", response) for status, response in of["responses"].items()}


def _component(group: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item, or the component of its group that it refers to."""
    if "$ref" not in item:
        return item
    component: Mapping[str, Any] = document()["components"][group][_name_of(item)]
    return component


def _name_of(reference: Mapping[str, Any]) -> str:
    """Return the name of the component that a reference leads to."""
    return str(reference["$ref"]).rpartition("/")[2]


def inline(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a JSON schema in which the definitions themselves replace the references to them.

    Args:
        schema: the schema, with its definitions in `$defs`.

    Returns:
        A copy without `$ref` and `$defs`.
    """
    definitions = schema.get("$defs", {})

    def replace(node: Any) -> Any:
        """Replace the references within a node."""
        if isinstance(node, list):
            return [replace(item) for item in node]
        if not isinstance(node, dict):
            return node
        # Members next to a reference replace those of the definition.
        target = definitions[_name_of(node)] if "$ref" in node else {}
        return {key: replace(item) for key, item in {**target, **node}.items() if key not in ("$ref", "$defs")}

    result: Mapping[str, Any] = replace(schema)
    return result


def body(of: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of an operation's JSON body, or None if it takes none."""
    content = of.get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return None
    return resolve(content["schema"])


def examples(of: Mapping[str, Any]) -> list[Any]:
    """Return the example bodies of an operation; a test posts each of them."""
    content = of.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [example["value"] for example in content.get("examples", {}).values()]


def fields(schema: Mapping[str, Any]) -> str:
    """Return a table of an object's members."""
    required = schema.get("required", ())
    rows = (_row(name, resolve(member), name in required) for name, member in schema.get("properties", {}).items())
    return table(HEAD, rows)


def _row(name: str, member: Mapping[str, Any], is_required: bool) -> tuple[str, ...]:
    default = member.get("x-default", member.get("default"))
    absent = "needed" if is_required else ""
    if default is not None:
        absent = code(json.dumps(default))
    words = (member.get("x-symbol", ""), member.get("description", ""), member.get("x-unit", ""), admissible(member))
    return code(name), *map(plain, words), absent


def admissible(schema: Mapping[str, Any]) -> str:
    """Describe the values that a JSON schema admits: a range or a list of choices.

    Args:
        schema: the schema.

    Returns:
        Words such as `whole ≥ 1`; empty if nothing is stated.
    """
    values = schema.get("x-values") or schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if values:
        return ", ".join(map(str, values))
    if schema.get("type") == "array":
        return f"a list: {admissible(resolve(schema.get('items', {}))) or 'see the schema'}"
    if "anyOf" in schema or "oneOf" in schema:
        options = (admissible(resolve(option)) for option in schema.get("anyOf") or schema["oneOf"])
        return "; or ".join(dict.fromkeys(filter(None, options)))
    if "$ref" in schema:
        return admissible(resolve(schema))
    bounds = " and ".join(f"{sign} {schema[name]:g}" for name, sign in SIGNS.items() if name in schema)
    kind = {"integer": "whole", "boolean": "true or false", "object": "an object"}.get(schema.get("type", ""), "")
    return " ".join(filter(None, (kind, bounds)))

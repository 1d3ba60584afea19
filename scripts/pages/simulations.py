"""The fields of every simulation's result, from the classes of the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter

from epsilond.witness.kind import SimulationKind
from epsilond.witness.kinds import KINDS
from scripts.pages.markdown import code, plain, table

HEAD = ("field", "form", "what")
WORDS = {
    "number": "number",
    "integer": "whole number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}
Schema = Mapping[str, Any]


def result_schema(kind: SimulationKind) -> Schema:
    """Return the JSON schema of the result of a kind of simulation."""
    if kind.answer is None:
        return {"type": "object"}
    return TypeAdapter(kind.answer).json_schema(mode="serialization")


def results() -> str:
    """Write a table of the result's fields for each kind of simulation, then one table for each object inside them.

    Returns:
        The tables in Markdown.
    """
    parts, nested = [], {}
    for kind in KINDS:
        schema = result_schema(kind)
        parts.append(f"### The result of {code(kind.example['kind'])}\n\n{_fields(schema)}\n")
        nested |= schema.get("$defs", {})
    for name, schema in sorted(nested.items()):
        if "properties" in schema:
            parts.append(f"#### {code(name)}\n\n{plain(schema.get('description', ''))}\n\n{_fields(schema)}\n")
        else:
            parts.append(f"#### {code(name)}\n\n{plain(schema.get('description', ''))} {_form(schema)}.\n")
    return "\n".join(parts)


def _fields(schema: Schema) -> str:
    """Write a table of an object's members."""
    return table(HEAD, list(_rows(schema)))


def _rows(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Yield name, admissible values and description of each member of an object."""
    for name, member in schema["properties"].items():
        optional = member.get("default", ...) is None
        form = f"{_form(member)}; may be absent" if optional else _form(member)
        yield code(name), form, plain(member.get("description", ""))


def _form(schema: Schema) -> str:
    """Describe the values that a JSON schema admits.

    Args:
        schema: the schema.

    Returns:
        A type, a list, the name of an object, or the values of an enumeration, in Markdown. Null is left out of
        alternatives.
    """
    if "$ref" in schema:
        return code(schema["$ref"].rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return ", ".join(code(str(value)) for value in schema.get("enum", [schema.get("const")]))
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(_form(option) for option in options if option.get("type") != "null"))
    if schema.get("type") == "array":
        return f"list of {_form(schema.get('items', {}))}"
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return f"object of {_form(values)} by name"
    return WORDS.get(schema.get("type", ""), "any JSON value")

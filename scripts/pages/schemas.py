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
    """The whole of it."""
    read: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def operations() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path and operation, in the document's order."""
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def operation(path: str, method: str = "post") -> Mapping[str, Any] | None:
    """One operation, None if there is none."""
    found: Mapping[str, Any] | None = document()["paths"].get(path, {}).get(method)
    return found


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference names; what stands beside the reference goes before it."""
    if "$ref" not in schema:
        return schema
    named = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return {**named, **{name: value for name, value in schema.items() if name != "$ref"}}


def parameters(of: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parameters of an operation, those that it shares with others included."""
    shared = document()["components"].get("parameters", {})
    return [shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in of.get("parameters", ())]


def responses(of: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the responses of an operation by status, those that it shares with others included."""
    shared = document()["components"].get("responses", {})
    return {
        status: shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        for status, each in of["responses"].items()
    }


def inlined(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema that stands by itself, with its `$defs` put where they are referred to."""
    named = schema.get("$defs", {})

    def put(node: Any) -> Any:
        if isinstance(node, dict):
            there = named[node["$ref"].rpartition("/")[2]] if "$ref" in node else {}
            return {key: put(item) for key, item in {**there, **node}.items() if key not in ("$ref", "$defs")}
        return [put(item) for item in node] if isinstance(node, list) else node

    found: Mapping[str, Any] = put(schema)
    return found


def body(of: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of an operation's JSON body, or None if it takes none."""
    content = of.get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return None
    return resolved(content["schema"])


def examples(of: Mapping[str, Any]) -> list[Any]:
    """The bodies that stand in the document as examples; each is posted by a test."""
    content = of.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [example["value"] for example in content.get("examples", {}).values()]


def fields(schema: Mapping[str, Any]) -> str:
    """A table of an object's members."""
    needed = schema.get("required", ())
    rows = (_row(name, resolved(member), name in needed) for name, member in schema.get("properties", {}).items())
    return table(HEAD, rows)


def _row(name: str, member: Mapping[str, Any], needed: bool) -> tuple[str, ...]:
    default = member.get("x-default", member.get("default"))
    absent = code(json.dumps(default)) if default is not None else "needed" if needed else ""
    words = (member.get("x-symbol", ""), member.get("description", ""), member.get("x-unit", ""), allowed(member))
    return code(name), *map(plain, words), absent


def allowed(schema: Mapping[str, Any]) -> str:
    """Range or choices in words."""
    values = schema.get("x-values") or schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if values:
        return ", ".join(map(str, values))
    if schema.get("type") == "array":
        return f"a list: {allowed(resolved(schema.get('items', {}))) or 'see the schema'}"
    if "anyOf" in schema or "oneOf" in schema:
        options = (allowed(resolved(each)) for each in schema.get("anyOf") or schema["oneOf"])
        return "; or ".join(dict.fromkeys(filter(None, options)))
    if "$ref" in schema:
        return allowed(resolved(schema))
    bounds = " and ".join(f"{sign} {schema[name]:g}" for name, sign in SIGNS.items() if name in schema)
    kind = {"integer": "whole", "boolean": "true or false", "object": "an object"}.get(schema.get("type", ""), "")
    return " ".join(filter(None, (kind, bounds)))

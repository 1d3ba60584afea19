"""Walks over the schemas of an OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from epsilond.accountants.json_types import JsonRecord

Schema = JsonRecord
REF = "#/components/schemas/"
DATA = ("example", "examples")
"""Keys whose values are data, so that a pass over schemas leaves them unchanged."""


def map_schemas(document: Schema, change: Callable[[Schema], Schema]) -> None:
    """Apply a function to every schema of an OpenAPI document, inner schemas first, and replace the schema in place.

    Args:
        document: the OpenAPI document.
        change: returns the new schema; it may return its argument.
    """
    for container, key in list(schema_places(document)):
        container[key] = map_schema(container[key], change)


def map_schema(schema: object, change: Callable[[Schema], Schema]) -> object:
    """Return a schema with `change` applied to it and to every schema in it, inner schemas first.

    The function visits properties, list items, values of free names, and alternatives.

    Args:
        schema: a JSON schema, which is not changed. A value that is no schema is returned as it is.
        change: function from a schema to the schema in its place.

    Returns:
        The new schema, or the value that is no schema.
    """
    if not isinstance(schema, dict):
        return schema
    mapped = dict(schema)
    if "properties" in mapped:
        mapped["properties"] = {name: map_schema(inner, change) for name, inner in mapped["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in mapped:
            mapped[key] = map_schema(mapped[key], change)
    for key in ("anyOf", "oneOf"):
        if key in mapped:
            mapped[key] = [map_schema(inner, change) for inner in mapped[key]]
    return change(mapped)


def schema_places(document: Schema) -> Iterator[tuple[Schema, str]]:
    """Yield the places of all outermost schemas of an OpenAPI document.

    Args:
        document: the OpenAPI document.

    Yields:
        The object that contains a schema, and the key of the schema in it.
    """
    schemas = document["components"]["schemas"]
    yield from ((schemas, name) for name in schemas)
    yield from _places_below(document["paths"])
    yield from _places_below([part for kind, part in document["components"].items() if kind != "schemas"])


def _places_below(node: object) -> Iterator[tuple[Schema, str]]:
    """Find the outermost JSON schemas in a part of an OpenAPI document.

    A schema is the value of a member that is called `schema`. Members in `DATA` hold examples, which are no schemas
    even if they have such a member.

    Args:
        node: a JSON value: the part of the document.

    Yields:
        The object that contains a schema, and the key of the schema in it.
    """
    if isinstance(node, dict):
        for key, item in node.items():
            if key == "schema":
                yield node, key
            elif key not in DATA:
                yield from _places_below(item)
    elif isinstance(node, list):
        for item in node:
            yield from _places_below(item)


def references(node: object) -> Iterator[str]:
    """Yield the names of the schemas that a part of the document refers to.

    References are followed only inside the part. `reachable` follows them into the named schemas.

    Args:
        node: any JSON value of the OpenAPI document.

    Yields:
        The name of one referenced schema, without the path before it; repeated references give repeated names.
    """
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith(REF):
            yield reference.removeprefix(REF)
        for item in node.values():
            yield from references(item)
    elif isinstance(node, list):
        for item in node:
            yield from references(item)


def reachable(schemas: Schema, start: object) -> set[str]:
    """Return the names of the schemas that a part of the document refers to, directly or through other schemas.

    Args:
        schemas: all schemas by name.
        start: part of the OpenAPI document.

    Returns:
        The names, without repetition.
    """
    names: set[str] = set()
    pending = list(references(start))
    while pending:
        name = pending.pop()
        if name not in names:  # ends cycles of references
            names.add(name)
            pending.extend(references(schemas[name]))
    return names

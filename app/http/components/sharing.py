"""Parts that many places of the document have: each is written once, and the places refer to it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from epsilond.app.catalogue import pascal
from epsilond.app.http.components.walk import REF, Schema, map_schemas, references

Part = tuple[Any, Any, str]
"""A part of the document: the container that holds it, its key there, and the proposed name of its component."""
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
STRING: Schema = {"type": "string"}
UNBOUNDED: Schema = {"$ref": f"{REF}Unbounded"}
NAMED: Mapping[str, Schema] = {
    "Unbounded": {
        "type": "string",
        "enum": ["unbounded", "-unbounded"],
        "description": "an infinite value, which a JSON number cannot express",
    },
    "Figure": {
        "anyOf": [NUMBER, UNBOUNDED],
        "description": 'a number; "unbounded" or "-unbounded" if it is infinite',
    },
    "NumberOrText": {"anyOf": [NUMBER, STRING], "description": "a number, or a text"},
    "JsonObject": {"type": "object", "additionalProperties": True, "description": "any JSON object"},
    "JsonValue": {
        "anyOf": [{"$ref": f"{REF}JsonObject"}, {"type": "array", "items": {}}, STRING, NUMBER, {"type": "boolean"}],
        "description": "any JSON value that is not null",
    },
    "Texts": {"type": "object", "additionalProperties": STRING, "description": "texts of the page by their names"},
    "Numbers": {"type": "object", "additionalProperties": NUMBER, "description": "numbers by name"},
    "Figures": {
        "type": "object",
        "additionalProperties": {"$ref": f"{REF}Figure"},
        "description": "numbers or infinite values by name",
    },
    "Values": {
        "type": "object",
        "additionalProperties": {"$ref": f"{REF}NumberOrText"},
        "description": "numbers or texts by name",
    },
}
"""Schemas for values without a class of their own."""
INFINITE = frozenset({"unbounded", "-unbounded"})


def name_anonymous(document: Schema) -> None:
    """Give names to anonymous schemas of unions and maps, so that generated clients have named types for them.

    A schema that equals one of `NAMED` is replaced by a reference to it. Its other members, such as its description,
    stay next to the reference. The schemas of `NAMED` are added to the document.

    Args:
        document: the OpenAPI document, which is changed in place.
    """
    schemas = document["components"]["schemas"]
    names = {_form(schema): name for name, schema in NAMED.items()}

    def refer(schema: Schema) -> Schema:
        """Return a reference to the equal named schema, or the schema if there is none.

        Only unions and objects with arbitrary names of members are replaced.

        Args:
            schema: a JSON schema, which is not changed.

        Returns:
            The reference with the notes of the schema, such as its description. Without an equal named schema, the
            schema itself, in normal form if it is a union.
        """
        if "properties" in schema or not ("anyOf" in schema or "additionalProperties" in schema):
            return schema
        if "anyOf" in schema:
            schema = _shorten_union(schema)
        name = names.get(_form(schema))
        if name is None:
            return schema
        notes = {key: item for key, item in schema.items() if key not in ("type", "anyOf", "additionalProperties")}
        return {"$ref": REF + name, **notes}

    map_schemas(document, refer)
    schemas |= {name: dict(schema) for name, schema in NAMED.items()}


def name_any(schemas: Schema) -> None:
    """Replace each optional property without a type by a reference to the schema `JsonValue`.

    A client generator reads a schema without a type as one that allows null, and then sends null for an absent value.

    Args:
        schemas: the named schemas of the document, which are changed in place.
    """
    for owner in schemas.values():
        for name, schema in owner.get("properties", {}).items():
            is_optional = name not in owner.get("required", ())
            has_type = not schema.keys().isdisjoint({"type", "$ref", "anyOf", "enum"})
            if is_optional and not has_type:
                owner["properties"][name] = {"$ref": f"{REF}JsonValue", **schema}


def _form(schema: Schema) -> str:
    """Return a canonical text of the types that a schema allows.

    Args:
        schema: a JSON schema. Its descriptions and extensions do not change the text.

    Returns:
        JSON with sorted keys, so that schemas with equal types have equal texts.
    """
    form = {key: item for key, item in schema.items() if key in ("type", "anyOf", "additionalProperties")}
    return json.dumps(form, sort_keys=True)


def _shorten_union(union: Schema) -> Schema:
    """Return an equal union in a normal form.

    Nested unions are flattened, and enumerations of infinite values become references to `Unbounded`. The bounds of a
    number are moved from the alternative to the union, where they constrain only numbers. Alternatives that another one
    includes are removed: an integer next to a number, and `Unbounded` next to any string.

    Args:
        union: a schema with alternatives, which is not changed.

    Returns:
        The union in normal form, so that equal unions have equal alternatives.
    """
    alternatives: list[Schema] = []
    notes: Schema = {key: item for key, item in union.items() if key != "anyOf"}
    for alternative in _alternatives(union):
        kind, bounds = _split_bounds(alternative)
        notes = {**bounds, **notes}
        if kind not in alternatives:
            alternatives.append(kind)
    # Remove alternatives that another one includes.
    if NUMBER in alternatives:
        alternatives = [NUMBER, *(member for member in alternatives if member not in (NUMBER, INTEGER))]
    if STRING in alternatives:
        alternatives = [member for member in alternatives if member != UNBOUNDED]
    return {**notes, "anyOf": alternatives}


def _split_bounds(alternative: Schema) -> tuple[Schema, Schema]:
    """Return an alternative of a union without its bounds, and the bounds.

    An enumeration of infinite values becomes a reference to `Unbounded`. An alternative that is neither such an
    enumeration nor a plain number, integer or string is returned unchanged, with no bounds.

    Args:
        alternative: a schema, such as that of a number with its range.

    Returns:
        The alternative, and its bounds as keywords of a JSON schema, such as `minimum`.
    """
    if set(alternative.get("enum", ())) & INFINITE:
        return UNBOUNDED, {}
    if alternative.get("type") not in ("number", "integer", "string") or "enum" in alternative:
        return alternative, {}
    bounds = {key: item for key, item in alternative.items() if key not in ("type", "title", "description")}
    return {"type": alternative["type"]}, bounds


def _alternatives(union: Schema) -> Iterator[Schema]:
    """Yield the alternatives of a union of JSON schemas, with nested unions flattened.

    References to the named unions `Figure` and `NumberOrText` count as nested unions.

    Args:
        union: a schema with the member `anyOf`, which is not changed.

    Yields:
        The alternatives in the order of the union, none of which is a nested union.
    """
    for alternative in union["anyOf"]:
        name = alternative.get("$ref", "").removeprefix(REF)
        if "anyOf" in alternative:
            yield from _alternatives(alternative)
        elif name in ("Figure", "NumberOrText"):
            yield from NAMED[name]["anyOf"]
        else:
            yield alternative


def share_parts(document: Schema) -> None:
    """Replace header parameters, headers and responses of several operations by references to shared components.

    Headers are replaced first, so that responses with equal headers become equal.

    Args:
        document: the OpenAPI document, which is changed in place.
    """
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    headers: list[Part] = []
    parameters: list[Part] = []
    for operation in operations:
        for response in operation["responses"].values():
            container = response.get("headers", {})
            headers.extend((container, name, pascal(name)) for name in container)
        for index, parameter in enumerate(operation.get("parameters", ())):
            if parameter["in"] == "header":
                parameters.append((operation["parameters"], index, pascal(parameter["name"])))
    _share(document, "headers", headers)
    _share(document, "parameters", parameters)
    _share(document, "responses", _shareable_responses(operations))


def _shareable_responses(operations: Sequence[Schema]) -> list[Part]:
    """Find the responses of an OpenAPI document that can become shared components, with a name for each.

    They are those that refer to a schema. The name is made of the first such schema and the status.

    Args:
        operations: operations of the document, with their responses by status.

    Returns:
        For each response: the object that contains it, its key in this object (the status), and its name.
    """
    parts: list[Part] = []
    for operation in operations:
        responses = operation["responses"]
        for status, response in responses.items():
            first_schema = next(references(response), None)
            if first_schema is not None and "$ref" not in response:
                parts.append((responses, status, f"{first_schema}{status}"))
    return parts


def _share(document: Schema, kind: str, places: Sequence[Part]) -> None:
    """Replace parts that occur in two or more places by references to shared components.

    This makes the document smaller. Parts are equal if their JSON texts with sorted names are equal.

    Args:
        document: the OpenAPI document, to which the components are added.
        kind: group of the components, such as "headers".
        places: the parts, which are replaced in place. Different parts with the same proposed name are numbered.
    """
    texts = [json.dumps(container[key], sort_keys=True) for container, key, _ in places]
    counts = Counter(texts)
    names: dict[str, str] = {}
    shared: Schema = document["components"].setdefault(kind, {})
    for text, (container, key, proposal) in zip(texts, places, strict=True):
        if counts[text] == 1:
            continue
        if text not in names:
            names[text] = _number_name(proposal, names.values())
            shared[names[text]] = container[key]
        container[key] = {"$ref": f"#/components/{kind}/{names[text]}"}


def _number_name(proposal: str, names: Iterable[str]) -> str:
    """Return a proposed name, with a number if components with this name exist already.

    Args:
        proposal: the name, without a hyphen.
        names: names of the existing components.

    Returns:
        The name, or the name with "-2", "-3" and so on.
    """
    earlier_uses = sum(name.partition("-")[0] == proposal for name in names)
    if earlier_uses == 0:
        return proposal
    return f"{proposal}-{earlier_uses + 1}"

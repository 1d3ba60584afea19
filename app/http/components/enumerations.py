"""Enumerations of the document: each is a schema with a name, shared by all places with these values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import get_args

from epsilond.accountants import quantities
from epsilond.accountants.guarantee import Tightness
from epsilond.app.catalogue import pascal
from epsilond.app.http.components.walk import REF, Schema, map_schema, schema_places
from epsilond.app.store.record import State as JobState
from epsilond.calibrators.answer import Objective

SHARED: Mapping[str, Sequence[str]] = {
    "Relation": get_args(quantities.Relation),
    "Unit": get_args(quantities.Unit),
    "Observer": get_args(quantities.Observer),
    "Sampling": get_args(quantities.Sampling),
    "SpecSampling": get_args(quantities.SpecSampling),
    "Tightness": get_args(Tightness),
    "JobState": get_args(JobState),
    "Objective": get_args(Objective),
    "Definition": ("local", "shuffle", "central", "joint"),
    "ConstantKind": ("explicit", "hidden"),
    "SlotKind": ("gdp", "zcdp", "rdp", "pure"),
    "QtdlMethod": ("escape", "hockey-stick", "concentrated", "concentrated-coupled"),
    "Release": ("last", "random-stop", "suffix"),
    "Batches": ("shuffled", "cyclic", "without-replacement"),
    "Server": ("trusted", "untrusted"),
    "Weighting": ("clients", "samples"),
    "RankBy": ("risk", "noise", "signal", "bits", "rounds"),
    "Declaration": (
        "functions-of-releases",
        "independent-of-outputs",
        "missing-entries-are-accounted-for",
        "no-output-observed",
    ),
    "Reading": (
        "printed",
        "corrected",
        "informal",
        "complete",
        "statement",
        "proof",
        "experimental",
        "lipschitz",
        "smooth",
        "strongly-convex",
    ),
    "SolveFor": (
        "epsilon",
        "delta",
        "noise_multiplier",
        "noise_std",
        "rounds",
        "rate",
        "step_size",
        "participants",
        "samples_per_client",
        "clients",
    ),
}
"""Enumerations with a name of their own. A place that allows only some of the values lists them as `x-values`."""
DESCRIBED: Mapping[str, quantities.Quantity] = {
    "Relation": quantities.RELATION,
    "Unit": quantities.UNIT,
    "Observer": quantities.OBSERVER,
}
"""Shared enumerations whose every value is described by a sentence."""


def name_enumerations(document: Schema) -> None:
    """Move the enumerations of an OpenAPI document to named schemas, and refer to them.

    The tag of a union gets a schema of its own. A shared enumeration has one schema for all its uses. Any other
    enumeration becomes a text with a pattern, because a schema for each would make up a quarter of the document.

    Args:
        document: the OpenAPI document, which is changed in place.
    """
    schemas = document["components"]["schemas"]
    # The tags of unions, which are named after the union and the tag.
    for owner, schema in list(schemas.items()):
        tag = schema.get("x-tag")
        if tag is not None:
            properties = schema["properties"]
            properties[tag] = _move_enumeration(schemas, properties[tag], owner + pascal(tag))
    # All other enumerations, in every schema of the document.
    for container, key in list(schema_places(document)):
        is_named_enumeration = container is schemas and "enum" in container[key]
        if not is_named_enumeration:
            container[key] = map_schema(container[key], partial(_replace_enumeration, schemas))


def _replace_enumeration(schemas: Schema, schema: Schema) -> Schema:
    """Replace a JSON schema that is an enumeration by a reference to a named schema, or by a text with a pattern.

    Args:
        schemas: the named schemas of the document, to which a shared enumeration is added.
        schema: any schema; one that is not an enumeration is returned unchanged.

    Returns:
        The reference or the text, with the description of the enumeration. `x-values` lists the values of a text.
    """
    values = schema.get("enum")
    if not isinstance(values, list):
        return schema
    name = shared_name(values)
    if name is not None:
        return _move_enumeration(schemas, schema, name)
    pattern = "|".join(re.escape(value) for value in values)
    return {"type": "string", "pattern": f"^({pattern})$", "x-values": values, **_annotations(schema)}


def _move_enumeration(schemas: Schema, schema: Schema, name: str) -> Schema:
    """Add an enumeration to the named schemas, and return the reference that replaces it.

    Generators of clients then make one named type of the enumeration, instead of one for each place.

    Args:
        schemas: the named schemas of the document.
        schema: the enumeration; a schema that is none is returned unchanged.
        name: name of its schema. If `SHARED` has this name, the schema gets all values listed there; if `schema` allows
            only some of them, the reference lists these as `x-values`.

    Returns:
        The reference, with the description of the enumeration.
    """
    values = schema.get("enum")
    if not isinstance(values, list):
        return schema
    allowed = list(SHARED.get(name, values))
    schemas[name] = {"type": "string", "enum": allowed}
    if name in DESCRIBED:
        schemas[name]["description"] = DESCRIBED[name].allowed
    reference: Schema = {"$ref": REF + name}
    # This place allows only some of the shared values, and lists them itself.
    if set(values) != set(allowed):
        reference["x-values"] = values
    return {**reference, **_annotations(schema)}


def _annotations(enumeration: Schema) -> Schema:
    """Return the keys of an enumeration that do not constrain it, such as its description."""
    return {key: item for key, item in enumeration.items() if key not in ("type", "enum")}


def shared_name(values: Sequence[str]) -> str | None:
    """Return the name of the first shared enumeration that has all given values.

    Args:
        values: values of an enumeration.

    Returns:
        A name in `SHARED`, or None if no shared enumeration has all values.
    """
    for name, shared_values in SHARED.items():
        if set(values) <= set(shared_values):
            return name
    return None

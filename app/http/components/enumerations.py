"""Enumerations of the document: each is a schema with a name, shared by all places with these values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
    """Move every enumeration into a schema of its own.

    An enumeration that is neither shared nor the tag of a union is written as a text with a pattern: a schema for each
    would make a quarter of the document.
    """
    schemas = document["components"]["schemas"]

    def refer(schema: Schema, own_name: str | None = None) -> Schema:
        """Return a reference or a text with a pattern in place of an enumeration."""
        values = schema.get("enum")
        if not isinstance(values, list):
            return schema
        notes = {key: item for key, item in schema.items() if key not in ("type", "enum")}
        name = own_name or shared_name(values)
        if name is None:
            pattern = "|".join(map(re.escape, values))
            return {"type": "string", "pattern": f"^({pattern})$", "x-values": values, **notes}
        allowed = list(SHARED.get(name, values))
        schemas[name] = {"type": "string", "enum": allowed}
        if name in DESCRIBED:
            schemas[name]["description"] = DESCRIBED[name].allowed
        return {"$ref": REF + name, **({"x-values": values} if set(values) != set(allowed) else {}), **notes}

    for owner, schema in list(schemas.items()):
        tag = schema.get("x-tag")
        if tag is not None:
            schema["properties"][tag] = refer(schema["properties"][tag], owner + pascal(tag))
    for place, key in list(schema_places(document)):
        if place is not schemas or "enum" not in place[key]:
            place[key] = map_schema(place[key], refer)


def shared_name(values: Sequence[str]) -> str | None:
    """Return the name of the first shared enumeration that has all these values, or None."""
    return next((name for name, shared in SHARED.items() if set(values) <= set(shared)), None)

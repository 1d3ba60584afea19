"""Unions of object schemas, written as one object schema.

Client generators treat unions of objects in different ways: some try the members in order and keep the first that does
not fail. One object with the properties of all members is read by every generator. A member `kind` says which
properties belong together, and the service checks that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from epsilond.accountants.json_types import JsonObject
from epsilond.app.catalogue import pascal
from epsilond.app.http.components.walk import REF, Schema, map_schemas

FAMILIES: Mapping[str, Sequence[str]] = {
    "Calibration": ("*Calibration",),
    "RiskProblem": ("*RiskProblem",),
    "LearningProblem": ("AnyProblem", "ProblemSpec"),
    "Job": ("JobDocument", "JobSummary"),
    "Ledger": ("LedgerAnswer", "LedgerSummary"),
    "TheoremDetail": ("TheoremDetail", "TheoremSummary"),
    "Stage": ("StageAnswer", "StageRequest"),
    "ClientGroup": ("ClientGroups", "TargetedGroup", "ClientGroupRequest"),
    "Target": ("TargetAnswer", "TargetAsked", "Claim", "AuditClaim", "PlanCurvePoint"),
    "Condition": ("ConditionAnswer", "ConditionDocument", "ConditionResult", "ListedCondition", "DeclaredCondition"),
    "PlanChange": ("PlannedAsked", "LowerAsked"),
    "AdaptiveClipping": ("AdaptiveClipping", "AdaptiveClippingAnswer"),
    "Reached": ("Reached", "Tried"),
    "Receipt": ("ReceiptAnswer", "CommitAnswer"),
    "RiskBound": ("RiskBound", "PlannedRisk", "UpperBound", "LowerBound"),
    "RunChoice": ("FrontierRun", "RoundsRun", "PlanChoice"),
    "Point": ("Point", "TrueFigures"),
    "Observation": ("ObservationAsked", "ObservationAnswer"),
    "ReserveAsked": ("ReserveAsked", "ReserveManyAsked", "WhatIfAsked"),
}
"""Schemas that differ only in what one place adds to them, by patterns of their names."""
TEXTS: Mapping[str, str] = {
    "RiskProblem": "A run whose risk is bounded, and the lower bounds to compare it with. The algorithm in the path "
    "decides which of the fields are allowed.",
    "Target": "An ε with its δ, or a risk in place of ε. A δ that is too small for a double is given only as "
    "`log10_delta`.",
    "Condition": "A condition of a theorem or of a guarantee. If it was evaluated, it has the values of both sides.",
    "PlanChange": "An item of a plan: a mechanism that is planned, or an item whose number of runs is lowered.",
    "Reached": "A value of the field that was solved for, with the bound on the excess risk there.",
    "RiskBound": "An upper or lower bound on the excess risk by `theorem`, with the `terms` that it consists of. If "
    "`constant` is `hidden`, the theorem leaves a constant factor open, and the bound is only an order of growth.",
    "RunChoice": "A run with another number of rounds or batch size, with its noise, its risk and its traffic.",
    "Stage": "One stage of Algorithm 2 of Lowy and Razaviyayn. In round t of the stage, the algorithm's α is 2/(t + 1) "
    "and its η is 4 · prox_weight/(t(t + 1)).",
    "AdaptiveClipping": "Adaptive clipping by Andrew et al. 2021: every round releases a noisy share of the updates "
    "that were not clipped. Each participant sends a bit, ½ if its update was not clipped and −½ otherwise.",
}
"""Descriptions of merged schemas, where that of one member does not hold for the others."""
FIGURE = REF + "Figure"
LOWER, UPPER = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")


def merge_unions(schemas: dict[str, Schema], kept: frozenset[str] = frozenset()) -> None:
    """Replace each tagged union by one object schema with the properties of all its members.

    Only the tag is required. The extension `x-members` lists the required and optional properties of each member.

    Args:
        schemas: the named schemas of the document, which are changed in place.
        kept: names of unions that are not replaced.
    """
    for name, union in list(schemas.items()):
        if "discriminator" in union and name not in kept:
            schemas[name] = _merge_union(schemas, union)


def _merge_union(schemas: dict[str, Schema], union: Schema) -> Schema:
    """Return the object schema that replaces a tagged union, as `merge_unions` describes it.

    A tagged union is a choice of several objects, in which one member, the tag, says which object it is.

    Args:
        schemas: all schemas by name.
        union: a union of object schemas, with its tag and the member for each value of the tag.

    Returns:
        The object schema. `x-tag` names the tag, and `x-members` describes the member of each value of the tag.
    """
    tag_name = union["discriminator"]["propertyName"]
    mapping = union["discriminator"]["mapping"]
    members = {tag: schemas[reference.removeprefix(REF)] for tag, reference in mapping.items()}
    member_texts = [f"`{tag}`: {_text(member)}" for tag, member in members.items()]
    texts = [union.get("description", ""), *member_texts]
    merged = merge_objects(schemas, list(members.values()))
    merged["required"] = [tag_name]
    merged["description"] = "\n\n".join(filter(None, texts))
    merged["x-tag"] = tag_name
    merged["x-members"] = {tag: _property_names(member, tag_name) for tag, member in members.items()}
    return merged


def merge_families(document: Schema) -> None:
    """Replace the schemas of each family in `FAMILIES` by one schema with the properties of all of them.

    Client generators then create one class for a family of similar schemas.

    Args:
        document: the OpenAPI document, which is changed in place, with all references to the replaced schemas.
    """
    schemas = document["components"]["schemas"]
    for family, patterns in FAMILIES.items():
        members = [name for name in schemas if any(fnmatchcase(name, pattern) for pattern in patterns)]
        if not members:
            continue
        merged = merge_objects(schemas, [schemas[name] for name in members])
        # Without a text of the family, the description is that of the member with its name, or of the first one.
        namesake = family if family in members else members[0]
        merged["description"] = TEXTS.get(family) or _text(schemas[namesake])
        aliases = {REF + name: REF + family for name in members}
        map_schemas(document, partial(_rename_reference, aliases=aliases))
        schemas[family] = merged


def _rename_reference(schema: Schema, aliases: Mapping[str, str]) -> Schema:
    """Return a schema with its reference replaced, if there is a new one for it; otherwise the schema itself.

    Args:
        schema: a JSON schema, which is not changed.
        aliases: new reference by the old one.
    """
    new_reference = aliases.get(str(schema.get("$ref")))
    if new_reference is None:
        return schema
    return {**schema, "$ref": new_reference}


def _text(schema: Schema) -> str:
    """Return the description of a schema; empty if it has none."""
    return str(schema.get("description", ""))


def _property_names(schema: Schema, tag_name: str) -> Schema:
    """Return the required and the optional property names of one member of a tagged union, without its tag.

    Args:
        schema: the object schema of the member.
        tag_name: name of the property that distinguishes the members.

    Returns:
        The names under "required" and "optional", each in the order of the schema.
    """
    required = [name for name in schema.get("required", ()) if name != tag_name]
    optional = [name for name in schema["properties"] if name not in {*required, tag_name}]
    return {"required": required, "optional": optional}


def merge_objects(schemas: dict[str, Schema], members: Sequence[Schema]) -> Schema:
    """Return an object schema with the properties of all members.

    It requires the properties that all members require. Further properties are forbidden if a member forbids them.

    Args:
        schemas: the named schemas of the document, to which merged objects of properties are added.
        members: the object schemas.

    Returns:
        The merged schema. Properties have the order in which the members first name them.
    """
    properties: dict[str, list[Schema]] = {}
    for member in members:
        for name, schema in member["properties"].items():
            properties.setdefault(name, []).append(schema)
    required = set.intersection(*(set(member.get("required", ())) for member in members))
    merged: Schema = {
        "type": "object",
        "properties": {
            name: merge_property(schemas, name, member_schemas) for name, member_schemas in properties.items()
        },
        "required": [name for name in properties if name in required],
    }
    if any(member.get("additionalProperties") is False for member in members):
        merged["additionalProperties"] = False
    return merged


def merge_property(schemas: dict[str, Schema], name: str, alternatives: Sequence[Schema]) -> Schema:
    """Return one schema that allows every value that at least one of several schemas of a property allows.

    If their types cannot be merged, the result has no type and allows any JSON value.

    Args:
        schemas: the named schemas of the document. If the alternatives are references to objects, the merged object is
            added under a name that is derived from that of the property.
        name: name of the property.
        alternatives: schemas of the property in different objects.

    Returns:
        The merged schema, with the descriptions and extensions of the alternatives, as `_notes` joins them.
    """
    # Schemas that differ only in descriptions, defaults or extensions have the same key here, and count once.
    bare_schemas = [_bare(schema) for schema in alternatives]
    by_text = {json.dumps(schema, sort_keys=True): schema for schema in bare_schemas}
    restrictive = [schema for schema in by_text.values() if schema]  # an empty schema allows any value
    distinct = [member for schema in restrictive for member in _alternatives_of(schema)]
    if not distinct:
        return dict(alternatives[0])
    return {**_merge_distinct(schemas, name, distinct), **_notes(alternatives)}


def _alternatives_of(schema: Schema) -> Sequence[Schema]:
    """Return the references of a union of objects without a name; for another schema, the schema itself."""
    members: Sequence[Schema] = schema.get("oneOf") or schema.get("anyOf") or ()
    is_union_of_references = bool(members) and all("$ref" in member for member in members)
    if not is_union_of_references:
        return (schema,)
    return members


def _merge_distinct(schemas: dict[str, Schema], name: str, distinct: Sequence[Schema]) -> Schema:
    """Merge different schemas of a property; return the empty schema, which allows any value, if that is impossible.

    Schemas can be merged if all are enumerations, references to objects, lists, or numbers. Numbers may also be merged
    with a reference to `Figure`, which includes them.

    Args:
        schemas: the named schemas of the document, to which a merged object is added.
        name: name of the property.
        distinct: the schemas, without descriptions, defaults and extensions.

    Returns:
        The merged schema, without notes.
    """
    if len(distinct) == 1:
        return distinct[0]
    if all("enum" in schema for schema in distinct):
        values = dict.fromkeys(value for schema in distinct for value in schema["enum"])
        return {"type": "string", "enum": list(values)}
    if _are_numbers_and_figure(distinct):
        return {"$ref": FIGURE}
    if all("$ref" in schema for schema in distinct):
        return _union_of_all(schemas, distinct) or _merge_references(schemas, name, distinct)
    types = {schema.get("type") for schema in distinct}
    if types == {"array"}:
        item_schemas = [schema["items"] for schema in distinct]
        return {"type": "array", "items": merge_property(schemas, name, item_schemas)}
    if types <= {"number", "integer"}:
        wider_type = "number" if "number" in types else "integer"
        return {"type": wider_type, **_widest(distinct)}
    return {}


def _merge_references(schemas: dict[str, Schema], name: str, references: Sequence[Schema]) -> Schema:
    """Merge the objects that several references name, and return the reference to the merged object.

    Args:
        schemas: the named schemas of the document. The merged object is added under the name of the property.
        name: name of the property.
        references: different references to objects.

    Returns:
        The reference, as a schema with the one member `$ref`.
    """
    merged_name = pascal(name)
    names = [reference["$ref"].removeprefix(REF) for reference in references]
    if merged_name in schemas and merged_name not in names:
        names.insert(0, merged_name)  # another property of this name was merged before, and is referred to
    schemas[merged_name] = merge_objects(schemas, [schemas[object_name] for object_name in names])
    return {"$ref": REF + merged_name}


def _union_of_all(schemas: Mapping[str, Schema], references: Sequence[Schema]) -> Schema | None:
    """Find a tagged union, one of several referenced schemas, that has all others as members.

    Args:
        schemas: the named schemas of the document.
        references: different references.

    Returns:
        The first reference to such a union; None if there is none.
    """
    for reference in references:
        union = schemas[reference["$ref"].removeprefix(REF)]
        if "discriminator" not in union:
            continue
        members = union["discriminator"].get("mapping", {}).values()
        allowed = {reference["$ref"], *members}
        if all(each["$ref"] in allowed for each in references):
            return reference
    return None


def _are_numbers_and_figure(distinct: Sequence[Schema]) -> bool:
    """Return whether schemas are a reference to `Figure` and schemas of numbers, which `Figure` includes."""
    kinds = {schema.get("$ref", schema.get("type")) for schema in distinct}
    return FIGURE in kinds and kinds <= {FIGURE, "number", "integer"}


def _is_note(key: str) -> bool:
    """Return whether a key of a schema does not restrict values: a description, a default or an extension."""
    return key in ("description", "default") or key.startswith("x-")


def _bare(schema: Mapping[str, object]) -> Schema:
    """Return a schema without descriptions, defaults and extensions."""
    return {key: item for key, item in schema.items() if not _is_note(key)}


def _notes(alternatives: Iterable[JsonObject]) -> Schema:
    """Join the notes of alternative schemas: their descriptions, and the other notes that all of them share.

    A note is a member of a schema that does not restrict values, such as a default.

    Args:
        alternatives: the schemas, at least one.

    Returns:
        The shared notes. `description` lists the different descriptions; it is absent if there are none.
    """
    first, *remaining = alternatives
    notes = {
        key: value
        for key, value in first.items()
        if _is_note(key) and all(key in schema and schema[key] == value for schema in remaining)
    }
    # Equal descriptions count once. Different ones are listed.
    texts = dict.fromkeys(schema["description"] for schema in (first, *remaining) if "description" in schema)
    if len(texts) == 1:
        notes["description"] = next(iter(texts))
    elif texts:
        notes["description"] = "\n".join(["Depends on the object:\n", *(f"- {text}" for text in texts)])
    return notes


def _widest(intervals: Sequence[JsonObject]) -> Schema:
    """Return the bounds of the smallest interval that contains several intervals.

    The bounds are keywords of JSON schemas, in which a bound may be inclusive or exclusive. Both sides are treated
    separately. A common bound is inclusive if one of the intervals includes it.

    Args:
        intervals: schemas of numbers, with `minimum`, `exclusiveMinimum`, `maximum` or `exclusiveMaximum`.

    Returns:
        The bounds under the same keys. A side on which an interval is unbounded has no bound.
    """
    bounds: Schema = {}
    for inclusive, exclusive in (LOWER, UPPER):
        if not all(inclusive in interval or exclusive in interval for interval in intervals):
            continue
        # The smallest lower bound, or the largest upper bound, contains all intervals on this side.
        pick = min if inclusive == "minimum" else max
        bound = pick(interval.get(inclusive, interval.get(exclusive)) for interval in intervals)
        includes_bound = any(interval.get(inclusive) == bound for interval in intervals)
        keyword = inclusive if includes_bound else exclusive
        bounds[keyword] = bound
    return bounds

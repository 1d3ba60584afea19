"""What FastAPI generates, made what our clients need.

Problems are declared on every operation; optional fields of a request are absent, never null; answers have no
defaults; the tag of a union is required; enumerations have names; a header is one string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, get_args

from pydantic import TypeAdapter

from epsilond.accountants import quantities
from epsilond.accountants.guarantee import Tightness
from epsilond.accountants.theorem import Reading
from epsilond.app.callers.scopes import METRICS
from epsilond.app.catalogue import pascal
from epsilond.app.http.problem_kinds import KINDS, OF_LEDGERS
from epsilond.app.http.problems import MEDIA_TYPE, ProblemDocument
from epsilond.app.store.record import State as JobState

REF = "#/components/schemas/"
RESPONSES = "#/components/responses/"
SHARED_ENUMS: Mapping[tuple[str, ...], str] = {
    get_args(quantities.Relation): "Relation",
    get_args(quantities.Unit): "Unit",
    get_args(quantities.Observer): "Observer",
    get_args(quantities.Sampling): "Sampling",
    get_args(Tightness): "Tightness",
    get_args(Reading): "Reading",
    get_args(JobState): "JobState",
}
"""Enumerations of the house, by their values; any other is named after where it stands."""
POSTED = (400, 408, 409, 413, 415, 422, 429, 500, 503)
KEYED = (401, 403, 429, 503)
"""Where the service asks for API keys or tokens; 503 while it cannot ask whose a token is."""
SECURITY = {
    "ApiKey": {"type": "http", "scheme": "bearer", "description": "an API key or a token, if this service asks for one"}
}
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

Schema = dict[str, Any]


def tidy(document: Schema) -> Schema:
    """The document with all of the above done to it."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for framework_own in ("HTTPValidationError", "ValidationError"):
        schemas.pop(framework_own, None)
    problem = TypeAdapter(ProblemDocument).json_schema(ref_template=REF + "{model}", mode="serialization")
    schemas |= problem.pop("$defs", {}) | {"Problem": {**problem, "title": "Problem"}}
    schemas.pop(ProblemDocument.__name__, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["responses"].pop("422", None)
            operation["responses"] |= _problems(method, path, operation)
            if _keyed(path):
                operation["security"] = [{}, *({name: []} for name in SECURITY)]
    document["components"]["securitySchemes"] = SECURITY
    document = rewritten(document, _plain)
    for parameter in _parameters(document):
        if parameter["in"] == "header":
            parameter["schema"] = _one_string(parameter["schema"])
    schemas = document["components"]["schemas"]
    _require_tags(schemas)
    for name in _answered(document):
        for member in schemas[name].get("properties", {}).values():
            member.pop("default", None)
    _name_enums(schemas)
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    document["components"]["responses"] = _share_problems(document)
    return document


def _share_problems(document: Schema) -> Schema:
    """Answers with a problem, each once and by its name: they are a fifth of the document where each operation has all.

    Named by their status; those of one status that list other problems are numbered, in the order of their texts.
    """
    every = [operation["responses"] for operations in document["paths"].values() for operation in operations.values()]
    kinds: dict[str, set[str]] = {}
    for responses in every:
        for status, response in responses.items():
            if response.get("content", {}).keys() == {MEDIA_TYPE}:
                kinds.setdefault(status, set()).add(response["description"])
    names = {
        (status, text): f"Problem{status}" + ("" if number == 1 else f"-{number}")
        for status, texts in sorted(kinds.items())
        for number, text in enumerate(sorted(texts), start=1)
    }
    shared: Schema = {}
    for responses in every:
        for status, response in responses.items():
            if response.get("content", {}).keys() == {MEDIA_TYPE} and set(response) == {"description", "content"}:
                name = names[status, response["description"]]
                shared[name] = response
                responses[status] = {"$ref": RESPONSES + name}
    return {name: shared[name] for name in names.values() if name in shared}


def rewritten(node: Any, change: Callable[[Schema], Schema]) -> Any:
    """The tree with `change` applied to every object, leaves first; examples are data and left alone."""
    if isinstance(node, dict):
        return change({key: item if key == "examples" else rewritten(item, change) for key, item in node.items()})
    return [rewritten(item, change) for item in node] if isinstance(node, list) else node


def without_null(schema: Schema) -> Schema:
    """Without `default: null`, and without null among the alternatives."""
    schema = {key: item for key, item in schema.items() if key != "default" or item is not None}
    alternatives = schema.get("anyOf")
    if not isinstance(alternatives, list) or {"type": "null"} not in alternatives:
        return schema
    kept = [item for item in alternatives if item != {"type": "null"}]
    rest = {key: item for key, item in schema.items() if key != "anyOf"}
    return {**rest, "anyOf": kept} if len(kept) > 1 else {**kept[0], **rest}


def _plain(schema: Schema) -> Schema:
    """Without null, and with whole bounds for whole numbers."""
    schema = without_null(schema)
    if schema.get("type") == "integer":
        schema |= {key: int(Decimal(repr(schema[key]))) for key in BOUNDS if key in schema}  # 1e24 is 10**24
    if isinstance(schema.get("$ref"), str):
        schema["$ref"] = schema["$ref"].replace(ProblemDocument.__name__, "Problem")
    return schema


def _problems(method: str, path: str, operation: Schema) -> Schema:
    """The problems an operation may answer with."""
    asked = any(item["in"] in ("query", "header") for item in operation.get("parameters", ()))
    got = {404: "{" in path, 422: asked, 500: True, 503: path == "/readyz"}
    posted = (*POSTED, *((404,) if got[404] else ()))
    statuses = posted if method == "post" else tuple(status for status, may_be in got.items() if may_be)
    more = (*operation.pop("x-problems", ()), *(KEYED if _keyed(path) else ()))
    left_out = frozenset() if "ledgers" in operation.get("tags", ()) else OF_LEDGERS
    return {str(status): _problem(status, left_out) for status in sorted({*statuses, *more})}


def _keyed(path: str) -> bool:
    return path.startswith("/v1/") or path == METRICS


def _problem(status: int, left_out: frozenset[str]) -> Schema:
    kinds = (kind for kind in KINDS.values() if kind.status == status and kind.slug not in left_out)
    titles = "; ".join(f"{kind.title} (`{kind.slug}`)" for kind in kinds)
    return {"description": titles, "content": {MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}}}


def _parameters(document: Schema) -> Iterator[Schema]:
    for operations in document["paths"].values():
        for operation in operations.values():
            yield from operation.get("parameters", ())


def _one_string(schema: Schema) -> Schema:
    """A header that may be sent more than once is the same as one whose values are joined by commas (RFC 9110, 5.3)."""
    if schema.get("type") != "array":
        return schema
    return {key: item for key, item in schema.items() if key != "items"} | {"type": "string"}


def _require_tags(schemas: Mapping[str, Schema]) -> None:
    """A member of a tagged union is known by its tag, so that the tag cannot be left to its default."""
    for union in [schema for schema in schemas.values() if "discriminator" in schema]:
        tag = union["discriminator"]["propertyName"]
        for reference in union["discriminator"]["mapping"].values():
            member = schemas[reference.removeprefix(REF)]
            member["properties"][tag].pop("default", None)
            member["required"] = [tag, *(name for name in member.get("required", ()) if name != tag)]


def _name_enums(schemas: dict[str, Schema]) -> None:
    """Enumerations become references to their names, beside their descriptions and defaults."""
    for owner, schema in list(schemas.items()):
        for name, member in schema.get("properties", {}).items():
            if not isinstance(member.get("enum"), list):
                continue
            values = tuple(member.pop("enum"))
            enum = SHARED_ENUMS.get(values, owner + pascal(name))
            schemas[enum] = {"type": member.pop("type", "string"), "enum": list(values), "title": enum}
            member.pop("title", None)
            member["$ref"] = REF + enum


def _references(node: Any) -> Iterator[str]:
    """Names of the schemas that a part of the document refers to."""
    if isinstance(node, dict):
        if str(node.get("$ref", "")).startswith(REF):
            yield node["$ref"].removeprefix(REF)
        for item in node.values():
            yield from _references(item)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _answered(document: Schema) -> set[str]:
    """Names of the schemas that responses reach."""
    schemas = document["components"]["schemas"]
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    reached: set[str] = set()
    pending = [name for operation in operations for name in _references(operation["responses"])]
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending.extend(_references(schemas[name]))
    return reached

"""Changes to the OpenAPI document of FastAPI for client generators.

Problems are declared on every operation. Optional fields of a request are absent, never null. Answers have no defaults.
The tag of a union is required. Enumerations have names. A header is one string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter

from epsilond.app.callers.scopes import METRICS
from epsilond.app.http.components.enumerations import name_enumerations
from epsilond.app.http.components.sharing import name_anonymous, name_any, share_parts
from epsilond.app.http.components.unions import merge_families, merge_unions
from epsilond.app.http.components.walk import REF, Schema, map_schemas, reachable
from epsilond.app.http.problem_kinds import KINDS, OF_LEDGERS
from epsilond.app.http.problems import MEDIA_TYPE, ProblemDocument

RESPONSES = "#/components/responses/"
POSTED = (400, 408, 409, 413, 415, 422, 429, 500, 503)
KEYED = (401, 403, 429, 503)
"""Statuses of operations that need API keys or tokens, if required; 503 if the identity provider cannot be reached."""
SECURITY = {
    "ApiKey": {"type": "http", "scheme": "bearer", "description": "an API key or a token, if this service asks for one"}
}
LARGE = ("bits", "noise_levels")
"""Suffixes of the names of integers in answers that may exceed 2^53."""
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def tidy(document: Schema) -> Schema:
    """Convert FastAPI's OpenAPI document to a form that generators of clients can read, and return it.

    Parts that occur several times get names, which generators turn into types. Error answers are declared on every
    operation, and optional fields are absent instead of null.

    Args:
        document: the OpenAPI document. It is changed in part in place; use only the returned document.

    Returns:
        The published form. It has only those named schemas that some operation uses.
    """
    _add_problem_schema(document)
    _declare_problems(document)
    document = map_objects(document, _plain)
    for parameter in _parameters(document):
        _tidy_parameter(parameter)
    for response in _responses(document):
        _declare_for_generators(response)

    # Schemas, in forms that generators of clients can read.
    schemas = document["components"]["schemas"]
    _require_tags(schemas)
    _tidy_answers(document)
    map_schemas(document, _read_by_generators)

    # Names for schemas without a name, and one schema for equal ones.
    name_anonymous(document)
    merge_unions(schemas)
    merge_families(document)
    name_any(schemas)
    name_enumerations(document)

    # Omit unused schemas, and share parts that occur several times.
    reachable_names = reachable(schemas, document["paths"])
    document["components"]["schemas"] = {name: schemas[name] for name in sorted(reachable_names)}
    document["components"]["responses"] = _share_problems(document)
    share_parts(document)
    return document


def _add_problem_schema(document: Schema) -> None:
    """Add the schema `Problem` and the schemas that it refers to, in place of FastAPI's schemas of errors.

    A problem document is the form in which the service answers errors (RFC 9457).

    Args:
        document: the OpenAPI document, which is changed.
    """
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for framework_own in ("HTTPValidationError", "ValidationError"):
        schemas.pop(framework_own, None)
    problem = TypeAdapter(ProblemDocument).json_schema(ref_template=REF + "{model}", mode="serialization")
    schemas |= problem.pop("$defs", {})
    schemas["Problem"] = {**problem, "title": "Problem"}
    schemas.pop(ProblemDocument.__name__, None)


def _declare_problems(document: Schema) -> None:
    """Declare the problems (error answers) and the credentials of every operation.

    FastAPI's own declaration of errors (422) is replaced, because the service answers errors in another format.

    Args:
        document: the OpenAPI document, which is changed.
    """
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["responses"].pop("422", None)
            operation["responses"] |= _problems(method, path, operation)
            if _needs_key(path):
                operation["security"] = [{}, *({name: []} for name in SECURITY)]
    document["components"]["securitySchemes"] = SECURITY


def _tidy_parameter(parameter: Schema) -> None:
    """Remove the description that FastAPI writes twice, and declare a header as one string."""
    parameter["schema"].pop("description", None)
    if parameter["in"] == "header":
        parameter["schema"] = _string_schema(parameter["schema"])


def _tidy_answers(document: Schema) -> None:
    """Remove the default values of answers' members, and add members with the exact digits of their large integers."""
    schemas = document["components"]["schemas"]
    for name in _answer_schemas(document):
        for member in schemas[name].get("properties", {}).values():
            member.pop("default", None)
        _declare_exact(schemas[name])


def _declare_exact(schema: Schema) -> None:
    """Add a member for each integer of an answer that may be 2^53 or more: its exact digits as a string."""
    for name, member in list(schema.get("properties", {}).items()):
        if member.get("type") == "integer" and name.endswith(LARGE):
            text = f"{name} with all its digits, as a decimal string; absent unless {name} is 2^53 or more"
            schema["properties"][f"{name}_exact"] = {"type": "string", "description": text}


def _read_by_generators(schema: Schema) -> Schema:
    """Return a schema in a form that every client generator understands.

    A constant becomes an enumeration of one value. A default becomes the extension `x-default`, because some generators
    make a field with a default required. Titles are removed, because they repeat the names.

    Args:
        schema: a JSON schema, which is not changed.

    Returns:
        The schema in the other form.
    """
    schema = {key: item for key, item in schema.items() if key != "title"}
    if "const" in schema:
        schema = {"type": "string", "enum": [schema.pop("const")], **schema}
    if "default" in schema:
        schema["x-default"] = schema.pop("default")
    return schema


def _share_problems(document: Schema) -> Schema:
    """Replace problem responses of operations by references, and return the responses by name.

    Unshared, they would be a fifth of the document. The name contains the status, and a number if several responses of
    one status list different problems. A response with further members, such as headers, is not replaced.

    Args:
        document: the OpenAPI document. Its responses are replaced in place.

    Returns:
        The responses that were replaced, by the names under which they become shared components.
    """
    operations = []
    for path in document["paths"].values():
        operations.extend(path.values())
    names = _problem_names([operation["responses"] for operation in operations])
    shared: Schema = {}
    for operation in operations:
        for status, response in operation["responses"].items():
            if _is_problem(response) and set(response) == {"description", "content"}:
                name = names[status, response["description"]]
                shared[name] = response
                operation["responses"][status] = {"$ref": RESPONSES + name}
    return {name: shared[name] for name in names.values() if name in shared}


def _problem_names(responses_of_operations: Sequence[Schema]) -> dict[tuple[str, str], str]:
    """Choose names for the error responses of an OpenAPI document: one for each pair of status and description.

    Args:
        responses_of_operations: responses by status, of each operation.

    Returns:
        The name of each pair. Those of the status 404 are "Problem404", "Problem404-2" and so on.
    """
    texts_by_status: dict[str, set[str]] = {}
    for responses in responses_of_operations:
        for status, response in responses.items():
            if _is_problem(response):
                texts_by_status.setdefault(status, set()).add(response["description"])
    # Number the descriptions of one status in alphabetical order.
    names: dict[tuple[str, str], str] = {}
    for status, texts in sorted(texts_by_status.items()):
        for number, text in enumerate(sorted(texts), start=1):
            names[status, text] = f"Problem{status}" if number == 1 else f"Problem{status}-{number}"
    return names


def _is_problem(response: Schema) -> bool:
    """Return whether a response has only the media type of problems."""
    return bool(response.get("content", {}).keys() == {MEDIA_TYPE})


def map_objects(node: object, change: Callable[[Schema], Schema]) -> Any:
    """Return a JSON value with `change` applied to each object in it, inner objects first.

    The value of a member `examples` is data, and remains unchanged.

    Args:
        node: a JSON value, which is not changed.
        change: function from an object to the object in its place. It may change its argument, which is a copy.

    Returns:
        The new value; the given one is not changed.
    """
    if isinstance(node, dict):
        return change({key: item if key == "examples" else map_objects(item, change) for key, item in node.items()})
    return [map_objects(item, change) for item in node] if isinstance(node, list) else node


def without_null(schema: Schema) -> Schema:
    """Return a schema without `default: null` and without null in `anyOf`.

    An `anyOf` with one remaining alternative is replaced by this alternative.

    Args:
        schema: a JSON schema, which is not changed.

    Returns:
        The schema, which describes the value if it is present and not null.
    """
    schema = {key: value for key, value in schema.items() if key != "default" or value is not None}
    alternatives = schema.get("anyOf")
    if not isinstance(alternatives, list) or {"type": "null"} not in alternatives:
        return schema
    alternatives = [alternative for alternative in alternatives if alternative != {"type": "null"}]
    del schema["anyOf"]
    if len(alternatives) == 1:
        return {**alternatives[0], **schema}
    return {**schema, "anyOf": alternatives}


def _plain(schema: Schema) -> Schema:
    """Return a schema without null, and with integer bounds for integers.

    Args:
        schema: a JSON schema, which is not changed.

    Returns:
        The schema, in which references to `ProblemDocument` name the published schema `Problem`.
    """
    schema = without_null(schema)
    if schema.get("type") == "integer":
        schema |= {key: int(Decimal(repr(schema[key]))) for key in BOUNDS if key in schema}  # 1e24 is 10**24
    if isinstance(schema.get("$ref"), str):
        schema["$ref"] = schema["$ref"].replace(ProblemDocument.__name__, "Problem")
    return schema


def _problems(method: str, path: str, operation: Schema) -> Schema:
    """Return the error responses of an operation of the OpenAPI document, by status.

    Args:
        method: HTTP method in lower case.
        path: path of the operation.
        operation: the operation. Its extension `x-problems`, a list of further statuses, is removed from it.

    Returns:
        The declaration of each response, by its status as text, lowest status first.
    """
    statuses = _problem_statuses(method, path, operation) | set(operation.pop("x-problems", ()))
    left_out = frozenset() if "ledgers" in operation.get("tags", ()) else OF_LEDGERS
    return {str(status): _problem(status, left_out) for status in sorted(statuses)}


def _problem_statuses(method: str, path: str, operation: Schema) -> set[int]:
    """Return the HTTP statuses with which an operation may answer errors.

    An operation that reads a body may fail with every status in `POSTED`, and any operation with 500. While the service
    is not ready, `/readyz` answers 503.

    Args:
        method: HTTP method in lower case.
        path: path of the operation.
        operation: the operation in the OpenAPI document, with its parameters.

    Returns:
        The statuses, each at least 400.
    """
    if method == "post":
        statuses = set(POSTED)
    else:
        statuses = {500}
        if any(parameter["in"] in ("query", "header") for parameter in operation.get("parameters", ())):
            statuses.add(422)
        if path == "/readyz":
            statuses.add(503)

    has_path_parameter = "{" in path
    if has_path_parameter:
        statuses.add(404)  # the parameter may be an unknown id
    if _needs_key(path):
        statuses |= set(KEYED)
    return statuses


def _needs_key(path: str) -> bool:
    """Return whether a path requires an API key or a token, if the service requires any."""
    return path.startswith("/v1/") or path == METRICS


def _problem(status: int, left_out: frozenset[str]) -> Schema:
    """Return the declaration of a response with any kind of problem of this status, except the kinds in `left_out`."""
    kinds = (kind for kind in KINDS.values() if kind.status == status and kind.slug not in left_out)
    titles = "; ".join(f"{kind.title} (`{kind.slug}`)" for kind in kinds)
    return {"description": titles, "content": {MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}}}


def _parameters(document: Schema) -> Iterator[Schema]:
    """Yield every parameter of every operation."""
    for operations in document["paths"].values():
        for operation in operations.values():
            yield from operation.get("parameters", ())


def _responses(document: Schema) -> Iterator[Schema]:
    """Yield every response of every operation."""
    for operations in document["paths"].values():
        for operation in operations.values():
            yield from operation["responses"].values()


def _declare_for_generators(response: Schema) -> None:
    """Remove content of a response that client generators do not read.

    The schema of one item of a stream requires OpenAPI 3.2; the stream is declared as a string instead. If all media
    types are images, the content is removed, as the description of the response names them.

    Args:
        response: a response of the OpenAPI document, which is changed.
    """
    content = response.get("content", {})
    for declared in content.values():
        if declared.pop("itemSchema", None) is not None:
            declared["schema"] = {"type": "string"}
    if all(media_type.startswith("image/") for media_type in content):
        response.pop("content", None)


def _string_schema(schema: Schema) -> Schema:
    """Return the schema of a header as one string.

    A header that may be sent more than once equals one with comma-separated values (RFC 9110, 5.3).

    Args:
        schema: the schema of a header, which is not changed.

    Returns:
        The schema of a string for a list, otherwise the schema itself.
    """
    if schema.get("type") != "array":
        return schema
    return {key: item for key, item in schema.items() if key != "items"} | {"type": "string"}


def _require_tags(schemas: Mapping[str, Schema]) -> None:
    """Make the tag of each member of a tagged union required, and remove its default value.

    A tagged union is a choice of several objects, in which one property, the tag, says which object it is.

    Args:
        schemas: the named schemas of the document; those of the members are changed.
    """
    for union in [schema for schema in schemas.values() if "discriminator" in schema]:
        tag = union["discriminator"]["propertyName"]
        for reference in union["discriminator"]["mapping"].values():
            member = schemas[reference.removeprefix(REF)]
            member["properties"][tag].pop("default", None)
            member["required"] = [tag, *(name for name in member.get("required", ()) if name != tag)]


def _answer_schemas(document: Schema) -> set[str]:
    """Return the names of the schemas that responses refer to, directly or through other schemas."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    return reachable(document["components"]["schemas"], [operation["responses"] for operation in operations])

"""The HTTP reference, the kinds of problem, the settings and the glossary of quantities."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from epsilond.accountants import quantities
from epsilond.accountants.quantities import algorithms
from epsilond.accountants.quantity import Quantity
from epsilond.app import settings
from epsilond.app.http.problem_kinds import KINDS
from scripts.pages import schemas
from scripts.pages.markdown import code, plain, table

OF_THIS_MACHINE = "depends on the machine"


def pages() -> Iterator[tuple[str, str]]:
    """Yield path and text of each page."""
    yield "http.md", http()
    yield "errors.md", errors()
    yield "glossary.md", glossary()
    yield "openapi.json", schemas.FILE.read_text(encoding="utf-8")


def http() -> str:
    """Write the page of all HTTP operations; the inputs of each theorem are on its own page.

    Returns:
        The page in Markdown.
    """
    info = schemas.document()["info"]
    parts = [f"# HTTP reference\n\n{plain(info['description'])} [openapi.json](openapi.json) is the whole contract.\n"]
    groups: dict[str, list[str]] = {}
    for method, path, operation in schemas.operations():
        (tag, *_) = operation.get("tags") or ["service"]
        groups.setdefault(tag, []).append(_operation(method, path, operation))
    for tag, texts in groups.items():
        parts.append(f"## {tag.replace('-', ' ').capitalize()}\n\n" + "\n".join(texts))
    parts.append("The inputs of a theorem's formula stand on the page of the [theorem](theorems/index.md).\n")
    return "\n".join(parts)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Write an HTTP operation: its description, parameters, body, an example, and its statuses.

    Args:
        method: HTTP method.
        path: path of the operation.
        operation: description of the operation in the OpenAPI document.

    Returns:
        The section in Markdown.
    """
    summary = operation.get("summary", "")
    description = operation.get("description", "")
    parts = [f"### `{method} {path}`\n", plain(summary), ""]
    if description not in ("", summary):
        parts += [plain(description), ""]
    rows = [
        (code(item["name"]), item["in"], plain(item.get("description", ""))) for item in schemas.parameters(operation)
    ]
    if rows:
        parts += [table(("parameter", "in", "what"), rows), ""]
    body = schemas.body(operation)
    if body:
        name = path.rpartition("/")[2]
        # Fields of a calibration are on the page of its algorithm.
        if path == f"/v1/calibrations/{name}":
            parts += [f"The fields stand on the page of [{code(name)}](algorithms/{name}.md).\n"]
        elif body.get("properties"):
            parts += [schemas.fields(body), ""]
        for example in schemas.examples(operation)[:1]:
            parts += [f"```json\n{json.dumps(example, ensure_ascii=False)}\n```\n"]
    return "\n".join([*parts, f"Answers {_statuses(operation)}.\n"])


def _statuses(operation: Mapping[str, Any]) -> str:
    """Return the statuses of an operation in words: successes with their descriptions, then problems with links."""
    words = {status: answer.get("description", "") for status, answer in schemas.responses(operation).items()}
    good = "; ".join(f"{status}: {plain(word)}" for status, word in words.items() if status < "400")
    bad = ", ".join(f"[{status}](errors.md)" for status in words if status >= "400")
    return f"{good}; or {bad}" if bad else good


def errors() -> str:
    """Write the page of the kinds of errors, with their remedies.

    Returns:
        The page in Markdown.
    """
    rows = ((code(kind.slug), str(kind.status), plain(kind.title), plain(kind.explanation)) for kind in KINDS.values())
    return (
        "# Errors\n\nEvery refusal is `application/problem+json` (RFC 9457): `type` is `/problems/` and the slug,"
        " `detail` says what happened, `errors` points at fields, `condition` and `nearest` say what fails and what"
        " would pass. A problem never repeats the values that were sent. The command line prints the same; it exits"
        " with 2 for bad input and with 3 where nothing can be certified. The library raises `InvalidInput` and"
        f" `NoCertificate`.\n\n{table(('slug', 'status', 'title', 'what to do'), rows)}\n"
    )


def glossary() -> str:
    """Write the page of all quantities with symbols, units and ranges, from their declarations.

    Returns:
        The page in Markdown.
    """
    constants = {**vars(quantities), **vars(algorithms)}
    rows = [
        (code(name.lower()), *_quantity(value))
        for name, value in constants.items()
        if isinstance(value, Quantity) and name.isupper()
    ]
    return (
        "# Glossary of quantities\n\nA quantity is declared once, and its name, range and unit are the same in the"
        " library, over HTTP and on the command line. ε is in nats. A noise *multiplier* is over the bound on one"
        " contribution, never over the sensitivity.\n\n"
        + table(("quantity", "symbol", "what", "unit", "allowed"), rows)
        + "\n"
    )


def _quantity(quantity: Quantity) -> Sequence[str]:
    return [plain(text) for text in (quantity.symbol, quantity.description, quantity.unit, quantity.allowed)]


def settings_table() -> str:
    """Write the table of the operator's settings: variable, default, and description.

    Returns:
        The table in Markdown.
    """
    rows = []
    for name, field in settings.Settings.model_fields.items():
        if field.default_factory:
            unset = OF_THIS_MACHINE
        else:
            unset = "" if field.default in ("", None) else code(str(field.default))
        rows.append((code(f"{settings.PREFIX}{name.upper()}"), unset, plain(field.description or "")))
    return table(("variable", "if unset", "what"), rows)

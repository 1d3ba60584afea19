"""Requests as files, standard input or a text on the command line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from epsilond import strict_json
from epsilond.accountants.errors import InvalidInput
from epsilond.commands.output import AsJson


def fields_of(source: str | None, *, at: str = "/request") -> dict[str, Any]:
    """The members of a JSON object in a file, or on standard input for `-`; none without a source.

    Raises:
        InvalidInput: it cannot be read, is no JSON, or no object.
    """
    if source is None:
        return {}
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.at(at, f"cannot be read: {error}") from None
    return _object(text, at, "")


def structure_of(given: str, *, at: str) -> dict[str, Any]:
    """A JSON object that is given itself, or as a file, or on standard input for `-`.

    Raises:
        InvalidInput: as above; faults within the object point into it, behind `at`.
    """
    if given.lstrip().startswith("{"):
        return _object(given, at, at)
    return fields_of(given, at=at)


def _object(text: str, at: str, inner: str) -> dict[str, Any]:
    body = strict_json.parse(text, at=inner)
    if not isinstance(body, dict):
        raise InvalidInput.at(at, "must hold a JSON object")
    return body


def assignment(text: str, *, at: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE.

    Raises:
        InvalidInput: there is no such sign.
    """
    name, sign, value = text.partition("=")
    if not sign:
        raise InvalidInput.at(at, "must be NAME=VALUE")
    return name.strip().replace("-", "_"), value


def request_parameters() -> list[inspect.Parameter]:
    """--request and --json."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    source_help = "a JSON request, - for standard input; options override its fields"
    source = typer.Option("--request", metavar="FILE", help=source_help)
    return [
        inspect.Parameter("request", keyword, default=None, annotation=Annotated[str | None, source]),
        inspect.Parameter("as_body", keyword, default=False, annotation=AsJson),
    ]


def with_parameters(
    command: Callable[..., None], parameters: list[inspect.Parameter], text: str | None
) -> Callable[..., None]:
    """The command with the signature that typer reads its options from."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = text
    return command

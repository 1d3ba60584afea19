"""Requests as files, standard input or a text on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from accountants.errors import InvalidInput
from epsilond import strict_json


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

"""Names and meanings of the fields of requests and answers, from the descriptions that their classes declare."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from typing import Annotated, get_args, get_origin, get_type_hints

from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import Quantity, quantity_of
from epsilond.calibrators.answer import Served

ADVANTAGE = "largest advantage of an attacker"
"""Name of the largest difference of an attacker's true and false positive rates."""


def true_positives(false_positive_rate: float) -> str:
    """Return the name of the true positive rate at the given false positive rate."""
    return f"true positives at {false_positive_rate:g} false ones"


def name_of(path: str) -> str:
    """Convert the dotted path of a field to a name for a table, in which positions in a list count from 1.

    Args:
        path: names of fields and positions in lists from 0, separated by dots.

    Returns:
        The name, such as `groups: 1 noise_std`. Nested names follow a colon.
    """
    parts = [str(int(part) + 1) if part.isdigit() else part for part in path.split(".")]
    first, *nested = parts
    if not nested:
        return first
    return f"{first}: {' '.join(nested)}"


def meaning_of(declared: type | None, path: str) -> str:
    """Return the description of a field of an answer, or of the innermost enclosing field that has a description.

    The path leads through nested dataclasses, and through lists of them.

    Args:
        declared: the dataclass that declares the field.
        path: names of the fields and positions in lists, separated by dots.

    Returns:
        The description; an empty text if no field on the path has one.
    """
    description = ""
    kind = declared
    for name in path.split("."):
        if name.isdigit():
            continue
        if kind is None or name not in _hints(kind):
            break
        # A field without a description keeps that of the field around it.
        hint = _hints(kind)[name]
        description = _description(hint) or description
        kind = _class_in(hint)
    return description


@cache
def _hints(kind: type) -> JsonRecord:
    """Return the annotations of a dataclass by field, with their descriptions."""
    return get_type_hints(kind, include_extras=True)


def _description(hint: object) -> str:
    """Return the description in an annotation; empty if it has none."""
    if get_origin(hint) is not Annotated:
        return ""
    _, *metadata = get_args(hint)
    return next((item.description for item in metadata if isinstance(item, Quantity | Served)), "")


def _class_in(hint: object) -> type | None:
    """Return the dataclass of a field's value, or of each element of a list; None if there is none."""
    bare_type, _ = quantity_of(hint)
    if get_origin(bare_type) is tuple:
        return _class_in(get_args(bare_type)[0])
    return bare_type if isinstance(bare_type, type) and is_dataclass(bare_type) else None

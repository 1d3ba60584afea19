"""What a field of a request or of its answer means: the description that its class declares."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from typing import Annotated, get_args, get_origin, get_type_hints

from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import Quantity, quantity_of
from epsilond.calibrators.answer import Served

ADVANTAGE = "largest advantage of an attacker"


def true_positives(false_positive_rate: float) -> str:
    """The name of the true positive rate at that false positive rate."""
    return f"true positives at {false_positive_rate:g} false ones"


def name_of(path: str) -> str:
    """A dotted path as a name: the places of a list count from 1, what is inside stands behind a colon."""
    first, *inner = [str(int(part) + 1) if part.isdigit() else part for part in path.split(".")]
    return ": ".join([first, " ".join(inner)] if inner else [first])


def meaning_of(declared: type | None, path: str) -> str:
    """The description of the field at a dotted path, or of the innermost field around it that has one."""
    found, kind = "", declared
    for name in path.split("."):
        if name.isdigit():
            continue
        if kind is None or name not in _hints(kind):
            break
        hint = _hints(kind)[name]
        found = _description(hint) or found
        kind = _class_in(hint)
    return found


@cache
def _hints(kind: type) -> JsonRecord:
    return get_type_hints(kind, include_extras=True)


def _description(hint: object) -> str:
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((item.description for item in metadata if isinstance(item, Quantity | Served)), "")


def _class_in(hint: object) -> type | None:
    """The class of what a field holds: of itself, or of each of a list."""
    bare = quantity_of(hint)[0]
    if get_origin(bare) is tuple:
        return _class_in(get_args(bare)[0])
    return bare if isinstance(bare, type) and is_dataclass(bare) else None

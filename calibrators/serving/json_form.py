"""The JSON form of answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field, fields, is_dataclass, make_dataclass
from enum import Enum
from functools import cache
from typing import Any, get_type_hints

from epsilond.accountants.json_types import JsonRecord
from epsilond.calibrators.serving.values import UNBOUNDED

UNSERVED: Mapping[str, bool] = {"unserved": True}
"""Metadata of dataclass fields that are not part of the JSON form."""
LARGEST_EXACT = 2**53
"""Size of integers from which on JSON readers that use doubles may round them, because a double has 53 bits."""


def as_json(value: Any) -> Any:
    """Return the JSON form of an answer or of a part of it.

    Fields of dataclasses that are None are left out. An infinity becomes the string "unbounded" or "-unbounded". An
    integer member of an object from ±2^53 on has a second member, with the suffix `_exact` and its digits as a string.

    Args:
        value: a dataclass, mapping, sequence, enumeration, number, string or None.

    Returns:
        A value of JSON types only. Objects of other types are returned unchanged.

    Raises:
        ValueError: a number is NaN.
    """
    kind: object = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value

    names = _served_names(kind)
    if names is not None:
        return _members_as_json([(name, item) for name in names if (item := getattr(value, name)) is not None])
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("an answer held a NaN")
        if math.isfinite(value):
            return value
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"

    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return _members_as_json(value.items())
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    return value


@cache
def _served_names(kind: Hashable) -> tuple[str, ...] | None:
    """Return the names of the served fields of a dataclass; None for other classes, numbers and enumerations."""
    is_record = isinstance(kind, type) and is_dataclass(kind) and not issubclass(kind, float | Enum)
    return field_names(kind) if is_record else None


@cache
def field_names(kind: Hashable) -> tuple[str, ...]:
    """Return the names of the served fields of a dataclass, in their order."""
    return tuple(field.name for field in fields(kind) if field.metadata != UNSERVED)  # type: ignore[arg-type]


class PartlyServed:
    """An answer with some fields that are not served. Its JSON schema has only those that are."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], dict[str, object]]) -> object:
        """Return the schema of the served fields."""
        del source
        kind: type = cls
        return handler(_served_class(kind))


@cache
def _served_class(kind: type) -> type:
    """Make a dataclass with only those fields of a given one that are served, for the JSON schema.

    Args:
        kind: the given dataclass. Its fields with the metadata `UNSERVED` are left out.

    Returns:
        A class with the same name, module and docstring. It is made once for each `kind`.
    """
    hints = get_type_hints(kind, include_extras=True)
    defaults = {member.name: member.default for member in fields(kind)}
    return make_dataclass(
        kind.__name__,
        [(name, hints[name], field(default=defaults[name])) for name in field_names(kind)],
        namespace={"__doc__": kind.__doc__, "__module__": kind.__module__},
        frozen=True,
        kw_only=True,
    )


def _members_as_json(items: Iterable[tuple[str, Any]]) -> JsonRecord:
    """Convert the members of an object to their JSON form.

    An integer from ±2^53 on is rounded up to a double. Its digits are added as a string, with the suffix `_exact` in
    the name.

    Args:
        items: names and values of the members.

    Returns:
        JSON values by name, in the same order.
    """
    members: JsonRecord = {}
    for name, item in items:
        kind = type(item)
        is_small_number = (kind is float or kind is int) and -LARGEST_EXACT < item < LARGEST_EXACT
        if kind is str or kind is bool or is_small_number:
            # A fast path, because most members of an answer have their JSON form already.
            members[name] = item
        elif isinstance(item, int) and kind is not bool and abs(item) >= LARGEST_EXACT:
            members[f"{name}_exact"] = str(item)
            members[name] = _round_up_to_double(item)
        else:
            members[name] = as_json(item)
    return members


def _round_up_to_double(count: int) -> int:
    """Return the least double at or above an integer, as an integer, so that no count is understated."""
    nearest = float(count)
    if int(nearest) >= count:
        return int(nearest)
    return int(math.nextafter(nearest, math.inf))

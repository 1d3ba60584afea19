"""From pydantic's errors to faults with true JSON pointers, said in our words and without the input.

Pydantic's place of an error is not a pointer: it names the member of a union it was trying, which is no key of the
body. So the place is followed through the declared types, which also yields the quantity whose range is to be told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import Tag
from typing_extensions import TypeAliasType

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Quantity, Tagged
from epsilond.calibrators.strict_json import MOST_FAULTS, step

MESSAGES: Mapping[str, str] = {
    "missing": "is required",
    "unexpected_keyword_argument": "is not a field of this object",
    "extra_forbidden": "is not a field of this object",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "tuple_type": "must be an array",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "dataclass_type": "must be an object",
    "model_attributes_type": "must be an object",
    "finite_number": "must be finite",
    "enum": "is not one of the allowed values",
    "literal_error": "is not one of the allowed values",
    "union_tag_invalid": "is not one of the allowed values",
    "union_tag_not_found": "is required",
    "too_short": "has too few entries",
    "too_long": "has too many entries",
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), "is out of range"),
}
"""By pydantic's error type. Its own sentences may quote the input."""


def faults_of(errors: Sequence[Mapping[str, Any]], body_type: Any) -> tuple[Fault, ...]:
    """The faults behind a failed validation of a body of `body_type`, each place once, sixteen at most."""
    found: dict[str, Fault] = {}
    for error in errors[: 4 * MOST_FAULTS]:
        for fault in _faults_of(error, body_type):
            found.setdefault(fault.pointer, fault)
    return tuple(found.values())[:MOST_FAULTS]


def _faults_of(error: Mapping[str, Any], body_type: Any) -> list[Fault]:
    pointer, quantity = locate(error["loc"], body_type)
    context = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, InvalidInput):
        return [Fault(pointer + fault.pointer, fault.message, fault.allowed) for fault in cause.faults]
    kind = error["type"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        pointer = step(pointer, str(context["discriminator"]).strip("'"))
    if error.get("input", ...) is None and kind != "missing":
        return [Fault(pointer, "must not be null; leave it out", quantity.allowed or None if quantity else None)]
    expected = context.get("expected_tags") or context.get("expected")
    allowed = str(expected) if expected else quantity.allowed if quantity else None
    return [Fault(pointer, MESSAGES.get(kind, "is not valid"), allowed or None)]


def locate(place: Sequence[str | int], declared: Any) -> tuple[str, Quantity | None]:
    """The JSON pointer of pydantic's `place` in a body of type `declared`, and the quantity that stands there."""
    pointer = ""
    quantity: Quantity | None = None
    for key in place:
        declared, tagged = _unwrapped(declared)[:2]
        if tagged is not None:
            declared = next((choice for choice in get_args(declared) if _tag(choice, tagged) == key), None)
            continue
        if get_origin(declared) in (Union, UnionType):
            told = (choice for choice in get_args(declared) if Tag(str(key)) in getattr(choice, "__metadata__", ()))
            declared = next(told, None)
            if declared is not None:  # the key is the tag of a member that is told by what the body has
                continue
            declared = None  # the next key names a member of an untagged union, and no place in the body
            continue
        pointer = step(pointer, key)
        declared = _member(declared, key)
        quantity = _unwrapped(declared)[2]
    return pointer, quantity


def _tag(choice: Any, tagged: Tagged) -> Any:
    return choice.__dataclass_fields__[tagged.field].default


def _unwrapped(declared: Any) -> tuple[Any, Tagged | None, Quantity | None]:
    """The bare type behind aliases, metadata and `| None`, with the metadata that matters."""
    tagged: Tagged | None = None
    quantity: Quantity | None = None
    while True:
        if isinstance(declared, TypeAliasType):
            declared = declared.__value__
        elif get_origin(declared) is Annotated:
            declared, *metadata = get_args(declared)
            tagged = next((item for item in metadata if isinstance(item, Tagged)), tagged)
            quantity = next((item for item in metadata if isinstance(item, Quantity)), quantity)
        elif get_origin(declared) in (Union, UnionType) and NoneType in get_args(declared):
            kept = tuple(item for item in get_args(declared) if item is not NoneType)
            declared = Union[kept]
        else:
            return declared, tagged, quantity


def _member(declared: Any, key: str | int) -> Any:
    """The declared type of a member, None where it is unknown."""
    if is_dataclass(declared):
        return get_type_hints(declared, include_extras=True).get(str(key))
    arguments = get_args(declared)
    return arguments[0 if isinstance(key, int) else -1] if arguments else None

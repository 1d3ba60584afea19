"""Values of other libraries as plain numbers and checked requests. Errors point at the place of the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from epsilond.accountants.errors import Fault, InvalidInput

T = TypeVar("T")


def number(value: object, at: str) -> float:
    """Return a number, numpy scalar or tensor of one element as a float.

    Args:
        value: the value to convert.
        at: JSON pointer of the value, for the error.

    Raises:
        InvalidInput: the value is not a number.
    """
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InvalidInput.at(at, "must be a number")
    return float(plain)


def count(value: object, at: str) -> int:
    """Return a whole number, at least 0, as an int.

    Args:
        value: the value to convert.
        at: JSON pointer of the value, for the error.

    Raises:
        InvalidInput: the value is not a whole number, or is negative.
    """
    size = number(value, at)
    if not (size.is_integer() and size >= 0.0):
        raise InvalidInput.at(at, "must be a whole number", allowed="≥ 0")
    return int(size)


def build(request: Callable[..., T], at: str, names: Mapping[str, str], **fields: object) -> T:
    """Build a request from fields, with errors in the names of the other library.

    Args:
        request: class of the request.
        at: JSON pointer of the object that the fields were read from.
        names: name of a field in the other library, where it differs.
        **fields: fields of the request.

    Raises:
        InvalidInput: the fields are out of range; pointers begin with `at`.
    """
    try:
        return request(**fields)
    except InvalidInput as error:
        faults = []
        for fault in error.faults:
            field = fault.pointer[1:]
            faults.append(Fault(f"{at}/{names.get(field, field)}", fault.message, fault.allowed))
        raise InvalidInput(*faults) from None

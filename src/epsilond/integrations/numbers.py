"""What other libraries keep, as plain numbers and checked requests; faults point at where it stood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from epsilond.accountants.errors import Fault, InvalidInput

T = TypeVar("T")


def number(value: object, at: str) -> float:
    """A number, numpy's scalar or a tensor of one element as a plain one.

    Raises:
        InvalidInput: it is none; the pointer is `at`.
    """
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InvalidInput.at(at, "must be a number")
    return float(plain)


def count(value: object, at: str) -> int:
    """A whole number from 0 on as a plain one.

    Raises:
        InvalidInput: it is none; the pointer is `at`.
    """
    found = number(value, at)
    if not (found.is_integer() and found >= 0.0):
        raise InvalidInput.at(at, "must be a whole number", allowed="≥ 0")
    return int(found)


def built(request: Callable[..., T], at: str, names: Mapping[str, str], **fields: object) -> T:
    """The request of these fields; `names` says what a field is called where it stood.

    Raises:
        InvalidInput: no run can have these; pointers begin with `at`.
    """
    try:
        return request(**fields)
    except InvalidInput as error:
        called = ((names.get(it.pointer[1:], it.pointer[1:]), it) for it in error.faults)
        raise InvalidInput(*(Fault(f"{at}/{name}", it.message, it.allowed) for name, it in called)) from None

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

    Returns:
        The number, which may be infinite or NaN.

    Raises:
        InvalidInput: the value is not a number.
    """
    convert = getattr(value, "item", None)  # of numpy scalars and tensors
    plain = convert() if callable(convert) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise InvalidInput.at(at, "must be a number")
    return float(plain)


def count(value: object, at: str) -> int:
    """Return a whole number, at least 0, as an int.

    Args:
        value: the value to convert.
        at: JSON pointer of the value, for the error.

    Returns:
        The number as an int.

    Raises:
        InvalidInput: the value is not a whole number, or is negative.
    """
    size = number(value, at)
    if not (size.is_integer() and size >= 0.0):
        raise InvalidInput.at(at, "must be a whole number", allowed="≥ 0")
    return int(size)


def build(request: Callable[..., T], at: str, names: Mapping[str, str], **fields: object) -> T:
    """Return an instance of a request class; errors name the fields as another library does.

    Users of the other library know its field names, and not those of this library.

    Args:
        request: the request class.
        at: JSON pointer to the object of the other library from which the fields were read.
        names: mapping from field names of `request` to names of the other library, where they differ.
        **fields: values of the fields of `request`.

    Returns:
        The instance; its fields were checked by its class.

    Raises:
        InvalidInput: fields are out of range. The pointers of the error begin with `at`.
    """
    try:
        return request(**fields)
    except InvalidInput as error:
        faults = []
        for fault in error.faults:
            field = fault.pointer[1:]
            faults.append(Fault(f"{at}/{names.get(field, field)}", fault.message, fault.allowed))
        raise InvalidInput(*faults) from None

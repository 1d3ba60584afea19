"""Values of other libraries as plain numbers and checked requests. Errors point at the place of the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from epsilond.accountants.errors import Fault, InvalidInput

T = TypeVar("T")


def number(value: object, at: str) -> float:
    """Return a Python number, a numpy scalar, or an array or tensor of one element as a float.

    Args:
        value: the value to convert.
        at: JSON pointer of the value, for the error.

    Returns:
        The number, which may be infinite or NaN.

    Raises:
        InvalidInput: the value is not a number, or is a Boolean.
        ValueError, RuntimeError: numpy or torch rejects an array of several elements.
    """
    convert = getattr(value, "item", None)  # numpy scalars and tensors have this method
    scalar = convert() if callable(convert) else value
    if isinstance(scalar, bool) or not isinstance(scalar, int | float):  # bool is a subclass of int
        raise InvalidInput.at(at, "must be a number")
    return float(scalar)


def count(value: object, at: str) -> int:
    """Return a whole number, at least 0, as an int.

    Args:
        value: a number as `number` accepts it, for example 3, 3.0 or a numpy scalar.
        at: JSON pointer of the value, for the error.

    Returns:
        The number as an int.

    Raises:
        InvalidInput: the value is not a whole number, or is negative.
    """
    converted = number(value, at)
    if not (converted.is_integer() and converted >= 0.0):
        raise InvalidInput.at(at, "must be a whole number", allowed="≥ 0")
    return int(converted)


def build(request: Callable[..., T], at: str, names: Mapping[str, str], **fields: object) -> T:
    """Return an instance of a request class. Errors have the field names of the library that the values come from.

    Users of that library know its field names, and not those of the request class.

    Args:
        request: the request class.
        at: JSON pointer to the object of that library from which the fields were read.
        names: mapping from field names of `request` to names of that library, where they differ.
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
            field = fault.pointer[1:]  # without the slash
            faults.append(Fault(f"{at}/{names.get(field, field)}", fault.message, fault.allowed))
        raise InvalidInput(*faults) from None

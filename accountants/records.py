"""Records that check their numbers when they are built: requests, whose fields are declared by their quantities."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantity import (
    LARGEST_COUNT,
    Checks,
    Quantity,
    check_scale,
    check_value,
    quantity_of,
    whole_number,
)
from epsilond.accountants.scale import ANY_SCALE, SQUARES, Scale

T = TypeVar("T")


class _QuantityField(NamedTuple):
    """A field of a request with a `Quantity`, prepared for checks of its values.

    Attributes:
        name: name of the field.
        default: value of the field if it is absent.
        bare: type of the field without metadata and None.
        quantity: meaning and range of the value.
        scale: narrower range, within which formulas neither underflow nor overflow; None for no such range.
        above: lower bound of an open interval, in which a number of exactly the type `bare` is valid.
        below: upper bound of this interval.
        choices: allowed values of a literal type; None for another type.
        numeric: whether the type is float or int.
    """

    name: str
    default: Any
    bare: Any
    quantity: Quantity
    scale: Scale | None
    above: float
    below: float
    choices: tuple[Any, ...] | None
    numeric: bool

    def is_surely_valid(self, value: Any) -> bool:
        """Return whether a value is valid and needs no conversion, by a quick check that most values pass.

        Args:
            value: value of the field.

        Returns:
            False if the full check must decide. True for every value of a type that is neither a number nor a literal.
        """
        if self.numeric:
            if type(value) is self.bare and self.above < value < self.below:
                return True
        elif self.choices is None or value in self.choices:
            return True
        is_default = value is self.default
        return is_default and (value is None or type(value) is str)


@cache
def _quantity_fields(cls: type) -> tuple[_QuantityField, ...]:
    """Return the fields of a request class that are annotated with a quantity, in the order of their declaration.

    A quantity describes a field and its allowed values. The result is cached, because resolving annotations is slow.

    Args:
        cls: a dataclass with annotated fields.

    Returns:
        One entry for each field with a quantity.
    """
    hints = get_type_hints(cls, include_extras=True)
    declared = []
    for field in fields(cls):
        annotation = hints[field.name]
        bare, quantity = quantity_of(annotation)
        if quantity is not None:
            scale = scale_of(annotation, quantity, cls)
            declared.append(_quantity_field(field.name, field.default, bare, quantity, scale))
    return tuple(declared)


def _quantity_field(
    name: str, default: object, bare: object, quantity: Quantity, scale: Scale | None
) -> _QuantityField:
    """Return a field, prepared for checks of its values, with the range for the quick check.

    Args:
        name: name of the field.
        default: value of the field if it is absent.
        bare: type of the field without metadata and None.
        quantity: meaning and range of the value.
        scale: narrower range of the value, if it has one.

    Returns:
        The field with its type, range and choices.
    """
    above, below = sure_range(bare, quantity, scale)
    choices = get_args(bare) if get_origin(bare) is Literal else None
    return _QuantityField(name, default, bare, quantity, scale, above, below, choices, numeric=bare in (float, int))


def sure_range(bare: object, quantity: Quantity, scale: Scale | None) -> tuple[float, float]:
    """Return an open interval in which every number is valid, so that a quick comparison is enough.

    Numbers outside it may be valid too, such as 0 or a bound itself, and require the full check.

    Args:
        bare: type of the number, float or int.
        quantity: meaning and range of the number.
        scale: narrower range of the number, if it has one.

    Returns:
        The lower and the upper bound of the interval.
    """
    if bare is float:
        least, most = sys.float_info.min, sys.float_info.max  # the normal doubles
    else:
        least, most = 0.0, float(LARGEST_COUNT)  # counts that are exact in doubles
    limits = scale or ANY_SCALE
    lower_bounds = (quantity.gt, quantity.ge, limits.least, least)
    upper_bounds = (quantity.lt, quantity.le, limits.most, most)
    above = max(bound for bound in lower_bounds if bound is not None)
    below = min(bound for bound in upper_bounds if bound is not None)
    return above, below


def scale_of(annotation: object, quantity: Quantity, cls: type) -> Scale | None:
    """Return the scale of a field, a range within which formulas neither underflow nor overflow; None if it has none.

    Args:
        annotation: annotation of the field. Its scale, if any, comes first.
        quantity: quantity of the field. Its scale, if any, is the default.
        cls: class of the field. Its attribute `scale`, if any, replaces the scale of the quantity.

    Returns:
        The scale of the annotation if it has one. Otherwise that of the class or of the quantity; None if the quantity
        has none.
    """
    own = next((item for item in get_args(annotation)[1:] if isinstance(item, Scale)), None)
    if own is not None or quantity.scale is None:
        return own
    return getattr(cls, "scale", quantity.scale)


@cache
def _checks(cls: type) -> Checks:
    """Return the checks of a request class, in the order in which they run.

    They are those of all its base classes, oldest first, and then its method `check`.

    Args:
        cls: the request class.

    Returns:
        Functions of a request that raise `InvalidInput`.
    """
    checks = []
    for base in reversed(cls.__mro__):
        checks.extend(vars(base).get("checks", ()))
    own_check = getattr(cls, "check", None)
    if own_check is not None:
        checks.append(own_check)
    return tuple(checks)


def value_of(record: object, name: str) -> Any:
    """Return the value of a field, or its assumed value if it is absent.

    An assumed value may depend on other fields of the record.

    Args:
        record: a request.
        name: name of the field.

    Returns:
        The value; None if it is absent and nothing is assumed.
    """
    value = getattr(record, name)
    if value is not None:
        return value
    cls: Any = type(record)
    for declared in _quantity_fields(cls):
        if declared.name == name:
            absent = declared.quantity.absent
            return None if absent is None else absent.value(record)
    return None


def assumptions(record: Any) -> Iterator[tuple[str, str]]:
    """Yield a warning for each absent field that has an assumed value.

    Args:
        record: a request.

    Yields:
        The code of the warning, such as assumed-rounds, and its message. There is no warning if the condition of the
        assumption, `Assumed.when`, is false for the request.
    """
    cls: Any = type(record)
    for declared in _quantity_fields(cls):
        name, absent = declared.name, declared.quantity.absent
        if absent is None or getattr(record, name) is not None:
            continue
        if absent.when is None or absent.when(record):
            yield f"assumed-{name.replace('_', '-')}", f"You did not give {name}; it was assumed to be {absent.words}"


def check_quantities(record: object) -> None:
    """Check every quantity of a dataclass instance against its declared type and range.

    Values are converted to the declared type: a list to a tuple, an integral float such as 1e3 to an integer, and an
    integer to a float.

    Args:
        record: the instance, which is changed in place.

    Raises:
        InvalidInput: some values have a wrong type or are out of range. The error has one fault for each.
    """
    faults = []
    cls: Any = type(record)
    for declared in _quantity_fields(cls):
        value: Any = getattr(record, declared.name)
        if type(value) is list:
            value = tuple(value)  # a request is hashable
            object.__setattr__(record, declared.name, value)
        if declared.is_surely_valid(value):
            continue
        # The slower check also converts the value.
        if declared.bare is int:
            value = whole_number(value)
        fault = check_value(f"/{declared.name}", value, declared.bare, declared.quantity, declared.scale)
        if fault is not None:
            faults.append(fault)
            continue
        converted = float(value) if declared.bare is float else value
        object.__setattr__(record, declared.name, converted)
    if faults:
        raise InvalidInput(*faults)


def check_scales(scale: Scale = SQUARES, **values: float | None) -> None:
    """Reject values with which formulas could underflow or overflow.

    Fields of a request are checked when it is made. This function is for other values, such as those computed from
    several fields.

    Args:
        scale: range within which formulas neither underflow nor overflow; by default, for formulas with squares.
        values: the values by name; None for an absent value.

    Raises:
        InvalidInput: some values are outside the scale. The error has one fault for each.
    """
    checked = [check_scale(f"/{name}", value, scale) for name, value in values.items()]
    faults = [fault for fault in checked if fault is not None]
    if faults:
        raise InvalidInput(*faults)


@dataclass(frozen=True)
class AtMost:
    """A check that one field does not exceed another, if the record has both and neither is None.

    Attributes:
        name: name of the field that is checked.
        bound: name of the field with the upper bound.
        message: message of the fault.
    """

    name: str
    bound: str
    message: str

    def __call__(self, record: Any) -> None:
        """Reject a record in which the field is larger than its bound.

        Args:
            record: the record, which may lack either field.

        Raises:
            InvalidInput: the field is larger than its bound. The fault is at the checked field.
        """
        value = getattr(record, self.name, None)
        bound = getattr(record, self.bound, None)
        if value is None or bound is None or value <= bound:
            return
        allowed = f"≤ {bound}" if isinstance(bound, int) else f"≤ {bound:g}"
        raise InvalidInput.at(f"/{self.name}", self.message, allowed=allowed)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def request(cls: type[T]) -> type[T]:
    """Make a class a frozen keyword-only dataclass that checks itself when it is built.

    It checks its quantities, then calls the `checks` of its base classes and its own, and then its `check()`. Checks
    raise `InvalidInput` for combinations of fields that no run can have. The class is also the HTTP body, which rejects
    unknown fields too. A group of fields declares `checks: ClassVar[Checks] = (…)` for every class that has the group.

    Args:
        cls: a class with fields that are annotated by quantities.

    Returns:
        The same class as a dataclass.
    """

    def __post_init__(self: object) -> None:
        """Check each field by its quantity, and then the fields together."""
        check_quantities(self)
        own: Any = type(self)
        for check in _checks(own):
            check(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    cls.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    record_class = dataclass(frozen=True, kw_only=True)(cls)
    assert is_dataclass(record_class)
    return record_class

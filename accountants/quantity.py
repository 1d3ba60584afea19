"""Meaning, symbol, unit and range of numbers, and records that check their numbers when they are built.

`Quantity` supports pydantic through two hooks and imports nothing from it: the mathematics is independent of the web.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.scale import ANY_SCALE, SQUARES, Scale

T = TypeVar("T")

Checks = tuple[Callable[[Any], None], ...]
"""Conditions of a request class on its fields together: `checks: ClassVar[Checks]`."""

LARGEST_COUNT = 10**15
"""Counts up to this are exact in every double and far beyond any run."""


@dataclass(frozen=True)
class Assumed:
    """The assumption for an absent field: its value, the value in words, and the condition for a warning."""

    words: str
    value: Callable[[Any], float]
    when: Callable[[Any], bool] | None


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Meaning, symbol, unit and range of one number. Ranges are closed at `ge`/`le` and open at `gt`/`lt`.

    Attributes:
        of_unit: description if the unit of protection is known, with {unit} for "record" or "client".
        choices: words of a quantity that is a word, each with one sentence that explains it.
        reason: one sentence that explains why there are fewer choices than elsewhere.
        longest: largest number of characters of a text.
    """

    description: str
    of_unit: str = ""
    symbol: str = ""
    unit: str = ""
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    scale: Scale | None = None
    absent: Assumed | None = None
    choices: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    longest: int | None = None

    def only(self, *words: str, because: str) -> Quantity:
        """Return the quantity of a field that admits only some of the words.

        Args:
            words: the words that remain.
            because: one sentence that explains the restriction. It is part of the error for another word.
        """
        return replace(self, choices=tuple(choice for choice in self.choices if choice[0] in words), reason=because)

    def assume(
        self, words: str, value: Callable[[object], float], *, when: Callable[[object], bool] | None = None
    ) -> Quantity:
        """Return the quantity of a field that may be absent, with the value that is then assumed.

        The description states the assumption, `value_of` applies it, and `assumptions` lists it as `assumed-<field>`.

        Args:
            words: the assumed value, in words.
            value: returns the assumed value of a record.
            when: returns whether the assumption is listed for a record. By default it always is.
        """
        description = f"{self.description}. Absent: assumed to be {words}"
        return replace(self, description=description, absent=Assumed(words, value, when))

    @property
    def allowed(self) -> str:
        """Choices with their sentences, or the range in words, for the faults of a request."""
        if self.choices:
            return " ".join(f"{word}: {sentence}" for word, sentence in self.choices)
        signs = ((self.gt, ">"), (self.ge, "≥"), (self.lt, "<"), (self.le, "≤"))
        return " and ".join(f"{sign} {_exact(bound)}" for bound, sign in signs if bound is not None)

    def convert(self, value: Any) -> Any:
        """Return a value in the form in which the field holds it, from a form in which a request may give it."""
        return value

    @property
    def not_a_choice(self) -> str:
        """Message of a fault for a word that is not a choice, with the reason if there is a reason."""
        message = "is not one of the allowed values"
        return f"{message}: {self.reason}" if self.reason else message

    def contains(self, value: float) -> bool:
        """Return whether `value` is finite and inside the range."""
        if isinstance(value, int) and abs(value) > max(LARGEST_COUNT, self.le or 0):
            return False
        return (
            math.isfinite(value)
            and (self.gt is None or value > self.gt)
            and (self.ge is None or value >= self.ge)
            and (self.lt is None or value < self.lt)
            and (self.le is None or value <= self.le)
        )

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return the schema with the bounds of a number. `X | None` admits absence, but not an explicit null."""
        schema = dict(handler(_without_none(source)))
        if schema["type"] not in ("float", "int"):
            return schema
        bounds = {sign: getattr(self, sign) for sign in ("gt", "ge", "lt", "le")}
        number = float if schema["type"] == "float" else int
        return schema | {sign: number(bound) for sign, bound in bounds.items() if bound is not None}

    def __get_pydantic_json_schema__(
        self, schema: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return the JSON schema with description, symbol and unit, as `description`, `x-symbol` and `x-unit`."""
        json_schema = handler(schema)
        json_schema["description"] = self.description
        if self.of_unit:
            json_schema["x-of-unit"] = self.of_unit
        if self.symbol:
            json_schema["x-symbol"] = self.symbol
        if self.unit:
            json_schema["x-unit"] = self.unit
        return json_schema


def whole_number(value: object) -> object:
    """Convert an integral float, for example 1e9 or 1000.0, to its integer. Other values are returned unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _exact(bound: float) -> str:
    """Return the bound in its short form, or in full if the short form is another number."""
    short = f"{bound:g}"
    return short if float(short) == bound else str(bound)


def _without_none(annotation: object) -> Any:
    """Return `X` for `X | None`."""
    arguments = get_args(annotation)
    if NoneType not in arguments or arguments == (NoneType,):
        return annotation
    types = tuple(argument for argument in arguments if argument is not NoneType)
    union = types[0]
    for argument in types[1:]:
        union = union | argument
    return union


def quantity_of(annotation: object) -> tuple[Any, Quantity | None]:
    """Return the bare type of an annotated field (None removed) and its quantity, if it has one."""
    if get_origin(annotation) is Annotated:
        bare, *metadata = get_args(annotation)
        quantity = next((item for item in metadata if isinstance(item, Quantity)), None)
        return _without_none(bare), quantity
    return _without_none(annotation), None


def check_value(
    pointer: str, value: object, bare: object, quantity: Quantity, scale: Scale | None = None
) -> Fault | None:
    """Return the fault of a value, or None if it has no fault.

    Args:
        pointer: JSON pointer to the value.
        value: the value.
        bare: type of the field, without its quantity.
        quantity: meaning and range of the value.
        scale: narrower range of the value, if it has one.
    """
    if bare in (float, int):
        if isinstance(value, bool) or not isinstance(value, int if bare is int else int | float):
            return Fault(pointer, f"must be a {'whole ' if bare is int else ''}number", quantity.allowed)
        if not quantity.contains(value):
            return Fault(pointer, "is out of range", quantity.allowed)
        if 0.0 < abs(value) < sys.float_info.min:
            return Fault(pointer, "is so small that a double has lost its digits", f"0, or ≥ {sys.float_info.min:g}")
        return None if scale is None else _check_scale(pointer, value, scale)
    if get_origin(bare) is Literal and value not in get_args(bare):
        return Fault(pointer, quantity.not_a_choice, quantity.allowed or ", ".join(map(str, get_args(bare))))
    return None


def _check_scale(pointer: str, value: float | None, scale: Scale) -> Fault | None:
    """Return the fault of a value outside a scale, or None; 0 has no fault."""
    if not value or scale.least <= value <= scale.most:
        return None
    message = "is outside the range that squares survive; choose other units"
    return Fault(pointer, message, f"≥ {scale.least:g} and ≤ {scale.most:g}")


class _Declared(NamedTuple):
    """A field of a request with a `Quantity`, in the form that checks of values need.

    Attributes:
        name: name of the field, with its value `default` if it is absent.
        bare: type of the field without metadata and None.
        quantity: meaning and range of the value.
        scale: narrower range, within which squares are doubles; None for no such range.
        above, below: numbers of exactly this type strictly between `above` and `below` need no further check.
        choices: choices of a literal; None for another type. `numeric` says whether the type is float or int.
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
        """Return whether a value is valid and in its final form, by a quick check. Other types are not checked."""
        if self.numeric:
            if type(value) is self.bare and self.above < value < self.below:
                return True
        elif self.choices is None or value in self.choices:
            return True
        is_default = value is self.default
        return is_default and (value is None or type(value) is str)


@cache
def _quantity_fields(cls: type) -> tuple[_Declared, ...]:
    """Return the fields that have a quantity. The result is stored, because resolving annotations is slow."""
    hints = get_type_hints(cls, include_extras=True)
    annotated = ((field, *quantity_of(hints[field.name])) for field in fields(cls))
    return tuple(
        _declared_field(field.name, field.default, bare, quantity, scale_of(hints[field.name], quantity, cls))
        for field, bare, quantity in annotated
        if quantity is not None
    )


def _declared_field(name: str, default: object, bare: object, quantity: Quantity, scale: Scale | None) -> _Declared:
    above, below = sure_range(bare, quantity, scale)
    choices = get_args(bare) if get_origin(bare) is Literal else None
    return _Declared(name, default, bare, quantity, scale, above, below, choices, numeric=bare in (float, int))


def sure_range(bare: object, quantity: Quantity, scale: Scale | None) -> tuple[float, float]:
    """Return the bounds of an open interval in which every number is valid, so that a quick comparison is enough.

    Args:
        bare: type of the number.
        quantity: meaning and range of the number.
        scale: narrower range of the number, if it has one.
    """
    limits = scale or ANY_SCALE
    least, most = (sys.float_info.min, sys.float_info.max) if bare is float else (0.0, float(LARGEST_COUNT))
    lower_bounds = (quantity.gt, quantity.ge, limits.least, least)
    upper_bounds = (quantity.lt, quantity.le, limits.most, most)
    return (
        max(bound for bound in lower_bounds if bound is not None),
        min(bound for bound in upper_bounds if bound is not None),
    )


def scale_of(annotation: object, quantity: Quantity, cls: type) -> Scale | None:
    """Return the scale of a field, a narrower range within which squares are doubles; None if it has none.

    Args:
        annotation: annotation of the field. Its scale, if any, comes first.
        quantity: quantity of the field. Its scale, if any, is the default.
        cls: class of the field. Its attribute `scale`, if any, replaces the scale of the quantity.
    """
    own = next((item for item in get_args(annotation)[1:] if isinstance(item, Scale)), None)
    if own is not None or quantity.scale is None:
        return own
    return getattr(cls, "scale", quantity.scale)


@cache
def _checks(cls: type) -> Checks:
    """Return the checks of all base classes of a request class, oldest first, and then its `check`."""
    checks = [check for base in reversed(cls.__mro__) for check in vars(base).get("checks", ())]
    own = getattr(cls, "check", None)
    return tuple(checks if own is None else [*checks, own])


def value_of(record: object, name: str) -> Any:
    """Return the value of a field, or its assumed value if it is absent."""
    value = getattr(record, name)
    if value is not None:
        return value
    cls: Any = type(record)
    absent = next((declared.quantity.absent for declared in _quantity_fields(cls) if declared.name == name), None)
    return None if absent is None else absent.value(record)


def assumptions(record: Any) -> Iterator[tuple[str, str]]:
    """Yield the code and the message of a warning for each absent field that has an assumed value."""
    cls: Any = type(record)
    for declared in _quantity_fields(cls):
        name, absent = declared.name, declared.quantity.absent
        if absent is None or getattr(record, name) is not None:
            continue
        if absent.when is None or absent.when(record):
            yield f"assumed-{name.replace('_', '-')}", f"You did not give {name}; it was assumed to be {absent.words}"


def check_quantities(record: object) -> None:
    """Check every quantity of a dataclass instance against its declared type and range.

    Raises:
        InvalidInput: it has one fault for each field that is out of its range.
    """
    faults = []
    cls: Any = type(record)
    for declared in _quantity_fields(cls):
        value: Any = getattr(record, declared.name)
        if type(value) is list:  # a request is hashable
            object.__setattr__(record, declared.name, value := tuple(value))
        if declared.is_surely_valid(value):
            continue
        value = whole_number(value) if declared.bare is int else value
        fault = check_value(f"/{declared.name}", value, declared.bare, declared.quantity, declared.scale)
        if fault is not None:
            faults.append(fault)
        else:
            object.__setattr__(record, declared.name, float(value) if declared.bare is float else value)
    if faults:
        raise InvalidInput(*faults)


def check_scales(scale: Scale = SQUARES, **values: float | None) -> None:
    """Reject values outside `scale`, for values that are not fields: derived values, and those of groups.

    Raises:
        InvalidInput: it has one fault for each value outside the scale.
    """
    faults = [fault for name, value in values.items() if (fault := _check_scale(f"/{name}", value, scale)) is not None]
    if faults:
        raise InvalidInput(*faults)


@dataclass(frozen=True)
class AtMost:
    """A check that one field does not exceed another, if the record has both and neither is None."""

    name: str
    bound: str
    message: str

    def __call__(self, record: Any) -> None:
        """Reject a record whose field is larger than its bound."""
        value, bound = getattr(record, self.name, None), getattr(record, self.bound, None)
        if value is not None and bound is not None and value > bound:
            allowed = f"≤ {bound}" if isinstance(bound, int) else f"≤ {bound:g}"
            raise InvalidInput.at(f"/{self.name}", self.message, allowed=allowed)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def request(cls: type[T]) -> type[T]:
    """Make `cls` a frozen keyword-only dataclass that checks itself when it is built.

    It checks its quantities, then calls the `checks` of its base classes and its own, and then its `check()`. Checks
    raise `InvalidInput` for combinations of fields that no run can have. The class is also the HTTP body, which rejects
    unknown fields too. A group of fields declares `checks: ClassVar[Checks] = (…)` for every class that has the group.
    """

    def __post_init__(self: object) -> None:
        check_quantities(self)
        own: Any = type(self)
        for check in _checks(own):
            check(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    cls.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    record_class = dataclass(frozen=True, kw_only=True)(cls)
    assert is_dataclass(record_class)
    return record_class

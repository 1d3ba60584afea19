"""What a number is: its meaning, symbol, unit and range, and records that check theirs when they are built.

`Quantity` speaks to pydantic through two hooks and imports nothing of it, so that the mathematics stays free of the
web.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache, cached_property
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

T = TypeVar("T")

Checks = tuple[Callable[[Any], None], ...]
"""What a request class demands of its fields together: `checks: ClassVar[Checks]`."""

LARGEST_COUNT = 10**15
"""Counts up to this are exact in every double and far beyond any run."""


@dataclass(frozen=True)
class Scale:
    """The range that a number keeps, unless it is 0, so that what is computed from it neither vanishes nor overflows.

    It belongs to a quantity (`Quantity(scale=SQUARES)`). A request class may give all its quantities that have one
    another (`scale: ClassVar = RATIOS`), and a field its own: `Annotated[Epsilon, SQUARES]`.
    """

    least: float
    most: float

    def fault(self, pointer: str, value: float | None) -> Fault | None:
        """The fault of a value outside the range, at `pointer`."""
        if not value or self.least <= value <= self.most:
            return None
        message = "is outside the range that squares survive; choose other units"
        return Fault(pointer, message, f"≥ {self.least:g} and ≤ {self.most:g}")


SQUARES = Scale(1e-100, 1e100)
"""For what is squared: a bound whose square underflowed would be 0, which is no bound."""
RATIOS = Scale(1e-60, 1e60)
"""For what stands in ratios of two scales, or of a scale and a noise, that are squared."""

ANY_SCALE = Scale(0.0, math.inf)
"""For a field whose formula survives any scale, whatever the scale of its quantity elsewhere."""


@dataclass(frozen=True)
class Assumed:
    """What an absent field is taken to be: the value, in words, and when the assumption is used at all."""

    words: str
    value: Callable[[Any], float]
    when: Callable[[Any], bool] | None


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Meaning, symbol, unit and range of one number. Ranges are closed at `ge`/`le` and open at `gt`/`lt`.

    `of_unit` is the description where it is known whose data is protected, with {unit} for "record" or "client".
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

    def assumed(
        self, words: str, value: Callable[[Any], float], *, when: Callable[[Any], bool] | None = None
    ) -> Quantity:
        """The quantity of a field that may be absent, and is then taken to be `value(record)`, in `words`.

        The description says so, `value_of` reads the field so, and `assumptions` lists it for the warning
        `assumed-<field>`, where `when` holds if it is given.
        """
        description = f"{self.description}; absent: taken to be {words}"
        return replace(self, description=description, absent=Assumed(words, value, when))

    @property
    def allowed(self) -> str:
        """The range in words, as it stands in problem answers."""
        signs = ((self.gt, ">"), (self.ge, "≥"), (self.lt, "<"), (self.le, "≤"))
        return " and ".join(f"{sign} {_exact(bound)}" for bound, sign in signs if bound is not None)

    def contains(self, value: float) -> bool:
        """Whether `value` is finite and inside the range."""
        if isinstance(value, int) and abs(value) > max(LARGEST_COUNT, self.le or 0):
            return False
        return (
            math.isfinite(value)
            and (self.gt is None or value > self.gt)
            and (self.ge is None or value >= self.ge)
            and (self.lt is None or value < self.lt)
            and (self.le is None or value <= self.le)
        )

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Strict, finite and bounded; `X | None` admits absence (its default) but never an explicit null."""
        schema = dict(handler(_without_none(source)))
        bounds = {sign: getattr(self, sign) for sign in ("gt", "ge", "lt", "le") if getattr(self, sign) is not None}
        if schema["type"] == "float":
            return schema | bounds | {"strict": True, "allow_inf_nan": False}
        if schema["type"] == "int":
            whole = schema | {k: int(v) for k, v in bounds.items()} | {"strict": True}
            return {
                "type": "function-before",
                "function": {"type": "no-info", "function": whole_number},
                "schema": whole,
            }
        if schema["type"] in ("str", "bool"):
            return schema | {"strict": True}
        return schema

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Description, symbol and unit, as `description`, `x-symbol` and `x-unit`."""
        json_schema = handler(schema)
        json_schema["description"] = self.description
        if self.of_unit:
            json_schema["x-of-unit"] = self.of_unit
        if self.symbol:
            json_schema["x-symbol"] = self.symbol
        if self.unit:
            json_schema["x-unit"] = self.unit
        return json_schema


@dataclass(frozen=True)
class Tagged:
    """A union of request classes told apart by the literal default of one field, as a pydantic hook."""

    field: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """A tagged union; an unknown tag is one fault, not one per member."""
        tags = {choice: next(f.default for f in fields(choice) if f.name == self.field) for choice in get_args(source)}
        choices = {tag: handler.generate_schema(choice) for choice, tag in tags.items()}
        return {"type": "tagged-union", "discriminator": self.field, "choices": choices}


def whole_number(value: object) -> object:
    """An integral float is the integer it denotes: 1e9 and 1000.0 are counts. Anything else is left as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _exact(bound: float) -> str:
    """The bound in the short form, unless that is another number."""
    short = f"{bound:g}"
    return short if float(short) == bound else str(bound)


def _without_none(annotation: Any) -> Any:
    """`X` for `X | None`."""
    arguments = get_args(annotation)
    if NoneType not in arguments:
        return annotation
    kept = tuple(argument for argument in arguments if argument is not NoneType)
    union = kept[0]
    for argument in kept[1:]:
        union = union | argument
    return union


def quantity_of(annotation: Any) -> tuple[Any, Quantity | None]:
    """The bare type of an annotated field (None removed) and its quantity, if it has one."""
    if get_origin(annotation) is Annotated:
        bare, *metadata = get_args(annotation)
        found = next((item for item in metadata if isinstance(item, Quantity)), None)
        return _without_none(bare), found
    return _without_none(annotation), None


def check_value(pointer: str, value: Any, bare: Any, quantity: Quantity, scale: Scale | None = None) -> Fault | None:
    """What is wrong with a value of the type `bare`, if anything."""
    if bare in (float, int):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Fault(pointer, "must be a number", quantity.allowed)
        if bare is int and not isinstance(value, int):
            return Fault(pointer, "must be a whole number", quantity.allowed)
        if not quantity.contains(value):
            return Fault(pointer, "is out of range", quantity.allowed)
        if 0.0 < abs(value) < sys.float_info.min:
            return Fault(pointer, "is so small that a double has lost its digits", f"0, or ≥ {sys.float_info.min:g}")
        return None if scale is None else scale.fault(pointer, value)
    if get_origin(bare) is Literal and value not in get_args(bare):
        return Fault(pointer, "is not one of the allowed values", ", ".join(map(str, get_args(bare))))
    return None


class _Declared(NamedTuple):
    """A field that is a quantity.

    Attributes:
        name: of the field.
        default: its value where it is absent.
        bare: its type.
        quantity: its meaning and range.
        scale: what it keeps within besides.
        above: numbers of the very type strictly between `above` and `below` need no closer look.
        below: see `above`.
        choices: of a literal.
        numeric: whether it is a float or an int.
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


@cache
def _declared(cls: type) -> tuple[_Declared, ...]:
    """Each field that has a quantity; resolving annotations is slow."""
    hints = get_type_hints(cls, include_extras=True)
    found = ((each, *quantity_of(hints[each.name])) for each in fields(cls))
    return tuple(
        _declared_field(each.name, each.default, bare, quantity, _scale_of(hints[each.name], quantity, cls))
        for each, bare, quantity in found
        if quantity is not None
    )


def _declared_field(name: str, default: Any, bare: Any, quantity: Quantity, scale: Scale | None) -> _Declared:
    floating, kept = bare is float, scale or ANY_SCALE
    lowest = (quantity.gt, quantity.ge, kept.least, sys.float_info.min if floating else 0.0)
    highest = (quantity.lt, quantity.le, kept.most, sys.float_info.max if floating else float(LARGEST_COUNT))
    above = max(bound for bound in lowest if bound is not None)
    below = min(bound for bound in highest if bound is not None)
    choices = get_args(bare) if get_origin(bare) is Literal else None
    return _Declared(name, default, bare, quantity, scale, above, below, choices, bare in (float, int))


def _scale_of(annotation: Any, quantity: Quantity, cls: type) -> Scale | None:
    """The scale of a field: its own, else that of its class for quantities that have one, else its quantity's."""
    of_class = quantity.scale and getattr(cls, "scale", quantity.scale)
    return next((item for item in get_args(annotation)[1:] if isinstance(item, Scale)), of_class)


@cache
def _checks(cls: type) -> Checks:
    """The checks of every class that a request class inherits from, those of the oldest first, then its `check`."""
    found = [check for base in reversed(cls.__mro__) for check in vars(base).get("checks", ())]
    own = getattr(cls, "check", None)
    return tuple(found if own is None else [*found, own])


def value_of(record: Any, name: str) -> Any:
    """The value of a field, or what it is taken to be where it is absent."""
    value = getattr(record, name)
    if value is not None:
        return value
    cls: Any = type(record)
    absent = next((each.quantity.absent for each in _declared(cls) if each.name == name), None)
    return None if absent is None else absent.value(record)


def assumptions(record: Any) -> Iterator[tuple[str, str]]:
    """Each absent field that is taken to be something, as the code and the message of a warning."""
    cls: Any = type(record)
    for name, _, _, quantity, *_ in _declared(cls):
        absent = quantity.absent
        if absent is not None and getattr(record, name) is None and (absent.when is None or absent.when(record)):
            yield f"assumed-{name.replace('_', '-')}", f"{name} was taken to be {absent.words}"


def check_quantities(record: Any) -> None:
    """Check every quantity of a dataclass instance against its declared type and range.

    Raises:
        InvalidInput: with one fault for each field that is out of its domain.
    """
    faults = []
    cls: Any = type(record)
    for name, default, bare, quantity, scale, above, below, choices, numeric in _declared(cls):
        value: Any = getattr(record, name)
        if numeric:
            if type(value) is bare and above < value < below:
                continue
        elif choices is None or value in choices:  # of another type nothing is checked here
            continue
        if value is default and (value is None or type(value) is str):  # what a class declares is allowed
            continue
        value = whole_number(value) if bare is int else value
        fault = check_value(f"/{name}", value, bare, quantity, scale)
        if fault is not None:
            faults.append(fault)
        else:
            object.__setattr__(record, name, float(value) if bare is float else value)
    if faults:
        raise InvalidInput(*faults)


def check_scales(scale: Scale = SQUARES, **values: float | None) -> None:
    """Refuse values outside `scale` by their names, where no field can say so: derived ones, and those of groups.

    Raises:
        InvalidInput: with a fault for each such value.
    """
    faults = [fault for name, value in values.items() if (fault := scale.fault(f"/{name}", value)) is not None]
    if faults:
        raise InvalidInput(*faults)


@dataclass(frozen=True)
class AtMost:
    """The check that one field does not exceed another, where the record has both and both are given."""

    name: str
    bound: str
    message: str

    def __call__(self, record: Any) -> None:
        """Refuse the record where the field is larger than its bound."""
        value, bound = getattr(record, self.name, None), getattr(record, self.bound, None)
        if value is not None and bound is not None and value > bound:
            allowed = f"≤ {bound}" if isinstance(bound, int) else f"≤ {bound:g}"
            raise InvalidInput.at(f"/{self.name}", self.message, allowed=allowed)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def request(cls: type[T]) -> type[T]:
    """Make `cls` a frozen keyword-only dataclass that checks itself when it is built.

    First its quantities; then the `checks` of every class it inherits from and its own, each a function of the record;
    then its `check()`. The same class is the HTTP body: unknown fields are refused there too. Checks raise
    `InvalidInput` for combinations of fields that no run can have. `checks: ClassVar[Checks] = (…)` is declared by a
    group of fields for every class that has the group.
    """

    def __post_init__(self: Any) -> None:
        check_quantities(self)
        own: Any = type(self)
        for check in _checks(own):
            check(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    cls.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    made = dataclass(frozen=True, kw_only=True)(cls)
    assert is_dataclass(made)
    return made


# The δ that is asked for ----------------------------------------------------------------------------------------------
# A logarithm of δ has fewer digits than δ has: many neighbouring doubles share one. Where a guarantee states its δ
# exactly, such as an (ε, δ) guarantee asked at its own δ, the two numbers are therefore compared themselves.
_DIGITS = Context(prec=50, Emin=-(10**9), Emax=10**9, rounding=ROUND_FLOOR)
_SHORT_OF = 1 - Fraction(1, 10**45)
"""Powers to fifty digits are within a unit of the last one."""
_DEEPEST = -10_000.0


class LogDelta(float):
    """The natural logarithm of a δ, to a unit in the last place, and a rational number that is at most that δ.

    It is a float like any other: arithmetic gives plain floats. Two of them are equal if their logarithms are.

    """

    _delta: float | None = None
    _log10_delta: float | None = None

    @cached_property
    def least(self) -> Fraction:
        """The δ itself where it was given as a double, else a number below it by less than 1e-40 of it.

        Zero where nothing is known.
        """
        if self._delta is not None:
            return Fraction(*self._delta.as_integer_ratio())
        if self._log10_delta is not None and self._log10_delta > _DEEPEST:
            return Fraction(_DIGITS.power(Decimal(10), Decimal(self._log10_delta))) * _SHORT_OF
        return Fraction(0)

    @classmethod
    def of_delta(cls, delta: float) -> LogDelta:
        """Of a δ given as a double, 0 < δ < 1."""
        made = cls(math.log(delta))
        made._delta = delta
        return made

    @classmethod
    def of_log10(cls, log10_delta: float) -> LogDelta:
        """Of a δ given as log10 δ < 0."""
        made = cls(log10_delta * math.log(10.0))
        made._log10_delta = log10_delta
        return made


def asks_for(log_delta: float, delta: Fraction) -> bool:
    """Whether the δ that is asked for is at least the rational number `delta`; false if they are closer than 1e-40.

    A plain float stands for its exponential. What is asked as a double is compared exactly.
    """
    if isinstance(log_delta, LogDelta):
        return delta <= log_delta.least
    if not _DEEPEST < log_delta < 0.0:
        return log_delta >= 0.0
    return delta <= Fraction(_DIGITS.exp(Decimal(log_delta))) * _SHORT_OF


def natural_log_delta(delta: float | None, log10_delta: float | None) -> float:
    """ln δ from a request that gives exactly one of delta and log10_delta, with what was given.

    Raises:
        InvalidInput: both or neither are given.
    """
    if (delta is None) == (log10_delta is None):
        raise InvalidInput.at("/delta", "give exactly one of delta and log10_delta")
    return LogDelta.of_delta(delta) if delta is not None else LogDelta.of_log10(log10_delta or 0.0)

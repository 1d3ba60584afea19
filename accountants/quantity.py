"""What a number is: its meaning, symbol, unit and range, and records that check theirs when they are built.

`Quantity` speaks to pydantic through two hooks and imports nothing of it, so that the mathematics stays free of the
web.
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
"""What a request class demands of its fields together: `checks: ClassVar[Checks]`."""

LARGEST_COUNT = 10**15
"""Counts up to this are exact in every double and far beyond any run."""


@dataclass(frozen=True)
class Assumed:
    """What an absent field is taken to be: the value, in words, and when the assumption is used at all."""

    words: str
    value: Callable[[Any], float]
    when: Callable[[Any], bool] | None


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Meaning, symbol, unit and range of one number. Ranges are closed at `ge`/`le` and open at `gt`/`lt`.

    Attributes:
        of_unit: the description where it is known whose data is protected, with {unit} for "record" or "client".
        choices: of a quantity that is a word, every word with one sentence that says what it means.
        reason: one sentence that says why the choices are fewer than elsewhere.
        longest: most characters of a text.
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
            words: the words that are left.
            because: one sentence that says why there are no others; it is part of the error for another word.
        """
        return replace(self, choices=tuple(each for each in self.choices if each[0] in words), reason=because)

    def assumed(
        self, words: str, value: Callable[[object], float], *, when: Callable[[object], bool] | None = None
    ) -> Quantity:
        """The quantity of a field that may be absent, and is then taken to be `value(record)`, in `words`.

        The description says so, `value_of` reads the field so, and `assumptions` lists it for the warning
        `assumed-<field>`, where `when` holds if it is given.
        """
        description = f"{self.description}; absent: taken to be {words}"
        return replace(self, description=description, absent=Assumed(words, value, when))

    @property
    def allowed(self) -> str:
        """The choices with their sentences, or the range in words, for the faults of a request."""
        if self.choices:
            return " ".join(f"{word}: {sentence}" for word, sentence in self.choices)
        signs = ((self.gt, ">"), (self.ge, "≥"), (self.lt, "<"), (self.le, "≤"))
        return " and ".join(f"{sign} {_exact(bound)}" for bound, sign in signs if bound is not None)

    def convert(self, value: Any) -> Any:
        """Return a value as the field holds it, of the forms in which a request may give it."""
        return value

    @property
    def not_a_choice(self) -> str:
        """The message of a fault for a word that is none of the choices, with the reason if there is one."""
        message = "is not one of the allowed values"
        return f"{message}: {self.reason}" if self.reason else message

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

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Bounded, for the JSON schema; `X | None` admits absence (its default) but never an explicit null."""
        schema = dict(handler(_without_none(source)))
        if schema["type"] not in ("float", "int"):
            return schema
        bounds = {sign: getattr(self, sign) for sign in ("gt", "ge", "lt", "le")}
        number = float if schema["type"] == "float" else int
        return schema | {sign: number(bound) for sign, bound in bounds.items() if bound is not None}

    def __get_pydantic_json_schema__(
        self, schema: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
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

    def __get_pydantic_core_schema__(self, source: object, handler: Any) -> JsonRecord:
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


def _without_none(annotation: object) -> Any:
    """`X` for `X | None`."""
    arguments = get_args(annotation)
    if NoneType not in arguments:
        return annotation
    kept = tuple(argument for argument in arguments if argument is not NoneType)
    union = kept[0]
    for argument in kept[1:]:
        union = union | argument
    return union


def quantity_of(annotation: object) -> tuple[Any, Quantity | None]:
    """The bare type of an annotated field (None removed) and its quantity, if it has one."""
    if get_origin(annotation) is Annotated:
        bare, *metadata = get_args(annotation)
        found = next((item for item in metadata if isinstance(item, Quantity)), None)
        return _without_none(bare), found
    return _without_none(annotation), None


def check_value(
    pointer: str, value: object, bare: object, quantity: Quantity, scale: Scale | None = None
) -> Fault | None:
    """Return the fault of a value of the type `bare`, or None."""
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
        _declared_field(each.name, each.default, bare, quantity, scale_of(hints[each.name], quantity, cls))
        for each, bare, quantity in found
        if quantity is not None
    )


def _declared_field(name: str, default: object, bare: object, quantity: Quantity, scale: Scale | None) -> _Declared:
    choices = get_args(bare) if get_origin(bare) is Literal else None
    return _Declared(
        name, default, bare, quantity, scale, *sure_range(bare, quantity, scale), choices, bare in (float, int)
    )


def sure_range(bare: object, quantity: Quantity, scale: Scale | None) -> tuple[float, float]:
    """Return the bounds of an open interval in which a number has no fault.

    Args:
        bare: the type of the number.
        quantity: its meaning and range.
        scale: the range that it keeps besides.
    """
    floating, kept = bare is float, scale or ANY_SCALE
    lowest = (quantity.gt, quantity.ge, kept.least, sys.float_info.min if floating else 0.0)
    highest = (quantity.lt, quantity.le, kept.most, sys.float_info.max if floating else float(LARGEST_COUNT))
    return (
        max(bound for bound in lowest if bound is not None),
        min(bound for bound in highest if bound is not None),
    )


def scale_of(annotation: object, quantity: Quantity, cls: type) -> Scale | None:
    """The scale of a field: its own, else that of its class for quantities that have one, else its quantity's."""
    of_class = quantity.scale and getattr(cls, "scale", quantity.scale)
    return next((item for item in get_args(annotation)[1:] if isinstance(item, Scale)), of_class)


@cache
def _checks(cls: type) -> Checks:
    """The checks of every class that a request class inherits from, those of the oldest first, then its `check`."""
    found = [check for base in reversed(cls.__mro__) for check in vars(base).get("checks", ())]
    own = getattr(cls, "check", None)
    return tuple(found if own is None else [*found, own])


def value_of(record: object, name: str) -> Any:
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
            yield f"assumed-{name.replace('_', '-')}", f"You did not give {name}; it was assumed to be {absent.words}"


def check_quantities(record: object) -> None:
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
    faults = [fault for name, value in values.items() if (fault := _check_scale(f"/{name}", value, scale)) is not None]
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

    def __post_init__(self: object) -> None:
        check_quantities(self)
        own: Any = type(self)
        for check in _checks(own):
            check(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    cls.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    made = dataclass(frozen=True, kw_only=True)(cls)
    assert is_dataclass(made)
    return made

"""Meaning, symbol, unit and range of numbers, and records that check their numbers when they are built.

`Quantity` supports pydantic through two hooks and imports nothing from it: the mathematics is independent of the web.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    get_args,
    get_origin,
)

from epsilond.accountants.errors import Fault
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.scale import Scale

T = TypeVar("T")

Checks = tuple[Callable[[Any], None], ...]
"""Conditions of a request class on its fields together: `checks: ClassVar[Checks]`."""

LARGEST_COUNT = 10**15
"""Counts up to this are exact in every double and far beyond any run."""


@dataclass(frozen=True)
class Assumed:
    """The assumption for an absent field of a request.

    Attributes:
        words: the assumed value, in words.
        value: function from a request to the assumed value.
        when: function that returns whether a warning states the assumption for a request; None if it always does.
    """

    words: str
    value: Callable[[Any], float]
    when: Callable[[Any], bool] | None


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Meaning, symbol, unit and range of one number. Ranges are closed at `ge`/`le` and open at `gt`/`lt`.

    A field of a request is declared once as `Annotated[float, Quantity(...)]`. Its checks, its schema and its documents
    follow from this declaration.

    Attributes:
        description: meaning, for the schema and the documents.
        of_unit: description if the unit of protection is known, with {unit} for "record" or "client".
        symbol: symbol in formulas; empty if it has none.
        unit: unit of measurement, such as "nat"; empty if it has none.
        gt: lower bound that is not allowed itself.
        ge: least allowed value.
        lt: upper bound that is not allowed itself.
        le: largest allowed value.
        scale: narrower range, within which computed results neither vanish nor overflow.
        absent: assumption for an absent field; None if nothing is assumed.
        choices: allowed words of a quantity that is a word, each with one sentence that explains it.
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

        Returns:
            A quantity with fewer choices and with the reason.
        """
        remaining = tuple((word, sentence) for word, sentence in self.choices if word in words)
        return replace(self, choices=remaining, reason=because)

    def assume(
        self, words: str, value: Callable[[object], float], *, when: Callable[[object], bool] | None = None
    ) -> Quantity:
        """Return this description of a field for a field that may be absent, with the value that is then assumed.

        Answers list the assumption.

        Args:
            words: the assumed value, in words.
            value: function that returns the assumed value for a request.
            when: function that returns whether the assumption is listed for a request. By default it always is.

        Returns:
            A quantity with the assumption in its description.
        """
        description = f"{self.description}. Absent: assumed to be {words}"
        return replace(self, description=description, absent=Assumed(words, value, when))

    @property
    def allowed(self) -> str:
        """Choices with their sentences, or the range in words such as "> 0 and ≤ 1", for the faults of a request."""
        if self.choices:
            return " ".join(f"{word}: {sentence}" for word, sentence in self.choices)
        bounds = ((">", self.gt), ("≥", self.ge), ("<", self.lt), ("≤", self.le))
        return " and ".join(f"{sign} {_format_bound(bound)}" for sign, bound in bounds if bound is not None)

    def convert(self, value: Any) -> Any:
        """Return a value in the form in which the field holds it, from a form in which a request may give it."""
        return value

    @property
    def not_a_choice(self) -> str:
        """Message of a fault for a word that is not a choice, with the reason if there is a reason."""
        message = "is not one of the allowed values"
        return f"{message}: {self.reason}" if self.reason else message

    def contains(self, value: float) -> bool:
        """Return whether a number is finite and inside the range.

        An integer of more than `LARGEST_COUNT` is outside, unless the quantity has a larger upper bound.

        Args:
            value: the number, a float or an integer.

        Returns:
            True if the number is allowed.
        """
        largest_integer = max(LARGEST_COUNT, self.le or 0)
        if isinstance(value, int) and abs(value) > largest_integer:
            return False
        is_above = (self.gt is None or value > self.gt) and (self.ge is None or value >= self.ge)
        is_below = (self.lt is None or value < self.lt) and (self.le is None or value <= self.le)
        return math.isfinite(value) and is_above and is_below

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return pydantic's schema of a field with the bounds of its number.

        `X | None` admits absence, but not an explicit null.

        Args:
            source: annotation of the field, without this quantity.
            handler: pydantic's function from an annotation to its schema.

        Returns:
            The schema. It has bounds only if the field is a float or an integer.
        """
        schema = dict(handler(_without_none(source)))
        if schema["type"] not in ("float", "int"):
            return schema
        number = float if schema["type"] == "float" else int
        for sign in ("gt", "ge", "lt", "le"):
            bound = getattr(self, sign)
            if bound is not None:
                schema[sign] = number(bound)
        return schema

    def __get_pydantic_json_schema__(
        self, schema: object, handler: Callable[[object], dict[str, object]]
    ) -> JsonRecord:
        """Return the JSON schema of a field with description, symbol and unit.

        They are its members `description`, `x-of-unit`, `x-symbol` and `x-unit`. An empty member is left out.

        Args:
            schema: pydantic's schema of the field.
            handler: pydantic's function from this schema to a JSON schema.

        Returns:
            The JSON schema, a mapping of its keywords to values.
        """
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
    """Return the integer of an integral float, for example 1e9 or 1000.0. Other values are returned unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _format_bound(bound: float) -> str:
    """Return a bound with at most six digits if they state it exactly, otherwise with all digits."""
    short = f"{bound:g}"
    return short if float(short) == bound else str(bound)


def _without_none(annotation: object) -> Any:
    """Return the annotation `X` for `X | None`, the annotation of a field that may be absent.

    Args:
        annotation: annotation of a field, without its quantity.

    Returns:
        The annotation without `None`. An annotation that is not such a union is returned unchanged.
    """
    arguments = get_args(annotation)
    is_only_none = arguments == (NoneType,)
    if NoneType not in arguments or is_only_none:
        return annotation
    union, *further_types = (argument for argument in arguments if argument is not NoneType)
    for further_type in further_types:
        union = union | further_type
    return union


def quantity_of(annotation: object) -> tuple[Any, Quantity | None]:
    """Return the bare type of an annotated field and its quantity, if it has one.

    Args:
        annotation: annotation of a field, such as `Annotated[float | None, EPSILON]`.

    Returns:
        The type without metadata and without None, such as float; and the quantity, or None if it has none.
    """
    if get_origin(annotation) is Annotated:
        bare, *metadata = get_args(annotation)
        quantity = next((item for item in metadata if isinstance(item, Quantity)), None)
        return _without_none(bare), quantity
    return _without_none(annotation), None


def check_value(
    pointer: str, value: object, bare: object, quantity: Quantity, scale: Scale | None = None
) -> Fault | None:
    """Check a value of a request's field, and return its fault.

    Numbers and the words of a literal type are checked. Values of other types have no fault.

    Args:
        pointer: JSON pointer to the value.
        value: the value.
        bare: type of the field, without its quantity.
        quantity: meaning and range of the value.
        scale: narrower range of the value, if it has one.

    Returns:
        The fault: the pointer, a message and the allowed values. None if the value is valid.
    """
    if bare in (float, int):
        return _check_number(pointer, value, bare, quantity, scale)
    if get_origin(bare) is Literal and value not in get_args(bare):
        words = ", ".join(map(str, get_args(bare)))
        return Fault(pointer, quantity.not_a_choice, quantity.allowed or words)
    return None


def _check_number(pointer: str, value: object, bare: object, quantity: Quantity, scale: Scale | None) -> Fault | None:
    """Check the value of a numeric field of a request, and return its fault.

    The type is checked first, then the range, and then the digits.

    Args:
        pointer: JSON pointer to the value.
        value: the value. A Boolean is no number here, although it is an `int` in Python.
        bare: float or int. An integer is accepted for a float, but not the converse.
        quantity: meaning and range of the value.
        scale: narrower range of the value, if it has one.

    Returns:
        The fault; None if the value is valid.
    """
    is_float_for_int = bare is int and isinstance(value, float)
    if isinstance(value, bool) or not isinstance(value, int | float) or is_float_for_int:
        noun = "whole number" if bare is int else "number"
        return Fault(pointer, f"must be a {noun}", quantity.allowed)
    if not quantity.contains(value):
        return Fault(pointer, "is out of range", quantity.allowed)
    if 0.0 < abs(value) < sys.float_info.min:
        return Fault(pointer, "is so small that a double has lost its digits", f"0, or ≥ {sys.float_info.min:g}")
    return None if scale is None else check_scale(pointer, value, scale)


def check_scale(pointer: str, value: float | None, scale: Scale) -> Fault | None:
    """Check that a number is within a scale, and return its fault.

    A scale is a range of positive numbers in which formulas, with squares of them, neither underflow nor overflow. The
    number 0 has no fault.

    Args:
        pointer: JSON pointer to the value.
        value: the number; None if the field is absent.
        scale: the range.

    Returns:
        The fault; None if the number is valid or absent.
    """
    if not value or scale.least <= value <= scale.most:
        return None
    message = "is outside the range that squares survive; choose other units"
    return Fault(pointer, message, f"≥ {scale.least:g} and ≤ {scale.most:g}")

"""An event of dp-accounting at its place in the whole event, and how its numbers become specs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.numbers import number
from epsilond.reading import read_value

if TYPE_CHECKING:
    from dp_accounting import DpEvent

T = TypeVar("T")
Parts: TypeAlias = list[tuple[Spec, int]]
"""Mechanisms with their numbers of runs; empty if nothing is released."""

LABELS: Mapping[str, str] = {"sampling_probability": "Sampling rate"}
"""Names of fields in messages, for fields that dp-accounting names differently in its own messages."""


class NotPrivate(InvalidInput):
    """The event is not private: it has no noise, or is a NonPrivateDpEvent. No ε is finite."""


class NotCovered(InvalidInput):
    """No spec describes the event, or no theorem covers it. All numbers of the event are in range."""


@dataclass(frozen=True, kw_only=True)
class PlacedEvent:
    """An event of dp-accounting, and its place in the composed event that contains it.

    Attributes:
        event: the event, or the result of its `to_named_tuple()`.
        at: JSON pointer from the whole composed event to this event, for error messages.
        relation: neighbouring relation of the account.
        read: function that converts an event inside this one to mechanisms with their numbers of runs.
    """

    event: DpEvent
    at: str
    relation: Relation
    read: Callable[[PlacedEvent], Parts]

    @property
    def name(self) -> str:
        """Name of the event's class."""
        return name_of(self.event)

    def field(self, name: str) -> Any:
        """Return the value of a field.

        Args:
            name: name of the field, an attribute of the event.

        Returns:
            The value, which is not checked.

        Raises:
            InvalidInput: the event has no such field.
        """
        if not hasattr(self.event, name):
            raise InvalidInput.at(f"{self.at}/{name}", "is required")
        return getattr(self.event, name)

    def number(self, name: str, *, least: float | None = None, most: float | None = None) -> float:
        """Return the value of a field of the event as a float, after a check of its range.

        Args:
            name: name of the field.
            least: smallest allowed value; None without a bound.
            most: largest allowed value; None without a bound.

        Returns:
            The value, which is not NaN.

        Raises:
            InvalidInput: the value is not a number, or is out of range. The message states the range.
        """
        value = number(self.field(name), f"{self.at}/{name}")
        is_large_enough = least is None or value >= least
        is_small_enough = most is None or value <= most
        if math.isnan(value) or not (is_large_enough and is_small_enough):
            raise self.out_of_range(name, value, least=least, most=most)
        return value

    def count(self, name: str) -> int:
        """Return the value of a field of the event that must be a whole number, at least 0.

        Args:
            name: name of the field.

        Raises:
            InvalidInput: the value is not a whole number, or is negative.
        """
        return whole_number(self, name, self.field(name))

    def noise(self, name: str) -> float:
        """Return the value of a field that is a positive parameter of the noise, such as its standard deviation.

        Args:
            name: name of the field.

        Returns:
            The parameter, above 0.

        Raises:
            NotPrivate: the parameter is 0, so that there is no noise.
            InvalidInput: the parameter is negative, or not a number.
        """
        parameter = self.number(name, least=0.0)
        if parameter == 0.0:
            raise NotPrivate.at(f"{self.at}/{name}", "is 0, so that nothing is private: no ε is finite", allowed="> 0")
        return parameter

    def out_of_range(
        self, name: str, value: object, *, least: float | None = None, most: float | None = None
    ) -> InvalidInput:
        """Build the error, without raising it, for a field of the event with a value out of range.

        Args:
            name: name of the field, to which the error points.
            value: the value of the field, which the message repeats.
            least: smallest allowed value; None without a bound.
            most: largest allowed value; None without a bound.
        """
        bounds = []
        if least is not None:
            bounds.append(f"≥ {least:g}")
        if most is not None:
            bounds.append(f"≤ {most:g}")
        allowed = " and ".join(bounds)
        is_only_non_negative = least == 0.0 and most is None
        requirement = f"must be non-negative ({allowed})" if is_only_non_negative else f"must be {allowed}"
        label = LABELS.get(name, name.replace("_", " ").capitalize())
        return InvalidInput.at(f"{self.at}/{name}", f"{label} {requirement}. Found {value}.", allowed=allowed)

    def not_covered(self, message: str, *, field: str = "", allowed: str | None = None) -> NotCovered:
        """Build the error, without raising it, for an event that no spec describes or no theorem covers.

        Args:
            message: description of the missing spec or theorem.
            field: name of the field at fault; empty for the event as a whole.
            allowed: description of the events that are covered; None if there is none.
        """
        pointer = f"{self.at}/{field}" if field else self.at
        return NotCovered(Fault(pointer, message, allowed))

    def inside(self, event: DpEvent, path: str) -> PlacedEvent:
        """Return an event inside this one, with its own place for error messages.

        Args:
            event: the inner event.
            path: path from this event to the inner event, such as `events/1`.
        """
        return replace(self, event=event, at=f"{self.at}/{path}")

    def inner(self) -> PlacedEvent:
        """Return the event in the field `event`."""
        return self.inside(self.field("event"), "event")

    def inner_mechanism(self) -> Spec | None:
        """Return the event in the field `event` as one spec; None if it releases nothing."""
        inner = self.inner()
        return run_of(inner.read(inner))

    def build(self, request: Callable[..., T], names: Mapping[str, str], **fields: object) -> T:
        """Build a spec, the library's description of a mechanism, and convert its errors to errors of the event.

        Args:
            request: the class of the spec.
            names: mapping from field names of the spec to field names of the event, where they differ.
            **fields: values of the fields of the spec.

        Raises:
            NotCovered: the spec cannot contain its inner mechanism.
            InvalidInput: fields are out of range. The message names the fields as the event does.
        """
        try:
            return request(**fields)
        except InvalidInput as error:
            raise self._translate(error, names, fields) from None

    def build_kind(self, kind: str, names: Mapping[str, str], **fields: object) -> Spec:
        """Build a spec by the name of its kind, and convert its errors to errors of the event.

        Args:
            kind: the field `kind` of the spec, the library's description of a mechanism.
            names: mapping from field names of the spec to field names of the event, where they differ.
            **fields: values of the fields of the spec. Nested requests may be mappings.

        Raises:
            NotCovered: this version has no such kind, the kind has no such field, or the spec cannot contain its inner
                mechanism.
            InvalidInput: fields are out of range. The message names the fields as the event does.
        """
        try:
            spec: Spec = read_value(Spec, {"kind": kind, **fields}, at="")
        except InvalidInput as error:
            # An unknown kind or field means that the installed version has no such theorem yet.
            unknown = [fault for fault in error.faults if _is_unknown(fault)]
            if unknown:
                message = f"is a {self.name}, for which this version has no spec ({kind}{unknown[0].pointer})"
                raise self.not_covered(message) from None
            raise self._translate(error, names, fields) from None
        return spec

    def _translate(self, error: InvalidInput, names: Mapping[str, str], fields: Mapping[str, object]) -> InvalidInput:
        """Convert the error of a spec (the library's description of a mechanism) to an error of the event.

        Args:
            error: the error of the spec.
            names: mapping from field names of the spec to field names of the event, where they differ.
            fields: values of the fields of the spec, for the messages.

        Returns:
            The error, which is not raised. It is `NotCovered` if the inner mechanism cannot be in the spec.
        """
        inner = next((fault for fault in error.faults if fault.pointer.startswith("/mechanism")), None)
        if inner is not None:
            return self.not_covered(f"is a {self.name} of a mechanism that {inner.message}", field="event")
        return InvalidInput(*[self._rename(fault, names, fields) for fault in error.faults])

    def _rename(self, fault: Fault, names: Mapping[str, str], fields: Mapping[str, object]) -> Fault:
        """Convert a fault in a field of a spec to the fault in the corresponding field of the event.

        Args:
            fault: fault of the spec; its pointer begins with the name of a field of the spec.
            names: mapping from field names of the spec to field names of the event, where they differ.
            fields: values of the fields of the spec, for the message.

        Returns:
            The fault, with the allowed range if it is known. Its pointer leads into the event.
        """
        spec_field, _, rest = fault.pointer[1:].partition("/")
        event_field = names.get(spec_field, spec_field)
        pointer = f"{self.at}/{event_field}"
        # A field of the event with another name has another structure, so the rest of the path does not apply to it.
        is_renamed = event_field != spec_field
        if rest and not is_renamed:
            pointer = f"{pointer}/{rest}"
        if fault.allowed is None:
            return Fault(pointer, fault.message)
        label = LABELS.get(event_field, event_field.replace("_", " ").capitalize())
        value = fields.get(spec_field)
        return Fault(pointer, f"{label} {fault.message}: must be {fault.allowed}. Found {value}.", fault.allowed)


def name_of(event: DpEvent) -> str:
    """Return the name of an event's class, also for the result of `to_named_tuple()`.

    Args:
        event: an event of dp-accounting, or its named tuple, which states the name in `class_name`.
    """
    name = getattr(event, "class_name", type(event).__name__)
    return name.decode() if isinstance(name, bytes) else str(name)


def whole_number(placed: PlacedEvent, name: str, value: object) -> int:
    """Convert a value of an event's field to an int, if it is a whole number and at least 0.

    Args:
        placed: the event, to which an error points.
        name: name of the field.
        value: the value to convert.

    Raises:
        InvalidInput: the value is not a whole number, or is negative.
    """
    size = number(value, f"{placed.at}/{name}")
    if not size >= 0.0:
        raise placed.out_of_range(name, value, least=0.0)
    if not size.is_integer():
        raise InvalidInput.at(f"{placed.at}/{name}", "must be a whole number", allowed="≥ 0")
    return int(size)


def _is_unknown(fault: Fault) -> bool:
    """Return whether a fault says that this version has no such kind of spec, or no such field of it."""
    return fault.pointer == "/kind" or fault.message.startswith("is not a field of this object")

"""Protected units: a record, a client, or the contributions of either within one day, week or month.

A windowed unit is the part of a record or client that falls into one window of time. Every theorem treats it as it
treats the whole record or client: neighbours then differ in one window only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, get_args

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantity import Quantity
from epsilond.accountants.records import request

Unit = Literal["record", "client"]
Window = Literal["day", "week", "month"]

UNIT = Quantity(
    description="protected unit, in which neighbours differ",
    choices=(
        ("record", "One record is protected."),
        ("client", "Everything that one client holds is protected."),
    ),
)
WINDOWED = Quantity(
    description="whose contributions are protected: those of one record, or of one client",
    choices=(
        ("record", "The contributions of one record within one window are protected."),
        ("client", "The contributions of one client within one window are protected."),
    ),
)
WINDOW = Quantity(
    description="length of a window of time. Windows do not overlap, and every contribution is in exactly one of them",
    choices=(("day", "One day."), ("week", "One week."), ("month", "One month.")),
)


@request
class WindowedUnit:
    """The contributions of one record or client within one window of time, such as a client's within one day."""

    of: Annotated[Unit, WINDOWED]
    window: Annotated[Window, WINDOW]

    def __str__(self) -> str:
        """Return the unit in one word, such as client-day."""
        return f"{self.of}-{self.window}"


ProtectedUnit: TypeAlias = Unit | WindowedUnit


def base_unit(unit: ProtectedUnit) -> Unit:
    """Return the unit that theorems treat a protected unit as: a record or a client."""
    return unit.of if isinstance(unit, WindowedUnit) else unit


def require_unit(unit: object) -> ProtectedUnit:
    """Convert a protected unit, or its JSON form, to a protected unit.

    A windowed unit is the contributions of one record or client within one day, week or month.

    Args:
        unit: "record" or "client", a windowed unit, or an object with the members `of` and `window`.

    Returns:
        The word "record" or "client", or a windowed unit.

    Raises:
        InvalidInput: the argument has none of these forms.
    """
    if isinstance(unit, WindowedUnit):
        return unit
    if isinstance(unit, Mapping):
        return _windowed_unit(unit)
    if unit not in get_args(Unit):
        raise InvalidInput.at("/unit", "is not one of the allowed values", allowed=", ".join(get_args(Unit)))
    return unit  # type: ignore[return-value]  # one of the words, as was checked


def _windowed_unit(members: JsonObject) -> WindowedUnit:
    """Convert the JSON form of a windowed unit, the contributions of one record or client within one window of time.

    Args:
        members: an object, which must have exactly the members `of` and `window`.

    Returns:
        The windowed unit.

    Raises:
        InvalidInput: members are missing, unknown or invalid. Pointers begin with /unit.
    """
    if set(members) != {"of", "window"}:
        raise InvalidInput.at("/unit", "needs exactly the members of and window", allowed="of, window")
    try:
        return WindowedUnit(of=members["of"], window=members["window"])
    except InvalidInput as error:
        fault = error.faults[0]
        raise InvalidInput.at(f"/unit{fault.pointer}", fault.message, allowed=fault.allowed) from None


def unit_json(unit: ProtectedUnit | JsonObject) -> object:
    """Return the JSON form of a protected unit: a word, or an object with `of` and `window`.

    Args:
        unit: a protected unit, or its JSON form, which is returned unchanged.
    """
    if not isinstance(unit, WindowedUnit):
        return unit
    return {"of": unit.of, "window": unit.window}


def unit_named(name: str) -> str | JsonRecord:
    """Convert the name of a protected unit, such as "client-day", to its JSON form.

    Args:
        name: "record" or "client", or one of them with a window of time, as "client-day".

    Returns:
        An object with the members `of` and `window` for a name with a window. Any other name is returned unchanged.
    """
    base, dash, window = name.partition("-")
    if dash and base in get_args(Unit) and window in get_args(Window):
        return {"of": base, "window": window}
    return name

"""Access by JSON pointers to the fields of a calibration's answer, which is an object or its JSON form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilond.accountants.errors import InvalidInput

SENSITIVITY_FACTORS = {"replace-one": 2, "add-or-remove-one": 1, "zero-out-one": 1}
"""Sensitivity of a sum of contributions under each relation, in units of the norm bound."""
AGREEMENT = 1e-9
"""Relative difference of two figures of one answer that rounding may cause."""


@dataclass(frozen=True)
class Answer:
    """A calibration's answer, with the arguments that the caller adds to it.

    Attributes:
        content: the answer, as an object or in JSON form.
        clipping_norm: norm bound of a contribution, for an answer with noise in units of it; None if not given.
        group: index of the group of clients, for an answer with several groups; None if not given.
    """

    content: object
    clipping_norm: float | None = None
    group: int | None = None

    def get(self, pointer: str) -> Any:
        """Return the value at a JSON pointer, or None if there is none.

        Args:
            pointer: names of fields and indices of lists, each after a slash, such as "/parameters/rounds".

        Returns:
            The value of any type; None if a name on the way is missing.
        """
        value = self.content
        for name in pointer.split("/")[1:]:
            value = _member(value, name)
        return value

    def text(self, pointer: str) -> str:
        """Return the string at a JSON pointer.

        Args:
            pointer: names of fields and indices of lists, each after a slash.

        Returns:
            The string, unchanged.

        Raises:
            InvalidInput: there is no value, or it is not a string.
        """
        value = self.get(pointer)
        if not isinstance(value, str):
            raise InvalidInput.at(pointer, "is needed")
        return value

    def number(self, pointer: str) -> float:
        """Return the positive finite number at a JSON pointer.

        Args:
            pointer: names of fields and indices of lists, each after a slash.

        Returns:
            The number as a float.

        Raises:
            InvalidInput: there is no value, or it is not a positive finite number.
        """
        value = self.get(pointer)
        # Python counts booleans as integers, so they are rejected by name.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0.0 < value < math.inf:
            raise InvalidInput.at(pointer, "must be a number", allowed="> 0, finite")
        return float(value)

    def integer(self, pointer: str) -> int:
        """Return the positive integer at a JSON pointer.

        Args:
            pointer: names of fields and indices of lists, each after a slash.

        Returns:
            The integer, exact even if it is too large for a float's digits.

        Raises:
            InvalidInput: there is no value, or it is not a positive integer.
        """
        value = self.number(pointer)
        if value != int(value):
            raise InvalidInput.at(pointer, "must be an integer", allowed="≥ 1")
        return int(self.get(pointer))

    @property
    def parameters(self) -> str:
        """JSON pointer to the parameters of the caller's clients: of `group`, or of all clients without groups.

        Raises:
            InvalidInput: `group` is missing, out of range, or set for an answer without groups.
        """
        groups = self.get("/parameters/groups")
        if groups is None:
            if self.group is not None:
                raise InvalidInput.at("/group", "all clients of the answer are equal", allowed="none")
            return "/parameters"
        if self.group is None or not 0 <= self.group < len(groups):
            raise InvalidInput.at("/group", "client groups differ: say which", allowed=f"0 to {len(groups) - 1}")
        return f"/parameters/groups/{self.group}"

    @property
    def guarantee(self) -> str:
        """JSON pointer to the guarantee of the caller's clients: of their `group`, or of all without groups."""
        if self.parameters == "/parameters":
            return "/guarantee"
        return f"{self.parameters}/guarantee"

    @property
    def sensitivity_factor(self) -> int:
        """Sensitivity of the sum of contributions, in units of the norm bound of one contribution.

        It depends on the neighbouring relation: replacing a contribution can move the sum further than adding one.

        Raises:
            InvalidInput: the neighbouring relation is unknown.
        """
        pointer = f"{self.guarantee}/relation"
        relation = self.text(pointer)
        if relation not in SENSITIVITY_FACTORS:
            raise InvalidInput.at(pointer, "is not known", allowed=", ".join(SENSITIVITY_FACTORS))
        return SENSITIVITY_FACTORS[relation]

    def release_fields(self) -> dict[str, Any]:
        """Return the fields of the answer that every release carries unchanged."""
        return {
            "algorithm": self.text("/algorithm"),
            "guarantee": self.get(self.guarantee),
            "declared_conditions": self.get("/declared_conditions"),
        }

    def demand(self, pointer: str, expected: Fraction | float) -> None:
        """Check that a figure of the answer agrees with the value that its other figures imply.

        A relative difference up to the constant `AGREEMENT` is accepted.

        Args:
            pointer: JSON pointer to the figure. A missing figure is accepted.
            expected: the implied value, above 0.

        Raises:
            InvalidInput: the relative difference is above the constant `AGREEMENT`, or the figure is not a positive
                number.
        """
        if self.get(pointer) is None:
            return
        figure = self.number(pointer)
        # Fractions make the comparison exact.
        difference = abs(Fraction(figure) - Fraction(expected))
        if difference > AGREEMENT * Fraction(expected):
            raise InvalidInput.at(pointer, "contradicts the parameters", allowed=f"{float(expected):.17g}")


def _member(value: Any, name: str) -> Any:
    """Return one entry of a mapping, list or object; None if there is no such entry.

    Args:
        value: the mapping, list or object; None has no entries.
        name: the key of a mapping, the index in a list as digits, or the name of an attribute.

    Returns:
        The entry. For a huge integer of a mapping, the exact integer from the field that holds its digits.
    """
    if isinstance(value, Mapping):
        # JSON gives the exact digits of a huge integer in a second field.
        exact_name = f"{name}_exact"
        if exact_name in value:
            return int(value[exact_name])
        return value.get(name)
    if isinstance(value, tuple | list):
        index = int(name)
        return value[index] if index < len(value) else None
    return getattr(value, name, None)


def round_down(value: Fraction) -> float:
    """Return the largest double at or below a fraction."""
    nearest = float(value)
    if Fraction(nearest) <= value:
        return nearest
    return math.nextafter(nearest, -math.inf)


def round_up(value: Fraction) -> float:
    """Return the smallest double at or above a fraction."""
    return -round_down(-value)

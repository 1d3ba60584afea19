"""Reading a calibration's answer, as the object or as its JSON form, without knowing the class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilond.accountants.errors import InvalidInput

SENSITIVITY_FACTORS = {"replace-one": 2, "add-or-remove-one": 1, "zero-out-one": 1}
AGREEMENT = 1e-9
"""Relative difference of two figures of one answer that rounding may make."""


@dataclass(frozen=True)
class Answer:
    """An answer, with what the caller adds to it. Places in it are JSON pointers."""

    told: object
    clipping_norm: float | None = None
    group: int | None = None

    def get(self, pointer: str) -> Any:
        """What stands there, or None."""
        found = self.told
        for name in pointer.split("/")[1:]:
            if isinstance(found, Mapping):
                # A huge integer has its exact digits beside it.
                found = int(found[f"{name}_exact"]) if f"{name}_exact" in found else found.get(name)
            elif isinstance(found, tuple | list):
                found = found[int(name)] if int(name) < len(found) else None
            else:
                found = getattr(found, name, None)
        return found

    def text(self, pointer: str) -> str:
        """A string.

        Raises:
            InvalidInput: there is none.
        """
        found = self.get(pointer)
        if not isinstance(found, str):
            raise InvalidInput.at(pointer, "is needed")
        return found

    def number(self, pointer: str) -> float:
        """A positive finite number.

        Raises:
            InvalidInput: there is none.
        """
        found = self.get(pointer)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0.0 < found < math.inf:
            raise InvalidInput.at(pointer, "must be a number", allowed="> 0, finite")
        return float(found)

    def integer(self, pointer: str) -> int:
        """A positive integer.

        Raises:
            InvalidInput: there is none.
        """
        found = self.number(pointer)
        if found != int(found):
            raise InvalidInput.at(pointer, "must be an integer", allowed="≥ 1")
        return int(self.get(pointer))

    @property
    def place(self) -> str:
        """Where the parameters are that the caller runs: of everyone, or of one group."""
        groups = self.get("/parameters/groups")
        if groups is None:
            if self.group is not None:
                raise InvalidInput.at("/group", "the answer's clients are all alike", allowed="none")
            return "/parameters"
        if self.group is None or not 0 <= self.group < len(groups):
            raise InvalidInput.at("/group", "client groups differ: say which", allowed=f"0 to {len(groups) - 1}")
        return f"/parameters/groups/{self.group}"

    @property
    def guarantee_place(self) -> str:
        """Where the guarantee is of those parameters."""
        return "/guarantee" if self.place == "/parameters" else f"{self.place}/guarantee"

    @property
    def sensitivity_factor(self) -> int:
        """By how many norm bounds a neighbour moves the sum.

        Raises:
            InvalidInput: the relation is not known.
        """
        relation = self.text(f"{self.guarantee_place}/relation")
        if relation not in SENSITIVITY_FACTORS:
            pointer = f"{self.guarantee_place}/relation"
            raise InvalidInput.at(pointer, "is not known", allowed=", ".join(SENSITIVITY_FACTORS))
        return SENSITIVITY_FACTORS[relation]

    def common(self) -> dict[str, Any]:
        """What every release carries along of it, unchanged."""
        return {
            "algorithm": self.text("/algorithm"),
            "guarantee": self.get(self.guarantee_place),
            "declared_conditions": self.get("/declared_conditions"),
        }

    def demand(self, pointer: str, expected: Fraction | float) -> None:
        """Refuse an answer whose figure there, if it has one, is not what others of it come to.

        Raises:
            InvalidInput: it contradicts itself.
        """
        if self.get(pointer) is None:
            return
        found = self.number(pointer)
        if abs(Fraction(found) - Fraction(expected)) > AGREEMENT * Fraction(expected):
            raise InvalidInput.at(pointer, "contradicts the parameters", allowed=f"{float(expected):.17g}")


def rounded_down(value: Fraction) -> float:
    """The largest double that is not above it."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def rounded_up(value: Fraction) -> float:
    """The smallest double that is not below it."""
    return -rounded_down(-value)

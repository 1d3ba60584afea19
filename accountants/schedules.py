"""Step sizes and noises over the steps of a run: constant, decreasing as 1/t, or listed.

A schedule is fixed before the run and public. It does not depend on data.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from typing_extensions import TypeAliasType

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Quantity, Tagged, request
from epsilond.accountants.quantities.algorithms import SCHEDULE_SCALE, SCHEDULE_VALUE, SCHEDULE_VALUES

KIND = Quantity(description="name of the kind of schedule")
MOST_LISTED = 10**6
"""Longest list of values."""


@request
class Constant:
    """The same value at every step."""

    kind: Annotated[Literal["constant"], KIND] = "constant"
    value: Annotated[float, SCHEDULE_VALUE]

    @property
    def constant(self) -> float | None:
        """The value of every step; None if the values differ."""
        return self.value

    def at(self, first: int, last: int) -> FloatArray:
        """Return the values at several consecutive steps.

        Args:
            first: first step, counted from 1.
            last: last step, at least `first`.

        Returns:
            One value for each step.
        """
        return np.full(last - first + 1, self.value)

    def least(self, last: int) -> float:
        """Return the least value at steps 1, …, `last`, which is the same for every `last`."""
        del last
        return self.value


@request
class InverseTime:
    """The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ."""

    kind: Annotated[Literal["inverse-time"], KIND] = "inverse-time"
    scale: Annotated[float, SCHEDULE_SCALE]

    @property
    def constant(self) -> float | None:
        """None, because the values differ."""
        return None

    def at(self, first: int, last: int) -> FloatArray:
        """Return the values scale/t at several consecutive steps t.

        Args:
            first: first step, counted from 1.
            last: last step, at least `first`.

        Returns:
            One value for each step.
        """
        return np.asarray(self.scale / np.arange(first, last + 1, dtype=np.float64))

    def least(self, last: int) -> float:
        """Return the least value at steps 1, …, `last`, which is that of the last one."""
        return self.scale / last


@request
class Explicit:
    """Listed values, one for each step."""

    kind: Annotated[Literal["explicit"], KIND] = "explicit"
    values: Annotated[tuple[Annotated[float, SCHEDULE_VALUE], ...], SCHEDULE_VALUES]

    def check(self) -> None:
        """Check that there are one to a million values, which are positive and finite numbers.

        Raises:
            InvalidInput: the list is empty or too long, or an entry is not such a number. The error points to the list
                or to the first invalid entry.
        """
        if not 1 <= len(self.values) <= MOST_LISTED:
            raise InvalidInput.at("/values", "has too few or too many entries", allowed=f"1 to {MOST_LISTED}")
        listed: tuple[object, ...] = self.values
        for index, value in enumerate(listed):
            # A Boolean is an `int` in Python, but no value of a schedule.
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise InvalidInput.at(f"/values/{index}", "is out of range", allowed=SCHEDULE_VALUE.allowed)

    @property
    def constant(self) -> float | None:
        """The value of every step; None if the values differ."""
        return float(self.values[0]) if min(self.values) == max(self.values) else None

    def at(self, first: int, last: int) -> FloatArray:
        """Return the listed values at several consecutive steps.

        Args:
            first: first step, counted from 1.
            last: last step, at least `first`.

        Returns:
            One value for each step.
        """
        return np.asarray(self.values[first - 1 : last], dtype=np.float64)

    def least(self, last: int) -> float:
        """Return the least value at steps 1, …, `last`."""
        return float(min(self.values[:last]))


Schedule = TypeAliasType("Schedule", Annotated[Constant | InverseTime | Explicit, Tagged("kind")])


def demand_length(schedule: Constant | InverseTime | Explicit, steps: int, *, at: str) -> None:
    """Check that a listed schedule has one value for each step of a run. Schedules given by a formula always pass.

    Args:
        schedule: step sizes or noises over the steps of the run.
        steps: number of steps of the run.
        at: JSON pointer to the schedule in the request.

    Raises:
        InvalidInput: the list has another length. The error points to its values.
    """
    if isinstance(schedule, Explicit) and len(schedule.values) != steps:
        raise InvalidInput.at(f"{at}/values", "must have one entry for each step", allowed=f"{steps} entries")

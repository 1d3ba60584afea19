"""The question that `gaussian` answers: four of five numbers, and which one to solve for."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import (
    DELTA,
    DRAWN,
    EPSILON,
    LOG10_DELTA,
    NOISE_MULTIPLIER,
    POPULATION,
    RATE,
    ROUNDS,
    SAMPLING,
    Quantity,
    Sampling,
    SettingFields,
    request,
)
from epsilond.accountants.target import natural_log_delta

Unknown = Literal["noise_multiplier", "rounds", "rate", "epsilon", "delta"]


@request
class GaussianProblem(SettingFields):
    """Four of the five numbers, and which one to solve for.

    `sampling` other than `full` needs `rate`, or `batch_size` and `population` (counts are what a fixed-size batch
    has); solving for the rate of a fixed-size batch needs `population` and returns `batch_size`.
    """

    solve_for: Annotated[Unknown, Quantity(description="the number to solve for; the others are given")] = (
        "noise_multiplier"
    )
    sampling: Annotated[Sampling, SAMPLING]
    noise_multiplier: Annotated[float | None, NOISE_MULTIPLIER] = None
    rounds: Annotated[int | None, ROUNDS] = None
    rate: Annotated[float | None, RATE] = None
    batch_size: Annotated[int | None, DRAWN] = None
    population: Annotated[int | None, POPULATION] = None
    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    def check(self) -> None:
        """Check that exactly the unknown is absent, and that the batch is described once."""
        faults = [*self._absences(), *self._batch_faults()]
        if faults:
            raise InvalidInput(*faults)
        if self.solve_for != "delta":
            natural_log_delta(self.delta, self.log10_delta)

    def _absences(self) -> list[Fault]:
        presence = {
            "noise_multiplier": self.noise_multiplier is not None,
            "rounds": self.rounds is not None,
            "epsilon": self.epsilon is not None,
            "delta": self.delta is not None or self.log10_delta is not None,
        }
        return [
            Fault(f"/{name}", "is the field that is solved for" if present else "is needed to solve for the other")
            for name, present in presence.items()
            if present == (name == self.solve_for)
        ]

    def _batch_faults(self) -> list[Fault]:
        present = (self.rate is not None, self.batch_size is not None, self.population is not None)
        if self.sampling == "full":
            return [Fault("/rate", "a full batch has no rate")] if any(present) or self.solve_for == "rate" else []
        if self.solve_for == "rate":
            wanted = (False, False, self.sampling != "poisson")
            reason = "solving for the rate needs population, or nothing if poisson"
            return [] if present == wanted else [Fault("/rate", reason)]
        counted = present == (False, True, True)
        if not counted and (present != (True, False, False) or self.sampling == "with-replacement"):
            return [Fault("/rate", "give either rate, or batch_size and population; counts if drawn with replacement")]
        if self.sampling == "without-replacement" and (self.batch_size or 0) > (self.population or math.inf):
            return [Fault("/batch_size", "cannot exceed population", f"≤ {self.population}")]
        return []


def infer_unknown(fields: JsonObject) -> Unknown | None:
    """Return the number to solve for: the only one of the five that the fields do not give.

    Args:
        fields: fields of a `GaussianProblem` by their names. A batch has a rate unless `sampling` is `full`.

    Returns:
        The name of the number, or None if more or fewer than one of the five are absent.
    """
    present: dict[Unknown, bool] = {
        "noise_multiplier": "noise_multiplier" in fields,
        "rounds": "rounds" in fields,
        "rate": fields.get("sampling") == "full" or "rate" in fields or "batch_size" in fields,
        "epsilon": "epsilon" in fields,
        "delta": "delta" in fields or "log10_delta" in fields,
    }
    absent = [name for name, is_present in present.items() if not is_present]
    return absent[0] if len(absent) == 1 else None

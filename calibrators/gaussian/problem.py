"""The question that `gaussian` answers: four of five numbers, and which one to solve for."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    DELTA,
    DRAWN,
    EPSILON,
    LOG10_DELTA,
    NOISE_MULTIPLIER,
    OBSERVER,
    POPULATION,
    RATE,
    RELATION,
    ROUNDS,
    SAMPLING,
    UNIT,
    Observer,
    Quantity,
    Relation,
    Sampling,
    Unit,
    natural_log_delta,
    request,
)

Unknown = Literal["noise_multiplier", "rounds", "rate", "epsilon", "delta"]


@request
class GaussianProblem:
    """Four of the five numbers, and which one to solve for.

    `sampling` other than `full` needs `rate`, or `batch_size` and `population` (counts are what a fixed-size batch
    has); solving for the rate of a fixed-size batch needs `population` and returns `batch_size`.
    """

    solve_for: Annotated[Unknown, Quantity(description="the number to solve for; the others are given")]
    relation: Annotated[Relation, RELATION]
    sampling: Annotated[Sampling, SAMPLING]
    noise_multiplier: Annotated[float | None, NOISE_MULTIPLIER] = None
    rounds: Annotated[int | None, ROUNDS] = None
    rate: Annotated[float | None, RATE] = None
    batch_size: Annotated[int | None, DRAWN] = None
    population: Annotated[int | None, POPULATION] = None
    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    unit: Annotated[Unit, UNIT] = "record"
    observer: Annotated[Observer, OBSERVER] = "server"

    def check(self) -> None:
        """Exactly the unknown is absent, and the batch is described once."""
        faults = [*self._absences(), *self._batch_faults()]
        if faults:
            raise InvalidInput(*faults)
        if self.solve_for != "delta":
            natural_log_delta(self.delta, self.log10_delta)

    def _absences(self) -> list[Fault]:
        given = {
            "noise_multiplier": self.noise_multiplier is not None,
            "rounds": self.rounds is not None,
            "epsilon": self.epsilon is not None,
            "delta": self.delta is not None or self.log10_delta is not None,
        }
        return [
            Fault(f"/{name}", "is what is solved for" if present else "is needed to solve for the other")
            for name, present in given.items()
            if present == (name == self.solve_for)
        ]

    def _batch_faults(self) -> list[Fault]:
        given = (self.rate is not None, self.batch_size is not None, self.population is not None)
        if self.sampling == "full":
            return [Fault("/rate", "a full batch has no rate")] if any(given) or self.solve_for == "rate" else []
        if self.solve_for == "rate":
            wanted = (False, False, self.sampling != "poisson")
            reason = "solving for the rate needs population, or nothing if poisson"
            return [] if given == wanted else [Fault("/rate", reason)]
        counted = given == (False, True, True)
        if not counted and (given != (True, False, False) or self.sampling == "with-replacement"):
            return [Fault("/rate", "give either rate, or batch_size and population; counts if drawn with replacement")]
        if self.sampling == "without-replacement" and (self.batch_size or 0) > (self.population or math.inf):
            return [Fault("/batch_size", "cannot exceed population", f"≤ {self.population}")]
        return []

"""What problems with drawn populations share: their fields, their limits, and how they are built."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import DIAMETER, Clients, Dimension, Quantity, SamplesPerClient, request
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.losses import Loss
from epsilond.simulators.problems.populations import Draw, made
from epsilond.simulators.problems.problem import Objective

LARGEST_POPULATION = 400_000
"""Numbers in the features of all distinct records: a population is made and its minimiser found within a second."""
LARGEST_DATA = 10_000_000
"""Records of all clients in one data set."""
BUILT_KEPT = 32
DEFAULT_POPULATION = 50
MODEL_NORM = 0.5
"""Of the models that populations follow, times the lesser of the radius and 1."""

OBJECTIVE = Quantity(
    description="what excess risk is of: population, the data of each repetition being drawn from it; or empirical, "
    "the data being the population itself"
)
POPULATION = Quantity(
    symbol="P",
    ge=1,
    le=LARGEST_POPULATION,
    description="records of each client's population; absent: samples_per_client if empirical, else 50",
)
OWN_SHARE = Quantity(
    ge=0, le=1, description="share of a client's population that follows a model of its own; the rest is every client's"
)
SEED = Quantity(ge=0, le=10**15, description="seed that the populations are drawn from")
BALL = Quantity(symbol="D", unit="length", ge=1e-3, le=1e3, description=DIAMETER.description)
RIDGE = Quantity(
    symbol="μ",
    unit="loss/length²",
    ge=0,
    le=1e3,
    description="strong convexity: weight of ½‖w‖² in every record's loss",
)


@dataclass(frozen=True)
class Recipe:
    """What a problem is made of: the loss, what records look like, and the weight μ of ½‖w‖²."""

    loss: Loss
    draw: Draw
    strong_convexity: float


@request
class Synthetic(ABC):
    """Clients whose populations are drawn from a seed; a share of each may follow a model of the client's own."""

    clients: Clients
    samples_per_client: SamplesPerClient
    dimension: Dimension
    diameter: Annotated[float, BALL] = 2.0
    own_share: Annotated[float, OWN_SHARE] = 0.0
    population: Annotated[int | None, POPULATION] = None
    objective: Annotated[Objective, OBJECTIVE] = "population"
    seed: Annotated[int, SEED] = 0

    @abstractmethod
    def recipe(self) -> Recipe:
        """What it is made of."""

    @property
    def size(self) -> int:
        """P."""
        default = self.samples_per_client if self.objective == "empirical" else DEFAULT_POPULATION
        return default if self.population is None else self.population

    @property
    def own(self) -> int:
        """How many of a client's P records are its own."""
        return round(self.own_share * self.size)

    def check(self) -> None:
        """The data is the population if empirical; sizes that can be built in a second."""
        distinct = self.size + self.own * (self.clients - 1)
        faults = [
            (
                Fault("/population", "is samples_per_client if the objective is empirical"),
                self.objective == "empirical" and self.size != self.samples_per_client,
            ),
            (
                Fault(
                    "/population",
                    "makes the distinct records of all clients too many to build",
                    f"≤ {LARGEST_POPULATION} numbers in all",
                ),
                distinct * self.dimension > LARGEST_POPULATION
                or (self.own > 0 and self.size * self.clients * self.dimension > 10 * LARGEST_POPULATION),
            ),
            (
                Fault("/samples_per_client", "times clients is too large", f"≤ {LARGEST_DATA}"),
                self.samples_per_client * self.clients > LARGEST_DATA,
            ),
        ]
        found = [fault for fault, fails in faults if fails]
        if found:
            raise InvalidInput(*found)

    def build(self) -> LinearModelProblem:
        """The problem; the same object where it was built before."""
        return _built(self)


@functools.lru_cache(maxsize=BUILT_KEPT)
def _built(asked: Synthetic) -> LinearModelProblem:
    recipe = asked.recipe()
    population = made(
        recipe.draw,
        clients=asked.clients,
        size=asked.size,
        own=asked.own,
        dimension=asked.dimension,
        model_norm=MODEL_NORM * min(1.0, 0.5 * asked.diameter),
        seed=asked.seed,
    )
    return LinearModelProblem.of(
        recipe.loss,
        population,
        samples_per_client=asked.samples_per_client,
        diameter=asked.diameter,
        strong_convexity=recipe.strong_convexity,
        objective=asked.objective,
        described={"loss": recipe.loss.name, "population": asked.size, "own_records": asked.own},
    )

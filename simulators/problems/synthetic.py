"""Common part of the problems with random populations: fields, limits and construction."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import DIAMETER, Clients, Dimension, Quantity, SamplesPerClient, request
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.losses import Loss
from epsilond.simulators.problems.populations import Draw, make_population
from epsilond.simulators.problems.problem import Objective

LARGEST_POPULATION = 400_000
"""Largest number of entries in the features of all distinct records; such a problem is built within a second."""
LARGEST_DATA = 10_000_000
"""Largest number of records of all clients in one data set."""
BUILT_KEPT = 32
"""Number of problems that are kept in memory."""
DEFAULT_POPULATION = 50
"""Number of records of a client's population if the data set is drawn from it."""
MODEL_NORM = 0.5
"""Norm of the models that populations follow, in units of the smaller of the radius and 1."""

OBJECTIVE = Quantity(
    description="loss whose excess is measured. population: the expected loss on the population, from which "
    "each repetition draws its data. empirical: the mean loss on the data, which are the whole "
    "population"
)
POPULATION = Quantity(
    symbol="P",
    ge=1,
    le=LARGEST_POPULATION,
    description="number of records in each client's population. Absent: samples_per_client for the objective "
    "empirical, otherwise 50",
)
OWN_SHARE = Quantity(
    ge=0,
    le=1,
    description="share of a client's population that follows a model of the client's own. The rest follows a "
    "model that all clients share",
)
SEED = Quantity(ge=0, le=10**15, description="seed of the random numbers by which the populations are made")
BALL = Quantity(symbol="D", unit="length", ge=1e-3, le=1e3, description=DIAMETER.description)
RIDGE = Quantity(
    symbol="μ",
    unit="loss/length²",
    ge=0,
    le=1e3,
    description="strong convexity constant μ: every record's loss contains ½μ‖w‖² for the model w",
)


@dataclass(frozen=True)
class Recipe:
    """Ingredients of a learning problem with linear predictions.

    Attributes:
        loss: loss of a prediction for a target.
        draw: function that draws records that follow a given model.
        strong_convexity: weight μ of the ridge term ½μ‖w‖².
    """

    loss: Loss
    draw: Draw
    strong_convexity: float


@request
class Synthetic(ABC):
    """A learning problem of clients with populations of records that are drawn from a seed.

    A share `own_share` of each population follows a model of the client's own, and the rest a common model. Models are
    in a ball of the given `diameter`. If `population`, the records of a client's population, is None, a default is
    used: `samples_per_client` for an empirical objective.
    """

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
        """Return the loss, the function that draws records, and the weight μ of the ridge term ½‖w‖²."""

    @property
    def size(self) -> int:
        """Number P of records in a client's population."""
        if self.population is not None:
            return self.population
        if self.objective == "empirical":
            return self.samples_per_client
        return DEFAULT_POPULATION

    @property
    def own(self) -> int:
        """Number of a client's P records that follow its own model."""
        return round(self.own_share * self.size)

    def check(self) -> None:
        """Check the size of the data and of the populations.

        Raises:
            InvalidInput: the data or the populations are too large, or the objective is empirical and the population
                does not have `samples_per_client` records. The error lists all faults.
        """
        faults = []
        if self.objective == "empirical" and self.size != self.samples_per_client:
            faults.append(Fault("/population", "is samples_per_client if the objective is empirical"))
        if self._is_too_large:
            message = "makes the distinct records of all clients too many to build"
            faults.append(Fault("/population", message, f"≤ {LARGEST_POPULATION} numbers in all"))
        if self.samples_per_client * self.clients > LARGEST_DATA:
            faults.append(Fault("/samples_per_client", "times clients is too large", f"≤ {LARGEST_DATA}"))
        if faults:
            raise InvalidInput(*faults)

    @property
    def _is_too_large(self) -> bool:
        """True if the distinct records, or the array of all clients' records, have too many entries."""
        distinct = self.size + self.own * (self.clients - 1)
        if distinct * self.dimension > LARGEST_POPULATION:
            return True
        # If clients have records of their own, the array of all clients repeats the shared records for each of them. It
        # may have ten times as many entries.
        return self.own > 0 and self.size * self.clients * self.dimension > 10 * LARGEST_POPULATION

    def build(self) -> LinearModelProblem:
        """Build the learning problem, or return the same object if it was built before."""
        return _build_problem(self)


@functools.lru_cache(maxsize=BUILT_KEPT)
def _build_problem(spec: Synthetic) -> LinearModelProblem:
    """Draw the clients' records and build the learning problem; the last `BUILT_KEPT` results are kept.

    Args:
        spec: request with the loss, clients, population, dimension, diameter of the domain and seed.

    Returns:
        A linear model on the drawn records, with its constants and its minimum.
    """
    recipe = spec.recipe()
    # The models that records follow are inside the domain, a ball whose radius is half the diameter.
    model_norm = MODEL_NORM * min(1.0, 0.5 * spec.diameter)
    population = make_population(
        recipe.draw,
        clients=spec.clients,
        size=spec.size,
        own=spec.own,
        dimension=spec.dimension,
        model_norm=model_norm,
        seed=spec.seed,
    )
    return LinearModelProblem.of(
        recipe.loss,
        population,
        samples_per_client=spec.samples_per_client,
        diameter=spec.diameter,
        strong_convexity=recipe.strong_convexity,
        objective=spec.objective,
        described={"loss": recipe.loss.name, "population": spec.size, "own_records": spec.own},
    )

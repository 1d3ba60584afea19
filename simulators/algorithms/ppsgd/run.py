"""A run of PPSGD as requested, and its batches, weights and steps on a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    CLIENT_GROUPS,
    RATE,
    SAMPLING,
    STEP_SIZE,
    BatchSize,
    Clients,
    Quantity,
    Rounds,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CLIPPING_NORM,
    FINITE_PERSONALIZATION,
    PERSONALIZATION,
    SHARED_NOISE_STD,
    WEIGHTING,
    Weighting,
    personalization_value,
)
from epsilond.simulators.problems.personalized_problem import PersonalizedProblem
from epsilond.simulators.problems.problem import Floats

ClientSampling = Literal["full", "poisson", "without-replacement"]

SHARED_STEP_SIZE = replace(
    STEP_SIZE,
    symbol="αη",
    description="step size of the shared part of the model: α times step_size, for the degree of sharing α",
)


@request
class ClientBatches:
    """Equal clients: their number, and the records of a batch."""

    clients: Clients
    batch_size: BatchSize = 1


@request
class PpsgdRun:
    """A run of PPSGD (Bietti et al.): how the clients take part, what they send, and the step sizes.

    `noise_std` is the noise per coordinate of the mean that the server forms. If it is absent, it is calibrated, and
    absent `personalization` and step sizes are chosen. If it is given, they must be given. Of `step_size` η and
    `shared_step_size` one is enough, because it decides the other. If only one part of the model learns
    (`personalization` is 0 or "unbounded"), a step size that is given for the other part is converted by
    shared_step_size = η/(qW). Here q is `participation_rate`, and W the sum of the clients' weights. If `clipping_norm`
    is absent, messages are not clipped.
    """

    algorithm: Annotated[Literal["ppsgd"], Quantity(description="name of the algorithm")] = "ppsgd"
    rounds: Rounds
    sampling: Annotated[ClientSampling, SAMPLING] = "full"
    participation_rate: Annotated[float | None, RATE] = None
    weighting: Annotated[Weighting, WEIGHTING] = "clients"
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    client_groups: Annotated[tuple[ClientBatches, ...] | None, CLIENT_GROUPS] = None
    clipping_norm: Annotated[float | None, CLIPPING_NORM] = None
    personalization: Annotated[
        Annotated[float, FINITE_PERSONALIZATION] | Literal["unbounded"] | None, PERSONALIZATION
    ] = None
    step_size: Annotated[float | None, STEP_SIZE] = None
    shared_step_size: Annotated[float | None, SHARED_STEP_SIZE] = None
    noise_std: Annotated[float | None, SHARED_NOISE_STD] = None

    def check(self) -> None:
        """Check that the fields fit together, and convert groups that are given as mappings.

        Raises:
            InvalidInput: `personalization` is out of its range, the participation rate does not fit the sampling, or
                batch sizes or step sizes are given twice.
        """
        if self.personalization is not None:
            personalization_value(self.personalization)
        if self.client_groups is not None:
            object.__setattr__(self, "client_groups", tuple(map(_read_group, self.client_groups)))
        # Collect all faults, so that they are reported together.
        faults = []
        if self.sampling == "full" and self.rate != 1.0:
            faults.append(Fault("/participation_rate", "is 1 where all clients take part", "= 1"))
        if self.sampling != "full" and self.participation_rate is None:
            faults.append(Fault("/participation_rate", "is needed unless all clients take part", RATE.allowed))
        if self.client_groups is not None and self.batch_size is not None:
            faults.append(Fault("/client_groups", "give at most one of batch_size and client_groups"))
        if self.step_size is not None and self.shared_step_size is not None:
            faults.append(Fault("/shared_step_size", "follows from step_size; give one of them"))
        if faults:
            raise InvalidInput(*faults)

    @property
    def rate(self) -> float:
        """Participation rate q, the probability that a client takes part in a round; 1 if it is absent."""
        if self.participation_rate is None:
            return 1.0
        return self.participation_rate

    @property
    def alpha(self) -> float:
        """Ratio α of the shared step to the own step; inf for "unbounded" and 0 if it is not given."""
        return personalization_value(self.personalization or 0.0)

    def batches(self, clients: int) -> tuple[ClientBatches, ...]:
        """Return the clients of a problem in groups with equal batch sizes.

        Args:
            clients: number of clients of the problem.

        Returns:
            The groups of the run, with their numbers of clients and batch sizes; one group of all clients if it has
            none.

        Raises:
            InvalidInput: the groups do not add up to `clients`.
        """
        groups = self.client_groups or (ClientBatches(clients=clients, batch_size=self.batch_size or 1),)
        if sum(group.clients for group in groups) != clients:
            raise InvalidInput.at("/client_groups", "must add up to clients", allowed=f"{clients} clients")
        return groups

    def participants(self, clients: int) -> int | None:
        """Return the number of clients that participate in a round.

        Args:
            clients: number of all clients, at least 1.

        Returns:
            The participation rate times `clients`; None for Poisson sampling, in which the number is random.

        Raises:
            InvalidInput: the participation rate times `clients` is not a positive integer.
        """
        if self.sampling == "poisson":
            return None
        count = round(self.rate * clients)
        # A rate such as 1/3 is a rounded double, so the product may differ from an integer by a relative error.
        if count < 1 or abs(self.rate * clients - count) > 1e-9 * count:
            message = "times clients must be a whole number of participants"
            raise InvalidInput.at("/participation_rate", message, allowed=f"a multiple of 1/{clients}")
        return count


def _read_group(group: Any) -> ClientBatches:
    """Return a group of clients, converted to `ClientBatches` if it is given as a mapping of its fields."""
    if isinstance(group, Mapping):
        return ClientBatches(**group)
    batches: ClientBatches = group
    return batches


# The run on a problem -------------------------------------------------------------------------------------------------
def batch_sizes(problem: PersonalizedProblem, run: PpsgdRun) -> Floats:
    """Return the batch size of each client.

    Args:
        problem: personalised problem with N clients.
        run: parameters of the run, with groups of clients that have equal batch sizes.

    Returns:
        The batch sizes in the order of the clients, (N,).
    """
    groups = run.batches(problem.clients)
    sizes = [float(group.batch_size) for group in groups]
    counts = [group.clients for group in groups]
    return np.repeat(sizes, counts)


def total_weight(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """Return the total weight W of the clients.

    Args:
        problem: personalised problem.
        run: parameters of the run.

    Returns:
        The number of clients if the run weights clients equally. The sum of their batch sizes if it weights records
        equally.
    """
    if run.weighting == "clients":
        return float(problem.clients)
    return math.fsum(batch_sizes(problem, run))


def steps_of(problem: PersonalizedProblem, run: PpsgdRun) -> tuple[float, float]:
    """Return the step sizes of the clients' own parts of the model and of its shared part.

    With the run's `step_size` η, its `personalization` α, its participation rate q and the total weight W of the
    clients, they are:

        η and αη    for 0 < α < ∞,
        η and 0     for α = 0, where only the own parts learn,
        0 and η/(qW)    for α = ∞, where only the shared part learns.

    If the run has a `shared_step_size` instead, η is this divided by α, or multiplied by qW for α = 0 or ∞.

    Args:
        problem: personalised problem.
        run: parameters of the run.

    Returns:
        The step size of the own parts, then the step size of the shared part.

    Raises:
        InvalidInput: noise, α or both step sizes are missing.
    """
    faults = []
    if run.noise_std is None:
        faults.append(Fault("/noise_std", "is calibrated before a run", SHARED_NOISE_STD.allowed))
    if run.personalization is None:
        faults.append(Fault("/personalization", "is needed with noise_std"))
    if run.step_size is None and run.shared_step_size is None:
        faults.append(Fault("/step_size", "or shared_step_size is needed with noise_std", STEP_SIZE.allowed))
    if faults:
        raise InvalidInput(*faults)

    alpha = run.alpha
    expected_weight = run.rate * total_weight(problem, run)  # qW
    ratio = alpha if 0.0 < alpha < math.inf else 1.0 / expected_weight
    step = run.step_size
    if step is None:
        step = (run.shared_step_size or 0.0) / ratio

    own_step = 0.0 if math.isinf(alpha) else step
    shared_step = 0.0 if alpha == 0.0 else step * ratio
    return own_step, shared_step


def largest_message(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """Return a bound on the norm of every client's message.

    It is the Lipschitz constant of the loss if a message is a mean of gradients. If a message is their sum, it is this
    constant times the largest batch size.

    Args:
        problem: personalised problem.
        run: parameters of the run.

    Returns:
        The bound on the ℓ2 norm; math.inf if the gradients are not bounded.
    """
    gradients_in_message = 1.0
    if run.weighting != "clients":
        gradients_in_message = float(batch_sizes(problem, run).max())
    return problem.constants.lipschitz * gradients_in_message


def record_weights(problem: PersonalizedProblem, run: PpsgdRun) -> Floats:
    """Return the weight of each record in its client's message.

    Args:
        problem: personalised problem with N clients.
        run: parameters of the run.

    Returns:
        Weights, (N, largest batch): 1 or, if clients are weighted equally, 1 over the client's batch size; 0 beyond the
        client's batch.
    """
    sizes = batch_sizes(problem, run)
    is_in_batch = np.arange(sizes.max()) < sizes[:, None]
    weights = is_in_batch.astype(np.float64)
    if run.weighting == "clients":
        return weights / sizes[:, None]
    return weights

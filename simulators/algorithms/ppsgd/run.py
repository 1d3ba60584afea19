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
        """Check the degree of sharing and the groups, and that participation, batches and steps are each given once.

        Raises:
            InvalidInput: the fields exclude each other, or a participation rate is missing.
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
        """Return all clients of a problem in groups of clients with equal batch sizes.

        A run without groups has a single group of all clients.

        Args:
            clients: number of clients of the problem.

        Returns:
            Groups with their numbers of clients and batch sizes.

        Raises:
            InvalidInput: the groups do not add up to `clients`.
        """
        groups = self.client_groups or (ClientBatches(clients=clients, batch_size=self.batch_size or 1),)
        if sum(group.clients for group in groups) != clients:
            raise InvalidInput.at("/client_groups", "must add up to clients", allowed=f"{clients} clients")
        return groups

    def participants(self, clients: int) -> int | None:
        """Return the number of clients that participate in a round; None if it is random.

        With Poisson sampling, every client participates independently with the participation rate, so that the number
        is random.

        Args:
            clients: number of all clients, at least 1.

        Returns:
            The participation rate times `clients`; None for Poisson sampling.

        Raises:
            InvalidInput: the participation rate times `clients` is not a positive integer.
        """
        if self.sampling == "poisson":
            return None
        count = round(self.rate * clients)
        # A rate such as 1/3 is rounded, so that the product need not be an integer exactly.
        if count < 1 or abs(self.rate * clients - count) > 1e-9 * count:
            message = "times clients must be a whole number of participants"
            raise InvalidInput.at("/participation_rate", message, allowed=f"a multiple of 1/{clients}")
        return count


def _read_group(group: Any) -> ClientBatches:
    """Return a group of clients, which may be given as a mapping of its fields."""
    if isinstance(group, Mapping):
        return ClientBatches(**group)
    batches: ClientBatches = group
    return batches


# The run on a problem -------------------------------------------------------------------------------------------------
def batch_sizes(problem: PersonalizedProblem, run: PpsgdRun) -> Floats:
    """Return the batch size of each client, as an array of shape (N,).

    Args:
        problem: personalised problem with N clients.
        run: parameters of the run, with groups of clients that have equal batch sizes.

    Returns:
        The batch sizes, in the order of the clients.
    """
    groups = run.batches(problem.clients)
    sizes = [float(group.batch_size) for group in groups]
    counts = [group.clients for group in groups]
    return np.repeat(sizes, counts)


def total_weight(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """Return the total weight W of the clients: their number, or the sum of their batch sizes.

    Args:
        problem: personalised problem.
        run: parameters of the run. Clients or, for the sum, records have equal weights.

    Returns:
        The weight W: a number of clients or of records.
    """
    if run.weighting == "clients":
        return float(problem.clients)
    return math.fsum(batch_sizes(problem, run))


def steps_of(problem: PersonalizedProblem, run: PpsgdRun) -> tuple[float, float]:
    """Return the step size η of the clients' own parts and the step size αη of the shared part.

    The ratio α is the run's `personalization`. If α is 0, only the own parts learn, and αη is replaced by 0. If α is
    infinite, only the shared part learns. Its step size is then η/(qW), the factor with which own parts usually move,
    and η is replaced by 0. Here q is the participation rate and W the total weight of the clients. A given
    `shared_step_size` determines η by the same ratio.

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

    # The ratio of the shared to the own step size: α, or 1/(qW) if only one part learns.
    alpha = run.alpha
    expected_weight = run.rate * total_weight(problem, run)  # qW
    ratio = alpha if 0.0 < alpha < math.inf else 1.0 / expected_weight
    step = run.step_size
    if step is None:
        step = (run.shared_step_size or 0.0) / ratio

    # A part that does not learn has the step size 0.
    own_step = 0.0 if math.isinf(alpha) else step
    shared_step = 0.0 if alpha == 0.0 else step * ratio
    return own_step, shared_step


def largest_message(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """Return a bound on the norm of every client's message; infinite if gradients are not bounded.

    The bound is the Lipschitz constant of the loss. It is multiplied by the largest batch size if a message is a sum of
    gradients, not a mean.

    Args:
        problem: personalised problem.
        run: parameters of the run.

    Returns:
        The bound on the ℓ2 norm, or inf.
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

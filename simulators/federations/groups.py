"""Clients that differ, in groups of equal clients: as requested, and as arrays over all clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    DELTA,
    EPSILON,
    LOG10_DELTA,
    NOISE_STD,
    WEIGHT,
    Clients,
    Quantity,
    SamplesPerClient,
    Sampling,
    request,
)
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem

MOST_GROUPS = 1000
"""Largest number of groups of a run."""
NOISE = replace(NOISE_STD, gt=None, ge=0, le=1e50)
GROUPS = Quantity(
    description="groups of clients with equal properties, in the order of the problem's clients. With weights "
    "the objective is the weighted mean of the clients' losses. For an empirical objective, a "
    "client with fewer records has the last ones of its population"
)


@request
class RunGroup:
    """A group of equal clients, with the fields in which they differ from the run's other clients.

    If `batch_size` is None, the run's batch size is scaled in proportion to the records of a client. The result is the
    nearest integer, and at least 1. If ε, δ or `noise_std` is None, the group has the run's value.
    """

    clients: Clients
    samples_per_client: SamplesPerClient
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    weight: Annotated[float, WEIGHT] = 1.0
    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    noise_std: Annotated[float | None, NOISE] = None

    def check(self) -> None:
        """Check that there is at most one δ, and that noise is either given or calibrated to a target.

        Raises:
            InvalidInput: δ is given twice, or both noise and a target are given.
        """
        if self.delta is not None and self.log10_delta is not None:
            raise InvalidInput.at("/delta", "give at most one of delta and log10_delta")
        if self.noise_std is not None and self.targets:
            raise InvalidInput.at(f"/{self.targets[0]}", "and noise_std: noise is either given or calibrated")

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of those fields of the group's own privacy target (ε, δ) that are given."""
        return tuple(name for name in ("epsilon", "delta", "log10_delta") if getattr(self, name) is not None)


Groups = tuple[RunGroup, ...]


def read_groups(run: AnyRun) -> None:
    """Convert the mappings in a run's `client_groups` to `RunGroup`s, and check them.

    The field of the run is replaced, although the run is frozen. A run without groups is left unchanged.

    Args:
        run: the run.

    Raises:
        InvalidInput: there are no groups or too many, a group has noise and the run has none, or a group has a privacy
            target and the run has noise.
    """
    requested: Sequence[Any] | None = run.client_groups
    if requested is None:
        return

    # The run is a frozen dataclass, so its field is set as its constructor sets it.
    groups = tuple(RunGroup(**group) if isinstance(group, Mapping) else group for group in requested)
    object.__setattr__(run, "client_groups", groups)
    if not 1 <= len(groups) <= MOST_GROUPS:
        raise InvalidInput.at("/client_groups", "has too few or too many groups", allowed=f"1 to {MOST_GROUPS}")

    # Noise is either given for the run and its groups, or calibrated to the targets of the groups.
    for index, group in enumerate(groups):
        at = f"/client_groups/{index}"
        if run.noise_std is None and group.noise_std is not None:
            raise InvalidInput.at(f"{at}/noise_std", "needs noise_std of the run, which the other groups use")
        if run.noise_std is not None and group.targets:
            raise InvalidInput.at(f"{at}/{group.targets[0]}", "and noise_std: noise is either given or calibrated")


def with_noise_stds(groups: Groups, noise_stds: Sequence[float | None]) -> Groups:
    """Return groups of clients with given noise instead of a privacy target.

    Args:
        groups: groups of clients; they are not changed.
        noise_stds: standard deviation σ of each group's noise, one entry per group; None for the run's value.

    Returns:
        Copies of the groups with this noise, and without ε and δ.
    """
    return tuple(
        replace(group, noise_std=noise_std, epsilon=None, delta=None, log10_delta=None)
        for group, noise_std in zip(groups, noise_stds, strict=True)
    )


def without_noise(run: AnyRun) -> AnyRun:
    """Return the parameters of the same run without noise, also for each of its groups of clients.

    Such a run measures how much of the excess risk is due to the noise.

    Args:
        run: parameters of a run; they are not changed.

    Returns:
        A copy with σ = 0. Its groups have no σ of their own and no privacy target, so that they use the run's 0.
    """
    groups: Groups | None = run.client_groups
    if groups is None:
        return replace(run, noise_std=0.0)
    return replace(run, noise_std=0.0, client_groups=with_noise_stds(groups, [None] * len(groups)))


def loss_scales(groups: Sequence[RunGroup]) -> tuple[float, ...]:
    """Return, for each group, the factor of a client's loss in the objective.

    The factor is the client's weight over the mean weight of all clients. The factors are exactly 1 if all weights are
    equal.

    Args:
        groups: groups of clients, each with a number of clients and the weight of one client.

    Returns:
        One factor per group. Their mean over all clients is 1.
    """
    if len({group.weight for group in groups}) == 1:
        return (1.0,) * len(groups)
    clients = sum(group.clients for group in groups)
    total_weight = sum(group.weight * group.clients for group in groups)
    return tuple(group.weight * clients / total_weight for group in groups)


@dataclass(frozen=True)
class ClientArrays:
    """Number of records, batch size, noise and weight of each of N clients, in order.

    Attributes:
        sizes: number of records of each client.
        batches: number of records in a batch of each client.
        noise_stds: standard deviation σ of the noise per coordinate; NaN if it is not calibrated yet.
        scales: factor p_i N of the client's loss, where p_i is its weight in the objective.
    """

    sizes: Indices
    batches: Indices
    noise_stds: Floats
    scales: Floats

    @property
    def most_records(self) -> int:
        """Largest number n of records of a client."""
        return int(np.max(self.sizes))

    @property
    def largest_batch(self) -> int:
        """Largest batch size K of a client."""
        return int(np.max(self.batches))


def batch_of(group: RunGroup, *, batch_size: int, samples_per_client: int, sampling: Sampling) -> int:
    """Return the batch size K of the clients of a group.

    For full batches it is the number of records of a client. Otherwise it is the group's own batch size if given. By
    default the run's batch size is scaled in proportion to the client's records, rounded to nearest, and at least 1.

    Args:
        group: the client's group.
        batch_size: batch size of the run.
        samples_per_client: records of a client in the problem.
        sampling: sampling of a client's batches.

    Returns:
        The number of records in a batch of such a client.
    """
    if sampling == "full":
        return group.samples_per_client
    if group.batch_size is not None:
        return group.batch_size
    # ⌊(2a + b)/(2b)⌋ is a/b, rounded to the nearest integer, half up.
    dividend = batch_size * group.samples_per_client
    return max(1, (2 * dividend + samples_per_client) // (2 * samples_per_client))


def client_arrays_of(problem: SimulatedProblem, run: AnyRun, sampling: Sampling) -> ClientArrays:
    """Return the numbers of records, batch sizes, noise and weights of all clients of a run with groups.

    Args:
        problem: learning problem, built for these groups by `weighted_data.build_for`.
        run: a run with `client_groups`.
        sampling: sampling of a client's batches.

    Returns:
        Arrays with one entry per client, in the order of the groups.

    Raises:
        InvalidInput: a batch exceeds the client's records, or a full batch is requested with another size.
    """
    groups: Groups = run.client_groups
    batches = []
    for group in groups:
        batch = batch_of(
            group, batch_size=run.batch_size, samples_per_client=problem.samples_per_client, sampling=sampling
        )
        batches.append(batch)
    _check_batches(groups, batches, sampling)
    default_std = np.nan if run.noise_std is None else run.noise_std
    noise_stds = [default_std if group.noise_std is None else group.noise_std for group in groups]

    clients = [group.clients for group in groups]
    return ClientArrays(
        sizes=np.repeat([group.samples_per_client for group in groups], clients),
        batches=np.repeat(batches, clients),
        noise_stds=np.repeat(noise_stds, clients),
        scales=np.repeat(loss_scales(groups), clients),
    )


def _check_batches(groups: Groups, batches: Sequence[int], sampling: Sampling) -> None:
    """Check that the batches of each group fit into the records of its clients.

    Args:
        groups: groups of clients.
        batches: batch size of each group.
        sampling: sampling of a client's batches.

    Raises:
        InvalidInput: a batch is larger than the client's records, or a full batch has another size.
    """
    faults = []
    for index, (group, batch) in enumerate(zip(groups, batches, strict=True)):
        records = group.samples_per_client
        pointer = f"/client_groups/{index}/batch_size"
        if sampling == "full" and group.batch_size not in (None, records):
            faults.append(Fault(pointer, "is all records of a full batch", f"{records}"))
        elif batch > records:
            faults.append(Fault(pointer, "cannot exceed samples_per_client", f"≤ {records}"))
    if faults:
        raise InvalidInput(*faults)

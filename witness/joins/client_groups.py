"""Fields of calibrations and of risk bounds for clients that differ, and for a random number of participants."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.federation import ParticipationCount
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.compressed_messages import compression_variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import GroupRun
from epsilond.calibrators.mb_sgd.groups import TargetedGroup
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.algorithms.random_participation import CountDistribution
from epsilond.simulators.federations.groups import Groups, RunGroup, batch_of, loss_scales, with_noise_stds
from epsilond.witness.join import Parameters
from epsilond.witness.joins.problem_fields import LEAST_NOISE

if TYPE_CHECKING:
    from epsilond.simulators.problems.problem import SimulatedProblem


def participation_counts(count_distribution: CountDistribution) -> tuple[ParticipationCount, ...]:
    """Convert the distribution of the number of participants to the form that calibrators and bounds take.

    Args:
        count_distribution: possible numbers of participants in a round, with their probabilities.
    """
    return tuple(
        ParticipationCount(participants=count.participants, probability=count.probability)
        for count in count_distribution
    )


def calibration_clients(
    problem: SimulatedProblem, run: AnyRun, count_distribution: CountDistribution | None, groups: Groups | None
) -> Fields:
    """Return the fields of a calibration request for clients that differ, and for a random number of participants.

    For clients that differ, the calibrator chooses a noise for each group of equal clients.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.
        count_distribution: distribution of the number of participants, or None if that number is fixed.
        groups: groups of equal clients, or None if all clients are equal.

    Returns:
        The fields; empty if the clients are equal and the number of participants is fixed.
    """
    fields: dict[str, object] = {}
    if count_distribution is not None:
        fields |= {"participants": None, "participation": participation_counts(count_distribution)}
    if groups is None:
        return fields

    targeted_groups = [
        TargetedGroup(
            clients=group.clients,
            samples_per_client=group.samples_per_client,
            batch_size=_batch_size(problem, run, group),
            weight=group.weight,
            epsilon=group.epsilon,
            delta=group.delta,
            log10_delta=group.log10_delta,
        )
        for group in groups
    ]
    fields["client_groups"] = tuple(targeted_groups)
    fields["batch_size"] = min(run.batch_size, problem.samples_per_client)
    return fields


def _batch_size(problem: SimulatedProblem, run: AnyRun, group: RunGroup) -> int:
    """Return the number of records in a batch of a client of a group.

    It is the group's own batch size, or that of the run. Full batches contain all records of the client.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.
        group: the group.
    """
    return batch_of(
        group, batch_size=run.batch_size, samples_per_client=problem.samples_per_client, sampling=run.batches
    )


def set_noise(run: AnyRun, parameters: Parameters) -> AnyRun:
    """Set the noise of a run to the calibrated noise.

    If clients differ, each group has its own noise, and the run's noise is the root mean square over clients.

    Args:
        run: the algorithm with its parameters, still without noise.
        parameters: parameters of the calibration.

    Returns:
        A copy of the run with its noise.
    """
    if getattr(run, "client_groups", None) is None:
        return replace(run, noise_std=parameters.noise_std)
    stds = [group.noise_std for group in parameters.groups]
    stds_with_counts = [(std, group.clients) for std, group in zip(stds, run.client_groups, strict=True)]
    return replace(
        run,
        noise_std=_root_mean_square(stds_with_counts),
        client_groups=with_noise_stds(run.client_groups, stds),
    )


def _root_mean_square(values_with_counts: Iterable[tuple[float, int]]) -> float:
    """Return the root mean square of non-negative values with multiplicities, without overflow.

    Args:
        values_with_counts: pairs of a value and its multiplicity.

    Returns:
        The root mean square; 0 if all values are 0.
    """
    pairs = list(values_with_counts)
    total_count = sum(count for _, count in pairs)
    largest = max(value for value, _ in pairs)
    if largest == 0.0:
        return 0.0
    # Each value is divided by the largest one before it is squared.
    relative_mean_square = math.fsum(count / total_count * (value / largest) ** 2 for value, count in pairs)
    return largest * math.sqrt(relative_mean_square)


def bound_clients(
    problem: SimulatedProblem, run: AnyRun, count_distribution: CountDistribution | None, groups: Groups
) -> Fields:
    """Return the fields of a risk theorem for clients that differ, and for the number of participants.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.
        count_distribution: distribution of the number of participants, or None if that number is fixed.
        groups: groups of equal clients.

    Returns:
        `client_groups`, with the noise of each group (increased by the error of compressed messages), and
        `participation`, the distribution of the number of participants.
    """
    if count_distribution is None:
        participants = run.participants or problem.clients
        fixed_number = ParticipationCount(participants=participants, probability=1.0)
        participation: tuple[ParticipationCount, ...] = (fixed_number,)
    else:
        participation = participation_counts(count_distribution)
    # The weight of a group multiplies the losses of its clients.
    scaled_groups = zip(groups, loss_scales(groups), strict=True)
    group_runs = [_group_run(problem, run, group, scale) for group, scale in scaled_groups]
    return {"client_groups": tuple(group_runs), "participation": participation}


def _group_run(problem: SimulatedProblem, run: AnyRun, group: RunGroup, scale: float) -> GroupRun:
    """Return the description of a group of equal clients for the bounds on the excess risk.

    Args:
        problem: the simulated learning problem.
        run: the run. Groups without a noise of their own have the noise of the run.
        group: the group.
        scale: factor of the losses of its clients, which their weight determines.
    """
    noise_std = run.noise_std if group.noise_std is None else group.noise_std
    effective_std = effective_noise_std(problem, run, noise_std, scale)
    return GroupRun(
        clients=group.clients,
        samples_per_client=group.samples_per_client,
        batch_size=_batch_size(problem, run, group),
        noise_std=max(effective_std, LEAST_NOISE),  # bounds require a positive noise
        lipschitz=problem.constants.lipschitz,
        weight=group.weight,
    )


def effective_noise_std(problem: SimulatedProblem, run: AnyRun, noise_std: float, scale: float = 1.0) -> float:
    """Return a standard deviation of noise with at least the error of the noise and the compression together.

    A message is a gradient with d coordinates and a norm of at most L, with noise. Its compression adds at most
    ω(L² + dσ²) to the mean squared error (Lowy and Razaviyayn, Remark 2.1). Without compression, noise with the
    variance:

        σ² + ω(L²/d + σ²)

    in each coordinate has this total error.

    Args:
        problem: the simulated learning problem.
        run: the run; `quantization_levels` determines the compression variance ω.
        noise_std: σ before compression.
        scale: factor of the client's loss, so that its Lipschitz constant is `scale` · L.

    Returns:
        The effective σ, or `noise_std` if messages are not compressed.
    """
    levels = getattr(run, "quantization_levels", None)
    if levels is None:
        return noise_std
    margin = 1.0 + 2.0**-40  # exceeds the rounding error of the compression variance
    compression = compression_variance(dimension=problem.dimension, quantization_levels=levels) * margin
    lipschitz = scale * problem.constants.lipschitz
    compression_error = compression * (lipschitz**2 / problem.dimension + noise_std**2)
    return math.sqrt(noise_std**2 + compression_error)


def has_equal_weights(groups: Groups | None) -> bool:
    """Return whether the losses of all clients have equal weight; only then are the statistics of gradients valid.

    Args:
        groups: groups of equal clients, or None if all clients are equal.
    """
    if groups is None:
        return True
    scales = np.asarray(loss_scales(groups))
    return bool(np.all(scales == 1.0))

"""Clients that differ, and a random number of them, as calibrators and bounds are told of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.federation import ClientGroupRequest, ParticipationCount
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.compressed_messages import compression_variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import GroupRun
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.algorithms.random_participation import Law
from epsilond.simulators.federations.groups import Groups, RunGroup, batch_of, loss_scales, with_noise_stds
from epsilond.witness.join import Parameters
from epsilond.witness.joins.settled import LEAST_NOISE

if TYPE_CHECKING:
    from epsilond.simulators.problems.problem import SimulatedProblem


def law_of(law: Law) -> tuple[ParticipationCount, ...]:
    """The law of the number of participants."""
    return tuple(ParticipationCount(participants=one.participants, probability=one.probability) for one in law)


def asked_clients(problem: SimulatedProblem, run: AnyRun, law: Law | None, groups: Groups | None) -> Fields:
    """Fields of a calibration beside those of like clients; `participants` is among them, None under a law."""
    fields: dict[str, object] = {}
    if law is not None:
        fields |= {"participants": None, "participation": law_of(law)}
    if groups is not None:
        fields["client_groups"] = tuple(
            ClientGroupRequest(
                clients=group.clients,
                samples_per_client=group.samples_per_client,
                batch_size=_batch(problem, run, group),
                weight=group.weight,
                epsilon=group.epsilon,
                delta=group.delta,
                log10_delta=group.log10_delta,
            )
            for group in groups
        )
        fields["batch_size"] = min(run.batch_size, problem.samples_per_client)
    return fields


def _batch(problem: SimulatedProblem, run: AnyRun, group: RunGroup) -> int:
    return batch_of(
        group, batch_size=run.batch_size, samples_per_client=problem.samples_per_client, sampling=run.batches
    )


def with_noise_of(run: AnyRun, parameters: Parameters) -> AnyRun:
    """The run with the calibrated noise; of clients that differ each group's, and the root mean square as the run's."""
    if getattr(run, "client_groups", None) is None:
        return replace(run, noise_std=parameters.noise_std)
    stds = [group.noise_std for group in parameters.groups]
    return replace(
        run,
        noise_std=_root_mean_square((std, group.clients) for std, group in zip(stds, run.client_groups, strict=True)),
        client_groups=with_noise_stds(run.client_groups, stds),
    )


def _root_mean_square(counted: Iterable[tuple[float, int]]) -> float:
    pairs = list(counted)
    clients = sum(count for _, count in pairs)
    largest = max(value for value, _ in pairs)
    if largest == 0.0:
        return 0.0
    return largest * math.sqrt(math.fsum(count / clients * (value / largest) ** 2 for value, count in pairs))


def bounded_clients(problem: SimulatedProblem, run: AnyRun, law: Law | None, groups: Groups) -> Fields:
    """Clients and participation as the bounds for clients that differ are told of them."""
    everyone = run.participants or problem.clients
    told = (ParticipationCount(participants=everyone, probability=1.0),) if law is None else law_of(law)
    return {
        "client_groups": tuple(
            GroupRun(
                clients=group.clients,
                samples_per_client=group.samples_per_client,
                batch_size=_batch(problem, run, group),
                noise_std=max(
                    effective_noise_std(
                        problem, run, run.noise_std if group.noise_std is None else group.noise_std, scale
                    ),
                    LEAST_NOISE,
                ),
                lipschitz=problem.constants.lipschitz,
                weight=group.weight,
            )
            for group, scale in zip(groups, loss_scales(groups), strict=True)
        ),
        "participation": told,
    }


def effective_noise_std(problem: SimulatedProblem, run: AnyRun, noise_std: float, scale: float = 1.0) -> float:
    """σ that leaves a client's messages as exact as compression after noise σ does: Remark 2.1.

    Compression adds ω(L² + dσ²) to a message's mean squared error, as noise of variance σ² + ω(L²/d + σ²) does; L is
    that of the weighted loss.
    """
    levels = getattr(run, "quantization_levels", None)
    if levels is None:
        return noise_std
    omega = compression_variance(dimension=problem.dimension, quantization_levels=levels) * (1.0 + 2.0**-40)
    lipschitz = scale * problem.constants.lipschitz
    return math.sqrt(noise_std**2 + omega * (lipschitz**2 / problem.dimension + noise_std**2))


def weighed_alike(groups: Groups | None) -> bool:
    """Whether losses count as they are, so that statistics of gradients are at most L."""
    return groups is None or bool(np.all(np.asarray(loss_scales(groups)) == 1.0))

"""The clients of an mb-sgd run as its parts see them: alike ones together, weights in their Lipschitz constants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.federation import ClientGroup, ClientGroupRequest, Federation, loss_scales
from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem, Run
from epsilond.calibrators.problem import Target
from epsilond.calibrators.risk.baseline import Start, start_of

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Objective


@dataclass(frozen=True, kw_only=True)
class Member:
    """Clients that are alike in a run. `lipschitz` is that of the weighted loss; `place` that of the group."""

    place: int
    clients: int
    samples_per_client: int
    batch_size: int
    lipschitz: float
    target: Target


@dataclass(frozen=True)
class Release:
    """What decides a client's noise multiplier; n and K are absent where drawing a batch amplifies nothing."""

    target: Target
    rounds: int
    population: int | None
    batch_size: int | None


def scales_of(problem: MiniBatchProblem) -> tuple[float, ...]:
    """p_i N of each group, all 1 without weights (Appendix B)."""
    groups = problem.client_groups
    return loss_scales([(group.weight, group.clients) for group in groups]) if groups else (1.0,)


def members_of(problem: MiniBatchProblem, run: Run) -> tuple[Member, ...]:
    """The groups of a request, or all its clients as one."""
    if problem.client_groups is None:
        return (
            Member(
                place=0,
                clients=problem.clients,
                samples_per_client=problem.samples_per_client,
                batch_size=run.batch_size,
                lipschitz=problem.lipschitz,
                target=problem.target,
            ),
        )
    return tuple(
        Member(
            place=place,
            clients=group.clients,
            samples_per_client=group.samples_per_client,
            batch_size=_batch_size(problem, group, run),
            lipschitz=scale * (group.lipschitz or problem.lipschitz),
            target=_target(problem, group),
        )
        for place, (group, scale) in enumerate(zip(problem.client_groups, scales_of(problem), strict=True))
    )


def start_of_run(problem: MiniBatchProblem, objective: Objective, *, gap: float | None = None) -> Start:
    """What the start gives: the objective is the mean of the weighted losses, and their Lipschitz constants' mean its.

    `gap` is the excess risk of the start where the request gives it.
    """
    members = members_of(problem, Run(batch_size=1, rounds=1))
    clients = sum(member.clients for member in members)
    closer = problem.initial_distance is not None and problem.initial_distance < problem.diameter
    return start_of(
        objective,
        distance=min(problem.initial_distance or problem.diameter, problem.diameter),
        distance_symbol="‖w₀ − w*‖" if closer else "D",
        lipschitz=sum((member.clients * Fraction(member.lipschitz) for member in members), Fraction(0)) / clients,
        strong_convexity=min(scales_of(problem)) * problem.strong_convexity,
        gap=gap,
    )


def only_member(problem: MiniBatchProblem, run: Run) -> Member:
    """All clients, of a request that does not tell groups of them apart."""
    (member,) = members_of(problem, run)
    return member


def _batch_size(problem: MiniBatchProblem, group: ClientGroupRequest, run: Run) -> int:
    """As given, or the share of the records that the run's batch is of the request's, to the nearest (F-07)."""
    if problem.sampling == "full":
        return group.samples_per_client
    return group.batch_at(batch_size=run.batch_size, samples_per_client=problem.samples_per_client)


def _target(problem: MiniBatchProblem, group: ClientGroupRequest) -> Target:
    given = (problem.delta, problem.log10_delta)
    own = (group.delta, group.log10_delta)
    delta, log10_delta = given if own == (None, None) else own
    return Target.of(group.epsilon or problem.epsilon, delta, log10_delta)


def release_of(problem: MiniBatchProblem, member: Member, rounds: int) -> Release:
    """What a member releases, alike for members whose noise multiplier must be the same."""
    amplified = problem.unit == "record" and problem.sampling != "full"
    return Release(
        target=member.target,
        rounds=rounds,
        population=member.samples_per_client if amplified else None,
        batch_size=member.batch_size if amplified else None,
    )


def contribution_norm(problem: MiniBatchProblem, member: Member) -> float:
    """Bound on the ℓ2 norm of one protected contribution to the mean of K gradients.

    L/K for a record; for a client that of its whole message (a Poisson batch may hold all n records).
    """
    record = member.lipschitz / member.batch_size
    if problem.unit == "record":
        return record
    return record * (member.samples_per_client if problem.sampling == "poisson" else member.batch_size)


def root_mean_square(values: tuple[tuple[float, int], ...]) -> float:
    """Over clients, of (value, clients) pairs."""
    clients = sum(count for _, count in values)
    largest = max(value for value, _ in values)
    return largest * math.sqrt(math.fsum(count / clients * (value / largest) ** 2 for value, count in values))


def federation_of(problem: MiniBatchProblem, members: tuple[Member, ...]) -> Federation:
    """The clients as the printed statements see them; members that these cannot tell apart are one group."""
    counted: dict[tuple[int, int, float, float], int] = {}
    for member in members:
        target = member.target
        key = (member.samples_per_client, member.batch_size, target.epsilon, target.log_delta)
        counted[key] = counted.get(key, 0) + member.clients
    groups = tuple(
        ClientGroup(clients=count, samples_per_client=n, batch_size=batch, epsilon=epsilon, log_delta=log_delta)
        for (n, batch, epsilon, log_delta), count in counted.items()
    )
    return Federation(groups=groups, counts=problem.counts)

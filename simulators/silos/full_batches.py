"""Projected SGD over several passes: in each round some machines send the noisy mean gradient of all their records."""

from __future__ import annotations

import numpy as np

from epsilond.simulators.silos.single_pass import Floats, LabelledRecords, SinglePass, into_ball, mean_gradients


def balanced_schedule(machines: int, participants: int, rounds: int, generator: np.random.Generator) -> list[list[int]]:
    """Choose the machines of each round at random, so that their numbers of reports differ by at most one.

    Machines take part in passes. In each pass every machine takes part once, in a new random order. If a pass ends
    within a round, machines of the next pass that are not yet in this round fill it.

    Args:
        machines: number M of machines.
        participants: number m of machines in a round, at most M.
        rounds: number of rounds.
        generator: source of the order.

    Returns:
        Indices of the machines in each round.
    """
    queue: list[int] = []
    schedule = []
    for _ in range(rounds):
        # First take machines that have not yet taken part in the current pass.
        members = [queue.pop(0) for _ in range(min(participants, len(queue)))]
        missing = participants - len(members)
        # If they do not suffice, begin the next pass with machines that are not in this round yet.
        if missing:
            candidates = [machine for machine in generator.permutation(machines).tolist() if machine not in members]
            new_members = candidates[:missing]
            members += new_members
            queue = [machine for machine in generator.permutation(machines).tolist() if machine not in new_members]
        schedule.append(members)
    return schedule


def noisy_full_batches(
    records: LabelledRecords,
    settings: SinglePass,
    *,
    rounds: int,
    step_sizes: Floats,
    noise_std: float,
    generator: np.random.Generator,
) -> Floats:
    """Run Algorithm 1 of Lowy and Razaviyayn with full batches once per step size, and return the mean models.

    In each round some machines report the mean gradient of all their records, with Gaussian noise. The server makes one
    step against the mean of the reports, and projects the model onto the ball. Runs differ only in the step size; they
    have the same machines and the same noise.

    Args:
        records: records of all machines, one machine after another.
        settings: machines, participants and ball.
        rounds: number of rounds.
        step_sizes: step size of each of S runs, (S).
        noise_std: standard deviation of each coordinate of a report's noise.
        generator: source of participation and noise.

    Returns:
        The mean of the models after each round, for each run, (S, d, classes), for d features.
    """
    shape = (records.features.shape[1], settings.classes)
    size = len(records.labels) // settings.machines
    model = np.zeros((len(step_sizes), *shape), dtype=np.float32)
    total = np.zeros_like(model)
    std_of_mean_noise = np.float32(noise_std / np.sqrt(settings.participants))
    for members in balanced_schedule(settings.machines, settings.participants, rounds, generator):
        noise = std_of_mean_noise * generator.standard_normal(shape, dtype=np.float32)
        gradient = np.repeat(noise[None], len(step_sizes), axis=0)
        for machine in members:
            rows = slice(machine * size, (machine + 1) * size)
            own_gradient = mean_gradients(model, records.features[rows], records.labels[rows])
            gradient += own_gradient / np.float32(len(members))
        model = into_ball(model - step_sizes[:, None, None] * gradient, settings.radius)
        total += model
    return total / np.float32(rounds)

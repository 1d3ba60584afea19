"""Membership inference as a kind of simulation: trainings in blocks, then attacks on all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from epsilond.accountants.account import account
from epsilond.calibrators.answer import Ends
from epsilond.simulators.memberships.training import Members, TrainedRuns, train
from epsilond.simulators.seeds import generators
from epsilond.witness.kind import SimulationKind, SimulationPlan
from epsilond.witness.memberships.answer import MembershipAnswer
from epsilond.witness.memberships.request import MembershipSimulation
from epsilond.witness.memberships.verdict import concatenate_runs, draw_inclusions, make_answer

NUMBERS_A_SECOND = 4e7
"""Array entries that the rounds of a training read in one second on one core."""
SECONDS_A_ROUND = 3e-4
"""Additional time of a round of a block, in seconds."""
SECONDS_A_RUN_AND_ROUND = 2e-5
"""Additional time of each run in a round of its block, in seconds."""
BYTES_PER_ENTRY = 48
"""Memory of an array entry of one round with its copies, in bytes."""
BYTES_PER_NUMBER = 24
"""Memory that a run keeps until the end for each weight of its model and for each canary, in bytes."""
BLOCK_NUMBERS = 1e8
"""Largest number of array entries that one block reads; they take seconds."""
BLOCK_ENTRIES = 3e6
"""Largest number of array entries of one round in memory at once, unless a single run has more."""
LEAST_SECONDS = 0.2
"""Time for the certificate and the attacks, in seconds."""


@dataclass(frozen=True)
class PreparedMembership:
    """Membership inference that is ready to run.

    Attributes:
        request: the request.
        certified: certified bounds on ε at the requested δ.
        block: number of trainings in each block; the last block may have fewer.
        members: number of ordinary records or clients in the data, which are not canaries (inserted to be detected).
    """

    request: MembershipSimulation
    certified: Ends
    block: int
    members: int


def block_runs(request: MembershipSimulation) -> int:
    """Return the number of trainings that are computed together, as a block.

    The arrays of a block in one round have at most `BLOCK_ENTRIES` entries, which limits memory. Those of all rounds
    have at most `BLOCK_NUMBERS`, which limits time. A block has at least one training, which may have more.

    Args:
        request: the membership inference.

    Returns:
        An integer from 1 to the number of all trainings. It depends only on the request, not on the machine.
    """
    entries = request.training.entries  # of one training in one round
    most_in_memory = BLOCK_ENTRIES / entries
    most_in_time = BLOCK_NUMBERS / (entries * request.training.rounds)
    largest = int(min(most_in_memory, most_in_time))
    return max(1, min(request.runs + request.references, largest))


def plan(request: MembershipSimulation) -> SimulationPlan:
    """Estimate the number of blocks, the time and the memory of all trainings of a membership inference.

    The trainings are the attacked runs and the reference runs. A block is a number of trainings that run together.

    Args:
        request: the membership inference.
    """
    training = request.training
    runs = request.runs + request.references
    block_size = block_runs(request)
    blocks = math.ceil(runs / block_size)
    # Most of the time is proportional to the array entries. Each round of a block and of a run adds a fixed time.
    seconds = (
        LEAST_SECONDS
        + request.work / NUMBERS_A_SECOND
        + blocks * training.rounds * SECONDS_A_ROUND
        + runs * training.rounds * SECONDS_A_RUN_AND_ROUND
    )

    # The memory holds one round of a block, and the results of all runs until the end.
    stored_numbers_of_run = training.canaries + training.problem.build().dimension
    round_bytes = BYTES_PER_ENTRY * block_size * training.entries
    result_bytes = BYTES_PER_NUMBER * runs * stored_numbers_of_run
    return SimulationPlan(blocks=blocks, seconds=seconds, bytes=int(round_bytes + result_bytes))


def prepare(request: MembershipSimulation) -> PreparedMembership:
    """Certify the ε of the attacked training, with which the attacks are compared.

    Args:
        request: the membership inference.

    Returns:
        The request, with the certified bounds on ε.

    Raises:
        NoCertificate: no theorem covers the training.
    """
    training = request.training
    certificate = account(training.spec, relation="add-or-remove-one", unit=training.unit, observer="released-models")
    certified = Ends.of(certificate.guarantee.curve.epsilon(request.log_delta))
    ordinary_members = len(Members.of(training).ordinary.targets)
    return PreparedMembership(request, certified, block_runs(request), ordinary_members)


def run_block(prepared: PreparedMembership, index: int) -> TrainedRuns:
    """Run the trainings of one block of a membership inference, each with its own random generator.

    Args:
        prepared: the request with its certificate.
        index: index of the block, from 0.

    Returns:
        For each training, which canaries it included, its final model, and the attackers' statistics.
    """
    request = prepared.request
    first = index * prepared.block
    last = min(first + prepared.block, request.runs + request.references)
    # The number of a run, which seeds its generator, counts through all blocks.
    numbers = range(first, last)
    streams = generators(request.seed, numbers)
    inclusions = draw_inclusions(request, numbers, streams)
    return train(request.training, streams, inclusions)


def assemble(
    request: MembershipSimulation, prepared: PreparedMembership, blocks: Sequence[TrainedRuns]
) -> MembershipAnswer:
    """Attack the first `request.runs` trained runs, and compare the lower bounds on ε with the certified ε.

    Each attack guesses which canaries, inserted records or clients, were in the data of a training. The remaining runs
    are reference runs, which calibrate attacks by likelihood ratios.

    Args:
        request: the attacks to make, with their δ and confidence level.
        prepared: the request with its certificate and the number of ordinary members.
        blocks: the trainings of all blocks, in order.

    Returns:
        The answer, with one entry for each attack.
    """
    return make_answer(request, prepared.certified, prepared.members, concatenate_runs(blocks))


EXAMPLE = {
    "kind": "membership",
    "training": {
        "problem": {"kind": "logistic", "clients": 10, "samples_per_client": 20, "dimension": 200},
        "unit": "record",
        "rounds": 20,
        "clipping_norm": 1.0,
        "noise_multiplier": 2.0,
        "step_size": 0.5,
        "canary": "gradient",
        "canaries": 200,
    },
    "runs": 4,
    "delta": 1e-5,
}

MEMBERSHIP = SimulationKind(
    request=MembershipSimulation,
    plan=plan,
    prepare=prepare,
    run_block=run_block,
    assemble=assemble,
    answer=MembershipAnswer,
    size="runs",
    example=EXAMPLE,
)

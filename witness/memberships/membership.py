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
"""Numbers that the rounds of a training read in one second on one core."""
SECONDS_A_ROUND = 3e-4
"""Time of a round of a block without its numbers, in seconds."""
SECONDS_A_RUN_AND_ROUND = 2e-5
"""Time of each run in a round of its block without its numbers, in seconds."""
BYTES_PER_ENTRY = 48
"""Memory of a number of one round while a block is computed, in bytes: the number and copies of it."""
BYTES_PER_NUMBER = 24
"""Memory of a weight of the model, or of a canary, that is stored for each run until the end, in bytes."""
BLOCK_NUMBERS = 1e8
"""Most numbers that one block reads; they take seconds."""
BLOCK_ENTRIES = 3e6
"""Most numbers of one round in memory at once, unless one run has more."""
LEAST_SECONDS = 0.2
"""Time for the certificate and the attacks, in seconds."""


@dataclass(frozen=True)
class PreparedMembership:
    """A membership inference that is ready to run.

    Attributes:
        request: the request.
        certified: certified enclosure of ε at the requested δ.
        block: number of trainings in each block; the last block may have fewer.
        members: number of members of the data that are not canaries.
    """

    request: MembershipSimulation
    certified: Ends
    block: int
    members: int


def block_runs(request: MembershipSimulation) -> int:
    """Return the number of trainings in a block, limited by the memory of a round and the time of a block.

    The number depends only on the request, so that the same request always gives the same answer.
    """
    entries = request.training.entries
    largest = min(BLOCK_ENTRIES / entries, BLOCK_NUMBERS / (entries * request.training.rounds))
    return max(1, min(request.runs + request.references, int(largest)))


def plan(request: MembershipSimulation) -> SimulationPlan:
    """Estimate the number of blocks, the time and the memory of all trainings of a membership inference.

    The trainings are the attacked runs and the reference runs.

    A membership inference attacks models, to guess which inserted records were in their training data. A block is a
    number of trainings that run together.

    Args:
        request: the membership inference.

    Returns:
        The number of blocks, the time in seconds on one core, and the memory in bytes.
    """
    block, runs = block_runs(request), request.runs + request.references
    blocks = math.ceil(runs / block)
    training = request.training
    seconds = (
        LEAST_SECONDS
        + request.work / NUMBERS_A_SECOND
        + blocks * training.rounds * SECONDS_A_ROUND
        + runs * training.rounds * SECONDS_A_RUN_AND_ROUND
    )
    numbers_of_run = training.canaries + training.problem.build().dimension
    memory = BYTES_PER_ENTRY * block * training.entries + BYTES_PER_NUMBER * runs * numbers_of_run
    return SimulationPlan(blocks=blocks, seconds=seconds, bytes=int(memory))


def prepare(request: MembershipSimulation) -> PreparedMembership:
    """Certify the ε of the attacked training, with which the attacks are compared.

    Args:
        request: the membership inference.

    Returns:
        The request with the certified bounds on ε, and the number of records or clients that are not canaries (inserted
        to be detected).

    Raises:
        NoCertificate: no theorem covers the training; nothing is drawn then.
    """
    certificate = account(
        request.training.spec, relation="add-or-remove-one", unit=request.training.unit, observer="released-models"
    )
    members = len(Members.of(request.training).ordinary.targets)
    return PreparedMembership(
        request, Ends.of(certificate.guarantee.curve.epsilon(request.log_delta)), block_runs(request), members
    )


def run_block(prepared: PreparedMembership, index: int) -> TrainedRuns:
    """Run the trainings of one block, each from its own generator.

    Args:
        prepared: the request with its certificate.
        index: index of the block.

    Returns:
        The included canaries, the models and the attackers' statistics of these trainings.
    """
    request, first = prepared.request, index * prepared.block
    numbers = range(first, min(first + prepared.block, request.runs + request.references))
    streams = generators(request.seed, numbers)
    return train(request.training, streams, draw_inclusions(request, numbers, streams))


def assemble(
    request: MembershipSimulation, prepared: PreparedMembership, blocks: Sequence[TrainedRuns]
) -> MembershipAnswer:
    """Attack all trained runs, and compare the resulting lower bounds on ε with the certified ε.

    Args:
        request: the attacks to make, with their δ and confidence level.
        prepared: the request with its certificate and the number of ordinary members.
        blocks: the trainings of all blocks, in order.
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

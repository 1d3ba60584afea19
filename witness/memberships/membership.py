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
from epsilond.witness.memberships.verdict import answered, half_in, joined

NUMBERS_A_SECOND = 4e7
"""Read in the rounds of one core."""
SECONDS_A_ROUND = 3e-4
"""Of a block, beside the numbers."""
BLOCK_NUMBERS = 1e8
"""Read in one block: seconds."""
BLOCK_ENTRIES = 3e6
"""Numbers of one round that are held at one time, unless one run has more."""
LEAST_SECONDS = 0.2


@dataclass(frozen=True)
class PreparedMembership:
    """A membership inference with what is certified, the runs of a block and the number of ordinary members."""

    asked: MembershipSimulation
    certified: Ends
    block: int
    members: int


def block_runs(asked: MembershipSimulation) -> int:
    """Runs side by side, from the request alone."""
    entries = asked.training.entries
    most = min(BLOCK_ENTRIES / entries, BLOCK_NUMBERS / (entries * asked.training.rounds))
    return max(1, min(asked.runs + asked.references, int(most)))


def plan(asked: MembershipSimulation) -> SimulationPlan:
    """All runs and references."""
    block, runs = block_runs(asked), asked.runs + asked.references
    blocks = math.ceil(runs / block)
    training = asked.training
    return SimulationPlan(
        blocks=blocks,
        seconds=LEAST_SECONDS
        + asked.work / NUMBERS_A_SECOND
        + blocks * training.rounds * SECONDS_A_ROUND
        + runs * training.rounds * 2e-5,
        bytes=int(48 * block * training.entries + 24 * runs * (training.canaries + training.problem.build().dimension)),
    )


def prepare(asked: MembershipSimulation) -> PreparedMembership:
    """What is certified: a training that no theorem covers is refused before anything is drawn."""
    accounted = account(
        asked.training.spec, relation="add-or-remove-one", unit=asked.training.unit, observer="released-models"
    )
    members = len(Members.of(asked.training).ordinary.targets)
    return PreparedMembership(
        asked, Ends.of(accounted.guarantee.curve.epsilon(asked.log_delta)), block_runs(asked), members
    )


def run_block(ready: PreparedMembership, index: int) -> TrainedRuns:
    """Some of the runs, each from a generator of its own."""
    asked, first = ready.asked, index * ready.block
    numbers = range(first, min(first + ready.block, asked.runs + asked.references))
    drawn = generators(asked.seed, numbers)
    return train(asked.training, drawn, half_in(asked, numbers, drawn))


def assemble(asked: MembershipSimulation, ready: PreparedMembership, blocks: Sequence[TrainedRuns]) -> MembershipAnswer:
    """The attacks on all runs."""
    return answered(asked, ready.certified, ready.members, joined(blocks))


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

"""Audits as a kind of simulation: attack a mechanism, and compare the bounds with its certificate.

The attack (`simulators.audits`) uses the spec and its noise, and no theorem. The certificate comes from the accountant,
and uses no sample. Only this module uses both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.calibrators.answer import Ends
from epsilond.simulators.audits.worlds import FIRST, SECOND, AuditTarget, Floats
from epsilond.simulators.seeds import generators
from epsilond.witness.audits.answer import AuditAnswer
from epsilond.witness.audits.certificate import certify
from epsilond.witness.audits.request import AuditSimulation
from epsilond.witness.audits.verdict import make_answer
from epsilond.witness.kind import SimulationKind, SimulationPlan

BLOCK_SAMPLES = 65_536
"""Most samples of a block on each data set."""
BLOCK_NUMBERS = 4e7
"""Random numbers of a block for one data set; they take one or two seconds."""
SECONDS_PER_NUMBER = 6e-8
"""Time for one random number on one core, in seconds."""
LEAST_SECONDS = 0.2
"""Time for the certificate and the bounds from the samples, in seconds."""
BYTES_PER_CELL = 200
"""Memory of one sample during its computation, in bytes: its densities under three hypotheses and their inputs."""
CELLS_AT_ONCE = 500_000
"""Most cells of whole batches or reports in memory at once."""


@dataclass(frozen=True)
class PreparedAudit:
    """An audit that is ready to run: its attack, the sizes of its blocks of samples, and the certified ε.

    An audit runs a mechanism on two neighbouring data sets, and proves a lower bound on ε from an attacker's success.

    Attributes:
        target: the attack, which draws outputs on both data sets.
        sizes: number of samples on each data set, for each block. Blocks can run in parallel.
        seed: seed of all samples.
        certified: certified lower and upper bound on ε at the audit's δ, in nats.
    """

    target: AuditTarget
    sizes: tuple[int, ...]
    seed: int
    certified: Ends


@dataclass(frozen=True)
class Losses:
    """The attacker's statistics of one block of samples on two neighbouring data sets.

    From each output of the mechanism the attacker computes one number, the statistic, by which it guesses the data set.

    Attributes:
        first: one value for each run on the first data set.
        second: one value for each run on the second data set.
    """

    first: Floats
    second: Floats


def block_sizes(samples: int, work: float) -> tuple[int, ...]:
    """Divide the samples of an audit into blocks that can run in parallel, and return the size of each.

    The division depends only on the request, so that it is reproducible.

    Args:
        samples: number of samples on each data set, at least 1.
        work: number of random numbers that one sample takes.

    Returns:
        The numbers of samples of the blocks on each data set. Only the last one may be smaller than the others.
    """
    # On one data set, a block draws at most `BLOCK_NUMBERS` random numbers, but at least one sample.
    most_in_time = int(BLOCK_NUMBERS / max(work, 1.0))
    size = max(1, min(BLOCK_SAMPLES, most_in_time))
    full_blocks, remainder = divmod(samples, size)
    sizes = (size,) * full_blocks
    if remainder:
        sizes = (*sizes, remainder)
    return sizes


def plan(request: AuditSimulation) -> SimulationPlan:
    """Estimate the blocks, the time and the memory of an audit before it runs.

    The attacker's statistics of all samples on both data sets are stored until the end.

    Args:
        request: the audit.

    Returns:
        The number of blocks of samples, the time in seconds on one core, and the memory in bytes.

    Raises:
        InvalidInput: no attack is known for the spec in this setting.
    """
    work = request.target().work
    sizes = block_sizes(request.samples, work)
    random_numbers = 2 * request.samples * work
    seconds = LEAST_SECONDS + random_numbers * SECONDS_PER_NUMBER

    # A block has at least one number for each sample, and more if whole batches or reports are drawn.
    largest_block = sizes[0]
    drawn_at_once = min(CELLS_AT_ONCE, int(largest_block * work))
    cells_at_once = max(largest_block, drawn_at_once)
    block_bytes = BYTES_PER_CELL * cells_at_once
    statistics_bytes = 16 * request.samples  # a double of 8 bytes for each sample on each data set
    return SimulationPlan(blocks=len(sizes), seconds=seconds, bytes=block_bytes + statistics_bytes)


def prepare(request: AuditSimulation) -> PreparedAudit:
    """Build the attack of an audit, and certify the ε that the lower bounds are compared with.

    Nothing is drawn yet.

    Args:
        request: the audit.

    Returns:
        The attack with the sizes of its blocks and the certified bounds on ε.

    Raises:
        NoCertificate: no theorem covers the spec in this setting.
        InvalidInput: no attack is known for the spec in this setting.
    """
    target = request.target()
    sizes = block_sizes(request.samples, target.work)
    return PreparedAudit(target, sizes, request.seed, certify(request))


def run_block(prepared: PreparedAudit, index: int) -> Losses:
    """Run the mechanism on both neighbouring data sets for one block of samples, and return the attacker's statistics.

    The block has its own random generator, so that its samples do not depend on other blocks.

    Args:
        prepared: the audit.
        index: index of the block, from 0.
    """
    (generator,) = generators(prepared.seed, [index])
    samples = prepared.sizes[index]
    first = prepared.target.statistics(generator, samples, FIRST)
    second = prepared.target.statistics(generator, samples, SECOND)
    return Losses(first, second)


def assemble(request: AuditSimulation, prepared: PreparedAudit, blocks: Sequence[Losses]) -> AuditAnswer:
    """Compute the lower bounds on ε from all samples, and compare them with the certified ε.

    The lower bounds follow from the error rates of an attacker who guesses the data set from the output.

    Args:
        request: the audit, with its δ and its confidence level.
        prepared: the audit with its certificate.
        blocks: the attacker's statistics in all blocks, in order.

    Returns:
        The answer, with the lower bounds, the certified bounds and the verdict.
    """
    first = np.concatenate([block.first for block in blocks])
    second = np.concatenate([block.second for block in blocks])
    return make_answer(request, prepared.certified, first, second)


EXAMPLE = {
    "kind": "audit",
    "spec": {"kind": "gaussian", "noise_multiplier": 1.0},
    "relation": "add-or-remove-one",
    "unit": "record",
    "observer": "released-models",
    "delta": 1e-5,
    "samples": 100_000,
}

AUDIT = SimulationKind(
    request=AuditSimulation,
    plan=plan,
    prepare=prepare,
    run_block=run_block,
    assemble=assemble,
    answer=AuditAnswer,
    size="samples",
    example=EXAMPLE,
)


def run(request: AuditSimulation) -> AuditAnswer:
    """Run the whole audit in this process, block by block.

    An audit attacks a mechanism, and compares the lower bounds on ε that this proves with the certified ε.

    Args:
        request: the audit.

    Returns:
        The answer. It is the same if the blocks run in several processes.

    Raises:
        NoCertificate: no theorem covers the spec in this setting.
        InvalidInput: no attack is known for the spec in this setting.
    """
    prepared = prepare(request)
    blocks = [run_block(prepared, index) for index in range(len(prepared.sizes))]
    return assemble(request, prepared, blocks)

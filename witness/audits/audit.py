"""An audit: a mechanism is attacked where it runs, and what the attack proves of ε stands beside what is certified.

The attack (`simulators.audits`) knows the spec and its noise, and no theorem. The certified interval comes from the
accountant, and no sample. Only here do they meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.calibrators.answer import Ends
from epsilond.simulators.audits.worlds import FIRST, SECOND, AuditTarget, Floats
from epsilond.simulators.seeds import generators
from epsilond.witness.audits.answer import AuditAnswer
from epsilond.witness.audits.certificate import certified
from epsilond.witness.audits.request import AuditSimulation
from epsilond.witness.audits.verdict import audited
from epsilond.witness.kind import SimulationKind, SimulationPlan

BLOCK_SAMPLES = 65_536
BLOCK_NUMBERS = 4e7
"""Random numbers of one side of a block: a second or two."""
SECONDS_PER_NUMBER = 6e-8
LEAST_SECONDS = 0.2
"""The certificate, and bounds from the samples."""
BYTES_PER_CELL = 200
"""Of one sample while it is made: its densities in three worlds and what they are computed from."""
CELLS_AT_ONCE = 500_000
"""Most cells of whole batches or reports that are held at once."""


@dataclass(frozen=True)
class PreparedAudit:
    """An audit with its target, the sizes of its blocks, and what is certified of it."""

    target: AuditTarget
    sizes: tuple[int, ...]
    seed: int
    certified: Ends


@dataclass(frozen=True)
class Losses:
    """One block: the statistic on either data set."""

    first: Floats
    second: Floats


def block_sizes(samples: int, work: float) -> tuple[int, ...]:
    """Samples of each block, from the request alone: small enough for seconds, and for little memory."""
    size = max(1, min(BLOCK_SAMPLES, int(BLOCK_NUMBERS / max(work, 1.0))))
    full, rest = divmod(samples, size)
    return (size,) * full + ((rest,) if rest else ())


def plan(asked: AuditSimulation) -> SimulationPlan:
    """Two data sets, each sampled; the statistics of all blocks are kept until the end, 16 bytes a sample."""
    work = asked.target().work
    sizes = block_sizes(asked.samples, work)
    return SimulationPlan(
        blocks=len(sizes),
        seconds=LEAST_SECONDS + 2 * asked.samples * work * SECONDS_PER_NUMBER,
        bytes=BYTES_PER_CELL * max(sizes[0], min(CELLS_AT_ONCE, int(sizes[0] * work))) + 16 * asked.samples,
    )


def prepare(asked: AuditSimulation) -> PreparedAudit:
    """The target, and what is certified: a spec that no theorem covers is refused before anything is drawn."""
    attacked = asked.target()
    return PreparedAudit(attacked, block_sizes(asked.samples, attacked.work), asked.seed, certified(asked))


def run_block(ready: PreparedAudit, index: int) -> Losses:
    """Both data sets, from the block's own generator."""
    (generator,) = generators(ready.seed, [index])
    count = ready.sizes[index]
    return Losses(ready.target.statistics(generator, count, FIRST), ready.target.statistics(generator, count, SECOND))


def assemble(asked: AuditSimulation, ready: PreparedAudit, blocks: Sequence[Losses]) -> AuditAnswer:
    """Bounds from all samples, and the verdict."""
    first = np.concatenate([block.first for block in blocks])
    second = np.concatenate([block.second for block in blocks])
    return audited(asked, ready.certified, first, second)


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


def run(asked: AuditSimulation) -> AuditAnswer:
    """The whole audit, here and now."""
    ready = prepare(asked)
    return assemble(asked, ready, [run_block(ready, index) for index in range(len(ready.sizes))])

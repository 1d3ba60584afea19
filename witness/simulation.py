"""The life of a simulation, whoever runs it: planned, run block by block anywhere, put together, drawn.

A block is a set of repetitions (or samples) decided by the request alone. Any number of workers, in any order,
give the same result, bit by bit; progress is counted in blocks, and a cancelled job loses no more than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epsilond.witness.kind import Prepared, SimulationPlan, kind_of
from epsilond.witness.kinds import KINDS
from epsilond.witness.one_thread import one_thread


def plan(request: object) -> SimulationPlan:
    """What it will cost: from the request alone, in the time that its problems take to build."""
    return kind_of(request, KINDS).plan(request)


def prepare(request: object) -> Prepared:
    """Make it ready to run; this may take as long as a calibration."""
    kind = kind_of(request, KINDS)
    with one_thread():
        return Prepared(request, kind.plan(request), kind.prepare(request))


def run_block(prepared: Prepared, index: int) -> object:
    """One block of it, 0 ≤ index < plan.blocks, in seconds rather than minutes."""
    # Sums of a threaded BLAS depend on the number of its threads.
    with one_thread():
        return kind_of(prepared.request, KINDS).run_block(prepared.resolved, index)


def assemble(prepared: Prepared, blocks: Sequence[object]) -> Any:
    """The answer, from all blocks in order; bounds and certificates are computed here, beside the measurements."""
    return kind_of(prepared.request, KINDS).assemble(prepared.request, prepared.resolved, blocks)

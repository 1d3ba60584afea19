"""The stages of every simulation: plan, prepare, run block by block in any process, and assemble.

A block is a set of repetitions or samples. It depends only on the request. Any number of workers, in any order, gives
the same result, bit by bit. Progress is counted in blocks, and a cancelled job loses at most one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epsilond.witness.kind import Prepared, SimulationPlan, kind_of
from epsilond.witness.kinds import KINDS
from epsilond.witness.one_thread import one_thread


def plan(request: object) -> SimulationPlan:
    """Estimate the cost of the request; this takes as long as building its problems."""
    return kind_of(request, KINDS).plan(request)


def prepare(request: object) -> Prepared:
    """Prepare the request to run; this may take as long as a calibration."""
    kind = kind_of(request, KINDS)
    with one_thread():
        return Prepared(request, kind.plan(request), kind.prepare(request))


def run_block(prepared: Prepared, index: int) -> object:
    """Run one block; this takes seconds, not minutes.

    Args:
        prepared: the prepared request.
        index: index of the block, 0 ≤ index < plan.blocks.
    """
    # Sums of a threaded BLAS depend on the number of its threads.
    with one_thread():
        return kind_of(prepared.request, KINDS).run_block(prepared.resolved, index)


def assemble(prepared: Prepared, blocks: Sequence[object]) -> Any:
    """Assemble the answer, and compute the bounds and certificates that the measurements are compared with.

    Args:
        prepared: the prepared request.
        blocks: all blocks in order.
    """
    return kind_of(prepared.request, KINDS).assemble(prepared.request, prepared.resolved, blocks)

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
    """Estimate the cost of a simulation before it starts, after building its learning problems.

    Args:
        request: request of any kind of simulation.

    Returns:
        The number of blocks, the time in seconds, and the memory of one block in bytes.

    Raises:
        InvalidInput: the request cannot be run.
    """
    return kind_of(request, KINDS).plan(request)


def prepare(request: object) -> Prepared:
    """Prepare a request for a simulation to run, which includes the calibration of its noise.

    The calibration uses one thread, so that its result does not depend on the number of cores.

    Args:
        request: request of any kind of simulation.

    Returns:
        The request with its plan and its prepared form, which can be sent to other processes.

    Raises:
        InvalidInput: the request cannot be run.
        NoCertificate: no noise can be certified for its target.
    """
    kind = kind_of(request, KINDS)
    with one_thread():
        simulation_plan = kind.plan(request)
        return Prepared(request, simulation_plan, kind.prepare(request))


def run_block(prepared: Prepared, index: int) -> object:
    """Run one block of a simulation; this takes seconds, not minutes.

    A block is a part of the repetitions or samples. It uses one thread, because sums of a threaded linear algebra
    library (BLAS) depend on the number of its threads.

    Args:
        prepared: the prepared request.
        index: index of the block, 0 ≤ index < plan.blocks.

    Returns:
        The plain data of the block, for `assemble`.
    """
    kind = kind_of(prepared.request, KINDS)
    with one_thread():
        return kind.run_block(prepared.resolved, index)


def assemble(prepared: Prepared, blocks: Sequence[object]) -> Any:
    """Assemble the answer, which compares the measurements with bounds and certificates.

    Args:
        prepared: the prepared request.
        blocks: the data of all blocks, in order.

    Returns:
        The answer, an instance of the answer class of the simulation's kind.
    """
    kind = kind_of(prepared.request, KINDS)
    return kind.assemble(prepared.request, prepared.resolved, blocks)

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
    """Estimate the cost of a simulation before it starts.

    Args:
        request: request of any kind of simulation.

    Returns:
        The number of blocks, the time in seconds, and the memory of one block in bytes.

    Raises:
        InvalidInput: the request cannot be run.
    """
    return kind_of(request, KINDS).plan(request)


def prepare(request: object) -> Prepared:
    """Prepare a simulation for its run: estimate its cost, calibrate its noise, and check its data.

    One thread is used, so that the calibrated noise does not depend on the number of cores.

    Args:
        request: request of any kind of simulation.

    Returns:
        The request, the estimated cost (`plan`), and the input of `run_block`. It can be sent to other processes.

    Raises:
        InvalidInput: the request cannot be run.
        NoCertificate: no noise can be certified for its target.
    """
    kind = kind_of(request, KINDS)
    with one_thread():
        simulation_plan = kind.plan(request)
        return Prepared(request, simulation_plan, kind.prepare(request))


def run_block(prepared: Prepared, index: int) -> object:
    """Run one block of a simulation, that is, some of its repetitions or samples.

    One thread is used, because sums of a threaded linear algebra library (BLAS) depend on the number of its threads.

    Args:
        prepared: the prepared simulation.
        index: index of the block, 0 ≤ index < prepared.plan.blocks.

    Returns:
        The measurements of the block, for `assemble`.
    """
    kind = kind_of(prepared.request, KINDS)
    with one_thread():
        return kind.run_block(prepared.resolved, index)


def assemble(prepared: Prepared, blocks: Sequence[object]) -> Any:
    """Combine the measurements of all blocks of a simulation into its answer.

    Args:
        prepared: the prepared simulation.
        blocks: results of `run_block` for all blocks, in the order of their indices.

    Returns:
        The answer, with the measurements and, where they exist, the theoretical bounds next to them. Its class belongs
        to the kind of simulation.
    """
    kind = kind_of(prepared.request, KINDS)
    return kind.assemble(prepared.request, prepared.resolved, blocks)

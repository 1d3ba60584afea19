"""Runs of simulations from request to answer, for the tests of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from epsilond.witness import simulation


def run_simulation(request: object, order: Callable[[range], Iterable[int]] = iter) -> Any:
    """Run a simulation in this process, and return its answer.

    Args:
        request: request of any kind of simulation.
        order: function from the range of all blocks to the order in which they run.
    """
    prepared = simulation.prepare(request)
    blocks = {index: simulation.run_block(prepared, index) for index in order(range(prepared.plan.blocks))}
    return simulation.assemble(prepared, [blocks[index] for index in sorted(blocks)])

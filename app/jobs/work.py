"""The steps of a simulation in a worker.

A worker returns the result of a step as bytes. The service passes them to the next step without unpickling them, so
that it knows their size and a large result does not delay the event loop.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from importlib import import_module
from typing import Literal

from epsilond.app.workers.work import RenderedAnswer, render
from epsilond.witness.kind import SimulationKind

Format = Literal["png", "svg"]


def prepare(kind: SimulationKind, request: bytes) -> RenderedAnswer:
    """Prepare a pickled request for its blocks, for example by calibrating the noise, and return the pickled result."""
    return RenderedAnswer(pickle.dumps(kind.prepare(_unpickle(request)), pickle.HIGHEST_PROTOCOL))


def block(kind: SimulationKind, resolved: bytes, index: int) -> RenderedAnswer:
    """Run one block (group of repetitions) of a simulation in a worker, and return its pickled result.

    Args:
        kind: kind of the simulation.
        resolved: the pickled prepared request, as `prepare` returns it.
        index: number of the block, from 0.
    """
    return RenderedAnswer(pickle.dumps(kind.run_block(_unpickle(resolved), index), pickle.HIGHEST_PROTOCOL))


def assemble(kind: SimulationKind, request: bytes, resolved: bytes, blocks: Sequence[bytes]) -> RenderedAnswer:
    """Combine the results of all blocks (groups of repetitions) of a simulation, and return its answer as JSON.

    Args:
        kind: kind of the simulation.
        request: the pickled request.
        resolved: the pickled prepared request, as `prepare` returns it.
        blocks: the pickled results of all blocks in order.
    """
    unpickled = [_unpickle(block) for block in blocks]
    return RenderedAnswer(render(kind.assemble(_unpickle(request), _unpickle(resolved), unpickled)))


def draw_figure(home: str, result: bytes, form: Format) -> RenderedAnswer:
    """Draw the figure of a simulation's result in a worker, and return the bytes of the image.

    Args:
        home: name of the module with the function `draw(result, format)`. It is imported here, because its plotting
            library is slow to import and may not be installed.
        result: the result of the simulation as JSON, in UTF-8.
        form: file format of the image.
    """
    return RenderedAnswer(import_module(home).draw(json.loads(result), form))


def _unpickle(step: bytes) -> object:
    """Return the unpickled result of an earlier step; only workers of this service have written these bytes."""
    return pickle.loads(step)  # noqa: S301

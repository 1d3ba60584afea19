"""The steps of a simulation in a worker.

The answer of a step is pickled in its worker. The service passes the bytes to the next step without unpickling them, so
that it knows their size and a large answer does not delay the event loop.
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
    """Return the pickled preparation of a request by its kind."""
    return RenderedAnswer(pickle.dumps(kind.prepare(_unpickle(request)), pickle.HIGHEST_PROTOCOL))


def block(kind: SimulationKind, resolved: bytes, index: int) -> RenderedAnswer:
    """Run one block (group of repetitions) of a simulation in a worker, and return its pickled result.

    Args:
        kind: kind of the simulation.
        resolved: the pickled simulation with all default values, as `prepare` returns it.
        index: number of the block, from 0.

    Returns:
        The pickled result of the block, in the form in which workers return answers.
    """
    return RenderedAnswer(pickle.dumps(kind.run_block(_unpickle(resolved), index), pickle.HIGHEST_PROTOCOL))


def assemble(kind: SimulationKind, request: bytes, resolved: bytes, blocks: Sequence[bytes]) -> RenderedAnswer:
    """Combine the results of all blocks (groups of repetitions) of a simulation to its answer, rendered as JSON.

    Args:
        kind: kind of the simulation.
        request: the pickled request.
        resolved: the pickled prepared request, for example with calibrated noise.
        blocks: the pickled results of all blocks in order.

    Returns:
        The answer, in the form in which workers return answers.
    """
    unpickled = [_unpickle(block) for block in blocks]
    return RenderedAnswer(render(kind.assemble(_unpickle(request), _unpickle(resolved), unpickled)))


def draw_figure(home: str, result: bytes, form: Format) -> RenderedAnswer:
    """Draw the figure of a simulation's result in a worker, and return its bytes.

    The module is imported here, because its plotting library is slow to import and may not be installed.

    Args:
        home: name of the module with the function `draw(result, format)`.
        result: the result of the simulation as JSON, in UTF-8.
        form: file format of the figure.

    Returns:
        The bytes of the image, in the form in which workers return answers.
    """
    return RenderedAnswer(import_module(home).draw(json.loads(result), form))


def _unpickle(step: bytes) -> object:
    """Return the unpickled answer of an earlier step of this service."""
    return pickle.loads(step)  # noqa: S301

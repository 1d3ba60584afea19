"""What a worker does for a simulation, step by step.

A step's answer is pickled where it is made. The service passes it on to the next step as bytes and never opens it, so
that it counts what it holds exactly and is kept from nothing by what a step made.
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


def prepared(kind: SimulationKind, request: bytes) -> RenderedAnswer:
    """What the kind has made of the request, pickled."""
    return RenderedAnswer(pickle.dumps(kind.prepare(_opened(request)), pickle.HIGHEST_PROTOCOL))


def block(kind: SimulationKind, resolved: bytes, index: int) -> RenderedAnswer:
    """One block, pickled."""
    return RenderedAnswer(pickle.dumps(kind.run_block(_opened(resolved), index), pickle.HIGHEST_PROTOCOL))


def assembled(kind: SimulationKind, request: bytes, resolved: bytes, blocks: Sequence[bytes]) -> RenderedAnswer:
    """The result, rendered as JSON."""
    opened = [_opened(each) for each in blocks]
    return RenderedAnswer(render(kind.assemble(_opened(request), _opened(resolved), opened)))


def drawn(home: str, result: bytes, form: Format) -> RenderedAnswer:
    """The figure of a result, by `draw(result, format)` of module `home`, which is imported where a figure is drawn."""
    return RenderedAnswer(import_module(home).draw(json.loads(result), form))


def _opened(step: bytes) -> object:
    """What an earlier step of our own made; no client can put anything there."""
    return pickle.loads(step)  # noqa: S301

"""Faults of a run or of a calibrator's problem, pointed to where their fields stand in a simulation's request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from epsilond.accountants.errors import Fault, InvalidInput

OWN = ("run", "problem", "epsilon", "delta", "log10_delta")


@contextmanager
def inside(request: object) -> Iterator[None]:
    """Faults raised inside, with pointers into the request: to its run, or else to its problem."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(
            *(Fault(_pointer(request, it.pointer), it.message, it.allowed) for it in error.faults)
        ) from None


def _pointer(request: Any, pointer: str) -> str:
    name = pointer.removeprefix("/").split("/")[0]
    if name in OWN:
        return pointer
    return ("/run" if name in {field.name for field in fields(request.run)} else "/problem") + pointer

"""Conversion of faults of a run or a calibrator's problem to pointers into a simulation's request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from epsilond.accountants.errors import Fault, InvalidInput

OWN_FIELDS = ("run", "problem", "epsilon", "delta", "log10_delta")
"""Fields of the request itself; their pointers need no conversion."""


@contextmanager
def point_into(request: object) -> Iterator[None]:
    """Convert the pointers of faults raised within the context to pointers into the request.

    Args:
        request: request of a simulation with the fields `run` and `problem`.

    Raises:
        InvalidInput: the fault of the context, with converted pointers.
    """
    try:
        yield
    except InvalidInput as error:
        faults = [Fault(_pointer(request, fault.pointer), fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None


def _pointer(request: Any, pointer: str) -> str:
    """Return the pointer into the request: unchanged for its own fields, and below its run or its problem otherwise."""
    name = pointer.removeprefix("/").split("/")[0]
    if name in OWN_FIELDS:
        return pointer
    run_fields = {field.name for field in fields(request.run)}
    parent = "/run" if name in run_fields else "/problem"
    return parent + pointer

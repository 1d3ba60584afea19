"""Conversion of JSON pointers: a fault in a run or a calibrator's problem points into the request of the simulation."""

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
    """Convert the JSON pointers of faults that are raised within the context to pointers into the request.

    A fault names the wrong field by a JSON pointer. Calibrators and theorems point into their own inputs, which the
    sender of the request does not know.

    Args:
        request: request of a simulation with the fields `run` and `problem`.

    Yields:
        Nothing; the context only changes errors.

    Raises:
        InvalidInput: the code within the context raised it. All its faults are kept, with converted pointers.
    """
    try:
        yield
    except InvalidInput as error:
        faults = [Fault(_pointer(request, fault.pointer), fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None


def _pointer(request: Any, pointer: str) -> str:
    """Convert a pointer into the run or the calibrator's problem to a pointer into the request.

    Pointers to fields of the request itself are unchanged. Others get the prefix "/run" if the run has such a field,
    and "/problem" otherwise.

    Args:
        request: the request of a simulation.
        pointer: JSON pointer of the fault.

    Returns:
        The JSON pointer into the request.
    """
    field_name, *_ = pointer.removeprefix("/").split("/")
    if field_name in OWN_FIELDS:
        return pointer
    # A field that the run does not have belongs to the problem.
    run_fields = {field.name for field in fields(request.run)}
    if field_name in run_fields:
        return f"/run{pointer}"
    return f"/problem{pointer}"

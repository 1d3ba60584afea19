"""The record of a run: entries of an Opacus history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Entry = tuple[float, float, int]
"""Noise multiplier, sampling rate, number of steps."""


def append(history: list[Entry], entry: Entry) -> None:
    """Append steps to a history in place. Steps that are like the last entry are added to its count, as in Opacus.

    Args:
        history: entries of a noise multiplier, a sampling rate and a number of steps, which is changed.
        entry: the new steps.
    """
    noise, rate, steps = entry
    if history and tuple(history[-1][:2]) == (noise, rate):
        history[-1] = (noise, rate, history[-1][2] + steps)
    else:
        history.append(entry)


def as_entry(entry: Sequence[Any]) -> Entry:
    """Return an entry of a history as a tuple."""
    noise, rate, steps = entry
    return noise, rate, steps


def extends(record: Sequence[Entry], earlier: Sequence[Entry]) -> bool:
    """Return whether the list of a run's steps begins with all steps of an earlier list.

    The last entry of the earlier list may have more steps now. All others must be unchanged.

    Args:
        record: entries of noise multiplier, sampling rate and number of steps, in their order.
        earlier: such entries at an earlier time of the run.

    Returns:
        True if the record continues the earlier one.
    """
    if not earlier:
        return True
    last = len(earlier) - 1
    if len(record) <= last or list(record[:last]) != list(earlier[:last]):
        return False
    noise, rate, steps = record[last]
    earlier_noise, earlier_rate, earlier_steps = earlier[last]
    return (noise, rate) == (earlier_noise, earlier_rate) and steps >= earlier_steps

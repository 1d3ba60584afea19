"""The processes of a service, as Linux tells of them in /proc: its workers, and the CPU time of each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
"""Ticks of a processor's time in a second."""


def workers_of(process: int) -> list[int]:
    """The workers of the service: the processes that its own processes have started."""
    return [worker for child in children_of(process) for worker in children_of(child)]


def children_of(process: int) -> list[int]:
    """Processes that this one started and that live."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
    return found


def ticks(process: int) -> int:
    """CPU time of a process; -1 if it is not there."""
    try:
        parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return int(parts[11]) + int(parts[12])


def cpu_seconds(processes: Iterable[int]) -> float:
    """CPU seconds of these processes so far, as exactly as ticks are; one that is not there has none."""
    return sum(max(ticks(process), 0) for process in processes) / TICKS

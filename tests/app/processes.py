"""Processes as the kernel tells of them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def gone(process: int) -> bool:
    """Whether a process is not there any more."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def descendants(process: int) -> list[int]:
    """The processes that this one has started, with those that they have started, and so on."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def descriptors(process: int) -> int:
    """How many descriptors a process has open."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))

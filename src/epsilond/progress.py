"""Callbacks for the progress of long work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Function that is called with the number of finished parts, and the number of parts."""


def in_silence(done: int, total: int) -> None:
    """Show no progress: a function to pass where a report of progress is expected."""

"""How whoever waits for long work learns how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with how many parts are done, and of how many."""


def in_silence(done: int, total: int) -> None:
    """Progress that is not shown."""

"""Work of no meaning that tests give to workers. Workers import this module, so that it imports little."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from epsilond.app.workers.work import RenderedAnswer


def told(text: str) -> RenderedAnswer:
    """Answers at once."""
    return RenderedAnswer(text.encode())


def told_by(_: str) -> RenderedAnswer:
    """Answers with the process it ran in and that one's priority."""
    return RenderedAnswer(f"{os.getpid()} {os.getpriority(os.PRIO_PROCESS, 0)}".encode())


def held(diary: Path, name: str) -> RenderedAnswer:
    """Writes its name and process into a diary, then waits until a file of its name is there."""
    with diary.open("a") as lines:
        lines.write(f"{name} {os.getpid()}\n")
    while not (diary.parent / name).exists():
        time.sleep(0.005)
    return RenderedAnswer(name.encode())


def dies(diary: Path, times: int) -> RenderedAnswer:
    """Kills its process, until it has done so this many times."""
    before = len(diary.read_text()) if diary.exists() else 0
    if before < times:
        with diary.open("a") as lines:
            lines.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return RenderedAnswer(b"survived")


def spends(seconds: float) -> RenderedAnswer:
    """Uses so much processor time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return RenderedAnswer(b"spent")


def spins() -> RenderedAnswer:
    """Never ends, and never lets go of the interpreter."""
    return RenderedAnswer(str(sum(iter(int, 1))).encode())

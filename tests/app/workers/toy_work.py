"""Work of no meaning that tests give to workers. Workers import this module, so that it imports little."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from epsilond.app.workers.work import Answered


def told(text: str) -> Answered:
    """Answers at once."""
    return Answered(text.encode())


def told_by(_: str) -> Answered:
    """Answers with the process it ran in and that one's priority."""
    return Answered(f"{os.getpid()} {os.getpriority(os.PRIO_PROCESS, 0)}".encode())


def held(diary: Path, name: str) -> Answered:
    """Writes its name and process into a diary, then waits until a file of its name is there."""
    with diary.open("a") as lines:
        lines.write(f"{name} {os.getpid()}\n")
    while not (diary.parent / name).exists():
        time.sleep(0.005)
    return Answered(name.encode())


def dies(diary: Path, times: int) -> Answered:
    """Kills its process, until it has done so this many times."""
    before = len(diary.read_text()) if diary.exists() else 0
    if before < times:
        with diary.open("a") as lines:
            lines.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return Answered(b"survived")


def spends(seconds: float) -> Answered:
    """Uses so much processor time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return Answered(b"spent")


def spins() -> Answered:
    """Never ends, and never lets go of the interpreter."""
    return Answered(str(sum(iter(int, 1))).encode())

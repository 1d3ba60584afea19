"""A Dask cluster on the loopback: a scheduler here, two workers in processes of their own; and work for them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import LocalCluster

PATIENCE = 600.0
"""Seconds after which a test may say that something hangs."""


@contextmanager
def cluster(workers: int = 2, port: int = 0) -> Iterator[LocalCluster]:
    """It runs as long as this does, unless it is closed before; `scheduler_address` says where."""
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        scheduler_port=port,
        dashboard_address=":0",
        silence_logs=50,
    ) as running:
        yield running


def double(value: int) -> int:
    """Twice the value."""
    return 2 * value


def refuse(value: int) -> int:
    """No value is right."""
    raise ValueError(f"not {value}")


def hold(begun: str, until: str) -> str:
    """Say that it has begun, by a file, and go on until there is another."""
    with Path(begun).open("a") as file:
        file.write(f"{os.getpid()}\n")
    while not Path(until).exists():
        time.sleep(0.01)
    return "held"


def die_once(diary: str) -> str:
    """The process that runs it first ends in the middle."""
    with Path(diary).open("a") as file:
        file.write(f"{os.getpid()}\n")
    if len(Path(diary).read_text().splitlines()) == 1:
        os._exit(3)
    return "lived"


def double_and_die(diary: str, value: int) -> int:
    """Return twice the value. The process that first has the value 5 is killed."""
    if value == 5 and not Path(diary).exists():
        Path(diary).write_text(f"{os.getpid()}")
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * value

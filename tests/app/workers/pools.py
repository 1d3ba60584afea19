"""A pool of real processes, and how tests wait for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.process import Task
from epsilond.app.workers.work import message_of
from tests.app.conftest import PATIENCE
from tests.app.workers.toy_work import held

QUIET = Settings(
    workers=1, spare_workers=1, readers=1, job_workers=1, abandoned_seconds=PATIENCE, store_path=":memory:"
)


def begun(diary: Path) -> dict[str, int]:
    """What is written in a diary: the process of each name."""
    lines = diary.read_text().splitlines() if diary.exists() else []
    return {name: int(process) for name, process in (line.split() for line in lines)}


def submit(pool: Pool, computation: Callable[[], Any], *, caller: str = "a", **chosen: Any) -> Task:
    """Submit a computation."""
    return pool.submit(message_of(computation), caller=caller, **chosen)


def hold(pool: Pool, diary: Path, name: str, *, caller: str = "somebody", **chosen: Any) -> Task:
    """Submit a task that waits for a file of its name beside the diary."""
    return submit(pool, partial(held, diary, name), caller=caller, **chosen)


def release(diary: Path, name: str) -> None:
    """Let the task of this name end."""
    (diary.parent / name).touch()


@asynccontextmanager
async def pool_of(
    settings: Settings = QUIET, charge: Callable[[str, float], None] | None = None
) -> AsyncIterator[Pool]:
    """A pool with all its workers warm."""
    pool = Pool(settings, Metrics(), ("tests.app.workers.toy_work",), charge)
    async with pool.running():
        await until(lambda: pool.ready and settled(pool))
        yield pool


def settled(pool: Pool) -> bool:
    """Whether every worker that there should be is there."""
    return pool._metrics.registry.get_sample_value("epsilond_workers_warm") == 1.0


async def until(true: Callable[[], Any]) -> None:
    """Wait for something to become true."""
    with anyio.fail_after(PATIENCE):
        while not true():  # noqa: ASYNC110 (what it waits for tells nobody)
            await anyio.sleep(0.005)


async def outcome_of(task: Task) -> Any:
    """What comes of a task."""
    with anyio.fail_after(PATIENCE):
        await task.done.wait()
    return task.outcome

"""Whatever callers and the kernel do to a pool, the same processes and descriptors are there afterwards."""

from __future__ import annotations

import os
import resource
import signal
from functools import partial
from pathlib import Path

import anyio
import pytest

from epsilond.app.metrics import Metrics
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import RenderedAnswer
from tests.app.processes import descendants, descriptors, gone
from tests.app.workers.pools import QUIET, begun, hold, outcome_of, pool_of, settled, submit, until
from tests.app.workers.toy_work import told


def counts() -> tuple[int, int]:
    """Processes below this one, and descriptors that this one has open."""
    return len(descendants(os.getpid())), descriptors(os.getpid())


def test_forty_who_leave(tmp_path: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"workers": 2, "queue": 64, "caller_queue": 64})) as pool:
            before = counts()
            for place in range(40):
                task = hold(pool, tmp_path / "diary", f"task-{place}", caller=f"caller-{place}")
                if place % 3:
                    await until(lambda: f"task-{place}" in begun(tmp_path / "diary"))  # noqa: B023
                pool.abandon(task)
            assert await outcome_of(submit(pool, partial(told, "next"), caller="b")) == RenderedAnswer(b"next")
            for task in list(pool._running):
                pool.stop(task)
            await until(lambda: settled(pool) and counts() == before)

    before = counts()
    anyio.run(test)
    assert len(descendants(os.getpid())) == before[0]
    assert descriptors(os.getpid()) == before[1]


async def replaced(pool: Pool, process: int) -> None:
    """Kill a process; wait until there are as many as before."""
    before = len(descendants(os.getpid()))
    os.kill(process, signal.SIGKILL)
    await until(lambda: gone(process) and settled(pool) and len(descendants(os.getpid())) == before)


def test_an_idle_worker_that_dies_is_replaced() -> None:
    async def test() -> None:
        async with pool_of() as pool:
            await replaced(pool, pool._warm[-1].identifier)
            assert await outcome_of(submit(pool, partial(told, "well"), caller="a")) == RenderedAnswer(b"well")

    anyio.run(test)


def test_a_forkserver_that_dies_is_started_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            task = hold(pool, tmp_path / "diary", "first")
            await until(lambda: begun(tmp_path / "diary"))
            first = begun(tmp_path / "diary")["first"]
            forkserver = pool._forkserver.process
            assert forkserver is not None
            await replaced(pool, forkserver)
            await until(lambda: begun(tmp_path / "diary")["first"] != first)  # it runs again, in a new worker
            (tmp_path / "first").touch()
            assert await outcome_of(task) == RenderedAnswer(b"first")

    anyio.run(test)


def test_without_descriptors_it_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told_of: list[str] = []

    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"spare_workers": 0})) as pool:
            monkeypatch.setattr(
                pool._forkserver._log, "warning", lambda event, **_: told_of.append(event), raising=False
            )
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
            try:
                for process in list(pool._processes):
                    os.kill(process.identifier, signal.SIGKILL)
                await until(lambda: not pool._processes and told_of)
                task = submit(pool, partial(told, "waited"), caller="a")
                await until(lambda: len(told_of) > 1)
                assert task.state == "queued"
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert await outcome_of(task) == RenderedAnswer(b"waited")

    anyio.run(test)


def test_a_pool_that_ends_while_it_starts_leaves_nothing() -> None:
    async def test() -> None:
        for pause in (0.0, 0.01, 0.1):
            pool = Pool(QUIET, Metrics(), ("tests.app.workers.toy_work",))
            async with pool.running():
                await anyio.sleep(pause)

    before = counts()[0]
    anyio.run(test)
    assert len(descendants(os.getpid())) == before

"""Steps of jobs on a real cluster, and here where it fails."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from epsilond.accountants.errors import ConditionViolated
from epsilond.app.metrics import Metrics
from epsilond.app.workers.cluster import Cluster
from epsilond.app.workers.work import Computation, Failed, Outcome, RefusedAnswer, RenderedAnswer
from epsilond.extras import MissingExtra
from tests.clusters import PATIENCE, cluster, die_once, hold


def whose() -> RenderedAnswer:
    """The process that ran it."""
    return RenderedAnswer(str(os.getpid()).encode())


def refused() -> RenderedAnswer:
    """No proof."""
    raise ConditionViolated("No proof applies.", nearest={"rounds": 3.0})


def failed() -> RenderedAnswer:
    """A fault of ours."""
    raise RuntimeError("secret")


def answered(work: Callable[..., str], *arguments: str) -> RenderedAnswer:
    """What that answers."""
    return RenderedAnswer(work(*arguments).encode())


async def here(computation: Computation, caller: str) -> Outcome:
    """Where there is no cluster."""
    return await to_thread.run_sync(computation)


def steps(metrics: Metrics, where: str) -> float:
    """How many ran there."""
    return metrics.registry.get_sample_value("epsilond_cluster_steps_total", {"where": where}) or 0.0


@pytest.fixture(scope="module")
def address():
    with cluster() as running:
        yield running.scheduler_address


async def appears(file: Path) -> None:
    """Wait until it is there."""
    while not await anyio.Path(file).exists():  # noqa: ASYNC110 (another process makes it)
        await anyio.sleep(0.01)


def outcomes(metrics: Metrics, address: str, *computations: Computation, away_seconds: float = 0.0) -> list[Outcome]:
    """What they come to, one after the other, with the cluster there."""

    async def run() -> list[Outcome]:
        used = Cluster(address, metrics, here, away_seconds=away_seconds, look_seconds=0.05)
        with anyio.fail_after(PATIENCE):
            async with used.running():
                return [await used.run(each, "") for each in computations]

    return anyio.run(run)


def test_what_a_computation_comes_to_comes_back_from_the_cluster(address: str) -> None:
    metrics = Metrics()
    done, refusal, fault = outcomes(metrics, address, whose, refused, failed)
    assert isinstance(done, RenderedAnswer)
    assert int(done.body) != os.getpid()
    assert isinstance(refusal, RefusedAnswer)
    assert isinstance(refusal.error, ConditionViolated)
    assert refusal.error.nearest == {"rounds": 3.0}
    assert isinstance(fault, Failed)
    assert "RuntimeError: secret" in fault.trace
    assert (steps(metrics, "cluster"), steps(metrics, "here")) == (3.0, 0.0)


def test_a_step_whose_worker_dies_is_run_again(address: str, tmp_path: Path) -> None:
    metrics, diary = Metrics(), tmp_path / "diary"
    (outcome,) = outcomes(metrics, address, partial(answered, die_once, str(diary)))
    assert outcome == RenderedAnswer(b"lived")
    first, second = map(int, diary.read_text().split())
    assert os.getpid() not in (first, second)


def test_a_step_of_a_cluster_that_is_lost_is_run_here(tmp_path: Path) -> None:
    metrics, begun, until = Metrics(), tmp_path / "begun", tmp_path / "until"

    async def on(address: str, lose: Callable[[], None]) -> Outcome:
        used, found = Cluster(address, metrics, here, look_seconds=0.05), []

        async def ask() -> None:
            found.append(await used.run(partial(answered, hold, str(begun), str(until)), ""))

        with anyio.fail_after(PATIENCE):
            async with used.running(), anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await appears(begun)
                await to_thread.run_sync(lose)
                until.touch()  # whoever holds it now lets go, here too
        return found[0]

    with cluster(workers=1) as running:
        assert anyio.run(on, running.scheduler_address, running.close) == RenderedAnswer(b"held")
    assert (steps(metrics, "cluster"), steps(metrics, "here")) == (0.0, 1.0)


def test_a_cluster_without_workers_leaves_the_work_here() -> None:
    metrics = Metrics()
    with cluster(workers=0) as running:
        (outcome,) = outcomes(metrics, running.scheduler_address, whose)
    assert outcome == whose()
    assert steps(metrics, "here") == 1.0


def test_a_cluster_that_is_away_is_used_once_it_is_there() -> None:
    metrics = Metrics()

    async def before_and_after(port: int) -> tuple[Outcome, Outcome]:
        used = Cluster(f"tcp://127.0.0.1:{port}", metrics, here, away_seconds=0.0)
        with anyio.fail_after(PATIENCE):
            async with used.running():
                before = await used.run(whose, "")
                with ExitStack() as stack:
                    await to_thread.run_sync(stack.enter_context, cluster(workers=1, port=port))
                    return before, await used.run(whose, "")

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    before, after = anyio.run(before_and_after, port)
    assert before == whose() != after
    assert (steps(metrics, "cluster"), steps(metrics, "here")) == (1.0, 1.0)


def test_whoever_gives_up_need_not_wait_for_the_cluster(address: str, tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"

    async def give_up() -> None:
        used = Cluster(address, Metrics(), here)
        with anyio.fail_after(PATIENCE):
            async with used.running():
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(used.run, partial(answered, hold, str(begun), str(until)), "")
                    await appears(begun)
                    tasks.cancel_scope.cancel()
                assert not until.exists()
                until.touch()

    anyio.run(give_up)


def test_a_missing_extra_is_named_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"epsilond\[dask\]"):
        Cluster("tcp://127.0.0.1:1", Metrics(), here)


def test_a_worker_of_a_cluster_imports_nothing_of_the_web() -> None:
    asked = "import sys, epsilond.app.workers.work, epsilond.app.jobs.work; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert not {"fastapi", "starlette", "pydantic", "uvicorn", "sqlalchemy", "structlog"} & set(told)

"""Nothing is left of a service that is killed, whatever its workers do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from epsilond.app.workers.threads import ONE_THREAD
from tests.app.conftest import wait_until
from tests.app.processes import descendants, gone
from tests.app.test_service import ROOT

SERVICE = """
import anyio
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.app.workers.forkserver import fork_server
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import message_of
from tests.app.workers.toy_work import spins

async def main(forked):
    pool = Pool(Settings(workers=1, store_path=":memory:"), Metrics(), ({module!r},))
    pool.forked = forked
    async with pool.running():
        pool.submit(message_of(spins), caller="somebody")
        while not pool.running_in("question"):
            await anyio.sleep(0.01)
        print("runs", flush=True)
        await anyio.sleep_forever()

anyio.run(main, fork_server(({module!r},)) if {forked} else None)
"""


def service(module: str, *, forked: bool = False) -> subprocess.Popen[str]:
    """A process with a pool of workers that import this module; its first fork server may be a fork of itself."""
    script = SERVICE.format(module=module, forked=forked)
    environment = os.environ | (ONE_THREAD if forked else {})
    return subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's doing")
@pytest.mark.parametrize("forked", [False, True])
def test_killed_while_a_worker_computes(forked: bool) -> None:
    with service("tests.app.workers.toy_work", forked=forked) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "runs\n"
        below = descendants(parent.pid)
        assert len(below) > 1  # the forkserver and its workers
        parent.kill()
    wait_until(lambda: all(map(gone, below)))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's doing")
def test_killed_while_the_forkserver_imports() -> None:
    with service("tests.app.workers.imports_for_ever") as parent:
        wait_until(lambda: any(imports(process) for process in descendants(parent.pid)))
        below = descendants(parent.pid)
        parent.kill()
    wait_until(lambda: all(map(gone, below)))


def imports(process: int) -> bool:
    """Whether a process has come to the module whose import does not end."""
    try:
        return Path(f"/proc/{process}/comm").read_text() == "for-ever\n"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="no fork is made elsewhere")
def test_a_fork_server_that_was_forked_is_replaced_when_it_dies() -> None:
    with service("tests.app.workers.toy_work", forked=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "runs\n"
        (first,) = children(parent.pid)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: set(children(parent.pid)) - {first} and len(descendants(parent.pid)) > 1)
        parent.kill()


def test_a_service_with_more_threads_of_arithmetic_is_not_forked() -> None:
    script = "from epsilond.app.workers.forkserver import fork_server; print(fork_server(()) is None)"
    environment = os.environ | ONE_THREAD | {"OPENBLAS_NUM_THREADS": "2"}
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment)
    assert found.stdout == "True\n"


def children(process: int) -> list[int]:
    """The processes that a process has started itself."""
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]

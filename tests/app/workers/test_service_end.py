"""Nothing is left of a service that is killed, whatever its workers do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.conftest import wait_until
from tests.app.processes import descendants, gone
from tests.app.test_service import ROOT

SERVICE = """
import anyio
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import message_of
from tests.app.workers.toy_work import spins

async def main():
    pool = Pool(Settings(workers=1, store_path=":memory:"), Metrics(), ({module!r},))
    async with pool.running():
        pool.submit(message_of(spins), caller="somebody")
        while not pool.running_in("question"):
            await anyio.sleep(0.01)
        print("runs", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def service(module: str) -> subprocess.Popen[str]:
    """A process with a pool of workers that import this module."""
    script = SERVICE.format(module=module)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's doing")
def test_killed_while_a_worker_computes() -> None:
    with service("tests.app.workers.toy_work") as parent:
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

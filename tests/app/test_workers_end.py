"""A worker does not outlive its service, even in the middle of a computation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.conftest import wait_until
from tests.app.processes import gone
from tests.app.test_service import ROOT

WORKER = "import os, sys; from epsilond.app.workers.work import end_with_parent; end_with_parent(os.getppid() + {off}); print(os.getpid(), flush=True); {work}"
SERVICE = """
import subprocess, sys
worker = subprocess.Popen([sys.executable, "-c", {worker!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(worker.stdout.readline().strip() or "none", flush=True)
sys.stdin.read()
"""


def service(worker: str) -> subprocess.Popen[str]:
    """A process that has started a worker and told its id."""
    script = SERVICE.format(worker=worker)
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's doing")
def test_it_ends_with_its_service() -> None:
    with service(WORKER.format(off=0, work="sum(iter(int, 1))")) as parent:  # it never lets go of the interpreter
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert Path(f"/proc/{worker}").exists()
        parent.kill()
    wait_until(lambda: gone(worker))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's doing")
def test_it_ends_if_its_service_is_gone_already() -> None:
    with service(WORKER.format(off=1, work="sum(iter(int, 1))")) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "none\n"
        parent.kill()

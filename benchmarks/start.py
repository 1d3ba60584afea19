"""From exec to ready: python -m benchmarks.start, in this tree or, with --tree, in another to compare with.

`epsilond serve` is started on a free port, and /readyz is asked every 5 ms until it answers 200. Told are the wall time
until then, and the CPU of the service with all its processes until then. Cold: the file cache of the kernel is dropped
before each start where that is allowed (root), else it is said that it was not; and there are no compiled .pyc files.
Warm: after a start that is not counted.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from benchmarks import document, tables
from benchmarks.chaos import family
from benchmarks.environments import ROOT

GIVE_UP_SECONDS = 300.0
DROP = Path("/proc/sys/vm/drop_caches")
TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(process: int) -> float:
    """CPU seconds of a process, with those of its children that have ended."""
    try:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, told[11:15])) / TICK


def ready(port: int) -> bool:
    """Whether it says so."""
    with suppress(OSError, urllib.error.HTTPError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
        return bool(answer.status == 200)
    return False


def start(tree: Path, python: str, folder: Path) -> tuple[float, float, int]:
    """Start it once; answers wall seconds, CPU seconds and the number of its processes when it was ready.

    Raises:
        RuntimeError: it ended, or did not get ready.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {
        **os.environ,
        "EPSILOND_PORT": str(port),
        "EPSILOND_STORE_PATH": str(folder / "jobs.sqlite"),
        "EPSILOND_LOG_LEVEL": "error",
        "PYTHONPATH": str(tree / "src"),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }
    began = time.perf_counter()
    process = subprocess.Popen([python, "-m", "epsilond", "serve"], cwd=tree, env=environ)
    try:
        while not ready(port):
            if process.poll() is not None or time.perf_counter() - began > GIVE_UP_SECONDS:
                raise RuntimeError("the service did not get ready")
            time.sleep(0.005)
        wall, members = time.perf_counter() - began, family(process.pid)
        return wall, sum(map(cpu_of, members)), len(members)
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()


def dropped() -> bool:
    """Drop the kernel's file cache, if that is allowed."""
    os.sync()
    try:
        DROP.write_text("3")
    except OSError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the sources to start")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--warm", action="store_true", help="leave out the cold starts, which slow the whole machine")
    chosen = parser.parse_args(arguments)
    rows = []
    for kind in ("warm",) if chosen.warm else ("cold", "warm"):
        found, note = [], ""
        with tempfile.TemporaryDirectory() as one:
            if kind == "warm":
                start(chosen.tree, chosen.python, Path(one))
            for _ in range(chosen.times):
                if kind == "warm":
                    found.append(start(chosen.tree, chosen.python, Path(one)))
                    continue
                with tempfile.TemporaryDirectory() as fresh:
                    note = "" if dropped() else ", file cache kept"
                    found.append(start(chosen.tree, chosen.python, Path(fresh)))
        walls, cpus, counts = zip(*found, strict=True)
        shown = (statistics.median(walls), min(walls), max(walls), statistics.median(cpus))
        rows.append((kind + note, *(f"{value:.2f}" for value in shown), str(max(counts))))
    head = ("start", "wall, median s", "least", "most", "CPU, median s", "processes")
    Console(width=120).print(tables.as_rich(f"From exec to /readyz 200, {chosen.times} starts", head, rows))
    Console().print(document.machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())

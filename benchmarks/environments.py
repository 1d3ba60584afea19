"""The accountants, a virtual environment for each in a cache folder outside the project, and their processes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cases import Case

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "epsilond-benchmarks"
INSTALL_SECONDS = 600
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
ARITHMETIC = ("numpy==2.4.6", "scipy==1.17.1")
"""The versions this project is locked to."""


@dataclass(frozen=True)
class Accountant:
    """An accountant that is measured, with the command and the environment of its process.

    Attributes:
        name: name in tables.
        computes: its method in words.
        runner: module that answers questions, and its arguments.
        packages: packages to install in its virtual environment. Without packages the present interpreter is used.
        bare: packages that are installed without their dependencies.
        variables: additional environment variables of the process.
    """

    name: str
    computes: str
    runner: tuple[str, ...]
    packages: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


def _peer(name: str, package: str, computes: str, release: str, *, bare: bool = False) -> Accountant:
    """Return another project's accountant; `bare` installs its package without dependencies."""
    runner, pinned = ("benchmarks.runners.peers", package), f"{package.replace('_', '-')}=={release}"
    if bare:
        return Accountant(name, computes, runner, ARITHMETIC, (pinned,))
    return Accountant(name, computes, runner, (pinned, *ARITHMETIC))


OWN = ("benchmarks.runners.epsilond",)
KERNEL = Accountant("epsilond", "certified enclosures by the compiled kernel; the value is the upper bound", OWN)
REFERENCE = Accountant(
    "epsilond, Python only", "the same where no kernel is built", OWN, variables={"EPSILOND_KERNEL": "off"}
)
GRID = "loss distribution on its default grid of 1e-4, rounded up, FFT"
COARSE = "FFT; ε within 0.1 (its default), δ within δ/1000; the value is its upper bound"
FINER = "its PRV accountant: FFT; ε within 0.01, δ within δ/1000 (its defaults); the value is its upper bound"
PEER = _peer("dp-accounting", "dp_accounting", GRID, "0.6.0")
OTHERS = (
    _peer("prv-accountant", "prv_accountant", COARSE, "0.2.0"),
    _peer("Opacus", "opacus", FINER, "1.6.0", bare=True),
)
ACCOUNTANTS = (KERNEL, REFERENCE, PEER, *OTHERS)
OURS = (KERNEL.name, REFERENCE.name)


class Unavailable(Exception):
    """An accountant cannot be installed or started, with the reason in a few words."""


def interpreter(accountant: Accountant, cache: Path) -> Path:
    """Return the Python interpreter of an accountant's virtual environment, which is made once in a cache folder.

    A file in the environment names the installed packages. If they differ from the requested ones, it is made again.

    Args:
        accountant: the accountant. Without packages, the present interpreter is used.
        cache: folder of the environments.

    Returns:
        Path of the interpreter.

    Raises:
        Unavailable: the environment cannot be made.
    """
    if not accountant.packages:
        return Path(sys.executable)
    home = cache / "environments" / accountant.name
    python = home / "bin" / "python"
    # The file `installed` names the packages of a complete environment.
    stamp = home / "installed"
    wanted = " ".join(accountant.packages + accountant.bare)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    _run("no virtual environment", [sys.executable, "-m", "venv", "--clear", str(home)])
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run("cannot be installed", [*pip, *accountant.packages])
    if accountant.bare:
        _run("cannot be installed", [*pip, "--no-deps", *accountant.bare])
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _run(what: str, command: list[str]) -> None:
    """Run a command that must succeed.

    Args:
        what: meaning of a failure, for the error.
        command: program and arguments.

    Raises:
        Unavailable: the command cannot be run, takes longer than `INSTALL_SECONDS`, or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{what}: {type(error).__name__}") from None
    if done.returncode != 0:
        raise Unavailable(f"{what}: {shorten(done.stderr or done.stdout)}")


def shorten(output: str) -> str:
    """Return the first line with an error in the output of a command, without addresses and paths."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no reason given"]
    line = next((line for line in lines if line.startswith("ERROR:")), lines[-1])
    return re.sub(r"\S*(://|/)\S*", "…", line.removeprefix("ERROR:").strip())[:160]


class Runner:
    """The process of an accountant, which answers one question at a time on one thread.

    Questions and answers are lines of JSON on its standard input and output. Its first line states its version.

    Attributes:
        version: version of the accountant.
    """

    def __init__(self, accountant: Accountant, cache: Path) -> None:
        """Start the process, and wait for its version.

        Args:
            accountant: the accountant.
            cache: folder of the environments and of the log of errors.

        Raises:
            Unavailable: the environment cannot be made, or the process does not start.
        """
        cache.mkdir(parents=True, exist_ok=True)
        log = cache / f"{accountant.name}.log"
        command = [str(interpreter(accountant, cache)), "-m", *accountant.runner]
        environ = {**os.environ, **THREADS, "PYTHONDONTWRITEBYTECODE": "1", **accountant.variables}
        pipe = subprocess.PIPE
        with log.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environ, stdin=pipe, stdout=pipe, stderr=errors, text=True
            )
        # The first line of the process states its version; without it the process has failed.
        hello = self._answer()
        if hello is None:
            self.close()
            raise Unavailable(f"does not start: {shorten(log.read_text(encoding='utf-8'))}")
        self.version: str = hello["version"]

    def ask(self, case: Case, *, seconds: int, megabytes: int) -> dict[str, Any]:
        """Ask a question, and return the measured answer.

        Args:
            case: the question.
            seconds: limit of CPU time, in seconds.
            megabytes: limit of the address space, in MB.

        Returns:
            Value, bounds, CPU seconds and memory by name, or one member with the reason why there is no answer.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({**case.body(), "seconds": seconds, "megabytes": megabytes}) + "\n")
            self._process.stdin.flush()
        return self._answer() or {"refused": "its runner ended"}

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=10)
        self._process.kill()
        self._process.wait()

    def _answer(self) -> dict[str, Any] | None:
        """Return the next line of the process, which is JSON; None if the process has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return None if not line else dict(json.loads(line))

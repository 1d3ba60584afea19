"""The checks of the project by name: `nox -s fast` while working, `nox -s full` before handing over.

Both use the locked tools in `.venv` (made by `scripts/prepare`) and install nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import nox

ROOT = Path(__file__).parent
TOOLS = ROOT / ".venv" / "bin"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

nox.options.default_venv_backend = "none"
nox.options.sessions = ["fast"]

FAST_TESTS = (
    "tests/laws/test_theorems.py",
    "tests/laws/test_every_formula_is_compared.py::test_every_formula_is_compared",
    "tests/laws/test_citations.py",
    "tests/laws/test_spec_words.py",
    "tests/laws/test_texts.py",
    "tests/theorems/mechanisms",
    "tests/theorems/conversions",
    "tests/theorems/papers",
    "tests/calibrators/test_gaussian.py",
    "tests/test_special.py",
)
"""What `fast` runs. It leaves out the engines, most calibrators, the service, the simulators and everything that
starts a process or a server: `full` runs all of that."""


def run(session: nox.Session, tool: str, *arguments: str) -> None:
    """Run a tool of the project's environment."""
    session.run(str(TOOLS / tool), *arguments, external=True, env=ONE_THREAD)


def pytest(session: nox.Session, *arguments: str) -> None:
    """Run tests in as many processes as there are cores."""
    processes = str(min(os.cpu_count() or 1, 8))
    run(session, "python", "-m", "pytest", "-q", "-n", processes, "--dist=worksteal", *arguments)


@nox.session
def fast(session: nox.Session) -> None:
    """Style, types, import contracts and a part of the tests (`FAST_TESTS`): at most 90 s on an idle machine."""
    style(session)
    types(session)
    pytest(session, *(session.posargs or FAST_TESTS))


@nox.session
def style(session: nox.Session) -> None:
    """Lint and format, without changing anything."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types, strict outside the tests, and who may import whom."""
    run(session, "mypy", "--strict")
    run(session, "lint-imports", "--no-cache")


@nox.session
def tests(session: nox.Session) -> None:
    """Every test, or those given after `--`."""
    pytest(session, *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site of the documents into site/."""
    session.run("scripts/docs", *session.posargs, external=True)


@nox.session
def full(session: nox.Session) -> None:
    """Everything that a change must pass: `.ci/run`."""
    session.run(".ci/run", external=True)

"""Shares of the code in the CPU of the service's test mix: python -m benchmarks.shares [--every N].

The mix is the accounts and calibrations of tests/frozen/requests.jsonl, every N-th of them, as a worker answers them.
Each is answered twice. Once a timer of CPU time looks every millisecond which of our files is running, in C code that
file's caller; each look counts the CPU since the last one. Once under cProfile, which measures the calls of the kernel;
the kernel's time is taken from the file that calls it. Prints a table by code and one by kind of question.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Self

import epsilond
from benchmarks import tables
from benchmarks.environments import ROOT, THREADS
from benchmarks.everyday import import_everything
from epsilond.accountants.errors import EpsilondError
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.reading import read

MIX = ROOT / "tests" / "frozen" / "requests.jsonl"
ACCOUNTS, CALIBRATIONS = "/v1/accounts", "/v1/calibrations/"
INTERVAL = 1e-3
"""CPU seconds between two looks."""
KERNEL, ELSEWHERE = "kernel", "elsewhere: requests, theorems, risks, answers"
SEARCHES = "composition, curves and searches in Python"
CODE: Mapping[str, str] = {
    "accountants/engine/lattice": "lattice engine",
    "accountants/engine": "other engines in Python",
    "accountants/composition": SEARCHES,
    "accountants/curve": SEARCHES,
    "accountants/profiles": SEARCHES,
    "calibrators/search": SEARCHES,
}
"""Code by the beginning of a file's path in the package; the first that fits counts."""
NAMES = (KERNEL, *dict.fromkeys(CODE.values()), ELSEWHERE)
LARGEST = 25
"""Number of kinds of questions that are printed."""


def code_of(path: str) -> str | None:
    """Return the code that a file belongs to; None for a file that is not ours."""
    within = Path(path).resolve()
    if not within.is_relative_to(ROOT) or within.is_relative_to(ROOT / ".venv"):
        return None
    name = str(within.relative_to(ROOT)).removeprefix("src/epsilond/")
    return next((code for beginning, code in CODE.items() if name.startswith(beginning)), ELSEWHERE)


class Sampler:
    """A context in which CPU time is attributed to parts of the code, by a timer that looks at the running function.

    Attributes:
        seconds: CPU seconds of each part of the code.
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._last = 0.0
        self._known: dict[str, str | None] = {}

    def __enter__(self) -> Self:
        self._last = time.process_time()
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        self._look(0, None)

    def _look(self, _: int, frame: FrameType | None) -> None:
        """Add the CPU time since the last look to the part of the code that is running, when the timer signals.

        The innermost frame in a file of ours counts.

        Args:
            _: number of the signal.
            frame: the running frame; None at the end.
        """
        code = None
        while frame is not None and code is None:
            # Parts are looked up once for each file.
            path = frame.f_code.co_filename
            if path not in self._known:
                self._known[path] = code_of(path)
            code, frame = self._known[path], frame.f_back
        now = time.process_time()
        self.seconds[code or ELSEWHERE] += now - self._last
        self._last = now


def kernel_seconds(ask: Callable[[], object]) -> Counter[str]:
    """Measure the CPU time of the kernel's C functions in a call.

    Args:
        ask: the call.

    Returns:
        CPU seconds by the part of the code that calls the kernel.
    """
    profile = cProfile.Profile(time.process_time)
    profile.runcall(ask)
    spent: Counter[str] = Counter()
    for function, figures in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        # The profiler has the file `~` for functions in C, and the callers in the fifth figure.
        if function[0] == "~" and "_kernel" in function[2]:
            for caller, (_, _, own, _) in figures[4].items():
                spent[code_of(caller[0]) or ELSEWHERE] += own
    return spent


def shares(ask: Callable[[], object]) -> Counter[str]:
    """Return the CPU seconds of a question by code."""
    with Sampler() as sampler:
        ask()
    for code, spent in kernel_seconds(ask).items():
        moved = min(spent, sampler.seconds[code])
        sampler.seconds[code] -= moved
        sampler.seconds[KERNEL] += moved
    return sampler.seconds


def question(path: str, body: Mapping[str, Any]) -> Callable[[], object]:
    """Return a function that answers a request as a worker of the service does; an error ends it early.

    Args:
        path: path of the request, for an account or a calibration.
        body: body of the request.

    Returns:
        The function, which returns the answer in JSON form or None.
    """

    def ask() -> object:
        """Answer the request."""
        try:
            if path == ACCOUNTS:
                return epsilond.as_json(answer(read(AccountProblem, body)))
            return epsilond.as_json(epsilond.calibrate(path.removeprefix(CALIBRATIONS), **body))
        except EpsilondError:
            return None

    return ask


def kind_of(path: str, body: Mapping[str, Any]) -> str:
    """Name the kind of a question: its algorithm, or the kinds of mechanisms in it.

    Args:
        path: path of the request.
        body: body of the request.

    Returns:
        Words such as `account of poisson gaussian`.
    """

    def words(spec: Any) -> str:
        """Return the kinds within a spec."""
        if not isinstance(spec, Mapping):
            return "?"
        inner = [spec["mechanism"]] if "mechanism" in spec else spec.get("mechanisms", [])
        own = {"subsampled": spec.get("sampling"), "repeated": ""}.get(str(spec.get("kind")), spec.get("kind"))
        return f"{own} {' + '.join(sorted(set(map(words, inner))))}".strip()

    return f"account of {words(body.get('spec'))}" if path == ACCOUNTS else path.removeprefix(CALIBRATIONS)


def mix(every: int) -> list[tuple[str, Mapping[str, Any]]]:
    """Return path and body of every N-th account or calibration, without sweeps."""
    questions = []
    for line in MIX.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        path, body = request["path"], request["body"]
        if path.startswith((ACCOUNTS, CALIBRATIONS)) and "sweep" not in body:
            questions.append((path, body))
    return questions[::every]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the shares of the code in the CPU time of all questions, and print two tables.

    Args:
        arguments: arguments of the command line; those of the process if None.

    Returns:
        The exit code 0.
    """
    parser = tables.parser("shares", __doc__)
    parser.add_argument("--every", type=int, default=1, help="ask every so many questions")
    every = parser.parse_args(arguments).every
    # Start again with the variables that limit numerical libraries to one thread.
    if THREADS.items() - os.environ.items():
        command = [sys.executable, "-m", "benchmarks.shares", "--every", str(every)]
        os.execve(sys.executable, command, os.environ | THREADS)
    import_everything()
    by_kind: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for path, body in mix(every):
        kind = kind_of(path, body)
        counts[kind] += 1
        by_kind.setdefault(kind, Counter()).update(shares(question(path, body)))
    spent = sum(by_kind.values(), Counter[str]())
    total = spent.total()
    lines = [(name, tables.seconds(spent[name]), f"{spent[name] / total:.1%}") for name in NAMES]
    tables.show(f"{counts.total()} questions, {total:.1f} s of CPU", ("code", "CPU", "share"), lines)
    rows = []
    for kind, seconds in sorted(by_kind.items(), key=lambda item: -item[1].total())[:LARGEST]:
        by_code = [f"{seconds[name] / seconds.total():.0%}" for name in NAMES]
        rows.append((kind, str(counts[kind]), f"{seconds.total() / total:.1%}", *by_code))
    tables.show("By kind of question: where its CPU goes", ("question", "asked", "share of all CPU", *NAMES), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

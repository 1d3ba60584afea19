"""What a computation is and how it is run, in a worker process or, if it is a closed form, in the service itself.

Workers import this module and the mathematics, never the web. An outcome is plain data, so that it crosses the process
boundary whole: an answer is rendered where it is computed, and what cannot be foreseen comes back as its traceback.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.theorem import Reading
from epsilond.calibrators.answer import as_json

ONE_THREAD: Mapping[str, str] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Workers share the cores among themselves, and the order of a sum must not depend on how many there are."""


LISTS = ("CALIBRATORS", "THEOREMS", "RULES")
"""Names of lists whose members are imported when the list is first asked for."""

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that this process gets when the thread that started it ends."""


class WorkFailed(Exception):
    """A computation failed in a way nobody foresaw. Its text is the traceback from where it ran."""


@dataclass(frozen=True)
class Answered:
    """A rendered answer, with the width of its certificate if it has one."""

    body: bytes
    relative_width: float | None = None

    def get(self) -> Answered:
        """Itself."""
        return self


@dataclass(frozen=True)
class Refused:
    """A refusal that the mathematics gave on purpose."""

    error: EpsilondError

    def get(self) -> Answered:
        """Raises the refusal: a copy, for one refusal may answer many requests."""
        raise copy(self.error)


@dataclass(frozen=True)
class Failed:
    """A fault of ours."""

    trace: str

    def get(self) -> Answered:
        """Raises WorkFailed."""
        raise WorkFailed(self.trace)


Outcome = Answered | Refused | Failed
Computation = Callable[[], Answered]
"""A partial of one of the functions below, so that it pickles by reference."""


def render(answer: Any) -> bytes:
    """The JSON form of an answer: absent parts dropped, infinities spelled out, nothing that is not JSON.

    Raises:
        ValueError: it holds a NaN, which no answer may.
    """
    return json.dumps(as_json(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def rendered(question: Callable[..., Any], *arguments: Any) -> Answered:
    """What a question of the mathematics answers to these arguments, rendered."""
    answer = question(*arguments)
    numerical = getattr(answer, "numerical", None)
    return Answered(render(answer), getattr(numerical, "relative_width", None))


def evaluate(home: str, identifier: str, reading: Reading, inputs: Any) -> Answered:
    """The formula of a theorem of module `home`'s list, rendered. Theorems hold functions, so they go by name."""
    theorem = next(theorem for theorem in import_module(home).THEOREMS if theorem.id == identifier)
    return Answered(render(theorem.evaluate(inputs, reading)))


def report(kind: str, algorithm: str | None, problem: Any, request: Mapping[str, Any], date: str | None) -> Answered:
    """A report, as the page it is."""
    # The template engine is for those who ask for a page.
    from epsilond.witness.reports.make import make  # noqa: PLC0415
    from epsilond.witness.reports.questions import question  # noqa: PLC0415

    return Answered(make(question(kind, algorithm), problem, request, date).encode())


def outcome_of(computation: Computation) -> Outcome:
    """Run a computation; whatever it does, an outcome comes of it."""
    try:
        return computation()
    except EpsilondError as refusal:
        return Refused(refusal)
    except Exception:  # noqa: BLE001 (this is the boundary: nothing may be lost, and nothing may pass)
        return Failed(traceback.format_exc())


@dataclass(frozen=True, kw_only=True)
class Worker:
    """What a worker process is to be."""

    modules: tuple[str, ...]
    """The mathematics, imported before there is work."""
    memory_megabytes: int
    nicer: int
    """How far behind the event loop: it needs little, and everybody waits for it."""
    service: int
    """Process id of the service."""


@cache
def prepare(worker: Worker) -> None:
    """Make this process a worker, once: import the mathematics, make way, bound memory, leave signals to the parent.

    A signal to the whole process group must not stop work that the service is still draining; the service kills its
    workers itself, and a worker does not outlive it.
    """
    end_with(worker.service)
    for module in worker.modules:
        imported = import_module(module)
        for listed in LISTS:
            getattr(imported, listed, None)
    os.nice(worker.nicer)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = worker.memory_megabytes * 1_048_576
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def end_with(service: int) -> None:
    """Have this process killed as soon as the service is gone, even in the middle of a computation and by SIGKILL.

    Linux does that. Elsewhere a worker whose service is gone reads the end of its input after its computation.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != service:  # it was gone before we asked
            os._exit(1)


def in_worker(computation: Computation, worker: Worker) -> Outcome:
    """Run a computation in a worker, which may be a fresh one."""
    prepare(worker)
    return outcome_of(computation)


def warm(worker: Worker) -> int:
    """Import the mathematics ahead of the first request; answers the worker's process id."""
    prepare(worker)
    return os.getpid()

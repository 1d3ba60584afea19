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
from importlib import import_module

from epsilond.accountants.errors import EpsilondError
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


class WorkerLost(WorkFailed):
    """The processes that computed it ended, each time it was tried: the machine's doing, or for want of memory."""


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
    """A fault of ours, or of the machine if its worker was lost."""

    trace: str
    lost: bool = False

    @property
    def error(self) -> WorkFailed:
        """The fault, to be raised."""
        return WorkerLost(self.trace) if self.lost else WorkFailed(self.trace)

    def get(self) -> Answered:
        """Raises WorkFailed."""
        raise self.error


Outcome = Answered | Refused | Failed
Computation = Callable[[], Answered]
"""A partial of one of the functions below, so that it pickles by reference."""


def render(answer: object) -> bytes:
    """The JSON form of an answer: absent parts dropped, infinities spelled out, nothing that is not JSON.

    Raises:
        ValueError: it holds a NaN, which no answer may.
    """
    return json.dumps(as_json(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def rendered(question: Callable[..., object], *arguments: object) -> Answered:
    """What a question of the mathematics answers to these arguments, rendered."""
    answer = question(*arguments)
    numerical = getattr(answer, "numerical", None)
    return Answered(render(answer), getattr(numerical, "relative_width", None))


def outcome_of(computation: Computation) -> Outcome:
    """Run a computation; whatever it does, an outcome comes of it."""
    try:
        return computation()
    except EpsilondError as refusal:
        return Refused(refusal)
    except Exception:  # noqa: BLE001 (this is the boundary: nothing may be lost, and nothing may pass)
        return Failed(traceback.format_exc())


def load(modules: tuple[str, ...]) -> None:
    """Import the mathematics, the members of its lists too."""
    for module in modules:
        imported = import_module(module)
        for listed in LISTS:
            getattr(imported, listed, None)


def confine(nicer: int, memory_megabytes: int) -> None:
    """Let this process make way for others, bound its memory, and leave signals to the service.

    A signal to the whole process group must not stop work that the service is still draining; the service kills its
    workers itself, and a worker does not outlive it.
    """
    os.nice(nicer)
    ignore_signals()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = memory_megabytes * 1_048_576
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def ignore_signals() -> None:
    """Leave what a terminal or a supervisor sends to the process group to the service."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)


def end_with(parent: int) -> None:
    """Have this process killed as soon as its parent is gone, even in the middle of a computation and by SIGKILL.

    Linux does that. Elsewhere a process whose parent is gone reads the end of its input after its computation.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before we asked
            os._exit(1)

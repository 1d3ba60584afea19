"""Computations, their outcomes, and their run in a worker process or, for closed forms, in the service itself.

Workers import this module and the mathematics, never the web. An outcome is plain data, so that it crosses the process
boundary whole: an answer is rendered where it is computed, and an unforeseen error comes back as its traceback.

A worker reads pickled computations from its wire and writes pickled pairs (outcome, seconds of processor time). Its
first message is READY. The worker ends when the wire ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Final, TypeVar

from epsilond.accountants.errors import EpsilondError
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.strict_json import MalformedJson
from epsilond.executors import reuse_freed_memory
from epsilond.extras import MissingExtra
from epsilond.witness.one_thread import one_thread
from epsilond.witness.reports.canonical import canonical, digest

T = TypeVar("T")


LISTS = ("CALIBRATORS", "THEOREMS", "RULES")
"""Names of lists of modules; the members of a list are imported at its first use."""

PR_SET_PDEATHSIG = 1
"""Option of Linux's prctl: signal of this process at the end of the thread that started the process."""


class WorkFailed(Exception):
    """An unforeseen failure of a computation. Its text is the traceback from the process that ran the computation."""


class WorkerLost(WorkFailed):
    """A computation with a worker process that ended in every attempt, killed by the machine or for lack of memory."""


@dataclass(frozen=True)
class RenderedAnswer:
    """An answer in the form that is sent to the client.

    Attributes:
        body: the JSON text, or other bytes.
        relative_width: width of the certified interval of δ divided by its upper bound; None for an answer without such
            an interval.
        digest: SHA-256 of the JSON in canonical form, in hexadecimal digits; None if it was not computed.
    """

    body: bytes
    relative_width: float | None = None
    digest: str | None = None

    def get(self) -> RenderedAnswer:
        """Return this answer. The method `get` of other outcomes raises an error."""
        return self


@dataclass(frozen=True)
class RefusedAnswer:
    """The outcome of a computation that rejected its request: an invalid or infeasible request, or a malformed body."""

    error: EpsilondError | MalformedJson | MissingExtra

    def get(self) -> RenderedAnswer:
        """Raise a copy of the refusal, because one refusal may answer many requests."""
        raise copy(self.error)


@dataclass(frozen=True)
class Failed:
    """The outcome of a computation that failed by an error in the service, or by the death of its worker.

    Attributes:
        trace: traceback of the error, or a sentence about the death of the worker.
        lost: whether the worker died.
    """

    trace: str
    lost: bool = False

    @property
    def error(self) -> WorkFailed:
        """The failure as an exception that can be raised."""
        return WorkerLost(self.trace) if self.lost else WorkFailed(self.trace)

    def get(self) -> RenderedAnswer:
        """Raise the failure as an exception, because there is no answer."""
        raise self.error


Outcome = RenderedAnswer | RefusedAnswer | Failed
Computation = Callable[[], RenderedAnswer]
"""A partial of one of the functions below, so that it pickles by reference."""


def render(answer: object) -> bytes:
    """Return an answer as JSON, without absent parts and with infinities as words.

    Raises:
        ValueError: it holds a NaN, which no answer may.
    """
    return _render_json(as_json(answer))


def _render_json(value: object) -> bytes:
    """Return a JSON value as text without spaces, in UTF-8."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def render_answer(question: Callable[..., object], *arguments: object) -> RenderedAnswer:
    """Call a function that computes an answer, such as a calibration, and render the answer as JSON.

    Args:
        question: function that computes the answer from the arguments.
        *arguments: positional arguments of the function.

    Returns:
        The JSON text with its digest, and with the relative width of certified bounds on δ if the answer has them.
    """
    answer = question(*arguments)
    numerical = getattr(answer, "numerical", None)
    value = as_json(answer)
    body = _render_json(value)
    # The digest does not depend on white space, so that a signature can refer to it.
    return RenderedAnswer(body, getattr(numerical, "relative_width", None), digest(canonical(value)))


def pickle_result(call: Callable[[], object]) -> RenderedAnswer:
    """Return the pickled value of a call, for the process that requested it."""
    return RenderedAnswer(pickle.dumps(call(), pickle.HIGHEST_PROTOCOL))


def unpickle(answer: RenderedAnswer, kind: type[T]) -> T:
    """Restore the value that `pickle_result` has pickled in a worker of this service.

    Args:
        answer: the answer of the worker.
        kind: class of the value.

    Returns:
        The value, an instance of `kind`.
    """
    value = pickle.loads(answer.body)  # noqa: S301 (made by a worker of our own)
    assert isinstance(value, kind)
    return value


def message_of(computation: Computation) -> bytes:
    """Pickle a computation. If it cannot be pickled, return a pickled computation that fails with the reason."""
    try:
        return pickle.dumps(computation, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001 (a fault of ours, as those of a computation)
        return pickle.dumps(partial(_fail, traceback.format_exc()))


def _fail(trace: str) -> RenderedAnswer:
    raise WorkFailed(trace)


def outcome_of(computation: Computation) -> Outcome:
    """Run a computation, and return its outcome. Rejections and errors become outcomes too.

    Args:
        computation: function without arguments, which returns the answer.

    Returns:
        The answer; the rejection, if the request cannot be answered; or the failure with the traceback of an error.
    """
    try:
        return computation()
    except (EpsilondError, MalformedJson, MissingExtra) as rejection:
        return RefusedAnswer(rejection)
    except Exception:  # noqa: BLE001 (every error becomes an outcome, so that the worker goes on)
        return Failed(traceback.format_exc())


def load(modules: tuple[str, ...]) -> None:
    """Import modules by their names, and the members of their lists (`LISTS`), which are imported at first use."""
    for module in modules:
        imported = import_module(module)
        for listed in LISTS:
            getattr(imported, listed, None)


def confine(nicer: int, memory_megabytes: int) -> None:
    """Lower the priority of this process, limit its memory, and ignore SIGINT and SIGTERM.

    The signals are ignored because they may reach the whole process group while the service still finishes its work.
    The service kills its workers itself.

    Args:
        nicer: increment of the niceness of this process; a larger niceness is a lower priority.
        memory_megabytes: limit of the address space, in units of 2²⁰ bytes. A lower hard limit of the system is kept.
    """
    os.nice(nicer)
    ignore_signals()
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory_megabytes * 1_048_576
    if hard_limit != resource.RLIM_INFINITY:
        limit = min(limit, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))


def ignore_signals() -> None:
    """Ignore the signals by which a terminal or a supervisor stops the process group; the service handles them."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)


def end_with_parent(parent: int) -> None:
    """Have Linux kill this process as soon as its parent has died, even in the middle of a computation.

    On other systems nothing happens. The process then ends after its computation, when its input has ended.

    Args:
        parent: process id of the parent when this process was made.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the call of prctl. Then another process has become the parent.
    has_other_parent = os.getppid() != parent
    if has_other_parent:
        os._exit(1)


HEAD: Final = struct.Struct("!Q")
"""Length of a message in bytes, which is sent before the message."""
READY: Final = b"ready"
"""Message of a worker that lives."""


def frame(message: bytes) -> bytes:
    """Return a message with its length before it."""
    return HEAD.pack(len(message)) + message


def work(wire: socket.socket, forkserver: int, nicer: int, memory_megabytes: int) -> None:
    """Run the computations that the service sends, and send back their outcomes, until the connection to it ends.

    Each message is preceded by its length.

    Args:
        wire: connection to the service; it is closed at the end.
        forkserver: process id of the parent. This process is killed when the parent dies.
        nicer: niceness above that of the parent.
        memory_megabytes: limit of the address space, in units of 2²⁰ bytes.
    """
    end_with_parent(forkserver)
    confine(nicer, memory_megabytes)
    with wire, wire.makefile("rb") as messages:
        wire.sendall(frame(READY))
        while True:
            head = messages.read(HEAD.size)
            if len(head) != HEAD.size:
                return  # the connection has ended
            (length,) = HEAD.unpack(head)
            message = messages.read(length)
            wire.sendall(frame(answer_to(message)))


def answer_to(message: bytes) -> bytes:
    """Run a pickled computation, and pickle its outcome together with the processor time that it took.

    Args:
        message: the pickled computation.

    Returns:
        A pickled pair: the outcome and the seconds. An outcome that cannot be pickled is replaced by a failure.
    """
    before = time.process_time()
    outcome = outcome_of(partial(run_pickled, message))
    try:
        return pickle.dumps((outcome, time.process_time() - before))
    except Exception:  # noqa: BLE001 (an outcome that cannot be pickled is an error of this program)
        return pickle.dumps((Failed(traceback.format_exc()), time.process_time() - before))


def run_pickled(message: bytes) -> RenderedAnswer:
    """Run a pickled computation. Only services of ours make them."""
    computation: Computation = pickle.loads(message)  # noqa: S301
    return computation()


def run_on_cluster(message: bytes) -> bytes:
    """Return the pickled outcome of a pickled computation, with one thread for linear algebra."""
    reuse_freed_memory()
    with one_thread():
        return pickle.dumps(outcome_of(partial(run_pickled, message)), pickle.HIGHEST_PROTOCOL)

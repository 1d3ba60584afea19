"""Measure a call that never repeats a question: process CPU and peak memory, in a fork of its own with limits.

A call gets a place. At place 0 the question is as written. At place k every ε, δ and noise is multiplied by
1 + k · `CHANGE`, so that no part of an answer is in a cache. The process that forks must have one thread and must have
imported all modules of an answer. Only the standard library is used, because other accountants' environments import
this module.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from typing import Any

CHANGE = 1e-8
"""Relative difference between a question and the next one."""
RUN_SECONDS = 0.1
"""Least CPU of a timed run of calls, since the process clock may move in steps of some milliseconds."""
ENOUGH_SECONDS = 0.3
"""CPU after which measuring ends; a question with a first answer as long as this is measured once."""
PATIENCE = 60
"""Limit of the time by the wall clock, in multiples of the CPU limit."""

Ask = Callable[[int], Any]
Result = dict[str, Any]
Finish = Callable[[Any], Result]


class NotOffered(Exception):
    """The accountant has no such query."""


def measure(ask: Ask, finish: Finish | None = None) -> Result:
    """Measure the CPU time and the memory of a call that answers a new question each time.

    Runs of several calls are timed, twice as many while a run takes less than `RUN_SECONDS`. A first call of
    `ENOUGH_SECONDS` is not repeated.

    Args:
        ask: the call; it takes the number of the question.
        finish: makes further members from the first answer; its work is not measured.

    Returns:
        The figures by name:
        `cpu`: CPU seconds of a call, the least mean over a run of calls;
        `first`: CPU seconds of the first call;
        `calls`: number of calls;
        `megabytes`: peak memory of the process, in MB.
    """
    start = time.process_time()
    answer = ask(0)
    first_seconds = time.process_time() - start
    spent_seconds = first_seconds
    best_seconds = first_seconds if first_seconds >= ENOUGH_SECONDS else math.inf
    calls = 1
    run_length = 1
    while spent_seconds < ENOUGH_SECONDS or math.isinf(best_seconds):
        start = time.process_time()
        for place in range(calls, calls + run_length):
            ask(place)
        run_seconds = time.process_time() - start
        spent_seconds += run_seconds
        calls += run_length
        if run_seconds >= RUN_SECONDS:
            best_seconds = min(best_seconds, run_seconds / run_length)
        else:
            run_length *= 2
    # The system states the peak in units of 1024 bytes.
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result: Result = {"cpu": best_seconds, "first": first_seconds, "calls": calls, "megabytes": megabytes}
    if finish is not None:
        result |= finish(answer)
    return result


def measure_isolated(ask: Ask, finish: Finish | None = None, *, seconds: int, megabytes: int) -> Result:
    """Measure a call in a child process with limits of CPU time and address space.

    Args:
        ask: the call; it takes the number of the question.
        finish: makes further members from the first answer; its work is not measured.
        seconds: limit of CPU time, in seconds.
        megabytes: limit of the address space, in MB.

    Returns:
        The figures of `measure`, or one member `absent`, `over` or `refused` with the reason.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _limit(seconds, megabytes)
            os.write(writing, json.dumps(_result(ask, finish)).encode())
        finally:
            os._exit(0)  # the child must not go on as a second measuring process
    os.close(writing)
    # Wait for the result, much longer than the CPU limit. A child that hangs is ended.
    ready, _, _ = select.select([reading], [], [], PATIENCE * seconds)
    if not ready:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as channel:
        result = channel.read()
    # Without a result, the way in which the child ended tells the reason.
    _, status = os.waitpid(child, 0)
    if result:
        return dict(json.loads(result))
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return {"over": f"{seconds} s of CPU"}
    return {"refused": "its process was ended" if ready else "it hangs, or the machine is too busy"}


def _limit(seconds: int, megabytes: int) -> None:
    """Limit the CPU seconds and the address space of this process; beyond the CPU limit it gets SIGXCPU."""
    hard_memory_limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, hard_memory_limit))


def _result(ask: Ask, finish: Finish | None) -> Result:
    """Measure a call, and turn its failure into a result.

    Args:
        ask: the call; it takes the number of the question.
        finish: makes further members from the first answer.

    Returns:
        The figures of `measure`, or one member with the reason: `absent` for a missing query, `over` for too much
        memory, and `refused` for any other error.
    """
    try:
        return measure(ask, finish)
    except NotOffered as error:
        return {"absent": str(error)}
    except MemoryError:
        return {"over": "the memory limit"}
    except Exception as error:  # noqa: BLE001  an accountant's failure is a row, whatever it is
        return {"refused": f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"}

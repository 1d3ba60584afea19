"""What all runners share: each question is answered in a fork of its own, with limits, and measured there.

The peer was imported before the fork, so its import is not in the figures; the peak memory of the fork is, imports and
all. Needs nothing but the standard library.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Run(NamedTuple):
    """`times` runs of a mechanism, as `benchmarks.cases.Part`; the noise is None where it is asked for."""

    rate: float
    noise: float | None
    times: int
    mechanism: str = "gaussian"


class Question(NamedTuple):
    """`asked` is epsilon, delta or noise_multiplier; of epsilon and delta what is given."""

    asked: str
    parts: list[Run]
    epsilon: float
    delta: float
    relation: str = "add-or-remove-one"


class Answer(NamedTuple):
    """What the peer would have its user rely on, and its interval if it gives one.

    `afterwards` gives an interval that is no part of the work that is measured.
    """

    value: float
    lower: float | None = None
    upper: float | None = None
    afterwards: Callable[[], tuple[float, float]] | None = None


class NotOffered(Exception):
    """The peer has no such query."""


Accountant = Callable[[Question], Answer]


def gaussians_only(question: Question) -> None:
    """Raise NotOffered for any other mechanism."""
    if any(part.mechanism != "gaussian" for part in question.parts):
        raise NotOffered("subsampled Gaussians only")


RUN_SECONDS = 0.1
"""Least CPU of a run of calls, as the process clock may move in steps of some milliseconds."""
ENOUGH_SECONDS = 0.3
PATIENCE = 10
"""How many times its CPU limit a question may take by the clock on the wall."""


def serve(accountants: Mapping[str, Accountant], version: str) -> None:
    """Answer questions until standard input ends. What a peer prints goes nowhere."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def send(message: Mapping[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    send({"version": version, "accountants": list(accountants)})
    for line in sys.stdin:
        request = json.loads(line)
        given = (request[name] for name in ("epsilon", "delta", "relation"))
        question = Question(request["question"], [Run(*part) for part in request["parts"]], *given)
        send(isolated(accountants[request["accountant"]], question, request["seconds"], request["megabytes"]))


def isolated(accountant: Accountant, question: Question, seconds: int, megabytes: int) -> dict[str, Any]:
    """The measured answer from a fork that may use so much CPU and so much address space."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))
        try:
            os.write(writing, json.dumps(measured(accountant, question)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], PATIENCE * seconds)
    if not ready:
        os.kill(child, signal.SIGKILL)
    said = b"".join(iter(lambda: os.read(reading, 65536), b""))
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if said:
        answer: dict[str, Any] = json.loads(said)
        return answer
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return {"over": f"{seconds} s of CPU"}
    return {"killed": f"its process ended with status {status}" if ready else "it hangs, or the machine is too busy"}


def measured(accountant: Accountant, question: Question) -> dict[str, Any]:
    """CPU seconds of the first call and of a call in the best run, with peak memory and the answer.

    Unless the first call was long, runs of more and more calls follow until they have taken `ENOUGH_SECONDS`.
    """
    try:
        begun = time.process_time()
        answer = accountant(question)
        first = spent = time.process_time() - begun
        best, size, calls = (first if first >= RUN_SECONDS else math.inf), 1, 1
        while spent < ENOUGH_SECONDS or math.isinf(best):
            begun = time.process_time()
            for _ in range(size):
                answer = accountant(question)
            run = time.process_time() - begun
            spent, calls = spent + run, calls + size
            if run >= RUN_SECONDS:
                best = min(best, run / size)
            else:
                size *= 2
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lower, upper = answer.afterwards() if answer.afterwards else (answer.lower, answer.upper)
    except NotOffered as error:
        return {"absent": str(error)}
    except MemoryError:
        return {"over": "the memory limit"}
    except Exception as error:  # noqa: BLE001  a peer's failure is a row, whatever it is
        return {"refused": f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:160]}"}
    return {
        "value": float(answer.value),
        "lower": None if lower is None else float(lower),
        "upper": None if upper is None else float(upper),
        "first": first,
        "cpu": best,
        "calls": calls,
        "peak_megabytes": peak,
    }

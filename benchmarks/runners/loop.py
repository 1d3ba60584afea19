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
from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice, repeat
from typing import Any, NamedTuple


class Run(NamedTuple):
    """`times` runs of a mechanism, as `benchmarks.cases.Part`; the noise is None where it is asked for."""

    rate: float
    noise: float | None
    times: int
    mechanism: str = "gaussian"
    categories: int = 2


def pure_epsilon(part: Run) -> float:
    """The ε of a randomised response: the logarithm of how much likelier the true answer is than another."""
    assert part.noise is not None
    return math.log1p(part.categories * (1.0 - part.noise) / part.noise)


class Question(NamedTuple):
    """`asked` is epsilon, delta or noise_multiplier; of epsilon and delta what is given."""

    asked: str
    parts: list[Run]
    epsilon: float | None
    delta: float | None
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


CHANGE = 1e-8
"""By how much of itself each given number of a question is larger than in the one before."""
RUN_SECONDS = 0.1
"""Least CPU of a run of calls, as the process clock may move in steps of some milliseconds."""
ENOUGH_SECONDS = 0.3
REPEATED_SECONDS = 1.0
"""A question whose first answer took more CPU than this is not asked again unchanged."""
PATIENCE = 60
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


def asked_anew(question: Question, place: int) -> Question:
    """A question that differs from any other place's in noise, ε and δ, and by so little that its work is the same."""
    more = 1.0 + CHANGE * place
    parts = [part if part.noise is None else part._replace(noise=part.noise * more) for part in question.parts]
    epsilon, delta = (None if given is None else given * more for given in (question.epsilon, question.delta))
    return question._replace(parts=parts, epsilon=epsilon, delta=delta)


def best_run(accountant: Accountant, questions: Iterator[Question]) -> tuple[float, int]:
    """CPU seconds of a call in the best run, and how many calls were made: longer runs follow until it is enough."""
    size, calls, spent, best = 1, 0, 0.0, math.inf
    while spent < ENOUGH_SECONDS or math.isinf(best):
        asked = list(islice(questions, size))
        begun = time.process_time()
        for question in asked:
            accountant(question)
        run = time.process_time() - begun
        spent, calls = spent + run, calls + size
        if run >= RUN_SECONDS:
            best = min(best, run / size)
        else:
            size *= 2
    return best, calls


def measured(accountant: Accountant, question: Question) -> dict[str, Any]:
    """CPU seconds of a call, with peak memory and the answer to the question as it was put.

    `first` is the first call, with what it imports and warms up. `cpu` is that where it took `ENOUGH_SECONDS` or more;
    else a call in the best run of further questions, none asked before, in runs of more and more until these have taken
    as much. `repeated` is a call in the best run of the last of these questions, asked again and again.
    """
    try:
        begun = time.process_time()
        answer = accountant(question)
        first = time.process_time() - begun
        anew = (asked_anew(question, place) for place in count(1))
        best, calls = (first, 0) if first >= ENOUGH_SECONDS else best_run(accountant, anew)
        again = None
        if first <= REPEATED_SECONDS:
            again, _ = best_run(accountant, repeat(asked_anew(question, calls)))
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
        "repeated": again,
        "calls": 1 + calls,
        "peak_megabytes": peak,
    }

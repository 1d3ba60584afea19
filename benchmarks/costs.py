"""What a call costs that was never asked before: CPU and peak memory, each question in a fork of its own with limits.

A call is asked with a place: 0 as it is written, and at each further place with every ε, δ and amount of noise larger
by `CHANGE` of itself, so that neither an answer nor a part of one is at hand. What is imported is imported before.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import epsilond

CHANGE = 1e-8
RUN_SECONDS = 0.1
"""Least CPU of a run of calls, as the process clock may move in steps of some milliseconds."""
ENOUGH_SECONDS = 0.3
"""A question whose first answer took more CPU than this is asked once."""
PATIENCE = 60
"""How many times its CPU limit a question may take by the clock on the wall."""
MOVED = frozenset(
    (
        "epsilon",
        "epsilons",
        "delta",
        "deltas",
        "log10_delta",
        "noise_multiplier",
        "scale_multiplier",
        "decay_rate",
        "noise_schedule",
        "noise_stds",
    )
)
"""The members that hold an ε, a δ or an amount of noise, and by which a question differs from the one before."""

Ask = Callable[[int], object]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """CPU seconds of a call and peak memory of its process, interpreter and imports included; or why there is none."""

    cpu: float | None = None
    first: float | None = None
    """The first call, with whatever it warms up."""
    megabytes: float | None = None
    reason: str = ""


def moved(asked: Any, place: int, *, within: bool = False) -> Any:
    """The question at a place: its ε, δ and noise larger by `CHANGE` of themselves for each place."""
    if isinstance(asked, Mapping):
        return {name: moved(value, place, within=within or name in MOVED) for name, value in asked.items()}
    if isinstance(asked, list | tuple):
        return type(asked)(moved(value, place, within=within) for value in asked)
    if within and isinstance(asked, float):
        return asked * (1.0 + CHANGE * place)
    return asked


def imported() -> None:
    """Import all that an answer needs, so that no figure has an import in it."""
    for name in epsilond.__all__:
        getattr(epsilond, name)
    spec = {"kind": "repeated", "times": 2, "mechanism": {"kind": "laplace", "scale_multiplier": 3.0}}
    epsilond.account(spec, relation="add-or-remove-one", delta=1e-3, unit="record", observer="server")


def measured(ask: Ask) -> Cost:
    """The CPU of a call in the best run of calls at places of their own, each asked once."""
    begun = time.process_time()
    ask(0)
    first = spent = time.process_time() - begun
    best, size, place = first if first >= RUN_SECONDS else math.inf, 1, 1
    while spent < ENOUGH_SECONDS or math.isinf(best):
        begun = time.process_time()
        for each in range(place, place + size):
            ask(each)
        run = time.process_time() - begun
        spent, place = spent + run, place + size
        if run >= RUN_SECONDS:
            best = min(best, run / size)
        else:
            size *= 2
    return Cost(cpu=best, first=first, megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def cost(ask: Ask, *, seconds: int, megabytes: int) -> Cost:
    """What a call costs, in a fork that may use so much CPU and address space."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))
        try:
            os.write(writing, json.dumps(vars(_said(ask))).encode())
        finally:
            os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], PATIENCE * seconds)
    if not ready:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as channel:
        said = channel.read()
    _, status = os.waitpid(child, 0)
    if said:
        return Cost(**json.loads(said))
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return Cost(reason=f"over {seconds} s of CPU")
    return Cost(reason="its process was ended" if ready else "it hangs, or the machine is too busy")


def _said(ask: Ask) -> Cost:
    try:
        return measured(ask)
    except MemoryError:
        return Cost(reason=f"over the memory limit, at {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")
    except Exception as error:  # noqa: BLE001  what is refused is a row, whatever it is
        return Cost(reason=f"{type(error).__name__}: {str(error).partition(chr(10))[0][:120]}")

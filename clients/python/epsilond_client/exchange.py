"""What goes to and fro between a client and the service until a question is answered, without saying how it is sent.

Each function is a generator of `Send` and `Pause`, which a client of either kind carries out; a `Send` is given back
its response, or the fault of the connection.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias, TypeVar

import httpx

from .events import is_stream, refused
from .jobs import JobStatus, read
from .patience import DEADLINE, HELD, RETRIES, Wait, backoff, pause_before_retry, seconds_of
from .question import Question
from .refusal import Refused, StillRunning, Unexpected

T = TypeVar("T")
ENDS = (StillRunning, Refused, Unexpected, httpx.TransportError)
"""How a wait for a job ends by itself without an answer; any other way breaks it off."""
KEY, PREFER = "Idempotency-Key", "Prefer"


@dataclass(frozen=True)
class Send:
    """Send a request: the arguments of httpx's `request`."""

    request: Mapping[str, Any]


@dataclass(frozen=True)
class Pause:
    """Do nothing for so many seconds."""

    seconds: float


Outcome: TypeAlias = httpx.Response | httpx.TransportError
Steps: TypeAlias = Generator[Send | Pause, Outcome | None, T]


def sent(request: Mapping[str, Any], wait: Wait) -> Steps[httpx.Response]:
    """The response to one request, sent again a few times where that can help.

    Raises:
        httpx.TransportError: it did not reach the service, or its answer did not come.
    """
    for tried in count():
        outcome = yield Send(request)
        assert outcome is not None
        pause = pause_before_retry(outcome, tried) if tried < RETRIES else None
        if pause is not None and pause <= wait.left():
            yield Pause(pause)
        elif isinstance(outcome, httpx.TransportError):
            raise outcome
        else:
            return outcome
    raise AssertionError  # the count has no end


def posed(question: Question[Any], wait: Wait, *, held: float, at_once: bool = False) -> Steps[httpx.Response]:
    """The first response to a question: its answer, a problem, or a job.

    A POST has a key of its own, so that the service computes it once however often it is sent. `held` is how many
    seconds the service may hold it; `at_once` asks for a job without waiting at all.
    """
    request = question.asked()
    if question.method == "POST":
        preferred = _preferred(min(held, wait.left()), at_once=at_once)
        request["headers"] = {KEY: secrets.token_hex(16), **preferred, **request["headers"]}
    return (yield from sent(request, wait))


def _preferred(held: float, *, at_once: bool) -> dict[str, str]:
    if at_once:
        return {PREFER: "respond-async"}
    return {PREFER: f"wait={int(held)}"} if held < DEADLINE else {}


def looked_at(path: str, wait: Wait, *, held: float = 0.0) -> Steps[tuple[JobStatus, float | None]]:
    """A job after `held` seconds unless it ends before, and when the service would be asked again, if it says so."""
    headers = {PREFER: f"wait={int(held)}"} if held >= 1.0 else {}
    response = yield from sent({"method": "GET", "url": path, "headers": headers}, wait)
    return read(response), seconds_of(response)


def followed(
    state: JobStatus, wait: Wait, *, held: float, told: Callable[[JobStatus], object] | None
) -> Steps[JobStatus]:
    """The state of a job when it has ended, or when the wait is over; `told` hears of each that is seen."""
    looks = 0
    while not state.is_over and not wait.over():
        if told is not None:
            told(state)
        asked = min(held, HELD, wait.left())
        soon = Wait(asked / 2)
        state, later = yield from looked_at(state.path, wait, held=asked)
        if not state.is_over and not soon.over():  # the service did not hold it
            yield Pause(min(later or backoff(looks), wait.left()))
            looks += 1
    if told is not None:
        told(state)
    return state


def result(state: JobStatus, question: Question[T], wait: Wait) -> Steps[T]:
    """The answer of a job that has ended.

    Raises:
        Refused: the job's problem; of a cancelled one, that there is no result.
    """
    if state.problem is None and state.state != "done":
        state, _ = yield from looked_at(state.path, wait)  # an event says that it failed, and not why
    if state.problem is not None:
        raise Refused(state.problem)
    response = yield from sent({"method": "GET", "url": f"{state.path}/result"}, wait)
    return question.answered(response)


def before_next_stream(outcome: Outcome, tried: int) -> Steps[None]:
    """Pause until the events of a job are worth asking for again, after a stream that ended before the job did.

    Raises:
        Refused: the service answered with a problem.
        Unexpected: it answered with something else.
        httpx.TransportError: the connection broke once too often.
    """
    streamed = isinstance(outcome, httpx.Response) and is_stream(outcome)
    pause = backoff(tried) if streamed else pause_before_retry(outcome, tried)
    if pause is None or tried >= RETRIES:
        raise outcome if isinstance(outcome, httpx.TransportError) else refused(outcome)
    yield Pause(pause)


def cancelled(path: str, wait: Wait) -> Steps[httpx.Response]:
    """The response to a job's cancellation."""
    return (yield from sent({"method": "DELETE", "url": path}, wait))

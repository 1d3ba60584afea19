"""Clients of the service, blocking and not."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

import anyio
import httpx

from . import exchange
from .exchange import Pause, Steps
from .job import AsyncJob, Job
from .jobs import PATH, JobStatus, accepted
from .patience import Wait
from .question import Question

T = TypeVar("T")
LONGEST_ANSWER = 60.0
"""Seconds; the service itself gives a job in place of an answer after 30, unless it was told otherwise."""
Told = Callable[[JobStatus], object]


def _options(base_url: str, api_key: str | None, timeout: float) -> dict[str, Any]:
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    return {"base_url": base_url, "headers": headers, "timeout": timeout}


class Client:
    """A client of the service at `base_url`, such as `http://127.0.0.1:8000`. In `with` it is closed at the end.

    Requests that the service puts off (429 and 503 with Retry-After), or that a broken connection loses, are sent
    again a few times. Each POST has an idempotency key of its own, so that nothing is run twice.

    Args:
        base_url: where the service is.
        api_key: sent as a bearer token, where the service asks for one.
        timeout: seconds until `httpx.TimeoutException` is raised for a single request; a job takes as many as it needs.
        transport: how requests are sent, for tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeout: float = LONGEST_ANSWER,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.http = httpx.Client(**_options(base_url, api_key, timeout), transport=transport)
        self.held = timeout / 2

    @overload
    def ask(
        self,
        question: Question[T],
        *,
        wait: Literal[True] = True,
        timeout: float | None = None,
        on_progress: Told | None = None,
    ) -> T: ...
    @overload
    def ask(self, question: Question[T], *, wait: Literal[False]) -> Job[T]: ...
    def ask(
        self,
        question: Question[T],
        *,
        wait: bool = True,
        timeout: float | None = None,
        on_progress: Told | None = None,
    ) -> T | Job[T]:
        """The answer, however long it takes; a long question becomes a job of the service, which is waited for.

        A wait that is broken off, by Ctrl-C or by what `on_progress` raises, cancels the job.

        Args:
            question: made by one of `operations`.
            wait: False gives the `Job` at once, to be waited for later.
            timeout: seconds until `StillRunning` is raised; None waits until the job ends.
            on_progress: called with each state of the job that is seen.

        Raises:
            Refused: the service answered with a problem, or the job ended with one.
            StillRunning: the job goes on, and the time is over.
            Unexpected: the answer is none of the service's.
        """
        limit = Wait(timeout)
        response = self.run(exchange.posed(question, limit, held=self.held, at_once=not wait))
        state = accepted(response)
        if state is None:
            return question.answered(response) if wait else Job(self, question, answered=response)
        job = Job(self, question, state=state)
        if not wait:
            return job
        try:
            return job.result(timeout=None if timeout is None else limit.left(), on_progress=on_progress)
        except exchange.ENDS:
            raise
        except BaseException:
            job.cancel_quietly()
            raise

    def job(self, id: str, answer: type[T] | Any = Any) -> Job[T]:  # noqa: A002  as it is called everywhere
        """A job that was started before, by its id; `answer` is the type that its answer is read as.

        Raises:
            Refused: there is none, or none of this key's.
        """
        path = f"{PATH}/{id}"
        state, _ = self.run(exchange.looked_at(path, Wait(None)))
        return Job(self, Question("GET", f"{path}/result", answer), state=state)

    def run(self, steps: Steps[T]) -> T:
        """Send and wait as the steps say; what they return."""
        try:
            step = next(steps)
            while True:
                step = steps.send(self._done(step))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _done(self, step: exchange.Send | Pause) -> exchange.Outcome | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            return self.http.request(**step.request)
        except httpx.TransportError as error:
            return error

    def close(self) -> None:
        """Closes its connections."""
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient:
    """As `Client`, for `async with` and `await client.ask(…)`."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeout: float = LONGEST_ANSWER,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.http = httpx.AsyncClient(**_options(base_url, api_key, timeout), transport=transport)
        self.held = timeout / 2

    @overload
    async def ask(
        self,
        question: Question[T],
        *,
        wait: Literal[True] = True,
        timeout: float | None = None,  # noqa: ASYNC109  the job goes on, which a cancel scope would not let it
        on_progress: Told | None = None,
    ) -> T: ...
    @overload
    async def ask(self, question: Question[T], *, wait: Literal[False]) -> AsyncJob[T]: ...
    async def ask(
        self,
        question: Question[T],
        *,
        wait: bool = True,
        timeout: float | None = None,  # noqa: ASYNC109
        on_progress: Told | None = None,
    ) -> T | AsyncJob[T]:
        """The answer; takes and raises what `Client.ask` does. A task that is cancelled cancels its job."""
        limit = Wait(timeout)
        response = await self.run(exchange.posed(question, limit, held=self.held, at_once=not wait))
        state = accepted(response)
        if state is None:
            return question.answered(response) if wait else AsyncJob(self, question, answered=response)
        job = AsyncJob(self, question, state=state)
        if not wait:
            return job
        try:
            return await job.result(timeout=None if timeout is None else limit.left(), on_progress=on_progress)
        except exchange.ENDS:
            raise
        except BaseException:
            with anyio.CancelScope(shield=True):
                await job.cancel_quietly()
            raise

    async def job(self, id: str, answer: type[T] | Any = Any) -> AsyncJob[T]:  # noqa: A002  as above
        """A job that was started before, as `Client.job`."""
        path = f"{PATH}/{id}"
        state, _ = await self.run(exchange.looked_at(path, Wait(None)))
        return AsyncJob(self, Question("GET", f"{path}/result", answer), state=state)

    async def run(self, steps: Steps[T]) -> T:
        """Send and wait as the steps say; what they return."""
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._done(step))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def _done(self, step: exchange.Send | Pause) -> exchange.Outcome | None:
        if isinstance(step, Pause):
            await anyio.sleep(step.seconds)
            return None
        try:
            return await self.http.request(**step.request)
        except httpx.TransportError as error:
            return error

    async def close(self) -> None:
        """Closes its connections."""
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

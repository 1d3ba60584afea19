"""A question that became a job: to be waited for, followed, or cancelled."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from . import exchange
from .events import Events, is_stream
from .jobs import JobStatus, read
from .models import Progress
from .patience import BROKEN, POLITE, Wait
from .question import Question
from .refusal import StillRunning

if TYPE_CHECKING:
    from .connection import AsyncClient, Client

T = TypeVar("T")
Told = Callable[[JobStatus], object]


class KnownJob(Generic[T]):
    """What is known of a job: as it was when it was last asked about.

    A question that was answered at once has no id, and its state is `done`.
    """

    def __init__(
        self, question: Question[T], *, state: JobStatus | None = None, answered: httpx.Response | None = None
    ) -> None:
        self.question = question
        self.document = state
        self._answered = answered

    @property
    def id(self) -> str | None:
        """What it is called at /v1/jobs."""
        return None if self.document is None else self.document.id

    @property
    def state(self) -> str:
        """`queued`, `running`, `done`, `failed`, `cancelled` or `interrupted`."""
        return "done" if self.document is None else self.document.state

    @property
    def progress(self) -> Progress | None:
        """How far it is, where that is known."""
        return None if self.document is None else self.document.progress

    def _at_once(self) -> T:
        """The answer that came without a job."""
        assert self._answered is not None
        return self.question.answered(self._answered)

    def _known(self, told: Told | None = None) -> Told:
        """Keeps each state that is seen, and tells it."""

        def keep(state: JobStatus) -> None:
            self.document = state
            if told is not None:
                told(state)

        return keep

    def _cancelled(self, response: httpx.Response) -> None:
        """Keep what is known after a cancellation; 204 and 404 say that it had ended before.

        Raises:
            Refused: it is refused, such as with another's key.
        """
        if response.status_code not in (httpx.codes.NO_CONTENT, httpx.codes.NOT_FOUND):
            self.document = read(response)


class Job(KnownJob[T]):
    """A job, of a blocking client."""

    def __init__(self, client: Client, question: Question[T], **known: Any) -> None:
        super().__init__(question, **known)
        self._client = client

    def refresh(self) -> JobStatus | None:
        """Ask how it is now; None of a question that was answered at once."""
        if self.document is not None and not self.document.is_over:
            self.document, _ = self._client.run(exchange.looked_at(self.document.path, Wait(None)))
        return self.document

    def result(self, *, timeout: float | None = None, on_progress: Told | None = None) -> T:
        """The answer, once the job has ended; what it takes and raises is said at `Client.ask`.

        It may be asked for again and again, as long as the service keeps the job.
        """
        if self.document is None:
            return self._at_once()
        wait = Wait(timeout)
        held, told = self._client.held, self._known(on_progress)
        state = self._client.run(exchange.followed(self.document, wait, held=held, told=told))
        if not state.is_over:
            raise StillRunning(self)
        return self._client.run(exchange.result(state, self.question, Wait(None)))

    def cancel(self) -> None:
        """Stop it; one that has ended stays as it is.

        Raises:
            Refused: the service refuses that.
        """
        if self.document is not None and not self.document.is_over:
            self._cancelled(self._client.run(exchange.cancelled(self.document.path, Wait(None))))

    def cancel_quietly(self) -> None:
        """Stop it if that works within a few seconds: whoever waited has gone."""
        if self.document is not None and not self.document.is_over:
            with suppress(httpx.HTTPError):
                self._client.http.delete(self.document.path, timeout=POLITE)

    def events(self) -> Iterator[JobStatus]:
        """Each state as it comes, until it has ended; a stream that breaks is taken up again.

        Raises:
            Refused: the service refuses the stream.
            httpx.TransportError: it breaks again and again.
        """
        seen, tried = Events(), 0
        while self.document is not None and not self.document.is_over:
            outcome: exchange.Outcome
            events = self._client.http.stream("GET", f"{self.document.path}/events", headers=seen.headers())
            try:
                with events as outcome:
                    if not is_stream(outcome):
                        outcome.read()
                    else:
                        for line in outcome.iter_lines():
                            for self.document in seen.read(line):
                                tried = 0
                                yield self.document
                                if self.document.is_over:
                                    return
            except BROKEN as error:
                outcome = error
            self._client.run(exchange.before_next_stream(outcome, tried))
            tried += 1


class AsyncJob(KnownJob[T]):
    """A job, of an async client; as `Job`."""

    def __init__(self, client: AsyncClient, question: Question[T], **known: Any) -> None:
        super().__init__(question, **known)
        self._client = client

    async def refresh(self) -> JobStatus | None:
        """As `Job.refresh`."""
        if self.document is not None and not self.document.is_over:
            self.document, _ = await self._client.run(exchange.looked_at(self.document.path, Wait(None)))
        return self.document

    async def result(self, *, timeout: float | None = None, on_progress: Told | None = None) -> T:  # noqa: ASYNC109  as of ask
        """As `Job.result`."""
        if self.document is None:
            return self._at_once()
        wait = Wait(timeout)
        held, told = self._client.held, self._known(on_progress)
        state = await self._client.run(exchange.followed(self.document, wait, held=held, told=told))
        if not state.is_over:
            raise StillRunning(self)
        return await self._client.run(exchange.result(state, self.question, Wait(None)))

    async def cancel(self) -> None:
        """As `Job.cancel`."""
        if self.document is not None and not self.document.is_over:
            self._cancelled(await self._client.run(exchange.cancelled(self.document.path, Wait(None))))

    async def cancel_quietly(self) -> None:
        """As `Job.cancel_quietly`."""
        if self.document is not None and not self.document.is_over:
            with suppress(httpx.HTTPError):
                await self._client.http.delete(self.document.path, timeout=POLITE)

    async def events(self) -> AsyncIterator[JobStatus]:
        """As `Job.events`."""
        seen, tried = Events(), 0
        while self.document is not None and not self.document.is_over:
            outcome: exchange.Outcome
            events = self._client.http.stream("GET", f"{self.document.path}/events", headers=seen.headers())
            try:
                async with events as outcome:
                    if not is_stream(outcome):
                        await outcome.aread()
                    else:
                        async for line in outcome.aiter_lines():
                            for self.document in seen.read(line):
                                tried = 0
                                yield self.document
                                if self.document.is_over:
                                    return
            except BROKEN as error:
                outcome = error
            await self._client.run(exchange.before_next_stream(outcome, tried))
            tried += 1

"""Clients of the service, blocking and not."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from .question import Question

T = TypeVar("T")
LONGEST_ANSWER = 60.0
"""Seconds; the service itself gives up a computation after 30, unless it was told otherwise."""


def _options(base_url: str, api_key: str | None, timeout: float) -> dict[str, Any]:
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    return {"base_url": base_url, "headers": headers, "timeout": timeout}


class Client:
    """A client of the service at `base_url`, such as `http://127.0.0.1:8000`. In `with` it is closed at the end.

    Args:
        base_url: where the service is.
        api_key: sent as a bearer token, where the service asks for one.
        timeout: seconds until `httpx.TimeoutException` is raised.
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

    def ask(self, question: Question[T]) -> T:
        """The answer.

        Raises:
            Refused: the service answered with a problem.
            Unexpected: the answer is none of the service's.
        """
        return question.answered(self.http.request(**question.asked()))

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

    async def ask(self, question: Question[T]) -> T:
        """The answer; raises what `Client.ask` raises."""
        return question.answered(await self.http.request(**question.asked()))

    async def close(self) -> None:
        """Closes its connections."""
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

"""Requests to a service over urllib. A request that is postponed, or that has lost its answer, is sent again."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from epsilond.accountants.json_types import JsonObject, JsonRecord

T = TypeVar("T")
TRIES: Final = 5
"""Largest number of times that one request is sent."""
FIRST_PAUSE: Final = 0.2
"""Shortest pause [s] before the second try. Each further pause is twice as long."""


class _RejectRedirects(HTTPRedirectHandler):
    """Handler that rejects redirects, so that API keys and requests to spend budget are not sent to another host."""

    def redirect_request(self, *_: object) -> None:
        """Return no new request, so that urllib raises an error for the redirect."""


_OPENER = build_opener(_RejectRedirects)


class ServiceProblem(Exception):
    """An HTTP answer of a service with an error status.

    Attributes:
        status: code of the HTTP status, such as 404.
        reason: phrase of the HTTP status, such as "Not Found".
        problem: the error as a JSON object (problem details, RFC 9457); empty if the answer has none.
    """

    def __init__(self, status: int, reason: str, problem: JsonObject) -> None:
        super().__init__(status, reason, problem)
        self.status = status
        self.reason = reason
        self.problem = problem


class NoAnswer(Exception):
    """No complete answer of a service was received. The message says why."""


@dataclass(frozen=True)
class ServiceAnswer:
    """Answer of a service to one HTTP request.

    Attributes:
        status: code of the HTTP status, such as 200.
        media_type: media type of the content, such as `application/json`.
        content: bytes of the content.
    """

    status: int
    media_type: str
    content: bytes

    def document(self) -> JsonRecord:
        """Return the content as a JSON object.

        Raises:
            ValueError: the content is not JSON, for example because it is incomplete.
        """
        return dict(json.loads(self.content))


@dataclass(frozen=True)
class Connection:
    """A service, with the settings of requests to it.

    Attributes:
        url: URL of the service.
        key: the API key; None if the service needs none.
        timeout: longest wait for the service in each try, in seconds.
        longest_pause: longest pause in seconds after which a postponed request is sent again.
        longest_answer: largest number of bytes that are read of an answer; -1 for all.
        is_repeatable: whether a request may be sent again if its answer was lost.
    """

    url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    longest_pause: int = 60
    longest_answer: int = 64 << 20
    is_repeatable: bool = True

    def send(
        self,
        method: str,
        path: str,
        read: Callable[[ServiceAnswer], T],
        *,
        data: bytes | None = None,
        headers: Mapping[str, str],
    ) -> T:
        """Send a request, and return the result of `read` for the answer.

        If the service postpones the request, it is sent again, up to `TRIES` times with growing pauses. A repeatable
        request is also sent again if the answer is missing or incomplete.

        Args:
            method: the HTTP method.
            path: the path and the query.
            read: function that converts the answer. It raises a ValueError if the answer is incomplete.
            data: the body; None for a request without a body.
            headers: the headers, to which the API key is added.

        Returns:
            The value that `read` returns.

        Raises:
            ServiceProblem: the service answers with an error.
            NoAnswer: no complete answer was received in the last try.
        """
        all_headers = dict(headers)
        if self.key is not None:
            all_headers["Authorization"] = f"Bearer {self.key}"
        request = Request(f"{self.url}{path}", data, all_headers, method=method)  # noqa: S310  http
        for number, pause in enumerate(_pauses(), start=1):
            try:
                with _OPENER.open(request, timeout=self.timeout) as response:
                    content = response.read(self.longest_answer)
                    media_type = response.headers.get_content_type()
                    return read(ServiceAnswer(response.status, media_type, content))
            except HTTPError as error:
                requested_pause = self._choose_pause(error, pause)
                if requested_pause is None or number == TRIES:
                    raise ServiceProblem(error.code, error.reason, self._read_problem(error)) from None
                time.sleep(requested_pause)
            except (URLError, OSError, ValueError) as error:
                if not self.is_repeatable or number == TRIES:
                    reason = getattr(error, "reason", error)
                    raise NoAnswer(f"the service at {self.url} does not answer: {reason}") from None
                time.sleep(pause)
        raise AssertionError  # the last try answers or raises

    def _choose_pause(self, error: HTTPError, pause: float) -> float | None:
        """Return the seconds after which a failed request is sent again, or None if it is not.

        With the status 429 or 503 a service postpones a request, and may state the seconds in Retry-After. With 502 or
        504 a proxy reports a lost answer. After these, or without Retry-After, only a repeatable request is sent again.

        Args:
            error: the answer of the service.
            pause: shortest pause in seconds. It is added to the seconds that the service states.

        Returns:
            The pause in seconds. None also if the service states more than `longest_pause`.
        """
        is_postponed = error.code in (429, 503)
        is_lost = error.code in (502, 504)
        if not is_postponed and not (is_lost and self.is_repeatable):
            return None
        retry_after = error.headers.get("Retry-After", "")
        if retry_after.isdecimal():
            is_too_long = int(retry_after) > self.longest_pause
            return None if is_too_long else float(retry_after) + pause
        return pause if self.is_repeatable else None

    def _read_problem(self, error: HTTPError) -> JsonObject:
        """Read the JSON object in which a service explains an HTTP error (problem details, RFC 9457).

        Args:
            error: answer of the service with an error status.

        Returns:
            The object. It is empty if the content cannot be read, or is not a JSON object.
        """
        try:
            problem = json.loads(error.read(self.longest_answer))
        except (ValueError, OSError):
            return {}
        if not isinstance(problem, dict):
            return {}
        return problem


def _pauses() -> Iterator[float]:
    """Yield the pause in seconds after each of `TRIES` tries: `FIRST_PAUSE` · 2^n times a random factor from 1 to 2.

    Here n is 0 for the first pause. The random factor keeps clients from repeating their requests at the same time.
    """
    for number in range(TRIES):
        random_factor = 1.0 + random.random()  # noqa: S311  no secret
        yield FIRST_PAUSE * 2.0**number * random_factor

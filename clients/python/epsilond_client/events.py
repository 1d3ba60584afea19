"""The events of a job, as the service sends them: server-sent events whose data is the job."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx

from .jobs import JobStatus
from .refusal import PROBLEM, Refused, Unexpected

MEDIA_TYPE = "text/event-stream"


@dataclass
class Events:
    """Reads lines of a stream; what it has seen goes into the request that connects again."""

    last_id: str = ""
    _id: str = ""
    _data: list[str] = field(default_factory=list)

    def headers(self) -> dict[str, str]:
        """Those of the request for the events that were not seen; half an event is forgotten."""
        self._data = []
        return {"Accept": MEDIA_TYPE, **({"Last-Event-ID": self.last_id} if self.last_id else {})}

    def read(self, line: str) -> Iterator[JobStatus]:
        """The job, where the line ends an event that tells of it."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "" and self._data:
            text = "\n".join(self._data)
            self.last_id, self._data = self._id, []
            yield JobStatus.model_validate_json(text)
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value


def refused(response: httpx.Response) -> Exception:
    """What to raise for a response, read whole, that is no stream of events."""
    if response.headers.get("content-type", "").startswith(PROBLEM):
        return Refused.of(response.content)
    return Unexpected(response)


def is_stream(response: httpx.Response) -> bool:
    """Whether a response is one."""
    return response.is_success and response.headers.get("content-type", "").startswith(MEDIA_TYPE)

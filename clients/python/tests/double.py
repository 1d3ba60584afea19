"""A service of a few lines that makes jobs of questions, as httpx sees it; each look at a job is answered at once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx

JOB = "/v1/jobs/job_1"
ANSWER = {"theorems": []}
INFEASIBLE = {"type": "/problems/infeasible", "title": "The target cannot be met", "status": 409, "detail": "No value."}
BUSY = {"type": "/problems/too-many-requests", "title": "Too many", "status": 429, "detail": "Wait."}


def problem(body: dict[str, Any], **headers: str) -> httpx.Response:
    """As the service refuses."""
    content = json.dumps(body)
    return httpx.Response(
        body["status"], content=content, headers={"content-type": "application/problem+json", **headers}
    )


@dataclass
class Service:
    """Answers 202, then `looks` times that the job runs, then that it has ended as `end` says.

    `first` are answered (or raised) before anything else. `seen` are the requests that came.
    """

    looks: int = 2
    end: str = "done"
    problem: dict[str, Any] | None = None
    first: list[httpx.Response | Exception] = field(default_factory=list)
    streams: list[bytes] = field(default_factory=list)
    seen: list[httpx.Request] = field(default_factory=list)
    cancelled: bool = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """As httpx.MockTransport asks."""
        self.seen.append(request)
        if self.first:
            answer = self.first.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        match request.method, request.url.path:
            case "POST", _:
                return httpx.Response(202, json=self.document("queued"), headers={"location": JOB, "retry-after": "1"})
            case "DELETE", path if path == JOB:
                self.cancelled = True
                return httpx.Response(200, json=self.document("cancelled"))
            case "GET", path if path == JOB:
                self.looks -= 1
                return httpx.Response(200, json=self.document("running" if self.looks >= 0 else self.end))
            case "GET", path if path == f"{JOB}/result" and self.end == "done":
                return httpx.Response(200, json=ANSWER)
            case "GET", path if path == f"{JOB}/events":
                return httpx.Response(200, content=self.streams.pop(0), headers={"content-type": "text/event-stream"})
        return problem(INFEASIBLE | {"type": "/problems/no-result", "title": "The job has no result"})

    def document(self, state: str) -> dict[str, Any]:
        """The job as it is served."""
        links = {"self": JOB, "events": f"{JOB}/events"}
        progress = {"done": 3, "of": 10, "seconds_spent": 4.5}
        told = {
            "id": "job_1",
            "kind": "sweep",
            "name": "gaussian",
            "state": state,
            "created": "2026-01-31T12:00:00.000Z",
            "engine_version": "1.0.0",
            "progress": progress,
            "links": links,
        }
        return told | ({"problem": self.problem} if self.problem and state == self.end else {})

    def event(self, state: str, place: int) -> bytes:
        """One event of its stream."""
        name = "progress" if state in ("queued", "running") else state
        return f"event: {name}\nid: {place}\ndata: {json.dumps(self.document(state))}\n\n".encode()

    def asked(self) -> list[tuple[str, str]]:
        """Method and path of each request."""
        return [(each.method, each.url.path) for each in self.seen]

"""Clients that post and follow jobs whatever happens to the service, and what they have seen."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

TRY_SECONDS = 180.0
"""How long a request that is rejected for now or cut off is sent again."""
END_SECONDS = 600.0
"""How long an accepted job may take to end once nothing is killed any more."""
ENDED = ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Question:
    """What is posted where, and how the library answers it; None if the library cannot."""

    path: str
    body: str
    ask: Callable[[dict[str, Any]], Any] | None = None


def digest(answer: Any) -> str:
    """Return a hash that is equal for equal JSON."""
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


@dataclass
class Seen:
    """What clients have seen."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    jobs: dict[str, Question] = field(default_factory=dict)
    """By the path of the job."""
    results: dict[str, str] = field(default_factory=dict)
    """Digest of the result of each job, and of each answer that came at once."""
    by_question: dict[Question, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, text: str) -> None:
        """Note something that must not be."""
        with self.lock:
            self.faults.append(text)

    def check_status(self, response: httpx.Response) -> httpx.Response:
        """Note a status that must not be."""
        if response.status_code in (429, 503) and "retry-after" not in response.headers:
            self.fault(f"{response.status_code} without Retry-After: {response.request.url.path}")
        elif response.status_code >= 500 and response.status_code != 503:
            self.fault(f"{response.status_code}: {response.request.url.path}: {response.text[:500]}")
        return response

    def check_result(self, question: Question, answer: Any, where: str) -> None:
        """Compare an answer with earlier ones to the same question, by this job or by another."""
        found = digest(answer)
        with self.lock:
            known = self.results.setdefault(where, found), self.by_question.setdefault(question, found)
        if known != (found, found):
            self.fault(f"{where} has another result than before: {question.path} {question.body}")


class Client(threading.Thread):
    """Posts and follows jobs until it is stopped; a request that is cut off is sent again with its key.

    Each attempt goes to the next of `urls`: to a proxy, or to the services in turn.
    """

    def __init__(self, seed: int, urls: Sequence[str], questions: Sequence[Question], seen: Seen) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.client = httpx.Client(timeout=90.0)
        self.urls, self.questions, self.seen = urls, questions, seen
        self.stopped = threading.Event()

    def run(self) -> None:
        """Post one question after another."""
        while not self.stopped.is_set():
            try:
                self.post()
            except Exception as error:  # noqa: BLE001 (a finding)
                self.seen.fault(repr(error))

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Return the first answer that is neither a rejection for now nor a connection that was cut.

        Raises:
            TimeoutError: there was none for long.
        """
        until = time.monotonic() + TRY_SECONDS
        while time.monotonic() < until:
            url = self.random.choice(self.urls)
            try:
                response = self.seen.check_status(self.client.request(method, f"{url}{path}", **given))
            except httpx.TransportError:
                self.seen.counts["connections cut"] += 1
                time.sleep(0.1)
                continue
            if response.status_code not in (429, 503):
                return response
            time.sleep(min(2.0, float(response.headers.get("retry-after", 1))))
        raise TimeoutError(f"{method} {path} was rejected or cut off for {TRY_SECONDS:g} s")

    def post(self) -> None:
        """Post one question, perhaps twice with one key, and do one thing with its job."""
        question = self.random.choice(self.questions)
        headers = {"idempotency-key": f"{self.random.getrandbits(64):x}", "content-type": "application/json"}
        headers["prefer"] = self.random.choice(("respond-async", "respond-async", "wait=5"))
        response = self.send("POST", question.path, content=question.body, headers=headers)
        if response.status_code not in (200, 201, 202):
            self.seen.fault(f"{question.path} answered {response.status_code}: {response.text[:500]}")
            return
        where = response.headers.get("location")
        if where is None:
            self.seen.check_result(question, response.json(), f"{question.path} {headers['idempotency-key']}")
            return
        with self.seen.lock:
            self.seen.jobs[where] = question
        if self.random.random() < 0.2:
            again = self.send("POST", question.path, content=question.body, headers=headers)
            if again.headers.get("location", where) != where:
                self.seen.fault(f"one key made two jobs: {where} and {again.headers['location']}")
        ways = {"leave": self.leave, "wait": self.wait, "events": self.events, "remove": self.remove}
        ways[self.random.choice(("leave", "leave", "wait", "wait", "events", "events", "remove"))](where)

    def leave(self, where: str) -> None:
        """Go on to the next question; `check` looks at the job at the end."""
        del where
        time.sleep(self.random.expovariate(2.0))

    def wait(self, where: str) -> None:
        """Ask for the job until it has ended, and fetch its result."""
        while not self.stopped.is_set():
            if self.send("GET", where, headers={"prefer": "wait=5"}).json().get("state") in ENDED:
                self.fetch_result(where)
                return

    def events(self, where: str) -> None:
        """Follow the events of the job as long as the connection holds."""
        url = self.random.choice(self.urls)
        with suppress(httpx.TransportError), self.client.stream("GET", f"{url}{where}/events") as stream:
            if self.seen.check_status(stream).status_code == 200:
                for line in stream.iter_lines():
                    if line.removeprefix("event: ") in ENDED:
                        self.seen.counts["streams to the end"] += 1
                        self.fetch_result(where)
                    if self.stopped.is_set():
                        return

    def remove(self, where: str) -> None:
        """Cancel the job, or remove it if it has ended; what is left of it is not looked at."""
        with self.seen.lock:
            del self.seen.jobs[where]
        time.sleep(self.random.expovariate(2.0))
        self.send("DELETE", where)
        self.seen.counts["removed"] += 1

    def fetch_result(self, where: str) -> None:
        """Fetch the result of a job that is done."""
        response = self.send("GET", f"{where}/result")
        if response.status_code == 200:
            self.seen.check_result(self.seen.jobs[where], response.json(), where)
        else:
            self.seen.fault(f"{where} has no result: {response.status_code} {response.text[:500]}")


def check(client: Client) -> None:
    """Note every accepted job that does not end as done, and every result that the library does not give."""
    until = time.monotonic() + END_SECONDS
    for where in sorted(client.seen.jobs):
        job: Mapping[str, Any] = {}
        while job.get("state") not in ENDED and time.monotonic() < until:
            response = client.send("GET", where, headers={"prefer": "wait=5"})
            if response.status_code != 200:
                client.seen.fault(f"{where} is lost: {response.status_code}")
                break
            job = response.json()
        if job.get("state") == "done":
            client.fetch_result(where)
        else:
            client.seen.fault(f"{where} is {job.get('state')}: {job.get('problem')}")
    for question, found in client.seen.by_question.items():
        if question.ask is not None and found != digest(question.ask(json.loads(question.body))):
            client.seen.fault(f"the library answers something else: {question.path} {question.body}")

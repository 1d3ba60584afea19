"""The clients of `chaos_replicas.py`: what they post and follow, and what they have seen."""

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

import epsilond
from benchmarks.chaos import ENDED
from epsilond.witness.one_thread import one_thread

TRY_SECONDS = 180.0
"""How long a client tries again what is refused or cut off."""
END_SECONDS = 600.0
"""How long what was taken in may take to end once nothing is killed any more."""


@dataclass(frozen=True)
class Question:
    """What is posted where, and how the library is asked the same."""

    path: str
    body: str
    ask: Callable[[dict[str, Any]], Any]

    def expected(self) -> str:
        """The digest of the library's answer."""
        with one_thread():
            return digest(json.loads(json.dumps(epsilond.as_json(self.ask(json.loads(self.body))))))


def digest(answer: Any) -> str:
    """Equal for equal JSON."""
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


@dataclass
class Seen:
    """What clients have seen."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    jobs: dict[str, Question] = field(default_factory=dict)
    """By the path of the job."""
    results: dict[str, str] = field(default_factory=dict)
    """Of each job that was seen done, and of each answer that came at once."""
    by_question: dict[Question, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, text: str) -> None:
        """Something does not hold."""
        with self.lock:
            self.faults.append(text)

    def checked(self, response: httpx.Response) -> httpx.Response:
        """Its status is one that may be."""
        with self.lock:
            self.counts[f"{response.request.method} {response.status_code}"] += 1
        if response.status_code in (429, 503) and "retry-after" not in response.headers:
            self.fault(f"{response.status_code} without Retry-After: {response.request.url.path}")
        elif response.status_code >= 500 and response.status_code != 503:
            self.fault(f"{response.status_code}: {response.request.url.path}: {response.text[:500]}")
        return response

    def answered(self, question: Question, answer: Any, where: str) -> None:
        """An answer, which is the same wherever and whenever the question is answered."""
        found = digest(answer)
        with self.lock:
            known = self.results.setdefault(where, found), self.by_question.setdefault(question, found)
        if known != (found, found):
            self.fault(f"{where} has another result than before: {question.path} {question.body}")


class Client(threading.Thread):
    """Posts and follows until it is told to stop; what is cut off or refused for now is sent again under its key."""

    def __init__(self, seed: int, url: str, asked: Sequence[Question], seen: Seen) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.client = httpx.Client(base_url=url, timeout=90.0)
        self.asked = asked
        self.seen = seen
        self.stopped = threading.Event()

    def run(self) -> None:
        """One thing after another."""
        while not self.stopped.is_set():
            try:
                self.one()
            except Exception as error:  # noqa: BLE001 (a finding)
                self.seen.fault(repr(error))

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """The answer, once there is one that is neither a refusal for now nor a connection that was cut.

        Raises:
            TimeoutError: there was none for long.
        """
        until = time.monotonic() + TRY_SECONDS
        while time.monotonic() < until:
            try:
                response = self.seen.checked(self.client.request(method, path, **given))
            except httpx.TransportError:
                self.seen.counts["connections cut"] += 1
                time.sleep(0.1)
                continue
            if response.status_code not in (429, 503):
                return response
            time.sleep(min(2.0, float(response.headers.get("retry-after", 1))))
        raise TimeoutError(f"{method} {path} was refused or cut off for {TRY_SECONDS:g} s")

    def one(self) -> None:
        """Post one question, and do one thing with its job."""
        pick = self.random
        question = pick.choice(self.asked)
        headers = {"idempotency-key": f"{pick.getrandbits(64):x}", "content-type": "application/json"}
        headers["prefer"] = pick.choice(("respond-async", "respond-async", "wait=5"))
        response = self.send("POST", question.path, content=question.body, headers=headers)
        if response.status_code not in (200, 201, 202):
            self.seen.fault(f"{question.path} answered {response.status_code}: {response.text[:500]}")
            return
        where = response.headers.get("location")
        if where is None:
            self.seen.answered(question, response.json(), f"{question.path} {headers['idempotency-key']}")
            return
        with self.seen.lock:
            self.seen.jobs[where] = question
        if pick.random() < 0.2:
            again = self.send("POST", question.path, content=question.body, headers=headers)
            if again.headers.get("location", where) != where:
                self.seen.fault(f"one key made two jobs: {where} and {again.headers['location']}")
        {"leave": self.leave, "wait": self.wait, "events": self.events}[pick.choice(("leave", "wait", "events"))](where)

    def leave(self, where: str) -> None:
        """Somebody may come back for it later: at the end everything is looked at."""
        del where
        time.sleep(self.random.expovariate(2.0))

    def wait(self, where: str) -> None:
        """Ask again and again until it has ended, and fetch its result."""
        while not self.stopped.is_set():
            job = self.send("GET", where, headers={"prefer": "wait=5"}).json()
            if job.get("state") in ENDED:
                result(self, where)
                return

    def events(self, where: str) -> None:
        """Follow its events as long as the connection holds."""
        with suppress(httpx.TransportError), self.client.stream("GET", f"{where}/events") as stream:
            if self.seen.checked(stream).status_code == 200:
                for line in stream.iter_lines():
                    if line.removeprefix("event: ") in ENDED:
                        self.seen.counts["streams to the end"] += 1
                        result(self, where)
                    if self.stopped.is_set():
                        return


def result(client: Client, where: str) -> None:
    """A job that has ended is done, and its result is right."""
    response = client.send("GET", f"{where}/result")
    if response.status_code != 200:
        client.seen.fault(f"{where} has no result: {response.status_code} {response.text[:500]}")
        return
    client.seen.answered(client.seen.jobs[where], response.json(), where)


def check(client: Client) -> None:
    """Everything that was taken in ends as done, with the right result."""
    until = time.monotonic() + END_SECONDS
    for where in sorted(client.seen.jobs):
        job: Mapping[str, Any] = {}
        while job.get("state") not in ENDED and time.monotonic() < until:
            response = client.send("GET", where, headers={"prefer": "wait=5"})
            if response.status_code != 200:
                client.seen.fault(f"{where} is lost: {response.status_code}")
                break
            job = response.json()
        if job.get("state") != "done":
            client.seen.fault(f"{where} is {job.get('state')}: {job.get('problem')}")
        else:
            result(client, where)
    for question, found in client.seen.by_question.items():
        if found != question.expected():
            client.seen.fault(f"the library answers something else: {question.path} {question.body}")

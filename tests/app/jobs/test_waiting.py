"""Requests that wait for jobs: what they read, how many there may be, and when they end early."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio import to_thread

from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.scopes import LEGACY_SCOPES
from epsilond.app.http.problems import Problem
from epsilond.app.jobs.looks import SharedReader
from epsilond.app.jobs.places import Places
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.jobs.waiting import Waiting
from epsilond.app.metrics import Metrics
from epsilond.app.store import End, Record, Store
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENCE, PATIENT, SERVERS, problem, sample_of, serving, wait_until
from tests.app.jobs.support import AT_ONCE, BUSY, JOBS, LONG, PATH, WAIT, held, running
from tests.app.store.samples import queued, record
from tests.app.store.samples import running as runs

WAITS = "epsilond_job_waits"
WAITERS = 5


@pytest.fixture
def store() -> Iterator[Store]:
    opened = Store.open(PATIENT)
    yield opened
    opened.close()


def shelf(store: Store) -> Shelf:
    """A service's, of its own."""
    return Shelf(store, "me", Metrics().store_up)


def test_who_waits_reads_the_large_parts_once_at_the_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.waiting.LOOK_SECONDS", 0.01)
    runs(store, "a", replica="other")
    get, wholes = store.get, list[bool]()

    def counted(owner: str, identifier: str, *, complete: bool = True) -> Record | None:
        wholes.append(complete)
        if len(wholes) == 4 * WAITERS:
            store.end("a", 1, "other", End(state="done", result=b"{}"))
        return get(owner, identifier, complete=complete)

    monkeypatch.setattr(store, "get", counted)

    async def told() -> list[bytes | None]:
        waiting, results = Waiting(shelf(store), {}), list[bytes | None]()

        async def wait() -> None:
            results.append((await waiting.wait("", "a", 1e9)).record.result)

        async with anyio.create_task_group() as tasks:
            for _ in range(WAITERS):
                tasks.start_soon(wait)
        return results

    assert anyio.run(told) == WAITERS * [b"{}"]
    assert not any(wholes[: 4 * WAITERS]), "a job that has not ended was read with its large parts"
    assert 1 <= sum(wholes) <= WAITERS


def test_who_follows_a_job_does_not_read_its_large_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    queued(store, "a", request=b"large")

    async def first() -> Record:
        async for job in Waiting(shelf(store), {}).changes("", "a"):
            return job.record
        raise AssertionError

    assert anyio.run(first).request == b""


def test_all_who_look_at_a_time_share_one_reading() -> None:
    readings: list[float] = []

    async def look() -> list[Record | None]:
        let_go, found = anyio.Event(), list[Record | None]()

        async def read() -> Record | None:
            readings.append(anyio.current_time())
            await let_go.wait()
            return record("a")

        one = SharedReader(read)

        async def since(moment: float) -> None:
            found.append(await one.since(moment))

        async with anyio.create_task_group() as tasks:
            moment = anyio.current_time()
            for _ in range(WAITERS):
                tasks.start_soon(since, moment)
            await anyio.wait_all_tasks_blocked()
            let_go.set()
        assert len(found) == WAITERS
        await since(anyio.current_time())
        return found

    assert anyio.run(look) == (WAITERS + 1) * [record("a")]
    assert len(readings) == 2, "one for all who came before it, one for who came after"


def test_a_failure_is_shared_too_and_each_is_told_a_problem_of_their_own() -> None:
    async def look() -> list[Problem]:
        readings, problems = 0, list[Problem]()

        async def read() -> Record | None:
            nonlocal readings
            readings += 1
            raise Problem("unavailable", "gone", headers={"Retry-After": "10"})

        one, moment = SharedReader(read), anyio.current_time()
        for _ in range(2):
            with pytest.raises(Problem) as refused:
                await one.since(moment)
            problems.append(refused.value)
        assert readings == 1
        return problems

    one, other = anyio.run(look)
    assert one is not other
    assert one.headers == other.headers == {"Retry-After": "10"}


def test_what_the_jobs_tell_the_store_does_not_queue_behind_requests(store: Store) -> None:
    runs(store, "a", replica="me")
    let_go = threading.Event()

    async def ends() -> None:
        own = shelf(store)
        async with anyio.create_task_group() as tasks:
            for _ in range(WAITERS):
                tasks.start_soon(own.call, let_go.wait)
            await anyio.wait_all_tasks_blocked()
            try:
                with anyio.fail_after(60.0):
                    assert await own.quietly(store.counts) == {"running": 1}
                found = store.get("", "a")
                assert found is not None
                await own.end(found, End(state="done"))
                assert store.counts() == {"done": 1}
            finally:
                let_go.set()

    anyio.run(ends)


def test_places_are_counted_in_all_and_for_each() -> None:
    places = Places(4, "places")
    with places.place("a"), places.place("a"):
        assert not places.has_room("a")
        with pytest.raises(Problem, match="This caller has") as refused, places.place("a"):
            pass
        assert refused.value.kind.slug == "rate-limited"
        assert refused.value.headers["Retry-After"]
        with places.place("b"), places.place("c"):
            with pytest.raises(Problem, match="There are too many") as refused, places.place("d"):
                pass
            assert refused.value.kind.slug == "too-many-requests"
        assert places.taken == 2
        assert places.has_room("b")
    assert places.taken == 0


def sent(client: httpx.Client, method: str, path: str, body: bytes = b"", **headers: str) -> socket.socket:
    """A request that nobody has read the answer to yet."""
    raw = socket.create_connection((client.base_url.host, client.base_url.port or 80))
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    raw.sendall(f"{head}{''.join(lines)}\r\n".encode() + body)
    return raw


@pytest.mark.parametrize("below", ["", "/result"])
def test_who_leaves_waits_no_longer(client: httpx.Client, tmp_path: Path, below: str) -> None:
    location = running(client, LONG, tmp_path / "diary")
    job = f"{JOBS}/{location.rpartition('/')[2]}"
    for path in (f"{job}{below}", location):
        with sent(client, "GET", path, **WAIT):
            wait_until(lambda: sample_of(client, WAITS) == 1)
        wait_until(lambda: sample_of(client, WAITS) == 0)
    client.delete(location)


def test_who_leaves_a_question_that_is_a_job_waits_no_longer(client: httpx.Client, tmp_path: Path) -> None:
    with held(client, tmp_path / "diary"):
        body, key = b'{"seconds": 100.0, "diary": "%s"}' % str(tmp_path / "other").encode(), {"idempotency-key": "left"}
        headers = {"content-type": "application/json"} | key
        job = client.post(BUSY, content=body, headers=headers | AT_ONCE)
        assert job.status_code == 202
        with sent(client, "POST", BUSY, body, **WAIT | key):
            wait_until(lambda: sample_of(client, WAITS) == 1)
        wait_until(lambda: sample_of(client, WAITS) == 0)
        client.delete(job.headers["location"])


def test_so_many_wait_at_one_time(tmp_path: Path) -> None:
    with serving(PATIENT.model_copy(update={"job_waits": 2})) as client:
        location = running(client, LONG, tmp_path / "diary")
        with sent(client, "GET", location, **WAIT):
            wait_until(lambda: sample_of(client, WAITS) == 1)
            refused = client.get(location, headers=WAIT)
            problem(refused, 429, "rate-limited")
            assert int(refused.headers["retry-after"]) > 0
            problem(client.delete(location), 429, "rate-limited")
            assert client.get(location).json()["state"] == "running", "who does not wait needs no place"
            taken = client.post(PATH, json=LONG, headers=WAIT)
            assert taken.status_code == 202, "what was taken in is told of, and not refused"
        wait_until(lambda: sample_of(client, WAITS) == 0)
        for each in (location, taken.headers["location"]):
            assert client.delete(each).json()["state"] == "cancelled"


def test_who_waits_is_let_out_when_their_key_is_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.attending.TELL_SECONDS", 0.05)
    with guarded(tmp_path) as (client, revoke), ThreadPoolExecutor(1) as pool:
        location = running(client, LONG, tmp_path / "diary")
        waits = pool.submit(client.get, location, headers=WAIT)
        wait_until(lambda: sample_of(client, WAITS) == 1)
        revoke()
        problem(waits.result(), 401, "unauthorized")


def test_a_stream_ends_when_its_key_is_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.waiting.TELL_SECONDS", 0.05)
    with guarded(tmp_path) as (client, revoke):
        location = running(client, LONG, tmp_path / "diary")
        with client.stream("GET", f"{location}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: progress"
            revoke()
            assert {line for line in lines if line.startswith("event")} <= {"event: progress"}, "it went on to the end"


def test_a_burst_opens_no_more_streams_than_there_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go, entered, refused = threading.Event(), list[str](), list[httpx.Response]()
    with serving(PATIENT.model_copy(update={"event_streams": 6})) as client, ThreadPoolExecutor(2 * WAITERS) as pool:
        location = running(client, LONG, tmp_path / "diary")
        waiting = SERVERS[str(client.base_url)].config.app.state.jobs.waiting  # type: ignore[union-attr]
        read = waiting._shelf.query

        async def slowly(*asked: Any) -> Any:
            entered.append("")
            await to_thread.run_sync(let_go.wait)
            return await read(*asked)

        monkeypatch.setattr(waiting._shelf, "query", slowly)

        def follow() -> None:
            with client.stream("GET", f"{location}/events") as stream:
                if stream.status_code != 200:
                    stream.read()
                    refused.append(stream)

        followers = [pool.submit(follow) for _ in range(2 * WAITERS)]
        wait_until(lambda: len(entered) + len(refused) >= 2 * WAITERS)
        let_go.set()
        for each in followers:
            each.result()
        for answer in refused:
            problem(answer, 429, "rate-limited")
        assert len(refused) == 2 * WAITERS - 3, "half of the streams are one caller's"
        wait_until(lambda: sample_of(client, "epsilond_event_streams") == 0)
        problem(client.get(f"{JOBS}/none/events"), 404, "not-found")
        assert sample_of(client, "epsilond_event_streams") == 0, "a refusal gives its place back"
        client.delete(location)


@contextmanager
def guarded(folder: Path) -> Iterator[tuple[httpx.Client, Callable[[], None]]]:
    """A client with a key, of a server that asks for one, and what revokes the key."""
    key, line = keys.new("ada", CallerLimits(), LEGACY_SCOPES)
    other, admin = keys.new("root", CallerLimits(), {"admin"})
    chosen = PATIENT.model_copy(update={"api_keys_file": str(file_of(folder, line, admin))})
    with serving(chosen) as served:
        client = httpx.Client(base_url=served.base_url, timeout=PATIENCE, headers={"authorization": f"Bearer {key}"})

        def revoke() -> None:
            headers = {"authorization": f"Bearer {other}"}
            assert served.delete(f"/v1/api-keys/{line.id}", headers=headers).status_code == 200

        with client:
            yield client, revoke

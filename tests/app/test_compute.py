"""Cache, sharing, deadlines, disconnects, deaths and limits, on real servers with real workers."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from epsilond.app.settings import Settings
from tests.app.conftest import PATIENCE, application, problem, sample_of, serving, wait_until
from tests.app.toys import may_end

BUSY = "/v1/calibrations/busy"
SLOW = "/v1/calibrations/slow-toy"
LONG: dict[str, Any] = {"seconds": 100.0}


@pytest.fixture(scope="module")
def hurried() -> Iterator[httpx.Client]:
    """Little time for computations and for bodies."""
    with serving(Settings(workers=1, port=0, deadline_seconds=1.0, body_seconds=1.0, store_path=":memory:")) as served:
        yield served


SMALL = Settings(
    workers=1,
    port=0,
    queue=1,
    deadline_seconds=PATIENCE,
    worker_memory_megabytes=1024,
    cache_megabytes=0,
    store_path=":memory:",
)


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """Of the small server."""
    return application(SMALL)


@pytest.fixture(scope="module")
def small(app: FastAPI) -> Iterator[httpx.Client]:
    """One worker, one place in the queue, little memory, and no cache."""
    with serving(SMALL, app) as served:
        yield served


@pytest.fixture
def warm(small: httpx.Client) -> httpx.Client:
    """The small server with every worker warm, the spare one too."""
    wait_until(lambda: sample_of(small, "epsilond_workers_warm") == 1)
    return small


@pytest.fixture
def waiting(app: FastAPI) -> Callable[[], int]:
    """How many requests wait for computations of the small server."""
    return lambda: sum(shared.waiting for shared in list(app.state.compute._shared.values()))


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Where busy toys write."""
    return tmp_path / "diary"


def entries(diary: Path) -> list[tuple[str, int]]:
    """What was written: (began or ended, process id)."""
    lines = diary.read_text().splitlines() if diary.exists() else []
    return [(what, int(process)) for what, process in (line.split() for line in lines)]


def alive(process: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_cache(client: httpx.Client, metric: Callable[[str], float]) -> None:
    body = {"epsilon": 3.25, "delta": 1e-6, "clients": 10}
    widths = 'epsilond_certificate_relative_width_count{algorithm="slow-toy"}'
    before = metric(widths), metric('epsilond_cache_total{use="hit"}')
    first, second = client.post(SLOW, json=body), client.post(SLOW, json=body | {"clients": 10.0})
    assert (first.headers["x-cache"], second.headers["x-cache"]) == ("miss", "hit")
    assert first.content == second.content
    assert client.post(SLOW, json=body | {"clients": 11}).headers["x-cache"] == "miss"
    assert metric(widths) == before[0] + 2
    assert metric('epsilond_cache_total{use="hit"}') == before[1] + 1


def test_closed_forms_and_workers_answer_alike(client: httpx.Client) -> None:
    body = {"epsilon": 3.5, "delta": 1e-6, "clients": 10}
    assert client.post(SLOW, json=body).content == client.post("/v1/calibrations/toy", json=body).content


def test_identical_requests_share_one_computation(warm: httpx.Client, diary: Path, waiting: Callable[[], int]) -> None:
    body = LONG | {"diary": str(diary)}
    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(warm.post, BUSY, json=body) for _ in range(4)]
        wait_until(lambda: waiting() == 4)
        may_end(diary).touch()
        answers = [each.result() for each in asking]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert sorted(answer.headers["x-cache"] for answer in answers) == ["miss", "shared", "shared", "shared"]
    assert [what for what, _ in entries(diary)] == ["began", "ended"]


def test_one_thread_of_arithmetic_a_worker(client: httpx.Client) -> None:
    answer = client.post(BUSY, json={"seconds": 0, "way": "threads"})
    assert answer.json()["parameters"]["noise_std"] == 1.0


def test_past_the_deadline_a_job_goes_on_with_it(hurried: httpx.Client, diary: Path) -> None:
    taken = hurried.post(BUSY, json=LONG | {"diary": str(diary), "way": "spin"})
    assert taken.status_code == 202, taken.text
    assert int(taken.headers["retry-after"]) > 0
    wait_until(lambda: entries(diary))
    assert hurried.post(BUSY, json={"seconds": 0.01}, headers={"Prefer": "wait=60"}).status_code == 200
    may_end(diary).touch()
    done = hurried.get(taken.headers["location"], headers={"Prefer": "wait=60"}).json()
    assert done["state"] == "done"
    assert done["result"]["algorithm"] == "busy"
    assert [what for what, _ in entries(diary)] == ["began", "ended"]


def test_a_job_that_is_cancelled_is_stopped(hurried: httpx.Client, diary: Path) -> None:
    taken = hurried.post(BUSY, json=LONG | {"diary": str(diary)}, headers={"Prefer": "respond-async"})
    assert taken.status_code == 202, taken.text
    wait_until(lambda: entries(diary))
    assert hurried.delete(taken.headers["location"]).json()["state"] == "cancelled"
    wait_until(lambda: not alive(entries(diary)[0][1]))
    assert hurried.delete(taken.headers["location"]).status_code == 204
    problem(hurried.get(taken.headers["location"]), 404, "not-found")


def test_a_disconnect_kills(warm: httpx.Client, diary: Path) -> None:
    raw = asked(warm, diary)
    wait_until(lambda: entries(diary))
    raw.close()
    wait_until(lambda: not alive(entries(diary)[0][1]))
    assert [what for what, _ in entries(diary)] == ["began"]
    wait_until(lambda: sample_of(warm, 'epsilond_worker_deaths_total{cause="abandoned"}') == 1)
    assert warm.post(BUSY, json={"seconds": 0.02}).status_code == 200


def test_a_crash_is_tried_once_more_and_is_one_failed_request(warm: httpx.Client) -> None:
    crashes = sample_of(warm, 'epsilond_worker_deaths_total{cause="crashed"}')
    lost = warm.post(BUSY, json={"seconds": 0, "way": "die"})
    problem(lost, 503, "unavailable")
    assert int(lost.headers["retry-after"]) > 0
    assert warm.post(BUSY, json={"seconds": 0.01}).status_code == 200
    assert sample_of(warm, 'epsilond_worker_deaths_total{cause="crashed"}') == crashes + 2


def test_a_disconnect_of_one_leaves_the_others_their_answer(
    warm: httpx.Client, diary: Path, waiting: Callable[[], int]
) -> None:
    raw = asked(warm, diary)
    wait_until(lambda: entries(diary))
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(warm.post, BUSY, json=LONG | {"diary": str(diary)})
        wait_until(lambda: waiting() == 2)
        raw.close()
        wait_until(lambda: waiting() == 1)
        may_end(diary).touch()
        assert other.result().status_code == 200
    assert other.result().headers["x-cache"] == "shared"
    assert [what for what, _ in entries(diary)] == ["began", "ended"]


def asked(client: httpx.Client, diary: Path) -> socket.socket:
    """A connection on which a busy toy has been asked for."""
    body = json.dumps(LONG | {"diary": str(diary)})
    raw = socket.create_connection((client.base_url.host, client.base_url.port or 80))
    head = f"POST {BUSY} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    raw.sendall((head + body).encode())
    return raw


def test_memory_is_limited(warm: httpx.Client) -> None:
    problem(warm.post(BUSY, json={"seconds": 0, "way": "allocate"}), 500, "internal-error")
    assert warm.post(BUSY, json={"seconds": 0.03}).status_code == 200


def test_a_full_queue_says_when_to_come_back(warm: httpx.Client, diary: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        bodies = (LONG | {"diary": str(diary), "seconds": LONG["seconds"] - place} for place in range(2))
        first, second = (pool.submit(warm.post, BUSY, json=body) for body in bodies)
        wait_until(lambda: sample_of(warm, "epsilond_computations_under_way") == 2)
        refused = warm.post(BUSY, json={"seconds": 0.04})
        problem(refused, 429, "too-many-requests")
        assert int(refused.headers["retry-after"]) > 0
        assert warm.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1}).status_code == 200
        may_end(diary).touch()
        assert (first.result().status_code, second.result().status_code) == (200, 200)
    assert warm.post(BUSY, json={"seconds": 0.04}).status_code == 200


def test_the_loop_stays_free_while_workers_are_busy(warm: httpx.Client, diary: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(warm.post, BUSY, json=LONG | {"diary": str(diary), "way": "spin"})
        wait_until(lambda: entries(diary))
        for _ in range(20):
            assert warm.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1}).status_code == 200
        assert [what for what, _ in entries(diary)] == ["began"]
        may_end(diary).touch()
        assert busy.result().status_code == 200


def test_no_cache_if_there_is_no_room_for_one(small: httpx.Client) -> None:
    body = {"epsilon": 1, "delta": 1e-6, "clients": 10}
    assert [small.post(SLOW, json=body).headers["x-cache"] for _ in range(2)] == ["miss", "miss"]


def test_a_body_that_does_not_arrive(hurried: httpx.Client) -> None:
    with socket.create_connection((hurried.base_url.host, hurried.base_url.port or 80)) as raw:
        raw.sendall(f"POST {BUSY} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123".encode())
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"/problems/body-timeout" in answer
    assert hurried.get("/healthz").status_code == 200

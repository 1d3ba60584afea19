"""Cache, sharing, deadlines, disconnects, deaths and limits, on real servers with real workers."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from tests.app.conftest import problem, sample_of, serving, wait_until

BUSY = "/v1/calibrations/busy"
SLOW = "/v1/calibrations/slow-toy"


@pytest.fixture(scope="module")
def small() -> Iterator[httpx.Client]:
    """One worker, one place in the queue, little time, little memory, and no cache."""
    settings = Settings(
        workers=1,
        port=0,
        queue=1,
        deadline_seconds=1.0,
        body_seconds=0.2,
        worker_memory_megabytes=1024,
        cache_megabytes=0,
        store_path=":memory:",
    )
    with serving(settings) as served:
        yield served


@pytest.fixture
def warm(small: httpx.Client) -> httpx.Client:
    """The small server with every worker warm, the spare one too."""
    wait_until(lambda: sample_of(small, "epsilond_workers_warm") == 1)
    return small


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


def test_identical_requests_share_one_computation(client: httpx.Client, diary: Path) -> None:
    body = {"seconds": 0.5, "diary": str(diary)}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post(BUSY, json=body), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert sorted(answer.headers["x-cache"] for answer in answers) == ["miss", "shared", "shared", "shared"]
    assert [what for what, _ in entries(diary)] == ["began", "ended"]


def test_one_thread_of_arithmetic_a_worker(client: httpx.Client) -> None:
    answer = client.post(BUSY, json={"seconds": 0, "way": "threads"})
    assert answer.json()["parameters"]["noise_std"] == 1.0


def test_the_deadline_kills(warm: httpx.Client, diary: Path) -> None:
    deaths = sample_of(warm, 'epsilond_worker_deaths_total{cause="deadline"}')
    began = time.monotonic()
    response = warm.post(BUSY, json={"seconds": 30, "diary": str(diary), "way": "spin"})
    assert 0.9 < time.monotonic() - began < 5.0
    problem(response, 503, "deadline-exceeded")
    wait_until(lambda: not alive(entries(diary)[0][1]))
    assert sample_of(warm, 'epsilond_worker_deaths_total{cause="deadline"}') == deaths + 1
    wait_until(lambda: warm.post(BUSY, json={"seconds": 0.01}).status_code == 200)


def test_a_disconnect_kills(warm: httpx.Client, diary: Path) -> None:
    raw = asked(warm, f'{{"seconds":30,"diary":"{diary}"}}')
    wait_until(lambda: entries(diary))
    raw.close()
    wait_until(lambda: not alive(entries(diary)[0][1]), seconds=0.9)
    wait_until(lambda: sample_of(warm, 'epsilond_worker_deaths_total{cause="abandoned"}') == 1)
    assert warm.post(BUSY, json={"seconds": 0.02}).status_code == 200


def test_a_crash_is_one_failed_request(warm: httpx.Client) -> None:
    crashes = sample_of(warm, 'epsilond_worker_deaths_total{cause="crashed"}')
    problem(warm.post(BUSY, json={"seconds": 0, "way": "die"}), 500, "internal-error")
    assert warm.post(BUSY, json={"seconds": 0.01}).status_code == 200
    assert sample_of(warm, 'epsilond_worker_deaths_total{cause="crashed"}') == crashes + 1


def test_a_disconnect_of_one_leaves_the_others_their_answer(client: httpx.Client, diary: Path) -> None:
    raw = asked(client, f'{{"seconds":1,"diary":"{diary}"}}')
    wait_until(lambda: entries(diary))
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(client.post, BUSY, json={"seconds": 1, "diary": str(diary)})
        time.sleep(0.2)
        raw.close()
        assert other.result().status_code == 200
    assert other.result().headers["x-cache"] == "shared"
    assert [what for what, _ in entries(diary)] == ["began", "ended"]


def asked(client: httpx.Client, body: str) -> socket.socket:
    """A connection on which a busy toy has been asked for."""
    raw = socket.create_connection((client.base_url.host, client.base_url.port or 80))
    head = f"POST {BUSY} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    raw.sendall((head + body).encode())
    return raw


def test_memory_is_limited(warm: httpx.Client) -> None:
    problem(warm.post(BUSY, json={"seconds": 0, "way": "allocate"}), 500, "internal-error")
    assert warm.post(BUSY, json={"seconds": 0.03}).status_code == 200


def test_a_full_queue_says_when_to_come_back(warm: httpx.Client) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(warm.post, BUSY, json={"seconds": 0.35 + place / 1000}) for place in range(2))
        wait_until(lambda: sample_of(warm, "epsilond_computations_under_way") == 2)
        refused = warm.post(BUSY, json={"seconds": 0.04})
        problem(refused, 429, "too-many-requests")
        assert int(refused.headers["retry-after"]) > 0
        assert warm.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1}).status_code == 200
        assert (first.result().status_code, second.result().status_code) == (200, 200)
    assert warm.post(BUSY, json={"seconds": 0.04}).status_code == 200


def test_the_loop_stays_free_while_workers_are_busy(client: httpx.Client) -> None:
    stop = threading.Event()
    busy = threading.Thread(target=client.post, args=(BUSY,), kwargs={"json": {"seconds": 1, "way": "spin"}})
    busy.start()
    slowest = 0.0
    while busy.is_alive() and not stop.is_set():
        began = time.monotonic()
        assert client.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1}).status_code == 200
        slowest = max(slowest, time.monotonic() - began)
    busy.join()
    assert slowest < 0.5


def test_no_cache_if_there_is_no_room_for_one(small: httpx.Client) -> None:
    body = {"epsilon": 1, "delta": 1e-6, "clients": 10}
    assert [small.post(SLOW, json=body).headers["x-cache"] for _ in range(2)] == ["miss", "miss"]


def test_a_body_that_does_not_arrive(small: httpx.Client) -> None:
    with socket.create_connection((small.base_url.host, small.base_url.port or 80)) as raw:
        raw.sendall(f"POST {BUSY} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123".encode())
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"/problems/body-timeout" in answer
    assert small.get("/healthz").status_code == 200

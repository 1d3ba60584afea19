"""The two instruments: a question in a fork of its own with limits, and the load client."""

import asyncio
import json
import math
import os
import subprocess
import sys
from itertools import count, islice

import pytest

from benchmarks import load, processes, service
from epsilond.calibrators.gaussian import calibrator as gaussian
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd
from epsilond.reading import read


@pytest.fixture(scope="module")
def said():
    """Return what `isolated` says of each accountant, from a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.isolated_answers"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return json.loads(done.stdout)


def test_a_value_comes_with_its_cost(said):
    found = said["interval"]
    assert (found["value"], found["lower"], found["upper"]) == (1e-6, 0.0, math.inf)
    assert 0 < found["cpu"] < 1
    assert found["calls"] > 1
    assert found["peak_megabytes"] > 1


def test_an_interval_may_come_afterwards(said):
    assert said["interval afterwards"]["lower"] == 0.5


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("error", {"refused": "ValueError: too small"}),
        ("no such query", {"absent": "answers ε(δ) only"}),
        ("memory", {"over": "the memory limit"}),
        ("time", {"over": "2 s of CPU"}),
    ],
)
def test_no_value_has_a_reason(said, name, reason):
    assert said[name] == reason


def test_percentiles_are_nearest_ranks():
    found = load.Load(latencies=[4.0, 1.0, 3.0, 2.0], wall=2.0)
    assert [found.percentile(share) for share in (0.0, 0.25, 0.5, 0.99)] == [1.0, 1.0, 2.0, 4.0]
    assert found.rate == 2.0
    assert math.isnan(load.Load().percentile(0.5))


def test_every_request_is_sent_once_and_every_answer_counted():
    seen = []

    async def answer(reader, writer):
        while head := await reader.read(65536):
            body = json.loads(head.partition(b"\r\n\r\n")[2])
            seen.append(body)
            status, cached = (b"200 OK", b"hit") if body % 3 else (b"503 Busy", b"miss")
            writer.write(b"HTTP/1.1 " + status + b"\r\nX-Cache: " + cached + b"\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await load.run(port, [load.post("/", number) for number in range(30)], connections=4)

    found = asyncio.run(run())
    assert sorted(seen) == list(range(30))
    assert (len(found.latencies), found.failed, found.hits) == (20, 10, 20)
    assert found.statuses == {503: 10}


def test_what_the_service_is_asked_can_be_asked():
    for calibrator, body, cost in (
        (mb_sgd, service.CACHED, "search"),
        (mb_sgd, service.CLOSED, "closed-form"),
        (mb_sgd, service.HEAVY, "search"),
        (gaussian, service.PLAIN, "closed-form"),
    ):
        problem = read(calibrator.CALIBRATOR.problem, body)
        assert calibrator.CALIBRATOR.cost(problem) == cost


def bodies(requests, number):
    return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in islice(requests, number)]


def test_new_questions_are_asked_once_and_repeated_ones_again():
    places = count()
    for what, (_, body, new) in service.SORTS.items():
        found = bodies(service.asked(what, places), 50)
        assert len({asked["epsilon"] for asked in found}) == (50 if new else 1)
        assert all({**asked, "epsilon": body["epsilon"]} == body for asked in found)
    heavy = bodies(service.heavy_ones(places), 50)
    assert len({asked["epsilon"] for asked in heavy}) == 50


def test_requests_end_when_it_is_time():
    ended = iter([False, False, True])
    assert list(service.until(iter([b"a", b"b", b"c", b"d"]), lambda: next(ended))) == [b"a", b"b"]


def test_cpu_time_of_a_process_that_is_gone_is_none():
    assert processes.cpu_seconds([os.getpid()]) > 0.0
    assert processes.cpu_seconds([2**30]) == 0.0
    assert os.getpid() in processes.children_of(os.getppid())

"""The instruments: a question that is new in every call, a fork with limits, the sampler, and the load client."""

import asyncio
import json
import math
import os
import subprocess
import sys
import time
from itertools import count, islice

import pytest

from benchmarks import cases, load, measuring, shares
from benchmarks.environments import ROOT
from benchmarks.runners.serving import Question, Run
from epsilond.calibrators.accounts import AccountProblem
from epsilond.calibrators.gaussian import calibrator as gaussian
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd
from epsilond.reading import read


# Measuring ------------------------------------------------------------------------------------------------------------
def test_no_place_is_asked_twice(monkeypatch):
    monkeypatch.setattr(measuring, "RUN_SECONDS", 1e-4)
    monkeypatch.setattr(measuring, "ENOUGH_SECONDS", 1e-3)
    places = []
    result = measuring.measure(places.append)
    assert len(places) > 2
    assert places == list(range(len(places)))
    assert result["calls"] == len(places)


def test_a_long_question_is_asked_once(monkeypatch):
    monkeypatch.setattr(measuring, "RUN_SECONDS", 0.0)
    monkeypatch.setattr(measuring, "ENOUGH_SECONDS", 0.0)
    places = []
    result = measuring.measure(places.append)
    assert places == [0]
    assert result["cpu"] == result["first"]


@pytest.mark.parametrize("case", cases.everything(), ids=lambda case: case.id)
def test_each_given_number_moves_and_hardly(case):
    parts = [Run(*part) for part in case.body()["parts"]]
    question = Question(case.question, parts, case.epsilon, case.delta, case.relation)
    assert question.at_place(0) == question
    for place in (1, 2, 1000):
        new = question.at_place(place)
        numbers = [(new.epsilon, question.epsilon), (new.delta, question.delta)]
        numbers += [(mine.noise, theirs.noise) for mine, theirs in zip(new.parts, parts, strict=True)]
        moved = [mine / theirs - 1.0 for mine, theirs in numbers if mine is not None and theirs is not None]
        assert moved
        assert moved == pytest.approx([place * measuring.CHANGE] * len(moved), rel=1e-6)
        assert [part._replace(noise=None) for part in new.parts] == [part._replace(noise=None) for part in parts]


@pytest.fixture(scope="module")
def isolated():
    """Return the result of each accountant, from a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.isolated_answers"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return json.loads(done.stdout)


def test_a_value_comes_with_its_cost(isolated):
    result = isolated["interval"]
    assert (result["value"], result["lower"], result["upper"]) == (1e-6, 0.0, math.inf)
    assert result["cpu"] > 0
    assert result["calls"] > 1
    assert isolated["large"]["megabytes"] - result["megabytes"] == pytest.approx(200e6 / 2**20, rel=0.1)


def test_an_interval_may_come_afterwards(isolated):
    assert (isolated["interval afterwards"]["lower"], isolated["interval afterwards"]["upper"]) == (0.5, 1.5)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("error", {"refused": "ValueError: too small"}),
        ("no such query", {"absent": "answers ε(δ) only"}),
        ("memory", {"over": "the memory limit"}),
        ("time", {"over": "2 s of CPU"}),
    ],
)
def test_no_value_has_a_reason(isolated, name, reason):
    assert isolated[name] == reason


IMPORTED = """
import sys
from benchmarks import cases
from benchmarks.runners import epsilond as runner
from benchmarks.runners.serving import Question, Run

runner.import_everything()
before = set(sys.modules)
for case in cases.short():
    runner.answer(Question(case.question, [Run(*part) for part in case.body()["parts"]], case.epsilon, case.delta))
print(*sorted(name for name in set(sys.modules) - before if name.startswith("epsilond")))
"""


def test_nothing_of_ours_is_imported_while_it_is_measured():
    """The package imports a name when it is first used: within a fork that import would be in every figure."""
    done = subprocess.run([sys.executable, "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# Shares ---------------------------------------------------------------------------------------------------------------
def test_files_belong_to_code():
    package = str(ROOT / "accountants")
    assert shares.code_of(f"{package}/engine/lattice/grid.py") == "lattice engine"
    assert shares.code_of(f"{package}/engine/other.py") == "other engines in Python"
    assert shares.code_of(f"{package}/theorems/laws.py") == shares.ELSEWHERE
    assert shares.code_of(json.__file__) is None
    for beginning in shares.CODE:
        assert list(ROOT.glob(f"{beginning}*")), beginning


def test_the_sampler_counts_all_cpu():
    with shares.Sampler() as sampler:
        begun = time.process_time()
        while time.process_time() < begun + 0.05:
            sum(range(1000))
        spent = time.process_time() - begun
    assert sampler.seconds.total() >= spent
    assert set(sampler.seconds) == {shares.ELSEWHERE}


def test_the_mix_has_accounts_and_calibrations_that_are_told_apart():
    kinds = {shares.kind_of(path, body) for path, body in shares.mix(1)}
    assert {"mb-sgd", "gaussian", "account of poisson gaussian"} <= kinds
    path, body = shares.mix(1)[0]
    assert "guarantee" in shares.question(path, body)()


# Load -----------------------------------------------------------------------------------------------------------------
def test_percentiles_are_nearest_ranks():
    found = load.Load(latencies=[4.0, 1.0, 3.0, 2.0], wall=2.0)
    assert [found.percentile(share) for share in (0.0, 0.25, 0.5, 0.99)] == [1.0, 1.0, 2.0, 4.0]
    assert math.isnan(load.Load().percentile(0.5))


def test_every_request_is_sent_once_and_every_answer_counted():
    seen = []

    async def answer(reader, writer):
        while head := await reader.read(65536):
            body = json.loads(head.partition(b"\r\n\r\n")[2])
            seen.append(body)
            status = b"200 OK" if body % 3 else b"503 Busy"
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await load.run(port, iter([load.request("/", number) for number in range(30)]), 4)

    found = asyncio.run(run())
    assert sorted(seen) == list(range(30))
    assert (len(found.latencies), found.statuses) == (20, {503: 10})
    assert found.answered == "20, 10 with 503"


def bodies(requests, number):
    return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in islice(requests, number)]


def test_new_questions_are_new_and_can_be_asked():
    places = count()
    for sort, (path, body) in load.SORTS.items():
        if body is None:
            continue
        found = bodies(load.requests(sort, places), 50)
        assert len({json.dumps(each) for each in found}) == (50 if sort.endswith("new") else 1)
        problem = {"/v1/accounts": AccountProblem}.get(path) or next(
            each.CALIBRATOR.problem for each in (gaussian, mb_sgd) if path.endswith(each.CALIBRATOR.name)
        )
        assert read(problem, found[0])


def test_cpu_time_of_a_process_that_is_gone_is_none():
    assert load.cpu_seconds([os.getpid()]) > 0.0
    assert load.cpu_seconds([2**30]) == 0.0
    assert os.getpid() in load.descendants(os.getppid())
    assert load.megabytes(os.getpid()) > 1.0

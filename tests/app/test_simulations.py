"""Simulations over HTTP: taken in, followed, ended every way, cancelled, listed, drawn; on real servers."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx
import pytest

from epsilond.accountants.errors import BeyondBudget
from epsilond.app.answers.work import render
from epsilond.app.jobs.limits import require_within_limits
from epsilond.app.jobs.records import Record
from epsilond.app.jobs.running import RunningSimulation
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from epsilond.questions.simulate import simulation_request
from epsilond.witness.risks.measurement import RISK
from tests.app import toy_simulations as toys
from tests.app.conftest import PATIENT, problem, sample_of, serving, wait_until
from tests.app.documents import conforms, content

PATH = "/v1/simulations"
WAIT = {"prefer": "wait=600"}
LONG = {"kind": "dice", "seconds": 60.0, "way": "spin"}


@pytest.fixture(scope="module")
def small() -> Iterator[httpx.Client]:
    """Two workers of simulations, one place in the queue, little time and little room."""
    settings = Settings(
        workers=1,
        spare_workers=0,
        port=0,
        store_path=":memory:",
        job_workers=2,
        job_queue=1,
        job_seconds=100.0,
        job_megabytes=1,
        job_wait_seconds=500.0,
    )
    with serving(settings) as served:
        yield served


@pytest.fixture
def strict(small: httpx.Client) -> httpx.Client:
    """The same with nothing to do."""
    statuses = ("queued", "running")
    wait_until(
        lambda: not any(sample_of(small, f'epsilond_simulations_under_way{{status="{each}"}}') for each in statuses)
    )
    return small


def expected(body: dict[str, Any]) -> Any:
    """The result, from the functions of the kind called one after another."""
    kind = next(kind for kind in toys.KINDS if kind.example["kind"] == body["kind"])
    request = kind.request(**body)
    resolved = kind.prepare(request)
    blocks = [kind.run_block(resolved, index) for index in range(kind.plan(request).blocks)]
    return json.loads(render(kind.assemble(request, resolved, blocks)))


def finished(client: httpx.Client, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    """The simulation, once it has ended."""
    response = client.post(PATH, json=body, headers=WAIT | headers)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def running(client: httpx.Client, body: dict[str, Any], diary: Path) -> str:
    """The address of a simulation whose first block has begun."""
    location: str = client.post(PATH, json=body | {"diary": str(diary)}).headers["location"]
    wait_until(lambda: diary.exists() and diary.read_text().endswith("\n"))
    return location


def process_of(diary: Path) -> int:
    """The worker of the block that began last."""
    return int(diary.read_text().splitlines()[-1].split()[1])


def gone(process: int) -> bool:
    """Whether a process is not there any more."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def events(response: httpx.Response) -> list[tuple[str, str, dict[str, Any]]]:
    """(event, id, data) of a stream that has ended."""
    found = []
    for block in response.text.strip().split("\n\n"):
        members = dict(line.split(": ", 1) for line in block.splitlines())
        if "event" in members:
            found.append((members["event"], members["id"], json.loads(members["data"])))
    return found


def test_from_the_post_to_the_result(client: httpx.Client) -> None:
    body = {"kind": "dice", "seed": 5, "blocks": 4}
    taken = client.post(PATH, json=body)
    assert taken.status_code == 202
    document = taken.json()
    location = taken.headers["location"]
    assert location == document["links"]["self"] == f"{PATH}/{document['id']}"
    assert document["status"] == "queued"
    assert document["progress"] == {"blocks_done": 0, "blocks": 4, "seconds_left": 0.004}
    assert document["request"] == {"kind": "dice", "seed": 5, "blocks": 4, "seconds": 0.0, "diary": "", "way": ""}
    assert "result" not in document
    wait_until(lambda: client.get(location).json()["status"] == "done")
    done = client.get(location).json()
    assert done["result"] == expected(body)
    assert done["progress"] == {"blocks_done": 4, "blocks": 4, "seconds_left": 0.0}
    assert document["created"] == done["created"] <= done["started"] <= done["ended"]
    assert done["links"]["figure"] == f"{location}/figure"


def test_any_number_of_workers_gives_the_same(client: httpx.Client, strict: httpx.Client) -> None:
    body = {"kind": "dice", "seed": 6, "blocks": 9, "seconds": 0.01}
    assert finished(client, body)["result"] == finished(strict, body)["result"] == expected(body)


def test_answers_are_as_declared(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    paths = document["paths"]
    done = finished(client, {"kind": "coin", "seed": 1})
    failed = finished(client, {"kind": "dice", "way": "refuse"})
    for each in (done, failed):
        conforms(document, content(paths[PATH]["post"], 200), each)
        conforms(document, content(paths[f"{PATH}/{{id}}"]["get"], 200), client.get(each["links"]["self"]).json())
    conforms(document, content(paths[PATH]["get"], 200), client.get(PATH).json())
    conforms(document, {"$ref": "#/components/schemas/Problem"}, failed["problem"])
    assert paths[PATH]["post"]["responses"]["202"]["headers"].keys() == {"Location", "Preference-Applied"}
    assert "text/event-stream" in paths[f"{PATH}/{{id}}/events"]["get"]["responses"]["200"]["content"]
    figure = paths[f"{PATH}/{{id}}/figure"]["get"]["responses"]
    assert figure["200"]["content"].keys() == {"image/png", "image/svg+xml"}
    assert {"404", "406", "409"} <= figure.keys()


def test_prefer_wait(strict: httpx.Client) -> None:
    in_time = strict.post(PATH, json={"kind": "coin", "seed": 2}, headers={"prefer": "respond-async, wait=3000"})
    assert (in_time.status_code, in_time.json()["status"]) == (200, "done")
    assert in_time.headers["preference-applied"] == "wait=500"
    late = strict.post(PATH, json=LONG | {"seconds": 20.0, "blocks": 1}, headers={"prefer": "wait=0"})
    assert late.status_code == 202
    assert late.json()["status"] in ("queued", "running")
    assert late.headers["preference-applied"] == "wait=0"
    strict.delete(late.headers["location"])
    without = strict.post(PATH, json={"kind": "coin", "seed": 2}, headers={"prefer": "wait=soon"})
    assert "preference-applied" not in without.headers


def test_idempotency_keys(client: httpx.Client) -> None:
    body, key = {"kind": "coin", "seed": 77}, {"idempotency-key": "a-key"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post(PATH, json=body, headers=key), range(4)))
    assert {answer.status_code for answer in answers} <= {200, 202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    again = finished(client, {"seed": 77.0, "kind": "coin"}, **key)
    assert again["id"] == answers[0].json()["id"]
    repeated = client.post(PATH, json=body, headers=key)
    assert (repeated.status_code, repeated.json()) == (200, again)
    problem(client.post(PATH, json=body | {"seed": 78}, headers=key), 422, "idempotency-key-reused")
    assert client.post(PATH, json=body).json()["id"] != again["id"]
    assert client.delete(again["links"]["self"]).status_code == 204
    assert client.post(PATH, json=body, headers=key).json()["id"] != again["id"]


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "\u00e9"])
def test_a_key_that_cannot_be(client: httpx.Client, key: str) -> None:
    response = client.post(PATH, json={"kind": "coin", "seed": 1}, headers={"idempotency-key": key.encode("latin-1")})
    assert problem(response, 422, "invalid-input")["errors"][0]["parameter"] == "Idempotency-Key"


def test_bodies_are_checked_like_any_other(client: httpx.Client) -> None:
    for body, pointer in (
        ({"kind": "die"}, "/kind"),
        ({"kind": "coin"}, "/seed"),
        ({"kind": "dice", "blocks": 0}, "/blocks"),
        ({"kind": "dice", "way": "never"}, "/way"),
    ):
        told = problem(client.post(PATH, json=body), 422, "invalid-input")
        assert [fault["pointer"] for fault in told["errors"]] == [pointer]


def test_what_is_too_long_is_refused_up_front(strict: httpx.Client) -> None:
    told = problem(strict.post(PATH, json={"kind": "dice", "blocks": 1000, "seconds": 1.0}), 409, "beyond-budget")
    assert told["condition"]["id"] == "service.job-seconds"
    assert (told["condition"]["left"], told["condition"]["right"]) == (1000.0, 100.0)
    assert told["nearest"] == {"blocks": 100}
    nearest = {"kind": "dice", "blocks": 100, "seconds": 1.0, "way": "fail"}
    assert strict.post(PATH, json=nearest).status_code == 202
    too_much = problem(strict.post(PATH, json={"kind": "coin", "seed": 10**10}), 409, "beyond-budget")
    assert too_much["condition"]["id"] == "service.job-memory"
    assert too_much["condition"]["left"] == 1e10
    assert "nearest" not in too_much
    assert "rounds" not in too_much["detail"]


def test_where_no_size_fits_the_rounds_are_named() -> None:
    run, problem_ = {"algorithm": "mb-sgd", "rounds": 10**6, "batch_size": 5, "step_size": 0.5, "noise_std": 0.1}, {
        "kind": "mean-estimation", "clients": 3, "samples_per_client": 30, "dimension": 2
    }  # fmt: skip
    request = simulation_request({"kind": "risk", "run": run, "problem": problem_, "repetitions": 4})
    plan = RISK.plan(request)
    with pytest.raises(BeyondBudget, match=r"No repetitions are few enough: ask for fewer rounds\.") as refused:
        require_within_limits(RISK, request, plan, Settings(job_seconds=1e-6))
    assert refused.value.nearest == {}


def test_a_full_queue_says_when_to_come_back(strict: httpx.Client) -> None:
    taken = [strict.post(PATH, json=LONG | {"blocks": 1, "seed": seed}) for seed in range(2)]
    wait_until(lambda: len(strict.get(PATH, params={"status": "running"}).json()["simulations"]) == 2)
    taken.append(strict.post(PATH, json={"kind": "coin", "seed": 1}))
    refused = strict.post(PATH, json={"kind": "coin", "seed": 1})
    problem(refused, 429, "too-many-requests")
    assert 20 <= int(refused.headers["retry-after"]) <= 60  # the short one that waits makes no room
    last = taken[-1].headers["location"]
    assert strict.get(last).json()["status"] == "queued"
    assert strict.get("/v1/algorithms").status_code == 200
    assert strict.post("/v1/calibrations/busy", json={"seconds": 0.011}).status_code == 200
    assert [strict.delete(each.headers["location"]).json()["status"] for each in reversed(taken)] == ["cancelled"] * 3
    assert finished(strict, {"kind": "coin", "seed": 1})["status"] == "done"


def test_cancelling_kills(client: httpx.Client, tmp_path: Path) -> None:
    location = running(client, LONG, tmp_path / "diary")
    assert sample_of(client, 'epsilond_simulations_under_way{status="running"}') == 1
    before = sample_of(client, 'epsilond_simulations_total{kind="dice",status="cancelled"}')
    cancelled = client.delete(location)
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    wait_until(lambda: gone(process_of(tmp_path / "diary")))
    assert client.get(location).json()["progress"] == {"blocks_done": 0, "blocks": 3}
    assert sample_of(client, 'epsilond_simulations_total{kind="dice",status="cancelled"}') == before + 1
    assert sample_of(client, 'epsilond_simulations_under_way{status="running"}') == 0
    assert client.delete(location).status_code == 204
    for response in (client.delete(location), client.get(location), client.get(f"{location}/events")):
        problem(response, 404, "not-found")


def test_a_block_whose_worker_dies_is_run_once_more(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    body = {"kind": "dice", "seed": 9, "blocks": 3, "seconds": 1.0, "diary": str(diary)}
    deaths = sample_of(client, 'epsilond_worker_deaths_total{cause="crashed"}')
    location = running(client, body, diary)
    os.kill(process_of(diary), signal.SIGKILL)
    wait_until(lambda: client.get(location).json()["status"] == "done")
    began = toys.lines(str(diary))  # each block once, but for the one whose worker died, whichever it was
    assert (began, len(began), set(began)) == (sorted(began), 4, {0, 1, 2})
    assert client.get(location).json()["result"] == expected(body | {"diary": "", "seconds": 0.0})
    assert sample_of(client, 'epsilond_worker_deaths_total{cause="crashed"}') == deaths + 1


def test_a_block_whose_worker_dies_twice_fails(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    failed = finished(client, {"kind": "dice", "way": "die", "diary": str(diary)})
    assert failed["status"] == "failed"
    assert failed["problem"]["type"] == "/problems/internal-error"
    assert toys.lines(str(diary)) == [0, 0]
    assert finished(client, {"kind": "coin", "seed": 3})["status"] == "done"


def test_refusals_and_faults_of_ours_end_it(client: httpx.Client) -> None:
    refused = finished(client, {"kind": "dice", "way": "refuse"})
    assert (refused["status"], refused["problem"]["status"]) == ("failed", 409)
    assert refused["problem"]["condition"] == {
        "id": "toy.fair", "statement": "the dice are fair", "left": 1.0, "right": 2.0
    }  # fmt: skip
    failed = finished(client, {"kind": "dice", "way": "fail"})
    assert failed["problem"]["type"] == "/problems/internal-error"
    assert "secret-of-the-dice" not in json.dumps(failed)


def test_what_blocks_hold_is_bounded(strict: httpx.Client) -> None:
    failed = finished(strict, {"kind": "dice", "way": "fill", "blocks": 50})
    assert failed["problem"]["type"] == "/problems/beyond-budget"
    assert failed["progress"]["blocks_done"] < 50


def test_events_tell_every_step_and_the_end(client: httpx.Client) -> None:
    location = client.post(PATH, json={"kind": "dice", "blocks": 4, "seconds": 0.2}).headers["location"]
    stream = client.get(f"{location}/events")
    assert stream.headers["content-type"].startswith("text/event-stream")
    told = events(stream)
    assert [event for event, _, _ in told] == ["progress"] * (len(told) - 1) + ["done"]
    assert len({identifier for _, identifier, _ in told}) == len(told)
    done = [data["progress"]["blocks_done"] for _, _, data in told]
    assert done == sorted(done)
    assert {1, 2, 3, 4} <= set(done)
    assert told[-1][2]["status"] == "done"
    assert all("result" not in data and data["links"]["self"] == location for _, _, data in told)
    # One who comes late is told the end at once; one who has seen it need not come again.
    assert events(client.get(f"{location}/events")) == [told[-1]]
    before_the_end = client.get(f"{location}/events", headers={"last-event-id": told[-2][1]})
    assert events(before_the_end) == [told[-1]]
    after = client.get(f"{location}/events", headers={"last-event-id": told[-1][1]})
    assert (after.status_code, after.content) == (204, b"")


def test_a_long_block_counts_down(client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.runner.TELL_SECONDS", 0.2)
    location = running(client, LONG | {"blocks": 1}, tmp_path / "diary")
    with client.stream("GET", f"{location}/events") as stream:
        data = (json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: "))
        told = [next(data)["progress"] for _ in range(4)]
    client.delete(location)
    left = [each["seconds_left"] for each in told]
    assert all(earlier > later for earlier, later in pairwise(left))
    assert left[0] <= 60.0
    assert {each["blocks_done"] for each in told} == {0}


def test_the_time_left_is_of_the_blocks_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("epsilond.app.jobs.running.time", SimpleNamespace(monotonic=lambda: now))
    request = toys.Dice(blocks=4, seconds=10.0)
    plan = toys.plan_dice(request)
    record = Record(
        id="a", kind="dice", created=0.0, blocks=4, seconds=40.0, engine_version="", fingerprint="", request=b""
    )

    async def taken() -> RunningSimulation:
        return RunningSimulation(record=record, kind=toys.DICE, request=request, plan=plan, concurrency=2)

    live = anyio.run(taken)
    assert live.seconds_left == 20.0
    live.begins(0)
    live.begins(1)
    now = 104.0
    assert live.seconds_left == 16.0
    now = 150.0  # both should have ended long ago: the two others are left
    assert live.seconds_left == 10.0
    assert live.measured(1, b"") == 50.0
    assert live.seconds_left == (3 * 50.0 - 50.0) / 2
    live.begun.clear()
    assert live.seconds_left == 75.0


def test_events_of_one_that_is_cancelled(client: httpx.Client, tmp_path: Path) -> None:
    location = running(client, LONG, tmp_path / "diary")
    with client.stream("GET", f"{location}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        client.delete(location)
        assert [line for line in lines if line.startswith("event")] == ["event: cancelled"]


def test_quiet_streams_are_kept_alive(client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.05)
    location = running(client, LONG, tmp_path / "diary")
    with client.stream("GET", f"{location}/events") as stream:
        assert any(line.startswith(":") for line in stream.iter_lines())
    client.delete(location)


def test_the_list_is_read_page_by_page() -> None:
    with serving(PATIENT) as client:
        assert client.get(PATH).json() == {"simulations": []}
        made = [finished(client, {"kind": "coin", "seed": seed})["id"] for seed in range(5)]
        finished(client, {"kind": "dice", "way": "fail"})
        first = client.get(PATH, params={"limit": 2, "status": "done"}).json()
        second = client.get(first["next"]).json()
        third = client.get(second["next"]).json()
        pages = [[each["id"] for each in page["simulations"]] for page in (first, second, third)]
        assert pages == [[made[4], made[3]], [made[2], made[1]], [made[0]]]
        assert "next" not in third
        assert [each["status"] for each in client.get(PATH, params={"limit": 1}).json()["simulations"]] == ["failed"]
        for wrong in ({"limit": 0}, {"limit": 101}, {"status": "lost"}, {"cursor": "x"}):
            problem(client.get(PATH, params=wrong), 422, "invalid-input")


def test_a_result_waits_for_a_store_that_is_full(tmp_path: Path) -> None:
    settings = PATIENT
    app = create_app(
        calibrators=(), theorems=(), settings=settings, kinds=toys.KINDS, figures="tests.app.toy_simulations"
    )
    body = {"kind": "dice", "seed": 8, "blocks": 1, "seconds": 1.0}

    def writes(allowed: bool) -> None:
        with app.state.jobs._store._engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA query_only = {not allowed}")

    with serving(settings, app) as client:
        location = running(client, body, tmp_path / "diary")
        writes(False)
        wait_until(lambda: client.get(location).json()["status"] != "running")
        unstored = client.get(location).json()
        assert (unstored["status"], unstored["problem"]["type"]) == ("interrupted", "/problems/unavailable")
        assert "result" not in unstored
        assert [each["status"] for each in client.get(PATH).json()["simulations"]] == ["interrupted"]
        problem(client.delete(location), 503, "unavailable")
        problem(client.post(PATH, json=body), 503, "unavailable")
        writes(True)
        done = client.get(location).json()
        assert (done["status"], done["result"]) == ("done", expected(body | {"seconds": 0.0}))
        assert client.delete(location).status_code == 204


def test_figures(client: httpx.Client) -> None:
    done = finished(client, {"kind": "dice", "seed": 4})
    figure, total = done["links"]["figure"], done["result"]["sum"]
    for query, accept, form in (
        ("", "*/*", "png"),
        ("", "image/*", "png"),
        ("", "", "png"),
        ("", "image/svg+xml", "svg"),
        ("", "text/html, image/png;q=0.5, image/*;q=0.9", "svg"),
        ("?format=svg", "image/png", "svg"),
    ):
        drawn = client.get(figure + query, headers={"accept": accept})
        assert drawn.status_code == 200
        assert drawn.headers["content-type"].startswith("image/svg+xml" if form == "svg" else "image/png")
        assert drawn.text == f"{form} {total}"
    problem(client.get(figure, headers={"accept": "text/html"}), 406, "not-acceptable")
    problem(client.get(figure, headers={"accept": "image/png;q=0, text/html"}), 406, "not-acceptable")
    problem(client.get(f"{figure}?format=gif"), 422, "invalid-input")
    failed = finished(client, {"kind": "dice", "way": "fail"})
    problem(client.get(f"{failed['links']['self']}/figure"), 409, "no-result")


def test_workers_of_simulations_step_back(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    location = running(client, LONG, diary)
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, process_of(diary)) == min(19, ours + 15)
    questions = client.post("/v1/calibrations/busy", json={"seconds": 0.0, "diary": str(tmp_path / "other")})
    assert questions.status_code == 200
    assert int((tmp_path / "other").read_text().split()[1]) != process_of(diary)
    client.delete(location)

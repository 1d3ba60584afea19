"""Questions that become jobs: what a 202 says, how they end, and that their answers are the ones of a 200."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from epsilond.accountants.theorems import THEOREMS
from epsilond.app.jobs.manager import Jobs
from epsilond.app.main import create_app
from epsilond.app.questions import cost
from epsilond.app.settings import Settings
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.account_examples import EXAMPLES
from tests.app.conftest import PATIENCE, PATIENT, problem, sample_of, serving, wait_until
from tests.app.documents import conforms, content
from tests.app.jobs.support import (
    AT_ONCE,
    BUSY,
    JOBS,
    LONG,
    WAIT,
    asked,
    done,
    has_begun,
    held,
    process_of,
    running,
)
from tests.app.processes import gone
from tests.app.toys import may_end

SLOW = "/v1/calibrations/slow-toy"
GAUSSIAN = next(each for each in CALIBRATORS if each.name == "gaussian")


@pytest.fixture(scope="module")
def hurried() -> Iterator[httpx.Client]:
    """One worker, one question past its deadline at a time, and little time."""
    with serving(PATIENT.model_copy(update={"deadline_seconds": 0.3, "job_processes": 1, "job_queue": 64})) as served:
        yield served


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    """The service itself, with nothing kept, so that every question is computed."""
    chosen = Settings(
        workers=1,
        port=0,
        store_path=":memory:",
        cache_megabytes=0,
        deadline_seconds=PATIENCE,
        job_wait_seconds=PATIENCE,
    )
    with serving(chosen, create_app(settings=chosen)) as served:
        yield served


def test_an_expensive_question_is_announced_before_it_starts(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "_trees", lambda: {"busy": [math.log10(90.0)]})
    taken = asked(client, tmp_path / "diary")
    assert 0.0 < taken.json()["progress"]["seconds_left"] <= 90.0
    may_end(tmp_path / "diary").touch()
    done(client, taken.headers["location"])
    first, again = (client.post(BUSY, json={"seconds": 0.0123}) for _ in range(2))
    assert taken.headers["estimated-cpu-seconds"] == first.headers["estimated-cpu-seconds"] == "90"
    assert "estimated-cpu-seconds" not in again.headers


def test_an_expensive_question_is_a_job_from_the_start(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary, body = tmp_path / "diary", {"seconds": 100.0, "diary": str(tmp_path / "diary")}
    monkeypatch.setattr(cost, "_trees", lambda: {"busy": [math.log10(90.0)]})
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.post, BUSY, json=body, headers=WAIT)
        wait_until(lambda: has_begun(diary))
        (listed,) = client.get(JOBS, params={"state": "running"}).json()["jobs"]
        assert 0.0 < listed["progress"]["seconds_left"] <= 90.0
        may_end(diary).touch()
    assert answer.result().status_code == 200
    assert answer.result().headers["content-location"] == f"{listed['links']['self']}/result"
    assert done(client, listed["links"]["self"])["state"] == "done"
    assert client.get(answer.result().headers["content-location"]).content == answer.result().content
    assert diary.read_text().count("began") == 1


@pytest.mark.parametrize(("key", "state"), [(None, "cancelled"), ("my-own", "done")])
def test_an_expensive_job_of_a_departed_client_goes_on_if_the_client_can_find_it(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str | None, state: str
) -> None:
    diary, body = tmp_path / "diary", {"seconds": 100.0, "diary": str(tmp_path / "diary")}
    monkeypatch.setattr(cost, "_trees", lambda: {"busy": [math.log10(90.0)]})
    headers = WAIT | ({} if key is None else {"idempotency-key": key})
    with httpx.Client(base_url=client.base_url, timeout=0.5) as departing, pytest.raises(httpx.ReadTimeout):
        departing.post(BUSY, json=body, headers=headers)
    wait_until(lambda: has_begun(diary))
    newest = client.get(JOBS).json()["jobs"][0]["links"]["self"]
    if key is None:
        assert done(client, newest)["state"] == state
    may_end(diary).touch()
    assert done(client, newest)["state"] == state


def test_an_expensive_question_without_a_store_is_answered_all_the_same(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "_trees", lambda: {"busy": [math.log10(90.0)]})
    monkeypatch.setattr(Jobs, "ready", False)
    answer = client.post(BUSY, json={"seconds": 0.0321})
    assert (answer.status_code, "content-location" in answer.headers) == (200, False)


def test_what_a_202_says(client: httpx.Client, tmp_path: Path) -> None:
    taken = asked(client, tmp_path / "diary")
    job = taken.json()
    assert taken.headers["location"] == job["links"]["self"] == f"{JOBS}/{job['id']}"
    assert int(taken.headers["retry-after"]) > 0
    assert taken.headers["preference-applied"] == "wait=0"
    assert (job["kind"], job["name"], job["state"]) == ("calibration", "busy", "running")
    assert job["request"] == {"seconds": 100.0, "diary": str(tmp_path / "diary")}
    assert (job["progress"]["done"], job["progress"]["of"]) == (0, 1)
    assert job["progress"]["seconds_spent"] >= 0.0
    assert job["links"]["events"] == f"{taken.headers['location']}/events"
    assert not {"result", "problem", "ended"} & job.keys()
    problem(client.get(f"{taken.headers['location']}/result"), 409, "no-result")
    may_end(tmp_path / "diary").touch()
    ended = done(client, taken.headers["location"])
    assert (ended["state"], ended["progress"]["done"]) == ("done", 1)
    assert ended["created"] <= ended["started"] <= ended["ended"]
    document = client.get("/openapi.json").json()
    for each in (job, ended):
        conforms(document, content(document, document["paths"][f"{JOBS}/{{id}}"]["get"], 200), each)
    conforms(document, content(document, document["paths"][BUSY]["post"], 202), job)


def test_a_request_that_says_how_long_it_waits(client: httpx.Client, hurried: httpx.Client, tmp_path: Path) -> None:
    body = {"seconds": 1.0}
    patient = hurried.post(BUSY, json=body, headers=WAIT)
    assert (patient.status_code, patient.headers["preference-applied"]) == (200, "wait=600")
    assert hurried.post(BUSY, json=body, headers=AT_ONCE).status_code == 200  # it is known
    busy = {"seconds": 100.0, "diary": str(tmp_path / "diary")}
    late = client.post(BUSY, json=busy, headers={"prefer": "wait=1"})
    assert late.status_code == 202
    may_end(tmp_path / "diary").touch()
    looked = client.get(late.headers["location"], headers=WAIT)
    assert (looked.json()["state"], looked.headers["preference-applied"]) == ("done", "wait=600")


def test_past_the_deadline_it_goes_on_where_it_is(hurried: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    late = hurried.post(BUSY, json={"seconds": 100.0, "diary": str(diary)})
    assert late.status_code == 202
    may_end(diary).touch()
    assert done(hurried, late.headers["location"])["state"] == "done"
    assert diary.read_text().count("began") == 1


def test_more_late_ones_than_may_go_on_at_a_time(hurried: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with ThreadPoolExecutor(8) as pool:
        bodies = [{"seconds": 100.0 - place, "diary": str(diary)} for place in range(8)]
        taken = list(pool.map(lambda body: hurried.post(BUSY, json=body), bodies))
    assert [each.status_code for each in taken] == [202] * 8
    assert len({each.headers["location"] for each in taken}) == 8
    may_end(diary).touch()
    assert {done(hurried, each.headers["location"])["state"] for each in taken} == {"done"}
    assert diary.read_text().count("began") == 8  # none was killed to be begun anew
    wait_until(lambda: sample_of(hurried, "epsilond_computations_under_way") == 0)


def test_a_part_that_the_pool_has_no_room_for_leaves_the_others_their_work(tmp_path: Path) -> None:
    tight = {"workers": 2, "job_workers": 2, "job_queue": 0, "abandoned_seconds": 0.01}
    with serving(PATIENT.model_copy(update=tight)) as client:
        blocks, diary = tmp_path / "blocks", tmp_path / "diary"
        simulation = running(client, LONG | {"blocks": 2}, blocks)
        with held(client, tmp_path / "held"):
            body = {"diary": str(diary), "sweep": {"field": "seconds", "values": [100.0, 99.0]}}
            taken = client.post(BUSY, json=body, headers={"prefer": "wait=5"})
            assert taken.status_code == 202, taken.text
            wait_until(lambda: has_begun(diary))
            began = process_of(diary)
            assert client.delete(simulation).status_code == 200
            wait_until(lambda: diary.read_text().count("began") > 1)
        may_end(diary).touch()
        assert done(client, taken.headers["location"])["state"] == "done"
        assert diary.read_text().count("began") == 2
        assert f"ended {began}\n" in diary.read_text()


def test_what_took_too_long_for_a_job_is_no_reason_to_ask_again() -> None:
    with serving(PATIENT.model_copy(update={"job_seconds": 0.5})) as client:
        body, key = {"seconds": 100.0}, {"idempotency-key": "long"}
        location = client.post(BUSY, json=body, headers=AT_ONCE | key).headers["location"]
        job = done(client, location)
        assert (job["state"], job["problem"]["type"]) == ("failed", "/problems/deadline-exceeded")
        for response in (client.get(f"{location}/result"), client.post(BUSY, json=body, headers=key)):
            assert job["problem"]["detail"] in problem(response, 409, "no-result")["detail"]
            assert "retry-after" not in response.headers


def test_jobs_that_the_pool_has_no_room_for_wait(tmp_path: Path) -> None:
    tight = {"deadline_seconds": 0.3, "job_processes": 0, "queue": 8, "caller_queue": 1, "job_queue": 8}
    with serving(PATIENT.model_copy(update=tight)) as client:
        diary = tmp_path / "diary"
        bodies = [{"seconds": 100.0 - place, "diary": str(diary)} for place in range(4)]
        taken = [client.post(BUSY, json=body) for body in bodies]
        simulation = client.post("/v1/simulations", json={"kind": "dice", "blocks": 3})
        assert [each.status_code for each in (*taken, simulation)] == [202] * 5
        may_end(diary).touch()
        assert {done(client, each.headers["location"])["state"] for each in taken} == {"done"}
        assert done(client, simulation.headers["location"])["state"] == "done"


@pytest.mark.parametrize(
    ("epsilon", "status", "slug"), [(400, 409, "infeasible"), (402, 409, "beyond-budget"), (422, 422, "invalid-input")]
)
def test_a_refusal_is_the_problem_that_comes_at_once(
    client: httpx.Client, tmp_path: Path, epsilon: float, status: int, slug: str
) -> None:
    body = {"epsilon": epsilon, "clients": 1}
    with held(client, tmp_path / "held"):
        taken = client.post(SLOW, json=body, headers=AT_ONCE)
    assert taken.status_code == 202, taken.text
    job = done(client, taken.headers["location"])
    assert job["state"] == "failed"
    direct = problem(client.post(SLOW, json=body), status, slug)
    assert job["problem"] == direct
    assert problem(client.get(f"{taken.headers['location']}/result"), status, slug) == direct
    assert "result" not in job["links"]


@pytest.mark.parametrize("way", ["die", "allocate"])
def test_a_fault_of_ours_tells_nothing(client: httpx.Client, tmp_path: Path, way: str) -> None:
    with held(client, tmp_path / "held"):
        taken = client.post(BUSY, json={"seconds": 0.0, "way": way}, headers=AT_ONCE)
    assert taken.status_code == 202, taken.text
    job = done(client, taken.headers["location"])
    assert (job["state"], job["problem"]["type"]) == ("failed", "/problems/internal-error")
    assert "Traceback" not in str(job)
    assert client.post(BUSY, json={"seconds": 0.01}).status_code == 200


def test_cancelling_frees_the_worker(client: httpx.Client, tmp_path: Path) -> None:
    location = asked(client, tmp_path / "diary", way="spin").headers["location"]
    cancelled = client.delete(location)
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    wait_until(lambda: gone(process_of(tmp_path / "diary")))
    problem(client.get(f"{location}/result"), 409, "no-result")
    assert client.delete(location).status_code == 204
    for response in (client.get(location), client.delete(location), client.get(f"{location}/result")):
        problem(response, 404, "not-found")


def test_cancelling_leaves_others_their_answer(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    location = asked(client, diary).headers["location"]
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(client.post, BUSY, json={"seconds": 100.0, "diary": str(diary)}, headers=AT_ONCE)
        second = other.result().headers["location"]
    assert second != location
    assert client.delete(location).json()["state"] == "cancelled"
    may_end(diary).touch()
    assert done(client, second)["state"] == "done"
    assert diary.read_text().count("began") == 1


def test_a_sweep_tells_how_many_values_are_done(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    sweep = {"field": "seconds", "values": [0.0, 0.01, 100.0]}
    taken = client.post(BUSY, json={"diary": str(diary), "sweep": sweep}, headers=AT_ONCE)
    location = taken.headers["location"]
    assert (taken.json()["kind"], taken.json()["progress"]["of"]) == ("sweep", 3)
    wait_until(lambda: client.get(location).json()["progress"]["done"] == 2)
    may_end(diary).touch()
    job = done(client, location)
    assert (job["state"], job["progress"]["done"]) == ("done", 3)
    assert [each["value"] for each in job["result"]["answers"]] == sweep["values"]


def test_a_cancelled_sweep_tells_how_far_it_came(client: httpx.Client, tmp_path: Path) -> None:
    sweep = {"field": "seconds", "values": [0.0, 100.0, 99.0]}
    body = {"diary": str(tmp_path / "diary"), "sweep": sweep}
    location = client.post(BUSY, json=body, headers=AT_ONCE).headers["location"]
    wait_until(lambda: client.get(location).json()["progress"]["done"] == 1)
    wait_until(lambda: (tmp_path / "diary").read_text().count("began") == 2)
    assert client.delete(location).json()["progress"]["done"] == 1
    wait_until(lambda: gone(process_of(tmp_path / "diary")))


ACCOUNT: dict[str, Any] = dict(next(iter(EXAMPLES.values())))
QUESTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "account": ("/v1/accounts", ACCOUNT, ACCOUNT["spec"]["kind"]),
    "calibration": (f"/v1/calibrations/{GAUSSIAN.name}", dict(GAUSSIAN.example), "gaussian"),
    "report": (
        "/v1/reports",
        {"kind": "calibration", "algorithm": GAUSSIAN.name, "request": dict(GAUSSIAN.example)},
        "gaussian",
    ),
    "evaluation": next(
        (f"/v1/theorems/{each.id}/evaluations", {"inputs": dict(each.examples[0])}, each.id)
        for each in THEOREMS
        if each.formula is not None and each.examples
    ),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_result_is_what_a_200_would_have_been(kind: str, service: httpx.Client) -> None:
    path, body, name = QUESTIONS[kind]
    direct = service.post(path, json=body)
    assert direct.status_code == 200, direct.text
    taken = service.post(path, json=body, headers=AT_ONCE)
    if taken.status_code == 200:  # a closed form is answered in the event loop
        assert taken.content == direct.content
        return
    assert taken.status_code == 202, taken.text
    assert (taken.json()["kind"], taken.json()["name"]) == (kind, name)
    job = done(service, taken.headers["location"])
    result = service.get(job["links"]["result"])
    assert (result.status_code, result.content) == (200, direct.content)
    for header in ("content-type", "content-security-policy"):
        assert result.headers[header] == direct.headers[header]
    assert job["result"] == (direct.text if kind == "report" else direct.json())

"""Simulations over HTTP: taken in, ended every way, cancelled, drawn; on real servers."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import httpx

from epsilond.app.workers.pool import TRIES
from tests.app import toy_simulations as toys
from tests.app.conftest import problem, sample_of, wait_until
from tests.app.documents import conforms, content
from tests.app.jobs.support import JOBS, LONG, PATH, done, expected, finished, process_of, running
from tests.app.processes import gone


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
    ended = done(client, location)
    assert ended["status"] == "done"
    assert ended["result"] == expected(body)
    assert ended["progress"] == {"blocks_done": 4, "blocks": 4, "seconds_left": 0.0}
    assert document["created"] == ended["created"] <= ended["started"] <= ended["ended"]
    assert ended["links"]["figure"] == f"{location}/figure"


def test_a_simulation_is_a_job_too(client: httpx.Client) -> None:
    simulation = finished(client, {"kind": "dice", "seed": 12, "blocks": 2})
    path = f"{JOBS}/{simulation['id']}"
    job = client.get(path).json()
    assert (job["kind"], job["name"], job["state"]) == ("simulation", "dice", "done")
    assert (job["request"], job["result"]) == (simulation["request"], simulation["result"])
    assert (job["progress"]["done"], job["progress"]["of"], job["progress"]["seconds_left"]) == (2, 2, 0.0)
    assert client.get(job["links"]["result"]).json() == simulation["result"]
    listed = client.get(JOBS, params={"kind": "simulation", "limit": 1}).json()["jobs"]
    assert [each["id"] for each in listed] == [simulation["id"]]
    assert client.delete(path).status_code == 204
    problem(client.get(simulation["links"]["self"]), 404, "not-found")


def test_any_number_of_workers_gives_the_same(client: httpx.Client, strict: httpx.Client) -> None:
    body = {"kind": "dice", "seed": 6, "blocks": 9, "seconds": 0.01}
    assert finished(client, body)["result"] == finished(strict, body)["result"] == expected(body)


def test_answers_are_as_declared(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    paths = document["paths"]
    ended = finished(client, {"kind": "coin", "seed": 1})
    failed = finished(client, {"kind": "dice", "way": "refuse"})
    for each in (ended, failed):
        conforms(document, content(paths[PATH]["post"], 200), each)
        conforms(document, content(paths[f"{PATH}/{{id}}"]["get"], 200), client.get(each["links"]["self"]).json())
        job = client.get(f"{JOBS}/{each['id']}").json()
        conforms(document, content(paths[f"{JOBS}/{{id}}"]["get"], 200), job)
    conforms(document, content(paths[PATH]["get"], 200), client.get(PATH).json())
    conforms(document, content(paths[JOBS]["get"], 200), client.get(JOBS).json())
    conforms(document, {"$ref": "#/components/schemas/Problem"}, failed["problem"])
    assert paths[PATH]["post"]["responses"]["202"]["headers"].keys() == {"Location", "Preference-Applied"}
    for path in (PATH, JOBS):
        assert "text/event-stream" in paths[f"{path}/{{id}}/events"]["get"]["responses"]["200"]["content"]
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


def test_cancelling_kills(client: httpx.Client, tmp_path: Path) -> None:
    ended = 'epsilond_jobs_total{kind="simulation",state="cancelled"}'
    location = running(client, LONG, tmp_path / "diary")
    assert sample_of(client, "epsilond_jobs_running") == 1
    before = sample_of(client, ended)
    cancelled = client.delete(location)
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    wait_until(lambda: gone(process_of(tmp_path / "diary")))
    assert client.get(location).json()["progress"] == {"blocks_done": 0, "blocks": 3}
    assert sample_of(client, ended) == before + 1
    assert sample_of(client, "epsilond_jobs_running") == 0
    assert client.delete(location).status_code == 204
    for response in (client.delete(location), client.get(location), client.get(f"{location}/events")):
        problem(response, 404, "not-found")


def test_a_block_whose_worker_dies_is_run_once_more(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    body = {"kind": "dice", "seed": 9, "blocks": 3, "seconds": 1.0, "diary": str(diary)}
    deaths = sample_of(client, 'epsilond_worker_deaths_total{cause="crashed"}')
    location = running(client, body, diary)
    os.kill(process_of(diary), signal.SIGKILL)
    ended = done(client, location)
    began = toys.lines(str(diary))  # each block once, but for the one whose worker died, whichever it was
    assert (began, len(began), set(began)) == (sorted(began), 4, {0, 1, 2})
    assert ended["result"] == expected(body | {"diary": "", "seconds": 0.0})
    assert sample_of(client, 'epsilond_worker_deaths_total{cause="crashed"}') == deaths + 1


def test_a_block_whose_worker_dies_each_time_fails(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    failed = finished(client, {"kind": "dice", "way": "die", "diary": str(diary)})
    assert failed["status"] == "failed"
    assert failed["problem"]["type"] == "/problems/internal-error"
    assert toys.lines(str(diary)) == [0] * TRIES["job"]
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


def test_figures(client: httpx.Client) -> None:
    ended = finished(client, {"kind": "dice", "seed": 4})
    figure, total = ended["links"]["figure"], ended["result"]["sum"]
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

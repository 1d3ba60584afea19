"""Test simulations over HTTP on real servers: accepted, ended in every way, cancelled and drawn."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import httpx

from epsilond.app.workers.pool import MOST_DEATHS
from tests.app import toy_simulations as toys
from tests.app.conftest import problem, sample_of, wait_until
from tests.app.documents import conforms, content, resolved
from tests.app.jobs.support import JOBS, LONG, PATH, asked, done, expected, finished, process_of, running
from tests.app.processes import gone
from tests.app.toys import may_end


def test_from_the_post_to_the_result(client: httpx.Client) -> None:
    body = {"kind": "dice", "seed": 5, "blocks": 4}
    taken = client.post(PATH, json=body)
    assert taken.status_code == 202
    document = taken.json()
    location = taken.headers["location"]
    assert location == document["links"]["self"] == f"{JOBS}/{document['id']}"
    assert (document["kind"], document["name"]) == ("simulation", "dice")
    assert document["state"] == "queued"
    assert document["progress"] == {"done": 0, "of": 4, "seconds_left": 0.004}
    assert document["request"] == {"kind": "dice", "seed": 5, "blocks": 4, "seconds": 0.0, "diary": "", "way": ""}
    assert "result" not in document
    ended = done(client, location)
    assert ended["state"] == "done"
    assert ended["result"] == expected(body)
    assert ended["progress"].pop("seconds_spent") >= 0.0
    assert ended["progress"] == {"done": 4, "of": 4, "seconds_left": 0.0}
    assert document["created"] == ended["created"] <= ended["started"] <= ended["ended"]
    assert ended["links"]["figure"] == f"{location}/figure"
    assert client.get(ended["links"]["result"]).json() == ended["result"]
    listed = client.get(JOBS, params={"kind": "simulation", "limit": 1}).json()["jobs"]
    assert [each["id"] for each in listed] == [ended["id"]]
    assert client.delete(location).status_code == 204
    problem(client.get(location), 404, "not-found")


def test_the_lifecycle_has_no_second_path(client: httpx.Client) -> None:
    job = finished(client, {"kind": "dice", "seed": 12, "blocks": 2})
    former = f"{PATH}/{job['id']}"
    for path in (former, f"{former}/events", f"{former}/figure"):
        problem(client.get(path), 404, "not-found")
    problem(client.delete(former), 404, "not-found")
    problem(client.get(PATH), 405, "method-not-allowed")


def test_any_number_of_workers_gives_the_same(client: httpx.Client, strict: httpx.Client) -> None:
    body = {"kind": "dice", "seed": 6, "blocks": 9, "seconds": 0.01}
    assert finished(client, body)["result"] == finished(strict, body)["result"] == expected(body)


def test_answers_are_as_declared(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    paths = document["paths"]
    ended = finished(client, {"kind": "coin", "seed": 1})
    failed = finished(client, {"kind": "dice", "way": "refuse"})
    for each in (ended, failed):
        conforms(document, content(document, paths[PATH]["post"], 200), each)
        conforms(
            document, content(document, paths[f"{JOBS}/{{id}}"]["get"], 200), client.get(each["links"]["self"]).json()
        )
    conforms(document, content(document, paths[JOBS]["get"], 200), client.get(JOBS).json())
    conforms(document, {"$ref": "#/components/schemas/Problem"}, failed["problem"])
    started = resolved(document, paths[PATH]["post"]["responses"]["202"])
    assert started["headers"].keys() == {
        "Location",
        "Retry-After",
        "Preference-Applied",
    }
    assert "text/event-stream" in paths[f"{JOBS}/{{id}}/events"]["get"]["responses"]["200"]["content"]
    figure = paths[f"{JOBS}/{{id}}/figure"]["get"]["responses"]
    assert "image/png or image/svg+xml" in figure["200"]["description"]
    assert {"404", "406", "409"} <= figure.keys()


def test_prefer_wait(strict: httpx.Client) -> None:
    in_time = strict.post(PATH, json={"kind": "coin", "seed": 2}, headers={"prefer": "respond-async, wait=3000"})
    assert (in_time.status_code, in_time.json()["state"]) == (200, "done")
    assert in_time.headers["preference-applied"] == "wait=500"
    late = strict.post(PATH, json=LONG | {"seconds": 20.0, "blocks": 1}, headers={"prefer": "wait=0"})
    assert late.status_code == 202
    assert late.json()["state"] in ("queued", "running")
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
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    wait_until(lambda: gone(process_of(tmp_path / "diary")))
    progress = client.get(location).json()["progress"]
    assert (progress["done"], progress["of"]) == (0, 3)
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
    assert failed["state"] == "failed"
    assert failed["problem"]["type"] == "/problems/internal-error"
    assert toys.lines(str(diary)) == [0] * MOST_DEATHS["job"]
    assert finished(client, {"kind": "coin", "seed": 3})["state"] == "done"


def test_refusals_and_faults_of_ours_end_it(client: httpx.Client) -> None:
    refused = finished(client, {"kind": "dice", "way": "refuse"})
    assert (refused["state"], refused["problem"]["status"]) == ("failed", 409)
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


def test_only_a_simulation_has_a_figure(client: httpx.Client, tmp_path: Path) -> None:
    question = asked(client, tmp_path / "diary")
    location = question.headers["location"]
    problem(client.get(f"{location}/figure"), 404, "not-found")
    may_end(tmp_path / "diary").touch()
    assert "figure" not in done(client, location)["links"]
    problem(client.get(f"{location}/figure"), 404, "not-found")


def test_workers_of_simulations_step_back(client: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    location = running(client, LONG, diary)
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, process_of(diary)) == min(19, ours + 15)
    questions = client.post("/v1/calibrations/busy", json={"seconds": 0.0, "diary": str(tmp_path / "other")})
    assert questions.status_code == 200
    assert int((tmp_path / "other").read_text().split()[1]) != process_of(diary)
    client.delete(location)

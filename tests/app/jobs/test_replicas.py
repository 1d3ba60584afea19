"""Two replicas over one PostgreSQL: what is posted at one is seen, watched, waited for and cancelled at the other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.app.conftest import PATIENT, problem, serving, wait_until
from tests.app.jobs.support import (
    AT_ONCE,
    BUSY,
    JOBS,
    LONG,
    PATH,
    WAIT,
    answered,
    asked,
    done,
    events,
    expected,
    has_begun,
    process_of,
    running,
)
from tests.app.postgresql import database_of
from tests.app.processes import gone
from tests.app.toys import may_end

Pair = tuple[httpx.Client, httpx.Client]


@pytest.fixture(scope="module")
def pair(postgresql_server: str) -> Iterator[Pair]:
    """Clients of two replicas."""
    with database_of(postgresql_server) as url:
        settings = PATIENT.model_copy(update={"store_url": url, "lease_seconds": 2.0})
        with serving(settings) as first, serving(settings) as second:
            yield first, second


def test_a_question_of_one_is_seen_at_the_other(pair: Pair, tmp_path: Path) -> None:
    here, there = pair
    location = asked(here, tmp_path / "diary").headers["location"]
    seen, own = answered(there.get(location)), answered(here.get(location))
    assert seen["state"] == own["state"] == "running"
    assert seen["request"] == own["request"]
    assert answered(there.get(JOBS))["jobs"][0]["id"] == seen["id"]
    problem(there.get(f"{location}/result"), 409, "no-result")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(there.get, location, headers=WAIT)
        may_end(tmp_path / "diary").touch()
        job = answered(waiting.result())
    assert job["state"] == "done"
    assert job == answered(here.get(location))
    assert there.get(f"{location}/result").content == here.get(f"{location}/result").content
    assert there.delete(location).status_code == 204
    problem(here.get(location), 404, "not-found")


def test_events_at_the_other(pair: Pair, tmp_path: Path) -> None:
    here, there = pair
    location = asked(here, tmp_path / "diary").headers["location"]
    with there.stream("GET", f"{location}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        may_end(tmp_path / "diary").touch()
        told = [line for line in lines if line.startswith(("event", "id"))]
    assert told[-1 if told[-1].startswith("event") else -2] == "event: done"
    last = next(line for line in reversed(told) if line.startswith("id")).removeprefix("id: ")
    for client in pair:  # an id means the same at every replica
        seen = client.get(f"{location}/events", headers={"last-event-id": last})
        assert (seen.status_code, seen.content) == (204, b"")


def test_steps_are_told_at_the_other(pair: Pair) -> None:
    here, there = pair
    body = {"kind": "dice", "seed": 21, "blocks": 6, "seconds": 1.0}
    location = here.post(PATH, json=body).headers["location"]
    told = [[data["progress"]["done"] for _, _, data in events(each.get(f"{location}/events"))] for each in pair]
    assert all(steps == sorted(steps) and steps[-1] == 6 for steps in told)
    assert done(there, location)["result"] == done(here, location)["result"] == expected(body | {"seconds": 0.0})


def test_cancelled_at_the_other(pair: Pair, tmp_path: Path) -> None:
    here, there = pair
    question = asked(here, tmp_path / "question", way="spin").headers["location"]
    simulation = running(here, LONG, tmp_path / "simulation")
    for location, diary in ((question, tmp_path / "question"), (simulation, tmp_path / "simulation")):
        answered(there.delete(location))
        ended = done(there, location)
        assert ended["state"] == "cancelled"
        assert answered(here.get(location)) == ended
        wait_until(lambda diary=diary: gone(process_of(diary)))


def test_one_key_at_both_is_one_job(pair: Pair, tmp_path: Path) -> None:
    key, diary = {"idempotency-key": "both"}, tmp_path / "diary"
    question = {"seconds": 100.0, "diary": str(diary)}
    with ThreadPoolExecutor(8) as pool:
        posts = [pool.submit(each.post, BUSY, json=question, headers=AT_ONCE | key) for each in pair * 4]
        locations = {post.result().headers["location"] for post in posts}
    assert len(locations) == 1
    assert {post.result().status_code for post in posts} == {202}
    wait_until(lambda: has_begun(diary))
    may_end(diary).touch()
    job = done(pair[0], locations.pop())
    answers = [each.post(BUSY, json=question, headers=key) for each in pair]
    assert [(each.status_code, each.json()) for each in answers] == [(200, job["result"])] * 2
    for client in pair:
        problem(client.post(BUSY, json=question | {"seconds": 1.0}, headers=key), 422, "idempotency-key-reused")


def test_one_key_of_simulations_at_both(pair: Pair) -> None:
    body, key = {"kind": "dice", "seed": 31}, {"idempotency-key": "simulation"}
    with ThreadPoolExecutor(8) as pool:
        posts = [pool.submit(each.post, PATH, json=body, headers=WAIT | key) for each in pair * 4]
        documents = [answered(post.result()) for post in posts]
    assert len({document["id"] for document in documents}) == 1
    assert {str(document["result"]) for document in documents} == {str(expected(body))}


def test_both_work_at_what_waits(pair: Pair, tmp_path: Path) -> None:
    here, there = pair
    bodies = [{"kind": "dice", "seed": seed, "blocks": 2, "seconds": 0.5} for seed in range(40, 46)]
    posted = [here.post(PATH, json=body).headers["location"] for body in bodies]
    for location, body in zip(posted, bodies, strict=True):
        assert done(there, location)["result"] == expected(body | {"seconds": 0.0})

"""Idempotency keys: posted again, however often and at the same time, a request is one job."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.conftest import problem, wait_until
from tests.app.jobs.support import AT_ONCE, BUSY, JOBS, PATH, WAIT, done, finished, has_begun, held
from tests.app.toys import may_end

KEY = {"idempotency-key": "a-key"}


def test_of_simulations(client: httpx.Client) -> None:
    body = {"kind": "coin", "seed": 77}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post(PATH, json=body, headers=KEY), range(4)))
    assert {answer.status_code for answer in answers} <= {200, 202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    again = finished(client, {"seed": 77.0, "kind": "coin"}, **KEY)
    assert again["id"] == answers[0].json()["id"]
    repeated = client.post(PATH, json=body, headers=KEY)
    assert (repeated.status_code, repeated.json()) == (200, again)
    problem(client.post(PATH, json=body | {"seed": 78}, headers=KEY), 422, "idempotency-key-reused")
    assert client.post(PATH, json=body).json()["id"] != again["id"]
    assert client.delete(again["links"]["self"]).status_code == 204
    assert client.post(PATH, json=body, headers=KEY).json()["id"] != again["id"]


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "\u00e9"])
@pytest.mark.parametrize(("path", "body"), [(PATH, {"kind": "coin", "seed": 1}), (BUSY, {"seconds": 0.0})])
def test_a_key_that_cannot_be(client: httpx.Client, path: str, body: dict[str, Any], key: str) -> None:
    response = client.post(path, json=body, headers={"idempotency-key": key.encode("latin-1")})
    assert problem(response, 422, "invalid-input")["errors"][0]["parameter"] == "Idempotency-Key"


def test_of_questions(client: httpx.Client, tmp_path: Path) -> None:
    diary, key = tmp_path / "diary", {"idempotency-key": "question"}
    body = {"seconds": 100.0, "diary": str(diary)}
    with ThreadPoolExecutor(4) as pool:
        posts = list(pool.map(lambda _: client.post(BUSY, json=body, headers=AT_ONCE | key), range(4)))
    assert [post.status_code for post in posts] == [202] * 4
    (location,) = {post.headers["location"] for post in posts}
    problem(client.post(BUSY, json=body | {"seconds": 99.0}, headers=AT_ONCE | key), 422, "idempotency-key-reused")
    same = client.post(BUSY, json=body, headers=AT_ONCE | key)
    assert (same.status_code, same.headers["location"]) == (202, location)
    other_path = client.post(PATH, json={"kind": "coin", "seed": 1}, headers=key)
    problem(other_path, 422, "idempotency-key-reused")
    may_end(diary).touch()
    job = done(client, location)
    again = client.post(BUSY, json=body, headers=key)
    assert again.status_code == 200
    assert again.content == client.get(job["links"]["result"]).content
    assert again.json() == job["result"]
    assert diary.read_text().count("began") == 1
    assert client.delete(location).status_code == 204


def test_whoever_comes_again_waits_for_the_job(client: httpx.Client, tmp_path: Path) -> None:
    diary, key = tmp_path / "diary", {"idempotency-key": "patient"}
    body = {"seconds": 100.0, "diary": str(diary)}
    assert client.post(BUSY, json=body, headers=AT_ONCE | key).status_code == 202
    wait_until(lambda: has_begun(diary))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, BUSY, json=body, headers=WAIT | key)
        may_end(diary).touch()
        assert waiting.result().status_code == 200
    assert waiting.result().json()["algorithm"] == "busy"


def test_one_that_failed_is_answered_with_its_problem(client: httpx.Client, tmp_path: Path) -> None:
    key = {"idempotency-key": "refused"}
    body = {"epsilon": 401, "clients": 1}
    with held(client, tmp_path / "held"):
        job = client.post("/v1/calibrations/slow-toy", json=body, headers=AT_ONCE | key)
    assert job.status_code == 202, job.text
    assert done(client, job.headers["location"])["state"] == "failed"
    problem(client.post("/v1/calibrations/slow-toy", json=body, headers=key), 409, "condition-violated")
    assert client.get(JOBS, params={"state": "failed", "limit": 1}).json()["jobs"][0]["id"] == job.json()["id"]

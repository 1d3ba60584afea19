"""Jobs belong to the key that posted them, and what a key may have at one time is counted for it alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.app.callers.test_keys import SIMULATIONS, bearer, locked  # noqa: F401 (a fixture)
from tests.app.conftest import PATIENCE, problem, sample_of, wait_until
from tests.app.jobs.support import AT_ONCE, BUSY, JOBS, has_begun
from tests.app.toys import may_end

DICE = {"kind": "dice", "blocks": 1}


def posted(client: httpx.Client, name: str, body: dict[str, object], **headers: str) -> httpx.Response:
    """A simulation of this key, once it has ended."""
    return client.post(SIMULATIONS, json=body, headers=bearer(name) | {"prefer": "wait=600"} | headers)


def test_a_simulation_is_its_owners_alone(locked: httpx.Client) -> None:  # noqa: F811
    where = posted(locked, "ada", DICE | {"seed": 1}).headers["location"]
    assert locked.get(where, headers=bearer("ada")).json()["state"] == "done"
    for path in (where, f"{where}/events", f"{where}/figure", f"{where}/result"):
        problem(locked.get(path, headers=bearer("bob")), 404, "not-found")
        problem(locked.get(path), 401, "unauthorized")
    problem(locked.delete(where, headers=bearer("bob")), 404, "not-found")
    assert "event: done" in locked.get(f"{where}/events", headers=bearer("ada")).text
    assert locked.delete(where, headers=bearer("ada")).status_code == 204
    problem(locked.get(where, headers=bearer("ada")), 404, "not-found")


def test_a_question_is_its_owners_alone(locked: httpx.Client, tmp_path: Path) -> None:  # noqa: F811
    body = {"seconds": 100.0, "diary": str(tmp_path / "diary")}
    taken = {name: locked.post(BUSY, json=body, headers=bearer(name) | AT_ONCE) for name in ("ada", "bob")}
    mine, theirs = (each.headers["location"] for each in taken.values())
    assert mine != theirs
    for path in (mine, f"{mine}/events", f"{mine}/result"):
        problem(locked.get(path, headers=bearer("bob")), 404, "not-found")
    problem(locked.delete(mine, headers=bearer("bob")), 404, "not-found")
    assert locked.delete(theirs, headers=bearer("bob")).json()["state"] == "cancelled"
    may_end(tmp_path / "diary").touch()
    headers = bearer("ada") | {"prefer": "wait=600"}
    wait_until(lambda: locked.get(mine, headers=headers).json()["state"] == "done")
    assert locked.get(f"{mine}/result", headers=bearer("ada")).json()["algorithm"] == "busy"


def test_nobody_sees_anothers_in_the_list(locked: httpx.Client) -> None:  # noqa: F811
    mine = [posted(locked, "ada", DICE | {"seed": seed}).json()["id"] for seed in (2, 3)]
    theirs = posted(locked, "bob", DICE | {"seed": 2}).json()["id"]

    def listed(name: str) -> list[str]:
        answer = locked.get(JOBS, headers=bearer(name), params={"state": "done", "kind": "simulation"}).json()
        return [each["id"] for each in answer["jobs"]]

    assert listed("ada")[:2] == [mine[1], mine[0]]
    assert listed("bob")[:1] == [theirs]
    assert not set(mine) & set(listed("bob"))


def test_nobody_cancels_anothers(locked: httpx.Client, tmp_path: Path) -> None:  # noqa: F811
    diary = tmp_path / "diary"
    body = DICE | {"seconds": 60.0, "diary": str(diary)}
    where = locked.post(SIMULATIONS, json=body, headers=bearer("ada")).headers["location"]
    wait_until(lambda: has_begun(diary))
    problem(locked.delete(where, headers=bearer("bob")), 404, "not-found")
    assert locked.get(where, headers=bearer("ada")).json()["state"] == "running"
    assert locked.delete(where, headers=bearer("ada")).json()["state"] == "cancelled"


def test_idempotency_keys_are_of_one_owner(locked: httpx.Client) -> None:  # noqa: F811
    key = {"idempotency-key": "same"}
    first, again = (posted(locked, "ada", DICE | {"seed": 4}, **key) for _ in range(2))
    other = posted(locked, "bob", DICE | {"seed": 5}, **key)
    assert first.json()["id"] == again.json()["id"] != other.json()["id"]
    assert other.status_code == 200
    problem(posted(locked, "bob", DICE | {"seed": 4}, **key), 422, "idempotency-key-reused")


def test_a_key_has_so_many_jobs_at_one_time(locked: httpx.Client) -> None:  # noqa: F811
    long = DICE | {"seconds": 60.0}
    first = locked.post(SIMULATIONS, json=long, headers=bearer("one"))
    for refused in (
        locked.post(SIMULATIONS, json=long | {"seed": 9}, headers=bearer("one")),
        locked.post(BUSY, json={"seconds": 50.0}, headers=bearer("one") | AT_ONCE),
    ):
        problem(refused, 429, "rate-limited")
        assert int(refused.headers["retry-after"]) > 0
    second = locked.post(SIMULATIONS, json=long | {"seed": 9}, headers=bearer("ada"))
    assert (first.status_code, second.status_code) == (202, 202)
    for response, name in ((first, "one"), (second, "ada")):
        assert locked.delete(response.headers["location"], headers=bearer(name)).status_code == 200
    assert posted(locked, "one", DICE | {"seed": 10}).status_code == 200


def test_a_key_has_so_many_computations_at_one_time(locked: httpx.Client, tmp_path: Path) -> None:  # noqa: F811
    diary = tmp_path / "diary"

    def busy(name: str, seconds: float, **more: str) -> httpx.Response:
        return locked.post(BUSY, json={"seconds": seconds, **more}, headers=bearer(name))

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(busy, "one", 100.0, diary=str(diary))
        metrics = httpx.Client(base_url=locked.base_url, headers=bearer("ada"), timeout=PATIENCE)
        with metrics:
            wait_until(lambda: sample_of(metrics, "epsilond_computations_under_way") == 1)
        problem(busy("one", 0.01), 429, "rate-limited")
        assert busy("bob", 0.01).status_code == 200
        may_end(diary).touch()
        assert first.result().status_code == 200
    assert busy("one", 0.02).status_code == 200

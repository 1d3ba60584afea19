"""Simulations belong to the key that posted them, and what a key may have at one time is counted for it alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from epsilond.app.jobs.records import TABLE
from epsilond.app.jobs.store import Store, StoreUnavailable
from epsilond.app.settings import Settings
from tests.app.conftest import PATIENCE, problem, sample_of, wait_until
from tests.app.test_keys import SIMULATIONS, bearer, locked  # noqa: F401 (a fixture)
from tests.app.toys import may_end

BUSY = "/v1/calibrations/busy"
DICE = {"kind": "dice", "blocks": 1}


def posted(client: httpx.Client, name: str, body: dict[str, object], **headers: str) -> httpx.Response:
    return client.post(SIMULATIONS, json=body, headers=bearer(name) | {"prefer": "wait=600"} | headers)


def test_a_simulation_is_its_owners_alone(locked: httpx.Client) -> None:  # noqa: F811
    where = posted(locked, "ada", DICE | {"seed": 1}).headers["location"]
    assert locked.get(where, headers=bearer("ada")).json()["status"] == "done"
    for path in (where, f"{where}/events", f"{where}/figure"):
        problem(locked.get(path, headers=bearer("bob")), 404, "not-found")
        problem(locked.get(path), 401, "unauthorized")
    problem(locked.delete(where, headers=bearer("bob")), 404, "not-found")
    assert "event: done" in locked.get(f"{where}/events", headers=bearer("ada")).text
    assert locked.delete(where, headers=bearer("ada")).status_code == 204
    problem(locked.get(where, headers=bearer("ada")), 404, "not-found")


def test_nobody_sees_anothers_in_the_list(locked: httpx.Client) -> None:  # noqa: F811
    mine = [posted(locked, "ada", DICE | {"seed": seed}).json()["id"] for seed in (2, 3)]
    theirs = posted(locked, "bob", DICE | {"seed": 2}).json()["id"]

    def listed(name: str) -> list[str]:
        answer = locked.get(SIMULATIONS, headers=bearer(name), params={"status": "done"}).json()
        return [each["id"] for each in answer["simulations"]]

    assert listed("ada")[:2] == [mine[1], mine[0]]
    assert listed("bob") == [theirs]


def test_nobody_cancels_anothers(locked: httpx.Client, tmp_path: Path) -> None:  # noqa: F811
    diary = tmp_path / "diary"
    body = DICE | {"seconds": 60.0, "diary": str(diary)}
    where = locked.post(SIMULATIONS, json=body, headers=bearer("ada")).headers["location"]
    wait_until(diary.exists)
    problem(locked.delete(where, headers=bearer("bob")), 404, "not-found")
    assert locked.get(where, headers=bearer("ada")).json()["status"] == "running"
    assert locked.delete(where, headers=bearer("ada")).json()["status"] == "cancelled"


def test_idempotency_keys_are_of_one_owner(locked: httpx.Client) -> None:  # noqa: F811
    key = {"idempotency-key": "same"}
    first, again = (posted(locked, "ada", DICE | {"seed": 4}, **key) for _ in range(2))
    other = posted(locked, "bob", DICE | {"seed": 5}, **key)
    assert first.json()["id"] == again.json()["id"] != other.json()["id"]
    assert other.status_code == 200
    problem(posted(locked, "bob", DICE | {"seed": 4}, **key), 422, "idempotency-key-reused")


def test_a_key_has_so_many_simulations_at_one_time(locked: httpx.Client) -> None:  # noqa: F811
    long = DICE | {"seconds": 60.0}
    first = locked.post(SIMULATIONS, json=long, headers=bearer("one"))
    refused = locked.post(SIMULATIONS, json=long | {"seed": 9}, headers=bearer("one"))
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

    under_way = "epsilond_computations_under_way"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(busy, "one", 100.0, diary=str(diary))
        metrics = httpx.Client(base_url=locked.base_url, headers=bearer("ada"), timeout=PATIENCE)
        with metrics:
            wait_until(lambda: sample_of(metrics, under_way) == 1)
        problem(busy("one", 0.01), 429, "rate-limited")
        assert busy("bob", 0.01).status_code == 200
        may_end(diary).touch()
        assert first.result().status_code == 200
    assert busy("one", 0.02).status_code == 200


def test_a_table_without_owners_is_not_taken(tmp_path: Path) -> None:
    settings = Settings(store_path=str(tmp_path / "jobs.sqlite"))
    store = Store.open(settings)
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE simulations")
        columns = ", ".join(column.name for column in TABLE.columns if column.name != "owner")
        connection.exec_driver_sql(f"CREATE TABLE simulations ({columns})")
    store.close()
    with pytest.raises(StoreUnavailable, match=r"EPSILOND_STORE_PATH: .* of another version \(no owner\)"):
        Store.open(settings)

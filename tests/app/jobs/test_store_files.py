"""A store's file that belongs to another service, or is taken away from this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from epsilond.app.serve import serve
from epsilond.app.settings import Settings
from epsilond.app.store import Store
from tests.app.conftest import PATIENCE, PATIENT, application, problem, serving, wait_until
from tests.app.jobs.support import AT_ONCE, BUSY, JOBS, PATH, asked, done, expected, finished, running
from tests.app.test_service import ROOT
from tests.app.toy_simulations import KINDS
from tests.app.toys import may_end


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a service with a file of its own."""
    return PATIENT.model_copy(update={"store_path": str(tmp_path / "jobs.sqlite")})


def test_a_file_that_was_chosen_and_is_taken_is_told_at_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("epsilond.app.logs.configure", lambda _: None)
    taken = Store.open(settings)
    with pytest.raises(ValueError, match="EPSILOND_STORE_PATH: "):
        serve(settings=settings, kinds=KINDS)
    environ = os.environ | {"EPSILOND_STORE_PATH": settings.store_path, "EPSILOND_PORT": "0", "EPSILOND_WORKERS": "1"}
    command = [sys.executable, "-c", "from epsilond.cli import main; main()", "serve"]
    ended = subprocess.run(
        command, env=environ, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    taken.close()
    assert ended.returncode == 2, ended.stderr
    assert "EPSILOND_STORE_PATH" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_usual_file_that_is_taken_is_left_to_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    settings = Settings(workers=1, spare_workers=0, port=0, job_wait_seconds=PATIENCE)
    with serving(settings) as first:
        kept = finished(first, {"kind": "coin", "seed": 1})
        app = application(settings)
        with monkeypatch.context() as patched:
            patched.setattr(app.state.jobs, "_log", SimpleNamespace(error=said.append))
            app.state.jobs.open()
        with serving(settings, app) as second:
            assert second.get(JOBS).json() == {"jobs": []}
            refused = second.get("/v1/ledgers")
            assert finished(second, {"kind": "coin", "seed": 1})["result"] == kept["result"]
            assert [each["id"] for each in first.get(JOBS).json()["jobs"]] == [kept["id"]]
    assert len(said) == 1
    for word in ("in memory", "ledgers", str(tmp_path), "EPSILOND_STORE_PATH"):
        assert word in said[0]
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/ledgers-not-durable")
    assert said[0] in refused.json()["detail"]
    assert "EPSILOND_LEDGERS_IN_MEMORY=yes" in refused.json()["detail"]


def test_a_result_waits_for_a_store_that_is_full(tmp_path: Path) -> None:
    app = application(PATIENT)
    body = {"kind": "dice", "seed": 8, "blocks": 1, "seconds": 1.0}

    def writes(allowed: bool) -> None:
        with app.state.jobs._store._database._engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA query_only = {not allowed}")

    with serving(PATIENT, app) as client:
        location = running(client, body, tmp_path / "diary")
        writes(False)
        wait_until(lambda: client.get(location).json()["state"] != "running")
        unstored = client.get(location).json()
        assert (unstored["state"], unstored["problem"]["type"]) == ("interrupted", "/problems/unavailable")
        assert "result" not in unstored
        assert [each["state"] for each in client.get(JOBS).json()["jobs"]] == ["interrupted"]
        result = client.get(f"{JOBS}/{unstored['id']}/result")
        problem(result, 503, "unavailable")
        for refused in (result, client.delete(location), client.post(PATH, json=body)):
            problem(refused, 503, "unavailable")
            assert int(refused.headers["retry-after"]) > 0
        writes(True)
        ended = client.get(location).json()
        assert (ended["state"], ended["result"]) == ("done", expected(body | {"seconds": 0.0}))
        assert client.delete(location).status_code == 204


def test_without_its_file_a_service_still_answers_questions(settings: Settings, tmp_path: Path) -> None:
    with serving(settings) as client:
        kept = finished(client, {"kind": "coin", "seed": 1})
        job = asked(client, tmp_path / "diary").headers["location"]
        files = list(tmp_path.glob("jobs.sqlite*"))
        for each in files:
            each.rename(f"{each}.away")
        assert client.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1}).status_code == 200
        assert client.post(BUSY, json={"seconds": 0.01}, headers={"prefer": "wait=600"}).status_code == 200
        for response in (
            client.post(BUSY, json={"seconds": 50.0}, headers=AT_ONCE),
            client.post(BUSY, json={"seconds": 0.01}, headers={"idempotency-key": "k"}),
            client.post(PATH, json={"kind": "coin", "seed": 2}),
            client.get(JOBS),
            client.get(JOBS),
            client.get(job),
            client.get(f"{job}/result"),
            client.get(f"{job}/events"),
            client.delete(job),
            client.get(kept["links"]["self"]),
            client.get(f"{kept['links']['self']}/figure"),
        ):
            problem(response, 503, "unavailable")
            assert int(response.headers["retry-after"]) > 0
        assert client.get("/readyz").status_code == 200
        may_end(tmp_path / "diary").touch()
        wait_until(lambda: "\nended" in (tmp_path / "diary").read_text())
        for each in files:
            Path(f"{each}.away").rename(each)
        assert done(client, job)["state"] == "done"
        assert client.get(kept["links"]["self"]).json() == kept


def test_a_stream_ends_where_the_store_is_gone(settings: Settings, tmp_path: Path) -> None:
    with serving(settings) as client:
        runs = running(client, {"kind": "dice", "seconds": 50.0}, tmp_path / "diary")
        waits = client.post(PATH, json={"kind": "coin", "seed": 1}).headers["location"]
        with client.stream("GET", f"{waits}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: progress"
            path = Path(settings.store_path)
            path.rename(f"{path}.away")
            assert not [line for line in lines if line.startswith("event: ") and line != "event: progress"]
        problem(client.get(f"{waits}/events"), 503, "unavailable")
        Path(f"{path}.away").rename(path)
        assert client.delete(runs).json()["state"] == "cancelled"
        assert done(client, waits)["state"] == "done"


def test_retention_forgets_the_oldest(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.jobs.upkeep.SWEEP_SECONDS", 0.05)
    with serving(settings.model_copy(update={"store_jobs": 2})) as client:
        made = [finished(client, {"kind": "coin", "seed": seed}) for seed in range(4)]

        def kept() -> list[str]:
            return [each["id"] for each in client.get(JOBS).json()["jobs"]]

        wait_until(lambda: len(kept()) == 2)
        assert kept() == [made[3]["id"], made[2]["id"]]
        for path in (made[0]["links"]["self"], f"{JOBS}/{made[0]['id']}/result"):
            problem(client.get(path), 404, "not-found")

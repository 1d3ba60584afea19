"""Replicas that are killed, stopped, or cut off from their database: nothing is lost, and no number changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from epsilond.app.settings import Settings
from tests.app import toy_simulations as toys
from tests.app.conftest import PATIENT, problem, sample_of, serving, wait_until
from tests.app.jobs.services import Served, apart
from tests.app.jobs.support import (
    AT_ONCE,
    BUSY,
    JOBS,
    PATH,
    answered,
    asked,
    done,
    expected,
    held,
    process_of,
    running,
)
from tests.app.processes import gone
from tests.app.toys import may_end

SLOW = "/v1/calibrations/slow-toy"
DICE = {"kind": "dice", "seed": 51, "blocks": 3, "seconds": 1000.0}
"""A simulation that ends when it may: when the file beside its diary is there."""
NUMBER = expected(DICE | {"seconds": 0.0})


@pytest.fixture
def settings(postgresql_url: str) -> Settings:
    """Of a replica in this process, which looks for work twice a second."""
    return PATIENT.model_copy(update={"store_url": postgresql_url, "lease_seconds": 2.0})


def begun_at(served: Served, diary: Path) -> str:
    """A simulation that runs at this replica, the only one so far."""
    location = running(served.client, DICE, diary)
    assert process_of(diary) in served.children()
    return location


def test_the_simulation_of_one_that_is_killed_is_run_by_another(settings: Settings, tmp_path: Path) -> None:
    with apart(store_url=settings.store_url, lease_seconds=2.0) as lost:
        location = begun_at(lost, tmp_path / "diary")
        with serving(settings) as client:
            assert answered(client.get(location))["state"] == "running"
            children = lost.children()
            lost.kill()
            may_end(tmp_path / "diary").touch()
            ended = done(client, location)
            assert (ended["state"], ended["result"]) == ("done", NUMBER)
            wait_until(lambda: all(map(gone, children)))
    assert toys.lines(str(tmp_path / "diary"))[-3:] == [0, 1, 2]


def test_a_question_of_one_that_is_killed_is_answered_by_another(settings: Settings, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with apart(store_url=settings.store_url, lease_seconds=2.0) as lost, serving(settings) as client:
        location = asked(lost.client, diary).headers["location"]
        with held(lost.client, tmp_path / "held"):
            refused = lost.client.post(SLOW, json={"epsilon": 400, "clients": 1}, headers=AT_ONCE)
        lost.kill()
        may_end(diary).touch()
        job = done(client, location)
        assert (job["state"], job["result"]["algorithm"]) == ("done", "busy")
        assert done(client, refused.headers["location"])["problem"]["type"] == "/problems/infeasible"


def test_one_that_is_stopped_hands_over_at_once(settings: Settings, tmp_path: Path) -> None:
    leased = {"store_url": settings.store_url, "lease_seconds": 86_400.0}  # nobody would live to see it pass
    with apart(**leased) as stopped, serving(settings) as client:
        question = asked(stopped.client, tmp_path / "question").headers["location"]
        simulation = running(stopped.client, DICE, tmp_path / "simulation")
        children = stopped.children()
        stopped.stop()
        wait_until(lambda: all(map(gone, children)))
        may_end(tmp_path / "question").touch()
        may_end(tmp_path / "simulation").touch()
        assert done(client, question)["state"] == "done"
        assert done(client, simulation)["result"] == NUMBER


def test_one_that_is_thrown_off_its_database_goes_on(settings: Settings, tmp_path: Path) -> None:
    with serving(settings) as client:
        location = running(client, DICE, tmp_path / "diary")
        for _ in range(5):
            thrown_off(settings.store_url)
            for response in (
                client.get(location),
                client.get(JOBS),
                client.post(PATH, json={"kind": "coin", "seed": 1}),
            ):
                if response.status_code not in (200, 202):
                    problem(response, 503, "unavailable")
                    assert int(response.headers["retry-after"]) > 0
        may_end(tmp_path / "diary").touch()
        wait_until(lambda: client.get(location).status_code == 200)
        ended = done(client, location)
        assert (ended["state"], ended["result"]) == ("done", NUMBER)
    assert toys.lines(str(tmp_path / "diary")) == [0, 1, 2]


def test_one_that_is_cut_off_answers_questions_and_goes_on(settings: Settings, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with serving(settings.model_copy(update={"job_workers": 3})) as client:  # it would have room to run them once more
        long = DICE | {"seconds": 1.0, "blocks": 500}  # more than can end while it is cut off
        location = running(client, long, diary)
        question = asked(client, tmp_path / "question").headers["location"]
        with cut_off(settings.store_url):
            wait_until(lambda: sample_of(client, "epsilond_store_up") == 0)
            not_ready = client.get("/readyz")
            assert not_ready.status_code == 503
            assert int(not_ready.headers["retry-after"]) > 0
            assert client.post(BUSY, json={"seconds": 0.01}).status_code == 200
            for response in (
                client.get(location),
                client.get(JOBS),
                client.delete(question),
                client.get(f"{question}/events"),
                client.post(BUSY, json={"seconds": 50.0}, headers=AT_ONCE),
                client.post(PATH, json={"kind": "coin", "seed": 1}),
            ):
                problem(response, 503, "unavailable")
                assert int(response.headers["retry-after"]) > 0
            begun = len(toys.lines(str(diary)))
            wait_until(lambda: len(toys.lines(str(diary))) > begun + 3)  # the leases have passed by then
        wait_until(lambda: client.get("/readyz").status_code == 200)
        may_end(diary).touch()
        may_end(tmp_path / "question").touch()
        assert done(client, question)["state"] == "done"
        ended = done(client, location)
        assert (ended["state"], ended["result"]) == ("done", expected(long | {"seconds": 0.0}))
    assert sorted(toys.lines(str(diary))) == list(range(500))  # no block twice
    assert (tmp_path / "question").read_text().count("began") == 1


def test_what_ends_while_it_is_cut_off_is_stored_afterwards(settings: Settings, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with serving(settings) as client:
        location = asked(client, diary).headers["location"]
        with cut_off(settings.store_url):
            wait_until(lambda: sample_of(client, "epsilond_store_up") == 0)
            may_end(diary).touch()
            wait_until(lambda: sample_of(client, "epsilond_jobs_running") == 0)
            problem(client.get(location), 503, "unavailable")
        wait_until(lambda: client.get("/readyz").status_code == 200)
        assert done(client, location)["result"]["algorithm"] == "busy"
    assert diary.read_text().count("began") == 1


def test_a_job_that_was_taken_over_is_not_ended_by_the_first(settings: Settings, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with apart(store_url=settings.store_url, lease_seconds=2.0, job_workers=1) as first:
        running(first.client, DICE, tmp_path / "other")  # leaves it no place to claim the job again
        with serving(settings) as client:
            location = asked(first.client, diary).headers["location"]
            taken = f"id = '{location.rpartition('/')[2]}'"
            on(settings.store_url, f"UPDATE jobs SET lease_until = 0, replica = 'gone' WHERE {taken}")
            wait_until(lambda: diary.read_text().count("began") == 2)
            may_end(diary).touch()
            assert done(client, location)["state"] == "done"
            assert answered(first.client.get(location)) == answered(client.get(location))


def on(url: str, statement: str) -> None:
    """A statement on a database, past every replica."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def thrown_off(url: str) -> None:
    """End every connection to a database."""
    server, _, name = url.rpartition("/")
    on(
        f"{server}/postgres",
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
    )


@contextmanager
def cut_off(url: str) -> Iterator[None]:
    """Within this, nobody gets to a database."""
    server, _, name = url.rpartition("/")

    def allow(may: bool) -> None:
        on(f"{server}/postgres", f"ALTER DATABASE {name} ALLOW_CONNECTIONS {str(may).lower()}")

    allow(False)
    thrown_off(url)
    try:
        yield
    finally:
        allow(True)

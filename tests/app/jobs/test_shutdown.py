"""Test the end of a service while its store hands out jobs: it ends, and no job stays with a replica that is gone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from epsilond.app.settings import Settings
from epsilond.app.store import Store
from epsilond.app.store.record import Record
from tests.app.conftest import PATIENCE, PATIENT, SERVERS, application, problem, serving, wait_until
from tests.app.jobs.support import AT_ONCE, BUSY, PATH

SHORT = 5.0
"""Seconds after which a job is stopped here that should not have been begun."""
GRACE = 1.0
"""Seconds for which a call of the store is held that something else should wait for."""


class Held:
    """A method of the store that waits in its thread until it may go on."""

    def __init__(self, method: Callable[..., Any], wanted: Callable[..., bool] = lambda *_, **__: True) -> None:
        self.entered, self.may_go = Event(), Event()
        self._method, self._wanted = method, wanted

    def __get__(self, store: Store, _: type[Store]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            if self._wanted(*arguments, **named):
                self.entered.set()
                assert self.may_go.wait(PATIENCE)
            return self._method(store, *arguments, **named)

        return called


@pytest.mark.parametrize("kept", [True, False])
def test_a_stop_while_a_question_becomes_a_job(kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "jobs.sqlite") if kept else ":memory:"
    settings = PATIENT.model_copy(update={"store_path": path, "job_seconds": SHORT})
    app = application(settings)
    adding = Held(Store.add)
    monkeypatch.setattr(Store, "add", adding)
    with ThreadPoolExecutor(1) as pool, serving(settings, app) as client:
        asking = pool.submit(client.post, BUSY, json={"seconds": 100.0}, headers=AT_ONCE)
        assert adding.entered.wait(PATIENCE)
        SERVERS[str(client.base_url)].should_exit = True
        wait_until(lambda: not app.state.jobs._accepting)
        adding.may_go.set()
        taken = asking.result()
    if not kept:
        problem(taken, 503, "unavailable")
        return
    assert (taken.status_code, taken.json()["state"]) == (202, "queued")
    record = record_of(settings, taken.json()["id"])
    assert (record.state, record.lost) == ("queued", 0)


def test_what_is_claimed_while_the_service_stops_is_given_back(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = PATIENT.model_copy(update={"store_url": postgresql_url, "lease_seconds": PATIENCE})
    app, release = application(settings), Store.release
    posted, stopped, released = Event(), Event(), Event()
    claiming = Held(Store.claim, lambda *_, **__: posted.is_set())

    def told(store: Store, *arguments: Any) -> int:
        answer = release(store, *arguments)
        released.set()
        return answer

    monkeypatch.setattr(Store, "claim", claiming)
    monkeypatch.setattr(Store, "release", told)
    with ThreadPoolExecutor(1) as pool:
        with serving(settings, app) as client:
            posted.set()
            location = client.post(PATH, json={"kind": "coin", "seed": 1}).headers["location"]
            assert claiming.entered.wait(PATIENCE)
            stop = app.state.jobs.stop

            def stopping() -> None:
                if not app.state.jobs._accepting:  # the second time: next, what this replica has is given back
                    stopped.set()
                stop()

            monkeypatch.setattr(app.state.jobs, "stop", stopping)

            def go() -> None:
                assert stopped.wait(PATIENCE)
                released.wait(GRACE)
                claiming.may_go.set()

            going = pool.submit(go)
        going.result()
    record = record_of(settings, location.rpartition("/")[2])
    assert (record.state, record.attempt) == ("queued", 1)


def record_of(settings: Settings, identifier: str) -> Record:
    """A job as a service has left it."""
    store = Store.open(settings)
    try:
        found = store.get("", identifier)
    finally:
        store.close()
    assert found is not None
    return found

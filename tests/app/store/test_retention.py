"""How long jobs are kept, by seconds of service that no clock can make leap."""

from __future__ import annotations

import time

import pytest

from epsilond.app.settings import Settings
from epsilond.app.store import AttemptProgress, End, Store
from tests.app.store.samples import DAY, HOUR, PASSED, claimed, done, one, pass_time, queued, running, serve_for, states

PROBLEM = b'{"type": "/problems/interrupted"}'
PLENTY = {"days": 30.0, "jobs": 1000, "size": 10**9}


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({}, ["s1", "s2", "s3", "s4", "s5"]),
        ({"days": 2.5}, ["s4", "s5"]),
        ({"jobs": 2}, ["s4", "s5"]),
        ({"size": 36}, ["s3", "s4", "s5"]),
        ({"size": 35}, ["s4", "s5"]),
        ({"days": 3.5, "jobs": 4, "size": 12}, ["s5"]),
    ],
)
def test_what_is_old_beyond_a_number_or_beyond_a_size_is_forgotten(
    store: Store, limits: dict[str, float], kept: list[str]
) -> None:
    queued(store, "queued")
    running(store, "running", "other")
    for place in range(1, 6):
        done(store, f"s{place}", when=2.0)
        serve_for(store, DAY)
    assert store.prune(**PLENTY | limits) == 5 - len(kept)
    assert [*states(store)] == ["queued", "running", *kept]


def test_one_caller_does_not_push_out_what_others_keep(store: Store) -> None:
    done(store, "theirs", caller="quiet")
    for place in range(5):
        serve_for(store, HOUR)
        done(store, f"j{place}", caller="busy")
    assert store.prune(**PLENTY | {"jobs": 3}) == 3
    assert [*states(store)] == ["theirs", "j3", "j4"]


def test_a_clock_that_leaps_forgets_nothing(store: Store) -> None:
    done(store, "a")
    pass_time(store, 40 * DAY)
    assert store.prune(**PLENTY) == 0
    done(store, "b")
    pass_time(store, -40 * DAY)
    assert store.prune(**PLENTY) == 0
    assert [*states(store)] == ["a", "b"]


def test_this_machines_clock_may_leap_too(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(Settings(store_path=":memory:"))
    done(store, "a")
    start = time.time()
    for leap in (40 * DAY, 0.0, -40 * DAY, 80 * DAY):
        monkeypatch.setattr(time, "time", lambda leap=leap: start + leap)
        assert store.prune(**PLENTY) == 0
    assert one(store, "a").state == "done"
    store.close()


def test_service_by_the_hour_adds_up(store: Store) -> None:
    done(store, "a")
    for hours in range(1, 26):
        pass_time(store, HOUR)
        removed = store.prune(**PLENTY | {"days": 1.0})
        assert removed == (hours == 25), hours
        if removed:
            break
    assert states(store) == {}


def test_replicas_count_each_second_once(replicas: tuple[Store, Store]) -> None:
    done(replicas[0], "a")
    for _ in range(23):
        pass_time(replicas[0], HOUR)
        assert [store.prune(**PLENTY | {"days": 1.0}) for store in replicas] == [0, 0]
    assert [*states(replicas[0])] == ["a"]


def test_jobs_of_a_version_that_nobody_runs_are_interrupted_after_a_day(store: Store) -> None:
    queued(store, "old", engine_version="0")
    queued(store, "ours")
    serve_for(store, DAY - HOUR)
    assert store.interrupt(engine_version="1", problem=PROBLEM) == 0
    serve_for(store, 2 * HOUR)
    assert store.interrupt(engine_version="1", problem=PROBLEM) == 1
    assert states(store) == {"old": "interrupted", "ours": "queued"}
    assert one(store, "old").problem == PROBLEM
    assert one(store, "old").ended is not None


def test_as_long_as_a_version_is_run_its_jobs_wait(store: Store) -> None:
    queued(store, "old", engine_version="0")
    running(store, "runs", engine_version="0")
    serve_for(store, 2 * DAY)
    assert store.interrupt(engine_version="1", problem=PROBLEM) == 0
    store.end("runs", 1, "a", End(state="done", result=b"[]"))
    assert store.interrupt(engine_version="1", problem=PROBLEM) == 1


def test_what_a_replica_of_another_version_left_waits_for_its_version(replicas: tuple[Store, Store]) -> None:
    store = replicas[0]
    for name in ("a", "b"):
        running(store, name, "gone", engine_version="0")
    store.cancel("", "b")
    store.beat("gone", dict.fromkeys("ab", AttemptProgress(attempt=1)), PASSED)
    serve_for(store, 2 * DAY)
    assert claimed(store, "me") == []
    assert store.interrupt(engine_version="1", problem=PROBLEM) == 0
    assert states(store) == {"a": "queued", "b": "cancelled"}
    assert one(store, "a").lost == 1
    serve_for(store, 2 * DAY)
    assert store.interrupt(engine_version="1", problem=PROBLEM) == 1

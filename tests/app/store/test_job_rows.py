"""Test that jobs are stored once, found, listed and deleted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from epsilond.app.store import End, Store
from tests.app.store.samples import LEASE, claimed, done, one, queued, record, running, states


def test_a_job_is_kept_as_it_came(store: Store) -> None:
    kept = queued(store, "a", caller="10.0.0.1", seconds=2.5, idempotency_key="k", request=b"[1, 2]")
    assert kept == record(
        "a",
        caller="10.0.0.1",
        seconds=2.5,
        idempotency_key="k",
        request=b"[1, 2]",
        size=6,
        sequence=kept.sequence,
        queued_tick=kept.queued_tick,
    )
    assert store.get("", "a") == store.with_key("", "k") == kept
    assert store.get("", "a", complete=False) == replace(kept, request=b"")
    assert store.get("", "b") is store.with_key("", "l") is None


def test_a_job_may_be_its_makers_at_once(store: Store) -> None:
    kept = running(store, "a", "me")
    assert (kept.state, kept.attempt, kept.replica) == ("running", 1, "me")
    assert kept.started is not None
    assert claimed(store, "other") == []
    assert store.end("a", 1, "me", End(state="done", result=b"[]"))


def test_a_key_is_of_one_job_of_one_owner(store: Store) -> None:
    first = queued(store, "a", idempotency_key="k")
    assert queued(store, "b", idempotency_key="k") == first
    assert running(store, "c", idempotency_key="k", fingerprint="g") == first
    assert queued(store, "d", idempotency_key="k", owner="other").id == "d"
    assert states(store) == {"a": "queued"}


def test_an_interrupted_job_lets_go_of_its_key_to_an_equal_request(store: Store) -> None:
    running(store, "a", idempotency_key="k")
    store.end("a", 1, "a", End(state="interrupted", problem=b"{}"))
    assert queued(store, "b", idempotency_key="k", fingerprint="g").id == "a"
    assert queued(store, "c", idempotency_key="k").id == "c"
    assert one(store, "a").idempotency_key is None


def test_a_key_is_of_one_job_whichever_replicas_are_asked(replicas: tuple[Store, Store]) -> None:
    def posted(place: int) -> str:
        return queued(replicas[place % 2], f"job-{place}", idempotency_key=f"k{place // 8}").id

    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(posted, range(64)))
    assert all(len({*kept[start : start + 8]}) == 1 for start in range(0, 64, 8))
    assert len(states(replicas[0])) == 8


def test_pages(store: Store) -> None:
    for name in ("p1", "p2", "p3"):
        queued(store, name)
    done(store, "s1")
    running(store, "s2", kind="simulation")
    queued(store, "other", owner="other")
    assert [each.id for each in store.page("")] == ["s2", "s1", "p3", "p2", "p1"]
    assert [each.id for each in store.page("", state="queued", limit=2)] == ["p3", "p2"]
    assert [each.id for each in store.page("", before=one(store, "p3").sequence)] == ["p2", "p1"]
    assert [each.id for each in store.page("", kind="simulation")] == ["s2"]
    assert [each.id for each in store.page("other")] == ["other"]
    (listed,) = store.page("", state="done")
    assert (listed.request, listed.result) == (b"", None)


def test_counts(store: Store) -> None:
    assert (store.counts(), store.size(), store.live("")) == ({}, 0, 0)
    queued(store, "q")
    running(store, "r", caller="other")
    done(store, "d")
    assert store.counts() == {"queued": 1, "running": 1, "done": 1}
    assert store.size() == 2 + 2 + 12
    assert (store.live(""), store.live("other"), store.live("nobody")) == (1, 1, 0)


def test_only_what_has_ended_is_removed_and_only_by_its_owner(store: Store) -> None:
    done(store, "d")
    queued(store, "q")
    running(store, "r")
    assert not store.remove("other", "d")
    assert [store.remove("", name) for name in ("d", "d", "q", "r", "none")] == [True, False, False, False, False]
    assert states(store) == {"q": "queued", "r": "running"}


def test_what_is_taken_in_by_many_threads_is_all_there(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        kept = list(
            pool.map(lambda place: store.add(record(f"j{place}"), replica=None, lease_seconds=LEASE), range(40))
        )
    assert len({each.sequence for each in kept}) == 40
    assert store.counts() == {"queued": 40}

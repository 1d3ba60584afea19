"""Who runs what: nobody runs another's job, and what a replica leaves is run by the next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from epsilond.app.store import AttemptProgress, Beat, End, Store
from epsilond.app.store.leases import MOST_LOST
from tests.app.store.samples import EXHAUSTED, LEASE, PASSED, claimed, one, queued, running, states

DONE = End(state="done", media_type="application/json", result=b"[1]", steps_done=3)


def test_the_oldest_is_claimed_first_and_once(store: Store) -> None:
    for name in ("a", "b", "c"):
        queued(store, name)
    first = claimed(store, "me", limit=2)
    assert [each.id for each in first] == ["a", "b"]
    assert all(each.request == b"{}" for each in first)
    assert first[0] == one(store, "a")
    assert (first[0].state, first[0].attempt, first[0].replica) == ("running", 1, "me")
    assert [each.id for each in claimed(store, "other")] == ["c"]
    assert claimed(store, "me") == []


def test_callers_take_turns(store: Store) -> None:
    for place in range(4):
        queued(store, f"many-{place}", caller="many")
    queued(store, "one", caller="one")
    assert {each.id for each in claimed(store, "me", limit=2)} == {"many-0", "one"}
    queued(store, "new", caller="new")
    assert [each.id for each in claimed(store, "me", limit=1)] == ["new"]
    assert [each.id for each in claimed(store, "me")] == ["many-1", "many-2", "many-3"]


def test_another_versions_jobs_are_left_to_it(store: Store) -> None:
    queued(store, "a", engine_version="2")
    assert claimed(store, "me") == []
    (taken,) = store.claim("me", engine_version="2", limit=1, lease_seconds=LEASE, exhausted=EXHAUSTED)
    assert taken.id == "a"


def test_an_end_is_told_once_and_by_who_runs_it(store: Store) -> None:
    queued(store, "a")
    assert not store.end("a", 0, "me", DONE)
    claimed(store, "me")
    assert not store.end("a", 1, "other", DONE)
    assert not store.end("a", 2, "me", DONE)
    assert store.end("a", 1, "me", DONE)
    for again in (DONE, End(state="failed", problem=b"{}"), End(state="cancelled")):
        assert not store.end("a", 1, "me", again)
    ended = one(store, "a")
    assert (ended.state, ended.result, ended.media_type) == ("done", b"[1]", "application/json")
    assert (ended.steps_done, ended.size, ended.replica, ended.lease_until) == (3, 5, None, None)
    assert ended.started is not None
    assert ended.ended is not None
    assert ended.started <= ended.ended
    assert ended.ended_tick is not None


def test_progress_is_seen(store: Store) -> None:
    for name in ("a", "b", "c"):
        running(store, name, "me")
    beat = store.beat(
        "me",
        {"a": AttemptProgress(attempt=1, done=2, of=7, seconds_left=1.5), "b": AttemptProgress(attempt=1, done=1)},
        LEASE,
    )
    assert beat == Beat()
    a, b, c = (one(store, name) for name in ("a", "b", "c"))
    assert (a.steps_done, a.steps, a.seconds_left) == (2, 7, 1.5)
    assert (b.steps_done, b.steps, b.seconds_left) == (1, 3, None)
    assert (c.steps_done, c.steps) == (None, 3)


def test_a_beat_says_what_is_not_ours(store: Store) -> None:
    running(store, "mine", "me")
    running(store, "others", "other")
    running(store, "ended", "me")
    store.end("ended", 1, "me", DONE)
    told = dict.fromkeys(("mine", "others", "ended", "none"), AttemptProgress(attempt=1, done=2))
    assert store.beat("me", told, LEASE).lost == {"others", "ended", "none"}
    assert store.beat("me", {"mine": AttemptProgress(attempt=2)}, LEASE).lost == {"mine"}
    assert one(store, "others").steps_done is None


def test_what_is_released_waits_again(store: Store) -> None:
    for name in ("a", "b"):
        running(store, name, "me")
    running(store, "others", "other")
    store.beat("me", {"a": AttemptProgress(attempt=1, done=2, seconds_left=1.0)}, LEASE)
    store.cancel("", "b")
    assert store.release("me") == 2
    assert store.release("me") == 0
    assert states(store) == {"a": "queued", "b": "cancelled", "others": "running"}
    left = one(store, "a")
    assert (left.started, left.steps_done, left.seconds_left, left.replica, left.lost) == (None, None, None, None, 0)
    assert not store.end("a", 1, "me", DONE)
    (again,) = claimed(store, "other")
    assert (again.id, again.attempt) == ("a", 2)


def test_what_runs_here_is_not_claimed_again(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    for name in ("a", "b"):
        queued(first, name)
    claimed(first, "first", lease_seconds=PASSED)
    more = {"engine_version": "1", "limit": 9, "lease_seconds": LEASE, "exhausted": EXHAUSTED}
    (anew,) = first.claim("first", held=("a",), **more)
    assert (anew.id, anew.attempt) == ("b", 2)
    assert first.beat("first", {"a": AttemptProgress(attempt=1)}, LEASE) == Beat()
    assert claimed(second, "second") == []


def test_a_lease_that_has_passed_is_anybodys(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    queued(first, "a")
    (taken,) = claimed(first, "first", lease_seconds=PASSED)
    assert first.beat("first", {"a": AttemptProgress(attempt=1)}, LEASE) == Beat()  # nobody was quicker
    assert claimed(second, "second") == []
    first.beat("first", {"a": AttemptProgress(attempt=1, done=1)}, PASSED)
    (anew,) = claimed(second, "second")
    assert (anew.attempt, anew.lost, anew.steps_done, anew.replica) == (taken.attempt + 1, 1, None, "second")
    assert first.beat("first", {"a": AttemptProgress(attempt=1, done=2)}, LEASE) == Beat(lost=frozenset({"a"}))
    assert not first.end("a", 1, "first", DONE)
    assert second.end("a", 2, "second", DONE)


def test_a_replica_that_claims_again_what_it_lost_does_not_mistake_one_attempt_for_the_other(
    replicas: tuple[Store, Store],
) -> None:
    store = replicas[0]
    running(store, "a", "me")
    store.beat("me", {"a": AttemptProgress(attempt=1)}, PASSED)
    (again,) = claimed(store, "me")
    assert again.attempt == 2
    assert not store.end("a", 1, "me", DONE)
    assert store.beat("me", {"a": AttemptProgress(attempt=1)}, LEASE).lost == {"a"}


def test_a_late_end_counts_as_long_as_nobody_else_has_the_job(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    queued(first, "a")
    claimed(first, "first", lease_seconds=PASSED)
    assert first.end("a", 1, "first", DONE)
    assert claimed(second, "second") == []


def test_a_job_that_ends_its_replicas_is_given_up(replicas: tuple[Store, Store]) -> None:
    store = replicas[0]
    for name in ("bad", "good"):
        queued(store, name)
    for attempt in range(1, MOST_LOST + 1):
        (bad,) = claimed(store, "me", limit=1, lease_seconds=PASSED)
        assert (bad.id, bad.attempt) == ("bad", attempt)
    assert [each.id for each in claimed(store, "me", limit=1)] == ["good"]
    given_up = one(store, "bad")
    assert (given_up.state, given_up.problem, given_up.lost) == ("failed", EXHAUSTED, MOST_LOST)


def test_an_orderly_stop_is_not_held_against_a_job(store: Store) -> None:
    queued(store, "a")
    for attempt in range(1, 2 * MOST_LOST):
        (taken,) = claimed(store, "me")
        assert (taken.attempt, taken.lost) == (attempt, 0)
        store.release("me")


def test_a_queued_job_is_cancelled_at_once(store: Store) -> None:
    queued(store, "a")
    assert store.cancel("other", "a") is None
    cancelled = store.cancel("", "a")
    assert cancelled == one(store, "a")
    assert (cancelled.state, cancelled.result) == ("cancelled", None)
    assert cancelled.ended is not None
    assert claimed(store, "me") == []


def test_a_running_job_is_asked_to_end(store: Store) -> None:
    running(store, "a", "me")
    asked = store.cancel("", "a")
    assert asked is not None
    assert (asked.state, asked.cancel_requested) == ("running", True)
    assert store.beat("me", {"a": AttemptProgress(attempt=1)}, LEASE) == Beat(cancelled=frozenset({"a"}))
    assert store.end("a", 1, "me", End(state="cancelled", steps_done=1))
    assert store.cancel("", "a") == one(store, "a")


def test_what_has_ended_is_not_cancelled(store: Store) -> None:
    running(store, "a", "me")
    store.end("a", 1, "me", DONE)
    ended = one(store, "a")
    assert store.cancel("", "a") == ended
    assert store.cancel("", "none") is None


def test_another_replica_hears_that_a_job_is_cancelled(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    running(first, "a", "first")
    second.cancel("", "a")
    assert first.beat("first", {"a": AttemptProgress(attempt=1)}, LEASE).cancelled == {"a"}


def test_what_a_replica_that_is_gone_ran_is_cancelled_at_once(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    for name in ("a", "b"):
        running(first, name, "first")
    first.cancel("", "b")
    first.beat("first", dict.fromkeys("ab", AttemptProgress(attempt=1)), PASSED)
    assert second.cancel("", "a") == one(second, "a")
    assert claimed(second, "second") == []
    assert states(second) == {"a": "cancelled", "b": "cancelled"}


def test_replicas_that_claim_at_once_never_get_the_same_job(replicas: tuple[Store, Store]) -> None:
    jobs, crowd = 120, 8
    for place in range(jobs):
        queued(replicas[0], f"j{place}", caller=f"c{place % 5}")
    together = Barrier(crowd)

    def claim_all(place: int) -> list[str]:
        store, mine = replicas[place % 2], []
        together.wait()
        while True:
            taken = claimed(store, f"replica-{place}", limit=3)
            mine += [each.id for each in taken]
            assert all(store.end(each.id, each.attempt, f"replica-{place}", DONE) for each in taken)
            if not taken and not store.counts().get("queued"):
                return mine

    with ThreadPoolExecutor(crowd) as pool:
        taken = [name for mine in pool.map(claim_all, range(crowd)) for name in mine]
    assert len(taken) == len({*taken}) == jobs
    assert replicas[0].counts() == {"done": jobs}

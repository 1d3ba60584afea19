"""Jobs to keep, and what is done with them again and again."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import update

from epsilond.app.store import End, Record, Store
from epsilond.app.store.tables import TICKS

HOUR = 3600.0
DAY = 24 * HOUR
LEASE = 600.0
"""Seconds that no test takes."""
PASSED = -1.0
"""Of a lease that has passed at once."""
EXHAUSTED = b'{"type": "/problems/exhausted"}'


def record(name: str, **members: object) -> Record:
    """A job just taken in."""
    made = Record(
        id=name,
        kind="plan",
        name="frontier",
        created=1.0,
        steps=3,
        engine_version="1",
        fingerprint="f",
        request=b"{}",
    )
    return replace(made, **members)


def queued(store: Store, name: str, **members: object) -> Record:
    """A job that waits."""
    return store.add(record(name, **members), replica=None, lease_seconds=LEASE)


def running(store: Store, name: str, replica: str = "a", **members: object) -> Record:
    """A job that a replica runs since it was taken in."""
    return store.add(record(name, **members), replica=replica, lease_seconds=LEASE)


def claimed(store: Store, replica: str, limit: int = 100, lease_seconds: float = LEASE) -> list[Record]:
    """What a replica of engine version 1 gets."""
    return store.claim(replica, engine_version="1", limit=limit, lease_seconds=lease_seconds, exhausted=EXHAUSTED)


def done(store: Store, name: str, when: float = 2.0, caller: str = "") -> None:
    """A job that is done, with a result of ten bytes beside the two of its request."""
    running(store, name, caller=caller)
    assert store.end(name, 1, "a", End(state="done", media_type="application/json", result=b"0123456789", when=when))


def one(store: Store, name: str) -> Record:
    """A job that is there."""
    found = store.get("", name)
    assert found is not None
    return found


def states(store: Store) -> dict[str, str]:
    """Of all jobs, oldest first."""
    return {each.id: each.state for each in reversed(store.page("", limit=1000))}


def pass_time(store: Store, seconds: float) -> None:
    """As if the clock had gone, or leapt, so far since seconds of service were last counted."""
    with store._database.writing() as connection:
        connection.execute(update(TICKS).values(counted=TICKS.c.counted - seconds))


def serve_for(store: Store, seconds: float) -> None:
    """As if the service had run and swept for so long."""
    with store._database.writing() as connection:
        connection.execute(update(TICKS).values(seconds=TICKS.c.seconds + seconds))

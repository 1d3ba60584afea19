"""A job as it is kept, and what is told of it while it runs and when it ends."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
Ended = Literal["done", "failed", "cancelled", "interrupted"]
UNFINISHED: Final = ("queued", "running")
LARGE: Final = ("request", "result", "problem")
"""Members that may hold megabytes; a page of records leaves them out."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A job as it is kept. Times are seconds since 1970; `request` and `problem` are JSON texts."""

    sequence: int = 0
    """Its place in the order of creation, given by the store."""
    id: str
    kind: str
    """What sort of question it is: calibration, simulation, …"""
    name: str
    """Which of its kind: the algorithm, the simulation's kind, …"""
    state: State = "queued"
    created: float
    started: float | None = None
    """When its present attempt began."""
    ended: float | None = None
    steps: int
    """How many steps it has."""
    steps_done: int | None = None
    seconds: float | None = None
    """The estimate it was accepted with."""
    seconds_left: float | None = None
    engine_version: str
    owner: str = ""
    """Name of the API key that posted it; empty where none was asked for."""
    caller: str = ""
    """Who is kept apart from others when places are given: a key, else an address."""
    idempotency_key: str | None = None
    """Of one owner; others may have the same."""
    fingerprint: str
    """Equal for equal requests."""
    request: bytes
    media_type: str | None = None
    """Of the result."""
    result: bytes | None = None
    problem: bytes | None = None
    size: int = 0
    """Bytes of request, result and problem, counted by the store."""
    attempt: int = 0
    """Which attempt to run it this is; who runs it says it again with everything it tells of the job."""
    lost: int = 0
    """How many attempts ended because the replica that ran it was gone without a word."""
    replica: str | None = None
    """Which replica runs it."""
    lease_until: float | None = None
    """Until when it is that replica's, by the clock of a shared database; one that is not shared needs no leases."""
    cancel_requested: bool = False
    queued_tick: float = 0.0
    """Seconds of service when it was last put into the queue."""
    ended_tick: float | None = None
    """Seconds of service when it ended."""


NAMES: Final = tuple(field.name for field in fields(Record))


@dataclass(frozen=True, kw_only=True)
class AttemptProgress:
    """How far an attempt is."""

    attempt: int
    done: int | None = None
    """Steps that are done."""
    of: int | None = None
    """How many steps there are; None where it is still the number it was accepted with."""
    seconds_left: float | None = None


@dataclass(frozen=True, kw_only=True)
class Beat:
    """What a replica learns when it tells its progress."""

    lost: frozenset[str] = frozenset()
    """Jobs that are no longer this replica's: what is still computed for them is of no use."""
    cancelled: frozenset[str] = frozenset()
    """Jobs of this replica whose owner asked that they end."""


@dataclass(frozen=True, kw_only=True)
class End:
    """How a job ended."""

    state: Ended
    steps_done: int | None = None
    media_type: str | None = None
    result: bytes | None = None
    problem: bytes | None = None
    when: float | None = None
    """Seconds since 1970; None for now."""

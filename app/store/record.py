"""Stored jobs, and reports about them while they run and when they end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
Ended = Literal["done", "failed", "cancelled", "interrupted"]
UNFINISHED: Final = ("queued", "running")
LARGE: Final = ("request", "result", "problem")
"""Members that may hold megabytes; a page of records omits them."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A job as it is stored in the database. Times are seconds since 1970; `request` and `problem` are JSON texts.

    A job is a computation that goes on after its request was answered. An attempt is one run of it by one process of
    the service, which may be lost; the job then gets another attempt.
    """

    sequence: int = 0
    """Place in the order of creation, set by the store."""
    id: str
    kind: str
    """Kind of question: calibration, simulation, …"""
    name: str
    """Member of the kind: the algorithm, the simulation's kind, …"""
    state: State = "queued"
    created: float
    started: float | None = None
    """Start of the present attempt."""
    ended: float | None = None
    steps: int
    """Number of steps of the computation, for the progress: calibrations of a plan or sweep, blocks of a simulation."""
    steps_done: int | None = None
    seconds: float | None = None
    """Seconds of work that were estimated when the job was accepted."""
    seconds_left: float | None = None
    engine_version: str
    """Version of the code that computes guarantees."""
    owner: str = ""
    """Name of the API key that posted the job; empty in a service without keys."""
    caller: str = ""
    """Identity that limits apply to: a key, or an address in a service without keys."""
    idempotency_key: str | None = None
    """Idempotency key of the request, which has a meaning only for its owner."""
    fingerprint: str
    """Hash that is equal for equal requests."""
    request: bytes
    media_type: str | None = None
    """Media type of the result."""
    result: bytes | None = None
    problem: bytes | None = None
    size: int = 0
    """Size of request, result and problem in bytes, set by the store."""
    attempt: int = 0
    """Number of the present attempt, which is part of each report about the job."""
    lost: int = 0
    """Number of attempts that failed because the process that ran the job (its replica) was gone."""
    replica: str | None = None
    """Replica that runs the job."""
    lease_until: float | None = None
    """Expiry of that replica's lease, by the database's clock."""
    cancel_requested: bool = False
    queued_tick: float = 0.0
    """Seconds of service when the job was last queued."""
    ended_tick: float | None = None
    """Seconds of service when the job ended."""


NAMES: Final = tuple(field.name for field in fields(Record))


@dataclass(frozen=True, kw_only=True)
class AttemptProgress:
    """The progress of an attempt."""

    attempt: int
    done: int | None = None
    """Number of steps that are done."""
    of: int | None = None
    """Number of steps; None if it has not changed."""
    seconds_left: float | None = None


@dataclass(frozen=True, kw_only=True)
class Beat:
    """The answer to a replica that reports its progress."""

    lost: frozenset[str] = frozenset()
    """Jobs that no longer belong to this replica; their computation is useless."""
    cancelled: frozenset[str] = frozenset()
    """Jobs of this replica that their owners have cancelled."""


@dataclass(frozen=True, kw_only=True)
class End:
    """How a job ended: its final state with its result or problem.

    Attributes:
        state: final state of the job.
        steps_done: number of finished steps; None if it is not known.
        media_type: media type of the result.
        result: bytes of the result; None without a result.
        problem: JSON text of the problem; None without a problem.
    """

    state: Ended
    steps_done: int | None = None
    media_type: str | None = None
    result: bytes | None = None
    problem: bytes | None = None
    when: float | None = None
    """Time of the end in seconds since 1970; None for now."""

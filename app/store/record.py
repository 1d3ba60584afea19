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
    """A job as it is stored in the database: a computation that goes on after its request was answered.

    An attempt is one run of the job by one process of the service, a replica. If the replica is lost, the job gets
    another attempt. Times are seconds since 1970, unless another clock is named. The clock of the service counts only
    the seconds during which the service has run.

    Attributes:
        sequence: number in the order of creation, set by the store.
        id: id of the job.
        kind: kind of the computation, such as calibration or simulation.
        name: name within the kind, such as the algorithm that is calibrated, or the kind of simulation.
        state: state of the job, such as queued or running.
        created: time at which the job was created.
        started: time at which the present attempt started; None if there is none.
        ended: time at which the job ended; None if it has not ended.
        steps: number of steps of the computation, for the progress: calibrations of a plan or sweep, blocks of a
            simulation.
        steps_done: number of finished steps.
        seconds: seconds of work, as estimated when the job was accepted; None without an estimate.
        seconds_left: estimated seconds of remaining work; None without an estimate.
        engine_version: version of the code that computes guarantees.
        owner: name of the API key that posted the job; empty in a service without keys.
        caller: identity that limits apply to: a key, or an address in a service without keys.
        idempotency_key: idempotency key of the request, which has a meaning only for its owner.
        fingerprint: hash that is equal for equal requests.
        request: body of the request, a JSON text.
        media_type: media type of the result; None without a result.
        result: bytes of the result; None without a result.
        problem: JSON text of the error answer, if the job failed; None without a problem.
        size: size of request, result and problem in bytes, set by the store.
        attempt: number of the present attempt, which is part of each report about the job.
        lost: number of attempts that failed because the process that ran the job (its replica) was gone.
        replica: name of the replica that runs the job; None if none does.
        lease_until: time until which only this replica may run the job, by the database's clock.
        cancel_requested: whether the owner has cancelled the job.
        queued_tick: time at which the job was last queued, in seconds of the service's clock.
        ended_tick: time at which the job ended, in seconds of the service's clock.
    """

    sequence: int = 0
    id: str
    kind: str
    name: str
    state: State = "queued"
    created: float
    started: float | None = None
    ended: float | None = None
    steps: int
    steps_done: int | None = None
    seconds: float | None = None
    seconds_left: float | None = None
    engine_version: str
    owner: str = ""
    caller: str = ""
    idempotency_key: str | None = None
    fingerprint: str
    request: bytes
    media_type: str | None = None
    result: bytes | None = None
    problem: bytes | None = None
    size: int = 0
    attempt: int = 0
    lost: int = 0
    replica: str | None = None
    lease_until: float | None = None
    cancel_requested: bool = False
    queued_tick: float = 0.0
    ended_tick: float | None = None


NAMES: Final = tuple(field.name for field in fields(Record))


@dataclass(frozen=True, kw_only=True)
class AttemptProgress:
    """The progress of an attempt to run a job.

    Attributes:
        attempt: number of the attempt.
        done: number of finished steps; None if it is not known.
        of: number of all steps; None leaves the stored number unchanged.
        seconds_left: estimated seconds of remaining work; None without an estimate.
    """

    attempt: int
    done: int | None = None
    of: int | None = None
    seconds_left: float | None = None


@dataclass(frozen=True, kw_only=True)
class Beat:
    """The answer to a replica (process of the service) that reports the progress of its jobs.

    Attributes:
        lost: jobs that no longer belong to this replica; their computation is useless.
        cancelled: jobs of this replica that their owners have cancelled.
    """

    lost: frozenset[str] = frozenset()
    cancelled: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class End:
    """How a job ended: its final state with its result or problem.

    Attributes:
        state: final state of the job.
        steps_done: number of finished steps; None leaves the stored number unchanged.
        media_type: media type of the result; None without a result.
        result: bytes of the result; None without a result.
        problem: JSON text of the problem; None without a problem.
        when: time of the end in seconds since 1970; None for now.
    """

    state: Ended
    steps_done: int | None = None
    media_type: str | None = None
    result: bytes | None = None
    problem: bytes | None = None
    when: float | None = None

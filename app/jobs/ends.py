"""Ends of jobs: the record with which each course of a job ends, in every case."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import structlog

from epsilond.accountants.errors import EpsilondError
from epsilond.app.http.problems import Problem, problem_of, text_of
from epsilond.app.jobs.running import Running
from epsilond.app.store.record import End
from epsilond.calibrators.strict_json import MalformedJson
from epsilond.extras import MissingExtra

Course = Callable[[], Awaitable[End]]
"""Function that runs a job to its end."""

INTERRUPTED = Problem("interrupted", "The service stopped before the job ended. Post it again.")
UNREADABLE = Problem("not-found", "This service does not answer such questions any more.")
TOO_LONG = Problem("deadline-exceeded", "The job ran far longer than any may, and was stopped.")
FAILED = Problem("internal-error", "The job failed; the service's logs have it under its id.")


async def end_of(running: Running, course: Course, seconds: float) -> End:
    """Run a job, and return the record of its end; a failure or a timeout becomes a record too.

    Clients of a failed job thus get a problem document in place of an answer.

    Args:
        running: the job.
        course: coroutine function that runs the job, and returns its end if it succeeds.
        seconds: longest duration of the run [s].

    Returns:
        The end that `course` returns, or an end with the state "failed" and the problem that explains it.
    """
    try:
        with anyio.fail_after(seconds):
            return await course()
    except TimeoutError:
        problem = TOO_LONG
    # The client gets the reason of a rejection, but no detail of a fault of the service.
    except (EpsilondError, MalformedJson, MissingExtra, Problem) as rejection:
        problem = problem_of(rejection)
    except Exception:  # noqa: BLE001 (a fault of ours)
        structlog.get_logger().exception("job failed", id=running.record.id)
        problem = FAILED
    return End(state="failed", steps_done=running.steps_done, problem=text_of(problem))


def end_of_stop(running: Running) -> End | None:
    """Return the end of a job that was stopped; None if the job goes back to the queue."""
    if running.ending == "cancelled":
        return End(state="cancelled", steps_done=running.steps_done)
    if running.ending == "interrupted":
        return End(state="interrupted", steps_done=running.steps_done, problem=text_of(INTERRUPTED))
    return None


async def end_unreadable() -> End:
    """Return the end of a job that another version of the service accepted, and that this version cannot read."""
    return End(state="failed", steps_done=0, problem=text_of(UNREADABLE))

"""The path from a request to its answer: read, compute, and wait or hand over to a job.

Small bodies that are read quickly are read in the event loop. Workers read all other bodies. A request waits for its
answer for the time that it states (Prefer: wait), or until the service's deadline. After that time a job takes its
place, and the request is answered with 202. A question that is estimated to be expensive is a job from the start, for
which its request waits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_of
from epsilond.app.http.body import OfQuestion, Preferences
from epsilond.app.http.leaving import client_gone
from epsilond.app.http.problems import Problem
from epsilond.app.http.record import record_of
from epsilond.app.jobs.attending import wait_attended
from epsilond.app.jobs.job import Job
from epsilond.app.jobs.manager import JOBS
from epsilond.app.jobs.responses import NO_HEADERS, headers_of, job_response, result_path, result_response
from epsilond.app.jobs.turns import means_no_room
from epsilond.app.metrics import METRICS
from epsilond.app.questions.compute import COMPUTE, SharedComputation
from epsilond.app.questions.question import Question, Reading
from epsilond.app.questions.waiting import Waited, wait_for_event
from epsilond.app.settings import SETTINGS
from epsilond.app.workers.pool import POOL
from epsilond.app.workers.work import Computation, Outcome, RenderedAnswer, message_of, pickle_result, unpickle
from epsilond.ledgers.http.signatures import sign_response

SMALL = 4_096
"""Largest body in bytes that the event loop reads; workers read longer bodies."""
SLOWLY_READ = frozenset({"sweep", "plan", "report", "simulation"})
"""Kinds whose bodies a worker reads, however small they are."""


def question_endpoint(
    kind: str, name: str, reading: Reading
) -> Callable[[Request, bytes, OfQuestion], Awaitable[Response]]:
    """Return the endpoint that answers questions of a kind and name. A question is a request for a computation.

    Args:
        kind: kind of the question, such as "calibration" or "account".
        name: name of the question within its kind, for example the algorithm to calibrate.
        reading: function that reads a request body and returns the `Question`: the computation to be done.

    Returns:
        The endpoint, an asynchronous function that FastAPI calls with the request, its body and its preferences.
    """

    async def endpoint(request: Request, body: bytes, preferences: OfQuestion) -> Response:
        return await respond(request, kind, name, reading, body, preferences)

    return endpoint


async def respond(
    request: Request, kind: str, name: str, reading: Reading, body: bytes, preferences: Preferences
) -> Response:
    """Answer a question (request for a computation) from the cache, by a computation, or by a job.

    If the request has the idempotency key of an earlier job, that job is answered. If there is no answer when the
    request stops waiting, a job goes on with the computation. The response then has status 202 and describes the job.

    Args:
        request: the HTTP request.
        kind: kind of the question, such as "calibration".
        name: name of the question among the questions of its kind, such as the name of an algorithm.
        reading: function that makes the question of a body.
        body: the JSON text.
        preferences: how long the request waits, and its idempotency key.

    Returns:
        The signed answer, or the job with status 202.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a valid question.
        NoCertificate: the mathematics rejects the question.
        Problem: too many questions wait, of all callers or of this caller; the client has gone; the service is stopping
            and keeps no jobs; or the idempotency key came with another request.
        WorkFailed: the service failed.
    """
    jobs = JOBS.of(request)
    caller = caller_of(request)
    fingerprint = _fingerprint(kind, name, body)
    seconds = preferences.seconds(SETTINGS.of(request))
    # A repeated request with an idempotency key is answered by the job of the first one.
    if preferences.key is not None:
        earlier = await jobs.with_key(caller.name, preferences.key, fingerprint)
        if earlier is not None:
            return await _respond_from_job(request, earlier, seconds, preferences)
    question = await _question_of(request, kind, reading, body, fingerprint)
    outcome = _cached_outcome(request, question)
    announcement = NO_HEADERS
    if outcome is None:
        adopt = partial(
            jobs.adopt, request=body, caller=caller, idempotency_key=preferences.key, fingerprint=fingerprint
        )
        computed = await _compute_or_hand_over(request, question, seconds, adopt)
        if isinstance(computed, Job):
            return job_response(computed, preferences, estimate_header(question))
        outcome = computed.outcome
        if computed.job is not None:
            announcement = {**estimate_header(question), "content-location": result_path(computed.job)}
    answer = outcome.get()
    cache = str(record_of(request).cache)
    headers = {**headers_of(kind), **announcement, "x-cache": cache, **preferences.applied}
    response = Response(answer.body, media_type=question.media_type, headers=headers)
    return await sign_response(request, response, question.kind, question.name, body, digest=answer.digest)


async def _respond_from_job(request: Request, job: Job, seconds: float, preferences: Preferences) -> Response:
    """Wait for a job at most for some seconds, and return its signed result, or its state if it has not ended."""
    wait = partial(JOBS.of(request).waiting.wait, caller_of(request).name, job.record.id, seconds)
    job = await (wait_attended(request, wait) if seconds else wait())
    return await signed_result(request, job) if job.ended else job_response(job, preferences)


async def _question_of(request: Request, kind: str, reading: Reading, body: bytes, fingerprint: str) -> Question:
    """Return the question of a body, from the cache of parsed bodies if it is there.

    A question is added to this cache if it has no parts and was read in the event loop.

    Args:
        request: the HTTP request.
        kind: kind of the question.
        reading: function that reads a request body and returns the `Question`.
        body: body of the request.
        fingerprint: hash of kind, name and body.

    Returns:
        The question, with the computation that answers it.
    """
    parsed = COMPUTE.of(request).parsed
    owner = caller_of(request).name
    question = parsed.get(owner, fingerprint)
    if question is None:
        question = await _read_question(request, kind, reading, body)
        if is_quickly_read(kind, body) and not question.joins:
            parsed.keep(owner, fingerprint, question, len(body))
    return question


@dataclass(frozen=True)
class ComputedOutcome:
    """The outcome of a computation for which a request has waited.

    Attributes:
        outcome: the answer or the error.
        job: job that was made for the computation at its start, because the question is expensive; None without one.
    """

    outcome: Outcome
    job: Job | None


async def _compute_or_hand_over(
    request: Request, question: Question, seconds: float, adopt: Callable[[SharedComputation], Awaitable[Job]]
) -> ComputedOutcome | Job:
    """Compute the answer to a question, or hand the computation over to a job.

    An expensive question gets a job at once. This job is cancelled if the client disconnects, unless the client can
    find it by its idempotency key. Any other question gets a job if it is not answered within `seconds`, or if the
    service stops.

    Args:
        request: the HTTP request.
        question: the question to answer.
        seconds: longest time to wait for the outcome [s].
        adopt: makes a job of a computation.

    Returns:
        The outcome, or the job that goes on with the computation after this request.

    Raises:
        Problem: the question is rejected, or the client has disconnected; see `respond`.
    """
    jobs = JOBS.of(request)
    compute = COMPUTE.of(request)
    caller = caller_of(request)
    job: Job | None = None
    with caller.computation():
        shared, is_new = compute.join(question, caller.name, caller.identity)
        try:
            if question.is_expensive and jobs.ready:
                job = await adopt(shared)
            waited: Waited = "late" if seconds == 0.0 else await wait_for_event(request, shared.done, seconds)
            request_stops_waiting = waited in ("late", "stopping")
            # A job goes on waiting when the pool has no room; without a job the request is rejected.
            job_waits_for_room = job is not None and shared.problem is not None and means_no_room(shared.problem)
            if request_stops_waiting or job_waits_for_room:
                job = await adopt(shared) if job is None else jobs.waiting.as_of(job.record)
                compute.to_background(shared)
                return job
        except Problem:
            if job is not None and job.record.idempotency_key is None:
                await jobs.remove(caller.name, job.record.id)
            raise
        finally:
            compute.leave(shared)
    return ComputedOutcome(_finished_outcome(request, shared, is_new=is_new), job)


def estimate_header(question: Question) -> Mapping[str, str]:
    """Return the header that announces an expensive question; no header for other questions."""
    return {"estimated-cpu-seconds": f"{question.seconds:.2g}"} if question.is_expensive else {}


async def signed_result(request: Request, job: Job) -> Response:
    """Return the result of a job, signed like an immediate answer. A job without a result raises its problem."""
    record = job.record
    return await sign_response(
        request, result_response(job), record.kind, record.name, bytes(record.request), record.engine_version
    )


async def compute_answer(request: Request, question: Question) -> RenderedAnswer:
    """Return the answer to a question that the service needs for another answer, without handing over to a job.

    For example, the figure of a simulation is computed in this way. The answer comes from the cache if it is there.

    Args:
        request: the HTTP request that needs the answer; its caller is charged for the computation.
        question: the question to answer.

    Returns:
        The answer as bytes, from the cache or as a worker rendered it.

    Raises:
        NoCertificate: the mathematics rejects the question.
        Problem: the computation takes longer than the service's deadline, the pool has no room, the service is
            stopping, or the client has disconnected.
        WorkFailed: the service failed.
    """
    outcome = _cached_outcome(request, question)
    if outcome is None:
        compute = COMPUTE.of(request)
        caller = caller_of(request)
        seconds = SETTINGS.of(request).deadline_seconds
        # Other requests may share the computation. It goes on for them after this request has left it.
        with caller.computation():
            shared, is_new = compute.join(question, caller.name, caller.identity)
            try:
                waited = await wait_for_event(request, shared.done, seconds)
            finally:
                compute.leave(shared)
        if waited == "late":
            detail = f"It did not end within {seconds:g} s and was stopped."
            raise Problem("deadline-exceeded", detail, headers={"Retry-After": "10"})
        outcome = _finished_outcome(request, shared, is_new=is_new)
    return outcome.get()


async def _read_question(request: Request, kind: str, reading: Reading, body: bytes) -> Question:
    """Return the question of a body, read in the event loop if that is quick and by a worker otherwise."""
    if is_quickly_read(kind, body):
        return reading(body)
    return unpickle(await run_in_worker(request, partial(pickle_result, partial(reading, body))), Question)


def is_quickly_read(kind: str, body: bytes) -> bool:
    """Return whether a body is read quickly enough for the event loop: a small body of a quick kind without a sweep."""
    # A backslash could begin an escape sequence, by which JSON can also spell the word "sweep".
    may_be_sweep = b'"sweep"' in body or b"\\" in body
    return len(body) <= SMALL and kind not in SLOWLY_READ and not may_be_sweep


async def run_in_worker(request: Request, computation: Computation) -> RenderedAnswer:
    """Return the result of a short computation that a worker runs, in the queue for short tasks.

    The computation is stopped if the client disconnects.

    Args:
        request: the HTTP request that needs the result.
        computation: the computation, which must pickle.

    Returns:
        The result as bytes, as the worker rendered it.

    Raises:
        Problem: too many computations wait; the client has gone; or the service is stopping.
    """
    # A large computation takes time to pickle, so a thread does it.
    pool = POOL.of(request)
    message = await to_thread.run_sync(message_of, computation)
    task = pool.submit(message, caller=caller_of(request).identity, lane="read")
    try:
        await wait_for_event(request, task.done, None)
    finally:
        # The wait may have ended because the client has gone or the service is stopping.
        if task.state != "ended":
            pool.stop(task)
    if task.outcome is None:
        raise _stopping_problem()
    return task.outcome.get()


def _cached_outcome(request: Request, question: Question) -> Outcome | None:
    """Return the cached outcome (answer or error) of a question, and remember that this caller posed the question.

    The record of the request notes a "hit" of the cache only if this caller has posed the question before. Otherwise
    callers who share a cache would learn of each other's questions.

    Args:
        request: the HTTP request.
        question: the question to answer.

    Returns:
        The outcome; None if the cache has none.
    """
    caller = caller_of(request)
    compute = COMPUTE.of(request)
    posed_before = compute.posed.remember(caller.identity, question.digest)
    for part in question.parts:
        compute.posed.remember(caller.identity, part.digest)
    record_of(request).cache = "hit" if posed_before else "miss"
    outcome: Outcome | None = compute.cached_outcome(question, caller.name)
    if outcome is not None:
        _count_use(request, "hit", question, outcome)
    return outcome


def _finished_outcome(request: Request, shared: SharedComputation, *, is_new: bool) -> Outcome:
    """Return the outcome (answer or error) of a computation, and note its times and use of the cache for the log.

    Args:
        request: the HTTP request.
        shared: the computation, which requests with an equal question share.
        is_new: whether this request started it.

    Returns:
        The outcome of the computation, which is an answer or the error that rejects the question.

    Raises:
        Problem: the computation was not started, the service is stopping, or the client has gone.
    """
    if shared.problem is not None:
        raise shared.problem
    if shared.outcome is None:
        raise _stopping_problem() if COMPUTE.of(request).closing.is_set() else client_gone()
    record = record_of(request)
    use = "miss" if is_new else "shared"
    # So far the record says "hit" if this caller has posed the question before. Only then may it say "shared", because
    # a caller must not learn the questions of others.
    was_posed_by_caller = record.cache == "hit"
    record.cache = "shared" if not is_new and was_posed_by_caller else "miss"
    record.cpu_milliseconds = round(1000.0 * shared.cpu_seconds, 3)
    record.queued_milliseconds = round(1000.0 * shared.queued_seconds, 3)
    _count_use(request, use, shared.question, shared.outcome)
    return shared.outcome


def _count_use(request: Request, use: str, question: Question, outcome: Outcome) -> None:
    """Count an outcome in the metrics by its use of the cache: "hit", "miss" or "shared"."""
    metrics = METRICS.of(request)
    metrics.cache.labels(use).inc()
    if use == "miss" and isinstance(outcome, RenderedAnswer) and outcome.relative_width is not None:
        metrics.widths.labels(question.name).observe(outcome.relative_width)


def _fingerprint(kind: str, name: str, body: bytes) -> str:
    """Return a hash that is equal for equal requests. An idempotency key belongs to one such hash."""
    return hashlib.sha256(b"\0".join((kind.encode(), name.encode(), body))).hexdigest()


def _stopping_problem() -> Problem:
    """Return the error that the service is stopping."""
    return Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})

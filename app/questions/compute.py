"""Answers to questions: from the cache, or from the pool, where closed forms do not wait behind long computations.

Equal questions of one owner at one time share one computation. When no request waits for it any more, the pool decides
whether it may still finish. When a request has waited long enough, a job takes its place, and no work is lost.

The memory for past questions has bounds. An answer belongs to the owner of its question. It may say that it came from
the cache only if the same caller posed the question before. Otherwise callers would learn of each other's questions.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.lowlevel
import structlog
from anyio import to_thread
from cachetools import LRUCache

from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.jobs.turns import AGAIN_SECONDS, turned_away
from epsilond.app.metrics import Metrics
from epsilond.app.questions.question import Question, join_outcomes
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.process import Lane, Task, TurnedAway
from epsilond.app.workers.work import Failed, Outcome, RenderedAnswer, message_of


class Compute:
    """The computations of a service, and the cache of their outcomes; used within the context manager `running`."""

    def __init__(self, settings: Settings, metrics: Metrics, pool: Pool) -> None:
        self._settings = settings
        self._metrics = metrics
        self._pool = pool
        self._cache = Cache(settings.cache_megabytes)
        self.recent = Recent()
        self.seen = RecentQuestions()
        self._shared: dict[tuple[str, str], Shared] = {}
        self._log = structlog.get_logger()
        metrics.under_way.set_function(lambda: len(self._shared))
        metrics.cache_bytes.set_function(lambda: self._cache.bytes)
        metrics.cache_entries.set_function(lambda: self._cache.entries)

        self.closing = anyio.Event()
        """Event that is set when the service is to end: requests stop waiting for their answers."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept computations within this context, and drop unfinished computations at its end."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def close_after(self, seconds: float) -> None:
        """Let requests wait for unfinished computations for this many seconds, and then end their waiting."""
        await anyio.sleep(seconds)
        self.closing.set()

    def cached_outcome(self, question: Question, owner: str) -> Outcome | None:
        """Return the cached outcome of an owner's question, or None."""
        return self._cache.get(owner, question.digest)

    def join(self, question: Question, owner: str, caller: str, lane: Lane = "question") -> tuple[Shared, bool]:
        """Return the running computation of a question, or start one; a later call of `leave` must end the wait.

        Args:
            question: the question to answer.
            owner: owner of the answer; equal questions of one owner share a computation.
            caller: identity of the caller, in the queue of which a new computation waits.
            lane: lane of a new computation in the pool.

        Returns:
            The computation, and whether it is new.
        """
        shared = self._shared.get((owner, question.digest))
        is_new = shared is None
        if shared is None:
            shared = Shared(question=question, owner=owner, caller=caller, lane=lane)
            self._shared[shared.key] = shared
            self._tasks.start_soon(self._run, shared)
        elif shared.waiting == 0 and shared.task is not None:
            self._pool.keep(shared.task)
        shared.waiting += 1
        return shared, is_new

    def leave(self, shared: Shared) -> None:
        """Count one waiting party less. If none is left, stop a question that has parts, and abandon any other."""
        shared.waiting -= 1
        if shared.waiting or shared.done.is_set():
            return
        if shared.question.joins:
            self._forget(shared)
            shared.scope.cancel()
        elif shared.task is not None:
            self._pool.abandon(shared.task)

    def to_background(self, shared: Shared) -> None:
        """Lower the priority of a computation for which only a job waits, with its unshared parts, to that of jobs.

        A running computation goes on, if the pool has room in the background. Otherwise it may start again, as a job.
        """
        if shared.lane == "job":
            return
        shared.lane = "job"
        for part in shared.parts:
            if part.waiting == 1 and not part.done.is_set():
                self.to_background(part)
        if shared.task is not None and shared.task.state != "ended" and not self._pool.to_background(shared.task):
            self._pool.stop(shared.task)  # it has not begun, and is submitted again as a job

    async def _run(self, shared: Shared) -> None:
        """Run a computation until it has an outcome, or until no party waits for it."""
        try:
            with shared.scope:
                if not shared.question.joins:
                    work = shared.question.work  # it pickles at once, since it was read from a small body
                    message = work if isinstance(work, bytes) else message_of(work)
                    shared.outcome = await self._compute(shared, message, briefly=shared.question.closed_form)
                elif (outcomes := await self._parts(shared)) is not None:
                    work = partial(join_outcomes, shared.question.pickled, outcomes)
                    message = await to_thread.run_sync(message_of, work)
                    shared.outcome = await self._compute(shared, message, briefly=True)
        except Problem as problem:
            shared.problem = problem
        finally:
            if shared.task is not None and shared.task.state != "ended":
                self._pool.stop(shared.task)
            self._forget(shared)
            if shared.outcome is not None:
                self._cache.keep(*shared.key, shared.outcome)
            shared.end()

    async def _compute(self, shared: Shared, message: bytes, *, briefly: bool) -> Outcome | None:
        """Return the outcome of a pickled computation in the pool; None if it was stopped as no party waits for it.

        A job's computation is submitted again until the pool has room. With `briefly`, the computation takes only
        milliseconds, and does not wait behind long questions.

        Raises:
            Problem: the pool has no room for a computation that requests wait for, or the service is stopping.
        """
        while shared.waiting:
            try:
                lane: Lane = "read" if briefly else shared.lane
                expensive = lane == "question" and shared.question.is_expensive
                task = self._pool.submit(message, caller=shared.caller, lane=lane, expensive=expensive)
                shared.task = task
                await task.done.wait()
                shared.cpu_seconds += task.cpu_seconds
                shared.queued_seconds += task.queued_seconds
                if isinstance(task.outcome, TurnedAway):
                    raise task.outcome.problem
            except Problem as problem:
                if shared.lane != "job" or not turned_away(problem):
                    raise
                await anyio.sleep(AGAIN_SECONDS)
                continue
            if task.outcome is not None:
                return task.outcome
        return None

    async def _parts(self, shared: Shared) -> tuple[Outcome, ...] | None:
        """Return the outcomes of all parts of a question, in order; at most one part per worker runs at a time.

        Raises:
            Problem: a part was turned away, and therefore the whole question.
        """
        outcomes: list[Outcome | None] = [None] * len(shared.question.parts)
        turned_away: list[Problem] = []
        places = anyio.CapacityLimiter(self._settings.workers)

        async def settle(place: int, part: Question, all_of_them: anyio.CancelScope) -> None:
            async with places:
                try:
                    outcomes[place] = await self._part(shared, part)
                except Problem as problem:
                    turned_away.append(problem)
                    all_of_them.cancel()

        async with anyio.create_task_group() as tasks:
            for place, part in enumerate(shared.question.parts):
                tasks.start_soon(settle, place, part, tasks.cancel_scope)
        if turned_away:
            raise turned_away[0]
        return tuple(outcome for outcome in outcomes if outcome is not None)

    async def _part(self, shared: Shared, question: Question) -> Outcome:
        """Return the outcome of one part of the question `shared`, to which its CPU time and its step are added."""
        outcome = self.cached_outcome(question, shared.owner)
        if outcome is None:
            part, _ = self.join(question, shared.owner, shared.caller, shared.lane)
            shared.parts.append(part)
            try:
                await part.done.wait()
            finally:
                self.leave(part)
            if part.problem is not None:
                raise part.problem
            assert part.outcome is not None  # this question has waited for it all the time
            outcome = part.outcome
            shared.cpu_seconds += part.cpu_seconds
        if isinstance(outcome, Failed):
            self._log.error("one of several failed", question=question.name, trace=outcome.trace)
        shared.step()
        return outcome

    def _forget(self, shared: Shared) -> None:
        if self._shared.get(shared.key) is shared:
            del self._shared[shared.key]


COMPUTE: ServicePart[Compute] = ServicePart("compute")


@dataclass(eq=False, kw_only=True)
class Shared:
    """A computation, the number of parties that wait for it, and its progress."""

    question: Question
    owner: str
    caller: str
    """Identity of the first caller of the question; the computation waits in the queue of that caller."""
    lane: Lane = "question"
    waiting: int = 0
    task: Task | None = None
    """The task that the pool has: the whole computation, or the step that joins the parts."""
    parts: list[Shared] = field(default_factory=list)
    """Computations of the parts that have begun."""
    parts_done: int = 0
    began: float = field(default_factory=time.monotonic)
    outcome: Outcome | None = None
    """The outcome; None while the computation runs, and if it was stopped."""
    problem: Problem | None = None
    """The reason why the computation was not tried; None if it was."""
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Event that is set at the next step, and then replaced."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cpu_seconds: float = 0.0
    """CPU seconds that workers spent on the computation, including its parts."""
    queued_seconds: float = 0.0
    """Seconds that the computation waited for workers."""

    @property
    def key(self) -> tuple[str, str]:
        """The key under which equal questions of one owner find this computation."""
        return self.owner, self.question.digest

    @property
    def steps(self) -> int:
        """The number of steps: the number of parts, or 1."""
        return max(1, len(self.question.parts))

    def step(self) -> None:
        """Count one more finished part, and notify the watchers."""
        self.parts_done += 1
        self.changed.set()
        self.changed = anyio.Event()

    def end(self) -> None:
        """Mark the computation as ended, and notify the waiting parties and the watchers."""
        self.done.set()
        self.changed.set()


OUTCOME_BYTES = 1024
"""Rough size in bytes of an entry without its body: digest, owner's name, objects. A refusal takes twice as much."""
MEGABYTE = 1_048_576


class Cache:
    """Outcomes by owner and question. Faults of the service may pass, and are not cached."""

    def __init__(self, megabytes: int) -> None:
        self._kept: LRUCache[tuple[str, str], Outcome] = LRUCache(megabytes * MEGABYTE, size)

    @property
    def entries(self) -> int:
        """The number of cached outcomes."""
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """The size of the cached outcomes with their keys, in bytes."""
        return int(self._kept.currsize)

    def get(self, owner: str, digest: str) -> Outcome | None:
        """Return the cached outcome of this owner's question, or None."""
        return self._kept.get((owner, digest))

    def keep(self, owner: str, digest: str, outcome: Outcome) -> None:
        """Cache an outcome, unless it is a fault of the service or larger than the whole cache."""
        if not isinstance(outcome, Failed) and size(outcome) <= self._kept.maxsize:
            self._kept[owner, digest] = outcome


def size(outcome: Outcome) -> int:
    """Return the size that the cache counts for an outcome, in bytes."""
    return OUTCOME_BYTES + len(outcome.body) if isinstance(outcome, RenderedAnswer) else 2 * OUTCOME_BYTES


RECENT_BYTES = 8 * 1_048_576
"""Memory for all recently read questions, in bytes by their rough sizes."""
READ_BYTES = 4096
"""Rough size in bytes of a question with few fields, with its keys."""
HELD = 32
"""Rough size in bytes of the objects that one byte of a body is read into."""


class Recent:
    """A cache of parsed questions by owner and request. Shared entries would reveal the questions of other owners."""

    def __init__(self, most_bytes: int = RECENT_BYTES) -> None:
        self._kept: LRUCache[tuple[str, str], tuple[Question, int]] = LRUCache(most_bytes, lambda entry: entry[1])

    @property
    def bytes(self) -> int:
        """The rough size of the remembered questions, in bytes."""
        return int(self._kept.currsize)

    def get(self, owner: str, fingerprint: str) -> Question | None:
        """Return the question of this owner's request with this fingerprint, or None if it is not remembered."""
        entry = self._kept.get((owner, fingerprint))
        return None if entry is None else entry[0]

    def keep(self, owner: str, fingerprint: str, question: Question, length: int) -> None:
        """Remember the question that was read from a body.

        Args:
            owner: owner of the question.
            fingerprint: hash of the request.
            question: the question that was read.
            length: length of the body in bytes; the size of the question is estimated from it.
        """
        size = READ_BYTES + HELD * length
        if size <= self._kept.maxsize:
            self._kept[owner, fingerprint] = question, size


QUESTION_BYTES = 160
"""Rough size in bytes of one remembered question of one caller."""
IDENTITY_BYTES = 400
"""Rough size in bytes of one caller without the questions."""
QUESTIONS_EACH = 1024
"""Largest number of remembered questions of one caller."""
SEEN_BYTES = 16 * 1_048_576
DIGEST_BYTES = 16


class RecentQuestions:
    """Digests of the questions of each caller, within `most_bytes`; the least recent caller is forgotten first."""

    def __init__(self, most_bytes: int = SEEN_BYTES) -> None:
        self._most_bytes = most_bytes
        self._asked: OrderedDict[bytes, OrderedDict[bytes, None]] = OrderedDict()
        self._bytes = 0

    def remember(self, identity: str, digest: str | bytes) -> bool:
        """Return whether this caller has posed the question with this digest before, and remember it."""
        name, question = _short(identity), _short(digest)
        questions = self._asked.get(name)
        if questions is None:
            questions = self._asked[name] = OrderedDict()
            self._bytes += IDENTITY_BYTES
        self._asked.move_to_end(name)
        before = question in questions
        if not before:
            questions[question] = None
            self._bytes += QUESTION_BYTES
            if len(questions) > QUESTIONS_EACH:
                questions.popitem(last=False)
                self._bytes -= QUESTION_BYTES
            self._make_room()
        else:
            questions.move_to_end(question)
        return before

    @property
    def bytes(self) -> int:
        """The rough size of the remembered questions, in bytes."""
        return self._bytes

    def _make_room(self) -> None:
        while self._bytes > self._most_bytes and len(self._asked) > 1:
            _, questions = self._asked.popitem(last=False)
            self._bytes -= IDENTITY_BYTES + QUESTION_BYTES * len(questions)


def _short(text: str | bytes) -> bytes:
    content = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()

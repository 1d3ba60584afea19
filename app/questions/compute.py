"""Where a question gets its answer: from the cache, else from the pool, where closed forms wait behind nothing long.

Equal questions of one owner at one time share one computation. When nobody waits for it any more, the pool decides
whether it may still end. When a request has waited long enough, a job waits in its place, and nothing of the work is
lost.

What is remembered of questions has bounds. An answer belongs to the owner who asked. It may say that it came from
the cache only if the same caller has asked before: otherwise a caller would learn that somebody else asked the same.
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
from epsilond.app.questions.question import Question, joined
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.process import Lane, Task, TurnedAway
from epsilond.app.workers.work import Failed, Outcome, RenderedAnswer, message_of


class Compute:
    """The computations of a service, between entering and leaving `running()`."""

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
        """Set when the service is to end: no request waits any longer for its answer."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Computations can be begun; at the end those under way are dropped."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def close_after(self, seconds: float) -> None:
        """Let requests wait so long for what is under way, and no longer."""
        await anyio.sleep(seconds)
        self.closing.set()

    def known(self, question: Question, owner: str) -> Outcome | None:
        """The outcome, if it is kept."""
        return self._cache.get(owner, question.digest)

    def join(self, question: Question, owner: str, caller: str, lane: Lane = "question") -> tuple[Shared, bool]:
        """The computation of a question, one under way or a new one, and whether it is new. One more waits for it."""
        shared = self._shared.get((owner, question.digest))
        if new := shared is None:
            shared = self._shared[owner, question.digest] = Shared(
                question=question, owner=owner, caller=caller, lane=lane
            )
            self._tasks.start_soon(self._run, shared)
        elif shared.waiting == 0 and shared.task is not None:
            self._pool.keep(shared.task)
        shared.waiting += 1
        return shared, new

    def leave(self, shared: Shared) -> None:
        """One less waits for it. Without anybody it is abandoned: parts are not begun any more."""
        shared.waiting -= 1
        if shared.waiting or shared.done.is_set():
            return
        if shared.question.joins:
            self._forget(shared)
            shared.scope.cancel()
        elif shared.task is not None:
            self._pool.abandon(shared.task)

    def to_background(self, shared: Shared) -> None:
        """A job waits for it now: it makes way for questions that somebody waits for.

        It loses nothing, unless the background is full and other callers have waited for its place: then it is begun
        anew, once, in a place of jobs.
        """
        if shared.lane == "job":
            return
        shared.lane = "job"
        for part in shared.parts:
            if part.waiting == 1 and not part.done.is_set():
                self.to_background(part)
        if shared.task is not None and shared.task.state != "ended" and not self._pool.to_background(shared.task):
            self._pool.stop(shared.task)  # it has not begun, and asks again for room among the jobs

    async def _run(self, shared: Shared) -> None:
        """Until there is an outcome, or nobody wants one."""
        try:
            with shared.scope:
                if not shared.question.joins:
                    work = shared.question.work  # it pickles at once, since it was read from a small body
                    message = work if isinstance(work, bytes) else message_of(work)
                    shared.outcome = await self._computed(shared, message, briefly=shared.question.closed_form)
                elif (outcomes := await self._parts(shared)) is not None:
                    work = partial(joined, shared.question.pickled, outcomes)
                    message = await to_thread.run_sync(message_of, work)
                    shared.outcome = await self._computed(shared, message, briefly=True)
        except Problem as problem:
            shared.problem = problem
        finally:
            if shared.task is not None and shared.task.state != "ended":
                self._pool.stop(shared.task)
            self._forget(shared)
            if shared.outcome is not None:
                self._cache.keep(*shared.key, shared.outcome)
            shared.end()

    async def _computed(self, shared: Shared, message: bytes, *, briefly: bool) -> Outcome | None:
        """Return the outcome of a computation in the pool; None if it was given up since nobody waits.

        What a job waits for asks again until the pool has room: with it, the parts beside it would be given up.

        Args:
            shared: the computation and who waits for it.
            message: the pickled computation.
            briefly: whether it takes only milliseconds, so that it need not wait behind questions.

        Raises:
            Problem: there is no room for what requests wait for, or the service is stopping.
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
        """What became of each part: begun in their order, no more at a time than there are workers.

        Raises:
            Problem: a part was turned away, and with it the whole.
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

    async def _part(self, whole: Shared, question: Question) -> Outcome:
        outcome = self.known(question, whole.owner)
        if outcome is None:
            part, _ = self.join(question, whole.owner, whole.caller, whole.lane)
            whole.parts.append(part)
            try:
                await part.done.wait()
            finally:
                self.leave(part)
            if part.problem is not None:
                raise part.problem
            assert part.outcome is not None  # somebody has waited for it all the time
            outcome = part.outcome
            whole.cpu_seconds += part.cpu_seconds
        if isinstance(outcome, Failed):
            self._log.error("one of several failed", question=question.name, trace=outcome.trace)
        whole.step()
        return outcome

    def _forget(self, shared: Shared) -> None:
        if self._shared.get(shared.key) is shared:
            del self._shared[shared.key]


COMPUTE: ServicePart[Compute] = ServicePart("compute")


@dataclass(eq=False, kw_only=True)
class Shared:
    """The computation, who waits for it, and how far it is."""

    question: Question
    owner: str
    caller: str
    """Whose queue it stands in: that of whoever asked first."""
    lane: Lane = "question"
    waiting: int = 0
    task: Task | None = None
    """The part of it that is with the pool: all of it, or what puts the parts together."""
    parts: list[Shared] = field(default_factory=list)
    """Those that have been begun."""
    parts_done: int = 0
    began: float = field(default_factory=time.monotonic)
    outcome: Outcome | None = None
    """None while it runs, and if it was stopped."""
    problem: Problem | None = None
    """Why it was not even tried."""
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next step, and replaced."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cpu_seconds: float = 0.0
    """Spent by workers on it, its parts included."""
    queued_seconds: float = 0.0
    """How long it waited for workers."""

    @property
    def key(self) -> tuple[str, str]:
        """By which those who ask the same find it."""
        return self.owner, self.question.digest

    @property
    def steps(self) -> int:
        """How many steps it has: its parts, or itself."""
        return max(1, len(self.question.parts))

    def step(self) -> None:
        """One part more is done; whoever watches is told."""
        self.parts_done += 1
        self.changed.set()
        self.changed = anyio.Event()

    def end(self) -> None:
        """It has ended; whoever waits or watches is told."""
        self.done.set()
        self.changed.set()


OUTCOME_BYTES = 1024
"""Rough size of an entry beside its body: a digest, an owner's name, the objects around them. A refusal takes two."""
MEGABYTE = 1_048_576


class Cache:
    """Outcomes by owner and question. Answers and refusals are functions of the question; a fault of ours may pass."""

    def __init__(self, megabytes: int) -> None:
        self._kept: LRUCache[tuple[str, str], Outcome] = LRUCache(megabytes * MEGABYTE, size)

    @property
    def entries(self) -> int:
        """How many outcomes are kept."""
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """How much they hold, with their keys."""
        return int(self._kept.currsize)

    def get(self, owner: str, digest: str) -> Outcome | None:
        """What this owner's question has been answered with, if that is kept."""
        return self._kept.get((owner, digest))

    def keep(self, owner: str, digest: str, outcome: Outcome) -> None:
        """Keep an outcome, unless it is a fault of ours or larger than the whole cache."""
        if not isinstance(outcome, Failed) and size(outcome) <= self._kept.maxsize:
            self._kept[owner, digest] = outcome


def size(outcome: Outcome) -> int:
    """Bytes that an outcome is counted with."""
    return OUTCOME_BYTES + len(outcome.body) if isinstance(outcome, RenderedAnswer) else 2 * OUTCOME_BYTES


RECENT_BYTES = 8 * 1_048_576
"""Room for all of them, by their rough sizes."""
READ_BYTES = 4096
"""Rough size of a question of few fields, with its keys."""
HELD = 32
"""Rough size of what is read from one byte of a body."""


class Recent:
    """Questions by owner and fingerprint of the request; one owner's are not another's, who could tell by the time."""

    def __init__(self, most_bytes: int = RECENT_BYTES) -> None:
        self._kept: LRUCache[tuple[str, str], tuple[Question, int]] = LRUCache(most_bytes, lambda entry: entry[1])

    @property
    def bytes(self) -> int:
        """How much they hold, roughly."""
        return int(self._kept.currsize)

    def get(self, owner: str, fingerprint: str) -> Question | None:
        """What this owner's request of this fingerprint asks, if that is kept."""
        entry = self._kept.get((owner, fingerprint))
        return None if entry is None else entry[0]

    def keep(self, owner: str, fingerprint: str, question: Question, length: int) -> None:
        """Keep what was read from a body of so many bytes."""
        size = READ_BYTES + HELD * length
        if size <= self._kept.maxsize:
            self._kept[owner, fingerprint] = question, size


QUESTION_BYTES = 160
"""Rough size of one question of one caller."""
IDENTITY_BYTES = 400
"""Rough size of a caller beside their questions."""
QUESTIONS_EACH = 1024
"""How many questions of one caller are remembered."""
SEEN_BYTES = 16 * 1_048_576
DIGEST_BYTES = 16


class RecentQuestions:
    """Who has asked what, within `most_bytes`; whoever asked least recently is forgotten first."""

    def __init__(self, most_bytes: int = SEEN_BYTES) -> None:
        self._most_bytes = most_bytes
        self._asked: OrderedDict[bytes, OrderedDict[bytes, None]] = OrderedDict()
        self._bytes = 0

    def seen(self, identity: str, digest: str | bytes) -> bool:
        """Whether this caller has asked the question of this digest before; from now on they have."""
        name, question = _short(identity), _short(digest)
        asked = self._asked.get(name)
        if asked is None:
            asked = self._asked[name] = OrderedDict()
            self._bytes += IDENTITY_BYTES
        self._asked.move_to_end(name)
        before = question in asked
        if not before:
            asked[question] = None
            self._bytes += QUESTION_BYTES
            if len(asked) > QUESTIONS_EACH:
                asked.popitem(last=False)
                self._bytes -= QUESTION_BYTES
            self._make_room()
        else:
            asked.move_to_end(question)
        return before

    @property
    def bytes(self) -> int:
        """How much it holds, roughly."""
        return self._bytes

    def _make_room(self) -> None:
        while self._bytes > self._most_bytes and len(self._asked) > 1:
            _, questions = self._asked.popitem(last=False)
            self._bytes -= IDENTITY_BYTES + QUESTION_BYTES * len(questions)


def _short(text: str | bytes) -> bytes:
    whole = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(whole, digest_size=DIGEST_BYTES).digest()

"""Ledgers of one service: the book, opened next to the jobs, and the calls that requests make of it.

A call of the book runs in a thread, and its computations in a worker process. A client that leaves interrupts no move.
"""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import anyio
import structlog
from anyio import from_thread, to_thread
from starlette.requests import Request

from epsilond.app.callers.caller import Caller
from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.jobs.attending import end_with_client, first_of
from epsilond.app.jobs.manager import Jobs
from epsilond.app.metrics import Metrics
from epsilond.app.settings import PREFIX, Settings
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import RenderedAnswer, pickle_result, unpickle
from epsilond.calibrators.answer import Caution
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.pending import PendingMove
from epsilond.ledgers.book.promises.ledger import LedgerPromise, compute_promise
from epsilond.ledgers.book.restore import CheckpointFile
from epsilond.ledgers.http.adoption import Adoption
from epsilond.ledgers.http.computing.promises import PromiseCache
from epsilond.ledgers.http.computing.timing import SweepTimer
from epsilond.ledgers.http.computing.workers import run_in_worker
from epsilond.ledgers.http.figures import Figures
from epsilond.ledgers.http.heads import KeptHeads
from epsilond.ledgers.http.keys import Keys
from epsilond.ledgers.http.refusals import IN_MEMORY, as_problems, not_durable_problem, unavailable_problem
from epsilond.ledgers.http.signatures import Signatures
from epsilond.ledgers.http.webhooks.endpoints import endpoints_of
from epsilond.ledgers.http.webhooks.service import Webhooks
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.mathematics.what_if import WhatIf, what_if
from epsilond.ledgers.requests import WhatIfAsked
from epsilond.ledgers.store.opening import add_tables
from epsilond.ledgers.store.records import LedgerRow
from epsilond.storage.transactions import Database

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 32  # largest number of calls of the book at one time; commits among them are made together
SWEEP_SECONDS = 60.0  # longest time between two looks for expired reservations
_CALLER: ContextVar[str] = ContextVar("caller", default="")


class Ledgers:
    """The privacy budgets (ledgers) of one service. They are open within the block of the context manager `running()`.

    Attributes:
        signatures: signer of the service's other answers, with the same keys.
        webhooks: sender of messages about events of ledgers.
        warnings: warnings that accompany every answer about a ledger.
    """

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        pool: Pool,
        jobs: Jobs,
        organisations: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """Prepare the ledgers of the service. They are opened later.

        Args:
            settings: settings of the service.
            metrics: metrics of the service.
            pool: worker processes.
            jobs: long computations of the service. Their database also stores the ledgers.
            organisations: function that returns the organisation of each caller with an API key, by the caller's name.
        """
        self._settings = settings
        self._metrics = metrics
        self._pool = pool
        self._jobs = jobs
        self._organisations = organisations
        self.signatures = Signatures()
        self._book: Book | None = None  # the ledgers, while they are open
        self._keys: Keys | None = None
        self._closed_error = unavailable_problem("The service is starting.")  # for requests while it is closed
        self.warnings: tuple[Caution, ...] = ()
        self._promise_cache = PromiseCache()  # slow parts of the answers about ledgers
        self._unbalanced: list[str] = []  # one sentence for each ledger whose rows differ from the log
        self._kept_heads: KeptHeads | None = None  # heads of the log that are kept outside its database
        self._log = structlog.get_logger()
        self._figures = Figures(metrics)
        self.webhooks = Webhooks(endpoints_of(settings.ledger_webhooks), metrics)
        # 1 while the log has all its entries, and the rows of each ledger agree with it; otherwise 0.
        metrics.ledger_reconciled.set_function(lambda: float(self.trouble() is None and not self._unbalanced))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the ledgers for a block, with their background tasks. The store of jobs must be open all the time.

        Raises:
            StoreUnavailable: the store holds ledgers of a later version.
            KeysUnusable: the keys that sign cannot be used.
        """
        self._threads = anyio.CapacityLimiter(THREADS)
        self._timer = SweepTimer(SWEEP_SECONDS)
        database = self._jobs.shelf.store.database
        if database.shared and not self._settings.ledger_keys:
            reason = f"Ledgers in a shared store need {PREFIX}LEDGER_KEYS: the folder of their keys."
            self._closed_error = unavailable_problem(reason)
            yield  # other requests are still answered
            return
        await to_thread.run_sync(self._open, database)
        if self._book is None:  # the database is in memory, which the settings forbid for ledgers
            yield
            self._stop()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._expire)
            tasks.start_soon(self._check_balances)
            tasks.start_soon(self.webhooks.run, database, self.trouble)
            yield
            tasks.cancel_scope.cancel()
        self._stop()

    def _stop(self) -> None:
        """Release everything, and answer further requests that the service is stopping."""
        if self._kept_heads is not None:
            self._kept_heads.close()
        self._book = None
        self._keys = None
        self._closed_error = unavailable_problem("The service is stopping.")
        self.signatures.use(None)
        self._figures.follow(None)

    def _open(self, database: Database) -> None:
        """Open the ledgers in a database, unless it is in memory and the settings forbid that.

        Args:
            database: database of the service's jobs, to which the tables of ledgers are added.
        """
        # Other answers are signed only with keys that outlive the process, because clients verify them later.
        if database.durable or self._settings.ledger_keys:
            self._keys = Keys.of(self._settings, durable=database.durable)
            self.signatures.use(self._keys)
        if not database.durable and not self._may_use_memory():
            return
        keys = self._keys = self._keys or Keys.of(self._settings, durable=False)
        # The log's head is also stored outside the database, where a restore of the database does not change it.
        head_path = self._settings.ledger_checkpoint
        head_file = CheckpointFile(Path(head_path), keys) if head_path else None
        book = Book(add_tables(database), keys, evaluate=self._evaluate, file=head_file)
        self._adoption = Adoption(book)
        self._adoption.assign(self._organisations())
        self._kept_heads = KeptHeads(book, self._settings)
        self._kept_heads.begin()
        self._book = self._figures.follow(book)

    def _may_use_memory(self) -> bool:
        """Decide by the settings whether ledgers may be in memory, where they are lost when the service stops.

        If they may, all answers about ledgers get a warning. Otherwise requests about ledgers get the reason.
        """
        cause = self._jobs.forgets
        if not self._settings.ledgers_in_memory:
            self._closed_error = not_durable_problem(cause)
            self._log.warning("ledgers are refused: the store is in memory", reason=cause)
            return False
        self.warnings = (IN_MEMORY,)
        self._log.error("ledgers are in memory, and are lost when the service stops", reason=cause)
        return True

    async def _check_balances(self) -> None:
        """Compare the rows of all ledgers with the log once, and log differences."""
        with as_problems():
            self._unbalanced = await to_thread.run_sync(self.book.unbalanced_ledgers)
        for sentence in self._unbalanced:
            self._log.error("a ledger was changed outside its moves", reason=sentence)

    def trouble(self) -> str | None:
        """Return in one sentence why the ledgers of this service cannot be used, or None if they can."""
        return None if self._book is None else self._book.continuity.trouble

    @property
    def book(self) -> Book:
        """The ledgers in the database; raises `Problem` if there are none, or while the service starts or stops."""
        if self._book is None:
            raise self._closed_error
        return self._book

    @property
    def heads(self) -> KeptHeads:
        """The heads of the log that are kept outside its database."""
        if self._book is None or self._kept_heads is None:
            raise self._closed_error
        return self._kept_heads

    @property
    def keyring(self) -> SigningKeys:
        """The keys that sign ledgers and other answers; raises `Problem` if the service has no keys."""
        if self._keys is None:
            raise self._closed_error
        return self._keys()

    def log_opening(self, identifier: str) -> None:
        """Write to the log that a ledger was opened which this service will lose."""
        if self.warnings:
            self._log.warning("a ledger was opened in memory, and is lost when the service stops", ledger=identifier)

    async def call(self, caller: Caller, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a blocking function of the ledgers in a thread, and return its answer.

        Args:
            caller: the caller.
            method: the function.
            arguments: arguments of the function.
            named: keyword arguments of the function.

        Returns:
            The result of the function. The call is not cancelled if the client disconnects.

        Raises:
            Problem: the ledgers raised an error of `as_problems`.
            EpsilondError: the mathematics raised an error.
        """
        _CALLER.set(caller.identity)
        with as_problems(), anyio.CancelScope(shield=True):
            answer = await to_thread.run_sync(
                partial(self._adopt_and_call, caller, method, *arguments, **named), limiter=self._threads
            )
        return answer  # noqa: RET504 (a scope may swallow what it cancels, says its type)

    def _adopt_and_call(self, caller: Caller, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a method of the ledgers, after the caller's own ledgers were given to the caller's organisation."""
        if self._book is not None:
            self._adoption.adopt(caller)
        return method(*arguments, **named)

    async def move(self, caller: Caller, kind: str, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a function that changes ledgers, in a thread. Store the log's new head before the answer.

        Args:
            caller: the caller.
            kind: kind of the change, for metrics.
            method: the function.
            arguments: arguments of the function.
            named: keyword arguments of the function.

        Returns:
            The result of the function, for example a reservation, or a change that waits for a second person.

        Raises:
            Problem: the ledgers raised an error of `as_problems`, or the head cannot be stored.
        """
        with self._figures.count_move(kind), self.webhooks.waking(), caller.computation():
            answer: T = await self.call(caller, partial(self._move, method, *arguments, **named))
        is_pending = isinstance(answer, PendingMove) and answer.state == "pending"
        counted_kind = "requested" if is_pending else kind
        self._metrics.ledger_moves.labels(counted_kind).inc()
        return answer

    async def what_if(self, request: Request, caller: Caller, identifier: str, job: WhatIfAsked) -> WhatIf:
        """Return the cost of a job. Nothing is written, and the computation is stopped if the client disconnects.

        Args:
            request: the request of a client, who may leave.
            caller: the caller.
            identifier: id of the ledger.
            job: the job.

        Returns:
            The cost. It is rough, without the nearest jobs, if the exact cost takes more than half of the deadline.

        Raises:
            Problem: the client has left, the rough price takes too long, or the book raised an error.
            EpsilondError: the mathematics raised an error.
        """
        state = await self.call(caller, self.book.asked_of, caller.organisation, identifier, job)

        async def compute() -> WhatIf:
            """Compute the exact cost or, if that takes more than half of the allowed time, a rough cost."""
            half = self._settings.deadline_seconds / 2  # so that the rough price has as much time as the exact one
            exact = partial(pickle_result, partial(what_if, state, **job.job))
            rough = partial(pickle_result, partial(what_if, state, **job.job, rough=True))
            try:
                answer = await self._in_worker(exact, caller.identity, half)
            except Problem as problem:
                if problem.kind.slug != "deadline-exceeded":
                    raise
                answer = await self._in_worker(rough, caller.identity, half)
            return unpickle(answer, WhatIf)

        return await first_of(compute, partial(end_with_client, request))

    def promise(self, tenant: str, identifier: str) -> tuple[LedgerRow, LedgerState, LedgerPromise]:
        """Return a ledger with the slow parts of the service's answer about it, from a cache if possible.

        The method blocks the calling thread.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The row of the ledger in the database, its state, and the slow parts: the conditions, the privacy curve of
            the plan, and the certificate.
        """
        row, state = self.book.row_and_state(tenant, identifier)
        promise = self._promise_cache.get(row)
        if promise is None:
            promise = self._evaluate(partial(compute_promise, state, of_block=bool(row.block)))
            self._promise_cache.store(row, promise)
        return row, state, promise

    def _move(self, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a function that changes ledgers, and store the log's new head (size and Merkle root) afterwards.

        Raises:
            NotReconciled: the log lacks entries that it had before.
            Problem: a head cannot be stored, or too few witnesses (other parties that sign heads) signed it.
        """
        heads = self.heads
        heads.require()
        answer = method(*arguments, **named)
        heads.keep()
        return answer

    def accept(self, by: str) -> tuple[str, int]:
        """Sign the log as it is, although it may have lost entries, on behalf of an operator. It blocks the thread.

        The log continues from this head. A ledger that needs approvals stays blocked until a second person approves it.

        Args:
            by: name of the operator.

        Returns:
            The log's signed head, and the number of ledgers that wait for a second person.

        Raises:
            OSError: the head cannot be stored in its file.
        """
        book = self.book
        trouble = book.find_trouble()
        note = book.sign_as_it_is()
        waiting = 0 if trouble is None else book.request_reconciliations(by, trouble)
        self._log.warning("the log of ledgers was accepted as it is", checkpoint=note, waiting=waiting)
        self.heads.accept(note)
        return note, waiting

    def expires(self, when: float | None) -> None:
        """Note when a reservation expires, in seconds since 1970; None changes nothing."""
        if when is not None:
            self._timer.bring_forward(when)

    async def _expire(self) -> None:
        """End expired reservations every `SWEEP_SECONDS`, or earlier if one is due, until the task is cancelled."""
        while True:
            await self._timer.wait()
            try:
                with anyio.CancelScope(shield=True), as_problems():
                    ended = await to_thread.run_sync(partial(self._move, self.book.expire), limiter=self._threads)
                self._metrics.ledger_moves.labels("expired").inc(ended)
            except Problem as problem:
                self._log.warning("reservations that have expired could not be ended", reason=problem.detail)

    def _evaluate(self, call: Callable[[], T]) -> T:
        """Compute the result of a call in a worker process. The calling thread waits for it.

        Args:
            call: call without arguments, which can be pickled.

        Returns:
            The result of the call.

        Raises:
            EpsilondError: the call raised it.
            Problem: the workers are busy, the call takes too long, or the service is stopping.
        """
        seconds = self._settings.deadline_seconds
        answer = from_thread.run(self._in_worker, partial(pickle_result, call), _CALLER.get(), seconds)
        value: T = pickle.loads(answer.body)  # noqa: S301 (made by a worker of our own)
        return value

    async def _in_worker(
        self, computation: Callable[[], RenderedAnswer], caller: str, seconds: float
    ) -> RenderedAnswer:
        """Return the answer of a computation in a worker process of the service; see `run_in_worker`."""
        return await run_in_worker(self._pool, computation, caller, seconds)


LEDGERS_OF: ServicePart[Ledgers] = ServicePart("ledgers")

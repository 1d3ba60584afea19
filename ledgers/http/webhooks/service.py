"""Webhooks of one service: events become messages in the database, and are sent until they are received.

Messages are made from the log. Each transaction that makes some also stores how far the log was read, so that a service
that stops at any point forgets none and makes none twice. One process at a time reads the log, and one at a time sends
a message, by a lease. A message may come twice, with one `webhook-id`, and never gets lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

import anyio
import structlog
from anyio import to_thread
from sqlalchemy import Connection

from epsilond.app.metrics import Metrics
from epsilond.ledgers.http.webhooks.endpoints import WebhookEndpoint
from epsilond.ledgers.http.webhooks.events import (
    LedgerEvent,
    broken_head,
    exhaustion,
    expiries,
    messages_of,
    passed_fractions,
)
from epsilond.ledgers.http.webhooks.sending import GONE, send
from epsilond.ledgers.store import entries, ledgers, messages
from epsilond.ledgers.store.transactions import Unknown, looking
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database

POLL_SECONDS: Final = 5.0
"""Longest time in seconds between two looks at the log and at due messages; a move in this process shortens it."""
LEASE_SECONDS: Final = 60.0
"""Time in seconds for which a process has a message to send: more than a delivery takes with its timeouts."""
FIRST_PAUSE_SECONDS: Final = 5.0
"""Pause in seconds after the first failure; each further one is three times as long."""
LONGEST_PAUSE_SECONDS: Final = 10_800.0
"""Longest pause in seconds: three hours, so that a receiver which is back is noticed the same day."""
GIVEN_UP_SECONDS: Final = 7 * 86_400.0
"""Age in seconds after which a message is dropped: a week, so that a receiver may be away for some days."""
KEPT_SECONDS: Final = 30 * 86_400.0
"""Age in seconds after which messages are removed, except for those about fractions, of which each is sent once."""
ENTRIES: Final = 500
"""Number of entries that are read in one transaction: few enough for other writers to wait for."""


class Webhooks:
    """Sender of messages about events of ledgers to the endpoints (HTTP addresses) of one service.

    Events are read from the log of ledgers. Messages are stored in the database until they are received. Without
    endpoints, nothing is done.
    """

    def __init__(self, endpoints: Sequence[WebhookEndpoint], metrics: Metrics) -> None:
        """Prepare the sending. Nothing is sent before `run`.

        Args:
            endpoints: addresses, each with the events that it gets.
            metrics: metrics of the service, which count deliveries and waiting messages.
        """
        self._endpoints = endpoints
        self._deliveries = metrics.webhook_deliveries
        self._pending = metrics.webhook_messages
        self._database: Database | None = None
        self._woken: anyio.Event | None = None
        self._log = structlog.get_logger()

    @contextmanager
    def waking(self) -> Iterator[None]:
        """Search for new events as soon as a `with` block ends, also by an error. Use it in the event loop."""
        try:
            yield
        finally:
            if self._woken is not None:
                self._woken.set()

    def note_refusal(self, organisation: str, identifiers: Sequence[str], slot: str | None, item: str | None) -> None:
        """Store messages about a request that was rejected because too little was left in a ledger.

        The method blocks. Errors of the database are logged, and not raised. Without endpoints nothing happens.

        Args:
            organisation: owner of the ledgers.
            identifiers: ids of the ledgers.
            slot: kind of the slot (a budget) that was requested, if one was.
            item: item of the plan that was requested, if one was.
        """
        database = self._database
        if database is None:
            return
        try:
            with looking(database) as connection:
                versions = {name: row.version for name, row in ledgers.load(connection, *identifiers).items()}
            self._store_events(database, [exhaustion(organisation, versions, slot, item, time.time())])
        except (StoreFault, Unknown) as fault:
            self._log.warning("a webhook message could not be kept", reason=str(fault))

    async def run(self, database: Database, trouble: Callable[[], str | None]) -> None:
        """Create messages about new log entries and send them, until the task is cancelled.

        Without endpoints, the method returns at once. Errors are logged, and the work is tried again.

        Args:
            database: database of the ledgers.
            trouble: returns a sentence if the log lacks entries that it had before; otherwise None.
        """
        if not self._endpoints:
            return
        self._database = database
        try:
            while True:
                self._woken = anyio.Event()
                try:
                    await self._collect_and_deliver(database, trouble)
                except* StoreFault as faults:
                    self._log.warning("webhooks wait for the store", reason=str(faults.exceptions[0]))
                except* Exception:  # noqa: BLE001 (logged in full; the service goes on and tries again)
                    self._log.exception("webhooks failed")
                with anyio.move_on_after(POLL_SECONDS):
                    await self._woken.wait()
        finally:
            self._database = self._woken = None

    async def _collect_and_deliver(self, database: Database, trouble: Callable[[], str | None]) -> None:
        """Store messages about new events, send the due messages, and count the waiting ones.

        The work is done in threads. If the task is cancelled, it does not wait for them.

        Args:
            database: database of the ledgers.
            trouble: returns a sentence if the log lacks entries that it had before; otherwise None.

        Raises:
            StoreFault: the database cannot be used.
        """
        in_thread = partial(to_thread.run_sync, abandon_on_cancel=True)
        await in_thread(self._collect, database, trouble())
        async with anyio.create_task_group() as tasks:
            for endpoint in self._endpoints:
                tasks.start_soon(in_thread, self._deliver, database, endpoint)
        self._pending.set(await in_thread(self._count, database))

    def _store_events(self, database: Database, events: Sequence[LedgerEvent]) -> None:
        """Store the messages about events, except for those that are stored already.

        If there are no new messages, the database is not locked for writing.

        Args:
            database: database of the ledgers.
            events: events of ledgers or of the log.
        """
        rows = [*messages_of(events, self._endpoints)]
        with looking(database) as connection:
            new = [row for row in rows if not messages.is_kept(connection, row.id)]
        if new:
            with database.writing() as connection:
                messages.add(connection, new)

    def _collect(self, database: Database, trouble: str | None) -> None:
        """Store messages about new entries of the log, and about a log that lacks entries.

        The first call with a database only stores the present size of the log, so that old entries cause no messages.

        Args:
            database: database of the ledgers.
            trouble: a sentence if the log lacks entries that it had before; otherwise None.
        """
        with looking(database) as connection:
            size = entries.size(connection)
            read = messages.read_size(connection)  # number of entries from which messages were made
        if trouble is not None:
            self._store_events(database, [broken_head(trouble, size, time.time())])
        if read is None:
            with database.writing() as connection:
                messages.begin(connection, size)
            return
        while read < size:
            with database.writing() as connection:
                read = messages.read_size(connection, alone=True)
                if read is None:  # another process reads it
                    return
                read = self._read_log(connection, read)

    def _read_log(self, connection: Connection, start: int) -> int:
        """Store messages about a page of log entries, and delete messages older than `KEPT_SECONDS`.

        Messages that a fraction of a budget was reached are not deleted, because they must not be sent a second time.

        Args:
            connection: connection of a transaction that writes.
            start: index of the first entry of the page.

        Returns:
            The index of the first entry after the page.
        """
        rows = entries.page(connection, start=start, limit=ENTRIES)

        # The time of the newest entry of each ledger on the page.
        times = {row.ledger: row.at for row in rows if row.ledger is not None}
        moved = ledgers.load(connection, *sorted(times))

        owners = {name: row.tenant for name, row in moved.items()}
        fractions = set(chain.from_iterable(endpoint.fractions for endpoint in self._endpoints))
        events = [*expiries(rows, owners)]
        for name, row in moved.items():
            events += passed_fractions(row, fractions, times[name])
        messages.add(connection, messages_of(events, self._endpoints))
        messages.prune(connection, time.time() - KEPT_SECONDS, "fraction")
        end = start + len(rows)
        messages.advance(connection, end)
        return end

    def _deliver(self, database: Database, endpoint: WebhookEndpoint) -> None:
        """Send the due messages of an endpoint, one after another, until none is due or a delivery fails.

        Each message is claimed for `LEASE_SECONDS` before it is sent, so that no other process sends it at the same
        time.

        Args:
            database: database of the ledgers.
            endpoint: receiver of the messages.
        """
        while True:
            with database.writing() as connection:
                row = messages.claim(connection, endpoint.id, time.time(), LEASE_SECONDS)
            if row is None:
                return
            now = time.time()
            failure = send(endpoint, row, int(now))
            with database.writing() as connection:
                messages.write(connection, self._message_after(row, failure, now))
            if failure is not None:
                return

    def _message_after(self, row: messages.MessageRow, failure: str | None, now: float) -> messages.MessageRow:
        """Return a message with its new state after a delivery, and count the delivery in the metrics.

        A message that was not received is sent again after a pause, which is three times as long each time. It is
        dropped if the endpoint answered "gone" (410), or if the message is older than `GIVEN_UP_SECONDS`.

        Args:
            row: the message with its number of deliveries so far.
            failure: why the endpoint did not receive it; None if it did.
            now: present time in seconds since 1970.

        Returns:
            The message with its new state.
        """
        if failure is None:
            self._deliveries.labels("delivered").inc()
            return replace(row, state="delivered")

        is_too_old = now - row.created > GIVEN_UP_SECONDS
        dropped = failure == str(GONE) or is_too_old
        outcome = "dropped" if dropped else "failed"
        self._deliveries.labels(outcome).inc()
        self._log.warning(
            "a webhook message was not received", message=row.id, reason=failure, attempts=row.attempts, dropped=dropped
        )
        if dropped:
            return replace(row, state="dropped")
        # The pause reaches its maximum after 8 attempts. The limit of 20 only keeps the power finite.
        earlier_attempts = min(row.attempts, 20) - 1
        pause = min(FIRST_PAUSE_SECONDS * 3.0**earlier_attempts, LONGEST_PAUSE_SECONDS)
        return replace(row, due=now + pause)

    def _count(self, database: Database) -> int:
        """Return the number of messages that wait for their delivery."""
        with looking(database) as connection:
            return messages.pending(connection, [endpoint.id for endpoint in self._endpoints])

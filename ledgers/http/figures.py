"""Metrics of ledgers: moves that are rejected, and figures that are read from the database when somebody scrapes.

The figures are read in a thread, at most once in `KEPT_SECONDS`. A scrape waits for `WAIT_SECONDS` at most, and is then
answered with the figures that were read before.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import anyio
import structlog
from anyio import to_thread
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from epsilond.app.http.problems import problem_of
from epsilond.app.metrics import Metrics
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.store.figures import LedgerFigures
from epsilond.storage.faults import StoreFault

BookOrNone = TypeVar("BookOrNone", Book, None)
FULLEST: Final = 20
"""Largest number of ledgers in labels: few enough for every scrape, and more than an operator looks at."""
KEPT_SECONDS: Final = 10.0
"""Time for which figures are kept, in seconds; below the usual interval of scrapes, which is 15 s or more."""
WAIT_SECONDS: Final = 2.0
"""Longest time that a scrape waits for figures, in seconds; a scrape itself is given up after 10 s."""
DESCRIPTIONS: Final = {
    "epsilond_ledgers_open": "Ledgers that may still reserve",
    "epsilond_ledger_oldest_hold_age_seconds": "Age of the oldest reservation that holds something; 0 for none",
    "epsilond_ledger_log_entries": "Entries of the log of ledgers: the size of its head",
    "epsilond_ledger_log_age_seconds": "Time since the newest entry of the log of ledgers was written",
    "epsilond_ledger_figures_age_seconds": "Time since these figures of ledgers were read from the database",
}
"""Descriptions of the metrics without labels, by name, in the order of the output."""


@dataclass(frozen=True)
class Snapshot:
    """Figures of all ledgers with the time at which they were read from the database.

    Attributes:
        figures: number of open ledgers, size and age of the log, and the fullest ledgers.
        clock: time of the reading, in seconds of the monotonic clock.
    """

    figures: LedgerFigures
    clock: float


class Figures(Collector):
    """Figures of a service's ledgers, which are collected for its metrics (Prometheus).

    They are read from the database in a thread, at most once in `KEPT_SECONDS`. In between, the last figures are
    returned.
    """

    def __init__(self, metrics: Metrics) -> None:
        """Register the figures as metrics of a service. They have no values before `follow` is called.

        Args:
            metrics: metrics of the service, which call `refresh` before each scrape.
        """
        self._rejections = metrics.ledger_rejections
        self._book: Book | None = None
        self._snapshot: Snapshot | None = None
        self._thread = anyio.CapacityLimiter(1)
        metrics.registry.register(self)
        metrics.before_scrape(self.refresh)

    def follow(self, book: BookOrNone) -> BookOrNone:
        """Read the figures of these ledgers from now on, and forget all earlier figures.

        Args:
            book: the ledgers; None for no figures.

        Returns:
            The book, so that the call can be part of an assignment.
        """
        self._book = book
        self._snapshot = None
        return book

    @contextmanager
    def count_move(self, move: str) -> Iterator[None]:
        """Count an error in a `with` block that changes ledgers, by the kinds of the change and of the error.

        Args:
            move: kind of the change, such as `committed`.

        Yields:
            None, once. An error is raised again after it was counted.
        """
        try:
            yield
        except Exception as error:
            self._rejections.labels(move, problem_of(error).kind.slug).inc()
            raise

    async def refresh(self) -> None:
        """Read the figures again if they are older than `KEPT_SECONDS`, and wait at most `WAIT_SECONDS` for them.

        If the reading takes longer or fails, the earlier figures stay for now.
        """
        if self._book is None or self._is_fresh():
            return
        with anyio.move_on_after(WAIT_SECONDS):
            await to_thread.run_sync(self._load, self._book, limiter=self._thread, abandon_on_cancel=True)

    def _is_fresh(self) -> bool:
        """Return whether the figures were read within the last `KEPT_SECONDS`; False if none were read yet."""
        if self._snapshot is None:
            return False
        return time.monotonic() < self._snapshot.clock + KEPT_SECONDS

    def _load(self, book: Book) -> None:
        """Read the figures of all ledgers from the database, unless they are fresh. The method blocks.

        If the database cannot be read, a warning is logged and the earlier figures stay.

        Args:
            book: the ledgers. If another book is followed meanwhile, the figures are dropped.
        """
        if self._is_fresh():
            return
        try:
            snapshot = Snapshot(book.figures(limit=FULLEST), time.monotonic())
        except StoreFault as fault:
            structlog.get_logger().warning("the figures of ledgers could not be read", reason=str(fault))
            return
        # Meanwhile, `follow` may have been called.
        if self._book is book:
            self._snapshot = snapshot

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return the metrics of the ledgers, with the figures that were read last.

        Returns:
            The gauges, each with its name and description. Two of them have a value for each of the fullest ledgers,
            and the others have one value, or none if it is unknown.
        """
        snapshot = self._snapshot
        fullest = () if snapshot is None else snapshot.figures.fullest
        values = {} if snapshot is None else _values_of(snapshot)

        used = GaugeMetricFamily(
            "epsilond_ledger_used_fraction",
            "Committed fraction of the fullest slot of a ledger, for the fullest ledgers",
            labels=("ledger",),
        )
        held = GaugeMetricFamily(
            "epsilond_ledger_held_fraction",
            "Committed or reserved fraction of the fullest slot of a ledger, for the fullest ledgers",
            labels=("ledger",),
        )
        for fullness in fullest:
            used.add_metric((fullness.ledger,), fullness.used)
            held.add_metric((fullness.ledger,), fullness.held)

        gauges = [used, held]
        for name, description in DESCRIPTIONS.items():
            gauge = GaugeMetricFamily(name, description)
            if name in values:
                gauge.add_metric((), values[name])
            gauges.append(gauge)
        return gauges


def _values_of(snapshot: Snapshot) -> dict[str, float]:
    """Return the values of the metrics without labels, by the names in `DESCRIPTIONS`.

    Args:
        snapshot: figures of all ledgers at one time.

    Returns:
        The values. The age of the oldest reservation is 0 if nothing is reserved. The age of the newest log entry is
        left out if the log has no entries.
    """
    figures = snapshot.figures
    now = time.time()  # the times in the figures are also in seconds since 1970
    values = {
        "epsilond_ledgers_open": float(figures.open),
        "epsilond_ledger_oldest_hold_age_seconds": 0.0,
        "epsilond_ledger_log_entries": float(figures.size),
        "epsilond_ledger_figures_age_seconds": time.monotonic() - snapshot.clock,
    }
    # An age is never negative, even if the clock was set back.
    if figures.oldest_hold is not None:
        values["epsilond_ledger_oldest_hold_age_seconds"] = max(now - figures.oldest_hold, 0.0)
    if figures.written is not None:
        values["epsilond_ledger_log_age_seconds"] = max(now - figures.written, 0.0)
    return values

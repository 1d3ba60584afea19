"""Repeated attempts of a change of ledgers, while other threads and processes change the same ledgers."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable
from typing import TypeVar

from epsilond.ledgers.book.errors import Contended
from epsilond.ledgers.store.transactions import Again

T = TypeVar("T")
TRIES_OUTSIDE = 3
"""Number of attempts that are computed before the ledgers are locked."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
"""Mean pauses in seconds before an attempt is repeated: after the first, and after many."""
MOST_TRIES = 100
"""Largest number of attempts of one change while others move the ledger."""


def retry_judged(attempt: Callable[[bool], T]) -> T:
    """Repeat a change of ledgers that takes time to compute, until no other change interferes.

    The first `TRIES_OUTSIDE` attempts compute before the ledgers are locked, so that others need not wait. Such an
    attempt fails if a ledger changes meanwhile. Later attempts compute under the lock, where no ledger can change.

    Args:
        attempt: computes and writes the change, and raises `Again` if a ledger has changed. Its argument is True if it
            has to compute under the lock.

    Returns:
        The result of the attempt that succeeded.

    Raises:
        Contended: `MOST_TRIES` attempts were not enough.
    """
    attempt_numbers = itertools.count()

    def make_next_attempt() -> T:
        """Make one attempt, under the lock after `TRIES_OUTSIDE` attempts."""
        is_under_lock = next(attempt_numbers) >= TRIES_OUTSIDE
        return attempt(is_under_lock)

    return retry(make_next_attempt)


def retry(attempt: Callable[[], T]) -> T:
    """Repeat an attempt to change ledgers while it raises `Again`, because others changed the same ledgers.

    The mean pause between attempts doubles from `SHORTEST_PAUSE` to `LONGEST_PAUSE`.

    Args:
        attempt: tries the change once, and returns the result. It writes nothing if it raises `Again`.

    Returns:
        The result of the first attempt that succeeds.

    Raises:
        Contended: `MOST_TRIES` attempts were not enough.
    """
    for earlier_attempts in range(MOST_TRIES):
        try:
            return attempt()
        except Again:
            doublings = min(earlier_attempts, 6)  # 2^6 times the shortest pause exceeds the longest
            mean_pause = min(SHORTEST_PAUSE * 2.0**doublings, LONGEST_PAUSE)
            # A random factor from 0.5 to 1.5, so that callers who collided do not collide again.
            random_factor = 0.5 + secrets.randbelow(1000) / 1000
            time.sleep(mean_pause * random_factor)
    raise Contended("others moved the ledger each time; nothing was written")

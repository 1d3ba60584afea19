"""How long to wait: between two tries of a request, and for a job to end."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

import httpx

RETRIES = 4
"""How often a request is sent again that the service puts off or the network breaks."""
LONGEST_PAUSE = 120.0
"""Seconds; what is put off for longer is left to the caller, as the problem it is."""
SHORTEST_PAUSE, LONGEST_BACKOFF = 0.25, 10.0
"""Seconds between two looks at a job that the service did not hold back."""
HELD = 20
"""Seconds for which the service is asked to hold a look at a job."""
DEADLINE = 30
"""Seconds for which the service holds a question unless it was told otherwise."""
POLITE = 5.0
"""Seconds that the cancellation of a job may take, where its waiter has gone."""
BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)
"""Faults of a connection after which the same request may succeed on another."""


def pause_before_retry(outcome: httpx.Response | httpx.TransportError, tried: int) -> float | None:
    """Seconds until a request is worth sending again, None if it is not; `tried` counts from 0.

    A random part keeps clients apart that were put off together.
    """
    if isinstance(outcome, httpx.TransportError):
        return backoff(tried) if isinstance(outcome, BROKEN) else None
    if outcome.status_code not in (429, 503):
        return None
    told = seconds_of(outcome)
    if told is None or told > LONGEST_PAUSE:
        return None
    return told + random.uniform(0.0, 0.25 * told + SHORTEST_PAUSE)  # noqa: S311


def backoff(tried: int) -> float:
    """Seconds that grow with each try, up to a bound."""
    return min(LONGEST_BACKOFF, SHORTEST_PAUSE * 2.0**tried * random.uniform(1.0, 2.0))  # noqa: S311  no secret


def seconds_of(response: httpx.Response) -> float | None:
    """Those of Retry-After; the service writes seconds, never a date."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else None


@dataclass
class Wait:
    """A wait that began now and may end at `timeout` seconds; None waits until the end."""

    timeout: float | None
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds until it is over."""
        return float("inf") if self.timeout is None else max(0.0, self.began + self.timeout - time.monotonic())

    def over(self) -> bool:
        """Whether it is."""
        return self.left() <= 0.0

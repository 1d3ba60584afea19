"""CPU time that one caller of the service has used and may use."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.app.http.problems import Problem

HALF_LIFE_SECONDS = 60.0
"""Time after which used CPU time counts half in the order of a fair queue, in seconds."""
BURST_MINUTES = 10.0
"""Minutes' worth of the allowed CPU time that a caller may use at once."""


@dataclass(eq=False, slots=True)
class CallerUsage:
    """CPU time that one caller of the service has used, which decays with time, and is allowed to use.

    Two amounts are kept. The pool of workers chooses the next caller by the recently used time (`used`). A caller who
    owes too much (`owed`) is rejected until the allowance has covered enough of it.

    Attributes:
        at: time of the last update, in seconds of the clock of `Budgets`.
        per_minute: CPU seconds per minute that the caller may use; 0 for no limit.
        owed: CPU seconds that were used, less the allowance since then; at least 0.
        used: CPU seconds that were used. A second counts half after one minute, a quarter after two, and so on.
        computing: number of the caller's computations that run or wait.
    """

    at: float
    per_minute: float
    owed: float = 0.0
    used: float = 0.0
    computing: int = 0

    def advance(self, now: float) -> None:
        """Update the amounts to the present time: the used time decays, and the owed time falls at the allowed rate.

        Args:
            now: present time, in seconds of the same clock as `at`. A time before `at` changes nothing.
        """
        passed = max(0.0, now - self.at)
        self.at += passed
        self.used *= 0.5 ** (passed / HALF_LIFE_SECONDS)
        newly_allowed = passed * self.per_minute / 60.0
        self.owed = max(0.0, self.owed - newly_allowed)

    def charge(self, cpu_seconds: float) -> None:
        """Add CPU seconds that a computation of the caller used.

        Args:
            cpu_seconds: CPU time of the computation [s], which counts as used now.
        """
        self.used += cpu_seconds
        if self.per_minute:
            self.owed += cpu_seconds

    def require_allowance(self) -> None:
        """Reject a caller who owes `BURST_MINUTES` minutes' worth of the allowed CPU time or more.

        Raises:
            Problem: the caller owes that much. Its header Retry-After states after how many seconds to try again.
        """
        excess = self.owed - BURST_MINUTES * self.per_minute
        is_limited = self.per_minute > 0.0
        if is_limited and excess >= 0.0:
            # The allowance covers `per_minute` CPU seconds in 60 seconds.
            seconds = max(1, math.ceil(60.0 * excess / self.per_minute))
            detail = "The computations of this caller have used up their CPU time for now."
            raise Problem("rate-limited", detail, headers={"Retry-After": str(seconds)})

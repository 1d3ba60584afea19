"""How much processor time each caller has used lately."""

from __future__ import annotations

import time
from collections.abc import Callable

HALF_LIFE = 60.0
"""Seconds after which what was used counts half."""
FORGOTTEN = 0.001
"""Seconds of use that are as good as none."""
CALLERS = 10_000
"""More callers than that are not told apart without looking for those to forget."""


class Usage:
    """Seconds used by each caller, halved every minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}

    def add(self, caller: str, seconds: float) -> None:
        """So many seconds more."""
        self._used[caller] = (self.lately(caller) + seconds, self._clock())
        if len(self._used) > CALLERS:
            self._used = {each: used for each, used in self._used.items() if self.lately(each) > FORGOTTEN}

    def lately(self, caller: str) -> float:
        """What they have used, in seconds; what is long ago counts little."""
        used, when = self._used.get(caller, (0.0, 0.0))
        return float(used * 0.5 ** ((self._clock() - when) / HALF_LIFE))

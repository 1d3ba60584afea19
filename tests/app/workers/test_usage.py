"""The recent CPU seconds of each caller, by a clock that the test turns."""

from __future__ import annotations

from epsilond.app.workers.fairness import CALLERS, HALF_LIFE, Usage


def test_it_halves() -> None:
    now = [0.0]
    used = Usage(lambda: now[0])
    used.add("a", 8.0)
    assert (used.recent_seconds("a"), used.recent_seconds("b")) == (8.0, 0.0)
    now[0] = 2 * HALF_LIFE
    assert used.recent_seconds("a") == 2.0
    used.add("a", 1.0)
    assert used.recent_seconds("a") == 3.0


def test_callers_of_long_ago_are_forgotten() -> None:
    now = [0.0]
    used = Usage(lambda: now[0])
    for caller in range(CALLERS):
        used.add(str(caller), 1.0)
    now[0] = 60 * HALF_LIFE
    used.add("new", 1.0)
    assert list(used._used) == ["new"]

"""Room in the background, where questions run on at the priority of jobs after their turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from epsilond.app.workers.process import Task


def may_join_background(background: Sequence[Task], caller: str, most: int) -> bool:
    """Decide whether one more task of a caller may run in the background.

    A caller may have half of the tasks there, at least one. If the background is full, the task may join only if
    another caller has at least two tasks more than this caller. One of those tasks must then leave.

    Args:
        background: the tasks that run in the background.
        caller: identity of the caller.
        most: largest number of tasks in the background.

    Returns:
        True if the task may join.
    """
    counts = Counter(task.caller for task in background)
    if counts[caller] >= max(1, most // 2):
        return False
    if len(background) < most:
        return True
    return max(counts.values(), default=0) > counts[caller] + 1


def newest_of_largest_caller(background: Sequence[Task]) -> Task:
    """Return the task that leaves a full background: the newest task of the caller with most tasks in it."""
    counts = Counter(task.caller for task in background)
    largest_caller = max(counts, key=lambda caller: counts[caller])
    return max((task for task in background if task.caller == largest_caller), key=lambda task: task.since)

"""The queue of one lane: a line for each caller, and who goes next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from epsilond.app.workers.task import Task


class FairQueue:
    """Tasks that wait. No caller's tasks keep another caller's from their turn, however many they are."""

    def __init__(self, room: int, room_each: int) -> None:
        self._room = room
        self._room_each = room_each
        self._lines: dict[str, deque[Task]] = {}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def full_for(self, caller: str) -> bool:
        """Whether a task of theirs would have to displace another, or has no room at all."""
        return self._length >= self._room or len(self._lines.get(caller, ())) >= self._room_each

    def displaced_by(self, caller: str) -> Task | None:
        """The task that leaves the full queue for one of a caller who has nothing waiting; None if none has to.

        It is the newest of whoever has most waiting, as long as that is more than one.
        """
        if caller in self._lines or not self._lines:
            return None
        longest = max(self._lines.values(), key=len)
        if len(longest) < 2:
            return None
        self.drop(newest := longest[-1])
        return newest

    def put(self, task: Task) -> None:
        """To the end of its caller's line, whether there is room or not."""
        self._lines.setdefault(task.caller, deque()).append(task)
        self._length += 1

    def put_back(self, task: Task) -> None:
        """To the front of its caller's line: it has waited before."""
        self._lines.setdefault(task.caller, deque()).appendleft(task)
        self._length += 1

    def drop(self, task: Task) -> None:
        """Take a task out that is in it."""
        line = self._lines[task.caller]
        line.remove(task)
        self._length -= 1
        if not line:
            del self._lines[task.caller]

    def next(self, running: Callable[[str], int], used: Callable[[str], float], most: int) -> Task | None:
        """Take out the task whose turn it is: of the caller with fewest running, then with least used lately.

        Among equals it is the caller who came to wait first. None if all who wait have `most` running, or nobody waits.
        """
        if not self._lines:
            return None
        caller = min(self._lines, key=lambda each: (running(each), used(each)))
        if running(caller) >= most:
            return None
        task = self._lines[caller][0]
        self.drop(task)
        return task

    def all(self) -> list[Task]:
        """Every task that waits."""
        return [task for line in self._lines.values() for task in line]

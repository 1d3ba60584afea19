"""Whose turn it is, and who has to leave a full queue."""

from __future__ import annotations

import anyio
import pytest

from epsilond.app.workers.fairness import FairQueue
from epsilond.app.workers.process import Task


@pytest.fixture
def queue() -> FairQueue:
    """Room for six, of one caller for four."""
    return FairQueue(6, 4)


def filled(queue: FairQueue, callers: str) -> list[Task]:
    """Tasks of these callers, put into the queue one after another."""

    async def tasks() -> list[Task]:
        return [Task(message=b"", caller=caller, lane="question") for caller in callers]

    made = anyio.run(tasks)
    for task in made:
        queue.put(task)
    return made


MANY = 1000
"""More than anybody has running here."""


def order(queue: FairQueue, used: dict[str, float] | None = None) -> str:
    """The callers in the order of their turns, each task running on from its turn."""
    turns: list[str] = []
    while task := queue.next(turns.count, lambda caller: (used or {}).get(caller, 0.0), lambda _: MANY):
        turns.append(task.caller)
    return "".join(turns)


def test_callers_take_turns(queue: FairQueue) -> None:
    filled(queue, "aaaabb")
    assert order(queue) == "ababaa"
    assert len(queue) == 0


def test_who_has_used_less_goes_first(queue: FairQueue) -> None:
    filled(queue, "abc")
    assert order(queue, {"a": 2.0, "b": 1.0, "c": 3.0}) == "bac"


def test_each_caller_s_tasks_stay_in_order(queue: FairQueue) -> None:
    first, second, third = filled(queue, "aaa")
    queue.drop(second)
    queue.drop(first)
    queue.put_back(first)
    taken = [queue.next(lambda _: 0, lambda _: 0.0, lambda _: MANY) for _ in range(3)]
    assert taken == [first, third, None]


def test_nobody_goes_who_has_as_many_running_as_one_may_have(queue: FairQueue) -> None:
    (first,) = filled(queue, "a")
    assert queue.next(lambda _: 1, lambda _: 0.0, lambda _: 1) is None
    assert queue.next(lambda _: 1, lambda _: 0.0, lambda _: 2) is first


def test_room(queue: FairQueue) -> None:
    filled(queue, "aaaa")
    assert queue.is_full_for("a")
    assert not queue.is_full_for("b")
    filled(queue, "bb")
    assert queue.is_full_for("b")
    assert queue.is_full_for("c")


def test_a_newcomer_displaces_the_newest_of_who_has_most(queue: FairQueue) -> None:
    tasks = filled(queue, "aabaab")
    assert queue.make_room_for("b") is None  # who waits already displaces nobody
    assert queue.make_room_for("c") is tasks[4]
    assert len(queue) == 5
    assert tasks[4] not in queue.all()


def test_a_newcomer_does_not_displace_an_only_task(queue: FairQueue) -> None:
    filled(queue, "abcdef")
    assert queue.make_room_for("g") is None
    assert len(queue) == 6

"""The pool with real processes: places, turns, deaths, abandonment, background, and an end that leaves nothing."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from epsilond.app.http.problems import Problem
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.app.workers.fairness import SHORT_TURN_SECONDS, TURN_SECONDS
from epsilond.app.workers.forkserver import ForkServer
from epsilond.app.workers.pool import CLOCK_DIFFERENCE, Pool
from epsilond.app.workers.process import Process, TurnedAway
from epsilond.app.workers.work import Failed, RenderedAnswer
from tests.app.processes import descendants, gone
from tests.app.workers.pools import QUIET, begun, hold, outcome_of, pool_of, release, settled, submit, until
from tests.app.workers.toy_work import dies, spends, told, told_by


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Where held tasks write."""
    return tmp_path / "diary"


def deaths(pool: Pool, cause: str) -> float:
    """Workers lost for this reason."""
    return pool._metrics.registry.get_sample_value("epsilond_worker_deaths_total", {"cause": cause}) or 0.0


def test_it_answers_in_another_process() -> None:
    async def test() -> None:
        async with pool_of() as pool:
            answer = await outcome_of(submit(pool, partial(told_by, "")))
            process, priority = map(int, answer.body.split())
            assert process in descendants(os.getpid())
            assert priority == os.getpriority(os.PRIO_PROCESS, 0) + 5
            job = await outcome_of(submit(pool, partial(told_by, ""), lane="job"))
            assert int(job.body.split()[1]) == os.getpriority(os.PRIO_PROCESS, 0) + 15
        await until(lambda: gone(process))
        with pytest.raises(Problem, match="stopping") as stopping:
            submit(pool, partial(told, ""))
        assert stopping.value.headers["Retry-After"]

    anyio.run(test)


def test_what_cannot_be_sent_has_failed() -> None:
    async def test() -> None:
        async with pool_of() as pool:
            for work in (lambda: RenderedAnswer(b""), partial(int, "x"), partial(partial, test)):
                assert isinstance(await outcome_of(submit(pool, work)), Failed)
            assert isinstance(await outcome_of(pool.submit(b"no pickle", caller="a")), Failed)
            assert await outcome_of(submit(pool, partial(told, "well"))) == RenderedAnswer(b"well")
            assert deaths(pool, "crashed") == 0

    anyio.run(test)


def test_callers_take_turns_and_newcomers_displace(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"queue": 3, "caller_queue": 2})) as pool:
            first = hold(pool, diary, "first", caller="a")
            waiting = [hold(pool, diary, name, caller="a") for name in ("second", "third")]
            with pytest.raises(Problem) as refused:
                hold(pool, diary, "fourth", caller="a")
            assert refused.value.kind.status == 429
            assert int(refused.value.headers["Retry-After"]) > 0
            other = hold(pool, diary, "other", caller="b")
            newcomer = hold(pool, diary, "newcomer", caller="c")
            displaced = await outcome_of(waiting[1])
            assert isinstance(displaced, TurnedAway)
            assert displaced.problem.kind.status == 429
            assert int(displaced.problem.headers["Retry-After"]) > 0
            assert (pool.queue_length("question"), pool.running_in("question")) == (3, 1)
            for name in ("first", "second", "other", "newcomer"):
                release(diary, name)
            for task in (first, waiting[0], other, newcomer):
                assert isinstance(await outcome_of(task), RenderedAnswer)
            assert "third" not in begun(diary)
            assert next(iter(begun(diary))) == "first"

    anyio.run(test)


@pytest.mark.parametrize(("times", "answer"), [(1, RenderedAnswer), (2, Failed)])
def test_a_task_whose_worker_died_is_tried_once_more(diary: Path, times: int, answer: type) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            assert isinstance(await outcome_of(submit(pool, partial(dies, diary, times))), answer)
            assert deaths(pool, "crashed") == times
            await until(lambda: settled(pool))

    anyio.run(test)
    assert len(diary.read_text()) == times


def test_an_abandoned_task_may_end_if_nobody_wants_its_place(diary: Path) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            task = hold(pool, diary, "first")
            await until(lambda: begun(diary))
            pool.abandon(task)
            release(diary, "first")
            assert await outcome_of(task) == RenderedAnswer(b"first")
            assert deaths(pool, "abandoned") == 0

    anyio.run(test)


def test_an_abandoned_task_gives_its_place_to_who_waits(diary: Path) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            first, waiting, dropped = (hold(pool, diary, name) for name in ("first", "second", "third"))
            await until(lambda: begun(diary))
            pool.abandon(dropped)
            assert dropped.state == "ended"
            pool.abandon(first)
            assert first.state == "ended"
            await until(lambda: "second" in begun(diary))
            await until(lambda: gone(begun(diary)["first"]))
            pool.abandon(waiting)
            pool.keep(waiting)
            hold(pool, diary, "fourth")
            assert waiting.state == "running"
            release(diary, "second")
            assert await outcome_of(waiting) == RenderedAnswer(b"second")
            assert (first.outcome, dropped.outcome) == (None, None)
            assert deaths(pool, "abandoned") == 1

    anyio.run(test)


def test_an_abandoned_task_is_stopped_in_the_end(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"abandoned_seconds": 0.05})) as pool:
            task = hold(pool, diary, "first")
            await until(lambda: begun(diary))
            pool.abandon(task)
            assert task.state == "running"
            assert await outcome_of(task) is None
            await until(lambda: gone(begun(diary)["first"]))

    anyio.run(test)


def test_the_background_gives_the_place_away(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"job_processes": 1})) as pool:
            first = hold(pool, diary, "first")
            await until(lambda: begun(diary))
            second, third = hold(pool, diary, "second"), hold(pool, diary, "third")
            assert pool.to_background(first)
            await until(lambda: "second" in begun(diary))
            priority = os.getpriority(os.PRIO_PROCESS, 0)
            assert os.getpriority(os.PRIO_PROCESS, begun(diary)["first"]) == priority + 15
            assert pool.to_background(second)  # there is no room, and nobody else waits for its place
            assert (second.state, second.background) == ("running", False)
            assert pool.to_background(third)
            assert third.lane == "job"
            await until(lambda: "third" in begun(diary))
            assert os.getpriority(os.PRIO_PROCESS, begun(diary)["third"]) == priority + 15
            release(diary, "first")
            assert await outcome_of(first) == RenderedAnswer(b"first")
            for name, task in (("second", second), ("third", third)):
                release(diary, name)
                assert await outcome_of(task) == RenderedAnswer(name.encode())
            assert pool.to_background(first)  # has ended: nothing is left to do
            assert deaths(pool, "displaced") == 0

    anyio.run(test)


def test_a_question_begins_anew_for_another_caller_where_the_background_is_full(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"workers": 2, "job_processes": 0})) as pool:
            first, second = hold(pool, diary, "first"), hold(pool, diary, "second")
            await until(lambda: len(begun(diary)) == 2)
            assert pool.to_background(first)
            first.since = second.since = 0.0  # long ago
            other = hold(pool, diary, "other", caller="another")
            await until(lambda: other.state == "running")
            assert sorted((first.lane, second.lane)) == ["job", "question"]
            assert deaths(pool, "displaced") == 1
            for name, task in (("first", first), ("second", second), ("other", other)):
                release(diary, name)
                assert await outcome_of(task) == RenderedAnswer(name.encode())

    anyio.run(test)


def test_a_question_without_room_among_jobs_is_turned_away(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"job_processes": 0, "job_queue": 0})) as pool:
            first = hold(pool, diary, "first")
            await until(lambda: begun(diary))
            first.since = 0.0  # long ago
            other = hold(pool, diary, "other", caller="another")
            assert isinstance(await outcome_of(first), TurnedAway)
            release(diary, "other")
            assert await outcome_of(other) == RenderedAnswer(b"other")

    anyio.run(test)


def test_a_lingering_caller_leaves_a_place_free(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"workers": 2, "job_processes": 2})) as pool:
            names = ("first", "second", "third", "fourth")
            tasks = [hold(pool, diary, name) for name in names]
            await until(lambda: len(begun(diary)) == 2)
            for task in tasks:
                task.since = 0.0  # long ago
            pool._dispatch()  # half of the room in the background is one caller's
            assert [task.background for task in tasks].count(True) == 1
            assert [task.lane for task in tasks].count("job") == 1
            assert (pool.running_in("question"), pool.queue_length("question")) == (1, 1)
            other = hold(pool, diary, "other", caller="another")
            assert other.state == "running"
            for name, task in (("other", other), *zip(names, tasks, strict=True)):
                release(diary, name)
                assert await outcome_of(task) == RenderedAnswer(name.encode())

    anyio.run(test)


def test_the_caller_with_most_in_the_background_makes_room_there(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"workers": 3, "job_processes": 4})) as pool:
            crowd = [hold(pool, diary, f"crowd{k}", caller=caller) for k, caller in enumerate("aabb")]
            for task in crowd:
                await until(lambda task=task: task.state == "running")
                assert pool.to_background(task)
            assert all(task.background for task in crowd)
            late = hold(pool, diary, "late", caller="c")
            await until(lambda: late.state == "running")
            assert pool.to_background(late)
            assert late.background
            assert sorted(task.lane for task in crowd) == ["job", "question", "question", "question"]
            for name, task in (("late", late), *((f"crowd{k}", task) for k, task in enumerate(crowd))):
                release(diary, name)
                assert await outcome_of(task) == RenderedAnswer(name.encode())

    anyio.run(test)


def test_a_long_question_lets_others_go_before_it(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"job_processes": 2})) as pool:
            first = hold(pool, diary, "first")
            await until(lambda: begun(diary))
            assert not first.background  # nobody waits behind it
            second = hold(pool, diary, "second", caller="another")
            await until(lambda: "second" in begun(diary))
            assert (first.background, first.state) == (True, "running")
            for name, task in (("second", second), ("first", first)):
                release(diary, name)
                assert await outcome_of(task) == RenderedAnswer(name.encode())

    anyio.run(test)


def test_one_caller_never_has_every_place_of_what_takes_moments(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(QUIET.model_copy(update={"readers": 2})) as pool:
            first, second = (hold(pool, diary, name, lane="read") for name in ("first", "second"))
            await until(lambda: "first" in begun(diary))
            other = hold(pool, diary, "other", caller="another", lane="read")
            await until(lambda: "other" in begun(diary))
            assert (second.state, pool.queue_length("read")) == ("queued", 1)
            for name, task in (("other", other), ("first", first), ("second", second)):
                release(diary, name)
                assert await outcome_of(task) == RenderedAnswer(name.encode())

    anyio.run(test)


def test_stop_kills_or_drops(diary: Path) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            first, second = hold(pool, diary, "first"), hold(pool, diary, "second")
            await until(lambda: begun(diary))
            pool.stop(second)
            pool.stop(first, "cancelled")
            assert (first.outcome, second.outcome, first.state, second.state) == (None, None, "ended", "ended")
            assert first.cpu_seconds > 0.0
            await until(lambda: gone(begun(diary)["first"]))
            assert deaths(pool, "cancelled") == 1
            pool.stop(first)  # once more is nothing more
            assert deaths(pool, "cancelled") == 1

    anyio.run(test)


def test_processor_time_is_charged() -> None:
    charged: list[tuple[str, float]] = []

    async def test() -> None:
        async with pool_of(charge=lambda caller, seconds: charged.append((caller, seconds))) as pool:
            task = submit(pool, partial(spends, 0.05))
            await outcome_of(task)
            assert task.cpu_seconds >= 0.05
            assert charged == [("a", task.cpu_seconds)]

    anyio.run(test)


def test_lanes_do_not_wait_for_one_another(diary: Path) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            tasks: list[Any] = [hold(pool, diary, lane, lane=lane) for lane in ("read", "question", "job")]
            await until(lambda: len(begun(diary)) == 3)
            for lane in ("read", "question", "job"):
                assert (pool.queue_length(lane), pool.running_in(lane)) == (0, 1)
                release(diary, lane)
            for task in tasks:
                assert isinstance(await outcome_of(task), RenderedAnswer)

    anyio.run(test)


def test_the_end_ends_every_task(diary: Path) -> None:
    async def test() -> None:
        async with pool_of(Settings(workers=1, store_path=":memory:")) as pool:
            running, waiting = hold(pool, diary, "first"), hold(pool, diary, "second")
            await until(lambda: begun(diary))
        assert (running.state, waiting.state) == ("ended", "ended")
        assert (running.outcome, waiting.outcome) == (None, None)
        assert not pool.ready

    anyio.run(test)


def test_a_worker_that_is_ready_at_the_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may become ready in the moment of the cancellation of the task that makes workers."""
    made: list[Process] = []
    make = ForkServer.fork

    async def make_in_spite_of_the_end(server: ForkServer) -> Process:
        with anyio.CancelScope(shield=True):
            made.append(await make(server))
        return made[-1]

    monkeypatch.setattr(ForkServer, "fork", make_in_spite_of_the_end)

    async def test() -> None:
        async with Pool(QUIET, Metrics(), ("tests.app.workers.toy_work",)).running():
            await anyio.lowlevel.checkpoint()
        assert made
        assert all(process.killed and process._transport.is_closing() for process in made)

    anyio.run(test)


class Clock:
    """The timers of an event loop, whose delays are noted and which never fire."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    def call_later(self, seconds: float, *_: object) -> None:
        """Note a delay."""
        self.delays.append(seconds)


def test_an_expensive_task_makes_its_caller_linger(diary: Path) -> None:
    async def test() -> None:
        async with pool_of() as pool:
            task = hold(pool, diary, "first")
            assert pool._turns.seconds("somebody", others_wait=True) == TURN_SECONDS
            expensive = pool.submit(b"", caller="somebody", expensive=True)
            assert pool._turns.seconds("somebody", others_wait=True) == SHORT_TURN_SECONDS
            pool.stop(expensive)
            release(diary, "first")
            assert await outcome_of(task) == RenderedAnswer(b"first")

    anyio.run(test)


@pytest.mark.parametrize("lingers", [False, True])
def test_the_turn_of_a_lingering_caller_is_short_from_its_start(diary: Path, lingers: bool) -> None:
    """Those who wait came before it began, so that their own timers may be over."""

    async def test() -> None:
        async with pool_of() as pool:
            loop, clock = pool._loop, Clock()
            pool._loop = clock  # type: ignore[assignment]
            if lingers:
                pool._turns.linger("somebody")
            task = hold(pool, diary, "first")
            assert task.state == "running"
            assert (min(clock.delays) < 2 * SHORT_TURN_SECONDS + CLOCK_DIFFERENCE) == lingers
            assert max(clock.delays) >= TURN_SECONDS
            pool._loop = loop
            release(diary, "first")
            assert await outcome_of(task) == RenderedAnswer(b"first")

    anyio.run(test)

"""The worker processes of the service: who gets a place, who has to give it back, and warm workers to take it.

Each lane has its places. A task on a place runs in a worker process; killing it is the only way to stop a computation
in C, and costs a fork. So that nobody waits for that fork, there is always a warm worker for every free place, and some
to spare. Everything here happens in the event loop, which reads and writes the workers' wires too. What blocks happens
in the thread of `ForkServer`, so that nothing a client does can interrupt the start of a process.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import structlog
from anyio import to_thread

from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.app.workers.fairness import SHORT_TURN_SECONDS, TURN_SECONDS, FairQueue, MeanSeconds, Turns, Usage
from epsilond.app.workers.forkserver import ForkServer
from epsilond.app.workers.process import (
    LANES,
    NICER,
    Cause,
    Lane,
    Process,
    Task,
    TurnedAway,
    WarmWorkers,
)
from epsilond.app.workers.work import Computation, Failed, Outcome

SOON = 0.05
"""A clock that calls back may be so much ahead of the other, in seconds."""


class Pool:
    """The workers of one event loop. They live between entering and leaving `running()`."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        modules: tuple[str, ...],
        charge: Callable[[str, float], None] | None = None,
    ) -> None:
        """Make a pool whose workers import `modules`.

        `charge` is called with the caller and the CPU seconds of each task that ends.
        """
        self.ready = False
        """Whether a worker has answered, and the service is not stopping."""
        self._settings = settings
        self._metrics = metrics
        self._modules = modules
        self._charge = charge
        self._log = structlog.get_logger()
        self._places: dict[Lane, int] = {
            "read": settings.readers,
            "question": settings.workers,
            "job": settings.job_workers,
        }
        rooms: dict[Lane, int] = dict.fromkeys(LANES, settings.queue) | {"job": settings.job_queue}
        self._queues = {lane: FairQueue(rooms[lane], settings.caller_queue) for lane in LANES}
        self._seconds = {lane: MeanSeconds() for lane in LANES}
        self._usage = Usage()
        self._warm = WarmWorkers()
        self._running: dict[Task, Process] = {}
        self._processes: set[Process] = set()
        self._timed: set[Task] = set()
        self._turns = Turns()
        self._unborn = 0
        self._open = False
        metrics.all_warm.set_function(lambda: float(self._open and self._missing() <= 0))
        metrics.background.set_function(lambda: sum(task.background for task in self._running))
        for lane in LANES:
            metrics.queued.labels(lane).set_function(partial(self.queued, lane))
            metrics.running.labels(lane).set_function(partial(self.running_in, lane))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep workers until the end, when they are killed and every task that is left is ended."""
        self._loop = asyncio.get_running_loop()
        settings = self._settings
        self._forkserver = ForkServer(self._modules, settings.worker_memory_megabytes, NICER)
        async with anyio.create_task_group() as self._timers:
            self._forkserver.start(lambda process: self._loop.call_soon_threadsafe(self._born, process))
            self._open = True
            self._dispatch()
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await self._close()
                self._timers.cancel_scope.cancel()

    def submit(self, work: Computation | bytes, *, caller: str, lane: Lane = "question", small: bool = False) -> Task:
        """Let a computation wait for a place in a lane; one that is `small` is pickled at once, others in a thread.

        Raises:
            Problem: there is no room, or the service is stopping.
        """
        if not self._open:
            raise Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})
        queue = self._queues[lane]
        free = self.running_in(lane) < self._places[lane] and not queue
        if not free and queue.full_for(caller):
            displaced = queue.displaced_by(caller)
            if displaced is None:
                raise self._too_many(lane)
            self._end(displaced, TurnedAway(self._too_many(lane)))
        task = Task(work=work, caller=caller, lane=lane, small=small)
        queue.put(task)
        self._dispatch()
        if task.state == "queued" and lane == "question":
            self._loop.call_later(SHORT_TURN_SECONDS + SOON, self._dispatch)
        return task

    def abandon(self, task: Task) -> None:
        """Nobody waits for a task any more: it is dropped, or if it runs, it may end soon if nobody wants its place."""
        if task.state == "queued":
            self.stop(task, "abandoned")
        elif task.state == "running" and not task.abandoned:
            task.abandoned = True
            if task not in self._timed:
                self._timed.add(task)
                self._timers.start_soon(self._out_of_time, task)
            self._dispatch()

    def keep(self, task: Task) -> None:
        """Somebody waits for a task again."""
        task.abandoned = False

    def to_background(self, task: Task) -> bool:
        """Let a question go on past its deadline, at the priority of jobs and on nobody's place.

        One that runs keeps its place until there is room in the background, or another caller needs the place. One that
        still waits will wait with the jobs: False if there is no room for it there, and it stays where it is.
        """
        if task.lane == "job":
            return True
        if task.state == "queued":
            if self._queues["job"].full_for(task.caller):
                return False
            self._queues[task.lane].drop(task)
            task.lane = "job"
            self._queues["job"].put(task)
        elif task.state == "running":
            task.late = True
        self._dispatch()
        return True

    def stop(self, task: Task, cause: Cause = "cancelled") -> None:
        """End a task now, without an outcome; if it runs, its process is killed."""
        if task.state == "queued":
            self._queues[task.lane].drop(task)
            self._end(task, None)
        elif task.state == "running":
            self._cut_short(task, cause)
            self._dispatch()

    def queued(self, lane: Lane) -> int:
        """How many wait in a lane."""
        return len(self._queues[lane])

    def running_in(self, lane: Lane) -> int:
        """How many have a place in a lane."""
        return sum(task.lane == lane and not task.background for task in self._running)

    # Who runs next.

    def _dispatch(self) -> None:
        """Give free places to tasks that wait, and have missing workers made."""
        if not self._open:
            return
        for task in [task for task in self._running if task.late and not task.background]:
            self._step_back(task)
        for lane in LANES:
            self._make_way(lane)
            while self.running_in(lane) < self._places[lane] and self._queues[lane]:
                process = self._warm.take(lane)
                if process is None or not self._start(lane, process):
                    break
        for _ in range(self._missing() - self._unborn):
            self._unborn += 1
            self._forkserver.want()

    def _make_way(self, lane: Lane) -> None:
        """Free places for those that wait: kill abandoned tasks, then let questions leave that have had their turn."""
        if not self._queues[lane]:
            return
        self._end_idlers(lane)
        if lane != "question":
            return
        running = [task for task in self._running if task.lane == lane and not task.background]
        for task in sorted(running, key=lambda each: each.since):
            waiting, free = self._queues[lane].all(), self._places[lane] - self.running_in(lane)
            if len(waiting) <= free:
                break
            others_wait = sum(each.caller != task.caller for each in waiting) > free
            if time.monotonic() - task.since >= self._turns.seconds(task.caller, others_wait=others_wait):
                self._turns.linger(task.caller)
                if not self._step_back(task) and (others_wait or not self._queues["job"].full_for(task.caller)):
                    self._begin_anew(task)

    def _step_back(self, task: Task) -> bool:
        """Let a question go on in the background; False if there is no room for it and none can be made.

        Room is made by the caller who has most there, if that is more than this one would have.
        """
        share = Counter(each.caller for each in self._running if each.background)
        if share[task.caller] >= max(1, self._settings.job_processes // 2):
            return False
        if share.total() >= self._settings.job_processes:
            caller, most = max(share.items(), key=lambda each: each[1], default=("", 0))
            if most <= share[task.caller] + 1:
                return False
            theirs = [each for each in self._running if each.background and each.caller == caller]
            self._begin_anew(max(theirs, key=lambda each: each.since))
        task.background = True
        self._running[task].step_back()
        return True

    def _begin_anew(self, task: Task) -> None:
        """Kill a running question, which waits with the jobs from now on, or is turned away if there is no room."""
        self._take_worker(task, "displaced")
        self._account(task, task.become("queued"))
        task.lane, task.background, task.late = "job", False, False
        if task.abandoned:
            self._end(task, None)
        elif self._queues["job"].full_for(task.caller):
            self._end(task, TurnedAway(self._too_many("job")))
        else:
            self._queues["job"].put(task)

    def _end_idlers(self, lane: Lane) -> None:
        wanted = len(self._queues[lane]) - (self._places[lane] - self.running_in(lane))
        idlers = [task for task in self._running if task.lane == lane and task.abandoned and not task.background]
        for task in sorted(idlers, key=lambda each: each.since)[: max(wanted, 0)]:
            self._cut_short(task, "abandoned")

    def _start(self, lane: Lane, process: Process) -> bool:
        """Start the next task in a worker; False if those who wait have their share of the places."""
        running = Counter(task.caller for task in self._running if task.lane == lane and not task.background)
        most = partial(self._turns.most_places, lane, places=self._places[lane])
        task = self._queues[lane].next(lambda caller: running[caller], self._usage.lately, most)
        if task is None:
            self._warm.put(process)
            return False
        task.queued_seconds += task.become("running")
        self._running[task] = process
        process.start(task)
        if lane == "question":
            self._loop.call_later(TURN_SECONDS, self._dispatch)
        return True

    def _missing(self) -> int:
        """How many warm workers there should be more, those included that are being made."""
        free = sum(max(self._places[lane] - self.running_in(lane), 0) for lane in LANES) - len(self._warm.low)
        return max(free, 0) + self._settings.spare_workers - len(self._warm.usual)

    # What the forkserver and the workers tell.

    def _born(self, process: Process) -> None:
        """There is a new worker, ready to compute."""
        self._unborn -= 1
        self._processes.add(process)
        process.watch(self._answered, self._gone)
        if not self._open:
            process.kill()
            return
        self.ready = True
        self._warm.put(process)
        self._dispatch()

    def _answered(self, process: Process, outcome: Outcome, cpu_seconds: float) -> None:
        """A task has ended by itself."""
        task = process.task
        if process.killed or task is None:
            return
        process.task = None
        del self._running[task]
        if process.low:
            self._rest_low(process)
        else:
            self._warm.put(process)
        self._measure(task)
        self._account(task, cpu_seconds)
        self._end(task, outcome)
        self._dispatch()

    def _rest_low(self, process: Process) -> None:
        """Keep a worker at low priority for the next job, if there are not enough of them."""
        wanted = self._missing() > self._unborn
        if wanted and len(self._warm.low) < self._places["job"] - self.running_in("job"):
            self._warm.put(process)
        else:
            process.kill()

    def _gone(self, process: Process, began: bool) -> None:
        """A worker has died, killed by us or not."""
        self._processes.discard(process)
        if process.killed:
            return
        self._warm.discard(process)
        task, process.task = process.task, None  # what it may still be said to have answered is nobody's
        if task is not None:
            self._died_of(task, began)
        self._count("crashed")
        self._dispatch()

    def _died_of(self, task: Task, began: bool) -> None:
        """The worker of a task has died: it is tried once more, if anybody waits for it."""
        del self._running[task]
        self._account(task, task.become("queued"))
        task.deaths += began
        task.starts += 1
        if task.abandoned:
            self._end(task, None)
        elif task.has_failed:
            self._end(task, Failed(f"Its worker died, {task.deaths} times in all.", lost=True))
        else:
            task.lane = "job" if task.background or task.late else task.lane
            task.background, task.late = False, False
            self._queues[task.lane].put_back(task)

    # Ends.

    async def _out_of_time(self, task: Task) -> None:
        """An abandoned task may go on for so long; whoever comes back and leaves again does not prolong it."""
        with anyio.move_on_after(self._settings.abandoned_seconds):
            await task.done.wait()
        self._timed.discard(task)
        if task.abandoned and task.state == "running":
            self.stop(task, "abandoned")

    def _cut_short(self, task: Task, cause: Cause) -> None:
        """Kill the worker of a running task, whose place is free at once, and end the task without an outcome."""
        self._take_worker(task, cause)
        self._account(task, self._measure(task))
        self._end(task, None)

    def _take_worker(self, task: Task, cause: Cause) -> None:
        process = self._running.pop(task)
        process.task = None
        process.kill()
        self._count(cause)

    def _count(self, cause: Cause) -> None:
        self._metrics.worker_deaths.labels(cause).inc()
        self._log.warning("worker lost", cause=cause)

    def _measure(self, task: Task) -> float:
        """How long a task has run, which goes into the mean of its lane if it took a place so long."""
        seconds = task.become("ended")
        if not task.background:
            self._seconds[task.lane].add(seconds)
        return seconds

    def _account(self, task: Task, seconds: float) -> None:
        """So much of a caller's processor time went into a task."""
        task.cpu_seconds += seconds
        self._usage.add(task.caller, seconds)

    def _end(self, task: Task, outcome: Outcome | TurnedAway | None) -> None:
        """Tell whoever waits for a task, and charge its caller."""
        task.end(outcome)
        if self._charge is not None and task.cpu_seconds > 0.0:
            self._charge(task.caller, task.cpu_seconds)

    async def _close(self) -> None:
        """Take no task more, end those there are, and wait until no process is left."""
        self._open = self.ready = False
        for lane in LANES:
            for task in self._queues[lane].all():
                self.stop(task)
        for task in list(self._running):
            self.stop(task)
        for process in self._processes:
            process.kill()
        self._forkserver.stop()
        await to_thread.run_sync(self._forkserver.join)  # what it has made until now is known after that
        for process in list(self._processes):
            await process.gone.wait()

    def _too_many(self, lane: Lane) -> Problem:
        """When it is worth to come back: when what waits now will have been computed."""
        after = self._seconds[lane].retry_after(self.queued(lane) + 1, self._places[lane])
        return Problem("too-many-requests", "Too many computations are waiting.", headers={"Retry-After": str(after)})


POOL: ServicePart[Pool] = ServicePart("pool")

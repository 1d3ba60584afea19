"""The worker processes of the service. A task is one computation; a lane is a kind of task: read, question or job.

A lane has as many places as its tasks may run at one time, each in a worker process. A question that runs on in the
background, at a lower priority, has no place. A computation in C can only be stopped by killing its worker. So that no
task waits for a fork, there is a warm (idle) worker for every free place, and some to spare. All this is in one thread.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import anyio
import structlog

from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.app.workers.background import may_join_background, newest_of_largest_caller
from epsilond.app.workers.fairness import SHORT_TURN_SECONDS, TURN_SECONDS, FairQueue, MeanSeconds, Turns, Usage
from epsilond.app.workers.process import LANES, Cause, Lane, Process, Task, TurnedAway
from epsilond.app.workers.warm_workers import WarmWorkers
from epsilond.app.workers.work import Failed, Outcome

CLOCK_DIFFERENCE: Final = 0.05
"""Most seconds by which a timer of the event loop is early by the monotonic clock."""
MOST_DEATHS: Final[Mapping[Lane, int]] = {"read": 4, "question": 2, "job": 5}
"""Workers that may die of a task of each lane; the worker of a long task is more often killed for other reasons."""


class Pool(WarmWorkers):
    """The workers of one event loop, and the tasks that they run while the context manager `running` is entered."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        modules: tuple[str, ...],
        charge: Callable[[str, float], None] | None = None,
    ) -> None:
        """Set up empty queues, and let the metrics read the state of the pool. No worker is created yet.

        Args:
            settings: numbers of places and workers, and lengths of the queues.
            metrics: metrics that the pool updates.
            modules: names of the modules that every worker imports before its first task.
            charge: called with the caller and the CPU seconds of each task that ends; None if callers pay nothing.
        """
        super().__init__(modules, settings.worker_memory_megabytes)
        self._settings = settings
        self._metrics = metrics
        self._charge = charge
        self._log = structlog.get_logger()
        self._open = False

        # Places for running tasks, and queues with room for waiting ones, in each lane (kind of task).
        self._places: dict[Lane, int] = {
            "read": settings.readers,
            "question": settings.workers,
            "job": settings.job_workers,
        }
        rooms: dict[Lane, int] = dict.fromkeys(LANES, settings.queue) | {"job": settings.job_queue}
        self._queues = {lane: FairQueue(rooms[lane], settings.caller_queue) for lane in LANES}
        # Mean durations, and the use of the workers by each caller, by which turns are shared.
        self._seconds = {lane: MeanSeconds() for lane in LANES}
        self._usage = Usage()
        self._turns = Turns()
        self._running: dict[Task, Process] = {}
        # Metrics that read the state of the pool.
        metrics.all_warm.set_function(lambda: float(self._open and self._missing() <= 0))
        metrics.background.set_function(lambda: sum(task.background for task in self._running))
        for lane in LANES:
            metrics.queued.labels(lane).set_function(partial(self.queue_length, lane))
            metrics.running.labels(lane).set_function(partial(self.running_in, lane))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Create and replace workers within this context; at its end, kill them and stop all tasks."""
        self._loop = asyncio.get_running_loop()
        self._prepare_forkserver()
        async with anyio.create_task_group() as makers:
            makers.start_soon(self._make_workers)
            self._open = True
            try:
                yield
            finally:
                self._open = self.ready = False  # no task is accepted or started any more
                makers.cancel_scope.cancel()
                waiting = [task for lane in LANES for task in self._queues[lane].all()]
                for task in [*self._running, *waiting]:
                    self.stop(task)

    def submit(self, message: bytes, *, caller: str, lane: Lane = "question", expensive: bool = False) -> Task:
        """Queue a pickled computation, and start it at once if the limits allow it and a worker is idle.

        Args:
            message: the pickled computation.
            caller: identity of the caller.
            lane: kind of work: reading requests, answering questions, or jobs. Each has its own queue.
            expensive: whether the task is expected to take long. Its caller then gets shorter turns for a while.

        Returns:
            The task, which waits or runs; its event `done` is set at the end.

        Raises:
            Problem: the service stops; or the queue is full, and no task of a caller with several tasks is displaced.
        """
        if not self._open:
            raise Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})
        queue = self._queues[lane]
        can_start_at_once = self.running_in(lane) < self._places[lane] and not queue
        if not can_start_at_once and queue.is_full_for(caller):
            displaced = queue.make_room_for(caller)
            if displaced is None:
                raise self._too_many(lane)
            self._end(displaced, TurnedAway(self._too_many(lane)))
        if expensive:
            self._turns.linger(caller)
        task = Task(message=message, caller=caller, lane=lane)
        queue.put(task)
        self._dispatch()
        if task.state == "queued" and lane == "question":
            self._loop.call_later(SHORT_TURN_SECONDS + CLOCK_DIFFERENCE, self._dispatch)
        return task

    def abandon(self, task: Task) -> None:
        """Note that no client waits for a task any more.

        A queued task is stopped at once. A running one is stopped later, or as soon as another task needs its place.

        Args:
            task: the task, which may have ended.
        """
        if task.state == "queued":
            self.stop(task)
        elif task.state == "running" and not task.abandoned:
            task.abandoned = True
            self._loop.call_later(self._settings.abandoned_seconds, self._stop_abandoned, task)
            self._dispatch()

    def keep(self, task: Task) -> None:
        """Note that a client waits again for a task that was abandoned, so that the task is not stopped."""
        task.abandoned = False

    def to_background(self, task: Task) -> bool:
        """Let a question go on after the deadline of its request, at the priority of jobs.

        A queued question moves to the queue of the jobs. A running one continues in the background. If there is no room
        for it, it keeps its priority until another task needs its worker.

        Args:
            task: the question. Nothing happens if it is a job or in the background already.

        Returns:
            False if the queue of the jobs is full, so that a queued question stays in its own queue; otherwise True.
        """
        if task.lane == "job" or task.background:
            return True
        if task.state == "queued":
            if self._queues["job"].is_full_for(task.caller):
                return False
            self._queues[task.lane].drop(task)
            task.lane = "job"
            self._queues["job"].put(task)
        elif task.state == "running":
            self._move_to_background(task)
        self._dispatch()
        return True

    def stop(self, task: Task, cause: Cause = "cancelled") -> None:
        """End a task without an outcome, and kill its worker if it runs; do nothing if it has ended."""
        if task.state == "queued":
            self._queues[task.lane].drop(task)
            self._end(task, None)
        elif task.state == "running":
            self._cut_short(task, cause)
            self._dispatch()

    def queue_length(self, lane: Lane) -> int:
        """Return the number of tasks that wait in a lane."""
        return len(self._queues[lane])

    def running_in(self, lane: Lane) -> int:
        """Return the number of running tasks of a lane, without those in the background."""
        return len(self._tasks_on_places(lane))

    def _dispatch(self) -> None:
        """Start waiting tasks on idle workers, up to a limit for each kind of work; request missing workers."""
        if not self._open:
            return
        for lane in LANES:
            if not self._queues[lane]:
                continue
            self._free_places(lane)
            while self.running_in(lane) < self._places[lane] and self._queues[lane] and self._warm:
                if not self._start_next(lane):  # each waiting caller already has as many workers as it may
                    break
        if self._missing() > 0:
            self._too_few.set()  # wakes the task that makes workers

    def _free_places(self, lane: Lane) -> None:
        """Free workers for waiting tasks of one kind: stop tasks without a client, then move long computations away."""
        for task in sorted(self._tasks_on_places(lane), key=lambda task: (not task.abandoned, task.since)):
            waiting = self._queues[lane].all()
            free = self._places[lane] - self.running_in(lane)
            if len(waiting) <= free:  # every waiting task can start
                return
            if task.abandoned:  # no client waits for it any more
                self._cut_short(task, "abandoned")
            elif lane == "question":
                waiting_of_others = sum(waiting_task.caller != task.caller for waiting_task in waiting)
                self._end_turn(task, others_wait=waiting_of_others > free)

    def _end_turn(self, task: Task, *, others_wait: bool) -> None:
        """Take the worker from a question (a computation) that has run for longer than it is allowed.

        The question continues at low priority or, if there is no room for it, is queued as a job and starts again. It
        keeps its worker if no other caller waits and its caller may not queue another job.

        Args:
            task: a running question.
            others_wait: whether tasks of other callers wait for workers.
        """
        if time.monotonic() - task.since < self._turns.seconds(task.caller, others_wait=others_wait):
            return
        self._turns.linger(task.caller)  # sets strict limits for the caller
        if self._move_to_background(task):
            return
        if others_wait or not self._queues["job"].is_full_for(task.caller):
            self._begin_anew(task)

    def _tasks_on_places(self, lane: Lane) -> list[Task]:
        """Return the running tasks of a lane (kind of work) that occupy its places. Background tasks occupy none."""
        return [task for task in self._running if task.lane == lane and not task.background]

    def _move_to_background(self, task: Task) -> bool:
        """Let a running question continue in the background, at lower priority, if there is room for it.

        Args:
            task: a running question.

        Returns:
            True if it is in the background now. False if nothing was changed.
        """
        background = [running_task for running_task in self._running if running_task.background]
        most = self._settings.job_processes
        if not may_join_background(background, task.caller, most):
            return False
        if len(background) >= most:
            self._begin_anew(newest_of_largest_caller(background))  # which makes room, and is computed later as a job
        task.background = True
        self._running[task].lower_priority()
        return True

    def _begin_anew(self, task: Task) -> None:
        """Stop a running task, and queue it as a job that starts again; reject it if the caller's queue is full."""
        self._take_worker(task, "displaced")  # kills the worker, so that its work is lost
        self._account(task, task.become("queued"))  # the caller pays for the time so far
        task.lane, task.background = "job", False
        if task.abandoned:  # no client waits for it any more
            self._end(task, None)
        elif self._queues["job"].is_full_for(task.caller):
            self._end(task, TurnedAway(self._too_many("job")))
        else:
            self._queues["job"].put(task)

    def _start_next(self, lane: Lane) -> bool:
        """Start the next queued task of a kind of work on a warm worker.

        Args:
            lane: kind of work. A place and a worker must be free.

        Returns:
            True if a task was started. False if no waiting caller may have another worker.
        """
        running = Counter(task.caller for task in self._tasks_on_places(lane))
        most = partial(self._turns.most_places, lane, places=self._places[lane])
        task = self._queues[lane].next(lambda caller: running[caller], self._usage.recent_seconds, most)
        if task is None:
            return False
        task.queued_seconds += task.become("running")
        process = self._warm.pop()
        self._running[task] = process
        if lane == "job":
            process.lower_priority()
        process.start(task)
        if lane == "question":
            # At the end of its turn, other tasks may get its place. Timers may be early by `CLOCK_DIFFERENCE`.
            for seconds in {TURN_SECONDS, self._turns.seconds(task.caller, others_wait=True)}:
                self._loop.call_later(seconds + CLOCK_DIFFERENCE, self._dispatch)
        return True

    def _missing(self) -> int:
        """Return the number of idle workers that are to be made: one for each free place, and the spare ones."""
        free = sum(max(self._places[lane] - self.running_in(lane), 0) for lane in LANES)
        return free + self._settings.spare_workers - len(self._warm)

    def _handle_death(self, process: Process) -> None:
        """Remove a dead worker from the pool. Unless the pool itself killed it, queue its task again."""
        self._processes.discard(process)
        if process.killed:  # its task was handled before it was killed
            return
        self._drop_warm(process)
        if process.task is not None:
            self._retry(process.task)
        self._count("crashed")
        self._dispatch()

    def _handle_outcome(self, process: Process, outcome: Outcome, cpu_seconds: float) -> None:
        """End the task of a worker with its outcome, and reuse the worker.

        A worker with lowered priority is killed instead, because a process cannot raise its priority again.

        Args:
            process: the worker.
            outcome: answer or error.
            cpu_seconds: processor time of the task, in seconds.
        """
        task = process.task
        if process.killed or task is None:  # the task was stopped before its outcome came
            return
        process.task = None
        del self._running[task]
        if process.low:
            process.kill()
        else:
            self._warm.append(process)
        self._measure(task)
        self._account(task, cpu_seconds)
        self._end(task, outcome)
        self._dispatch()

    def _retry(self, task: Task) -> None:
        """Queue a task again after its worker has died; end it if it is abandoned or lost too many workers."""
        del self._running[task]
        self._account(task, task.become("queued"))  # the caller pays for the time so far
        task.deaths += 1
        if task.abandoned:  # no client waits for it any more
            self._end(task, None)
        elif task.deaths >= MOST_DEATHS[task.lane]:
            self._end(task, Failed(f"Its worker died, {task.deaths} times in all.", lost=True))
        else:
            if task.background:  # it has exceeded its turn as a question
                task.lane, task.background = "job", False
            self._queues[task.lane].put_back(task)

    def _stop_abandoned(self, task: Task) -> None:
        """Stop a task that has been abandoned long enough."""
        if task.abandoned and task.state == "running":
            self.stop(task, "abandoned")

    def _cut_short(self, task: Task, cause: Cause) -> None:
        """Kill the worker of a running task, and end the task without an outcome."""
        self._take_worker(task, cause)
        self._account(task, self._measure(task))
        self._end(task, None)

    def _take_worker(self, task: Task, cause: Cause) -> None:
        """Kill the worker of a running task, which then has no worker."""
        process = self._running.pop(task)
        process.task = None
        process.kill()
        self._count(cause)

    def _count(self, cause: Cause) -> None:
        """Count the death of a worker."""
        self._metrics.worker_deaths.labels(cause).inc()
        self._log.warning("worker lost", cause=cause)

    def _measure(self, task: Task) -> float:
        """Mark a task as ended, and return its run time [s], which counts in its lane's mean unless in background."""
        seconds = task.become("ended")
        if not task.background:
            self._seconds[task.lane].add(seconds)
        return seconds

    def _account(self, task: Task, seconds: float) -> None:
        """Count seconds of a task as used by its caller: CPU seconds, or the run time of a task that was stopped."""
        task.cpu_seconds += seconds
        self._usage.add(task.caller, seconds)

    def _end(self, task: Task, outcome: Outcome | TurnedAway | None) -> None:
        """End a task, and charge its caller."""
        task.end(outcome)
        if self._charge is not None and task.cpu_seconds > 0.0:
            self._charge(task.caller, task.cpu_seconds)

    def _too_many(self, lane: Lane) -> Problem:
        """Return the rejection by a full lane, with the estimated seconds until the waiting tasks are computed."""
        after = self._seconds[lane].retry_after(self.queue_length(lane) + 1, self._places[lane])
        return Problem("too-many-requests", "Too many computations are waiting.", headers={"Retry-After": str(after)})


POOL: ServicePart[Pool] = ServicePart("pool")

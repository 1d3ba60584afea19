"""Jobs that run in this service, their progress, and events for their watchers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import anyio

from epsilond.app.jobs.job import Job, Progress
from epsilond.app.questions.compute import SharedComputation
from epsilond.app.questions.simulations import SimulationAsked
from epsilond.app.store.record import AttemptProgress, Record

Ending = Literal["cancelled", "interrupted", "released"]
"""Fate of a job that is stopped: `released` goes back to the queue, for the next start or another replica."""


@dataclass(eq=False, kw_only=True)
class Running:
    """A job that runs in this service, and the state of its work.

    Subclasses report finished steps and the remaining time.

    Attributes:
        record: the job in the store.
        on_place: True if the job takes one of the service's limited places for jobs. It is False for a question that
            was started by a request and became a job later; it runs in the background.
        began: start of the work [s], on the monotonic clock.
        ending: the fate of a stopped job; None if it is not stopped. The first value counts.
        scope: scope of the work; cancelling it stops the work.
        done: event that is set at the end of the job.
        changed: event that is set at the next change, and then replaced.
    """

    record: Record
    on_place: bool = True
    began: float = field(default_factory=time.monotonic)
    ending: Ending | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def steps_done(self) -> int:
        """The number of finished steps; 0 unless a subclass counts them."""
        return 0

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds of remaining work; None without an estimate."""
        return None

    @property
    def job(self) -> Job:
        """The job at present."""
        spent = round(time.monotonic() - self.began, 3)
        left = None if self.seconds_left is None else round(self.seconds_left, 3)
        progress = Progress(done=self.steps_done, of=self.record.steps, seconds_spent=spent, seconds_left=left)
        return Job(record=self.record, progress=progress)

    @property
    def report(self) -> AttemptProgress:
        """The progress for the store, from which other replicas read it."""
        left = self.seconds_left
        return AttemptProgress(
            attempt=self.record.attempt, done=self.steps_done, of=self.record.steps, seconds_left=left
        )

    def as_of(self, record: Record) -> Job:
        """Return the job with its present progress here, and with a record that was just read from the store.

        Args:
            record: the same job in the store.
        """
        return replace(self.job, record=record)

    def tell(self) -> None:
        """Wake all watchers. They read the state; a slow watcher therefore misses steps, and no queue grows."""
        self.changed.set()
        self.changed = anyio.Event()

    def stop(self, ending: Ending) -> None:
        """Stop the job. It ends in the given way, unless another way was set before.

        Args:
            ending: the fate of the job.
        """
        self.ending = self.ending or ending
        self.scope.cancel()


@dataclass(eq=False, kw_only=True)
class RunningQuestion(Running):
    """A job that answers a question: a request for a computation that took too long to answer at once.

    The question may also come from the store, where another process of the service (replica) has left it.

    Attributes:
        shared: computation of the question; None until its body was read.
    """

    shared: SharedComputation | None = None

    @property
    def steps_done(self) -> int:
        """The number of finished parts."""
        return min(self.shared.parts_done, self.record.steps) if self.shared is not None else 0

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds of remaining work; None without an estimate.

        The estimate for the whole computation ("question") is reduced in proportion to the finished parts, or by the
        elapsed time if there are no parts. After a longer time than the estimate, the remaining parts are expected to
        take the mean time of the finished ones. Without finished parts there is then no estimate.
        """
        estimate, steps, done = self.record.seconds, self.record.steps, self.steps_done
        if estimate is None:
            return None
        # Within the estimate, reduce it by the finished parts or by the elapsed time.
        elapsed = time.monotonic() - self.began
        if elapsed <= estimate and steps > 1:
            return estimate * (1.0 - done / steps)
        if elapsed <= estimate:
            return estimate - elapsed
        # Beyond the estimate, use the mean time of the finished parts.
        if not done:
            return None
        seconds_per_step = elapsed / done
        return seconds_per_step * (steps - done)


@dataclass(eq=False, kw_only=True)
class RunningSimulation(Running):
    """A simulation that runs as a job, with the times of its blocks, which are groups of repetitions.

    From these times, the remaining time of the job is estimated. `steps_done` and `blocks` are the progress for
    clients.

    Attributes:
        simulation: the simulation; None until its body was read.
        concurrency: number of blocks that run at one time.
        blocks_done: number of finished blocks.
        seconds_measured: total duration of the finished blocks.
        begun: start of each running block by its number, on the monotonic clock.
        bytes_held: total size of the results of the finished blocks.
    """

    simulation: SimulationAsked | None = None
    concurrency: int = 1
    blocks_done: int = 0
    seconds_measured: float = 0.0
    begun: dict[int, float] = field(default_factory=dict)
    bytes_held: int = 0

    @property
    def steps_done(self) -> int:
        """The number of finished blocks."""
        return self.blocks_done

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.simulation.plan.blocks if self.simulation is not None else self.record.steps

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds of remaining work; None without an estimate.

        Each block is expected to take the mean time of the finished blocks, or the planned time before the first has
        finished. A running block that exceeds this time is expected to end now. None if all unfinished ones exceed it.
        """
        if self.simulation is None:
            return self.record.seconds
        plan = self.simulation.plan
        if self.blocks_done:
            seconds_per_block = self.seconds_measured / self.blocks_done
        else:
            seconds_per_block = plan.seconds / max(1, plan.blocks)
        # Time of the unfinished blocks, less the time that the running ones have used. It is shared by parallel blocks.
        now = time.monotonic()
        seconds_of_running = sum(min(seconds_per_block, now - began) for began in self.begun.values())
        seconds_of_unfinished = seconds_per_block * (plan.blocks - self.blocks_done)
        seconds = max(0.0, seconds_of_unfinished - seconds_of_running) / self.concurrency
        return seconds if seconds > 0.0 or self.blocks_done == plan.blocks else None

    def begin_block(self, index: int) -> None:
        """Note the start of a block."""
        self.begun[index] = time.monotonic()

    def end_block(self, index: int, block: bytes) -> float:
        """Count a finished block (group of repetitions), and return its duration in seconds.

        Args:
            index: number of the block, which must have begun.
            block: the pickled result of the block, of which only the size is noted.

        Returns:
            The duration in seconds.
        """
        seconds = time.monotonic() - self.begun.pop(index)
        self.blocks_done += 1
        self.bytes_held += len(block)
        self.seconds_measured += seconds
        # Clients that watch the job get the new progress.
        self.tell()
        return seconds


def seconds_until_place(jobs: Iterable[Running]) -> float:
    """Estimate the seconds until the first of some running jobs ends, so that another job can begin.

    Args:
        jobs: the running jobs.

    Returns:
        The smallest estimate, at least 1 s and at most 1 h; 10 s if no job has an estimate.
    """
    estimates = [job.seconds_left for job in jobs if job.seconds_left is not None]
    # Without an estimate, clients shall try again after ten seconds.
    shortest = min(estimates, default=10.0)
    return min(max(shortest, 1.0), 3600.0)

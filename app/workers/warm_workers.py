"""The worker processes of the service that wait for a task, and the making of more of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import anyio

from epsilond.app.workers.forkserver import ForkedServer, ForkServer
from epsilond.app.workers.process import Process
from epsilond.app.workers.work import Outcome


class WarmWorkers(ABC):
    """The worker processes of one event loop, of which some are warm, that is, idle and ready for a task.

    Subclasses say how many warm workers are missing, and handle the outcomes and deaths of workers.

    Args:
        modules: names of the modules that every worker imports before its first task.
        memory_megabytes: limit of the address space of a worker.

    Attributes:
        ready: True from the first worker until the service stops.
        forked: a fork server that was forked from the service with the same modules, to be used before any other.
    """

    _forkserver: ForkServer

    def __init__(self, modules: tuple[str, ...], memory_megabytes: int) -> None:
        self.ready = False
        self.forked: ForkedServer | None = None
        self._modules: Final = modules
        self._memory_megabytes: Final = memory_megabytes
        self._warm: list[Process] = []
        self._processes: set[Process] = set()
        self._too_few = anyio.Event()  # set when there are too few warm workers, and then replaced

    @abstractmethod
    def _missing(self) -> int:
        """Return the number of warm workers that are to be made."""

    @abstractmethod
    def _dispatch(self) -> None:
        """Start waiting tasks on warm workers."""

    @abstractmethod
    def _handle_outcome(self, process: Process, outcome: Outcome, cpu_seconds: float) -> None:
        """Take the outcome of a worker's task.

        Args:
            process: the worker.
            outcome: answer or error.
            cpu_seconds: processor time of the task, in seconds.
        """

    @abstractmethod
    def _handle_death(self, process: Process) -> None:
        """Handle the death of a worker.

        Args:
            process: the worker.
        """

    def _prepare_forkserver(self) -> None:
        """Prepare the process from which workers are forked, without starting it."""
        self._forkserver = ForkServer(self._modules, self._memory_megabytes, self.forked)
        self.forked = None

    async def _make_workers(self) -> None:
        """Make a worker whenever there are too few warm ones, until cancelled.

        All workers are then killed, and the fork server is closed.
        """
        try:
            while True:
                while self._missing() > 0:
                    process = await self._forkserver.fork()
                    process.on_outcome = self._handle_outcome
                    process.on_death = self._handle_death
                    self._processes.add(process)
                    self._warm.append(process)
                    self.ready = True
                    self._dispatch()
                self._too_few = anyio.Event()
                await self._too_few.wait()
        finally:
            for process in list(self._processes):  # also a worker that was ready just when this task was cancelled
                process.kill()
            with anyio.CancelScope(shield=True):
                await self._forkserver.close()

    def _drop_warm(self, process: Process) -> None:
        """Remove a dead worker from the warm workers, that is, from those that wait for a task.

        If the fork server has died, all warm workers are killed and removed, because they are dying with it.

        Args:
            process: the dead worker, which may have had a task.
        """
        if process in self._warm:
            self._warm.remove(process)
        if not self._forkserver.is_alive():
            for warm in self._warm:
                warm.kill()
            self._warm.clear()

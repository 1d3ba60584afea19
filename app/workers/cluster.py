"""Steps of jobs on a Dask cluster. A step that the cluster cannot run is run by a worker of the service instead.

The event loop only waits: connecting, pickling and sending happen in threads.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import structlog
from anyio import to_thread

from epsilond.app.metrics import Metrics
from epsilond.app.workers.work import Computation, Outcome, message_of, run_on_cluster
from epsilond.executors import CONNECT_SECONDS, RETRIES, ClusterError, connect, result_of
from epsilond.extras import extra

if TYPE_CHECKING:
    from distributed import Client

TRIES = 2
"""Attempts on the cluster before a step is run here."""
AWAY_SECONDS = 30.0
"""Seconds between attempts to reach a cluster."""
LOOK_SECONDS = 5.0
"""Seconds between checks that the cluster still has workers, while a step runs."""


class Cluster:
    """The Dask cluster at an address, to be used within the context manager `running`."""

    def __init__(
        self,
        address: str,
        metrics: Metrics,
        locally: Callable[[Computation, str], Awaitable[Outcome]],
        *,
        away_seconds: float = AWAY_SECONDS,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Prepare the use of a Dask cluster, without connecting to it.

        Args:
            address: address of the Dask scheduler.
            metrics: metrics of the service, which count the computations by where they ran.
            locally: function that runs a computation of a caller in this service, after failures of the cluster.
            away_seconds: least time [s] from the start of a failed attempt to connect to the next attempt.
            look_seconds: time [s] between checks that the cluster still has workers, while a computation runs.

        Raises:
            MissingExtra: the packages of Dask are not installed.
        """
        with extra("dask", "a Dask cluster"):
            import distributed  # noqa: F401, PLC0415  a missing package is reported before anything is started
        self._address = address
        self._metrics = metrics
        self._locally = locally
        self._away_seconds = away_seconds
        self._look_seconds = look_seconds
        self._log = structlog.get_logger()
        self._client: Client | None = None
        self._not_before = 0.0
        self._connecting = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connect to the cluster within this context, and disconnect at its end.

        If the cluster cannot be reached, the context is entered nevertheless. The next step tries to connect again, at
        most once every `away_seconds`.

        Yields:
            None, once, after the first attempt to connect.
        """
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # this class logs its failures itself
        try:
            with suppress(ClusterError):
                await self._connect()
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._close)

    async def places(self) -> int:
        """Return the number of computations that the cluster runs at one time; 0 if it cannot be reached."""
        try:
            client = await self._connect()
            return sum((await to_thread.run_sync(client.nthreads)).values())
        except (ClusterError, OSError):
            return 0

    async def run(self, computation: Computation, caller: str) -> Outcome:
        """Return the outcome of a caller's computation, on the cluster or, after `TRIES` failures, in this service.

        If this call is cancelled, the outcome is dropped; a worker that has begun the computation ends it.

        Args:
            computation: function without arguments, which must pickle.
            caller: identity of the caller, who is charged for a computation in this service.

        Returns:
            The answer of the computation, or its error in a form that can be sent between processes.

        Raises:
            Exception: the computation cannot be pickled, or the error of the computation in this service.
        """
        work = await to_thread.run_sync(message_of, computation)
        for _ in range(TRIES):
            try:
                outcome = await self._run_on_cluster(work)
            except Exception as failure:  # noqa: BLE001 (the cluster's: what the work raises is an outcome)
                self._log.warning("cluster failed", reason=str(failure) or type(failure).__name__)
            else:
                self._metrics.cluster_steps.labels("cluster").inc()
                return outcome
        self._metrics.cluster_steps.labels("here").inc()
        return await self._locally(computation, caller)

    async def _run_on_cluster(self, work: bytes) -> Outcome:
        """Return the outcome of a pickled computation that a worker of the cluster runs.

        Args:
            work: the pickled computation. It is taken back from the cluster if the wait for it is cancelled.

        Returns:
            The outcome: the answer, or the error that the computation raised.

        Raises:
            ClusterError: the cluster cannot be reached, has no workers left or lost the work. Other errors of its
                client pass through.
        """
        client = await self._connect()
        # Dask would share the result of a pure function between equal calls.
        executor = client.get_executor(pure=False, retries=RETRIES)
        future = await to_thread.run_sync(executor.submit, run_on_cluster, work)
        try:
            await self._wait_for_end(future, client)
            outcome: Outcome = await to_thread.run_sync(pickle.loads, result_of(future))
            return outcome
        finally:
            future.cancel()

    async def _wait_for_end(self, future: Future[bytes], client: Client) -> None:
        """Wait until a computation ends, as long as the cluster has workers that may run it.

        Args:
            future: the computation.
            client: connection to the cluster.

        Raises:
            ClusterError: the cluster has no workers.
        """
        loop = asyncio.get_running_loop()
        ended = anyio.Event()
        # The callback runs in a thread of the client, which must not touch the event loop itself.
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        while not ended.is_set():
            with anyio.move_on_after(self._look_seconds):
                await ended.wait()
            if not ended.is_set() and not await to_thread.run_sync(client.nthreads):
                raise ClusterError("the cluster has no workers left")

    async def _connect(self) -> Client:
        """Return the connection to the cluster, after connecting if there is none.

        After a failure, no attempt is made for some seconds, so that computations do not wait for it each time.

        Returns:
            The client of Dask, which is connected.

        Raises:
            ClusterError: the cluster cannot be reached, or an attempt within the last `away_seconds` failed.
        """
        async with self._connecting:
            if self._client is not None and self._client.status == "running":
                return self._client
            if time.monotonic() < self._not_before:
                raise ClusterError("the cluster is away")
            # Until the attempt succeeds, other attempts in this period fail at once.
            self._not_before = time.monotonic() + self._away_seconds
            await to_thread.run_sync(self._close)
            try:
                self._client = await to_thread.run_sync(connect, self._address)
            except ClusterError as error:
                self._log.warning("cluster away", reason=str(error))
                raise
            self._log.info("cluster connected", address=self._address)
            self._not_before = 0.0
            return self._client

    def _close(self) -> None:
        """Disconnect from the cluster, if there is a connection."""
        client = self._client
        self._client = None
        if client is not None:
            with suppress(OSError):  # the scheduler may be gone
                client.close(timeout=CONNECT_SECONDS)

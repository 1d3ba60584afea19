"""Work in parts on any `concurrent.futures.Executor`: threads, processes or a cluster. No number depends on it.

An executor gets the name of a function of this package and plain data. Its workers have the same version of the engine.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from epsilond.accountants import ENGINE_VERSION
from epsilond.extras import extra
from epsilond.progress import Progress, in_silence

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
CONNECT_SECONDS = 10.0  # longest time [s] until the first answer of a scheduler
RETRIES = 1  # further tries of a part that failed on a cluster, where a worker may have been short of memory
BATCH_SECONDS = 0.1  # least CPU time [s] of a batch; a message costs Dask about 5 ms of CPU, which is 5 % of it
LONGEST_SECONDS = 0.5  # CPU time [s] after which a worker begins no further part of its batch
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # options of the C function `mallopt`, as <malloc.h> defines them
# Size [bytes] from which the C library gives an array its own memory mapping: the largest that glibc chooses itself.
MAPPED_BYTES = 32 * 1_048_576
OTHER_VERSION = "runs epsilond {theirs}, and this is epsilond {ours}: the numbers of two versions are not mixed"


class ClusterError(RuntimeError):
    """A cluster cannot be used: it does not answer, was lost, or has another version. The message has the reason."""


def run_in_order(
    executor: Executor | None,
    work: Callable[..., T],
    parts: Sequence[tuple[object, ...]],
    progress: Progress = in_silence,
) -> list[T]:
    """Call `work(*part)` for each part, and return the results in the order of the parts.

    Without an executor, the calls are made here, one by one. An executor gets them in batches. The first batches are
    large and the last ones small, so that all workers end at about the same time. The results do not depend on the
    batches.

    Args:
        executor: executor that runs the batches, each on one thread; None for this thread.
        work: function of a module. Its arguments and its results can be pickled.
        parts: positional arguments of each call.
        progress: function that is called with the number of finished calls, and the number of all calls.

    Returns:
        The result of each call, in the order of `parts`.

    Raises:
        ClusterError: the executor lost the work, or its workers have another version of the engine.
        Exception: the first error of `work`. Batches that have not begun are then cancelled.
    """
    progress(0, len(parts))
    if executor is None:
        results: list[T] = _call_on_one_thread(_run_each, (work, parts, progress))
        return results
    batches = _Batches(executor, work, parts, progress)
    try:
        while batches.waiting or batches.running:
            batches.submit()
            batches.collect()
    finally:
        for future in batches.running:
            future.cancel()  # after an error; in other cases none is left
    return [batches.answers[index] for index in range(len(parts))]


class _Batches(Generic[T]):
    """The state of many calls of one function that an executor runs in batches.

    Args:
        executor: executor that runs the batches.
        work: the function.
        parts: positional arguments of each call.
        progress: function that is called with the number of finished calls, and the number of all calls.

    Attributes:
        waiting: indices of the calls that are not submitted.
        running: for each submitted batch, the indices of its calls.
        answers: results of finished calls, by the index of the call.
    """

    def __init__(
        self, executor: Executor, work: Callable[..., T], parts: Sequence[tuple[object, ...]], progress: Progress
    ) -> None:
        """Prepare one call for each entry of `parts`, without submitting any."""
        self.waiting = deque(range(len(parts)))
        self.running: dict[Future[BatchResults[T]], list[int]] = {}
        self.answers: dict[int, T] = {}
        self._executor = executor
        self._work = work
        self._parts = parts
        self._progress = progress
        self._seconds = 0.0  # CPU time of all results so far

    def submit(self) -> None:
        """Submit as many batches as the executor runs at one time, or twice as many once the time of a call is known.

        The second batch of a worker is sent while its first one runs.
        """
        concurrent_batches = count_concurrent_batches(self._executor)
        most_running = 2 * concurrent_batches if self.answers else concurrent_batches
        while self.waiting and len(self.running) < most_running:
            size = self._batch_size(concurrent_batches)
            indices = [self.waiting.popleft() for _ in range(size)]
            batch = [self._parts[index] for index in indices]
            future = self._executor.submit(run_batch, ENGINE_VERSION, self._work, batch)
            self.running[future] = indices

    def _batch_size(self, concurrent_batches: int) -> int:
        """Return the number of calls of the next batch: half of an equal share, or more if the calls are fast.

        A batch should take at least `BATCH_SECONDS`, because each one has a cost.

        Args:
            concurrent_batches: number of batches that the executor runs at one time.

        Returns:
            The number of calls, at least 1 if calls wait, and at most the number of waiting calls.
        """
        half_share = len(self.waiting) / (2 * concurrent_batches)
        # The number of calls that take `BATCH_SECONDS` at their mean CPU time so far, or all so far if they took less.
        least = BATCH_SECONDS * len(self.answers) / max(self._seconds, BATCH_SECONDS)
        return min(ceil(max(half_share, least)), len(self.waiting))

    def collect(self) -> None:
        """Wait until at least one batch ends, and store its results.

        A worker may stop before the end of its batch. The calls that it did not begin are then the next to be submitted
        again.

        Raises:
            ClusterError: the executor lost the work, or its workers have another version of the engine.
            Exception: the error of a call.
        """
        for future in wait(self.running, return_when=FIRST_COMPLETED).done:
            indices = self.running.pop(future)
            batch = result_of(future)
            self._seconds += batch.seconds
            not_begun = indices[len(batch.answers) :]
            self.waiting.extendleft(reversed(not_begun))
            for index, answer in zip(indices, batch.answers, strict=False):
                self.answers[index] = answer
                self._progress(len(self.answers), len(self._parts))


def _run_each(work: Callable[..., T], parts: Sequence[tuple[object, ...]], progress: Progress) -> list[T]:
    """Call a function for each part, one after another, and return the results in the order of the parts.

    Args:
        work: the function.
        parts: positional arguments of each call.
        progress: function that is called after each call with the number of finished calls, and the number of all.
    """
    results = []
    for done, part in enumerate(parts, start=1):
        results.append(work(*part))
        progress(done, len(parts))
    return results


def count_concurrent_batches(executor: Executor) -> int:
    """Return the number of batches that an executor can run at one time.

    Args:
        executor: a Dask executor, or a pool of threads or processes.

    Returns:
        The number of threads of the Dask cluster, or of workers of the pool. If it is not known, the number of cores.
    """
    client = getattr(executor, "_client", None)
    if client is not None:
        return max(1, sum(map(int, client.nthreads().values())))
    return int(getattr(executor, "_max_workers", os.cpu_count()) or 1)


@dataclass(frozen=True)
class BatchResults(Generic[T]):
    """Results of the first calls of a batch. A worker may leave out the last ones.

    Attributes:
        answers: results of the calls, in order.
        seconds: CPU time of these calls, in seconds.
    """

    answers: Sequence[T]
    seconds: float


def run_batch(version: str, work: Callable[..., T], parts: Sequence[tuple[object, ...]]) -> BatchResults[T]:
    """Call a function for each part of a batch, in a worker, until the calls have taken `LONGEST_SECONDS` of CPU time.

    Args:
        version: version of the caller's engine.
        work: the function.
        parts: positional arguments of each call; at least one.

    Returns:
        The results of the calls that were made, and their CPU time. The caller submits the remaining parts again.

    Raises:
        ClusterError: this worker runs another version of the engine.
        Exception: the error of `work`.
    """
    if version != ENGINE_VERSION:
        raise ClusterError("a worker " + OTHER_VERSION.format(theirs=ENGINE_VERSION, ours=version))
    reuse_freed_memory()
    return _call_on_one_thread(_run_for_seconds, (work, parts))


def _run_for_seconds(work: Callable[..., T], parts: Sequence[tuple[object, ...]]) -> BatchResults[T]:
    """Call a function for the first part, and for further parts until the calls have taken `LONGEST_SECONDS`.

    Args:
        work: the function.
        parts: positional arguments of each call; at least one.

    Returns:
        The results of the calls that were made, and their CPU time.
    """
    start = time.thread_time()
    answers = []
    for part in parts:
        answers.append(work(*part))
        if time.thread_time() - start > LONGEST_SECONDS:
            break
    return BatchResults(answers, time.thread_time() - start)


@cache
def reuse_freed_memory() -> None:
    """Let the C library reuse freed memory in a worker process of Dask.

    Dask starts workers with `MALLOC_TRIM_THRESHOLD_=65536`. The C library then returns each array above 128 KiB to the
    system when it is freed, which nearly doubles the CPU time of simulations. Nothing is done if the variable has
    another value, or on systems other than Linux.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != "65536" or not sys.platform.startswith("linux"):
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_MMAP_THRESHOLD, MAPPED_BYTES)
        set_option(M_TRIM_THRESHOLD, 2 * MAPPED_BYTES)


def _call_on_one_thread(work: Callable[..., T], part: tuple[object, ...]) -> T:
    """Call `work(*part)` with one thread for linear algebra, and return its result.

    The last digit of a sum depends on the number of threads. Without the package that limits it, it is left as it is.

    Args:
        work: the function.
        part: its positional arguments.
    """
    try:
        from epsilond.witness.one_thread import one_thread  # noqa: PLC0415  it needs an optional package
    except ModuleNotFoundError:
        return work(*part)
    with one_thread():
        return work(*part)


def result_of(future: Future[T]) -> T:
    """Wait for a batch that an executor runs, and return its result.

    Args:
        future: future of a batch that an executor runs.

    Raises:
        ClusterError: the executor lost the batch.
        Exception: the error of a call in the batch.
    """
    try:
        return future.result()
    except CancelledError:
        raise ClusterError("the executor gave up work that it had taken: its scheduler may have ended") from None
    except Exception as error:
        # The class is compared by name, because without a cluster it is not installed.
        package = type(error).__module__.partition(".")[0]
        if package == "distributed" and type(error).__name__ == "KilledWorker":
            raise ClusterError("workers of the cluster died again and again at the same part of the work") from error
        raise


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Yield an executor that runs calls on a Dask cluster, and close the connection at the end.

    Everyone who reaches the scheduler can run code on its workers, and their results are unpickled here. So use a
    cluster of your own, on a network of your own.

    Args:
        address: address of the scheduler, such as `tcp://10.0.0.1:8786`.

    Raises:
        MissingExtra: distributed is not installed.
        ClusterError: no scheduler answers, it has no worker, or a worker has another version of the engine.
    """
    client = connect(address)
    try:
        yield client.get_executor(pure=False, retries=RETRIES)
    finally:
        client.close(timeout=CONNECT_SECONDS)


def connect(address: str) -> Client:
    """Connect to a Dask cluster, and check that its workers have the same version of the engine.

    Args:
        address: address of the scheduler, such as `tcp://10.0.0.1:8786`.

    Returns:
        The client, which the caller closes.

    Raises:
        MissingExtra: distributed is not installed.
        ClusterError: no scheduler answers, it has no worker, or a worker has another version of the engine.
    """
    with extra("dask", "a Dask cluster"):
        from distributed import Client  # noqa: PLC0415  only clusters need it
    host, port = place_of(address)
    try:
        # This fails at once if nothing listens there, while a client would try until its timeout.
        socket.create_connection((host, port), CONNECT_SECONDS).close()
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        reason = error.strerror or "the program that answers there is not a Dask scheduler"
        raise ClusterError(f"no Dask scheduler answers at {address}: {reason}") from None
    try:
        _require_engine(client, address)
    except BaseException:
        client.close(timeout=CONNECT_SECONDS)
        raise
    return client


def place_of(address: str) -> tuple[str, int]:
    """Split the address of a Dask scheduler into host and port.

    Args:
        address: such as `tcp://10.0.0.1:8786`.

    Returns:
        The host and the port.

    Raises:
        ClusterError: the address has no scheme tcp or tls, no host or no port.
    """
    url = urlsplit(address)
    with suppress(ValueError):  # the port is not a number, or out of range
        if url.scheme in ("tcp", "tls") and url.hostname and url.port:
            return url.hostname, url.port
    raise ClusterError("the address of a scheduler is written as tcp://10.0.0.1:8786 or tls://10.0.0.1:8786")


def engine_version() -> str:
    """Return the version of the engine. The workers of a cluster run this function to report theirs."""
    return ENGINE_VERSION


def _require_engine(client: Client, address: str) -> None:
    """Check that all workers of a Dask cluster have this version of the engine.

    Args:
        client: client of the cluster.
        address: address of its scheduler, for messages.

    Raises:
        ClusterError: there are no workers, or a worker has another version.
    """
    try:
        versions = client.run(engine_version, on_error="return")
    except (OSError, ImportError, AttributeError) as error:
        raise ClusterError(f"the workers of {address} did not report their version of epsilond: {error}") from None
    if not versions:
        raise ClusterError(f"the scheduler at {address} has no workers")
    for worker, version in sorted(versions.items()):
        if isinstance(version, BaseException):
            raise ClusterError(f"the worker {worker} of {address} has no epsilond: {version}")
        if version != ENGINE_VERSION:
            raise ClusterError(f"the worker {worker} " + OTHER_VERSION.format(theirs=version, ours=ENGINE_VERSION))

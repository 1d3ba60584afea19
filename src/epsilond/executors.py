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

    Without an executor, the parts run here, one by one. An executor gets them in batches. A batch has half of an equal
    share of the remaining parts. It has more parts if it would otherwise take less than `BATCH_SECONDS`, by the mean
    CPU time so far. The results do not depend on the batches.

    Args:
        executor: runs the batches, each on one thread.
        work: function of a module. Its arguments and its results pickle.
        parts: arguments of each call.
        progress: called with the number of parts that are done, and the number of parts.

    Returns:
        The result of each call, in the order of `parts`.

    Raises:
        ClusterError: the executor lost the work, or runs another version of the engine.
        Exception: the first error of `work`. Batches that have not begun are then cancelled.
    """
    progress(0, len(parts))
    if executor is None:
        results: list[T] = _on_one_thread(_run_each, (work, parts, progress))
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
    """Many calls of one function, in the course of being run in batches by an executor.

    A part is one call. A place is a thread or process of the executor, which runs one batch at a time.

    Args:
        executor: runs the batches.
        work: function that is called for each part.
        parts: positional arguments of each call.
        progress: called with the number of parts that are done, and the number of parts.

    Attributes:
        waiting: indices of the parts that are not submitted.
        running: indices of the parts of each submitted batch.
        answers: results by the index of the part.
    """

    def __init__(
        self, executor: Executor, work: Callable[..., T], parts: Sequence[tuple[object, ...]], progress: Progress
    ) -> None:
        """Store the calls of `work`, one for each entry of `parts`; none is submitted yet."""
        self.waiting = deque(range(len(parts)))
        self.running: dict[Future[BatchResults[T]], list[int]] = {}
        self.answers: dict[int, T] = {}
        self._executor = executor
        self._work = work
        self._parts = parts
        self._progress = progress
        self._seconds = 0.0  # CPU time of all results so far

    def submit(self) -> None:
        """Submit batches of calls: one for each place at first, and two once the time of a call is known.

        The second batch of a place is on its way while the first one runs.
        """
        places = count_places(self._executor)
        most_running = 2 * places if self.answers else places
        while self.waiting and len(self.running) < most_running:
            size = self._batch_size(places)
            indices = [self.waiting.popleft() for _ in range(size)]
            batch = [self._parts[index] for index in indices]
            future = self._executor.submit(run_batch, ENGINE_VERSION, self._work, batch)
            self.running[future] = indices

    def _batch_size(self, places: int) -> int:
        """Return the number of parts of the next batch: half of an equal share, or more if the parts are fast.

        Args:
            places: number of batches that the executor runs at one time.

        Returns:
            The number of parts, at least 1 if parts wait, and at most the number of waiting parts.
        """
        half_share = len(self.waiting) / (2 * places)
        # The number of parts that take `BATCH_SECONDS` at the mean CPU time so far.
        least = BATCH_SECONDS * len(self.answers) / max(self._seconds, BATCH_SECONDS)
        return min(ceil(max(half_share, least)), len(self.waiting))

    def collect(self) -> None:
        """Wait until at least one batch ends, and store its results.

        A worker may stop before the end of its batch. The calls that it did not begin are put back, before all waiting
        calls.

        Raises:
            ClusterError: the executor lost the work, or runs another version of the engine.
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
        progress: called after each call with the number of finished parts, and the number of parts.
    """
    results = []
    for done, part in enumerate(parts, start=1):
        results.append(work(*part))
        progress(done, len(parts))
    return results


def count_places(executor: Executor) -> int:
    """Return the number of batches that an executor can run at one time.

    Args:
        executor: a Dask executor, or a pool of threads or processes.

    Returns:
        The number of threads of the Dask cluster, or of workers of the pool. By default the number of cores.
    """
    client = getattr(executor, "_client", None)
    if client is not None:
        return max(1, sum(map(int, client.nthreads().values())))
    return int(getattr(executor, "_max_workers", os.cpu_count()) or 1)


@dataclass(frozen=True)
class BatchResults(Generic[T]):
    """Results of the first parts of a batch. A worker may have left out the last parts.

    Attributes:
        answers: result of each part, in order.
        seconds: CPU time [s] that these parts took.
    """

    answers: Sequence[T]
    seconds: float


def run_batch(version: str, work: Callable[..., T], parts: Sequence[tuple[object, ...]]) -> BatchResults[T]:
    """Call a function for each part of a batch in a worker, until this has taken `LONGEST_SECONDS` of CPU time.

    The result may therefore have fewer entries than there are parts; the caller submits the remaining parts again.

    Args:
        version: version of the engine that the caller runs.
        work: the function.
        parts: arguments of each call.

    Returns:
        The results of the parts that were run, and the CPU time.

    Raises:
        ClusterError: this worker runs another version of the engine.
        Exception: the error of `work`.
    """
    if version != ENGINE_VERSION:
        raise ClusterError("a worker " + OTHER_VERSION.format(theirs=ENGINE_VERSION, ours=version))
    reuse_freed_memory()
    return _on_one_thread(_run_for_seconds, (work, parts))


def _run_for_seconds(work: Callable[..., T], parts: Sequence[tuple[object, ...]]) -> BatchResults[T]:
    """Call a function for the first part, and for further parts until this has taken `LONGEST_SECONDS` of CPU time.

    Args:
        work: the function.
        parts: positional arguments of each call; at least one.

    Returns:
        The results of the parts that were run, and the CPU time that they took.
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
    """Let the C library reuse freed memory in a worker process of Dask, which Dask disables.

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


def _on_one_thread(work: Callable[..., T], part: tuple[object, ...]) -> T:
    """Call `work(*part)` with one thread for linear algebra, and return its result.

    The last digit of a sum depends on the number of threads. Without the package that limits it, it is not changed.

    Args:
        work: the function.
        part: its positional arguments.
    """
    try:
        from epsilond.witness.one_thread import one_thread  # noqa: PLC0415  it needs an optional package
    except ModuleNotFoundError:
        return work(*part)  # every process of this machine then has as many threads as this one
    with one_thread():
        return work(*part)


def result_of(future: Future[T]) -> T:
    """Wait for a batch that an executor runs, and return its result.

    Args:
        future: future of a batch that an executor runs.

    Raises:
        ClusterError: the executor lost the part.
        Exception: the error of the work.
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
    """Yield an executor on the Dask cluster with the scheduler at an address, such as `tcp://10.0.0.1:8786`.

    The workers must have the same version of epsilond. Everyone who reaches the scheduler can run code on its workers,
    and the results are unpickled here: use a cluster of your own, on a network of your own.

    Args:
        address: address of the scheduler.

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
    """Return a client of a Dask cluster, after a check that its workers have the same version of the engine.

    Args:
        address: address of the scheduler, such as tcp://10.0.0.1:8786.

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
        # This fails at once if nothing listens; a client would try until its timeout.
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
    """Return the version of the engine; a worker runs this function."""
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

"""Work in parts on any `concurrent.futures.Executor`: threads, processes, a cluster. Which one changes no number.

What is sent is a function of ours, by its name, and plain data; whoever runs it has the same version of the engine.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, as_completed
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from epsilond.accountants import ENGINE_VERSION
from epsilond.extras import extra
from epsilond.progress import Progress, in_silence

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""How long a scheduler may take to answer at first."""
RETRIES = 1
"""How often a part is run again that failed on a cluster, where a worker may have been short of something."""
ALTERED = "runs epsilond {theirs}, and this is epsilond {ours}: the numbers of two versions are not mixed"


class ClusterError(RuntimeError):
    """A cluster cannot be used: it is away, was lost, or is not what is needed. The message says which."""


def in_order(
    executor: Executor | None,
    work: Callable[..., T],
    parts: Sequence[tuple[object, ...]],
    progress: Progress = in_silence,
) -> list[T]:
    """`work(*part)` of each part, in the order of the parts; here, one by one, if there is no executor.

    `work` is a function of a module, and what it takes and answers pickles. `progress` is called with the parts done
    and their number. The first part that raises cancels those that have not begun.

    Raises:
        ClusterError: the executor lost the work, or runs another version of the engine.
        Exception: what `work` raised.
    """
    progress(0, len(parts))
    if executor is None:
        found: list[T] = _on_one_thread(_each, (work, parts, progress))
        return found
    futures = [executor.submit(_at_version, ENGINE_VERSION, work, part) for part in parts]
    try:
        for done, future in enumerate(as_completed(futures), start=1):
            result_of(future)
            progress(done, len(parts))
        return [result_of(future) for future in futures]
    finally:
        for future in futures:
            future.cancel()


def _each(work: Callable[..., T], parts: Sequence[tuple[object, ...]], progress: Progress) -> list[T]:
    """The parts one by one."""
    found = []
    for done, part in enumerate(parts, start=1):
        found.append(work(*part))
        progress(done, len(parts))
    return found


def _at_version(version: str, work: Callable[..., T], part: tuple[object, ...]) -> T:
    """Run a part where it was sent to."""
    if version != ENGINE_VERSION:
        raise ClusterError("a worker " + ALTERED.format(theirs=ENGINE_VERSION, ours=version))
    return _on_one_thread(work, part)


def _on_one_thread(work: Callable[..., T], part: tuple[object, ...]) -> T:
    """Run a part on one thread: sums of linear algebra differ in their last digit by how many there are."""
    try:
        from epsilond.witness.one_thread import one_thread  # noqa: PLC0415  an extra has what it needs
    except ModuleNotFoundError:
        return work(*part)  # every process of this machine then has as many threads as this one
    with one_thread():
        return work(*part)


def result_of(future: Future[T]) -> T:
    """What a part of the work answered, once it has.

    Raises:
        ClusterError: the executor lost it.
        Exception: what the work raised.
    """
    try:
        return future.result()
    except CancelledError:
        raise ClusterError("the executor gave up work that it had taken: its scheduler may have ended") from None
    except Exception as error:
        # Named and not imported: whoever has no cluster has no such class.
        if (type(error).__module__.partition(".")[0], type(error).__name__) == ("distributed", "KilledWorker"):
            raise ClusterError("workers of the cluster died again and again at the same part of the work") from error
        raise


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """An executor on the Dask cluster whose scheduler is at this address, as `tcp://10.0.0.1:8786`.

    Its workers must have epsilond of this version. Whoever reaches the scheduler can run code on its workers, and
    what comes back is unpickled here: use a cluster of your own, on a network of your own.

    Raises:
        MissingExtra: distributed is not installed.
        ClusterError: nothing answers there, no worker is there, or a worker has another version of the engine.
    """
    client = connected(address)
    try:
        yield client.get_executor(pure=False, retries=RETRIES)
    finally:
        client.close(timeout=CONNECT_SECONDS)


def connected(address: str) -> Client:
    """A client of the cluster, whose workers have the engine of this version.

    Raises:
        MissingExtra: distributed is not installed.
        ClusterError: as above.
    """
    with extra("dask", "a Dask cluster"):
        from distributed import Client  # noqa: PLC0415  whoever asks for no cluster needs none
    host, port = place_of(address)
    try:
        # Refused at once where nothing listens; a client would try for all of its time.
        socket.create_connection((host, port), CONNECT_SECONDS).close()
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        reason = error.strerror or "it does not speak as one"
        raise ClusterError(f"no Dask scheduler answers at {address}: {reason}") from None
    try:
        _require_engine(client, address)
    except BaseException:
        client.close(timeout=CONNECT_SECONDS)
        raise
    return client


def place_of(address: str) -> tuple[str, int]:
    """Host and port of a scheduler's address.

    Raises:
        ClusterError: it is none.
    """
    parts = urlsplit(address)
    with suppress(ValueError):
        if parts.scheme in ("tcp", "tls") and parts.hostname and parts.port:
            return parts.hostname, parts.port
    raise ClusterError("the address of a scheduler is written as tcp://10.0.0.1:8786 or tls://10.0.0.1:8786")


def engine_version() -> str:
    """The version of the engine, asked of a worker."""
    return ENGINE_VERSION


def _require_engine(client: Client, address: str) -> None:
    try:
        told = client.run(engine_version, on_error="return")
    except (OSError, ImportError, AttributeError) as error:
        raise ClusterError(f"the workers of {address} could not be asked which epsilond they have: {error}") from None
    if not told:
        raise ClusterError(f"the scheduler at {address} has no workers")
    for worker, theirs in sorted(told.items()):
        if isinstance(theirs, BaseException):
            raise ClusterError(f"the worker {worker} of {address} has no epsilond: {theirs}")
        if theirs != ENGINE_VERSION:
            raise ClusterError(f"the worker {worker} " + ALTERED.format(theirs=theirs, ours=ENGINE_VERSION))

"""SQLite files: their names, their locks, and checks that a file is still the one that was opened."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import URL

from epsilond.storage.faults import StoreFault

MEMORY = (None, "", ":memory:")
"""Names of a database in memory in an SQLite URL."""


def file_of(url: URL) -> Path | None:
    """Return the path of an SQLite database's file with links resolved; None for a database in memory.

    The file must have only this name, because its lock and its journal are found by the name.

    Args:
        url: URL of an SQLite database.

    Returns:
        The absolute path, whether the file exists or not. None for a database in memory.

    Raises:
        OSError: the path is a `file:` URI, or the file has several names (hard links).
    """
    if url.database in MEMORY:
        return None
    if str(url.database).startswith("file:") or "uri" in url.query:
        raise OSError(errno.EINVAL, "a file: URI is not taken; give the path of the file")
    path = Path(str(url.database)).resolve()
    if path.exists() and not path.is_dir() and path.stat().st_nlink > 1:
        raise OSError(errno.EMLINK, "the file has several names (hard links), and its journal would have as many")
    return path


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold an exclusive lock of a file, as a context manager. It is released at the latest when the process ends.

    The lock is a file next to it, with the suffix `.lock`. The folder is created if it does not exist.

    Args:
        path: path of the file, which need not exist.

    Yields:
        None, once, while the lock is held.

    Raises:
        BlockingIOError: another process has the lock.
        OSError: the file's folder cannot be created or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


class WatchedFile:
    """Detector of other processes that replace or write an open SQLite file or its journal.

    Writes to a file that was removed would be lost. Writes by other processes can damage the file.
    """

    def __init__(self, path: Path) -> None:
        """Note identity and content of an SQLite file and its journal, to detect later changes by other processes.

        Args:
            path: SQLite file in WAL mode. A connection to it must be open as long as the file is watched, so that its
                journal is not removed.
        """
        self._paths = (path, path.with_name(f"{path.name}-wal"))
        self._opened = self._identities()
        self._written = self._content()

    def require_there(self) -> None:
        """Check that the paths still name the files that were opened.

        Raises:
            StoreFault: a file was removed or replaced.
        """
        if self._identities() != self._opened:
            raise StoreFault(
                "its file was removed or replaced; stop the service, put the file back, and start it again"
            )

    def require_unwritten(self) -> None:
        """Check that no other process has written to the file since the last call of `note`.

        Raises:
            StoreFault: the file was written, removed or replaced.
        """
        self.require_there()
        if self._content() != self._written:
            raise StoreFault("another program has written to its file; stop the service, and look at the file")

    def note(self) -> None:
        """Record the present content of the file as written by this process."""
        self._written = self._content()

    def _identities(self) -> list[tuple[int, int] | None]:
        """Return device and inode of the file and its journal; None for a missing file."""
        identities: list[tuple[int, int] | None] = []
        for path in self._paths:
            status = _status(path)
            identities.append(None if status is None else (status.st_dev, status.st_ino))
        return identities

    def _content(self) -> tuple[int, int] | None:
        """Return size and modification time of the file, or None if it is missing."""
        status = _status(self._paths[0])
        return None if status is None else (status.st_size, status.st_mtime_ns)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file, or None if it is missing."""
    try:
        return path.stat()
    except OSError:
        return None

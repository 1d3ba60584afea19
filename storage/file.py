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


def file_of(url: URL) -> Path | None:
    """Return the only name of an SQLite database's file, with links resolved, or None for a database in memory.

    The lock of a file is found by this name.

    Raises:
        OSError: the path is a URI, or the file has several names.
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
    """Hold the lock of a file, which the system releases when this process ends in any way.

    Raises:
        BlockingIOError: another process has it.
        OSError: the file's folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


class WatchedFile:
    """A file and its journal that no other process may replace or write while this process has them open.

    Writes to a removed file are lost at the next start. Writes by others damage the file.
    """

    def __init__(self, path: Path) -> None:
        """Record the identity and the content of the file.

        Args:
            path: SQLite file in WAL mode. A connection to it must be open as long as the file is watched, so that its
                journal is not removed.
        """
        self._names = (path, path.with_name(f"{path.name}-wal"))
        self._opened = self._identities()
        self._written = self._content()

    def require_there(self) -> None:
        """Require that the names still lead to the files that were opened.

        Raises:
            StoreFault: they do not.
        """
        if self._identities() != self._opened:
            raise StoreFault(
                "its file was removed or replaced; stop the service, put the file back, and start it again"
            )

    def require_unwritten(self) -> None:
        """Require that no other process has written to the file since `note`.

        Raises:
            StoreFault: one has, or the file is not there.
        """
        self.require_there()
        if self._content() != self._written:
            raise StoreFault("another program has written to its file; stop the service, and look at the file")

    def note(self) -> None:
        """Record the present content of the file as written by this process."""
        self._written = self._content()

    def _identities(self) -> list[tuple[int, int] | None]:
        """Return device and inode of the file and its journal; None for a missing file."""
        statuses = (_status(name) for name in self._names)
        return [status and (status.st_dev, status.st_ino) for status in statuses]

    def _content(self) -> tuple[int, int] | None:
        """Return size and modification time of the file, or None if it is missing."""
        status = _status(self._names[0])
        return status and (status.st_size, status.st_mtime_ns)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file, or None if it is missing."""
    try:
        return path.stat()
    except OSError:
        return None

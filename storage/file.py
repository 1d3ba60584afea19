"""The SQLite file of a database: its name, its lock, and whether it is still the one that was opened."""

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
    """The one name of an SQLite database's file, links followed, so that its lock goes by the file; None in memory.

    Raises:
        OSError: the file cannot be told apart by its name.
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
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which the system takes away when this process ends, however it ends.

    Raises:
        BlockingIOError: another process has it.
        OSError: there is no place for the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


class Watched:
    """A file and its journal, which nobody but this process may replace or write while it has them open.

    What is written to a file that was removed is gone at the next start; what is written over by others is damaged.
    """

    def __init__(self, path: Path) -> None:
        """Of a file that is open, in WAL mode, on a connection that stays."""
        self._names = (path, path.with_name(f"{path.name}-wal"))
        self._opened = self._identities()
        self._written = self._content()

    def require_there(self) -> None:
        """Fail unless the names still lead to the files that were opened.

        Raises:
            StoreFault: they do not.
        """
        if self._identities() != self._opened:
            raise StoreFault(
                "its file was removed or replaced; stop the service, put the file back, and start it again"
            )

    def require_unwritten(self) -> None:
        """Fail if somebody else has written to the file since `note`.

        Raises:
            StoreFault: somebody has, or the file is not there.
        """
        self.require_there()
        if self._content() != self._written:
            raise StoreFault("another program has written to its file; stop the service, and look at the file")

    def note(self) -> None:
        """What stands in the file now was written by this process."""
        self._written = self._content()

    def _identities(self) -> list[tuple[int, int] | None]:
        found = (_status(name) for name in self._names)
        return [status and (status.st_dev, status.st_ino) for status in found]

    def _content(self) -> tuple[int, int] | None:
        status = _status(self._names[0])
        return status and (status.st_size, status.st_mtime_ns)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None

"""Files that are replaced as a whole, so that no reader sees a part, and locks of their folders."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

OWNER_ONLY = 0o600
"""Permissions of a file that only its owner reads and writes."""


def replace_file(path: Path, content: bytes, *, mode: int = OWNER_ONLY, owner: tuple[int, int] | None = None) -> None:
    """Write a new file next to a file, flush it to the disk, and put it in the place of the file.

    Args:
        path: the file, which need not exist.
        content: content of the new file.
        mode: permissions of the new file.
        owner: user and group of the new file, as far as this process may give it away; None means its own.

    Raises:
        OSError: it cannot be written; the file is as before.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        Path(temporary).chmod(mode)
        if owner is not None:
            with suppress(OSError, AttributeError):  # only root gives a file away
                os.chown(temporary, *owner)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def create_file(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, for its owner only, and flush it to the disk.

    Args:
        path: the file.
        content: content of the file.

    Raises:
        FileExistsError: the file is there.
        OSError: it cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


@contextmanager
def lock_folder(folder: Path, *, must_sync: bool = False) -> Iterator[None]:
    """Keep other processes that lock this folder waiting, and flush the names in it to the disk at the end.

    On Windows, which has no such lock, the last change wins.

    Args:
        folder: the folder, which exists.
        must_sync: whether a file system that cannot flush a folder is an error.

    Raises:
        OSError: the folder cannot be opened, or cannot be flushed and `must_sync` is set.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        try:
            os.fsync(descriptor)
        except OSError:
            if must_sync:
                raise
    finally:
        os.close(descriptor)

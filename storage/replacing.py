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
    """Replace the content of a file atomically: write a temporary file, flush it to the disk, and rename it.

    Args:
        path: the file, which need not exist.
        content: content of the new file.
        mode: permissions of the new file.
        owner: ids of the user and the group of the new file. This is ignored if the process may not change them. None
            means those of the process.

    Raises:
        OSError: the new file cannot be written. The old file is then unchanged.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        Path(temporary).chmod(mode)
        if owner is not None:
            with suppress(OSError, AttributeError):  # only root may change the owner
                os.chown(temporary, *owner)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def create_file(path: Path, content: bytes) -> None:
    """Create a file that only its owner can read, write its content, and flush it to the disk.

    Args:
        path: path of the file, which must not exist.
        content: content of the file.

    Raises:
        FileExistsError: the file exists.
        OSError: the file cannot be written.
    """
    # The flags make the call fail if the file exists, even if two processes create it at once.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


@contextmanager
def lock_folder(folder: Path, *, must_sync: bool = False) -> Iterator[None]:
    """Lock a folder, as a context manager, and flush its list of files to the disk at the end.

    Other processes that lock the folder wait. On Windows nothing is locked or flushed.

    Args:
        folder: path of an existing folder.
        must_sync: whether to raise the error of a file system that cannot flush a folder.

    Yields:
        None, once, while the folder is locked.

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

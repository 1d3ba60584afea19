"""Changes of a file of keys: adding a line, or revoking keys. Files are replaced as a whole; no reader sees a part.

Comments and the order of lines are kept. Simultaneous changes wait for each other, if the system has file locks.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from epsilond.app.callers.keys import LINE, KeyLine, lines_of, says_nothing

if sys.platform != "win32":
    import fcntl


def add(path: Path, line: KeyLine) -> None:
    """Add one line. Only the owner can read a file that is created here.

    Raises:
        ValueError: the line conflicts with the others; nothing is written.
        OSError: the file cannot be read or replaced.
    """

    def added(whole: str) -> str:
        before = whole if not whole or whole.endswith("\n") else f"{whole}\n"
        return f"{before}{line.text}\n"

    _change(path, added, may_be_new=True)


def revoke(path: Path, which: str, now: datetime) -> tuple[KeyLine, ...]:
    """Revoke the key with this id; if there is none, revoke every key with this name.

    Args:
        path: the file of keys.
        which: id of a key, or name of keys.
        now: time of the revocation.

    Returns:
        The lines of these keys, with the time at which each was revoked; empty if neither id nor name exists.

    Raises:
        ValueError: the file has an invalid line; nothing is written.
        OSError: the file cannot be read or replaced.
    """
    found: list[KeyLine] = []

    def without(whole: str) -> str:
        known = lines_of(whole, path)
        by_id = {line.sha256 for line in known if line.id == which}
        chosen = by_id or {line.sha256 for line in known if line.name == which}
        texts = whole.splitlines()
        for place, text in enumerate(texts):
            line = None if says_nothing(text) else LINE.validate_json(text)
            if line is None or line.sha256 not in chosen:
                continue
            found.append(line if line.revoked is not None else replace(line, revoked=now))
            texts[place] = found[-1].text
        return "\n".join(texts) + "\n"

    _change(path, without)
    return tuple(found)


def _change(path: Path, change: Callable[[str], str], *, may_be_new: bool = False) -> None:
    path = path.resolve()  # a symbolic link is kept
    with _alone_in(path.parent):
        there = path.exists()
        whole = path.read_text(encoding="utf-8") if there or not may_be_new else ""
        changed = change(whole)
        lines_of(changed, path)
        if changed != whole:
            _replace(path, changed, path.stat() if there else None)


def _replace(path: Path, text: str, was: os.stat_result | None) -> None:
    """Write a new file in the same folder, and put it in the place of the file."""
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        if was is not None:
            Path(beside).chmod(was.st_mode & 0o7777)
            with suppress(OSError, AttributeError):  # only root can keep another owner
                os.chown(beside, was.st_uid, was.st_gid)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Lock the files of keys in this folder against other changes, within this context."""
    if sys.platform == "win32":  # without locks, the last change wins
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        with suppress(OSError):  # not every file system supports this
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

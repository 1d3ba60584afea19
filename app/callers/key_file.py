"""Changes of a file of keys: a line more, or keys revoked. The file is replaced whole, so that nobody reads half of it.

Comments and the order of lines stay. Two who change it at one time wait for each other, where the system has locks.
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
    """One line more. A file that is made here can be read by its owner alone.

    Raises:
        ValueError: the line does not go with the others; nothing is written.
        OSError: the file cannot be read or replaced.
    """

    def added(whole: str) -> str:
        before = whole if not whole or whole.endswith("\n") else f"{whole}\n"
        return f"{before}{line.text}\n"

    _change(path, added, may_be_new=True)


def revoke(path: Path, which: str, now: datetime) -> tuple[KeyLine, ...]:
    """Revoke the key of this id, else all of this name; those that are revoked now, none if there are none such.

    Raises:
        ValueError: a line of the file is none; nothing is written.
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
    path = path.resolve()  # a link stays one
    with _alone_in(path.parent):
        there = path.exists()
        whole = path.read_text(encoding="utf-8") if there or not may_be_new else ""
        changed = change(whole)
        lines_of(changed, path)
        if changed != whole:
            _replace(path, changed, path.stat() if there else None)


def _replace(path: Path, text: str, was: os.stat_result | None) -> None:
    """Write beside the file, and put it in its place."""
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        if was is not None:
            Path(beside).chmod(was.st_mode & 0o7777)
            with suppress(OSError, AttributeError):  # of another owner: only root can keep that
                os.chown(beside, was.st_uid, was.st_gid)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While nobody else changes a file of keys in this folder."""
    if sys.platform == "win32":  # whoever is last wins
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        with suppress(OSError):  # not every file system can
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

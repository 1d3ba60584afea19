"""Changes of a file of keys: adding a line, or revoking keys. Files are replaced as a whole; no reader sees a part.

Comments and the order of lines are kept. Simultaneous changes wait for each other, if the system has file locks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from epsilond.app.callers.keys import LINE, KeyLine, is_comment, lines_of
from epsilond.storage.replacing import OWNER_ONLY, lock_folder, replace_file


def add(path: Path, line: KeyLine) -> None:
    """Add one line to a file of keys. A missing file is created, readable by its owner only.

    Args:
        path: the file of keys.
        line: the line to add.

    Raises:
        ValueError: the line conflicts with the others, or another line is invalid; nothing is written.
        OSError: the file cannot be read or replaced.
    """

    def append_line(text: str) -> str:
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{before}{line.text}\n"

    _change(path, append_line, may_be_new=True)


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
    revoked_lines: list[KeyLine] = []

    def mark_revoked(text: str) -> str:
        """Return the text with the time of the revocation in the chosen lines, which are collected on the way."""
        lines = lines_of(text, path)
        by_id = {line.sha256 for line in lines if line.id == which}
        chosen = by_id or {line.sha256 for line in lines if line.name == which}
        texts = text.splitlines()
        for place, line_text in enumerate(texts):
            line = None if is_comment(line_text) else LINE.validate_json(line_text)
            if line is None or line.sha256 not in chosen:
                continue
            revoked_lines.append(line if line.revoked is not None else replace(line, revoked=now))
            texts[place] = revoked_lines[-1].text
        return "\n".join(texts) + "\n"

    _change(path, mark_revoked)
    return tuple(revoked_lines)


def _change(path: Path, change: Callable[[str], str], *, may_be_new: bool = False) -> None:
    """Replace a file of keys by a changed text, after checking this text. Mode and owner of the file are kept.

    Args:
        path: the file. If it is a symbolic link, the file that the link names is replaced.
        change: returns the new text for the present one.
        may_be_new: whether a missing file counts as an empty one.

    Raises:
        ValueError: the new text has an invalid line; nothing is written.
        OSError: the file cannot be read or replaced.
    """
    path = path.resolve()  # a symbolic link is kept
    with lock_folder(path.parent):
        there = path.exists()
        text = path.read_text(encoding="utf-8") if there or not may_be_new else ""
        changed = change(text)
        lines_of(changed, path)
        if changed != text:
            was = path.stat() if there else None
            mode, owner = (OWNER_ONLY, None) if was is None else (was.st_mode & 0o7777, (was.st_uid, was.st_gid))
            replace_file(path, changed.encode(), mode=mode, owner=owner)

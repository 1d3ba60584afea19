"""Changes of a file of API keys: a new line, or a revocation. The file is replaced atomically.

Comments and the order of lines are kept. Simultaneous changes wait for each other, if the system has file locks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from epsilond.app.callers.keys import LINE, KeyLine, is_comment, lines_of
from epsilond.storage.replacing import OWNER_ONLY, lock_folder, replace_file


def add(path: Path, line: KeyLine) -> None:
    """Add one line to a file of keys. A missing file is created, readable by its owner only.

    Services that read the file accept the key within seconds, without a restart.

    Args:
        path: the file of keys.
        line: the line to add.

    Raises:
        ValueError: the line conflicts with the others, or another line is invalid; nothing is written.
        OSError: the file cannot be read or replaced.
    """

    def append_line(text: str) -> str:
        """Return the text of the file with the new line at its end."""
        lacks_line_break = bool(text) and not text.endswith("\n")
        separator = "\n" if lacks_line_break else ""
        return f"{text}{separator}{line.text}\n"

    _change(path, append_line, may_be_new=True)


def revoke(path: Path, which: str, now: datetime) -> tuple[KeyLine, ...]:
    """Revoke the key with this id; if there is none, revoke every key with this name.

    The lines stay in the file as a record. Services that read the file then reject the keys.

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

    def mark_revoked(text: str) -> str:
        """Return the text of the file with the time of revocation in the lines of the chosen keys."""
        chosen = _chosen_digests(lines_of(text, path), which)
        new_lines = [_revoke_line(line_text, chosen, now) for line_text in text.splitlines()]
        return "".join(f"{new_line}\n" for new_line in new_lines)

    # The lines are those after the change, with the time of revocation.
    lines = _change(path, mark_revoked)
    chosen = _chosen_digests(lines, which)
    return tuple(line for line in lines if line.sha256 in chosen)


def _chosen_digests(lines: Sequence[KeyLine], which: str) -> set[str]:
    """Return the digests of the key with a given id; if there is none, of all keys with this name.

    Args:
        lines: lines of the file of keys.
        which: id of a key, or name of keys.

    Returns:
        The SHA-256 digests of the keys; empty if neither id nor name exists.
    """
    by_id = {line.sha256 for line in lines if line.id == which}
    return by_id or {line.sha256 for line in lines if line.name == which}


def _revoke_line(text: str, digests: Collection[str], now: datetime) -> str:
    """Return a line of a file of keys with the time of revocation, if it is that of a key to revoke.

    Args:
        text: the line.
        digests: digests of the keys to revoke.
        now: time of the revocation.

    Returns:
        The line, without a line break. Comments, other keys, and keys that are revoked already are unchanged.

    Raises:
        ValidationError: the line is not a valid line of a file of keys.
    """
    if is_comment(text):
        return text
    line = LINE.validate_json(text)
    if line.sha256 not in digests or line.revoked is not None:
        return text
    return replace(line, revoked=now).text


def _change(path: Path, change: Callable[[str], str], *, may_be_new: bool = False) -> tuple[KeyLine, ...]:
    """Change the text of a file of keys, after a check of the new text. Mode and owner are kept.

    Args:
        path: the file. If it is a symbolic link, the file to which it leads is replaced.
        change: function from the present text to the new text.
        may_be_new: whether a missing file counts as an empty one.

    Returns:
        The parsed lines of the new text, one for each key.

    Raises:
        ValueError: the new text has an invalid line; nothing is written.
        OSError: the file cannot be read or replaced.
    """
    path = path.resolve()  # a symbolic link is kept
    with lock_folder(path.parent):
        is_new = may_be_new and not path.exists()
        old_text = "" if is_new else path.read_text(encoding="utf-8")
        new_text = change(old_text)
        lines = lines_of(new_text, path)
        if new_text != old_text:
            _write(path, new_text)
    return lines


def _write(path: Path, text: str) -> None:
    """Replace the text of a file and keep its mode and its owner, or create the file for its owner only.

    Args:
        path: the file.
        text: its new text.
    """
    if not path.exists():
        replace_file(path, text.encode(), mode=OWNER_ONLY)
        return
    present = path.stat()
    permission_bits = present.st_mode & 0o7777  # without the bits of the file's type
    replace_file(path, text.encode(), mode=permission_bits, owner=(present.st_uid, present.st_gid))

"""How much a JSON text holds, counted on its bytes before anything is built from it.

A megabyte of `[]` is 350 000 lists: building, walking and validating them costs seconds, counting their brackets some
milliseconds. What is counted is right for every JSON text; of what is none, the parser tells.
"""

from __future__ import annotations

MOST_MEMBERS = 100_000
"""Members and elements in all."""
MOST_ELEMENTS = 20_000
"""Elements of one array."""
MOST_FIELDS = 1_000
"""Members of one object."""
SPACE = b" \t\r\n"
ALIKE = bytes.maketrans(b"{}", b"[]")
OTHERS = bytes(set(range(256)) - set(b"[]{}"))
"""Every byte but the brackets."""


def exceeds(body: bytes) -> bool:
    """Whether a JSON text holds more than MOST_MEMBERS members and elements."""
    if _at_most(body) <= MOST_MEMBERS:  # nearly always: then strings need not be told apart
        return False
    # Each string is a name, an element or a member's value, so that four quotes stand for a member at least.
    return _unescaped(body).count(b'"') > 4 * MOST_MEMBERS + 2 or members(body) > MOST_MEMBERS


def members(body: bytes) -> int:
    """How many members and elements a JSON text holds in all."""
    packed = _outside_strings(body).translate(None, SPACE)
    return _at_most(packed) - packed.count(b"[]") - packed.count(b"{}")


def deeper(body: bytes, most: int) -> bool:
    """Whether a JSON text is nested more than `most` levels deep."""
    brackets = _outside_strings(body).translate(ALIKE, OTHERS)
    if b"[" * (most + 1) in brackets:
        return True
    for _ in range(most):
        if not (brackets := brackets.replace(b"[]", b"")):  # takes the innermost level of each nest away
            return False
    return b"[]" in brackets


def _at_most(body: bytes) -> int:
    """A container with n members has n - 1 commas and one opening bracket; an empty one counts as one too many."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _unescaped(body: bytes) -> bytes:
    """Without escaped backslashes and quotes: every quote that is left begins or ends a string."""
    return body.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in body else body


def _outside_strings(body: bytes) -> bytes:
    """The text with its strings emptied."""
    return b'""'.join(_unescaped(body).split(b'"')[::2]) if b'"' in body else body

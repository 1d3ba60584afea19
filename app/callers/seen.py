"""What each caller has asked before: only of that may an answer say that it came from the cache.

The cache is one for all. A caller who is told that an answer was there before they asked learns that somebody else has
asked the same.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

ENTRY_BYTES = 160
"""Rough size of one question of one caller."""
IDENTITY_BYTES = 400
"""Rough size of a caller beside their questions."""
QUESTIONS_EACH = 1024
"""How many questions of one caller are remembered."""
BYTES = 16 * 1_048_576
DIGEST_BYTES = 16


class Seen:
    """Who has asked what, within `most_bytes`; whoever asked least recently is forgotten first."""

    def __init__(self, most_bytes: int = BYTES) -> None:
        self._most_bytes = most_bytes
        self._asked: OrderedDict[bytes, OrderedDict[bytes, None]] = OrderedDict()
        self._bytes = 0

    def seen(self, identity: str, digest: str | bytes) -> bool:
        """Whether this caller has asked the question of this digest before; from now on they have."""
        name, question = _short(identity), _short(digest)
        asked = self._asked.get(name)
        if asked is None:
            asked = self._asked[name] = OrderedDict()
            self._bytes += IDENTITY_BYTES
        self._asked.move_to_end(name)
        before = question in asked
        if not before:
            asked[question] = None
            self._bytes += ENTRY_BYTES
            if len(asked) > QUESTIONS_EACH:
                asked.popitem(last=False)
                self._bytes -= ENTRY_BYTES
            self._make_room()
        else:
            asked.move_to_end(question)
        return before

    @property
    def bytes(self) -> int:
        """How much it holds, roughly."""
        return self._bytes

    def _make_room(self) -> None:
        while self._bytes > self._most_bytes and len(self._asked) > 1:
            _, questions = self._asked.popitem(last=False)
            self._bytes -= IDENTITY_BYTES + ENTRY_BYTES * len(questions)


def _short(text: str | bytes) -> bytes:
    whole = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(whole, digest_size=DIGEST_BYTES).digest()

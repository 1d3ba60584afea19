"""Questions as they were read from small bodies lately, so that the same bytes need not be read and checked again."""

from __future__ import annotations

from cachetools import LRUCache

from epsilond.app.questions.question import Question

BYTES = 8 * 1_048_576
"""Room for all of them, by their rough sizes."""
ENTRY_BYTES = 4096
"""Rough size of a question of few fields, with its keys."""
HELD = 32
"""Rough size of what is read from one byte of a body."""


class Recent:
    """Questions by owner and fingerprint of the request; one owner's are not another's, who could tell by the time."""

    def __init__(self, most_bytes: int = BYTES) -> None:
        self._kept: LRUCache[tuple[str, str], tuple[Question, int]] = LRUCache(most_bytes, lambda entry: entry[1])

    @property
    def bytes(self) -> int:
        """How much they hold, roughly."""
        return int(self._kept.currsize)

    def get(self, owner: str, fingerprint: str) -> Question | None:
        """What this owner's request of this fingerprint asks, if that is kept."""
        entry = self._kept.get((owner, fingerprint))
        return None if entry is None else entry[0]

    def keep(self, owner: str, fingerprint: str, question: Question, length: int) -> None:
        """Keep what was read from a body of so many bytes."""
        size = ENTRY_BYTES + HELD * length
        if size <= self._kept.maxsize:
            self._kept[owner, fingerprint] = question, size

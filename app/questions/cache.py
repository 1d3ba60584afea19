"""Answers already computed, bounded in bytes: each belongs to the owner who asked, and tells nobody else of it."""

from __future__ import annotations

from cachetools import LRUCache

from epsilond.app.workers.work import Answered, Failed, Outcome

ENTRY_BYTES = 1024
"""Rough size of an entry beside its body: a digest, an owner's name, the objects around them. A refusal takes two."""
MEGABYTE = 1_048_576


class Cache:
    """Outcomes by owner and question. Answers and refusals are functions of the question; a fault of ours may pass."""

    def __init__(self, megabytes: int) -> None:
        self._kept: LRUCache[tuple[str, str], Outcome] = LRUCache(megabytes * MEGABYTE, size)

    @property
    def entries(self) -> int:
        """How many outcomes are kept."""
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """How much they hold, with their keys."""
        return int(self._kept.currsize)

    def get(self, owner: str, digest: str) -> Outcome | None:
        """What this owner's question has been answered with, if that is kept."""
        return self._kept.get((owner, digest))

    def keep(self, owner: str, digest: str, outcome: Outcome) -> None:
        """Keep an outcome, unless it is a fault of ours or larger than the whole cache."""
        if not isinstance(outcome, Failed) and size(outcome) <= self._kept.maxsize:
            self._kept[owner, digest] = outcome


def size(outcome: Outcome) -> int:
    """Bytes that an outcome is counted with."""
    return ENTRY_BYTES + len(outcome.body) if isinstance(outcome, Answered) else 2 * ENTRY_BYTES

"""The cache of outcomes of questions, from which equal questions of one owner are answered without a computation."""

from __future__ import annotations

from cachetools import LRUCache

from epsilond.app.questions.question import MEGABYTE
from epsilond.app.workers.work import Failed, Outcome, RenderedAnswer

OUTCOME_BYTES = 1024
"""Rough size in bytes of a cached outcome without its body. A rejection takes twice as much."""


class OutcomeCache:
    """Cache of the outcomes (answers or errors) of questions, by owner, within a number of megabytes.

    The least recently used outcomes are dropped first. Faults of the service may pass, and are not cached.

    Args:
        megabytes: largest estimated size of all outcomes, in megabytes.
    """

    def __init__(self, megabytes: int) -> None:
        self._outcomes: LRUCache[tuple[str, str], Outcome] = LRUCache(megabytes * MEGABYTE, size_of)

    @property
    def entries(self) -> int:
        """The number of cached outcomes."""
        return len(self._outcomes)

    @property
    def bytes(self) -> int:
        """The rough size of the cached outcomes with their keys, in bytes."""
        return int(self._outcomes.currsize)

    def get(self, owner: str, digest: str) -> Outcome | None:
        """Return the cached outcome of the owner's question with a digest; None if there is none."""
        return self._outcomes.get((owner, digest))

    def keep(self, owner: str, digest: str, outcome: Outcome) -> None:
        """Cache an outcome, unless it is a fault of the service or larger than the whole cache.

        Args:
            owner: owner of the question.
            digest: digest of the question.
            outcome: result of the computation: an answer, a rejection or a fault.
        """
        if not isinstance(outcome, Failed) and size_of(outcome) <= self._outcomes.maxsize:
            self._outcomes[owner, digest] = outcome


def size_of(outcome: Outcome) -> int:
    """Return the rough size of an outcome in bytes, which the cache counts."""
    if isinstance(outcome, RenderedAnswer):
        return OUTCOME_BYTES + len(outcome.body)
    return 2 * OUTCOME_BYTES

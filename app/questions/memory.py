"""What a service remembers of questions, within bounds: answers, requests as they were read, and who has asked what.

An answer belongs to the owner who asked. Only of what a caller has asked before may an answer say that it came from the
cache: a caller who is told that an answer was there before learns that somebody else has asked the same.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from cachetools import LRUCache

from epsilond.app.http.record import ServicePart
from epsilond.app.questions.question import Question
from epsilond.app.workers.work import Answered, Failed, Outcome

OUTCOME_BYTES = 1024
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
    return OUTCOME_BYTES + len(outcome.body) if isinstance(outcome, Answered) else 2 * OUTCOME_BYTES


RECENT_BYTES = 8 * 1_048_576
"""Room for all of them, by their rough sizes."""
READ_BYTES = 4096
"""Rough size of a question of few fields, with its keys."""
HELD = 32
"""Rough size of what is read from one byte of a body."""


class Recent:
    """Questions by owner and fingerprint of the request; one owner's are not another's, who could tell by the time."""

    def __init__(self, most_bytes: int = RECENT_BYTES) -> None:
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
        size = READ_BYTES + HELD * length
        if size <= self._kept.maxsize:
            self._kept[owner, fingerprint] = question, size


RECENT: ServicePart[Recent] = ServicePart("recent")


QUESTION_BYTES = 160
"""Rough size of one question of one caller."""
IDENTITY_BYTES = 400
"""Rough size of a caller beside their questions."""
QUESTIONS_EACH = 1024
"""How many questions of one caller are remembered."""
SEEN_BYTES = 16 * 1_048_576
DIGEST_BYTES = 16


class Seen:
    """Who has asked what, within `most_bytes`; whoever asked least recently is forgotten first."""

    def __init__(self, most_bytes: int = SEEN_BYTES) -> None:
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
            self._bytes += QUESTION_BYTES
            if len(asked) > QUESTIONS_EACH:
                asked.popitem(last=False)
                self._bytes -= QUESTION_BYTES
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
            self._bytes -= IDENTITY_BYTES + QUESTION_BYTES * len(questions)


SEEN: ServicePart[Seen] = ServicePart("seen")


def _short(text: str | bytes) -> bytes:
    whole = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(whole, digest_size=DIGEST_BYTES).digest()

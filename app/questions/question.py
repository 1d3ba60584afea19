"""Questions, which are read and checked request bodies, and memories of recent questions with limited size.

Questions are plain data, so that a worker can read them. Each entry of a memory belongs to one owner or one caller,
because shared entries would reveal the questions of other callers.
"""

from __future__ import annotations

import hashlib
import math
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import cast

from cachetools import LRUCache

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import JsonObject
from epsilond.app.questions.cost import ANNOUNCED_SECONDS
from epsilond.app.workers.work import Computation, Outcome, RenderedAnswer, render_answer
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body

JSON = "application/json"


@dataclass(frozen=True)
class Question:
    """A computation to be done: `computation` itself, or `computation` applied to the outcomes of `parts`.

    Attributes:
        kind: kind of the question, such as "calibration".
        name: name of the question among those of its kind, such as the name of an algorithm.
        digest: hash that is equal for equal questions to one version of the mathematics.
        computation: function that a worker calls; a `Join` if the answer is joined from parts; bytes if it came pickled
            from another process.
        closed_form: True if the answer takes some milliseconds, and need not wait behind long computations.
        parts: questions with outcomes that `computation` joins into the answer; empty for a question without parts.
        media_type: media type of the answer.
        own_seconds: CPU time that the computation is expected to take, without its parts; None if there is no
            estimate.
    """

    kind: str
    name: str
    digest: str
    computation: Computation | Join | bytes
    closed_form: bool = False
    parts: tuple[Question, ...] = ()
    media_type: str = JSON
    own_seconds: float | None = None

    @classmethod
    def of(
        cls,
        kind: str,
        name: str,
        problem: object,
        computation: Computation | Join,
        *,
        closed_form: bool = False,
        parts: tuple[Question, ...] = (),
        media_type: str = JSON,
        seconds: float | None = None,
    ) -> Question:
        """Make a question with its digest.

        The digest is that of the kind, the name, the problem's repr and the version of the engine. Equal questions thus
        have equal digests, and a new version computes all answers anew.

        Args:
            kind: kind of the question.
            name: name of the question among the questions of its kind.
            problem: the problem; its repr shows everything that the answer depends on.
            computation: function that computes the answer.
            closed_form: True if the computation takes only milliseconds.
            parts: questions with outcomes that `computation` joins into the answer; empty for a question without parts.
            media_type: media type of the answer.
            seconds: CPU seconds that the computation is expected to take, if known.
        """
        identity = "\0".join((kind, name, repr(problem), ENGINE_VERSION))
        digest = hashlib.sha256(identity.encode()).hexdigest()
        return cls(kind, name, digest, computation, closed_form, parts, media_type, seconds)

    @property
    def seconds(self) -> float | None:
        """CPU seconds that the answer, with all parts that have an estimate, is expected to take; None without one."""
        if not self.joins:
            return self.own_seconds
        estimates = [part.seconds for part in self.parts if part.seconds is not None]
        return math.fsum(estimates) if estimates else None

    @property
    def is_expensive(self) -> bool:
        """True if the estimate is above `ANNOUNCED_SECONDS`: the answer may well take more than `EXPENSIVE_SECONDS`."""
        return self.seconds is not None and self.seconds > ANNOUNCED_SECONDS

    @property
    def joins(self) -> bool:
        """True if the answer is joined from parts. A sweep has no parts if all its values are rejected."""
        return self.kind in ("sweep", "plan")

    @property
    def work(self) -> Computation | bytes:
        """The computation of a question without parts, to be pickled for a worker if it is not bytes yet."""
        assert not self.joins
        return cast("Computation | bytes", self.computation)

    @cached_property
    def pickled(self) -> bytes:
        """The computation as bytes."""
        if isinstance(self.computation, bytes):
            return self.computation
        return pickle.dumps(self.computation)

    def __reduce__(self) -> tuple[type[Question], tuple[object, ...]]:
        """Return how to pickle the question, with its computation as bytes.

        A process that only passes the question on therefore need not import the modules of the computation.

        Returns:
            The class, and the arguments of the call that makes an equal question.
        """
        return Question, (
            self.kind,
            self.name,
            self.digest,
            self.pickled,
            self.closed_form,
            self.parts,
            self.media_type,
            self.own_seconds,
        )


Join = Callable[[tuple[Outcome, ...]], RenderedAnswer]
"""Function that makes the answer from the outcomes of the parts, in their order. It can be pickled."""
Reading = Callable[[bytes], Question]
"""Function that reads a body. It can be pickled, so that a worker can call it.

It raises MalformedJson if the body is not JSON, and InvalidInput if the body is not a valid question.
"""


@dataclass(frozen=True, kw_only=True)
class Posted:
    """A kind of question, with all that its HTTP route and the OpenAPI document need.

    Attributes:
        kind: name of the kind in jobs and logs, and name of the operation.
        path: path of the route.
        problem: request class of the body.
        answer: class of the answer, if the answer is JSON.
        read: function that reads a body and returns the question; it may be called in any process.
        title: one line in the OpenAPI document.
        description: description of the question.
        returns: description of the answer.
        examples: bodies by name.
        tag: group of the operation in the OpenAPI document; the kind if empty.
        media_type: media type of the answer.
    """

    kind: str
    path: str
    problem: type
    answer: type | None = None
    read: Reading
    title: str
    description: str
    returns: str
    examples: Mapping[str, JsonObject]
    tag: str
    media_type: str = JSON


def read_posted(kind: str, problem: type, solve: Callable[[object], object], body: bytes) -> Question:
    """Read the body of a request, and return the question, a computation to be done by `solve`.

    Args:
        kind: kind of the question.
        problem: request class of the body.
        solve: computes the answer from an instance of `problem`, in a worker.
        body: the JSON text.

    Returns:
        The question; its computation renders the answer of `solve` as JSON.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a problem of this class.
    """
    posted = read_body(problem, parse(body))
    name = kind  # questions of this kind have no names of their own
    return Question.of(kind, name, posted, partial(render_answer, solve, posted))


def join_outcomes(join: bytes, outcomes: tuple[Outcome, ...]) -> RenderedAnswer:
    """Join the outcomes of the parts of a question, such as a sweep over many values, into its answer.

    A worker process calls this function, because joining large outcomes takes time.

    Args:
        join: pickled function from the outcomes to the answer, made by this service.
        outcomes: the outcomes of the parts, in their order.

    Returns:
        The answer to the whole question, as bytes in its media type.
    """
    put_together: Join = pickle.loads(join)  # noqa: S301 (made by this service or a worker of its own)
    return put_together(outcomes)


MEGABYTE = 1_048_576
"""Bytes of a megabyte."""
QUESTION_BYTES = 4096
"""Rough size in bytes of a parsed question with few fields, with its keys."""
BYTES_PER_BODY_BYTE = 32
"""Rough size in bytes of the objects that one byte of a body is parsed into."""
DIGEST_ENTRY_BYTES = 160
"""Rough size in bytes of the digest of one question of one caller."""
CALLER_BYTES = 400
"""Rough size in bytes of one remembered caller without the digests."""
MOST_DIGESTS = 1024
"""Largest number of remembered digests of one caller."""
DIGEST_BYTES = 16
"""Length of the shortened digests, in bytes."""


class ParsedQuestions:
    """Cache of the questions that were read from requests, by owner and hash of the request, with limited size.

    With it, a repeated request need not be parsed and validated again. The least recently used entry is dropped first.

    Args:
        most_bytes: largest estimated size of all cached questions, in bytes.
    """

    def __init__(self, most_bytes: int = 8 * MEGABYTE) -> None:
        self._questions: LRUCache[tuple[str, str], tuple[Question, int]] = LRUCache(most_bytes, lambda entry: entry[1])

    @property
    def bytes(self) -> int:
        """Estimated size of the cached questions, in bytes."""
        return int(self._questions.currsize)

    def get(self, owner: str, fingerprint: str) -> Question | None:
        """Return the question that was read from a request of this owner.

        Args:
            owner: owner of the question.
            fingerprint: hash of the request.

        Returns:
            The question; None if it is not in the cache.
        """
        entry = self._questions.get((owner, fingerprint))
        if entry is None:
            return None
        question, _size = entry
        return question

    def keep(self, owner: str, fingerprint: str, question: Question, length: int) -> None:
        """Cache the question that was read from a request, unless it is too large.

        Args:
            owner: owner of the question.
            fingerprint: hash of the request.
            question: the question that was read.
            length: length of the body in bytes; the size of the question is estimated from it.
        """
        size = QUESTION_BYTES + BYTES_PER_BODY_BYTE * length
        if size <= self._questions.maxsize:
            self._questions[owner, fingerprint] = question, size


class PosedQuestions:
    """Memory of the questions that each caller has posed, as digests, with limited size.

    An answer may say that it came from the cache only if the same caller posed the question before. The caller with the
    oldest last question is forgotten first.

    Args:
        most_bytes: largest estimated size of all digests, in bytes.
    """

    def __init__(self, most_bytes: int = 16 * MEGABYTE) -> None:
        self._most_bytes = most_bytes
        self._digests: OrderedDict[bytes, OrderedDict[bytes, None]] = OrderedDict()
        """Digests of the questions by digest of the caller, both with the most recent last."""
        self._bytes = 0

    def remember(self, identity: str, question_digest: str | bytes) -> bool:
        """Return whether this caller has posed an equal question before, and remember the question.

        Only short hashes are stored, and at most `MOST_DIGESTS` of one caller. The least recently used is forgotten
        first.

        Args:
            identity: identity of the caller.
            question_digest: hash that is equal for equal questions.

        Returns:
            True if the caller has posed it before; False if not, or if it has been forgotten.
        """
        question = _shorten(question_digest)
        digests = self._digests_of(identity)
        if question in digests:
            digests.move_to_end(question)
            return True
        digests[question] = None
        self._bytes += DIGEST_ENTRY_BYTES
        if len(digests) > MOST_DIGESTS:
            digests.popitem(last=False)
            self._bytes -= DIGEST_ENTRY_BYTES
        self._make_room()
        return False

    def _digests_of(self, identity: str) -> OrderedDict[bytes, None]:
        """Return the digests of a caller, who becomes the most recent one.

        Args:
            identity: identity of the caller, which may be new.

        Returns:
            The stored digests of the caller's questions, the most recent last.
        """
        caller = _shorten(identity)
        if caller not in self._digests:
            self._digests[caller] = OrderedDict()
            self._bytes += CALLER_BYTES
        self._digests.move_to_end(caller)
        return self._digests[caller]

    def _make_room(self) -> None:
        """Forget the least recent callers until the size is within the limit, but not the most recent one."""
        while self._bytes > self._most_bytes and len(self._digests) > 1:
            _, digests = self._digests.popitem(last=False)
            self._bytes -= CALLER_BYTES + DIGEST_ENTRY_BYTES * len(digests)

    @property
    def bytes(self) -> int:
        """Estimated size of the remembered digests, in bytes."""
        return self._bytes


def _shorten(text: str | bytes) -> bytes:
    """Hash an identity or a digest to `DIGEST_BYTES` bytes, so that all entries have equal sizes.

    Args:
        text: identity of a caller, or digest of a question.

    Returns:
        Its BLAKE2b hash, which has the same length for every text.
    """
    content = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()

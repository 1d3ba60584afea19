"""A question: what a body asks, read and checked. It is plain data, so that a worker can read one for the service."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import cast

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import JsonObject
from epsilond.app.questions.cost import EXPENSIVE_SECONDS
from epsilond.app.workers.work import Computation, Outcome, RenderedAnswer, rendered
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body

JSON = "application/json"


@dataclass(frozen=True)
class Question:
    """What is to be computed: the answer of `computation`, or of what `computation` makes of the answers of `parts`."""

    kind: str
    name: str
    digest: str
    """Equal for equal questions to one version of the mathematics."""
    computation: Computation | Join | bytes
    """Called in a worker; bytes where it came pickled from another process. A Join where there are parts."""
    closed_form: bool = False
    """It takes some milliseconds, and need not wait behind what takes long."""
    parts: tuple[Question, ...] = ()
    media_type: str = JSON
    own_seconds: float | None = None
    """CPU time that the computation is expected to take, without its parts; None if there is no estimate."""

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
        """Return the question of a problem, which its repr distinguishes from others.

        Args:
            kind: of the question.
            name: of the question among those of its kind.
            problem: what is asked; its repr shows everything that the answer depends on.
            computation: computes the answer.
            closed_form: whether that takes only milliseconds.
            parts: the questions from whose answers `computation` makes the answer.
            media_type: of the answer.
            seconds: CPU time that the computation is expected to take, if it is known.
        """
        told = "\0".join((kind, name, repr(problem), ENGINE_VERSION))
        digest = hashlib.sha256(told.encode()).hexdigest()
        return cls(kind, name, digest, computation, closed_form, parts, media_type, seconds)

    @property
    def seconds(self) -> float | None:
        """CPU time that the answer is expected to take, in seconds; None if there is no estimate."""
        if not self.joins:
            return self.own_seconds
        estimates = [part.seconds for part in self.parts if part.seconds is not None]
        return math.fsum(estimates) if estimates else None

    @property
    def is_expensive(self) -> bool:
        """True if the answer is expected to take more than `EXPENSIVE_SECONDS`."""
        return self.seconds is not None and self.seconds > EXPENSIVE_SECONDS

    @property
    def joins(self) -> bool:
        """Whether it is put together from parts, of which a sweep that refuses each of its values has none."""
        return self.kind in ("sweep", "plan")

    @property
    def work(self) -> Computation | bytes:
        """The computation of a question without parts, to be pickled where it is sent to a worker, if it is not yet."""
        assert not self.joins
        return cast("Computation | bytes", self.computation)

    @cached_property
    def pickled(self) -> bytes:
        """The computation as bytes."""
        return self.computation if isinstance(self.computation, bytes) else pickle.dumps(self.computation)

    def __reduce__(self) -> tuple[type[Question], tuple[object, ...]]:
        """With the computation pickled by itself: who passes a question on never has to open it."""
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
"""Makes the answer of what became of the parts, in their order. A partial, so that it pickles by reference."""
Reading = Callable[[bytes], Question]
"""Reads a body. A partial of a function of this package, so that a worker can do it.

Raises MalformedJson where the body is no JSON, and InvalidInput where it asks what cannot be asked.
"""


@dataclass(frozen=True, kw_only=True)
class Posted:
    """A kind of question that is posted to a path of its own: all that its route and the contract need.

    Attributes:
        kind: its name in jobs and logs, and the name of the operation.
        path: the path of the route.
        problem: the request class of the body.
        answer: the class of the answer, if that is JSON.
        read: reads a body; called in any process.
        title: one line in the contract.
        description: what the question is.
        returns: what the answer is.
        examples: bodies by name.
        tag: the group of the operation in the contract; the kind if empty.
        media_type: that of the answer.
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
    """Read the body of a question that is answered by one function of its problem.

    Args:
        kind: of the question.
        problem: the request class of the body.
        solve: the function that computes the answer, in a worker.
        body: the JSON text.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is no problem of this class.
    """
    asked = read_body(problem, parse(body))
    return Question.of(kind, kind, asked, partial(rendered, solve, asked))


def joined(join: bytes, outcomes: tuple[Outcome, ...]) -> RenderedAnswer:
    """What a question makes of the answers of its parts."""
    put_together: Join = pickle.loads(join)  # noqa: S301 (made by this service or a worker of its own)
    return put_together(outcomes)

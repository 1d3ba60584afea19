"""Questions: the content of a body, read and checked. Questions are plain data, so that a worker can read them."""

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
from epsilond.app.questions.cost import ANNOUNCED_SECONDS
from epsilond.app.workers.work import Computation, Outcome, RenderedAnswer, render_answer
from epsilond.calibrators.strict_json import parse
from epsilond.reading import read_body

JSON = "application/json"


@dataclass(frozen=True)
class Question:
    """A computation to be done: `computation` itself, or `computation` applied to the outcomes of `parts`."""

    kind: str
    name: str
    digest: str
    """Hash that is equal for equal questions to one version of the mathematics."""
    computation: Computation | Join | bytes
    """Function that a worker calls; bytes if it came pickled from another process; a Join if there are parts."""
    closed_form: bool = False
    """True if the answer takes some milliseconds, and need not wait behind long computations."""
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
        """Return the question about a problem. Its digest depends on the kind, the name and the repr of the problem.

        Args:
            kind: kind of the question.
            name: name of the question among the questions of its kind.
            problem: the problem; its repr shows everything that the answer depends on.
            computation: function that computes the answer.
            closed_form: True if the computation takes only milliseconds.
            parts: questions whose outcomes `computation` joins into the answer; empty for a question without parts.
            media_type: media type of the answer.
            seconds: CPU seconds that the computation is expected to take, if known.
        """
        identity = "\0".join((kind, name, repr(problem), ENGINE_VERSION))
        digest = hashlib.sha256(identity.encode()).hexdigest()
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
        return self.computation if isinstance(self.computation, bytes) else pickle.dumps(self.computation)

    def __reduce__(self) -> tuple[type[Question], tuple[object, ...]]:
        """Pickle the computation by itself, so that processes that pass a question on never have to unpickle it."""
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
"""Function that makes the answer from the outcomes of the parts, in order. A partial, as it pickles by reference."""
Reading = Callable[[bytes], Question]
"""Function that reads a body. A partial of a function of this package, so that a worker can call it.

Raises MalformedJson if the body is not JSON, and InvalidInput if the body is not a valid question.
"""


@dataclass(frozen=True, kw_only=True)
class Posted:
    """A kind of question with a path of its own: all data that its route and the contract need.

    Attributes:
        kind: name of the kind in jobs and logs, and name of the operation.
        path: path of the route.
        problem: request class of the body.
        answer: class of the answer, if the answer is JSON.
        read: function that reads a body; called in any process.
        title: one line in the contract.
        description: description of the question.
        returns: description of the answer.
        examples: bodies by name.
        tag: group of the operation in the contract; the kind if empty.
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
    """Read the body of a request, and return the question that `solve` answers.

    Args:
        kind: kind of the question.
        problem: request class of the body.
        solve: computes the answer from an instance of `problem`, in a worker.
        body: the JSON text.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: the body is not a problem of this class.
    """
    posted = read_body(problem, parse(body))
    return Question.of(kind, kind, posted, partial(render_answer, solve, posted))


def join_outcomes(join: bytes, outcomes: tuple[Outcome, ...]) -> RenderedAnswer:
    """Return the answer that a pickled join makes from the outcomes of the parts."""
    put_together: Join = pickle.loads(join)  # noqa: S301 (made by this service or a worker of its own)
    return put_together(outcomes)

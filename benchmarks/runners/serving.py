"""Loop of all runners: read questions from standard input, measure each in a fork, and write the results."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from benchmarks.measuring import CHANGE, Result, measure_isolated


class Run(NamedTuple):
    """`times` runs of a mechanism, as `benchmarks.cases.Part`; the noise is None where it is requested."""

    rate: float
    noise: float | None
    times: int
    mechanism: str = "gaussian"
    categories: int = 2


class Question(NamedTuple):
    """A question to an accountant.

    Attributes:
        wanted: the requested quantity: `epsilon`, `delta` or `noise_multiplier`.
        parts: the mechanisms that are composed.
        epsilon: given ε, in nats; None if it is not given.
        delta: given δ; None if it is not given.
        relation: neighbouring relation.
    """

    wanted: str
    parts: list[Run]
    epsilon: float | None
    delta: float | None
    relation: str = "add-or-remove-one"

    def at_place(self, place: int) -> Question:
        """Return the question with noise, ε and δ multiplied by 1 + `CHANGE` · place.

        Such a question is new, so that no part of its answer comes from a cache.

        Args:
            place: number of the question.

        Returns:
            The changed question.
        """
        factor = 1.0 + CHANGE * place
        parts = [part if part.noise is None else part._replace(noise=part.noise * factor) for part in self.parts]
        epsilon = None if self.epsilon is None else self.epsilon * factor
        delta = None if self.delta is None else self.delta * factor
        return self._replace(parts=parts, epsilon=epsilon, delta=delta)


class Answer(NamedTuple):
    """The answer of an accountant to a question.

    Attributes:
        value: the value that a user would rely on.
        lower: lower bound on the true value; None if the accountant has none.
        upper: upper bound on the true value.
        interval: function that computes both bounds; its cost is not measured.
    """

    value: float
    lower: float | None = None
    upper: float | None = None
    interval: Callable[[], tuple[float, float]] | None = None


Accountant = Callable[[Question], Answer]


def pure_epsilon(part: Run) -> float:
    """Return ε of a randomised response: the log ratio of the probabilities of the true answer and another."""
    assert part.noise is not None
    return math.log1p(part.categories * (1.0 - part.noise) / part.noise)


def measure_answer(accountant: Accountant, question: Question, *, seconds: int, megabytes: int) -> Result:
    """Measure an accountant's answer in a child process with limits.

    Args:
        accountant: the accountant.
        question: the question.
        seconds: limit of CPU time, in seconds.
        megabytes: limit of the address space, in MB.

    Returns:
        CPU seconds, memory, value and bounds by name, or one member with the reason why there is no answer.
    """

    def finish(answer: Answer) -> Result:
        """Return the members of an answer."""
        lower, upper = answer.interval() if answer.interval else (answer.lower, answer.upper)
        figures = {"value": answer.value, "lower": lower, "upper": upper}
        return {name: None if figure is None else float(figure) for name, figure in figures.items()}

    return measure_isolated(
        lambda place: accountant(question.at_place(place)), finish, seconds=seconds, megabytes=megabytes
    )


def serve(accountant: Accountant, version: str) -> None:
    """Answer questions, which are lines of JSON on standard input, until it ends.

    Other output of an accountant is dropped, so that only answers are on standard output.

    Args:
        accountant: the accountant.
        version: version of the accountant, which is written first.
    """
    # A copy of standard output gets the answers; standard output itself leads nowhere.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def send(message: Mapping[str, Any]) -> None:
        """Write a message as a line of JSON."""
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    send({"version": version})
    for line in sys.stdin:
        body = json.loads(line)
        parts = [Run(*part) for part in body["parts"]]
        question = Question(body["question"], parts, body["epsilon"], body["delta"], body["relation"])
        send(measure_answer(accountant, question, seconds=body["seconds"], megabytes=body["megabytes"]))

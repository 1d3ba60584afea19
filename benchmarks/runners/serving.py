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
    """A question: `wanted` is epsilon, delta or noise_multiplier; ε and δ are None if they are not given."""

    wanted: str
    parts: list[Run]
    epsilon: float | None
    delta: float | None
    relation: str = "add-or-remove-one"

    def at_place(self, place: int) -> Question:
        """Return the question with noise, ε and δ multiplied by 1 + `CHANGE` · place."""
        factor = 1.0 + CHANGE * place
        parts = [part if part.noise is None else part._replace(noise=part.noise * factor) for part in self.parts]
        epsilon = None if self.epsilon is None else self.epsilon * factor
        delta = None if self.delta is None else self.delta * factor
        return self._replace(parts=parts, epsilon=epsilon, delta=delta)


class Answer(NamedTuple):
    """The value that a user would rely on, and the interval if there is one.

    `interval` computes an interval; its cost is not measured.
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
    """Measure an accountant's answer; the result has its value and interval.

    Args:
        accountant: the accountant.
        question: the question.
        seconds: limit of CPU time [s].
        megabytes: limit of the address space [MB].
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
    """Answer questions until standard input ends. The output of an accountant is dropped."""
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

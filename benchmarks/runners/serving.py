"""What all runners share: read questions from standard input, measure each in a fork, and write the results."""

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
    """`wanted` is epsilon, delta or noise_multiplier; of ε and δ what is given."""

    wanted: str
    parts: list[Run]
    epsilon: float | None
    delta: float | None
    relation: str = "add-or-remove-one"

    def moved(self, place: int) -> Question:
        """Return the question of a place, which differs from every other's in noise, ε and δ."""
        more = 1.0 + CHANGE * place
        parts = [part if part.noise is None else part._replace(noise=part.noise * more) for part in self.parts]
        epsilon, delta = (None if given is None else given * more for given in (self.epsilon, self.delta))
        return self._replace(parts=parts, epsilon=epsilon, delta=delta)


class Answer(NamedTuple):
    """The value that a user would rely on, and the interval if there is one.

    `interval` computes one whose cost is not measured.
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
    """Measure an accountant's answer; the result has its value and interval."""

    def finish(answer: Answer) -> Result:
        lower, upper = answer.interval() if answer.interval else (answer.lower, answer.upper)
        ends = {"value": answer.value, "lower": lower, "upper": upper}
        return {name: None if end is None else float(end) for name, end in ends.items()}

    return measure_isolated(
        lambda place: accountant(question.moved(place)), finish, seconds=seconds, megabytes=megabytes
    )


def serve(accountant: Accountant, version: str) -> None:
    """Answer questions until standard input ends. What an accountant prints is dropped."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def send(message: Mapping[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    send({"version": version})
    for line in sys.stdin:
        asked = json.loads(line)
        given = (asked[name] for name in ("epsilon", "delta", "relation"))
        question = Question(asked["question"], [Run(*part) for part in asked["parts"]], *given)
        send(measure_answer(accountant, question, seconds=asked["seconds"], megabytes=asked["megabytes"]))

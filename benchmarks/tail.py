"""CPU of random questions: python -m benchmarks.tail ROWS [--questions N] [--seed N] [--only GROUP …].

Groups are accounts of one kind of mechanism, lists of several, and each calibrator. Every number of a known request is
drawn anew over the widest ranges that requests allow. Each accepted question becomes a line of the file ROWS. With
--grow nothing is measured: from the rows it grows the trees of costs.json, by which the service estimates the cost of a
question, and writes the section of docs/benchmarks.md. With --judge it compares the trees as they are with new rows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import epsilond
from benchmarks import costs
from benchmarks.environments import THREADS
from benchmarks.everyday import import_everything
from benchmarks.specs import SPECS
from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.app.questions.cost import ACCOUNTS, LISTS
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.reading import read

LIMIT = 8.0
"""CPU seconds after which a question is stopped."""
RANGES: Mapping[str, tuple[float, float]] = {
    "noise_multiplier": (0.05, 1e3),
    "scale_multiplier": (0.05, 1e3),
    "decay_rate": (1e-4, 20.0),
    "rate": (1e-9, 1.0),
    "participation_rate": (1e-9, 1.0),
    "times": (1.0, 1e9),
    "rounds": (1.0, 1e9),
    "epsilon": (1e-3, 1e7),
}
"""Ranges of numbers that are drawn evenly on a logarithmic scale; every other number moves by up to `FACTOR`."""
FACTOR = 30.0
NEAR = 10.0
"""Factor by which numbers move in questions that are near to everyday ones."""
CHOICES: Mapping[str, Sequence[str]] = {
    "sampling": ("poisson", "without-replacement", "with-replacement", "full"),
    "relation": ("add-or-remove-one", "replace-one", "zero-out-one"),
    "solve_for": ("noise_multiplier", "rounds", "rate", "epsilon", "delta"),
}
"""Words that are drawn; a request that combines them in a way that is not accepted is drawn anew."""
WHOLE = frozenset(("times", "rounds"))
LEAST_LOG10_DELTA = -300.0


class Question(NamedTuple):
    """A random question to the accountant or to a calibrator.

    Attributes:
        group: kind of the question: accounts, lists of mechanisms, or the name of a calibrator.
        body: body of the request.
        wide: whether its numbers are drawn over their widest ranges.
    """

    group: str
    body: Mapping[str, Any]
    wide: bool


class Measured(NamedTuple):
    """A question, its CPU seconds, and how it ended: answered, refused, stopped at `LIMIT`, or an error."""

    question: Question
    seconds: float
    ending: str


class Stopped(BaseException):
    """A question took `LIMIT` seconds of CPU."""


def log_uniform(generator: random.Random, low: float, high: float) -> float:
    """Return a number that is evenly drawn on a logarithmic scale.

    Args:
        generator: source of randomness.
        low: the least number, above 0.
        high: the largest number.
    """
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def redraw(generator: random.Random, value: Any, wide: bool, name: str = "") -> Any:
    """Return a part of a request with every number and choice in it drawn anew.

    Args:
        generator: source of randomness.
        value: the part.
        wide: whether numbers are drawn over their widest ranges, and words too.
        name: member that holds the part.

    Returns:
        The new part, of the same structure.
    """
    if isinstance(value, Mapping):
        body = {key: redraw(generator, each, wide, key) for key, each in value.items()}
        if wide and "population" in body:
            # A batch is not larger than the population.
            body["population"] = round(log_uniform(generator, 1.0, 1e12))
            body["batch_size"] = round(log_uniform(generator, 1.0, body["population"]))
        return body
    if isinstance(value, list | tuple):
        return [redraw(generator, item, wide, name) for item in value]
    if isinstance(value, bool | str):
        return generator.choice(CHOICES[name]) if wide and name in CHOICES else value
    return _redraw_number(generator, value, wide, name)


def _redraw_number(generator: random.Random, value: float, wide: bool, name: str) -> float:
    """Draw a number anew, on a logarithmic scale.

    Args:
        generator: source of randomness.
        value: the number.
        wide: whether it is drawn over its range in `RANGES`, and not near the present value.
        name: member that holds the number.

    Returns:
        The new number. δ is from 10⁻¹² to 10⁻³, or if wide from 10^`LEAST_LOG10_DELTA` to 0.1. Counts are at least 1.
    """
    if name in ("delta", "log10_delta"):
        exponent = generator.uniform(LEAST_LOG10_DELTA, -1.0) if wide else generator.uniform(-12.0, -3.0)
        return 10.0**exponent if name == "delta" else exponent
    if wide and name in RANGES:
        low, high = RANGES[name]
    else:
        factor = FACTOR if wide else NEAR
        low, high = value / factor, value * factor
    number = log_uniform(generator, low, high) if low > 0.0 else value
    # Some counts, such as rounds, are given as doubles.
    is_whole = isinstance(value, int) or name in WHOLE
    return max(1, round(number)) if is_whole else number


def draw_account(generator: random.Random, group: str, wide: bool) -> Mapping[str, Any]:
    """Draw the request of an account, of one kind of mechanism or of a list of two to eight.

    Args:
        generator: source of randomness.
        group: `ACCOUNTS` for one mechanism, or `LISTS`.
        wide: whether numbers are drawn over their widest ranges.

    Returns:
        The body of the request.
    """
    settings = [each for name, each in SPECS.items() if "composed" not in name]
    setting = generator.choice(settings)
    spec = redraw(generator, setting.spec, wide)
    if group == LISTS:
        # All mechanisms of a list have the same relation and observer.
        same = [
            candidate
            for candidate in settings
            if (candidate.relation, candidate.observer) == (setting.relation, setting.observer)
        ]
        parts = [redraw(generator, generator.choice(same).spec, wide) for _ in range(generator.randint(2, 8))]
        spec = {"kind": "composed", "mechanisms": parts}
    # Most questions are for ε at a δ.
    query = redraw(generator, {"log10_delta": -6.0} if generator.random() < 0.7 else {"epsilon": 1.0}, wide)
    return {"spec": spec, "relation": setting.relation, "observer": setting.observer, "unit": "record", "query": query}


def draw_gaussian(generator: random.Random, wide: bool) -> Mapping[str, Any]:
    """Draw the request of a calibration of Gaussian noise, for any of its unknowns.

    Args:
        generator: source of randomness.
        wide: whether numbers are drawn over their widest ranges.

    Returns:
        The body of the request, without the unknown.
    """
    body = redraw(generator, {**EXAMPLES["gaussian"], "noise_multiplier": 1.0}, wide)
    unknown = generator.choice(CHOICES["solve_for"])
    body["solve_for"] = unknown
    if body["sampling"] == "full" or unknown == "rate":
        del body["rate"]
    elif body["sampling"] == "with-replacement" or (wide and generator.random() < 0.5):
        del body["rate"]  # the batch size and the population determine the rate
        body |= redraw(generator, {"batch_size": 1, "population": 1}, wide=True)
    if unknown == "rate" and body["sampling"] != "poisson":
        body["population"] = round(log_uniform(generator, 1.0, 1e12))
    return {name: value for name, value in body.items() if name != unknown}


def draw(generator: random.Random, group: str, wide: bool) -> Question:
    """Draw a random question of a group.

    Args:
        generator: source of randomness.
        group: one of `GROUPS`.
        wide: whether numbers are drawn over their widest ranges.

    Returns:
        The question. Its request may be one that is not accepted.
    """
    if group in (ACCOUNTS, LISTS):
        return Question(group, draw_account(generator, group, wide), wide)
    if group == "gaussian":
        return Question(group, draw_gaussian(generator, wide), wide)
    return Question(group, redraw(generator, EXAMPLES[group], wide), wide)


EXAMPLES: Mapping[str, Mapping[str, Any]] = {calibrator.name: calibrator.example for calibrator in epsilond.CALIBRATORS}
GROUPS = (ACCOUNTS, LISTS, *EXAMPLES)


def ask(question: Question) -> object:
    """Answer a question as a worker of the service does."""
    if question.group in EXAMPLES:
        return epsilond.as_json(epsilond.calibrate(question.group, **question.body))
    return epsilond.as_json(answer(read(AccountProblem, question.body)))


def measure(question: Question) -> Measured | None:
    """Measure the CPU time of one question.

    The clock of the thread is read: while a timer is set, the clock of the process advances in steps of 4 ms.

    Args:
        question: the question.

    Returns:
        CPU seconds and the way in which it ended; None if the request is not accepted.
    """
    begun = time.thread_time()
    # The timer raises `Stopped` after `LIMIT` seconds of CPU.
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        ask(question)
    except InvalidInput:
        return None
    except EpsilondError:
        ending = "refused"
    except Stopped:
        ending = "stopped"
    except Exception as error:  # noqa: BLE001  a fault of ours, which is printed
        ending = repr(error)
    else:
        ending = "answered"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return Measured(question, time.thread_time() - begun, ending)


def stop(_: int, __: FrameType | None) -> None:
    """End the question that is being answered."""
    raise Stopped


def measure_all(group: str, count: int, seed: int) -> Iterator[Measured]:
    """Measure accepted questions of a group, half of them with numbers over the widest ranges.

    Args:
        group: one of `GROUPS`.
        count: number of questions.
        seed: number that distinguishes runs.

    Yields:
        Each question with its CPU seconds and the way in which it ended.
    """
    generator = random.Random(f"{group} {seed}")
    for place in range(count):
        measured = None
        while measured is None:  # a question that is not accepted is drawn anew
            measured = measure(draw(generator, group, wide=place % 2 == 0))
        yield measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure random questions, or write or compare the trees that estimate CPU times.

    Args:
        arguments: arguments of the command line; those of the process if None.

    Returns:
        The exit code 0.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tail", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=Path, help="file with a line of JSON for each question")
    parser.add_argument("--questions", type=int, default=2000, help="number of accepted questions of each group")
    parser.add_argument("--seed", type=int, default=0, help="another number asks other questions")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="groups that are asked")
    parser.add_argument("--grow", action="store_true", help="ask nothing: write the trees and the document")
    parser.add_argument("--judge", action="store_true", help="ask nothing: compare the trees with new rows")
    options = parser.parse_args(arguments)
    if options.judge:
        costs.judge(options.rows)
        return 0
    if options.grow:
        costs.write(options.rows)
        return 0
    # Start again with the variables that limit numerical libraries to one thread.
    if THREADS.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.tail", *sys.argv[1:]], os.environ | THREADS)
    import_everything()
    signal.signal(signal.SIGPROF, stop)
    for group in options.only:
        # Every row is stored at once, so that an interrupted run keeps its rows.
        with options.rows.open("a", encoding="utf-8", buffering=1) as file:
            for question, seconds, ending in measure_all(group, options.questions, options.seed):
                file.write(json.dumps({**question._asdict(), "seconds": seconds, "ending": ending}) + "\n")
        print(group, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

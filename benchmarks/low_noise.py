"""Accounts with little noise: python -m benchmarks.low_noise [--short].

The first table has the CPU of ε at a δ, and of δ at an ε, for a Poisson-subsampled Gaussian mechanism with rate 0.01
and 100 steps. The second table is a search for the noise that bounds a pair of error rates. Such a search calls an
accountant some hundred times: it minimises over δ, and bisects over the noise for each δ. Each question is answered
twice: by the tables of `accountants/engine/low_noise`, and by the other engines only. The tables are written to
docs/benchmarks.md.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from scipy.optimize import minimize_scalar

import epsilond
from benchmarks import tables
from benchmarks.measuring import CHANGE, measure
from epsilond.accountants.engine.low_noise import bounds
from epsilond.accountants.guarantee import PrivacyCurve

RATE, STEPS = 0.01, 100
NOISES = (0.05, 0.1, 0.15, 0.2, 0.25)
DELTAS, EPSILONS = (1e-5, 0.3, 0.63), (0.0, 1.0, 50.0)
ERROR_RATES = ((0.1, 0.3),)
"""False positive and false negative rates of the searches, which no noise of the range meets for free."""
LEAST_NOISE, LARGEST_NOISE, CLOSE = 0.05, 100.0, 1e-3
"""Range of the searches, and their tolerance in ε and in the noise."""
HEAD = ("noise multiplier", "question", "CPU", "width", "CPU without tables", "width without tables")
SEARCH_HEAD = (
    "false positives",
    "false negatives",
    "noise multiplier",
    "questions",
    "CPU",
    "a question",
    "CPU without",
)


def curve_of(noise: float) -> PrivacyCurve:
    """Return the curve of the run with a noise multiplier."""
    gaussian = {"kind": "gaussian", "noise_multiplier": noise}
    step = {"kind": "subsampled", "sampling": "poisson", "rate": RATE, "mechanism": gaussian}
    run = {"kind": "repeated", "times": STEPS, "mechanism": step}
    account = epsilond.account(run, relation="add-or-remove-one", unit="record", observer="released-models")
    return account.guarantee.curve


@contextmanager
def without_tables() -> Iterator[None]:
    """Let the other engines answer."""
    with mock.patch.object(bounds, "has_low_noise", return_value=False):
        yield


def width_of(lower: float, upper: float) -> str:
    """Return the width of an enclosure, relative to its upper bound."""
    return "0" if upper == lower else f"{(upper - lower) / abs(upper):.1e}"


def question_rows() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the first table."""
    for noise in NOISES:
        questions: list[tuple[str, Callable[[float], tuple[float, float]]]] = [
            *((f"ε at δ = {delta:g}", lambda z, delta=delta: curve_of(z).epsilon(delta=delta)) for delta in DELTAS),
            *((f"δ at ε = {e:g}", lambda z, e=e: curve_of(z).log10_delta(epsilon=e)) for e in EPSILONS),
        ]
        for name, question in questions:

            def ask(
                place: int, noise: float = noise, question: Callable[..., tuple[float, float]] = question
            ) -> object:
                """Answer the question for a noise that no call had before.

                Args:
                    place: number of the call.
                    noise: noise multiplier of the first call.
                    question: the question about a noise multiplier.
                """
                return question(noise * (1.0 + place * CHANGE))

            cells = [tables.seconds(measure(ask)["cpu"]), width_of(*question(noise))]
            with without_tables():
                cells += [tables.seconds(measure(ask)["cpu"]), width_of(*question(noise * (1.0 + CHANGE)))]
            yield f"{noise:g}", name, *cells


def epsilon_for(delta: float, false_positives: float, false_negatives: float) -> float:
    """Return the ε at which (ε, δ) implies a pair of error rates.

    Args:
        delta: δ.
        false_positives: false positive rate.
        false_negatives: false negative rate.
    """
    first = (1.0 - delta - false_positives) / false_negatives
    second = (1.0 - delta - false_negatives) / false_positives
    return math.log(max(first, second, 1.0))


def search(false_positives: float, false_negatives: float) -> tuple[float, int, float]:
    """Search the least noise for a pair of error rates.

    Returns:
        The noise multiplier, the number of questions, and the CPU seconds.
    """
    questions = 0

    def epsilon_at(noise: float, delta: float) -> float:
        """Ask the accountant."""
        nonlocal questions
        questions += 1
        return curve_of(noise).epsilon(delta=delta).upper

    def least_noise(delta: float) -> float:
        """Bisect for the noise with the ε that a δ allows."""
        target, low, high = epsilon_for(delta, false_positives, false_negatives), LEAST_NOISE, LARGEST_NOISE
        while high - low > CLOSE or (high > LEAST_NOISE + CLOSE and abs(epsilon_at(high, delta) - target) > CLOSE):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if epsilon_at(middle, delta) > target else (low, middle)
            if high - low < 1e-9:
                break
        return high

    start = time.process_time()
    largest = 1.0 - false_positives - false_negatives
    minimum = minimize_scalar(least_noise, bounds=(0.01, largest), options={"xatol": 0.01}, method="bounded")
    return float(minimum.fun), questions, time.process_time() - start


def search_rows() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the second table."""
    for false_positives, false_negatives in ERROR_RATES:
        noise, questions, seconds = search(false_positives, false_negatives)
        with without_tables():
            seconds_without = search(false_positives, false_negatives)[2]
        times = (tables.seconds(value) for value in (seconds, seconds / questions, seconds_without))
        yield f"{false_positives:g}", f"{false_negatives:g}", f"{noise:.4f}", str(questions), *times


def main() -> None:
    """Measure, print and write Markdown."""
    chosen = tables.parser("low_noise", __doc__).parse_args()
    curve_of(0.11).epsilon(delta=0.5)
    with without_tables():
        curve_of(0.11).epsilon(delta=0.5)
    loads = [os.getloadavg()[0]]
    parts = [tables.as_markdown(HEAD, question_rows()), tables.as_markdown(SEARCH_HEAD, search_rows())]
    loads.append(os.getloadavg()[0])
    load = f"Load average {min(loads):.1f} to {max(loads):.1f}."
    head = f"`python -m benchmarks.low_noise`, {chosen.date}: {tables.machine()}. {load}"
    text = "\n\n".join([head, *parts])
    print(text)
    if not chosen.short:
        tables.write_section("low noise", text)


if __name__ == "__main__":
    main()

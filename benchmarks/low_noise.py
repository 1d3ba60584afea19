"""Accounts with little noise: python -m benchmarks.low_noise [--short].

The table has the CPU of ε at a δ, of δ at an ε, and of a whole account. The run is a Poisson-subsampled Gaussian
mechanism with rate 0.01 and 100 steps. Each question is answered twice: by the tables of
`accountants/engine/low_noise`, and by the other engines only. The table is written to docs/benchmarks.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import epsilond
from benchmarks import tables
from benchmarks.measuring import CHANGE, measure
from epsilond.accountants.engine.low_noise import best_tests, bounds
from epsilond.accountants.guarantee import PrivacyCurve

RATE, STEPS = 0.01, 100
NOISES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
DELTAS, EPSILONS = (1e-5, 0.3), (0.0, 50.0)
HEAD = ("noise multiplier", "question", "CPU", "width", "CPU without tables", "width without tables")
Account = Callable[[float], tuple[float, float]]


def account_of(noise: float, **fields: object) -> Any:
    """Return the account of the run with a noise multiplier."""
    gaussian = {"kind": "gaussian", "noise_multiplier": noise}
    step = {"kind": "subsampled", "sampling": "poisson", "rate": RATE, "mechanism": gaussian}
    run = {"kind": "repeated", "times": STEPS, "mechanism": step}
    return epsilond.account(run, relation="add-or-remove-one", unit="record", observer="released-models", **fields)


def curve_of(noise: float) -> PrivacyCurve:
    """Return the curve of the run with a noise multiplier."""
    return account_of(noise).guarantee.curve


def whole_account(noise: float) -> tuple[float, float]:
    """Return the bounds on ε of the whole account at the first δ."""
    epsilon = account_of(noise, delta=DELTAS[0]).guarantee.epsilon
    return epsilon.lower, epsilon.upper


@contextmanager
def without_tables() -> Iterator[None]:
    """Let the other engines answer."""
    with (
        mock.patch.object(bounds, "has_low_noise", return_value=False),
        mock.patch.object(best_tests, "has_low_noise", return_value=False),
    ):
        yield


def width_of(lower: float, upper: float) -> str:
    """Return the width of an enclosure, relative to its upper bound."""
    return "0" if upper == lower else f"{(upper - lower) / abs(upper):.1e}"


def question_rows() -> Iterator[tuple[str, ...]]:
    """Measure each question at each noise, with the tables for low noise and without them.

    Yields:
        Cells of a row: noise multiplier, question, CPU time and relative width of the interval with the tables, and
        both without them.
    """
    for noise in NOISES:
        questions: list[tuple[str, Account]] = [
            *((f"ε at δ = {delta:g}", lambda z, delta=delta: curve_of(z).epsilon(delta=delta)) for delta in DELTAS),
            *((f"δ at ε = {e:g}", lambda z, e=e: curve_of(z).log10_delta(epsilon=e)) for e in EPSILONS),
            ("whole account", whole_account),
        ]
        for name, question in questions:

            def ask(
                place: int, noise: float = noise, question: Callable[..., tuple[float, float]] = question
            ) -> object:
                """Answer the question for a noise that no earlier call had, so that nothing comes from a cache.

                Args:
                    place: number of the call.
                    noise: noise multiplier of the first call.
                    question: the question about a noise multiplier.

                Returns:
                    The answer, which is not read.
                """
                return question(noise * (1.0 + place * CHANGE))

            cells = [tables.seconds(measure(ask)["cpu"]), width_of(*question(noise))]
            # The same question with another noise, answered without the tables.
            with without_tables():
                cells += [tables.seconds(measure(ask)["cpu"]), width_of(*question(noise * (1.0 + CHANGE)))]
            yield f"{noise:g}", name, *cells


def main() -> None:
    """Measure accounts with little noise, print the table, and write it to docs/benchmarks.md."""
    chosen = tables.parser("low_noise", __doc__).parse_args()
    # The first answers of both kinds pay for imports, so that they are not measured.
    curve_of(0.11).epsilon(delta=0.5)
    with without_tables():
        curve_of(0.11).epsilon(delta=0.5)
    loads = [os.getloadavg()[0]]
    rows = tables.as_markdown(HEAD, question_rows())
    loads.append(os.getloadavg()[0])
    load = f"Load average {min(loads):.1f} to {max(loads):.1f}."
    head = f"`python -m benchmarks.low_noise`, {chosen.date}: {tables.machine()}. {load}"
    text = f"{head}\n\n{rows}"
    print(text)
    if not chosen.short:
        tables.write_section("low noise", text)


if __name__ == "__main__":
    main()

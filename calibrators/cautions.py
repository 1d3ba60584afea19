"""Cautions that several calibrators give, in one wording and under one code each."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING

from epsilond.accountants.quantities import assumptions
from epsilond.accountants.structure import DRAW_UNSEEN
from epsilond.calibrators.answer import UNBOUNDED, Caution
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from epsilond.accountants.quantities import Observer
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.search import Certified

DIGITS = 4
"""Of a figure in a sentence."""

MINIMALITY_NOT_PROVED = Caution(
    code="minimality-not-proved",
    message="the answer is certified, but the bound is too coarse here to prove that less would not do",
)


def noise_cautions(certified: Iterable[Certified], *, drawn: str = "record") -> Iterator[Caution]:
    """The least noise that is offered meets the target, or no less was proved to miss it."""
    known = tuple(certified)
    if any(one.noise == LEAST for one in known):
        yield Caution(
            code="sampling-alone-suffices",
            message=f"a {drawn} is drawn so rarely that δ is met at the least noise offered, {LEAST:g} contributions; "
            f"a {drawn} that is drawn is hardly protected",
        )
    elif any(one.minimal == "searched" for one in known):
        yield MINIMALITY_NOT_PROVED


def assumption_cautions(problem: object) -> Iterator[Caution]:
    """Fields that are absent, and what each is taken to be."""
    for code, message in assumptions(problem):
        yield Caution(code=code, message=message)


def printed_cautions(printed: Iterable[PrintedReading], noise_stds: Sequence[float]) -> Iterator[Caution]:
    """What is wrong with printed statements; `noise_stds` are the certified ones, of each group of clients."""
    for reading in printed:
        yield from failing_conditions(reading)
        yield from _claim(reading)
        yield from noise_below(reading, noise_stds[int(reading.parameters.get("group", 0))])


def failing_conditions(reading: PrintedReading) -> Iterator[Caution]:
    """Conditions of a printed statement that fail, with both sides where they have them."""
    for condition in reading.conditions:
        if condition.holds is False:
            sides = f": {condition.left:.6g} against {condition.right:.6g}" if condition.left is not None else ""
            yield Caution(
                code="printed-condition-fails",
                message=f"{name_of(reading)} does not apply, {condition.statement} fails{sides}; the certified "
                "parameters stand",
            )


def noise_below(reading: PrintedReading, noise_std: float) -> Iterator[Caution]:
    """The printed noise is less than the certified one."""
    if reading.parameters["noise_std"] < noise_std:
        yield Caution(
            code="printed-noise-below-certified",
            message=f"the noise printed in {name_of(reading)} is below the smallest that is certified here",
        )


ASSUMED = {
    "initial_distance": "the diameter",
    "initial_gap": "lipschitz · diameter",
    "gradient_std": "lipschitz, its largest value",
    "heterogeneity": "lipschitz, its largest value",
}
"""What an absent field of a mini-batch problem is taken to be."""


def assumed(problem: object, *names: str) -> Iterator[Caution]:
    """Those of the fields that were absent."""
    for name in names:
        if getattr(problem, name) is None:
            code = f"assumed-{name.replace('_', '-')}"
            yield Caution(code=code, message=f"{name} was taken to be {ASSUMED[name]}")


def name_of(reading: PrintedReading) -> str:
    """The theorem and the reading of it."""
    return f"{reading.theorem} ({reading.reading})"


def _claim(reading: PrintedReading) -> Iterator[Caution]:
    if reading.true is not None and reading.true.epsilon.lower > reading.claims.epsilon:
        yield Caution(
            code="printed-noise-not-private",
            message=f"at the noise printed in {name_of(reading)} the true ε is at least "
            f"{reading.true.epsilon.lower:.6g}, above the {reading.claims.epsilon:g} it claims",
        )


def not_amplified(observer: Observer, here: str | None = None, unseen: str | None = None) -> Caution:
    """The warning that a draw of clients was not counted, with both certified figures where they are known."""
    cost = f": {here}" if here else ""
    gain = f", {unseen} is certified" if unseen else ", it may be"
    return Caution(
        code="amplification-not-counted",
        message=f"the observer {observer} sees which clients are drawn, so the draw is not counted as amplification"
        f"{cost}. Against the observer {DRAW_UNSEEN}, to whom a trusted server does not tell who is drawn{gain}",
    )


def rounded(value: float, *, up: bool = True) -> str:
    """An end in a sentence, rounded up or down; counts stand in full."""
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    direction = ROUND_CEILING if up else ROUND_FLOOR
    return f"{float(Context(prec=DIGITS, rounding=direction).create_decimal(value)):g}"

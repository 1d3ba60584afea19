"""Cautions that several calibrators give, in one wording and under one code each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.numerics.outward import round_to_digits
from epsilond.accountants.quantities import assumptions
from epsilond.accountants.structure import DRAW_UNSEEN
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import UNBOUNDED, Caution
from epsilond.calibrators.search import LEAST
from epsilond.calibrators.serving.entries import ALWAYS_SHARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from epsilond.accountants.quantities import Observer
    from epsilond.calibrators.answer import ConditionAnswer, PrintedReading
    from epsilond.calibrators.search import Certified

DIGITS = 4
"""Number of significant digits of a figure in a sentence."""

MINIMALITY_NOT_PROVED = Caution(
    code="minimality-not-proved",
    message="the certified answer meets the target, but the bound is too coarse here to prove that no better one does",
)


def noise_cautions(certified: Iterable[Certified], *, drawn: str | None = "record") -> Iterator[Caution]:
    """Warn if the smallest noise that a search tries meets the target, or if smaller noise may also meet it.

    Searches try no noise below a fixed least one, which hardly protects by itself. If units are sampled at random, the
    low sampling probability then gives most of the privacy.

    Args:
        certified: the certified noise of each group.
        drawn: the unit of which each round uses a random sample, "record" or "client"; None if no unit is sampled.

    Yields:
        At most one warning, with a code and a message.
    """
    members = tuple(certified)
    is_least = any(member.noise == LEAST for member in members)
    if is_least and drawn is None:
        yield Caution(
            code="least-noise-suffices",
            message=f"the target is met at the least noise offered, {LEAST:g} times the norm of one contribution. "
            "Such a target hardly protects",
        )
    elif is_least:
        yield Caution(
            code="sampling-alone-suffices",
            message=f"a {drawn} is drawn so rarely that the target is met at the least noise offered, {LEAST:g} "
            f"times the norm of one contribution. A {drawn} that is drawn is hardly protected",
        )
    elif any(member.minimal == "searched" for member in members):
        yield MINIMALITY_NOT_PROVED


def assumption_cautions(problem: object) -> Iterator[Caution]:
    """Yield a caution for each absent field, with the value that is assumed for it.

    Args:
        problem: the request. Its class says which value is assumed for which field.
    """
    for code, message in assumptions(problem):
        yield Caution(code=code, message=message)


def printed_cautions(printed: Iterable[PrintedReading], noise_stds: Sequence[float]) -> Iterator[Caution]:
    """Warn of a paper's theorems: conditions that fail, claims of privacy that are false, and too little noise.

    A theorem may have several interpretations ("readings") of its text. Those that prescribe the same parameters share
    their warnings.

    Args:
        printed: the evaluated readings, as the paper states them.
        noise_stds: the certified σ of each group of clients, with which the printed noise is compared.

    Yields:
        First the warnings of conditions, then those of the claim and the noise of each printed run.
    """
    readings = tuple(printed)
    yield from failing_conditions(readings)

    # Readings of one theorem that prescribe the same run share their warnings.
    readings_of_run: dict[tuple[str, tuple[float | None, ...]], list[PrintedReading]] = {}
    for reading in readings:
        run = tuple(reading.parameters.get(name) for name in ALWAYS_SHARED)
        readings_of_run.setdefault((reading.theorem, run), []).append(reading)

    for equal_readings in readings_of_run.values():
        yield from _refuted_claims(equal_readings)
        client_group = int(equal_readings[0].parameters.get("group", 0))
        yield from noise_below(*equal_readings, noise_std=noise_stds[client_group])


def failing_conditions(readings: Iterable[PrintedReading]) -> Iterator[Caution]:
    """Warn of each condition of a paper's theorem that the run does not meet, with the numbers that it compares.

    Args:
        readings: evaluated interpretations of printed theorems. Those of one theorem share the warning of a condition.

    Yields:
        One warning for each theorem and failing condition. The certified noise does not depend on printed theorems.
    """
    # Collect the failing conditions by theorem and by the id of the condition.
    failing: dict[tuple[str, str], list[tuple[str, ConditionAnswer]]] = {}
    for reading in readings:
        for condition in reading.conditions:
            if condition.holds == Verdict.NO:
                failing.setdefault((reading.theorem, condition.id), []).append((reading.reading, condition))

    for (theorem, _), conditions in failing.items():
        message = f"{_describe_failure(theorem, conditions)}. The certified noise is unaffected."
        yield Caution(code="printed-condition-fails", message=message)


def _describe_failure(theorem: str, conditions: Sequence[tuple[str, ConditionAnswer]]) -> str:
    """Describe in words a condition of a paper's theorem that a run does not meet, without a final full stop.

    Args:
        theorem: id of the theorem.
        conditions: for each reading (interpretation of the printed statement) in which the condition fails, its name
            and the condition. `left` and `right` are the compared numbers.

    Returns:
        One sentence, without its final full stop.
    """
    # A number of rounds that is too small: all interpretations compare the same number with their own limits.
    _, first = conditions[0]
    compare_one_number = all(
        _has_finite_sides(condition) and condition.left == first.left for _, condition in conditions
    )
    if first.id == "prescribed-rounds" and compare_one_number:
        needs = ", ".join(f"{math.ceil(condition.right or 0.0)} ({name})" for name, condition in conditions)
        return f"The paper's risk bound {theorem} needs at least {needs} rounds; this run has {first.left:g}"

    names = ", ".join(name for name, _ in conditions)
    comparisons = dict.fromkeys(
        f"{condition.left:.6g} against {condition.right:.6g}"
        for _, condition in conditions
        if condition.left is not None and condition.right is not None
    )
    sides = f" ({'; '.join(comparisons)})" if comparisons else ""
    failure = f"A condition fails{sides}: {first.statement}"
    return f"The paper's statement {theorem} ({names}) does not cover this run. {failure}"


def _has_finite_sides(condition: ConditionAnswer) -> bool:
    """Decide whether a condition has two sides, of which the right one is finite."""
    return condition.left is not None and condition.right is not None and math.isfinite(condition.right)


def noise_below(*readings: PrintedReading, noise_std: float) -> Iterator[Caution]:
    """Warn if a paper's theorem prescribes less noise than the smallest noise that is certified for the target.

    Args:
        readings: interpretations of one theorem that prescribe the same noise, at least one.
        noise_std: the certified standard deviation of the noise per coordinate.

    Yields:
        The warning; nothing if the printed noise is at least the certified one.
    """
    if readings[0].parameters["noise_std"] < noise_std:
        yield Caution(
            code="printed-noise-below-certified",
            message=f"the noise printed in {name_of(*readings)} is below the smallest noise that is certified for the "
            "target",
        )


ASSUMED = {
    "initial_distance": "the diameter",
    "initial_gap": "lipschitz · diameter",
    "gradient_std": "lipschitz, its largest value",
    "heterogeneity": "lipschitz, its largest value",
}
"""Values that are assumed for absent fields of a mini-batch problem."""


def absence_cautions(problem: object, *names: str) -> Iterator[Caution]:
    """Yield a caution for each named field that is absent, with the value that is assumed for it.

    Args:
        problem: the request, an object with the named fields.
        names: names of its fields, each one of `ASSUMED`.

    Yields:
        One caution for each field that is None.
    """
    for name in names:
        if getattr(problem, name) is None:
            code = f"assumed-{name.replace('_', '-')}"
            yield Caution(code=code, message=f"without {name} the worst case is assumed: {ASSUMED[name]}")


def name_of(*readings: PrintedReading) -> str:
    """Return the name of a printed theorem for a warning: its id and, in parentheses, its interpretations.

    Args:
        readings: interpretations of one theorem, at least one.
    """
    interpretations = ", ".join(reading.reading for reading in readings)
    return f"{readings[0].theorem} ({interpretations})"


def _refuted_claims(readings: Sequence[PrintedReading]) -> Iterator[Caution]:
    """Warn if a paper claims an ε that is below a proved lower bound on the true ε at the noise that it prescribes.

    Args:
        readings: interpretations of one theorem that print the same noise, each with its claimed and its true ε.

    Yields:
        The warning, with the figures of the first refuted reading; nothing if none is refuted.
    """
    refuted = [reading for reading in readings if _is_refuted(reading)]
    if not refuted:
        return
    first = refuted[0]
    assert first.true is not None  # else it would not be refuted
    yield Caution(
        code="printed-noise-not-private",
        message=f"at the noise printed in {name_of(*refuted)} the true ε is at least "
        f"{first.true.epsilon.lower:.6g}. This is above the ε of {first.claims.epsilon:g} that is claimed there",
    )


def _is_refuted(reading: PrintedReading) -> bool:
    """Decide whether a proved lower bound on the true ε exceeds the ε that a printed theorem claims."""
    return reading.true is not None and reading.true.epsilon.lower > reading.claims.epsilon


def not_amplified(observer: Observer, here: str | None = None, unseen: str | None = None) -> Caution:
    """Return the warning that drawing clients at random was not counted as privacy amplification.

    Args:
        observer: the observer, who sees which clients are drawn.
        here: words for the certified result against this observer, such as "ε 2"; None if it is not known.
        unseen: words for the result against an observer who does not see the draw; None if it is not known.

    Returns:
        The warning. Its text names the results that are known.
    """
    cost = f". Against this observer, {here} is certified" if here else ""
    gain = f"{unseen} is certified" if unseen else "the draw may be counted"
    return Caution(
        code="amplification-not-counted",
        message=f"the observer {observer} sees which clients are drawn, so the draw is not counted as amplification"
        f"{cost}. Against the observer {DRAW_UNSEEN}, to whom a trusted server does not tell who is drawn, {gain}",
    )


def format_bound(value: float, *, up: bool = True) -> str:
    """Return a bound as text, rounded to the safe side; integers are not rounded.

    Args:
        value: the bound; an infinite one becomes "unbounded".
        up: whether it is an upper bound, which is rounded up to `DIGITS` digits. A lower bound is rounded down.

    Returns:
        The text of the number, "unbounded" for +∞, or "-unbounded" for −∞.
    """
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    return f"{round_to_digits(value, DIGITS, up=up):g}"

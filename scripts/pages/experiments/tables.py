"""Tables of all measured figures of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from epsilond.witness.cells import CellAnswer
from epsilond.witness.findings import format_bound
from epsilond.witness.risks.answer import Measured
from scripts.pages.experiments.panels import own_score, score_beside, with_best_steps, word
from scripts.pages.experiments.stored import Stored
from scripts.pages.markdown import text_table

ROUNDED_UP = Context(prec=4, rounding=ROUND_CEILING)
Column = tuple[str, Callable[[CellAnswer], str]]


def table(answer: Stored) -> str:
    """Write a row for each cell, without the columns that are empty in all cells."""
    answer = with_best_steps(answer)
    columns = [*_places(answer), *_columns(answer)]
    columns = [(title, read) for title, read in columns if any(map(read, answer.cells))]
    rows = [[read(cell) for _, read in columns] for cell in answer.cells]
    return text_table([title for title, _ in columns], rows)


def _places(answer: Stored) -> Iterator[Column]:
    preset = answer.preset
    for axis in (preset.panels, preset.lines, preset.across):
        if axis is not None:
            yield axis.name.replace("_", " "), lambda cell, name=axis.name: word(cell.place[name])  # type: ignore[misc]


def _columns(answer: Stored) -> Iterator[Column]:
    by_kind = {"audit": _formulas, "membership": _attacks}.get(answer.cells[0].kind, _measurements)
    yield from by_kind(answer)


def _measurements(answer: Stored) -> Iterator[Column]:
    """Yield the columns of measured runs, of the runs that they are compared with, and of published figures.

    Args:
        answer: the stored answer of an experiment.

    Yields:
        Title of the column, and the function from a result to its cell.
    """
    preset, measure = answer.preset, answer.preset.measure
    if preset.tuned is not None and preset.tuned.name in answer.cells[0].place:
        yield preset.tuned.title, lambda cell: word(cell.place[preset.tuned.name])  # type: ignore[union-attr]
    elif preset.tuned is not None:
        yield preset.tuned.title, _tuned_step
    yield "ε asked or claimed", lambda cell: "" if cell.claimed_epsilon is None else word(cell.claimed_epsilon)
    yield "certified ε", _upper_bound
    name = "excess risk" if measure is None else measure.replace("_", " ")
    yield name, lambda cell: _mean(own_score(cell, measure))
    yield "band", lambda cell: _band(own_score(cell, measure))
    if any(cell.published for cell in answer.cells):
        yield "the paper prints", lambda cell: _print_figure(cell, "private")
    for run in dict.fromkeys(run for cell in answer.cells for run in cell.beside or {}):
        yield run, lambda cell, run=run: _mean_and_band(score_beside(cell, run, measure))  # type: ignore[misc]
        yield f"{run}, the paper prints", lambda cell, run=run: _print_figure(cell, run)  # type: ignore[misc]


def _tuned_step(cell: CellAnswer) -> str:
    """Return the step of the private run, and the steps of other runs that differ from it."""
    steps = dict(cell.tuned or {})
    own = steps.pop("private", None)
    if own is None:
        return ""
    different = ", ".join(f"{run} {word(value)}" for run, value in steps.items() if value != own)
    return f"{word(own)} ({different})" if different else word(own)


def _print_figure(cell: CellAnswer, run: str) -> str:
    """Return the figure that the paper prints for a run."""
    figures: Mapping[str, float] = cell.published or {}
    return f"{figures[run]:.3f}" if run in figures else ""


def _upper_bound(cell: CellAnswer) -> str:
    return "" if cell.epsilon is None else f"≤ {upper(float(cell.epsilon.upper))}"


def upper(value: float) -> str:
    """Return an upper bound in few digits, rounded up."""
    return f"{ROUNDED_UP.create_decimal(value).normalize():f}"


def _mean(score: Measured | None) -> str:
    return "" if score is None else f"{float(score.mean):#.3g}"


def _band(score: Measured | None) -> str:
    return "" if score is None else f"{float(score.lower):#.3g} to {float(score.upper):#.3g}"


def _mean_and_band(score: Measured | None) -> str:
    return "" if score is None else f"{_mean(score)} ({_band(score)})"


def _formulas(answer: Stored) -> Iterator[Column]:
    """Yield the columns of δ of each reading, and of the lower bound that an attack proves."""
    for reading in answer.cells[0].log10_deltas or {}:
        yield f"δ, {reading}", lambda cell, reading=reading: _delta(cell, reading)  # type: ignore[misc]
    yield (
        "an attack proves",
        lambda cell: "" if cell.claim is None else f"δ ≥ {format_bound(float(cell.claim.delta_lower), ROUND_FLOOR)}",
    )


def _delta(cell: CellAnswer, reading: str) -> str:
    return _power(float((cell.log10_deltas or {})[reading]))


def _power(log10: float) -> str:
    """Return ten to a power, rounded up; it may be smaller than the smallest double."""
    value = ROUNDED_UP.plus(Context(prec=30).power(10, Decimal(log10)))
    exponent = value.adjusted()
    return f"{value.scaleb(-exponent).normalize():f}e{exponent}" if exponent < -3 else f"{value.normalize():f}"


def _attacks(answer: Stored) -> Iterator[Column]:
    yield "certified ε", _upper_bound
    for attack in dict.fromkeys(attack for cell in answer.cells for attack in cell.attacks or {}):
        yield f"{attack} proves", lambda cell, attack=attack: _proof(cell.attacks, attack)  # type: ignore[misc]


def _proof(attacks: Mapping[str, Any] | None, attack: str) -> str:
    """Return the lower bound on ε that an attack proves."""
    epsilon = (attacks or {}).get(attack)
    if epsilon is None:
        return ""
    return f"ε ≥ {format_bound(float(epsilon), ROUND_FLOOR)}" if epsilon > 0.0 else "nothing"

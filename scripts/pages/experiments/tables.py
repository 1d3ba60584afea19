"""Every measured figure of an experiment as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from epsilond.witness.cells import CellAnswer
from epsilond.witness.findings import format_bound
from epsilond.witness.risks.answer import Measured
from scripts.pages.experiments.panels import own_score, score_beside, with_best_steps, word
from scripts.pages.experiments.stored import Stored
from scripts.pages.markdown import of_text

ROUNDED_UP = Context(prec=4, rounding=ROUND_CEILING)
Column = tuple[str, Callable[[CellAnswer], str]]


def table(answer: Stored) -> str:
    """A row for each cell; columns that no cell has are left out."""
    answer = with_best_steps(answer)
    columns = [*_places(answer), *_columns(answer)]
    rows = [[read(cell) for _, read in columns] for cell in answer.cells]
    used = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    return of_text([columns[place][0] for place in used], ([row[place] for place in used] for row in rows))


def _places(answer: Stored) -> Iterator[Column]:
    preset = answer.preset
    for axis in (preset.panels, preset.lines, preset.across):
        if axis is not None:
            yield axis.name.replace("_", " "), lambda cell, name=axis.name: word(cell.place[name])  # type: ignore[misc]


def _columns(answer: Stored) -> Iterator[Column]:
    by_kind = {"audit": _formulas, "membership": _attacks}.get(answer.cells[0].kind, _measured)
    yield from by_kind(answer)


def _measured(answer: Stored) -> Iterator[Column]:
    preset, measure = answer.preset, answer.preset.measure
    if preset.tuned is not None and preset.tuned.name in answer.cells[0].place:
        yield preset.tuned.title, lambda cell: word(cell.place[preset.tuned.name])  # type: ignore[union-attr]
    elif preset.tuned is not None:
        yield preset.tuned.title, _chosen
    yield "ε asked or claimed", lambda cell: "" if cell.claimed_epsilon is None else word(cell.claimed_epsilon)
    yield "certified ε", _certified
    name = "excess risk" if measure is None else measure.replace("_", " ")
    yield name, lambda cell: _mean(own_score(cell, measure))
    yield "band", lambda cell: _band(own_score(cell, measure))
    if any(cell.published for cell in answer.cells):
        yield "the paper prints", lambda cell: _published(cell, "private")
    for run in dict.fromkeys(run for cell in answer.cells for run in cell.beside or {}):
        yield run, lambda cell, run=run: _whole(score_beside(cell, run, measure))  # type: ignore[misc]
        yield f"{run}, the paper prints", lambda cell, run=run: _published(cell, run)  # type: ignore[misc]


def _chosen(cell: CellAnswer) -> str:
    """The step of the private run, and of those beside it where theirs is another."""
    found = dict(cell.tuned or {})
    own = found.pop("private", None)
    others = ", ".join(f"{run} {word(value)}" for run, value in found.items() if value != own)
    return "" if own is None else word(own) + (f" ({others})" if others else "")


def _published(cell: CellAnswer, run: str) -> str:
    found: Mapping[str, float] = cell.published or {}
    return f"{found[run]:.3f}" if run in found else ""


def _certified(cell: CellAnswer) -> str:
    return "" if cell.epsilon is None else f"≤ {upper(float(cell.epsilon.upper))}"


def upper(value: float) -> str:
    """An upper end in few digits: never below it."""
    return f"{ROUNDED_UP.create_decimal(value).normalize():f}"


def _mean(found: Measured | None) -> str:
    return "" if found is None else f"{float(found.mean):#.3g}"


def _band(found: Measured | None) -> str:
    return "" if found is None else f"{float(found.lower):#.3g} to {float(found.upper):#.3g}"


def _whole(found: Measured | None) -> str:
    return "" if found is None else f"{_mean(found)} ({_band(found)})"


def _formulas(answer: Stored) -> Iterator[Column]:
    """δ of each reading, and what an attack proves of it."""
    for reading in answer.cells[0].log10_deltas or {}:
        yield f"δ, {reading}", lambda cell, reading=reading: _delta(cell, reading)  # type: ignore[misc]
    yield (
        "an attack proves",
        lambda cell: "" if cell.claim is None else f"δ ≥ {format_bound(float(cell.claim.delta_lower), ROUND_FLOOR)}",
    )


def _delta(cell: CellAnswer, reading: str) -> str:
    return _power(float((cell.log10_deltas or {})[reading]))


def _power(log10: float) -> str:
    """Ten to that power, which may be below the doubles, rounded up."""
    shown = ROUNDED_UP.plus(Context(prec=30).power(10, Decimal(log10)))
    exponent = shown.adjusted()
    return f"{shown.scaleb(-exponent).normalize():f}e{exponent}" if exponent < -3 else f"{shown.normalize():f}"


def _attacks(answer: Stored) -> Iterator[Column]:
    yield "certified ε", _certified
    for attack in dict.fromkeys(attack for cell in answer.cells for attack in cell.attacks or {}):
        yield f"{attack} proves", lambda cell, attack=attack: _proved(cell.attacks, attack)  # type: ignore[misc]


def _proved(attacks: Mapping[str, Any] | None, attack: str) -> str:
    found = (attacks or {}).get(attack)
    return "" if found is None else f"ε ≥ {format_bound(float(found), ROUND_FLOOR)}" if found > 0.0 else "nothing"

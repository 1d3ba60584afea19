"""What the figures of an experiment show: panels with lines, from the cells of its stored answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis
from epsilond.witness.risks.answer import Measured
from scripts.pages.experiments.stored import Stored

Cells = Sequence[CellAnswer]
MEASURES = {
    "test_error": "error on records held out",
    "test_accuracy": "accuracy on records held out",
    "test_rrmse": "RRMSE on records held out",
    "log10_delta": "log₁₀ δ",
}
RUNS = {"non-private": "without noise", "noisy-sgd": "noisy SGD", "independent-noise": "noise that stays"}
GREY, COLOURS = 5, 5
"""The colour of runs without noise, and how many others there are."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One value of a line, with the ends of its band where it has one."""

    across: Any
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: measured and joined, dashed for what is set beside it, or points alone."""

    name: str
    points: tuple[Point, ...]
    colour: int
    look: str = "line"
    """`line`, `dashes` or `dot`."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One figure: `places` are the values across, in their order."""

    title: str
    across: Axis
    places: tuple[Any, ...]
    up: str
    logarithmic: bool
    lines: tuple[Line, ...]


def panels(answer: Stored) -> tuple[Panel, ...]:
    """One for each value of the axis of panels."""
    answer = with_best_steps(answer)
    draw = _by_kind(answer)
    return tuple(draw(answer, title, cells) for title, cells in _split(answer))


def with_best_steps(answer: Stored) -> Stored:
    """A grid over steps as one over personalization, each with the step of its least mean excess.

    Others are returned as they are.
    """
    preset = answer.preset
    if preset.across.name != "step_size" or preset.lines is None or preset.panels is None:
        return answer
    best: dict[tuple[Any, Any], CellAnswer] = {}
    for cell in answer.cells:
        key = cell.place[preset.panels.name], cell.place[preset.lines.name]
        if key not in best or _excess(cell) < _excess(best[key]):
            best[key] = cell
    shown = replace(preset, across=preset.lines, lines=preset.panels, panels=None, tuned=preset.across)
    return replace(answer, preset=shown, cells=tuple(best.values()))


def _excess(cell: CellAnswer) -> float:
    found = math.inf if cell.final_excess is None else float(cell.final_excess.mean)
    return math.inf if math.isnan(found) else found


def _split(answer: Stored) -> Iterator[tuple[str, Cells]]:
    axis = answer.preset.panels or (answer.preset.lines if answer.cells[0].kind == "audit" else None)
    if axis is None:
        yield "", answer.cells
        return
    for value in values(answer.cells, axis):
        yield f"{axis.title}: {word(value)}", [cell for cell in answer.cells if cell.place[axis.name] == value]


def values(cells: Cells, axis: Axis) -> tuple[Any, ...]:
    """The distinct ones, in the order of the cells."""
    return tuple(dict.fromkeys(cell.place[axis.name] for cell in cells))


def word(value: Any) -> str:
    """A value of an axis."""
    return value if isinstance(value, str) else f"{value:.4g}"


def _by_kind(answer: Stored) -> Callable[[Stored, str, Cells], Panel]:
    return {"audit": _formulas, "membership": _attacks}.get(answer.cells[0].kind, _measured)


def _panel(answer: Stored, title: str, cells: Cells, lines: Sequence[Line], **rest: Any) -> Panel:
    across = answer.preset.across
    return Panel(title=title, across=across, places=values(cells, across), lines=tuple(lines), **rest)


# What was measured ----------------------------------------------------------------------------------------------------
def _measured(answer: Stored, title: str, cells: Cells) -> Panel:
    measure, axis = answer.preset.measure, answer.preset.lines
    named = (
        [("measured", cells)]
        if axis is None
        else [
            (word(value), [cell for cell in cells if cell.place[axis.name] == value]) for value in values(cells, axis)
        ]
    )
    lines = [
        _line(answer, name, own, lambda cell: own_score(cell, measure), place)
        for place, (name, own) in enumerate(named)
    ]
    beside = [(name, own, run) for name, own in named for run in own[0].beside or {}]
    shared = [run for _, _, run in beside]
    free = len(lines)
    for name, own, run in beside:
        several = shared.count(run) > 1
        told = f"{name}, {RUNS.get(run, run)}" if several else RUNS.get(run, run)
        colour = [each for each, _ in named].index(name) if several else GREY
        if not several and run != "non-private":
            colour, free = free % COLOURS, free + 1
        found = _line(answer, told, own, lambda cell, run=run: score_beside(cell, run, measure), colour)  # type: ignore[misc]
        lines.append(replace(found, look="dashes"))
    up = "excess risk" if measure is None else MEASURES[measure]
    return _panel(answer, title, cells, lines, up=up, logarithmic=measure is None)


def own_score(cell: CellAnswer, measure: str | None) -> Measured | None:
    """What was measured of the cell's own run."""
    return cell.final_excess if measure is None else (cell.scores or {}).get(measure)


def score_beside(cell: CellAnswer, run: str, measure: str | None) -> Measured | None:
    """What was measured of a run set beside it."""
    if measure is None:
        return (cell.beside or {}).get(run)
    return ((cell.scores_beside or {}).get(run) or {}).get(measure)


def _line(answer: Stored, name: str, cells: Cells, read: Callable[[CellAnswer], Measured | None], colour: int) -> Line:
    found = ((cell.place[answer.preset.across.name], read(cell)) for cell in cells)
    points = tuple(
        Point(across=across, mean=float(one.mean), lower=float(one.lower), upper=float(one.upper))
        for across, one in found
        if one is not None and math.isfinite(float(one.mean))
    )
    return Line(name=name, points=points, colour=colour)


# What is proved -------------------------------------------------------------------------------------------------------
def _curve(name: str, found: Mapping[Any, float], colour: int, look: str) -> Line:
    points = tuple(
        Point(across=across, mean=value, lower=value, upper=value)
        for across, value in found.items()
        if math.isfinite(value)
    )
    return Line(name=name, points=points, colour=colour, look=look)


def _formulas(answer: Stored, title: str, cells: Cells) -> Panel:
    """log10 δ of each reading of a formula, and what attacks prove of it."""
    across = answer.preset.across.name
    readings = list(cells[0].log10_deltas or {})
    lines = [
        _curve(
            f"{reading} δ",
            {cell.place[across]: float((cell.log10_deltas or {})[reading]) for cell in cells},
            place,
            "dashes" if place == 1 else "line",
        )
        for place, reading in enumerate(readings)
    ]
    proved = {
        cell.place[across]: math.log10(cell.claim.delta_lower)
        for cell in cells
        if cell.claim is not None and cell.claim.delta_lower > 0.0
    }
    if proved:
        lines.append(_curve("proved by an attack: δ at least", proved, 3, "dot"))
    return _panel(answer, title, cells, lines, up=MEASURES["log10_delta"], logarithmic=False)


def _attacks(answer: Stored, title: str, cells: Cells) -> Panel:
    """What each attack on trained models proves, below what is certified."""
    across = answer.preset.across.name
    certified = {cell.place[across]: float(cell.epsilon.upper) for cell in cells if cell.epsilon is not None}
    lines = [_curve("certified: at most", certified, 2, "dashes")]
    for place, attack in enumerate(cells[0].attacks or {}):
        found = {cell.place[across]: float((cell.attacks or {})[attack]) for cell in cells}
        kept = {value: epsilon for value, epsilon in found.items() if epsilon > 0.0}
        colour = (0, 1, 3, 4)[place % 4]
        lines.append(_curve(f"{attack.replace('-', ' ')}: at least", kept, colour, "line"))
    return _panel(answer, title, cells, lines, up="ε", logarithmic=True)

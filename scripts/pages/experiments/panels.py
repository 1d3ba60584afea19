"""Panels and lines of the figures of an experiment, from the cells of its stored answer."""

from __future__ import annotations

import itertools
import math
from collections import Counter
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
    "excess_risk": "excess risk",
}
RUNS = {"non-private": "without noise", "noisy-sgd": "noisy SGD", "independent-noise": "noise that stays"}
COLOURS, GREY = (0, 1, 2, 3, 4, 6, 7, 8, 9), 5
"""Colours of lines, and the colour of runs without noise."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a line, with the bounds of its band; they are equal without a band."""

    across: Any
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a figure's panel.

    Attributes:
        name: name in the legend.
        points: points with their bands, in the order of the horizontal axis.
        colour: number of the colour.
        look: `line` for a measurement, `dashes` for a comparison, `dot` for points that are not joined.
    """

    name: str
    points: tuple[Point, ...]
    colour: int
    look: str = "line"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel of an experiment's figure, with its own axes.

    Attributes:
        title: title; empty for none.
        across: horizontal axis.
        places: values on the horizontal axis, in their order.
        up: title of the vertical axis.
        logarithmic: whether the vertical axis is logarithmic.
        lines: lines of the panel.
    """

    title: str
    across: Axis
    places: tuple[Any, ...]
    up: str
    logarithmic: bool
    lines: tuple[Line, ...]


def panels(answer: Stored) -> tuple[Panel, ...]:
    """Return one panel for each value of the axis of panels; first one with all lines, for readings of a formula."""
    answer = with_best_steps(answer)
    draw = _by_kind(answer)
    by_value = tuple(draw(answer, title, cells) for title, cells in _split(answer))
    if draw is _formulas and answer.preset.lines is not None:
        return (_printed_and_certified(answer, answer.preset.lines), *by_value)
    return by_value


def with_best_steps(answer: Stored) -> Stored:
    """Replace a grid over step sizes by one over personalization, each with the step of its least mean excess risk.

    Args:
        answer: the stored answer of an experiment.

    Returns:
        The reduced answer; the given one if its horizontal axis is not the step size, or if it has no lines or panels.
    """
    preset = answer.preset
    if preset.across.name != "step_size" or preset.lines is None or preset.panels is None:
        return answer
    best: dict[tuple[Any, Any], CellAnswer] = {}
    for cell in answer.cells:
        # Cells that differ only in the step size compete.
        key = cell.place[preset.panels.name], cell.place[preset.lines.name]
        if key not in best or _excess(cell) < _excess(best[key]):
            best[key] = cell
    reduced = replace(preset, across=preset.lines, lines=preset.panels, panels=None, tuned=preset.across)
    return replace(answer, preset=reduced, cells=tuple(best.values()))


def _excess(cell: CellAnswer) -> float:
    """Return the mean excess risk of a cell; infinity if it was not measured or is not a number."""
    mean = math.inf if cell.final_excess is None else float(cell.final_excess.mean)
    return math.inf if math.isnan(mean) else mean


def _split(answer: Stored) -> Iterator[tuple[str, Cells]]:
    """Yield title and cells of each panel; audits have a panel for each value of the axis of lines."""
    axis = answer.preset.panels or (answer.preset.lines if answer.cells[0].kind == "audit" else None)
    if axis is None:
        yield "", answer.cells
        return
    for value in values(answer.cells, axis):
        yield f"{axis.title}: {word(value)}", [cell for cell in answer.cells if cell.place[axis.name] == value]


def values(cells: Cells, axis: Axis) -> tuple[Any, ...]:
    """Return the distinct values of an axis, in the order of the cells."""
    return tuple(dict.fromkeys(cell.place[axis.name] for cell in cells))


def word(value: Any) -> str:
    """Return a value of an axis as text."""
    return value if isinstance(value, str) else f"{value:.4g}"


def _by_kind(answer: Stored) -> Callable[[Stored, str, Cells], Panel]:
    """Return the function that makes the panels of this kind of experiment."""
    return {"audit": _formulas, "membership": _attacks}.get(answer.cells[0].kind, _measurement)


def _panel(answer: Stored, title: str, cells: Cells, lines: Sequence[Line], **rest: Any) -> Panel:
    """Return a panel over the horizontal axis of an experiment; `rest` are its further fields."""
    across = answer.preset.across
    return Panel(title=title, across=across, places=values(cells, across), lines=tuple(lines), **rest)


# Measurements ---------------------------------------------------------------------------------------------------------
def _measurement(answer: Stored, title: str, cells: Cells) -> Panel:
    """Make a panel of the measured runs, and of the runs that they are compared with.

    Args:
        answer: the stored answer of the experiment.
        title: title of the panel.
        cells: results of the panel.

    Returns:
        The panel, with a logarithmic vertical axis for excess risks.
    """
    measure = answer.preset.measure
    groups = _line_groups(answer, cells)
    lines = [
        _line(answer, name, group, lambda cell: own_score(cell, measure), colour)
        for colour, (name, group) in zip(itertools.cycle(COLOURS), groups, strict=False)
    ]
    lines += _comparisons(answer, groups)
    up = MEASURES["excess_risk" if measure is None else measure]
    return _panel(answer, title, cells, lines, up=up, logarithmic=up == MEASURES["excess_risk"])


def _line_groups(answer: Stored, cells: Cells) -> list[tuple[str, Cells]]:
    """Return the cells of each line, with its name."""
    axis = answer.preset.lines
    if axis is None:
        return [("measured", cells)]
    return [(word(value), [cell for cell in cells if cell.place[axis.name] == value]) for value in values(cells, axis)]


def _comparisons(answer: Stored, groups: Sequence[tuple[str, Cells]]) -> Iterator[Line]:
    """Yield a dashed line for each run that a group of results is compared with.

    A run that several groups have gets the colour of its group. Runs without noise are grey, and others have free
    colours.

    Args:
        answer: the stored answer of the experiment.
        groups: results of each line of the panel, with the name of the line.

    Yields:
        The lines, group by group.
    """
    measure = answer.preset.measure
    counts = Counter(run for _, cells in groups for run in cells[0].beside or {})
    colours = itertools.cycle(COLOURS)
    group_colours = list(itertools.islice(colours, len(groups)))
    for group_colour, (group, cells) in zip(group_colours, groups, strict=True):
        for run in cells[0].beside or {}:
            name = RUNS.get(run, run)
            if counts[run] > 1:
                name = f"{group}, {name}"
                colour = group_colour
            elif run == "non-private":
                colour = GREY
            else:
                colour = next(colours)
            line = _line(answer, name, cells, lambda cell, run=run: score_beside(cell, run, measure), colour)  # type: ignore[misc]
            yield replace(line, look="dashes")


def own_score(cell: CellAnswer, measure: str | None) -> Measured | None:
    """Return the measurement of the cell's own run."""
    return cell.final_excess if measure is None else (cell.scores or {}).get(measure)


def score_beside(cell: CellAnswer, run: str, measure: str | None) -> Measured | None:
    """Return the measurement of a run that the private run of a result is compared with.

    Args:
        cell: the result.
        run: name of the run.
        measure: name of the score; None for the excess risk.

    Returns:
        The mean with its confidence band; None if it was not measured.
    """
    if measure is None:
        return (cell.beside or {}).get(run)
    return ((cell.scores_beside or {}).get(run) or {}).get(measure)


def _line(answer: Stored, name: str, cells: Cells, read: Callable[[CellAnswer], Measured | None], colour: int) -> Line:
    """Return the line of all finite measurements of one run.

    Args:
        answer: the stored answer of the experiment.
        name: name of the line in the legend.
        cells: results on the line.
        read: function that reads the measurement from a result; None for a missing one.
        colour: number of the colour.

    Returns:
        The line; measurements that are missing or infinite are left out.
    """
    points = []
    for cell in cells:
        score = read(cell)
        if score is not None and math.isfinite(float(score.mean)):
            across = cell.place[answer.preset.across.name]
            points.append(
                Point(across=across, mean=float(score.mean), lower=float(score.lower), upper=float(score.upper))
            )
    return Line(name=name, points=tuple(points), colour=colour)


# Proofs ---------------------------------------------------------------------------------------------------------------
def _curve(name: str, figures: Mapping[Any, float], colour: int, look: str) -> Line:
    """Return the line of the finite ones among values by their place across."""
    points = tuple(
        Point(across=across, mean=value, lower=value, upper=value)
        for across, value in figures.items()
        if math.isfinite(value)
    )
    return Line(name=name, points=points, colour=colour, look=look)


def _formulas(answer: Stored, title: str, cells: Cells) -> Panel:
    """Make a panel of log10 δ by a formula, for each way to take it, with the lower bounds that attacks prove.

    Args:
        answer: the stored answer of the experiment.
        title: title of the panel.
        cells: results of the panel.

    Returns:
        The panel, with points for the lower bounds.
    """
    across = answer.preset.across.name
    lines = []
    for place, reading in enumerate(cells[0].log10_deltas or {}):
        figures = {cell.place[across]: float((cell.log10_deltas or {})[reading]) for cell in cells}
        lines.append(_curve(f"{reading} δ", figures, place, "dashes" if place == 1 else "line"))
    # Lower bounds of 0 have no logarithm.
    proved = {
        cell.place[across]: math.log10(cell.claim.delta_lower)
        for cell in cells
        if cell.claim is not None and cell.claim.delta_lower > 0.0
    }
    if proved:
        lines.append(_curve("proved by an attack: δ at least", proved, 3, "dot"))
    return _panel(answer, title, cells, lines, up=MEASURES["log10_delta"], logarithmic=False)


def _printed_and_certified(answer: Stored, axis: Axis) -> Panel:
    """Make a panel in a paper's layout: log10 δ as printed for each value of an axis, with the certified δ in dashes.

    Args:
        answer: the stored answer of the experiment.
        axis: axis with a line for each of its values.

    Returns:
        The panel.
    """
    across = answer.preset.across.name
    lines = []
    for reading, look in (("printed", "line"), ("certified", "dashes")):
        for colour, value in enumerate(values(answer.cells, axis)):
            cells = [cell for cell in answer.cells if cell.place[axis.name] == value]
            figures = {cell.place[across]: float((cell.log10_deltas or {})[reading]) for cell in cells}
            lines.append(_curve(f"{reading}, {word(value)}", figures, colour, look))
    title = f"{axis.title}: all"
    return _panel(answer, title, answer.cells, lines, up=MEASURES["log10_delta"], logarithmic=False)


def _attacks(answer: Stored, title: str, cells: Cells) -> Panel:
    """Make a panel of the lower bounds that attacks on trained models prove, and of the certified upper bound.

    Args:
        answer: the stored answer of the experiment.
        title: title of the panel.
        cells: results of the panel.

    Returns:
        The panel, with a logarithmic vertical axis. Bounds of 0 are left out.
    """
    across = answer.preset.across.name
    certified = {cell.place[across]: float(cell.epsilon.upper) for cell in cells if cell.epsilon is not None}
    lines = [_curve("certified: at most", certified, 2, "dashes")]
    for place, attack in enumerate(cells[0].attacks or {}):
        bounds = {cell.place[across]: float((cell.attacks or {})[attack]) for cell in cells}
        positive = {value: epsilon for value, epsilon in bounds.items() if epsilon > 0.0}
        # The certified bound has the colour 2.
        colour = (0, 1, 3, 4)[place % 4]
        lines.append(_curve(f"{attack.replace('-', ' ')}: at least", positive, colour, "line"))
    return _panel(answer, title, cells, lines, up="ε", logarithmic=True)

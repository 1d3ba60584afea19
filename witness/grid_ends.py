"""Warnings that the best value of a tuned parameter is at an end of its grid, where a value beyond may be better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from epsilond.calibrators.answer import Caution
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Cell, Preset

CODE = "best-at-end-of-grid"


def end_warnings(
    preset: Preset, simulations: Sequence[tuple[Cell, object]], cells: Sequence[CellAnswer]
) -> Iterator[Caution]:
    """Warn if the best value of a tuned parameter, such as the step size, is the smallest or largest of its grid.

    A value beyond the grid may then be better. Each run has a best value in each setting: the private run, and those
    that are compared with it.

    Args:
        preset: the experiment. Without a tuned parameter there is no warning.
        simulations: every simulation of the experiment, with its values of the varied parameters.
        cells: results of the settings, with the best value of each run.

    Yields:
        One warning for each run and each end of the grid at which it has a best value.
    """
    if preset.tuned is None:
        return
    # All values of a grid with one value are at its end, so there would be no information in a warning.
    grid = {float(cell.place[preset.tuned.name]) for cell, _ in simulations}
    if len(grid) < 2:
        return
    for run, best_values in _collect_best_values(cells).items():
        for extreme in (min(grid), max(grid)):
            if extreme not in best_values:
                continue
            count = f"{best_values.count(extreme)} of {len(best_values)} settings"
            best = f"the best {preset.tuned.title} of the run {run} is {extreme:g}"
            yield Caution(code=CODE, message=f"in {count} {best}, at an end of the grid")


def _collect_best_values(cells: Sequence[CellAnswer]) -> dict[str, list[float]]:
    """Collect the best values of the tuned parameter of each run, over all settings of an experiment.

    Args:
        cells: results of the settings, each with the best value of every run.

    Returns:
        The values by the name of the run, in the order of the settings.
    """
    values: dict[str, list[float]] = {}
    for cell in cells:
        for run, value in (cell.tuned or {}).items():
            values.setdefault(run, []).append(float(value))
    return values

"""Warnings of an experiment: those of its simulations, and the one that tuning on private data costs privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from epsilond.calibrators.answer import Caution
from epsilond.witness.experiment import Cell, Preset

MOST_NAMED = 3
"""Most simulations that are named with a warning that they share. Otherwise only their number is given."""


def tuning_warnings(preset: Preset) -> tuple[Caution, ...]:
    """Return the warning that tuning on private data costs privacy, if the experiment tunes a parameter.

    The best value of the parameter is chosen for each run by the measured results themselves.

    Args:
        preset: the experiment, with the axis of the tuned parameter if it has one.

    Returns:
        One warning, or none.
    """
    if preset.tuned is None:
        return ()
    message = (
        f"{preset.tuned.title}: the best was chosen for each run by its excess risk on these same runs, as papers "
        "do. A choice on private data costs privacy, which is not counted here"
    )
    return (Caution(code="tuned-on-data", message=message),)


def cell_warnings(answers: Sequence[tuple[Cell, object]]) -> Iterator[Caution]:
    """Yield the warnings of all simulations of an experiment.

    A warning of more than `MOST_NAMED` simulations is given once, with their number.

    Args:
        answers: the simulations with their values of the varied parameters, each with its answer.

    Yields:
        Each warning, with the parameter values of its simulation or with the number of simulations.
    """
    # Collect the simulations of each warning.
    cells_by_warning: dict[tuple[str, str], list[Cell]] = {}
    for cell, answer in answers:
        for warning in getattr(answer, "warnings", ()):
            cells_by_warning.setdefault((warning.code, warning.message), []).append(cell)

    for (code, message), cells in cells_by_warning.items():
        # Many repetitions of one warning would hide the other warnings.
        if len(cells) > MOST_NAMED:
            yield Caution(code=code, message=f"{len(cells)} cells: {message}")
            continue
        for cell in cells:
            yield Caution(code=code, message=f"{_name_place(cell)}: {message}")


def _name_place(cell: Cell) -> str:
    """Return the parameter values that identify a simulation in its experiment, such as `epsilon 2.0, step 0.1`."""
    return ", ".join(f"{name} {value}" for name, value in cell.place.items())

"""Answers of experiments in docs/experiments/NAME.json, as they are written and read.

A file has a line for each cell. Measurements have `DIGITS` digits, and bounds on the excess risk are left out. Titles,
sources and verdicts come from the present code, so a changed rule needs no new run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from epsilond.calibrators.answer import Ends
from epsilond.witness.audits.answer import ClaimChecked
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Finding, Preset
from epsilond.witness.presets import PRESETS
from epsilond.witness.risks.answer import Measured

FOLDER = Path(__file__).parents[3] / "docs" / "experiments"
DIGITS = 7
"""Significant digits of a stored measurement."""
KEPT = ("preset", "repetitions", "seed", "engine_version", "beside", "data_files")
"""Members of an answer that are stored if it has them, except for its cells."""
MEASURED = ("final_excess", "scores", "beside", "scores_beside")
"""Members of a cell that are measurements."""
INFINITIES = {"unbounded": math.inf, "-unbounded": -math.inf}


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An experiment of the present code, with the measurements of its stored run.

    Attributes:
        preset: the experiment.
        repetitions: number of repetitions of each simulation.
        seed: seed of the run.
        engine_version: version of the engine that ran it.
        beside: titles of the runs that private runs are compared with, by name.
        cells: results of the simulations.
    """

    preset: Preset
    repetitions: int
    seed: int
    engine_version: str
    beside: Mapping[str, str]
    cells: tuple[CellAnswer, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Verdicts of the present judge on the cells."""
        return () if self.preset.judge is None else tuple(self.preset.judge(self.cells))


def keep(answer: Mapping[str, Any]) -> None:
    """Store the answer that `epsilond simulate NAME --json` prints."""
    head = {name: answer[name] for name in KEPT if name in answer}
    cells = ",\n".join(json.dumps(_stored_cell(cell), ensure_ascii=False) for cell in answer["cells"])
    text = f'{json.dumps(head, ensure_ascii=False)[:-1]}, "cells": [\n{cells}\n]}}\n'
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{answer['preset']}.json").write_text(text, encoding="utf-8")


def _stored_cell(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a cell without bounds and with rounded measurements; certified figures keep all digits."""
    members = {name: part for name, part in cell.items() if name != "bounds"}
    return {name: _round(part) if name in MEASURED else part for name, part in members.items()}


def _round(value: Any) -> Any:
    """Return a value with its numbers rounded to `DIGITS` digits."""
    if isinstance(value, Mapping):
        return {name: _round(part) for name, part in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def load(name: str) -> Stored:
    """Read the stored answer of an experiment.

    Raises:
        FileNotFoundError: it was never stored.
        LookupError: the present code has no experiment of that name.
    """
    return parse(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def parse(body: Mapping[str, Any]) -> Stored:
    """Read an answer in JSON, complete or in its stored form, with the experiment of the present code.

    Args:
        body: the answer.

    Returns:
        The experiment with the measurements.

    Raises:
        LookupError: the present code has no experiment of that name.
    """
    preset = next((known for known in PRESETS if known.name == body["preset"]), None)
    if preset is None:
        raise LookupError(f"there is no experiment {body['preset']}")
    return Stored(
        preset=preset,
        repetitions=body["repetitions"],
        seed=body["seed"],
        engine_version=body["engine_version"],
        beside=body["beside"],
        cells=tuple(map(_cell, body["cells"])),
    )


def _cell(body: Mapping[str, Any]) -> CellAnswer:
    """Return a cell in the form that the judges read: figures as numbers, parameters as attributes."""
    members = {name: part for name, part in body.items() if name != "bounds"}
    for name, read_member in _MEMBERS.items():
        if name in members:
            members[name] = read_member(members[name])
    return CellAnswer(**members)


def _enclosure(part: Mapping[str, Any]) -> Ends:
    return Ends(_number(part["lower"]), _number(part["upper"]))


def _claim(part: Mapping[str, Any]) -> ClaimChecked:
    return ClaimChecked(**_numbers(part))


def _parameters(part: Mapping[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**part)


def _scores_of_runs(part: Mapping[str, Any]) -> Mapping[str, Mapping[str, Measured]]:
    return {run: _scores(scores) for run, scores in part.items()}


def _scores(part: Mapping[str, Any]) -> Mapping[str, Measured]:
    return {name: _score(score) for name, score in part.items()}


def _score(part: Mapping[str, Any]) -> Measured:
    return Measured(**_numbers(part))


def _numbers(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _number(value) for name, value in part.items()}


def _number(value: Any) -> Any:
    return INFINITIES.get(value, value) if isinstance(value, str) else value


_MEMBERS: Mapping[str, Callable[[Any], Any]] = {
    "epsilon": _enclosure,
    "epsilon_lower": _number,
    "final_excess": _score,
    "scores": _scores,
    "beside": _scores,
    "scores_beside": _scores_of_runs,
    "log10_deltas": _numbers,
    "claim": _claim,
    "parameters": _parameters,
}
"""Functions that read the members of a cell; other members are read as they are."""


def names() -> Sequence[str]:
    """Return the names of the stored answers, in the order of the list of experiments."""
    return [preset.name for preset in PRESETS if (FOLDER / f"{preset.name}.json").exists()]

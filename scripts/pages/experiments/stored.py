"""Answers of experiments as they are kept in docs/experiments/NAME.json, and read back for today's judges.

Kept are the cells, a line for each, and what was measured to `DIGITS` digits; bounds on the excess risk are left out.
Titles, sources and verdicts are those of today's code: a rule that changes needs no new run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
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
KEPT = ("preset", "repetitions", "seed", "engine_version", "beside")
MEASURED = ("final_excess", "scores", "beside", "scores_beside")
INFINITIES = {"unbounded": math.inf, "-unbounded": -math.inf}


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One experiment: what it is today, and what was measured when it was run."""

    preset: Preset
    repetitions: int
    seed: int
    engine_version: str
    beside: Mapping[str, str]
    cells: tuple[CellAnswer, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Today's verdicts on the cells."""
        return () if self.preset.judge is None else tuple(self.preset.judge(self.cells))


def keep(answer: Mapping[str, Any]) -> None:
    """Store what `epsilond simulate NAME --json` prints."""
    head = {name: answer[name] for name in KEPT}
    told = ",\n".join(json.dumps(_kept(cell), ensure_ascii=False) for cell in answer["cells"])
    text = f'{json.dumps(head, ensure_ascii=False)[:-1]}, "cells": [\n{told}\n]}}\n'
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{answer['preset']}.json").write_text(text, encoding="utf-8")


def _kept(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without bounds, and what was measured rounded; what is certified keeps its digits."""
    kept = {name: part for name, part in cell.items() if name != "bounds"}
    return {name: _rounded(part) if name in MEASURED else part for name, part in kept.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def read(name: str) -> Stored:
    """The stored answer of an experiment.

    Raises:
        FileNotFoundError: it was never stored.
        LookupError: there is no experiment of that name today.
    """
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return stored(found)


def stored(found: Mapping[str, Any]) -> Stored:
    """An answer, whole or as it is kept.

    Raises:
        LookupError: there is no experiment of that name today.
    """
    preset = next((each for each in PRESETS if each.name == found["preset"]), None)
    if preset is None:
        raise LookupError(f"there is no experiment {found['preset']}")
    return Stored(
        preset=preset,
        repetitions=found["repetitions"],
        seed=found["seed"],
        engine_version=found["engine_version"],
        beside=found["beside"],
        cells=tuple(map(_cell, found["cells"])),
    )


def _cell(body: Mapping[str, Any]) -> CellAnswer:
    """A cell as the judges read it: figures are numbers again, and parameters have attributes."""
    read_by = {
        "epsilon": lambda part: Ends(_number(part["lower"]), _number(part["upper"])),
        "epsilon_lower": _number,
        "final_excess": _measured,
        "scores": _scores,
        "beside": _scores,
        "scores_beside": lambda part: {run: _scores(scores) for run, scores in part.items()},
        "log10_deltas": lambda part: {name: _number(value) for name, value in part.items()},
        "claim": lambda part: ClaimChecked(**{name: _number(value) for name, value in part.items()}),
        "parameters": lambda part: SimpleNamespace(**part),
    }
    parts = {name: part for name, part in body.items() if name != "bounds"}
    return CellAnswer(**{name: read_by.get(name, _itself)(part) for name, part in parts.items()})


def _itself(part: Any) -> Any:
    return part


def _scores(part: Mapping[str, Any]) -> Mapping[str, Measured]:
    return {name: _measured(score) for name, score in part.items()}


def _measured(part: Mapping[str, Any]) -> Measured:
    return Measured(**{name: _number(value) for name, value in part.items()})


def _number(value: Any) -> Any:
    return INFINITIES.get(value, value) if isinstance(value, str) else value


def names() -> Sequence[str]:
    """What is stored, in the order of the list of experiments."""
    return [each.name for each in PRESETS if (FOLDER / f"{each.name}.json").exists()]

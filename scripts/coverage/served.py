"""Theorems, calibrators, simulations, experiments and functions that serve each statement, from the lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.witness.presets import PRESETS
from scripts.coverage import asoodeh, bietti, das, lowy, reshef
from scripts.coverage.statement import Paper, Statement, names

STANDS_IN_FOR: Mapping[str, str] = {preset.name: preset.stands_in_for for preset in PRESETS}
PAPERS: tuple[Paper, ...] = (lowy.PAPER, das.PAPER, asoodeh.PAPER, bietti.PAPER, reshef.PAPER)


@dataclass(frozen=True, kw_only=True)
class Served:
    """A statement of a paper, with the parts of the project that serve it; all are empty if nothing does.

    Attributes:
        statement: the statement.
        theorems: ids of theorems.
        calibrators: names of calibrators that are built on these theorems.
        experiments: names of experiments.
    """

    statement: Statement
    theorems: tuple[str, ...]
    calibrators: tuple[str, ...]
    experiments: tuple[str, ...]

    @property
    def how(self) -> Literal["served", "used", "in part", "not served"]:
        """Extent of the service: all of it, a part, none, or the use of a definition without a formula."""
        own = self.statement
        if own.used:
            return "used"
        if not (self.theorems or self.experiments or own.runs or own.functions):
            return "not served"
        return "in part" if own.partly else "served"

    @property
    def reason(self) -> str:
        """Place where the meaning is used, or the reason why it is not served, or not in full."""
        own = self.statement
        reason = {"used": own.used, "not served": own.absent, "in part": own.partly}.get(self.how, "")
        return f"{reason}. {STANDS_IN_FOR[own.stand_in]}" if own.stand_in else reason


def serve(paper: Paper) -> Iterator[Served]:
    """Yield each statement of a paper with the theorems, calibrators and experiments that serve it.

    Theorems and experiments are found by their sources, which name the statement.

    Args:
        paper: the paper with its statements.

    Yields:
        The statements in the order of the paper, each without repetitions of what serves it.
    """
    for statement in paper.statements:
        theorems = list(statement.theorems)
        if not statement.alone:
            theorems = [*_theorems_naming(paper, statement), *theorems]
        experiments = [*_experiments_naming(paper, statement.name), *statement.experiments]
        calibrators = [calibrator.name for calibrator in CALIBRATORS if set(theorems) & set(calibrator.theorems)]
        yield Served(
            statement=statement,
            theorems=tuple(dict.fromkeys(theorems)),
            calibrators=tuple(calibrators),
            experiments=tuple(dict.fromkeys(experiments)),
        )


def _theorems_naming(paper: Paper, own: Statement) -> Iterator[str]:
    """Yield the theorems with a source that names a statement; a source that names a part serves only that part."""
    parts = {statement.part for statement in paper.statements if statement.name == own.name and statement.part}
    for theorem in THEOREMS:
        if theorem.source.key == paper.key and own.name in names(theorem.source.item):
            named_parts = {part for part in parts if part in theorem.source.item}
            if not named_parts or own.part in named_parts:
                yield theorem.id


def _experiments_naming(paper: Paper, name: str) -> Iterator[str]:
    """Yield the experiments with a source that names a figure or table of a paper.

    Other names in a source are those of the algorithms of an experiment.

    Args:
        paper: the paper, with a word that names it in sources.
        name: name of the statement; nothing is yielded unless it is a figure or table.

    Yields:
        Names of experiments.
    """
    if not name.startswith(("Figure", "Table")):
        return
    for preset in PRESETS:
        if paper.word in preset.source and name in names(preset.source):
            yield preset.name

"""Where a statement is served: theorems, calibrators, simulations, experiments and functions, read off the lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.witness.presets import PRESETS
from scripts.coverage import asoodeh, bietti, das, lowy, reshef
from scripts.coverage.statement import Paper, Statement, names

STANDS_IN_FOR: Mapping[str, str] = {each.name: each.stands_in_for for each in PRESETS}
PAPERS: tuple[Paper, ...] = (lowy.PAPER, das.PAPER, asoodeh.PAPER, bietti.PAPER, reshef.PAPER)


@dataclass(frozen=True, kw_only=True)
class Served:
    """A statement and what serves it; all empty where nothing does."""

    statement: Statement
    theorems: tuple[str, ...]
    calibrators: tuple[str, ...]
    experiments: tuple[str, ...]

    @property
    def how(self) -> Literal["served", "used", "in part", "not served"]:
        """Whether all of it is served, or its meaning used where it has no formula."""
        own = self.statement
        if own.used:
            return "used"
        if not (self.theorems or self.experiments or own.runs or own.functions):
            return "not served"
        return "in part" if own.partly else "served"

    @property
    def reason(self) -> str:
        """Where its meaning is used; or why it is not served, or not in full."""
        own = self.statement
        told = {"used": own.used, "not served": own.absent, "in part": own.partly}.get(self.how, "")
        return f"{told}. {STANDS_IN_FOR[own.stand_in]}" if own.stand_in else told


def served(paper: Paper) -> Iterator[Served]:
    """Each statement of a paper and where it is served."""
    for each in paper.statements:
        found = each.theorems if each.alone else (*_theorems_naming(paper, each), *each.theorems)
        theorems = tuple(dict.fromkeys(found))
        calibrators = tuple(one.name for one in CALIBRATORS if set(theorems) & set(one.theorems))
        experiments = tuple(dict.fromkeys((*_experiments_naming(paper, each.name), *each.experiments)))
        yield Served(statement=each, theorems=theorems, calibrators=calibrators, experiments=experiments)


def _theorems_naming(paper: Paper, own: Statement) -> Iterator[str]:
    """Theorems whose source names the statement; one that names a part serves that part alone."""
    parts = {each.part for each in paper.statements if each.name == own.name and each.part}
    for each in THEOREMS:
        if each.source.key == paper.key and own.name in names(each.source.item):
            named = {part for part in parts if part in each.source.item}
            if not named or own.part in named:
                yield each.id


def _experiments_naming(paper: Paper, name: str) -> Iterator[str]:
    """Experiments whose source is this paper and names a figure or table; other names are those of their algorithms."""
    if not name.startswith(("Figure", "Table")):
        return iter(())
    return (each.name for each in PRESETS if paper.word in each.source and name in names(each.source))

"""Trees that estimate the CPU time of a question, grown from the rows of benchmarks.tail, and how good they are."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import epsilond
from benchmarks import tables
from benchmarks.environments import ROOT
from epsilond.app.questions.cost import ABSENT, EXPENSIVE_SECONDS, Tree, features_of, read_tree
from epsilond.calibrators.accounts import AccountProblem
from epsilond.reading import read

TREES = ROOT / "app" / "questions" / "costs.json"
PROBLEMS: Mapping[str, type] = {each.name: each.problem for each in epsilond.CALIBRATORS}
BOUNDS = (0.003, 0.01, 0.03, 0.1, EXPENSIVE_SECONDS, 2.0, math.inf)
"""Upper bounds of the bars of the histogram, in CPU seconds."""
LEAST_SECONDS = 1e-3
"""CPU seconds below which all questions are alike."""
DEPTH, LEAF = 10, 6
"""Most decisions for one estimate, and fewest questions that one is made of."""
QUANTILE = 0.75
"""Share of the questions of a leaf that take at most the estimate."""
WITHIN = 3.0
"""Factor within which an estimate is good."""
HEAD = ("group", "asked", "≤ 3 ms", "≤ 10 ms", "≤ 30 ms", "≤ 0.1 s", "≤ 0.5 s", "≤ 2 s", "above", "longest")
ESTIMATES = ("group", "above 0.5 s", "of them announced", "estimated within 3×", "announced", "took under 0.5 s")


class Row(NamedTuple):
    """What one question took: its features, its CPU seconds, and whether its numbers had the widest ranges."""

    features: Mapping[str, float]
    seconds: float
    wide: bool


def read_rows(path: Path) -> Mapping[str, list[Row]]:
    """Return the rows of a file by group."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        problem = read(PROBLEMS.get(row["group"], AccountProblem), row["body"])
        rows[row["group"]].append(Row(features_of(problem), max(row["seconds"], LEAST_SECONDS), row["wide"]))
    return rows


def grow(rows: Sequence[Row]) -> Tree:
    """Return the tree of some rows, by least squares in log CPU time."""
    from sklearn.tree import DecisionTreeRegressor

    names = sorted({name for row in rows for name in row.features})
    table = np.asarray([[row.features.get(name, ABSENT) for name in names] for row in rows])
    logs = np.log10([row.seconds for row in rows])
    fitted = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=0).fit(table, logs)
    nodes, leaves = fitted.tree_, fitted.apply(table)

    def branch(node: int) -> Tree:
        """Return the tree below a node."""
        if nodes.children_left[node] < 0:
            return float(f"{10.0 ** np.quantile(logs[leaves == node], QUANTILE):.3g}")
        below, above = branch(nodes.children_left[node]), branch(nodes.children_right[node])
        return below if below == above else (names[nodes.feature[node]], float(nodes.threshold[node]), below, above)

    return branch(0)


def estimates(rows: Sequence[Row]) -> list[float]:
    """Return an estimate for each row, by a tree that was grown from other rows."""
    half = len(rows) // 2
    first, second = grow(rows[:half]), grow(rows[half:])
    return [read_tree(second if place < half else first, row.features) for place, row in enumerate(rows)]


def histogram_lines(rows: Mapping[str, Sequence[Row]]) -> Iterable[Sequence[str]]:
    """Yield a line of the histogram for each group, over the widest ranges."""
    for group, measured in rows.items():
        seconds = np.asarray([row.seconds for row in measured if row.wide])
        counts = np.histogram(seconds, bins=(0.0, *BOUNDS))[0]
        yield group, str(seconds.size), *(f"{count / seconds.size:.1%}" for count in counts), f"{seconds.max():.2g} s"


def estimate_lines(rows: Mapping[str, Sequence[Row]]) -> Iterable[Sequence[str]]:
    """Yield for each group how good estimates are, of rows that the trees have not seen."""
    for group, measured in rows.items():
        seconds, estimated = np.asarray([row.seconds for row in measured]), np.asarray(estimates(measured))
        long, announced = seconds > EXPENSIVE_SECONDS, estimated > EXPENSIVE_SECONDS
        good = np.abs(np.log(estimated / seconds)) <= math.log(WITHIN)
        counts = (long.sum(), (long & announced).sum(), (long & good).sum(), announced.sum(), (announced & ~long).sum())
        yield group, *(str(count) for count in counts)


def write(path: Path) -> None:
    """Write the trees of the service, and the section of docs/benchmarks.md."""
    rows = read_rows(path)
    TREES.write_text(json.dumps({group: grow(measured) for group, measured in rows.items()}) + "\n", encoding="utf-8")
    parts = (
        f"`python -m benchmarks.tail`, {tables.machine()}.",
        tables.as_markdown(HEAD, histogram_lines(rows)),
        tables.as_markdown(ESTIMATES, estimate_lines(rows)),
    )
    tables.write_section("tail", "\n\n".join(parts))

"""Trees that estimate the CPU time of a question, grown from the rows of benchmarks.tail, and how good they are."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import epsilond
from benchmarks import tables
from benchmarks.environments import ROOT
from epsilond.app.questions.cost import ABSENT, ANNOUNCED_SECONDS, EXPENSIVE_SECONDS, Tree, read_trees
from epsilond.app.questions.features import EXTREME, features_of
from epsilond.calibrators.accounts import AccountProblem
from epsilond.reading import read

TREES = ROOT / "app" / "questions" / "costs.json"
PROBLEMS: Mapping[str, type] = {calibrator.name: calibrator.problem for calibrator in epsilond.CALIBRATORS}
BOUNDS = (0.003, 0.01, 0.03, 0.1, EXPENSIVE_SECONDS, 2.0, math.inf)
"""Upper bounds of the bars of the histogram, in CPU seconds."""
LEAST_SECONDS = 0.003
"""CPU seconds below which questions count as equal: reading a request and writing its answer takes as long."""
FOREST = {"n_estimators": 10, "max_leaf_nodes": 300, "min_impurity_decrease": 3e-4, "random_state": 0}
"""Parameters of the trees: few and small enough that they are read in some 20 µs, and all groups take under 300 kB."""
FOLDS = 5
"""Number of parts of the rows, each of which is estimated by trees that are grown from the others."""
WITHIN = 3.0
"""Factor within which an estimate is good."""
REGIONS, LEAST_REGION = 8, 20
"""Most regions in which expensive questions are looked for, and fewest questions in a region."""
HEAD = ("group", "asked", "≤ 3 ms", "≤ 10 ms", "≤ 30 ms", "≤ 0.1 s", "≤ 0.5 s", "≤ 2 s", "above", "longest")
ESTIMATES = ("group", "asked", "within 3×", "above 0.5 s", "of them within 3×", "of them announced", "others announced")
COUNTS = ("runs", "labels", "log10_delta", "query log10_delta")
"""Names of features that are not decimal logarithms, next to the numbers of occurrences of words."""
EXPENSIVE = ("group", "questions with", "asked", "above 0.5 s")

Floats = npt.NDArray[np.float64]


class Row(NamedTuple):
    """A measured question.

    Attributes:
        features: numbers that describe the question, by name.
        seconds: CPU time, in seconds.
        wide: whether its numbers were drawn over their widest ranges.
    """

    features: Mapping[str, float]
    seconds: float
    wide: bool


class Table(NamedTuple):
    """Rows as arrays: the names of the features, a line of features for each row, and log10 of the CPU seconds."""

    names: Sequence[str]
    features: Floats
    logs: Floats


def read_rows(path: Path) -> Mapping[str, list[Row]]:
    """Read measured questions from a file, and compute the features of each question.

    Args:
        path: file with one JSON object in each line.

    Returns:
        The questions by group, such as the algorithm. Times below `LEAST_SECONDS` are raised to it.
    """
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        problem = read(PROBLEMS.get(row["group"], AccountProblem), row["body"])
        rows[row["group"]].append(Row(features_of(problem), max(row["seconds"], LEAST_SECONDS), row["wide"]))
    return rows


def table_of(rows: Sequence[Row]) -> Table:
    """Convert measured questions to arrays for scikit-learn.

    Args:
        rows: the questions, with features by name.

    Returns:
        Names of all features in alphabetical order, one line of features per question, and log10 of the CPU seconds. A
        missing feature has the value `ABSENT`.
    """
    names = sorted({name for row in rows for name in row.features})
    features = np.asarray([[row.features.get(name, ABSENT) for name in names] for row in rows])
    return Table(names, features, np.log10([row.seconds for row in rows]))


def grow(rows: Sequence[Row]) -> list[Tree]:
    """Grow trees that predict log10 of the CPU seconds of a question from its features.

    The trees are extremely randomized (Geurts, Ernst and Wehenkel 2006): each is grown from all rows, with random
    thresholds. The mean of their predictions is the estimate.

    Args:
        rows: measured questions.

    Returns:
        The trees. An inner node is (feature, threshold, tree below, tree above), and a leaf is a number.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    names, features, logs = table_of(rows)
    forest = ExtraTreesRegressor(**FOREST).fit(features, logs)
    return [branch(estimator.tree_, 0, names) for estimator in forest.estimators_]


def branch(nodes: Any, node: int, names: Sequence[str]) -> Tree:
    """Convert the part of a scikit-learn tree below a node to nested tuples.

    Args:
        nodes: the nodes of a tree of scikit-learn.
        node: index of the node.
        names: names of the features, in the order of their columns.

    Returns:
        A number for a leaf, log10 of CPU seconds with two decimals. Otherwise (feature, threshold, tree below, tree
        above).
    """
    # A leaf has no children: their index is −1.
    if nodes.children_left[node] < 0:
        return round(float(nodes.value[node, 0, 0]), 2)
    below = branch(nodes, nodes.children_left[node], names)
    above = branch(nodes, nodes.children_right[node], names)
    # Four digits keep the file small. A split of equal parts is left out.
    threshold = float(f"{nodes.threshold[node]:.4g}")
    return below if below == above else (names[nodes.feature[node]], threshold, below, above)


def estimates(rows: Sequence[Row]) -> list[float]:
    """Return an estimate for each row, by trees that are grown from other rows."""
    estimated = [0.0] * len(rows)
    for fold in range(FOLDS):
        trees = grow([row for place, row in enumerate(rows) if place % FOLDS != fold])
        for place in range(fold, len(rows), FOLDS):
            estimated[place] = read_trees(trees, rows[place].features)
    return estimated


def histogram_lines(rows: Mapping[str, Sequence[Row]]) -> Iterable[Sequence[str]]:
    """Yield a line of the histogram for each group, over the widest ranges."""
    for group, measured in rows.items():
        seconds = np.asarray([row.seconds for row in measured if row.wide])
        counts = np.histogram(seconds, bins=(0.0, *np.nextafter(BOUNDS, math.inf)))[0]
        yield group, str(seconds.size), *(f"{count / seconds.size:.1%}" for count in counts), f"{seconds.max():.2g} s"


def estimate_lines(
    rows: Mapping[str, Sequence[Row]], estimated_by: Mapping[str, Sequence[float]]
) -> Iterable[Sequence[str]]:
    """Yield a line for each group, and one for all: the share of good estimates, and counts of expensive questions.

    An estimate is good if it is within the factor `WITHIN` of the measured time. A question is announced as expensive
    if its estimate exceeds `ANNOUNCED_SECONDS`.

    Args:
        rows: measured questions, by group.
        estimated_by: an estimate in CPU seconds for each row, by trees that have not seen it.

    Yields:
        The cells of a line:
        - the group, its number of questions, and the share of good estimates;
        - the number of expensive questions, and how many of them have a good estimate;
        - the number of expensive questions that are announced, and of others that are.
    """
    pairs = {
        group: [(row.seconds, estimate) for row, estimate in zip(measured, estimated_by[group], strict=True)]
        for group, measured in rows.items()
    }
    pairs["all"] = [pair for measured in pairs.values() for pair in measured]
    for group, measured in pairs.items():
        seconds, estimated = np.asarray(measured).T
        is_long = seconds > EXPENSIVE_SECONDS
        is_announced = estimated > ANNOUNCED_SECONDS
        # The ratio of both times is compared on a logarithmic scale, so that both directions count equally.
        is_good = np.abs(np.log(estimated / seconds)) <= math.log(WITHIN)
        counts = (
            is_long.sum(),
            (is_long & is_good).sum(),
            (is_long & is_announced).sum(),
            (is_announced & ~is_long).sum(),
        )
        yield group, str(seconds.size), f"{is_good.mean():.1%}", *(str(count) for count in counts)


def expensive_lines(rows: Mapping[str, Sequence[Row]]) -> Iterable[Sequence[str]]:
    """Yield the regions of each group in which most questions are expensive.

    A region is a leaf of a decision tree that separates questions above `EXPENSIVE_SECONDS` from the others.

    Args:
        rows: measured questions, by group. Groups with fewer than `LEAST_REGION` expensive questions are left out.

    Yields:
        Cells of the table `EXPENSIVE`: group, conditions of the region, its questions, and the share that is expensive.
    """
    from sklearn.tree import DecisionTreeClassifier

    for group, measured in rows.items():
        names, features, logs = table_of(measured)
        long = logs > math.log10(EXPENSIVE_SECONDS)
        if long.sum() < LEAST_REGION:
            continue
        fitted = DecisionTreeClassifier(max_leaf_nodes=REGIONS, min_samples_leaf=LEAST_REGION, random_state=0)
        leaves = fitted.fit(features, long).apply(features)
        for leaf, conditions in conditions_of(fitted.tree_, 0, names):
            inside = leaves == leaf
            # Only regions in which more than half of the questions are expensive.
            if long[inside].mean() > 0.5:
                yield group, conditions, str(inside.sum()), f"{long[inside].mean():.0%}"


def conditions_of(nodes: Any, node: int, names: Sequence[str], before: Sequence[str] = ()) -> Iterable[tuple[int, str]]:
    """Yield the leaves below a node of a decision tree, each with the conditions that lead to it.

    Args:
        nodes: the nodes of a tree of scikit-learn.
        node: index of the node.
        names: names of the features, in the order of their columns.
        before: the conditions that lead to the node.

    Yields:
        Index of the leaf, and its conditions in words, separated by commas.
    """
    if nodes.children_left[node] < 0:
        yield node, ", ".join(before)
        return
    name, threshold = names[nodes.feature[node]], float(nodes.threshold[node])
    # A missing feature has a very small value, so that such a threshold separates missing from present ones.
    if threshold < -EXTREME:
        below, above = f"no `{name}`", f"`{name}`"
    else:
        # Most features are decimal logarithms; the words show the numbers themselves.
        is_logarithm = "=" not in name and name not in COUNTS
        bound = f"{10.0**threshold:.2g}" if is_logarithm else f"{threshold:.2g}"
        below, above = f"`{name}` ≤ {bound}", f"`{name}` > {bound}"
    yield from conditions_of(nodes, nodes.children_left[node], names, (*before, below))
    yield from conditions_of(nodes, nodes.children_right[node], names, (*before, above))


def write(path: Path) -> None:
    """Grow the trees that the service uses from measured questions, and write the section of docs/benchmarks.md.

    Args:
        path: file of the measured questions, one JSON object in each line.
    """
    rows = read_rows(path)
    trees = {group: grow(measured) for group, measured in rows.items()}
    TREES.write_text(json.dumps(trees, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    parts = (
        f"`python -m benchmarks.tail`, {tables.machine()}.",
        tables.as_markdown(HEAD, histogram_lines(rows)),
        tables.as_markdown(ESTIMATES, estimate_lines(rows, {group: estimates(own) for group, own in rows.items()})),
        tables.as_markdown(EXPENSIVE, expensive_lines(rows)),
    )
    tables.write_section("tail", "\n\n".join(parts))


def judge(path: Path) -> None:
    """Write how good the estimates of the service are, of rows that its trees have not seen, to docs/benchmarks.md."""
    rows, trees = read_rows(path), json.loads(TREES.read_text(encoding="utf-8"))
    estimated_by = {group: [read_trees(trees[group], row.features) for row in own] for group, own in rows.items()}
    parts = (
        f"`python -m benchmarks.tail --judge`, {tables.machine()}.",
        tables.as_markdown(ESTIMATES, estimate_lines(rows, estimated_by)),
    )
    tables.write_section("announced", "\n\n".join(parts))

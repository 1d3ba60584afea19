"""Estimates of the CPU time of a question, made before it starts.

The estimate is the geometric mean of the estimates of several decision trees. `python -m benchmarks.tail` poses random
questions, grows the trees of each kind of question and writes them to costs.json. Only accounts and calibrations, and
sums of these, have estimates. Calibrations for a risk have none.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TypeAlias

from epsilond.app.questions.features import features_of

EXPENSIVE_SECONDS = 0.5
"""CPU seconds beyond which a question is expensive."""
ANNOUNCED_SECONDS = 0.1
"""Estimated CPU seconds beyond which a question is announced as expensive.

An estimate may be too low, rarely by a factor of ten. A question that is announced in vain costs a row in the store of
jobs.
"""
ABSENT = -1000.0
"""Value of a feature that a question does not have, below every other value."""
ACCOUNTS, LISTS = "accounts", "lists"
"""Groups of accounts: of one kind of mechanism, and of a list of several."""

Tree: TypeAlias = "float | tuple[str, float, Tree, Tree]"
"""A decimal logarithm, or a feature, a threshold, and the trees for values up to the threshold and beyond it."""


def estimate_seconds(group: str, problem: object) -> float | None:
    """Estimate the CPU seconds that a request will take, by decision trees that were fitted to measured times.

    Args:
        group: kind of request that has trees: `ACCOUNTS`, or the name of a calibrator.
        problem: the parsed request.

    Returns:
        The CPU seconds. None if the group has no trees, or if the target is a risk, because the trees were fitted to
        requests with a target (ε, δ) only.
    """
    if getattr(problem, "risk", None) is not None:
        return None
    features = features_of(problem)
    is_list = group == ACCOUNTS and "kind=composed" in features
    trees = _trees().get(LISTS if is_list else group)
    return None if trees is None else read_trees(trees, features)


def read_trees(trees: Sequence[Tree], features: Mapping[str, float]) -> float:
    """Return the geometric mean of the CPU seconds that trees give for some features.

    Args:
        trees: decision trees; each gives the decimal logarithm of the CPU seconds.
        features: features of the request by name.
    """
    log10_seconds = sum(_read_tree(tree, features) for tree in trees) / len(trees)
    return float(10.0**log10_seconds)


def _read_tree(tree: Tree, features: Mapping[str, float]) -> float:
    """Return the decimal logarithm at the leaf of a tree that belongs to some features."""
    subtree = tree
    while not isinstance(subtree, int | float):
        name, threshold, below, above = subtree
        subtree = below if features.get(name, ABSENT) <= threshold else above
    return subtree


@functools.cache
def _trees() -> Mapping[str, Sequence[Tree]]:
    """Return the trees of costs.json by group, parsed at the first call."""
    trees: Mapping[str, Sequence[Tree]] = json.loads(resources.files(__package__).joinpath("costs.json").read_bytes())
    return trees

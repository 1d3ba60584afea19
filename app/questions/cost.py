"""Estimates of the CPU time of a question, made before it starts.

The estimate is read off a decision tree for each kind of question. `python -m benchmarks.tail` poses random questions,
grows the trees and writes them to costs.json. Only accounts and calibrations, and sums of these, have estimates.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import resources
from typing import TypeAlias

EXPENSIVE_SECONDS = 0.5
"""CPU seconds beyond which a question is announced as expensive."""
ABSENT = -1000.0
"""Value of a feature that a question does not have, below every logarithm of a double."""
ACCOUNTS, LISTS = "accounts", "lists"
"""Groups of accounts: of one kind of mechanism, and of a list of several."""

SHARES: Mapping[str, tuple[str, str]] = {
    "batch rate": ("batch_size", "population"),
    "record rate": ("batch_size", "samples_per_client"),
    "client rate": ("participants", "clients"),
}
"""Features that are quotients: how likely a record or a client is drawn."""

Tree: TypeAlias = "float | tuple[str, float, Tree, Tree]"
"""CPU seconds, or a feature, a threshold, and the trees for values up to the threshold and beyond it."""


def estimate_seconds(group: str, problem: object) -> float | None:
    """Return the CPU seconds that a question is expected to take; None for a group without a tree.

    Args:
        group: `ACCOUNTS` or the name of a calibrator.
        problem: the request, as it was read.
    """
    features = features_of(problem)
    tree = _trees().get(LISTS if group == ACCOUNTS and "kind=composed" in features else group)
    return None if tree is None else read_tree(tree, features)


def read_tree(tree: Tree, features: Mapping[str, float]) -> float:
    """Return the CPU seconds at the leaf of a tree that some features lead to."""
    while not isinstance(tree, int | float):
        name, threshold, below, above = tree
        tree = below if features.get(name, ABSENT) <= threshold else above
    return tree


def features_of(problem: object) -> dict[str, float]:
    """Return the features of a request on which its cost depends.

    A positive number gives its decimal logarithm. Several numbers under one name give the largest and the least. A word
    gives the number of its occurrences in the request. Quotients give sampling rates, and products give expected
    numbers of draws.
    """
    features: dict[str, float] = {}
    _add_features(features, "", problem)
    for share, (part, total) in SHARES.items():
        if part in features and total in features:
            features[share] = features[part] - features[total]
    for rate in ("rate", *SHARES):
        for count in ("times", "rounds"):
            if rate in features and count in features:
                features[f"{rate} {count}"] = features[rate] + features[count]
    return features


def _add_features(features: dict[str, float], name: str, value: object) -> None:
    """Add the features of a part of a request under a name."""
    if is_dataclass(value):
        if kind := getattr(value, "kind", None):
            _add_features(features, "kind", kind)
        for field in fields(value):
            if field.name != "kind":
                _add_features(features, field.name, getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for element in value:
            _add_features(features, name, element)
    elif isinstance(value, str | bool):
        features[f"{name}={value}"] = features.get(f"{name}={value}", 0.0) + 1.0
    elif isinstance(value, int | float) and value > 0:
        place = math.log10(value)
        features[name] = max(place, features.get(name, place))
        features[f"least {name}"] = min(place, features.get(f"least {name}", place))
    elif isinstance(value, int | float):
        features[name] = float(value)


@functools.cache
def _trees() -> Mapping[str, Tree]:
    """Return the trees by group."""
    trees: Mapping[str, Tree] = json.loads(resources.files(__package__).joinpath("costs.json").read_bytes())
    return trees

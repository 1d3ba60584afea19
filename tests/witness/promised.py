"""Bounds of the joins, as the tests read them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from epsilond.accountants.verdict import Verdict
from epsilond.witness.join import PromisedBound


def failing_conditions(bound: PromisedBound) -> set[str]:
    """Return the ids of the conditions that do not hold or cannot be decided."""
    return {condition.id for condition in bound.conditions if condition.holds != Verdict.YES}


def failing_of(bounds: Iterable[PromisedBound], theorem: str) -> set[str]:
    """Return the failing conditions of the theorem's bounds."""
    return set().union(*(failing_conditions(bound) for bound in bounds if bound.theorem == theorem))


def compared_values(bounds: Iterable[PromisedBound]) -> dict[str, float]:
    """Return the values of the bounds with conditions that all hold, by theorem."""
    return {bound.theorem: bound.value for bound in bounds if not failing_conditions(bound)}


def upper_band(excess: np.ndarray) -> float:
    """Return the mean plus four standard errors."""
    return float(excess.mean() + 4.0 * excess.std(ddof=1) / math.sqrt(len(excess)))

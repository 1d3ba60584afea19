"""Lemma F.1 of Lowy and Razaviyayn: two ε-indistinguishable reports as randomized response between two other reports.

Let P and Q be the distributions of the two reports, and w = e^ε/(e^ε + 1). The only solution of P = wU₀ + (1 − w)U₁ and
Q = (1 − w)U₀ + wU₁ is:

    U₀ = P + (P − Q)/(e^ε − 1),   U₁ = Q − (P − Q)/(e^ε − 1).

Both sum to 1. U₀ has no negative entry if and only if Q ≤ e^ε P, and U₁ if and only if P ≤ e^ε Q. At ε = 0 the reports
have one distribution, and U₀ = U₁ = P. Equations (42) and (43) of the paper apply the lemma. Equation (45) mixes
shuffled rounds in the same way.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.conversions.finite_laws import (
    TwoLaws,
    difference,
    rounded_probabilities,
)

EPSILON_OF_PAIR = Quantity(
    symbol="ε", unit="nat", ge=0, le=1e9, description="ε of the decomposition; absent: the least for this pair"
)
ROUNDING = 1e-15
"""Largest negative entry [probability] that is taken for 0; an entry is a sum of two terms of at most 1."""


@request
class ReportPair(TwoLaws):
    """The distributions P and Q of a report on two inputs, on the same outcomes, and ε.

    If absent, ε is the least one at which P and Q are ε-indistinguishable.
    """

    epsilon: Annotated[float | None, EPSILON_OF_PAIR] = None

    @property
    def least_epsilon(self) -> float:
        """The least ε with P ≤ e^ε Q and Q ≤ e^ε P; infinite if an outcome is impossible under only one of them.

        It is ln(1 + max |P − Q|/min{P, Q}), a form that keeps the digits of close distributions.
        """
        smaller = np.minimum(rounded_probabilities(self.first), rounded_probabilities(self.second))
        change = np.abs(difference(self.first, self.second))
        differs = change > 0.0
        with np.errstate(divide="ignore"):
            relative_changes = change[differs] / smaller[differs]
        return math.log1p(float(np.max(relative_changes, initial=0.0)))

    @property
    def used_epsilon(self) -> float:
        """The ε of the request or, if it is absent, the least ε of this pair."""
        if self.epsilon is None:
            return self.least_epsilon
        return self.epsilon


def decompose(inputs: ReportPair) -> Outputs:
    """Write two distributions P and Q as randomized response between two others (Lemma F.1 of Lowy and Razaviyayn).

        P = wU₀ + (1 − w)U₁,    Q = (1 − w)U₀ + wU₁,    w = e^ε/(e^ε + 1)

    Args:
        inputs: the distributions P and Q, and ε.

    Returns:
        `epsilon`: ε; `weight`: w; `first_component`: U₀; `second_component`: U₁.
        `least_epsilon`: the least ε for this pair. If ε is below it, no such distributions exist, and an entry of U₀ or
        U₁ is negative.
    """
    epsilon = inputs.used_epsilon
    change = difference(inputs.first, inputs.second)  # P − Q
    # e^ε − 1. The limit avoids an overflow; beyond it the shift is below 1e-304 in any case.
    divisor = math.expm1(min(epsilon, 700.0))
    shift = np.zeros_like(change)  # U₀ − P = Q − U₁
    if divisor > 0.0:
        shift = change / divisor
    return {
        "epsilon": epsilon,
        "least_epsilon": inputs.least_epsilon,
        "weight": 1.0 / (1.0 + math.exp(-epsilon)),
        "first_component": _remove_rounding(rounded_probabilities(inputs.first) + shift),
        "second_component": _remove_rounding(rounded_probabilities(inputs.second) - shift),
    }


def _remove_rounding(values: FloatArray) -> list[float]:
    """Replace negative entries that are due to rounding by 0.

    Args:
        values: array of probabilities, computed with rounding errors of up to `ROUNDING`.

    Returns:
        The entries as a list. Entries below −`ROUNDING` stay negative.
    """
    is_rounding = (values < 0.0) & (values >= -ROUNDING)
    return [float(value) for value in np.where(is_rounding, 0.0, values)]


DECOMPOSITION = Theorem(
    id="lowy.lemma-f.1",
    title="Two indistinguishable reports are a randomized response",
    statement=(
        "Let the distributions P and Q of two reports be ε-indistinguishable, and w = e^ε/(e^ε + 1). Then "
        "P = wU₀ + (1 − w)U₁ and Q = (1 − w)U₀ + wU₁ for two other distributions. They are U₀ = (e^ε P − Q)/(e^ε − 1) "
        "and U₁ = (e^ε Q − P)/(e^ε − 1), and for ε > 0 no others"
    ),
    source=Source("lowy2023", "Lemma F.1"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "indistinguishable",
            "P ≤ e^ε Q and Q ≤ e^ε P at every outcome (compared: ε, and the least ε for this pair)",
            lambda inputs: Sides.at_least(inputs.used_epsilon, inputs.least_epsilon),
        ),
    ),
    inputs=ReportPair,
    formula=decompose,
    examples=(
        {"first": (0.5, 0.25, 0.25), "second": (0.25, 0.375, 0.375)},
        {"first": (0.5, 0.25, 0.25), "second": (0.25, 0.375, 0.375), "epsilon": 1.0},
    ),
)

THEOREMS: tuple[Theorem, ...] = (DECOMPOSITION,)

"""Figures of an attacker on mechanisms that are known only by a declared guarantee."""

from __future__ import annotations

import math

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.attackers.renyi import renyi_divergence
from epsilond.accountants.attackers.trade_off_curve import trade_off_curve
from epsilond.accountants.specs import Approximate, Composed, Gaussian, Rdp, Spec

DECLARED = Rdp(orders=(2.0, 8.0), epsilons=(0.5, 1.0))
INCONSISTENT = Rdp(orders=(2.0, 3.0), epsilons=(5.0, 1.0))


@pytest.mark.parametrize(
    ("spec", "order", "divergence"),
    [
        (DECLARED, 2.0, 0.5),
        (DECLARED, 1.5, 0.5),
        (DECLARED, 4.0, 1.0),
        (DECLARED, 9.0, math.inf),
        (INCONSISTENT, 2.0, 1.0),
        (Composed(mechanisms=(Gaussian(noise_multiplier=1.0), DECLARED)), 2.0, 1.0 + 0.5),
    ],
)
def test_declared_divergences_bound_those_of_smaller_orders(spec: Spec, order: float, divergence: float) -> None:
    curve = account(spec, relation="add-or-remove-one", unit="record", observer="released-models").guarantee.curve
    assert renyi_divergence(curve, order).upper == pytest.approx(divergence, rel=1e-12)


def test_a_false_positive_rate_whose_curvature_underflows() -> None:
    spec = Approximate(epsilon=1e-12, delta=1e-300)
    curve = account(spec, relation="add-or-remove-one", unit="record", observer="released-models").guarantee.curve
    (point,) = trade_off_curve(curve, (1e-300,))
    assert 2e-300 <= point.true_positive_rate.upper <= 2.1e-300

"""Test the profile of a Rényi slot: consistent in both orders, and above the mechanisms that it bounds."""

from __future__ import annotations

import math
from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.powers import PowerProfile, log_conversion
from epsilond.ledgers.mathematics.amounts import ZERO
from epsilond.ledgers.mathematics.mixture import may_go_on
from epsilond.ledgers.mathematics.state import Slot

SETS = [((8.0,), (0.3,)), ((2.0,), (0.01,)), ((32.0,), (1.5,)), ((4.0, 16.0), (0.2, 0.9)), ((1.5, 3.0), (0.05, 2.0))]


def profile(orders: tuple[float, ...], budgets: tuple[float, ...]) -> PowerProfile:
    """Equal weights."""
    pairs = zip(orders, budgets, strict=True)
    logs = tuple(log_conversion(a) + (a - 1.0) * b - math.log(len(orders)) for a, b in pairs)
    return PowerProfile(orders, logs)


def powers(orders: tuple[float, ...], budgets: tuple[float, ...], gamma: mp.mpf) -> mp.mpf:
    """Σ w C(a) e^{(a−1)B} γ^−(a−1), from the definition."""
    total = mp.mpf(0)
    for a, b in zip(map(mp.mpf, orders), map(mp.mpf, budgets), strict=True):
        total += (a - 1) ** (a - 1) / a**a * mp.exp((a - 1) * b) * gamma ** (-(a - 1)) / len(orders)
    return total


@pytest.mark.parametrize(("orders", "budgets"), SETS)
def test_it_is_a_symmetric_profile_below_the_sum(orders: tuple[float, ...], budgets: tuple[float, ...]) -> None:
    found = profile(orders, budgets)
    at = np.linspace(0.0, 30.0, 1201)
    ends, tails = found.log_delta(at), found.log_tails(at)
    value = np.exp(ends.upper)
    assert np.all(np.diff(value) <= 1e-15)
    with mp.workdps(40):
        exact = [float(mp.log(powers(orders, budgets, mp.exp(mp.mpf(e))))) for e in at.tolist()]
    assert np.all(ends.lower <= np.asarray(exact) + 1e-12)
    p, q = np.exp(tails.log_p), np.exp(tails.log_q)
    assert np.all(p + q <= 1.0 + 1e-12)  # convex across γ = 1 together with its reverse
    assert np.allclose(p - np.exp(at) * q, value, rtol=1e-9, atol=1e-290)
    gamma = np.exp(at)
    slopes = np.diff(value) / np.diff(gamma)
    assert np.all(np.diff(slopes) >= -1e-9 * np.abs(slopes[1:]) - 1e-300)


@pytest.mark.parametrize("order", [2.0, 8.0, 64.0])
def test_gaussian_mechanisms_within_the_budget_are_below_it(order: float) -> None:
    for mu in (0.01, 0.3, 1.0):
        found = profile((order,), (0.5 * order * mu * mu * (1 + 1e-12),))
        at = np.linspace(0.0, 20.0, 201)
        assert np.all(gaussian_pair(mu).forward.log_delta(at).lower <= found.log_delta(at).upper)


def rest(orders: tuple[float, ...], spent: tuple[float, ...]) -> float:
    """The least of the sum over 1 − γ on (0, 1), from the definition, at 4000 places."""
    with mp.workdps(30):
        places = [mp.mpf(k) / 4000 for k in range(1, 4000)]
        budgets = tuple(-s for s in spent)
        return float(min(powers(orders, budgets, g) / (1 - g) for g in places))


@pytest.mark.parametrize(
    ("orders", "spent"),
    [
        ((8.0,), (-0.001,)),
        ((8.0,), (0.001,)),
        ((4.0, 16.0), (0.001, 0.001)),
        ((4.0, 16.0), (-0.3, 0.5)),
        ((4.0, 16.0), (-0.1, 0.5)),
        ((4.0, 16.0), (0.5, -0.3)),
        ((2.0, 3.0, 30.0), (-1.0, -0.2, 4.0)),
    ],
)
def test_it_is_legal_where_the_definition_says(orders: tuple[float, ...], spent: tuple[float, ...]) -> None:
    assert profile(orders, tuple(-s for s in spent)).legal is (rest(orders, spent) > 1.0)


def test_a_single_order_goes_on_up_to_its_budget() -> None:
    slot = Slot(kind="rdp", capacity={"order:8": Decimal("0.5")}, weights=(1.0,))
    assert may_go_on(slot, {"order:8": Decimal("0.4999999")})
    assert not may_go_on(slot, {"order:8": Decimal("0.5000001")})
    assert may_go_on(slot, {"order:8": ZERO})

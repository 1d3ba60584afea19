"""Budgets at several Rényi orders, of which one need have room: finite laws to sixty digits."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import exp, log, mp, mpf, sqrt

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Status
from epsilond.ledgers.mathematics.theorems.any_order_filter import ANY_ORDER_FILTER, AnyOrderInputs

ROWS = [
    (8, "1e-6", (8, 32), "0.5", 1.979),
    (8, "1e-6", (4, 8, 16, 32, 64), "0.1", 2.672),
    (2, "1e-6", (12, 32, 128), "0.1", 2.429),
    (1, "1e-6", (32, 128), "0.1", 1.958),
]


def renyi(p: list[Any], q: list[Any], order: Any) -> Any:
    return log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


def interaction(epsilon: Any, delta: Any, orders: list[Any], gap: Any) -> Any:
    """δ at ε of two rounds, the second chosen by the first; each path is within the budget of one of the orders."""
    budgets = {a: epsilon + log(delta * a**a / (a - 1) ** (a - 1)) / (a - 1) for a in orders}
    weights = [mpf(1)]
    for low, high in zip(orders, orders[1:], strict=False):
        weights.append(weights[-1] * exp(-gap * sqrt((low - 1) * (high - 1))))
    p = [weight / sum(weights) for weight in weights]
    q = [weight * exp(-gap * place) for place, weight in enumerate(p)]
    q = [weight / sum(q) for weight in q]
    total = mpf(0)
    for order, here, there in zip(orders, p, q, strict=True):
        left = budgets[order] - renyi(p, q, order)
        loss = epsilon - log(here / there) + log(order / (order - 1))
        low, high = mpf(0), mpf(1)
        for _ in range(210):
            middle = (low + high) / 2
            other = middle * exp(-loss)
            fits = renyi([middle, 1 - middle], [other, 1 - other], order) <= left
            low, high = (middle, high) if fits else (low, middle)
        laws = ([low, 1 - low], [low * exp(-loss), 1 - low * exp(-loss)])
        assert renyi(p, q, order) + renyi(*laws, order) <= budgets[order]
        total += sum(max(here * a - exp(epsilon) * there * b, mpf(0)) for a, b in zip(*laws, strict=True))
    return total


@pytest.mark.erratum("L-2")
@pytest.mark.compares("epsilond.any-order-renyi-filter")
@pytest.mark.parametrize(("epsilon", "delta", "orders", "gap", "published"), ROWS)
def test_an_order_picked_by_an_output_passes_the_target(
    epsilon: int, delta: str, orders: tuple[int, ...], gap: str, published: float
) -> None:
    with mp.workdps(60):
        true = interaction(mpf(epsilon), mpf(delta), [mpf(order) for order in orders], mpf(gap))
        wanted, true = float(true / mpf(delta)), float(true)
    inputs = AnyOrderInputs(
        epsilon=float(epsilon), delta=float(delta), orders=tuple(map(float, orders)), loss_gap=float(gap)
    )
    found = ANY_ORDER_FILTER.evaluate(inputs).outputs
    assert found["factor"] == pytest.approx(wanted, rel=1e-9)
    assert found["true_delta"] == pytest.approx(true, rel=1e-9)
    assert found["factor"] == pytest.approx(published, abs=5e-4)
    assert ANY_ORDER_FILTER.status is Status.REFUTED


def test_the_shares_of_the_orders_bound_the_factor() -> None:
    """Σ_α C(α) e^{(α−1)(B_α−ε)} is δ for each order: the repaired rule pays as many δ as there are orders."""
    inputs = AnyOrderInputs(epsilon=8.0, delta=1e-6, orders=(4.0, 16.0), loss_gap=1.5)
    assert 1.99 < ANY_ORDER_FILTER.evaluate(inputs).outputs["factor"] <= 2.0


@pytest.mark.parametrize(
    "changes",
    [{"orders": (8.0,)}, {"orders": (8.0, 4.0)}, {"orders": (2.0, 8.0), "epsilon": 0.5}, {"orders": (8.0, 1e5)}],
)
def test_what_no_interaction_can_have_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ANY_ORDER_FILTER.evaluate(
            AnyOrderInputs(**{"epsilon": 8.0, "delta": 1e-6, "orders": (8.0, 32.0), "loss_gap": 0.5, **changes})
        )

"""Refuted: budgets at several Rényi orders, where the interaction may go on while any one of them has room.

Each budget would be valid on its own if its order were fixed before the first output. An adversary that picks the order
by an output attains nearly the sum over the orders. The distributions here attain it with finitely many outcomes each
(docs/ledger.md, "Rules that are false").
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.root_search import brent_root
from epsilond.accountants.quantities import BudgetFields, Quantity, RenyiOrder, delta_outputs, request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem

_TESTS = "tests/ledgers/mathematics/theorems/test_any_order_filter.py"
_LARGEST_EXPONENT = 600.0
ORDERS = Quantity(symbol="α", description="orders at which a budget is kept, rising, each above 1")
LOSS_GAP = Quantity(
    symbol="g",
    unit="nat",
    ge=1e-3,
    le=10.0,
    description="how far apart the losses of the first mechanism's outputs are",
)


@request
class AnyOrderInputs(BudgetFields):
    """A target, the orders, and the first mechanism: as many outputs as orders, with equidistant losses."""

    orders: Annotated[tuple[RenyiOrder, ...], ORDERS]
    loss_gap: Annotated[float, LOSS_GAP]

    def check(self) -> None:
        """Require two to sixteen increasing orders, each in (1, 10⁶]."""
        if not 2 <= len(self.orders) <= 16 or any(high <= low for low, high in pairwise(self.orders)):
            raise InvalidInput.at("/orders", "must be 2 to 16 orders that rise")
        if not all(1.0 < order <= 1e6 for order in self.orders):
            raise InvalidInput.at("/orders", "an entry is out of range", allowed="> 1 and ≤ 1e+06")


def log_share(order: float) -> float:
    """Return log C(α) with C(α) = (α − 1)^{α−1}/α^α.

    A divergence B of order α implies δ(ε) ≤ C(α) e^{(α−1)(B−ε)}.
    """
    return (order - 1.0) * math.log1p(-1.0 / order) - math.log(order)


def order_budget(order: float, epsilon: float, log_delta: float) -> float:
    """Return the Rényi divergence of an order that implies (ε, δ): ε + log(δ/C(α))/(α − 1).

    C(α) is the factor of the conversion, the exponential of `log_share`.

    Args:
        order: α > 1.
        epsilon: ε, in nats.
        log_delta: log δ.
    """
    return epsilon + (log_delta - log_share(order)) / (order - 1.0)


def first_law(orders: tuple[float, ...], gap: float) -> tuple[list[float], list[float]]:
    """Return probabilities and losses of the first mechanism's outputs.

    At order α_j the j-th output has the largest weight. The weights decrease so that the lines of neighbouring orders
    cross halfway, at the geometric mean of α − 1.

    Args:
        orders: increasing orders.
        gap: difference of the losses of neighbouring outputs, in nats.
    """
    slopes = [math.sqrt((high - 1.0) * (low - 1.0)) for low, high in pairwise(orders)]
    logs = [0.0]
    for slope in slopes:
        logs.append(logs[-1] - slope * gap)
    total = math.fsum(map(math.exp, logs))
    probabilities = [math.exp(log) / total for log in logs]
    shift = math.log(math.fsum(p * math.exp(-index * gap) for index, p in enumerate(probabilities)))
    return probabilities, [index * gap + shift for index in range(len(probabilities))]


def divergence(order: float, probabilities: list[float], losses: list[float]) -> float:
    """Return the Rényi divergence of order α for a mechanism with finitely many outcomes.

    Args:
        order: α > 1.
        probabilities: probability of each outcome.
        losses: loss of each outcome, in nats.
    """
    terms = [math.log(p) + (order - 1.0) * loss for p, loss in zip(probabilities, losses, strict=True) if p > 0.0]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1.0)


def worst_response(order: float, budget: float, epsilon: float) -> float:
    """Return the largest δ at ε of two distributions on two outcomes with a given Rényi divergence.

    The first outcome has the loss ε + log(α/(α − 1)). With its probability p, δ = p/α.

    Args:
        order: α > 1.
        budget: divergence of that order.
        epsilon: ε > 0, in nats.
    """
    loss = epsilon - math.log1p(-1.0 / order)
    exponent = (order - 1.0) * loss
    if exponent > _LARGEST_EXPONENT or (order - 1.0) * budget > _LARGEST_EXPONENT:
        raise InvalidInput.at("/orders", "the largest orders leave the doubles at this ε")
    wanted = math.expm1((order - 1.0) * budget)

    def excess(log_p: float) -> float:
        p = math.exp(log_p)
        rest = order * math.log1p(-p) - (order - 1.0) * math.log1p(-p * math.exp(-loss))
        return (p * math.exp(exponent) + math.expm1(rest)) / wanted - 1.0

    low, high = -exponent - 40.0 + min(math.log(wanted), 0.0), -1e-12
    if excess(high) <= 0.0:
        return math.exp(high) / order
    return math.exp(brent_root(excess, low, high, absolute=1e-14, relative=1e-15)) / order


def any_order(inputs: AnyOrderInputs) -> Outputs:
    """Evaluate δ of the interaction at ε if the first output picks the order, and its ratio to the target's δ."""
    probabilities, losses = first_law(inputs.orders, inputs.loss_gap)
    terms = []
    for order, p, loss in zip(inputs.orders, probabilities, losses, strict=True):
        budget = order_budget(order, inputs.epsilon, inputs.log_delta)
        left = budget - divergence(order, probabilities, losses)
        if left <= 1e-12 * abs(budget) or inputs.epsilon <= loss:
            raise InvalidInput.at("/loss_gap", f"leaves nothing of the budget of order {order:g}")
        terms.append(p * worst_response(order, left, inputs.epsilon - loss))
    log_delta = math.log(math.fsum(terms))
    return {**delta_outputs(log_delta, "true_delta"), "factor": math.exp(log_delta - inputs.log_delta)}


ANY_ORDER_FILTER = Theorem(
    id="epsilond.any-order-renyi-filter",
    title="Budgets at several Rényi orders, of which one need have room: false",
    statement=(
        "With B_α = ε + log(δ/C(α))/(α − 1), C(α) = (α − 1)^{α−1}/α^α, an interaction goes on while the divergences "
        "add up to at most B_α at some order α of a list. It is then (ε, δ)-private. FALSE: the order may be picked "
        "by an output. It holds for one order fixed in advance, and for budgets with Σ_α C(α) e^{(α−1)(B_α−ε)} ≤ δ"
    ),
    source=Source("epsilond", "docs/ledger.md, Rules that are false; the rule of block composition by Rényi budgets"),
    status=Status.REFUTED,
    conditions=(Condition("adaptive-choice", "the second run is chosen by the output of the first"),),
    errata=(
        Erratum(
            "L-2",
            grade=Grade.PROVED_WRONG,
            printed="room at one order of a list is enough",
            truth="orders 8 and 32 at (8, 1e-6) give 1.979 δ, and 4, 8, 16, 32, 64 give 2.672 δ; the shares add",
            test=f"{_TESTS}::test_an_order_picked_by_an_output_passes_the_target",
        ),
    ),
    inputs=AnyOrderInputs,
    formula=any_order,
    examples=(
        {"epsilon": 8.0, "delta": 1e-6, "orders": [8.0, 32.0], "loss_gap": 0.5},
        {"epsilon": 8.0, "delta": 1e-6, "orders": [4.0, 8.0, 16.0, 32.0, 64.0], "loss_gap": 0.5},
    ),
)

THEOREMS: tuple[Theorem, ...] = (ANY_ORDER_FILTER,)

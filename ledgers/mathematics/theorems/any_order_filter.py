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
"""Largest logarithm of a likelihood ratio to a power, whose exponential stays far within the range of doubles."""
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
    """A target (ε, δ), Rényi orders, and the gap of the first mechanism.

    This mechanism has one output for each order. The privacy losses of neighbouring outputs differ by the gap, in nats.
    """

    orders: Annotated[tuple[RenyiOrder, ...], ORDERS]
    loss_gap: Annotated[float, LOSS_GAP]

    def check(self) -> None:
        """Require two to sixteen increasing Rényi orders, each above 1 and at most 10⁶.

        Raises:
            InvalidInput: the orders are not such a list.
        """
        if not 2 <= len(self.orders) <= 16 or any(high <= low for low, high in pairwise(self.orders)):
            raise InvalidInput.at("/orders", "must be 2 to 16 orders that rise")
        if not all(1.0 < order <= 1e6 for order in self.orders):
            raise InvalidInput.at("/orders", "an entry is out of range", allowed="> 1 and ≤ 1e+06")


def log_conversion_factor(order: float) -> float:
    """Return log C(α) with C(α) = (α − 1)^{α−1}/α^α, the factor in the conversion of Rényi divergence to δ.

    A divergence B of order α implies δ(ε) ≤ C(α) e^{(α−1)(B−ε)}.

    Args:
        order: Rényi order α > 1.

    Returns:
        The natural logarithm, at most 0.
    """
    return (order - 1.0) * math.log1p(-1.0 / order) - math.log(order)


def order_budget(order: float, epsilon: float, log_delta: float) -> float:
    """Return the largest Rényi divergence B of order α from which (ε, δ)-privacy follows.

    B implies δ(ε) ≤ C(α) e^{(α−1)(B−ε)}, where `log_conversion_factor` returns log C(α). This bound is δ at:

        B = ε + log(δ/C(α))/(α − 1).

    Args:
        order: α > 1.
        epsilon: ε, in nats.
        log_delta: log δ.

    Returns:
        The divergence, in nats.
    """
    return epsilon + (log_delta - log_conversion_factor(order)) / (order - 1.0)


def first_mechanism(orders: tuple[float, ...], gap: float) -> tuple[list[float], list[float]]:
    """Build the mechanism that runs first: one output for each order, which dominates the divergence of that order.

    Output j has probability p_j and loss l_j. It contributes p_j e^{(α−1) l_j} to the Rényi divergence of order α. The
    p_j make the terms of outputs j and j + 1 equal where α − 1 is the geometric mean of α_j − 1 and α_{j+1} − 1. So
    output j has the largest term at its own order α_j.

    Args:
        orders: increasing Rényi orders α_j > 1.
        gap: difference of the losses of successive outputs, in nats.

    Returns:
        The probabilities of the outputs, and their privacy losses in nats.
    """
    log_weights = [0.0]
    for low, high in pairwise(orders):
        crossing = math.sqrt((high - 1.0) * (low - 1.0))  # α − 1 where the two terms are equal
        log_weights.append(log_weights[-1] - crossing * gap)
    total = math.fsum(map(math.exp, log_weights))
    probabilities = [math.exp(log_weight) / total for log_weight in log_weights]

    # The probabilities under the other data set, p e^−loss, must sum to 1, which fixes the smallest loss.
    scaled = [probability * math.exp(-index * gap) for index, probability in enumerate(probabilities)]
    smallest_loss = math.log(math.fsum(scaled))
    losses = [index * gap + smallest_loss for index in range(len(probabilities))]
    return probabilities, losses


def divergence(order: float, probabilities: list[float], losses: list[float]) -> float:
    """Return the Rényi divergence of order α of a mechanism with finitely many outcomes.

    It is log E[e^{(α−1) L}]/(α − 1), where L is the privacy loss of the outcome.

    Args:
        order: α > 1.
        probabilities: probability of each outcome.
        losses: privacy loss of each outcome, in nats.

    Returns:
        The divergence, in nats.
    """
    log_terms = []
    for probability, loss in zip(probabilities, losses, strict=True):
        if probability > 0.0:
            log_terms.append(math.log(probability) + (order - 1.0) * loss)
    # No exponential overflows, because the largest term is divided out.
    largest = max(log_terms)
    log_moment = largest + math.log(math.fsum(math.exp(term - largest) for term in log_terms))
    return log_moment / (order - 1.0)


def largest_delta(order: float, budget: float, epsilon: float) -> float:
    """Return the δ at ε of a mechanism with two outcomes that uses up a Rényi divergence B of order α.

    The first outcome has the privacy loss l = ε + log(α/(α − 1)) and the probability p, which gives δ = p/α. The
    divergence is B if p solves:

        p e^{(α−1) l} + (1 − p)^α (1 − p e^−l)^{1−α} = e^{(α−1) B}.

    Args:
        order: α > 1.
        budget: divergence B of that order, in nats.
        epsilon: ε > 0, in nats.

    Returns:
        The δ, in (0, 1/α]. If the divergence is below B for each p up to 1 − 1e-12, the largest such p is used.

    Raises:
        InvalidInput: (α − 1) l or (α − 1) B exceeds `_LARGEST_EXPONENT`.
    """
    loss = epsilon - math.log1p(-1.0 / order)
    exponent = (order - 1.0) * loss
    if exponent > _LARGEST_EXPONENT or (order - 1.0) * budget > _LARGEST_EXPONENT:
        raise InvalidInput.at("/orders", "the largest orders leave the doubles at this ε")
    target = math.expm1((order - 1.0) * budget)

    def excess(log_probability: float) -> float:
        """Return the left side of the equation less its right side, divided by e^{(α−1) B} − 1."""
        probability = math.exp(log_probability)
        log_second = order * math.log1p(-probability) - (order - 1.0) * math.log1p(-probability * math.exp(-loss))
        return (probability * math.exp(exponent) + math.expm1(log_second)) / target - 1.0

    # At `low`, p e^{(α−1) l} is at most e^−40 (e^{(α−1) B} − 1), so the excess is negative. Any margin above 0 would do
    # instead of 40. `high` is log p for a p just below 1, because p = 1 has no second outcome.
    low = -exponent - 40.0 + min(math.log(target), 0.0)
    high = -1e-12
    if excess(high) <= 0.0:
        return math.exp(high) / order
    return math.exp(brent_root(excess, low, high, absolute=1e-14, relative=1e-15)) / order


def any_order(inputs: AnyOrderInputs) -> Outputs:
    """Evaluate the true δ at ε of two mechanisms in a row, and its ratio to the target's δ.

    The first mechanism's output picks a Rényi order. The second mechanism then uses up the budget of this order.

    Args:
        inputs: the target (ε, δ), the Rényi orders, and the gap between the losses of the first mechanism's outputs.

    Returns:
        The δ as `true_delta` and its logarithm, and `factor`, its ratio to the target's δ.

    Raises:
        InvalidInput: the first mechanism leaves nothing of the budget at one of the orders, or has an output with a
            loss of ε or more; or an order is too large for double precision at this ε.
    """
    probabilities, losses = first_mechanism(inputs.orders, inputs.loss_gap)
    terms = []
    for order, probability, loss in zip(inputs.orders, probabilities, losses, strict=True):
        budget = order_budget(order, inputs.epsilon, inputs.log_delta)
        left = budget - divergence(order, probabilities, losses)
        # A remainder below 1e-12 of the budget may be a rounding error.
        if left <= 1e-12 * abs(budget) or inputs.epsilon <= loss:
            raise InvalidInput.at("/loss_gap", f"leaves nothing of the budget of order {order:g}")
        terms.append(probability * largest_delta(order, left, inputs.epsilon - loss))
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

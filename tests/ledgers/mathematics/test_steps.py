"""Charges of steps: hinges lie above profiles, cells bound what lies between points, and the sums hold up."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants import specs
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.gaussian import ZeroProfile, gaussian_pair
from epsilond.ledgers.mathematics.comparison.hinges import Hinges, hinges_of
from epsilond.ledgers.mathematics.comparison.smooth import largest_excess, of_gaussian, of_hinges
from epsilond.ledgers.mathematics.residue import holds, least_cost
from epsilond.ledgers.mathematics.steps import step_prices
from tests.ledgers.mathematics.setups import step
from tests.ledgers.mathematics.test_residue import ETA, gaussian_delta, pair_of

LAPLACE = specs.Laplace(scale_multiplier=4.0)
FIXED = specs.Subsampled(
    sampling="without-replacement",
    batch_size=10,
    population=1000,
    mechanism=specs.Gaussian(noise_multiplier=2.0),
)
MECHANISMS: dict[str, tuple[Any, str]] = {
    "sampled Gaussian": (step(), "add-or-remove-one"),
    "sampled Gaussian, replaced": (step(0.1, 2.0), "replace-one"),
    "Laplace": (LAPLACE, "add-or-remove-one"),
    "response": (specs.RandomizedResponse(epsilon=0.5, categories=3), "replace-one"),
    "without replacement": (FIXED, "replace-one"),
    "approximate": (specs.Approximate(epsilon=0.2, delta=1e-9), "replace-one"),
    "discrete Laplace": (specs.DiscreteLaplace(decay_rate=0.3, sensitivity=1), "replace-one"),
}


def value_of(order: Hinges, loss: float) -> float:
    """F at e^loss."""
    return order.infinite + float(np.sum(order.masses * np.maximum(-np.expm1(loss - order.losses), 0.0)))


@pytest.mark.parametrize("name", MECHANISMS)
def test_hinges_lie_above_the_profile_and_close_to_it(name: str) -> None:
    spec, relation = MECHANISMS[name]
    pair = pair_of(spec, relation)
    orders = hinges_of(pair, 1e-9)
    for order, (one, other) in zip(
        orders, ((pair.forward, pair.backward), (pair.backward, pair.forward)), strict=False
    ):
        assert order.infinite + float(order.masses.sum()) >= 1.0 - 1e-15
        area = above = 0.0
        for loss in np.linspace(-3.0, 3.0, 2001).tolist():
            if loss >= 0.0:
                truth = math.exp(float(one.log_delta(np.asarray([loss])).lower[0]))
            else:
                truth = -math.expm1(loss) + math.exp(loss + float(other.log_delta(np.asarray([-loss])).lower[0]))
            found = value_of(order, loss)
            assert found >= truth * (1.0 - 1e-12)
            area += found - truth
            above += found - max(-math.expm1(loss), 0.0)
        assert area <= 5e-3 * above + 1e-12


@pytest.mark.parametrize("scale", [1e6, 1e7, 1e8, 1e12])
def test_a_profile_far_below_eta_has_hinges(scale: float) -> None:
    """Even at losses below zero it may be less than what counts as infinite."""
    pair = pair_of(specs.Laplace(scale_multiplier=scale), "add-or-remove-one")
    (order,) = hinges_of(pair, 6e-4)
    for loss in np.linspace(-1e-5, 1e-5, 201).tolist():
        least = math.exp(float(pair.forward.log_delta(np.asarray([abs(loss)])).lower[0]))
        truth = least if loss >= 0.0 else -math.expm1(loss) + math.exp(loss) * least
        assert value_of(order, loss) >= truth * (1.0 - 1e-12)


def test_the_jet_has_the_values_and_derivatives_of_the_gaussian_profile() -> None:
    at = np.asarray([-3.0, -0.4, 0.0, 0.7, 5.0])
    for mu in (0.2, 1.5, 4.0):
        found = of_gaussian(at, mu)
        with mp.workdps(40):
            for place, x in enumerate(at.tolist()):
                for k, values in enumerate((found.value, found.slope, found.curvature)):
                    truth = mp.diff(lambda e, m=mu: gaussian_delta(mp.mpf(m), e), mp.mpf(x), k)
                    assert abs(float(truth) - values[place]) <= max(found.error[place], 1e-17)
        assert float(found.error.max()) < 1e-12


@pytest.mark.parametrize(("mu", "slot"), [(0.7, 0.71), (1.5, 1.5), (0.3, 0.32), (3.0, 3.01)])
def test_cells_bound_the_excess_between_points(mu: float, slot: float) -> None:
    order = hinges_of(pair_of(LAPLACE), 1e-9)[0]
    bound = largest_excess(order, mu, slot, 8.0 * slot + slot**2, 1e-7)
    at = np.linspace(0.0, 8.0 * slot + slot**2, 20_011)
    there = of_hinges(order, at, mu).value - of_gaussian(at, slot).value
    assert float(there.max()) <= bound <= float(there.max()) * 1.001 + 1e-8


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "approximate"])
@pytest.mark.parametrize("count", [1, 7])
def test_what_is_charged_is_left_by_the_composition(name: str, count: int) -> None:
    """The engine's own lower ends never show more than η at a charge, and would at one that is an eighth smaller."""
    from epsilond.accountants.composition.product import composed_pair

    spec, relation = MECHANISMS[name]
    pair, remaining = pair_of(spec, relation), Decimal("2.3")
    found = step_prices([(pair, count)], remaining=remaining, eta=ETA)
    assert found is not None
    cost = found.cost()
    assert cost is not None
    slot = gaussian_pair(math.sqrt(2.3))
    at = np.linspace(0.0, 8.0, 17)

    def excess(charged: float) -> float:
        left = composed_pair([(pair, count), (gaussian_pair(math.sqrt(2.3 - charged)), 1)], "default")
        ends = [order.log_delta(at).lower for order in left.directions()]
        whole = np.exp(slot.forward.log_delta(at).upper)
        return max(float(np.max(np.exp(end) - whole)) for end in ends) / float(ETA)

    assert excess(float(cost)) <= 1.0
    if name in ("sampled Gaussian", "response", "discrete Laplace"):  # of these the composition is known exactly
        assert excess(0.875 * float(cost)) > 1.0


@pytest.mark.parametrize("epsilon", [0.05, 0.4])
def test_steps_of_a_response_cost_what_it_costs_alone(epsilon: float) -> None:
    """Forty responses cost hardly more than forty times one, and less than as Gaussians."""
    pair = pair_of(specs.RandomizedResponse(epsilon=epsilon, categories=2), "replace-one")
    one, many = (least_cost([(pair, count)], remaining=Decimal(16), eta=ETA) for count in (1, 40))
    assert one is not None
    assert many is not None
    assert 40 * float(one.cost) <= float(many.cost) * (1 + 1e-6) <= 41 * float(one.cost)
    assert holds([(pair, 40)], remaining=Decimal(16), cost=many.cost, eta=ETA)
    assert holds([(pair, 40)], remaining=Decimal(17), cost=many.cost, eta=ETA)
    assert not holds([(pair, 40)], remaining=Decimal(16), cost=many.cost * Decimal("0.99"), eta=ETA)


def test_mechanisms_of_one_job_are_charged_one_after_another() -> None:
    parts = [(pair_of(LAPLACE), 2), (pair_of(step()), 30), (gaussian_pair(0.25), 1)]
    whole = least_cost(parts, remaining=Decimal(2), eta=ETA)
    turned = least_cost(parts[::-1], remaining=Decimal(2), eta=ETA)
    assert whole is not None
    assert turned is not None
    assert float(whole.cost) == pytest.approx(float(turned.cost), rel=2e-3)
    assert float(whole.cost) > 0.0625


def test_what_loses_nothing_costs_the_least_amount() -> None:
    nothing = Pair(ZeroProfile(), ZeroProfile())
    found = least_cost([(nothing, 5)], remaining=Decimal(1), eta=ETA)
    assert found is not None
    assert found.cost <= Decimal("1e-9")


def test_the_price_of_steps_is_at_most_a_hundredth_above_that_of_all_together() -> None:
    parts = [(pair_of(step()), 1000)]
    stepwise = step_prices(parts, remaining=Decimal("2.3"), eta=ETA)
    assert stepwise is not None
    together, alone = least_cost(parts, remaining=Decimal("2.3"), eta=ETA), stepwise.cost()
    assert together is not None
    assert alone is not None
    assert 1.0 <= float(alone / together.cost) <= 1.01


def test_few_steps_of_rare_large_losses_are_charged_together() -> None:
    parts = [(pair_of(step(0.01, 0.5)), 20)]
    slot, eta = Decimal("2.3"), Decimal("1.6e-8")
    stepped = step_prices(parts, remaining=slot, eta=eta)
    assert stepped is None or stepped.cost() is None  # one after another they have no price
    found = least_cost(parts, remaining=slot, eta=eta)
    assert found is not None
    assert found.cost < Decimal("1.42")
    assert holds(parts, remaining=slot, cost=found.cost, eta=eta)

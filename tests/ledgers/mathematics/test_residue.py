"""Residue charges: certified by cells, and checked against profiles written from their definitions."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise
from statistics import NormalDist

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants import specs
from epsilond.accountants.account import account
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.ledgers.mathematics.amounts import down, float_above
from epsilond.ledgers.mathematics.comparison.cells import excess
from epsilond.ledgers.mathematics.comparison.slot_trial import SlotTrial
from epsilond.ledgers.mathematics.residue import holds, least_cost
from tests.ledgers.mathematics.setups import step

ETA = Decimal("2e-8")


def pair_of(spec: object, relation: str = "add-or-remove-one") -> Pair:
    return account(spec, relation=relation).guarantee.curve.upper  # type: ignore[arg-type]


def gaussian_delta(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """Balle and Wang's formula, to forty digits."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def response_delta(epsilon0: mp.mpf, mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """E of one randomised response at ε₀ and a Gaussian: the mean over its two losses of the Gaussian's own."""
    kept = 1 / (1 + mp.exp(-epsilon0))

    return kept * gaussian_delta(mu, epsilon - epsilon0) + (1 - kept) * gaussian_delta(mu, epsilon + epsilon0)


@pytest.mark.parametrize(("epsilon0", "remaining"), [(0.1, "0.5"), (0.5, "2.3"), (1.0, "4")])
def test_a_pure_query_leaves_what_is_certified(epsilon0: float, remaining: str) -> None:
    parts = [(pair_of(specs.RandomizedResponse(epsilon=epsilon0, categories=2), "replace-one"), 1)]
    left = Decimal(remaining)
    found = least_cost(parts, remaining=left, eta=ETA)
    assert found is not None
    assert holds(parts, remaining=left, cost=found.cost, eta=ETA)
    with mp.workdps(40):
        whole, rest = mp.sqrt(mp.mpf(str(left))), mp.sqrt(mp.mpf(str(left - found.cost)))
        grid = [mp.mpf(k) / 40 for k in range(400)]
        worst = max(response_delta(mp.mpf(epsilon0), rest, e) - gaussian_delta(whole, e) for e in grid)
        assert worst <= mp.mpf(str(ETA))
        cheaper = mp.sqrt(mp.mpf(str(left - found.cost * Decimal("0.99"))))
        assert max(response_delta(mp.mpf(epsilon0), cheaper, e) - gaussian_delta(whole, e) for e in grid) > mp.mpf(
            str(ETA)
        )
    naive = (2 * NormalDist().inv_cdf(1 / (1 + math.exp(-epsilon0)))) ** 2
    assert float(found.cost) < naive  # what the query costs as a Gaussian mechanism


def test_a_gaussian_costs_its_square_and_hardly_less() -> None:
    found = least_cost([(gaussian_pair(0.3), 4)], remaining=Decimal(2), eta=Decimal("1e-12"))
    assert found is not None
    assert 0.36 * (1 - 1e-4) < float(found.cost) < 0.36 * (1 + 1e-4)


def test_costs_grow_as_the_slot_falls() -> None:
    parts = [(pair_of(step()), 1000)]
    costs = [least_cost(parts, remaining=Decimal(left), eta=ETA) for left in ("2.3", "1.5", "0.8", "0.4")]
    for higher, lower in pairwise(costs):
        assert higher is not None
        assert lower is not None
        assert higher.cost < lower.cost
        assert holds(parts, remaining=higher.remaining, cost=lower.cost, eta=ETA)
        assert not holds(parts, remaining=lower.remaining, cost=higher.cost, eta=ETA)


def test_what_no_slot_pays_for_is_refused() -> None:
    parts = [(pair_of(step()), 1000)]
    assert least_cost(parts, remaining=Decimal("0.05"), eta=ETA) is None
    assert not holds(parts, remaining=Decimal(2), cost=Decimal("2.1"), eta=ETA)
    infinite = [(pair_of(specs.Approximate(epsilon=0.1, delta=1e-6)), 1)]
    assert least_cost(infinite, remaining=Decimal(2), eta=ETA) is None  # a mass at infinity above η
    assert least_cost(infinite, remaining=Decimal(2), eta=Decimal("1e-5")) is not None


@pytest.mark.parametrize(("left_mu", "right_mu"), [(0.5, 0.5), (0.500001, 0.5), (1.7, 1.5), (0.2, 0.9)])
def test_the_cells_bound_the_largest_difference(left_mu: float, right_mu: float) -> None:
    left, right = gaussian_pair(left_mu).forward, gaussian_pair(right_mu).forward
    eta = 1e-7
    last = gaussian_pair(left_mu).epsilon(math.log(eta)).upper
    found = excess(left, right, math.log(eta), last)
    with mp.workdps(40):
        grid = np.linspace(0.0, last, 400).tolist()
        worst = max(
            float(
                (gaussian_delta(mp.mpf(left_mu), mp.mpf(e)) - gaussian_delta(mp.mpf(right_mu), mp.mpf(e))) / mp.mpf(eta)
            )
            for e in grid
        )
    assert found.upper >= worst
    assert found.holds == (worst <= 1.0)


def test_a_cost_on_a_grid_is_no_certificate() -> None:
    """Between points where it just holds, a left side may stand out: the cells see what a coarse grid does not."""
    left, right = gaussian_pair(1.5), gaussian_pair(1.49)
    coarse = np.asarray([0.0, 9.0])
    differences = np.exp(left.forward.log_delta(coarse).upper) - np.exp(right.forward.log_delta(coarse).lower)
    eta = float(np.max(differences)) * 1.0001
    last = max(left.epsilon(math.log(eta)).upper, 9.0)
    found = excess(left.forward, right.forward, math.log(eta), last)
    middle = np.asarray([1.0])
    truly = float((np.exp(left.forward.log_delta(middle).lower) - np.exp(right.forward.log_delta(middle).upper))[0])
    assert truly > eta
    assert not found.holds


def test_rounding_is_outward_at_the_smallest_eta() -> None:
    parts = [(gaussian_pair(0.5), 1)]
    found = least_cost(parts, remaining=Decimal(1), eta=Decimal("1e-18"))
    assert found is None or float_above(found.cost) >= 0.25 * (1 - 1e-9)
    assert down(0.25) == Decimal("0.25")


SMALL_SLOT, LARGE_ETA = Decimal("0.141835605844620293"), Decimal("0.000015625")


def small_noise(noise: float) -> list[tuple[Pair, int]]:
    """Return five Poisson batches with little noise, whose profile is slow to evaluate without a Gaussian."""
    spec = specs.Subsampled(sampling="poisson", rate=0.01, mechanism=specs.Gaussian(noise_multiplier=noise))
    return [(pair_of(spec), 5)]


@pytest.mark.parametrize(("noise", "fits"), [(0.55, False), (0.6405, False), (0.643, False), (0.645, True)])
def test_a_quick_rejection_is_one_that_the_cells_confirm(noise: float, fits: bool) -> None:
    trial = SlotTrial(small_noise(noise), SMALL_SLOT, LARGE_ETA)
    assert trial.cannot_fit() is not fits
    certified, _ = SlotTrial(small_noise(noise), SMALL_SLOT, LARGE_ETA).certify(SMALL_SLOT)
    assert certified is fits


def test_a_job_that_needs_the_whole_slot_costs_exactly_the_slot() -> None:
    residue = least_cost(small_noise(0.645), remaining=SMALL_SLOT, eta=LARGE_ETA)
    assert residue is not None
    assert residue.cost == SMALL_SLOT

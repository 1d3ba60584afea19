"""Residue charges: against Gaussians in closed form, and the two ways of keeping books on them that are unsound."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf
from scipy.special import log_ndtr
from scipy.stats import norm

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.mathematics.theorems.residue import RESIDUE

GRID = np.linspace(-12.0, 12.0, 9601)


def cost(**changes: Any) -> float:
    found = RESIDUE.evaluate(RESIDUE.inputs(**{**RESIDUE.examples[1], **changes})).outputs
    assert found["mu_squared_cost"] + found["mu_squared_left"] == pytest.approx(
        {**RESIDUE.examples[1], **changes}["mu_squared"], rel=1e-12
    )
    return float(found["mu_squared_cost"])


# The formula --------------------------------------------------------------------------------------------------------
def exact_gaussian_cost(mu: Any, remaining: Any, eta: Any) -> Any:
    """R + μ² − m², m being where the largest of δ_m(ε) − δ_√R(ε) over ε is η."""

    def delta(distance: Any, at: Any) -> Any:
        return mp.ncdf(distance / 2 - at / distance) - mp.exp(at) * mp.ncdf(-distance / 2 - at / distance)

    def most(distance: Any) -> Any:
        """−e^ε Φ(−m/2 − ε/m) is the slope of each; two of them agree at ε = m√R/2."""
        at = distance * whole / 2
        return delta(distance, at) - delta(whole, at)

    whole = mp.sqrt(remaining)
    low, high = whole, mp.sqrt(remaining + mu * mu)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if most(middle) <= eta else (low, middle)
    return remaining + mu * mu - low * low


@pytest.mark.compares("epsilond.ledger-residue", within=1e-4)
@pytest.mark.parametrize(("noise", "eta"), [(2.0, 1e-3), (3.0, 1e-5)])
def test_a_gaussian_costs_its_mu_squared_less_what_eta_is_worth(noise: float, eta: float) -> None:
    with mp.workdps(30):
        wanted = float(exact_gaussian_cost(1 / mpf(noise), mpf(1), mpf(eta)))
    found = cost(noise_multiplier=noise, eta=eta)
    assert wanted * (1.0 - 1e-9) <= found
    # The search leaves a fifth of η to the chords; and that much more it costs.
    with mp.workdps(30):
        short = float(exact_gaussian_cost(1 / mpf(noise), mpf(1), mpf("0.7999") * mpf(eta)))
    assert found <= short * (1.0 + 2e-5)


@pytest.mark.compares("epsilond.ledger-residue", within=1e-3)
def test_rounds_of_sampled_gaussians_cost_little_more_than_their_limit_law() -> None:
    """T q² (e^{1/σ²} − 1) is the floor; 0.1793 is golden, and the first of twelve that fit into (8, 1e-6)."""
    found = RESIDUE.evaluate(RESIDUE.inputs(**RESIDUE.examples[0])).outputs
    assert found["mu_squared_cost"] == pytest.approx(0.179338, rel=2e-5)
    assert found["mu_squared_left"] == pytest.approx(2.2988 - 0.179338, rel=2e-6)
    assert 1000 * 1e-4 * math.expm1(1.0) < found["mu_squared_cost"] < 0.1806


def test_a_charge_grows_as_the_slot_empties() -> None:
    costs = [cost(rate=0.05, rounds=20, mu_squared=held, eta=1e-6) for held in (4.0, 1.0, 0.5)]
    assert costs == sorted(costs)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="/mu_squared"):
        cost(noise_multiplier=0.5, mu_squared=1.0, eta=1e-9)


# Unsound books ------------------------------------------------------------------------------------------------------
def gaussian_delta(mu: float, at: Any) -> Any:
    first, second = log_ndtr(mu / 2 - at / mu), at + log_ndtr(-mu / 2 - at / mu)
    return np.exp(first) * -np.expm1(np.minimum(second - first, -1e-300))


def outcomes(loss: float, answers: float) -> list[tuple[float, float]]:
    """Probabilities and losses of a randomized response that answers with some probability, else says nothing."""
    keep = 1.0 / (1.0 + math.exp(-loss))
    return [(1.0 - answers, 0.0), (answers * keep, loss), (answers * (1.0 - keep), -loss)]


def beside_slot(law: list[tuple[float, float]], mu_squared: float, at: Any) -> Any:
    """δ of the law's mechanism and a Gaussian slot, at any real ε."""
    mu = math.sqrt(mu_squared)
    return sum(chance * gaussian_delta(mu, at - loss) for chance, loss in law)


def twice(law: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(p * q, one + other) for (p, one), (q, other) in product(law, law)]


def least_cost(law: list[tuple[float, float]], mu_squared: float) -> float:
    """The residue with η = 0, on a dense grid of ε of both signs."""
    allowed = gaussian_delta(math.sqrt(mu_squared), GRID) * (1.0 + 1e-12) + 1e-300
    low, high = 0.0, mu_squared * (1.0 - 1e-9)
    for _ in range(60):
        middle = 0.5 * (low + high)
        fits = bool(np.all(beside_slot(law, mu_squared - middle, GRID) <= allowed))
        low, high = (low, middle) if fits else (middle, high)
    return high


@pytest.mark.parametrize(("loss", "held"), [(0.1, 0.25), (0.3, 4.0), (0.5, 4.0)])
def test_a_pure_query_costs_about_its_square_and_not_that_of_the_gaussian_above_it(loss: float, held: float) -> None:
    charged, above = least_cost(outcomes(loss, 1.0), held), (2.0 * norm.ppf(1.0 / (1.0 + math.exp(-loss)))) ** 2
    assert 1.0 <= charged / loss**2 <= 1.08
    assert above == pytest.approx(math.pi / 2 * loss**2, rel=0.03)


@pytest.mark.erratum("L-5")
def test_a_stale_charge_passes_the_slot() -> None:
    """A leaky response is reserved at μ² = 0.64, a Gaussian of 0.5 committed, and its output says whether A is run."""
    law, epsilon = outcomes(2.0, 0.005), 3.6
    stale, fresh = least_cost(law, 0.64), least_cost(law, 0.39)
    assert stale == pytest.approx(0.3302, abs=5e-5)
    assert fresh == pytest.approx(0.3697, abs=5e-5)
    noise = np.linspace(-12.0, 12.0, 40_001)
    weights = norm.pdf(noise) * (noise[1] - noise[0])
    left = epsilon - (0.5 * noise + 0.125)
    cancelled = gaussian_delta(math.sqrt(0.39), left)

    def ratio(charge: float) -> float:
        run = beside_slot(law, 0.39 - charge, left)
        return float(weights @ np.maximum(run, cancelled) / gaussian_delta(0.8, np.asarray(epsilon)))

    assert ratio(stale) == pytest.approx(1.1888, abs=5e-4)
    assert ratio(fresh) <= 1.0 + 1e-8


@pytest.mark.erratum("L-6")
def test_capacity_refunded_after_half_a_job_passes_the_slot() -> None:
    """Two leaky responses are charged together; after the first, by its output, the second is run or recharged."""
    law, held = outcomes(0.5, 0.1), 0.35**2
    both, one = least_cost(twice(law), held), least_cost(law, held)
    ratios, kept = [], []
    for epsilon in np.linspace(0.0, 3.0, 31):
        allowed = gaussian_delta(math.sqrt(held), epsilon)
        refund = credit = 0.0
        for chance, loss in law:
            run = beside_slot(law, held - both, np.asarray(epsilon - loss))
            stopped = gaussian_delta(math.sqrt(held - one), np.asarray(epsilon - loss))
            refund += chance * max(run, stopped)
            credit += chance * max(run, gaussian_delta(math.sqrt(held - both), np.asarray(epsilon - loss)))
        ratios.append(refund / allowed)
        kept.append(credit / allowed)
    assert max(ratios) == pytest.approx(1.0130, abs=2e-4)
    assert max(kept) <= 1.0 + 1e-9

"""Divergences and μ of drawn batches: at least those of hostile neighbours, and at most those of a public draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import mpmath as mp
import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.attackers.renyi import concentration
from epsilond.accountants.profiles.laplace import OppositeLaplaceProfile, opposite_laplace_pair
from epsilond.accountants.specs import DiscreteLaplace, Gaussian, Laplace, Subsampled
from epsilond.accountants.theorems.sampling.with_replacement import public_draws_pair

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation

Density: TypeAlias = Callable[[mp.mpf], mp.mpf]
UNIT_GAUSSIAN = Gaussian(noise_multiplier=1.0)
ONE_OF_TEN = Subsampled(sampling="without-replacement", population=10, batch_size=1, mechanism=UNIT_GAUSSIAN)
THREE_DRAWS = Subsampled(sampling="with-replacement", population=10, batch_size=3, mechanism=UNIT_GAUSSIAN)


def figures(spec: Subsampled, relation: Relation, order: float) -> tuple[float, float, float, float]:
    """Return the ends of D_a and of μ."""
    answer = epsilond.account(
        spec,
        relation=relation,
        unit="record",
        observer="released-models",
        orders=[order],
        false_positive_rates=[0.1],
    )
    assert answer.renyi_divergences is not None
    assert answer.gaussian_dp_mu is not None
    divergence, mu = answer.renyi_divergences[0].divergence, answer.gaussian_dp_mu
    return divergence.lower, divergence.upper, mu.lower, mu.upper


def divergence(first: Density, second: Density, order: float, cuts: list[float]) -> float:
    """Return D_a by quadrature of the definition, between cuts at the corners of both densities."""
    with mp.workdps(30):
        integral = mp.quad(lambda x: first(x) ** order * second(x) ** (1 - order), cuts)
        return float(mp.log(integral) / (order - 1))


@pytest.mark.parametrize("order", [1.5, 2.0, 5.0])
def test_a_zeroed_record_of_a_batch_is_between_its_neighbours_and_the_full_batch(order: float) -> None:
    lower, upper, least_mu, most_mu = figures(ONE_OF_TEN, "zero-out-one", order)
    with_record = lambda x: 0.9 * mp.npdf(x) + 0.1 * mp.npdf(x, 2)  # noqa: E731
    zeroed = lambda x: 0.9 * mp.npdf(x) + 0.1 * mp.npdf(x, 1)  # noqa: E731
    exact = divergence(with_record, zeroed, order, [-12, 0, 2, 5, 10, 30])
    assert lower <= exact * (1 + 1e-9)
    assert exact <= upper <= 0.5 * order * (1 + 1e-12)
    assert 0.9 < least_mu <= most_mu <= 1.0 + 1e-12


@pytest.mark.parametrize("order", [2, 3])
def test_draws_with_replacement_are_between_their_neighbours_and_public_draws(order: int) -> None:
    lower, upper, least_mu, most_mu = figures(THREE_DRAWS, "replace-one", float(order))
    weights = [math.comb(3, k) * 0.1**k * 0.9 ** (3 - k) for k in range(4)]
    with mp.workdps(30):  # E_Q[(Σ w_k X_{2k})^a], with Q = N(0, 1) if all other records are as the replacement
        moment = mp.quad(
            lambda x: mp.npdf(x) * mp.fsum(w * mp.exp(2 * k * x - 2 * k * k) for k, w in enumerate(weights)) ** order,
            [-12, 0, 6, 12, 18, 40],
        )
        exact = float(mp.log(moment) / (order - 1))
    assert exact <= upper <= 0.5 * order * 6.0**2 * (1 + 1e-12)
    assert lower <= upper
    assert 5.0 < least_mu <= most_mu <= 6.0 + 1e-12


@pytest.mark.parametrize(
    ("spec", "relation", "most"),
    [
        (ONE_OF_TEN, "zero-out-one", 0.5),
        (THREE_DRAWS, "replace-one", 18.0),
        (THREE_DRAWS, "zero-out-one", 4.5),
    ],
)
def test_drawn_batches_are_zero_concentrated_as_a_public_draw_is(
    spec: Subsampled, relation: Relation, most: float
) -> None:
    guarantee = account(spec, relation=relation, observer="released-models").guarantee
    assert concentration(guarantee.curve.upper) <= most * (1 + 1e-12)


@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (Laplace(scale_multiplier=2.0), "replace-one"),
        (Laplace(scale_multiplier=2.0), "zero-out-one"),
        (DiscreteLaplace(decay_rate=0.5, sensitivity=1), "replace-one"),
    ],
)
def test_a_public_draw_is_above_the_bound_of_a_hidden_one(
    mechanism: Laplace | DiscreteLaplace, relation: Relation
) -> None:
    spec = Subsampled(sampling="with-replacement", population=4, batch_size=2, mechanism=mechanism)
    lower, upper, least_mu, most_mu = figures(spec, relation, 2.0)
    assert 0.0 <= lower <= upper < math.inf
    assert 0.0 < least_mu <= most_mu < math.inf
    public = public_draws_pair(mechanism, 2, relation)
    guarantee = account(spec, relation=relation, observer="released-models").guarantee
    for epsilon in (0.0, 0.2, 0.7):
        assert guarantee.curve.log_delta(epsilon).lower <= public.upper_log_delta(epsilon)


@pytest.mark.parametrize(("rate", "scale"), [(0.1, 0.278), (0.5, 1.0), (0.999, 0.5)])
@pytest.mark.parametrize("order", [1.25, 2.0, 6.0])
def test_opposite_laplace_contributions_have_their_divergence(rate: float, scale: float, order: float) -> None:
    spec = Subsampled(sampling="poisson", rate=rate, mechanism=Laplace(scale_multiplier=scale))
    lower, upper, least_mu, most_mu = figures(spec, "replace-one", order)
    shift = 1 / scale

    def mixed(x: mp.mpf, side: int) -> mp.mpf:
        return (1 - mp.mpf(rate)) * mp.exp(-abs(x)) / 2 + rate * mp.exp(-abs(x - side * shift)) / 2

    cuts = [-60, -shift, 0, shift, 60]
    exact = divergence(lambda x: mixed(x, 1), lambda x: mixed(x, -1), order, cuts)
    assert lower * (1 - 1e-9) <= exact <= upper * (1 + 1e-9)
    assert upper - lower <= 1e-3 * upper
    assert 0.0 < least_mu <= most_mu <= least_mu * 1.01


@pytest.mark.parametrize("rate", [1e-9, 0.1, 0.9999])
@pytest.mark.parametrize("shift", [1e-9, 0.4, 7.0, 300.0])
def test_the_largest_loss_of_opposite_laplace_contributions_is_rounded_up(rate: float, shift: float) -> None:
    with mp.workdps(50):
        q, s = mp.mpf(rate), mp.mpf(shift)
        exact = mp.log(1 - q + q * mp.exp(s)) - mp.log(1 - q + q * mp.exp(-s))
        supremum = OppositeLaplaceProfile(rate, shift).supremum
        assert exact <= supremum <= exact * (1 + 1e-10) + 1e-12
    assert opposite_laplace_pair(rate, shift).log_delta_bounds(supremum).lower == -math.inf

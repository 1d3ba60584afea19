"""The integral of a Rényi divergence for profiles that are computed point by point: enclosed, with few points."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.attackers.far_losses import far_losses_of_bounded
from epsilond.accountants.attackers.renyi_integral import integrated_renyi
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.profiles.declared.concentration import largest_loss
from epsilond.accountants.profiles.gaussian import ZeroProfile
from epsilond.accountants.specs import PoissonBinomial, Subsampled

THETA, RATE = 0.49, 0.5
ORDERS = (1.0001, 1.5, 2.0, 6.0)
TWO_COORDINATES = Subsampled(
    sampling="without-replacement",
    population=2,
    batch_size=1,
    mechanism=PoissonBinomial(trials=2, theta=THETA, dimension=2, clients=1),
)


def outcomes() -> list[tuple[mp.mpf, mp.mpf]]:
    """Return the probabilities of the nine outcomes of two coordinates, for opposite values."""
    high, low = mp.mpf("0.5") + mp.mpf(THETA), mp.mpf("0.5") - mp.mpf(THETA)
    one = [(math.comb(2, k) * high**k * low ** (2 - k), math.comb(2, k) * low**k * high ** (2 - k)) for k in range(3)]
    return [(p * other_p, q * other_q) for (p, q), (other_p, other_q) in itertools.product(one, repeat=2)]


def integral_of_the_profile(order: float) -> float:
    """Return D_a of the symmetric pair with the amplified profile, by quadrature between its kinks."""
    with mp.workdps(40):
        listed, a = outcomes(), mp.mpf(order)

        def divergence(epsilon: mp.mpf) -> mp.mpf:
            gamma = 1 + mp.expm1(epsilon) / RATE
            return RATE * mp.fsum(max(p - gamma * q, mp.mpf(0)) for p, q in listed)

        kinks = sorted({mp.log(1 + RATE * (p / q - 1)) for p, q in listed if p > q})
        cuts = [mp.mpf(0), *kinks]
        parts = [
            mp.quad(lambda x: (mp.exp((a - 1) * x) + mp.exp(-a * x)) * divergence(x), mp.linspace(start, end, 9))
            for start, end in itertools.pairwise(cuts)
            if end - start > mp.mpf("1e-20")
        ]
        return float(mp.log1p(a * (a - 1) * mp.fsum(parts)) / (a - 1))


@pytest.mark.parametrize("order", ORDERS)
def test_few_points_enclose_the_divergence(order: float, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    evaluate = ComposedProfile.log_delta_bounds

    def counted(self: ComposedProfile, epsilon: float) -> object:
        calls.append(epsilon)
        return evaluate(self, epsilon)

    monkeypatch.setattr(ComposedProfile, "log_delta_bounds", counted)
    pair = account(TWO_COORDINATES, relation="replace-one", observer="released-models").guarantee.curve.upper
    far = far_losses_of_bounded(largest_loss(pair), math.inf, None)
    assert far is not None
    bounds = integrated_renyi(pair.forward, pair.backward, far=far, order=order)
    exact = integral_of_the_profile(order)
    assert bounds.lower <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= bounds.upper <= exact * 1.01
    assert bounds.upper <= bounds.lower * 1.01
    assert 0 < len(calls) < 2_500


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0])
def test_no_neighbours_exceed_the_divergence(order: float) -> None:
    answer = epsilond.account(
        TWO_COORDINATES, relation="replace-one", unit="record", observer="released-models", orders=[order]
    )
    assert answer.renyi_divergences is not None
    mixed = [(RATE * p + (1 - RATE) * q, q) for p, q in outcomes()]
    exact = max(
        float(mp.log(mp.fsum(p**order * q ** (1 - order) for p, q in listed)) / (order - 1))
        for listed in (mixed, [(q, p) for p, q in mixed])
    )
    assert exact <= answer.renyi_divergences[0].divergence.upper <= exact * 1.001


def test_two_equal_distributions_have_no_divergence() -> None:
    far = far_losses_of_bounded(1.0, 0.5, None)
    assert far is not None
    assert integrated_renyi(ZeroProfile(), ZeroProfile(), far=far, order=2.0) == (0.0, 0.0)
    assert far_losses_of_bounded(0.0, 0.5, None) is None

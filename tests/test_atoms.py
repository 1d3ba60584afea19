"""Laws with finitely many atoms against sums in 40 digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.numerics.special import log1m_exp
from epsilond.accountants.profiles.atoms import AtomicProfile
from tests.oracles.enclosure import encloses, log_of


def law(size: int, spread: float, seed: int) -> tuple[list[float], list[float], float]:
    """Random increasing losses, log masses below one in all, and the log of a rest at infinity."""
    random = np.random.default_rng(seed)
    losses = np.sort(random.normal(0.3, spread, size))
    log_masses = random.normal(0.0, 8.0, size)
    log_masses -= np.logaddexp.reduce(log_masses) + 0.01
    return losses.tolist(), log_masses.tolist(), math.log(1e-3)


@pytest.mark.parametrize(("size", "spread"), [(1, 1.0), (2, 1e-6), (7, 1.0), (300, 0.05), (300, 40.0)])
def test_delta_and_tails_are_their_sums(size: int, spread: float) -> None:
    losses, log_masses, log_infinite = law(size, spread, seed=size)
    profile = AtomicProfile(tuple(losses), tuple(log_masses), log_infinite)
    with mp.workdps(40):
        for epsilon in (0.0, *[x for x in losses if x > 0][:5], max(losses) - 1e-9, max(losses), max(losses) + 1):
            if epsilon < 0:
                continue
            above = [(mp.mpf(x), mp.exp(mp.mpf(w))) for x, w in zip(losses, log_masses, strict=True) if x > epsilon]
            rest = mp.exp(mp.mpf(log_infinite))
            delta = rest + mp.fsum(p * -mp.expm1(mp.mpf(epsilon) - x) for x, p in above)
            assert encloses(profile, epsilon, delta, width=1e-11)
            alone, exact = profile.log_delta_bounds(epsilon), log_of(delta)
            assert alone.lower <= exact <= alone.upper
            assert alone.upper - alone.lower <= 1e-11 * (1.0 + abs(exact)) or math.isinf(exact)
            tails = profile.log_tails(np.asarray([epsilon]))
            first, second = (
                log_of(rest + mp.fsum(p for _, p in above)),
                log_of(mp.fsum(p * mp.exp(-x) for x, p in above)),
            )
            assert tails.log_p[0] == pytest.approx(first, abs=profile.tail_accuracy * (1 + abs(first)))
            if math.isfinite(second):
                assert tails.log_q[0] == pytest.approx(second, abs=profile.tail_accuracy * (1 + abs(second)))
            else:
                assert math.isinf(tails.log_q[0])
            assert profile.log_second_above(epsilon) == tails.log_q[0]


def test_a_hundred_thousand_atoms_are_one_pass() -> None:
    losses = tuple(np.linspace(-5.0, 5.0, 100_001).tolist())
    masses = tuple(np.full(100_001, -math.log(100_001)).tolist())
    ends = AtomicProfile(losses, masses).log_delta(np.linspace(0.0, 6.0, 1000))
    assert (ends.lower <= ends.upper).all()
    assert ends.upper[0] - ends.lower[0] < 1e-9
    assert np.isneginf(ends.upper[-1])


@pytest.mark.parametrize("x", [-1e-300, -1e-9, -0.69, -0.71, -5.0, -700.0, -1e9])
def test_log_of_one_minus_exp(x: float) -> None:
    with mp.workdps(40):
        truth = float(mp.log(-mp.expm1(mp.mpf(x)))) if x > -90 else 0.0
    assert float(log1m_exp(np.asarray(x))) == pytest.approx(truth, rel=1e-15, abs=1e-30)


@pytest.mark.parametrize("log_delta", [-1e-3, -0.2, -1.0, -14.0, -200.0, -600.0])
@pytest.mark.parametrize(("epsilon", "categories"), [(2.0, 5), (1e-6, 2), (30.0, 2), (0.7, 1000)])
def test_randomized_response_is_inverted_in_closed_form(epsilon: float, categories: int, log_delta: float) -> None:
    """δ(ε') = (e^ε − e^ε')₊/(e^ε + k − 1), so that ε(δ) = log(e^ε − δ (e^ε + k − 1))."""
    pair = response_pair(epsilon, categories)
    with mp.workdps(400):
        rest = mp.exp(mp.mpf(epsilon)) - mp.exp(mp.mpf(log_delta)) * (mp.exp(mp.mpf(epsilon)) + categories - 1)
        truth = mp.log(rest) if rest > 1 else mp.mpf(0)
    found = pair.epsilon(log_delta)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-12 / -math.expm1(log_delta) * (1.0 + found.upper)


def test_both_orders_of_atoms_count() -> None:
    light = AtomicProfile((0.5,), (math.log(0.25),))
    heavy = AtomicProfile((0.25, 1.0), (math.log(0.25), math.log(0.125)))
    pair = Pair(light, heavy)
    assert pair.log_delta_bounds(0.1).upper >= max(light.log_delta_bounds(0.1).lower, heavy.log_delta_bounds(0.1).lower)
    assert pair.epsilon(math.log(0.01)) == Pair(heavy, heavy).epsilon(math.log(0.01))
    assert pair.epsilon(math.log(0.01)).upper == pytest.approx(1.0 + math.log1p(-0.08), rel=1e-12)


def test_an_infinite_loss_leaves_no_epsilon() -> None:
    profile = AtomicProfile((0.5,), (math.log(0.25),), math.log(1e-3))
    assert Pair(profile, profile).epsilon(math.log(1e-4)).upper == math.inf


@pytest.mark.parametrize(
    ("losses", "log_masses", "log_infinite"),
    [
        ((9.1e8, 9.99999999e8), (-0.7, -2.3), -math.inf),
        ((0.1, 1.3, 5e8, 1e9), (-1.0, -1.5, -2.0, -20.0), -math.inf),
        ((1e9 / 3.0, 1e9 / 3.0 + 1.0, 1e9), (-0.3, -3.0, -4.0), -50.0),
        ((-1e9, -3.0, 7.7e8 + 0.1), (-3.0, -1.5, -0.4), -math.inf),
    ],
)
def test_losses_near_a_billion_are_charged(
    losses: tuple[float, ...], log_masses: tuple[float, ...], log_infinite: float
) -> None:
    """A loss of 1e9 leaves 1e-7 of a logarithm of a mass, which the accuracy of tails does not cover."""
    profile = AtomicProfile(losses, log_masses, log_infinite)
    largest_error = 0.0
    with mp.workdps(60):
        for epsilon in (0.0, 0.05, 0.7, 1.2, 4e8, 9.05e8, 9.5e8, *(loss - 2.0 for loss in losses if loss > 3.0)):
            above = [(x, mp.exp(mp.mpf(y))) for x, y in zip(losses, log_masses, strict=True) if x > epsilon]
            if not above:
                continue
            rest = mp.exp(mp.mpf(log_infinite)) if log_infinite > -math.inf else mp.mpf(0)
            truth = mp.log(rest + mp.fsum(p * -mp.expm1(mp.mpf(epsilon) - x) for x, p in above))
            single, (lower, upper) = profile.log_delta_bounds(epsilon), profile.log_delta(np.asarray([epsilon]))
            assert max(single.lower, lower[0]) <= truth <= min(single.upper, upper[0])
            assert single.upper - single.lower <= 32 * 2.0**-52 * max(map(abs, losses)) + 1e-12
            largest_error = max(largest_error, abs(float(0.5 * (lower[0] + upper[0]) - truth)))
    assert largest_error > 100 * profile.tail_accuracy

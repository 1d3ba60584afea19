"""Shards of clients, and updates on their way to the server: norms, unbiased messages, and the variance of the noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.numerics.truncated_laplace import bits_per_coordinate, variance
from epsilond.accountants.theorems.mechanisms.binomial import BinomialInputs, binomial_epsilon
from epsilond.simulators.networks.shards import deal_shards
from epsilond.simulators.networks.updates import BinomialTrials, LaplaceLevels, UpdateRule
from epsilond.witness.experiments.networks.das_noise import certified_epsilon, noise_of, round_movement

CIFAR, FASHION = 2_210_410, 328_810
"""Weights of the networks of Das et al."""


def exact_norm_squared(vector: np.ndarray) -> Fraction:
    """Return the squared ℓ2 norm of a vector in exact arithmetic."""
    return sum((Fraction(float(value)) ** 2 for value in vector), Fraction(0))


# Shards ---------------------------------------------------------------------------------------------------------------
def test_clients_have_records_of_at_most_five_classes_and_nobody_shares_a_record() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 250))
    clients = deal_shards(labels, clients=50, shards_per_client=5, generator=np.random.default_rng(1))
    assert [len(records) for records in clients] == [50] * 50
    assert all(len(set(labels[records])) <= 5 for records in clients)
    assert max(len(set(labels[records])) for records in clients) > 1
    assert sorted(np.concatenate(clients)) == list(range(2500))
    other = deal_shards(labels, clients=50, shards_per_client=5, generator=np.random.default_rng(2))
    assert not all(np.array_equal(first, second) for first, second in zip(clients, other, strict=True))


# Norms ----------------------------------------------------------------------------------------------------------------
@given(
    update=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    norm=st.floats(1e-6, 1e6),
)
@settings(deadline=None, derandomize=True)
def test_a_clipped_update_is_within_the_bound_in_exact_arithmetic(update: list[float], norm: float) -> None:
    rule = UpdateRule(scaling="clipped", clipping_norm=norm)
    scaled = rule.scale(np.array(update))
    rounding = 1.0 + 2.0**-52
    assert exact_norm_squared(scaled) <= Fraction(rounding) ** 2
    assert np.all(np.abs(scaled) <= 1.0)
    if math.sqrt(math.fsum(value * value for value in update)) <= 0.999 * norm:
        assert scaled * norm == pytest.approx(np.array(update), rel=1e-12, abs=1e-300)


def test_a_normalised_update_has_norm_one_and_one_without_scaling_is_unchanged() -> None:
    update = np.random.default_rng(0).standard_normal(50) * 1e-3
    unit = UpdateRule(scaling="normalised").scale(update)
    assert np.linalg.norm(unit) == pytest.approx(1.0, rel=1e-12)
    assert unit @ update == pytest.approx(np.linalg.norm(update), rel=1e-12)
    assert UpdateRule(scaling="none").scale(update) is update
    broken = np.array([1.0, math.nan])
    assert not UpdateRule(scaling="normalised").scale(broken).any()
    assert not UpdateRule(scaling="clipped", clipping_norm=1.0).scale(broken).any()


# Messages -------------------------------------------------------------------------------------------------------------
def test_the_mean_message_is_in_the_unit_of_the_weights() -> None:
    updates = [np.array([3.0, 4.0]), np.array([0.0, 0.1])]
    generator = np.random.default_rng(0)
    plain = UpdateRule(scaling="none").mean_message(updates, generator)
    assert plain == pytest.approx([1.5, 2.05])
    unit = UpdateRule(scaling="normalised").mean_message(iter(updates), generator)
    assert unit == pytest.approx([0.3, 0.9])
    clipped = UpdateRule(scaling="clipped", clipping_norm=2.0).mean_message(updates, generator)
    assert clipped == pytest.approx([0.6, 0.85])


@pytest.mark.parametrize("noise_at", ["clients", "server"])
def test_messages_are_unbiased_and_have_the_variance_of_rounding_and_noise(noise_at: str) -> None:
    """Rounding has p(1 − p), for the distance p to the lower grid point; each noise has V, the server's only once."""
    noise = LaplaceLevels(noise_levels=9, decay_rate=0.2)
    rule = UpdateRule(
        scaling="clipped",
        clipping_norm=2.0,
        quantization_levels=4,
        noise=noise,
        noise_at=noise_at,  # type: ignore[arg-type]
    )
    clients, generator = 3, np.random.default_rng(0)
    update = np.full(20_000, 1.3 / math.sqrt(20_000))
    means = rule.mean_message([update] * clients, generator)
    assert float(means.mean()) == pytest.approx(update[0], abs=4 * float(means.std()) / math.sqrt(20_000))
    share = 4 * update[0] / 2.0
    draws = clients if noise_at == "clients" else 1
    expected = (clients * share * (1 - share) + draws * variance(0.2, 9)) * (2.0 / (4 * clients)) ** 2
    assert float(means.var()) == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (LaplaceLevels(noise_levels=54, decay_rate=2e-6), variance(2e-6, 54)),
        (LaplaceLevels(noise_levels=12_758, decay_rate=1.54e-3), variance(1.54e-3, 12_758)),
        (BinomialTrials(trials=12_106_543_048), 12_106_543_048 / 4),
    ],
)
def test_noise_has_the_certified_variance(noise: LaplaceLevels | BinomialTrials, expected: float) -> None:
    draws = noise.draw(200_000, np.random.default_rng(0)).astype(np.float64)
    assert draws.var() == pytest.approx(expected, rel=0.02)
    assert abs(draws.mean()) < 4 * math.sqrt(expected / 200_000)


# The noise of the tables ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("dimension", "levels", "bits"), [(CIFAR, 2**20, 22), (CIFAR, 2**9, 11), (FASHION, 2**12, 14), (FASHION, 2**6, 8)]
)
def test_the_papers_noise_has_the_printed_bits_and_no_epsilon(dimension: int, levels: int, bits: int) -> None:
    noise = noise_of("printed-round", dimension=dimension, levels=levels, rounds=400)
    assert isinstance(noise, LaplaceLevels)
    assert bits_per_coordinate(levels, noise.noise_levels) == bits
    found = certified_epsilon("printed-round", dimension=dimension, levels=levels, rounds=400)
    assert found is not None
    assert found.lower > 1e6


@pytest.mark.parametrize(("dimension", "levels", "bits"), [(CIFAR, 2**20, 35), (FASHION, 2**12, 23)])
def test_binomial_noise_has_the_printed_bits(dimension: int, levels: int, bits: int) -> None:
    noise = noise_of("binomial-round", dimension=dimension, levels=levels, rounds=400)
    assert isinstance(noise, BinomialTrials)
    assert noise.trials % 2 == 0
    assert (2 * (levels + noise.trials)).bit_length() == bits
    movement = round_movement(dimension, levels)
    assert movement.l2 is not None
    inputs = BinomialInputs(
        epsilon=10.0,
        delta=3e-6,
        dimension=dimension,
        quantization_levels=levels,
        l1_sensitivity=movement.l1,
        l2_sensitivity=movement.l2,
        linf_sensitivity=movement.linf,
    )
    assert binomial_epsilon(inputs, noise.trials) <= 10.0 < binomial_epsilon(inputs, noise.trials - 2)
    assert certified_epsilon("binomial-round", dimension=dimension, levels=levels, rounds=400) is None


@pytest.mark.parametrize(("dimension", "levels"), [(CIFAR, 2**20), (FASHION, 2**12)])
def test_certified_noise_has_the_epsilon_of_the_target_and_more_variance_than_the_papers(
    dimension: int, levels: int
) -> None:
    certified, printed = (
        noise_of(choice, dimension=dimension, levels=levels, rounds=400)  # type: ignore[arg-type]
        for choice in ("certified-round", "printed-round")
    )
    assert isinstance(certified, LaplaceLevels)
    assert isinstance(printed, LaplaceLevels)
    assert variance(certified.decay_rate, certified.noise_levels) > variance(printed.decay_rate, printed.noise_levels)
    found = certified_epsilon("certified-round", dimension=dimension, levels=levels, rounds=400)
    assert found is not None
    assert 0.0 < found.lower <= found.upper
    assert 9.0 < found.upper <= 10.0


@pytest.mark.parametrize("at_server", [False, True])
def test_noise_of_all_rounds_is_two_units_wide_and_has_no_epsilon(at_server: bool) -> None:
    levels = 2**24
    noise = noise_of("printed-run", dimension=FASHION, levels=levels, rounds=400)
    assert isinstance(noise, LaplaceLevels)
    assert noise.noise_levels / levels == pytest.approx(2.0, rel=1e-6)
    found = certified_epsilon("printed-run", dimension=FASHION, levels=levels, rounds=400, at_server=at_server)
    assert found is not None
    assert found.lower > 1e6

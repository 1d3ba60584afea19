"""The noise of Algorithm 1: what the printed proof needs, where it fails, and the corrected proof."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import log, mpf
from scipy.special import ndtr

from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import dwork_roth_noise_std
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    epsilon_limit,
    minimal_batch_size,
    minimal_batch_size_real,
    noise_std,
    proof_chain,
    xi,
)


@pytest.mark.parametrize("log_delta", [-0.01, -5.0, -700.0, -1e6])
@pytest.mark.parametrize("rounds", [1, 2, 100, 10**9])
def test_the_corrected_proof_closes_in_its_whole_range(log_delta: float, rounds: int) -> None:
    limit = epsilon_limit(log_delta=log_delta, reading="extended")
    n = 10**6
    for share in (1.0, 0.5, 1e-3):
        run: dict[str, Any] = {
            "samples_per_client": n,
            "rounds": rounds,
            "epsilon": share * limit,
            "log_delta": log_delta,
        }
        batch = minimal_batch_size(**run)
        if batch <= n:
            chain = proof_chain(batch_size=batch, **run)
            assert chain.inner_epsilon <= 1.0
            assert chain.total <= share * limit


def test_the_noise_is_that_of_the_chains_gaussian_step() -> None:
    run: dict[str, Any] = {"samples_per_client": 1238, "rounds": 35, "epsilon": 3.0, "log_delta": math.log(6.5e-7)}
    for batch in (29, 400):
        chain = proof_chain(batch_size=batch, **run)
        step = dwork_roth_noise_std(
            epsilon=chain.inner_epsilon, log_delta=chain.log_round_delta, sensitivity=2.0 * 0.7 / batch
        )
        assert noise_std(lipschitz=0.7, **run) == pytest.approx(step, rel=1e-13)


@pytest.mark.erratum("E-01")
def test_the_printed_composition_exceeds_epsilon_where_rounds_are_few() -> None:
    """E-01: Dwork–Roth composition at ε = 2 ln(2/δ), δ = 1e-6."""
    log_delta = math.log(1e-6)
    epsilon = epsilon_limit(log_delta=log_delta, reading="informal")
    ratios = []
    for rounds in (1, 2, 3, 4, 5):
        run: dict[str, Any] = {"samples_per_client": 1000, "batch_size": 1000, "rounds": rounds, "log_delta": log_delta}
        chain = proof_chain(epsilon=epsilon, **run)
        ratios.append(chain.printed_total / epsilon)
        half = proof_chain(epsilon=0.5 * epsilon, **run)
        assert half.printed_total <= 0.5 * epsilon  # the complete version's range
        assert chain.total <= epsilon
    assert ratios[:3] == pytest.approx([1.78, 1.25, 1.10], abs=5e-3)
    assert ratios[3] > 1.0 > ratios[4]
    assert 4 < 0.317 * math.log(2e6) < 5


@pytest.mark.erratum("E-02")
def test_a_record_drawn_twice_breaks_the_printed_sensitivity() -> None:
    """E-02: the printed per-round claim holds for a record drawn once and fails for one drawn twice."""
    gradients, changed = np.array([1.0, 0.3, -0.2]), np.array([-1.0, 0.3, -0.2])
    batch = [0, 0, 1]  # drawn with replacement
    assert abs(gradients[batch].mean() - changed[batch].mean()) == pytest.approx(2 * (2 * 1.0 / 3))

    n, rounds, epsilon, log_delta = 1000, 1, 1.0, math.log(1e-6)
    run: dict[str, Any] = {"samples_per_client": n, "rounds": rounds, "epsilon": epsilon, "log_delta": log_delta}
    batch_size = minimal_batch_size(**run)
    chain = proof_chain(batch_size=batch_size, **run)
    shift = 2.0 / batch_size / noise_std(lipschitz=1.0, **run)
    assert float(log_theta(chain.inner_epsilon, shift)) <= chain.log_round_delta
    assert float(log_theta(chain.inner_epsilon, 2 * shift)) > chain.log_round_delta
    twice = 1.0 - (1 - 1 / n) ** n - (1 - 1 / n) ** (n - 1)
    assert twice == pytest.approx(0.264, abs=1e-3)  # at K = n that is a quarter of all rounds


@pytest.mark.erratum("E-04")
def test_the_smallest_clients_batch_exposes_a_larger_client() -> None:
    """E-04: K = 1 passes the condition with n = n_min = 10, and gives a client of 1000 records no (1, 1e-6)."""
    epsilon, log_delta, n = 1.0, math.log(1e-6), 1000
    shared: dict[str, Any] = {"rounds": 1, "epsilon": epsilon, "log_delta": log_delta}
    assert minimal_batch_size_real(samples_per_client=10, **shared) < 1
    assert minimal_batch_size(samples_per_client=n, **shared) == 47
    std = noise_std(lipschitz=1.0, samples_per_client=n, **shared)
    # All other gradients 0, the record's is 1 or −1; the attacker looks whether the message exceeds t.
    t = 0.95
    seen = ndtr((1 - t) / std) / n + ndtr(-t / std) * (1 - 1 / n)
    other = ndtr((-1 - t) / std) / n + ndtr(-t / std) * (1 - 1 / n)
    assert seen - math.exp(epsilon) * other > 500 * 1e-6


@pytest.mark.erratum("E-29")
def test_the_sentence_on_balanced_data_has_the_other_sign() -> None:
    """E-29: the sentence has ln(2δ) < 0; the definition, which ξ follows, has ln(2/δ)."""
    samples, rounds, delta = 1000, 100, mpf("1e-5")
    common = log(mpf("2.5") * rounds / delta) / mpf(samples) ** 2
    sentence, definition = common * log(2 * delta), common * log(2 / delta)
    assert sentence < 0 < definition
    found = xi(samples_per_client=samples, epsilon=1.0, log_delta=math.log(1e-5), rounds=rounds)
    assert found == pytest.approx(float(definition), rel=1e-14)

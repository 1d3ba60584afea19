"""Formulas against 40-digit sums from their definitions, on random inputs over all magnitudes."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.federation import Federation
from epsilond.accountants.theorems.composition.classical import advanced_composition, subsampled_epsilon
from epsilond.accountants.theorems.conversions.groups import (
    group_log_delta,
    group_log_delta_inverse,
    record_log_delta,
    replacement_log_delta,
)
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    minimal_batch_size_real,
    noise_std,
    proof_chain,
    xi,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import DescentRun
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import (
    ExcessRiskProblem,
    excess_risk,
    optimisation_error,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.descent_lemmas import (
    recursion_bound,
    recursion_step_size,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import EqualClientsRound
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import LEMMA_E2
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import complete_convex
from tests.oracles import lowy as oracle

CLOSE = 1e-12


def close(found: float, expected: Any, rel: float = CLOSE) -> bool:
    return bool(abs(mpf(found) - expected) <= mpf(rel) * abs(expected))


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def run(rng: np.random.Generator) -> tuple[int, int, float, float, int]:
    """n, K, ε, ln δ, R."""
    n = int(10 ** rng.uniform(0, 12))
    batch = max(1, int(n ** rng.uniform(0, 1)))
    log_delta = -float(10 ** rng.uniform(-2, 4))
    return n, batch, float(10 ** rng.uniform(-6, 2)), log_delta, int(10 ** rng.uniform(0, 9))


@pytest.mark.parametrize("seed", range(100, 140))
def test_noise_and_its_proof(rng: np.random.Generator) -> None:
    n, batch, epsilon, log_delta, rounds = run(rng)
    lipschitz = float(10 ** rng.uniform(-6, 6))
    shared: dict[str, Any] = {"samples_per_client": n, "rounds": rounds, "epsilon": epsilon, "log_delta": log_delta}
    assert close(xi(**shared), oracle.xi(n, epsilon, log_delta, rounds))
    std = noise_std(lipschitz=lipschitz, **shared)
    assert close(std, oracle.sigma(lipschitz, n, epsilon, log_delta, rounds))
    assert close(minimal_batch_size_real(**shared), oracle.least_batch(n, epsilon, log_delta, rounds))
    chain = proof_chain(batch_size=batch, **shared)
    expected = oracle.proof(n, batch, epsilon, log_delta, rounds)
    assert close(chain.round_epsilon, expected["share"])
    assert close(chain.inner_epsilon, expected["inner"])
    assert close(chain.amplified_epsilon, expected["amplified"])
    assert close(chain.total, expected["tight"])
    if chain.round_epsilon < 700:
        assert close(chain.printed_total, expected["printed"], 1e-11)


@pytest.mark.parametrize("seed", range(200, 230))
def test_groups(rng: np.random.Generator) -> None:
    size, epsilon = int(10 ** rng.uniform(0, 2.3)), float(10 ** rng.uniform(-12, 2))
    log_delta = -float(10 ** rng.uniform(-1, 5))
    expected = mpf(log_delta) + mp.log(oracle.group_factor(epsilon, size))
    found = group_log_delta(epsilon=epsilon, log_delta=log_delta, group_size=size)
    assert abs(found - expected) <= 1e-14 * (abs(expected) + abs(log_delta) + 50 * epsilon + 1)
    assert found <= group_log_delta(epsilon=epsilon, log_delta=log_delta, group_size=size, reading="printed") + 1e-9
    back = group_log_delta_inverse(epsilon=epsilon, log_delta=found, group_size=size)
    assert back == pytest.approx(log_delta, rel=1e-12)
    spent = record_log_delta(epsilon=epsilon, log_delta=log_delta, samples_per_client=size, reading="corrected")
    whole = mpf(spent) + mp.log(oracle.group_factor(float(mpf(epsilon) / size), size))
    assert abs(whole - log_delta) <= 1e-13 * (abs(log_delta) + epsilon + 10)
    expected = mpf(log_delta) + mp.log(1 + mp.exp(mpf(epsilon)))
    assert abs(replacement_log_delta(epsilon=epsilon, log_delta=log_delta) - expected) <= 1e-14 * (
        abs(log_delta) + epsilon + 1
    )


@pytest.mark.parametrize("seed", range(300, 330))
@pytest.mark.parametrize("drift", ["dwork-roth", "tanh", "corollary-f.1"])
def test_composition(rng: np.random.Generator, drift: Any) -> None:
    count = int(rng.integers(1, 6))
    epsilons = [float(10 ** rng.uniform(-8, 1.5)) for _ in range(count)]
    deltas = [float(10 ** rng.uniform(-300, -2)) * float(rng.integers(0, 2)) for _ in range(count)]
    slack, times = float(10 ** rng.uniform(-300, -0.1)), int(rng.integers(1, 4))
    found = advanced_composition(
        epsilons=epsilons,
        log_deltas=[math.log(delta) if delta else -math.inf for delta in deltas],
        log_slack=math.log(slack),
        drift=drift,
        times=times,
    )
    epsilon, delta = oracle.composed(epsilons * times, deltas * times, slack, drift)
    assert close(found.epsilon, epsilon)
    assert abs(found.log_delta - mp.log(delta)) <= 1e-13 * (1 + abs(mp.log(delta)))


@pytest.mark.parametrize("seed", range(400, 440))
def test_subsampling(rng: np.random.Generator) -> None:
    epsilon, rate = float(10 ** rng.uniform(-12, 3)), float(10 ** rng.uniform(-15, 0))
    assert close(subsampled_epsilon(epsilon=epsilon, rate=rate), oracle.subsampled(epsilon, rate))


@pytest.mark.parametrize("seed", range(500, 525))
def test_both_ends_of_the_least_gaussian_noise(rng: np.random.Generator) -> None:
    epsilon, sensitivity = float(10 ** rng.uniform(-6, 2)), float(10 ** rng.uniform(-3, 3))
    delta = float(10 ** rng.uniform(-250, -1)) if rng.random() < 0.7 else float(rng.uniform(0.1, 0.999999))
    ends = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=math.log(delta), sensitivity=sensitivity)
    assert oracle.gaussian_delta(epsilon, ends.upper, sensitivity) <= delta
    assert oracle.gaussian_delta(epsilon, ends.lower, sensitivity) > delta
    assert ends.upper <= ends.lower * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(600, 630))
def test_the_complete_convex_statement(rng: np.random.Generator) -> None:
    n, batch, epsilon, log_delta, _ = run(rng)
    clients = int(10 ** rng.uniform(0, 6))
    participants = clients if rng.random() < 0.5 else max(1, int(clients * rng.random()))
    dimension = int(10 ** rng.uniform(0, 6))
    lipschitz, diameter, smoothness = (float(10 ** rng.uniform(-3, 3)) for _ in range(3))
    found = complete_convex(
        DescentRun(
            federation=Federation.of_equal_clients(
                clients=clients,
                participants=participants,
                samples_per_client=n,
                batch_size=batch,
                epsilon=epsilon,
                log_delta=log_delta,
            ),
            dimension=dimension,
            lipschitz=lipschitz,
            diameter=diameter,
            smoothness=smoothness,
        )
    )

    def expected(rounds: int) -> dict[str, Any]:
        return oracle.complete_convex(
            n=n, N=clients, M=participants, K=batch, eps=epsilon, log_delta=log_delta, d=dimension, D=diameter,
            L=lipschitz, beta=smoothness, R=rounds,
        )  # fmt: skip

    at = expected(found.rounds)
    assert found.step_size is not None
    assert close(found.step_size, at["eta"])
    assert close(found.excess_risk, at["bound"])
    assert close(found.terms["master"], at["master"])
    assert mpf(found.rounds) >= at["needed"] * (1 - mpf(CLOSE))
    if found.rounds > 1:
        assert mpf(found.rounds - 1) < expected(found.rounds - 1)["needed"] * (1 + mpf(CLOSE))


@pytest.mark.parametrize("seed", range(700, 740))
def test_optimisation_and_stability_are_the_sums_they_stand_for(rng: np.random.Generator) -> None:
    rounds = int(rng.integers(1, 300))
    eta = float(10 ** rng.uniform(-3, 2))
    mu = 0.0 if rng.random() < 0.2 else float(rng.uniform(0, 0.99) if rng.random() < 0.3 else 10 ** rng.uniform(-12, 0))
    mu = min(mu / eta, 0.999 / eta)
    distance, lipschitz = float(10 ** rng.uniform(-3, 3)), float(10 ** rng.uniform(-3, 3))
    found = optimisation_error(initial_distance=distance, step_size=eta, rounds=rounds, strong_convexity=mu)
    assert close(found, oracle.optimisation(distance, mu, eta, rounds), 1e-11)
    record = LEMMA_E2.request(
        lipschitz=lipschitz,
        samples_per_client=7,
        clients=3,
        participants=3,
        step_size=eta,
        rounds=rounds,
        smoothness=max(mu, 1.0),
        strong_convexity=mu,
    )
    moved = LEMMA_E2.evaluate(record, "corrected").outputs["stability"]
    assert close(moved, oracle.stability(lipschitz, 7, 3, mu, eta, rounds), 1e-11)


@pytest.mark.parametrize("seed", range(800, 830))
def test_the_recursion_never_exceeds_its_bound(rng: np.random.Generator) -> None:
    rounds = int(rng.integers(1, 200))
    contraction, start, variance = (float(10 ** rng.uniform(-3, 1)) for _ in range(3))
    curvature = contraction * float(10 ** rng.uniform(0.01, 3))
    shared: dict[str, Any] = {"contraction": contraction, "variance": variance, "start": start}
    step = recursion_step_size(curvature=curvature, rounds=rounds, **shared)
    if contraction * step < 1.0:
        bound = recursion_bound(step_size=step, averaged=rounds, **shared)
        worst = oracle.recursion(contraction, variance, start, step, rounds)
        assert worst <= bound * (1 + 1e-12)


@pytest.mark.parametrize(
    ("clients", "records", "drawn", "batch"), [(4, 3, 2, 2), (3, 4, 3, 1), (3, 3, 1, 3), (1, 5, 1, 2)]
)
def test_the_two_level_variance_is_exact(clients: int, records: int, drawn: int, batch: int) -> None:
    rng = np.random.default_rng(9)
    data = rng.normal(size=(clients, records)) + 3.0 * rng.normal(size=(clients, 1))
    means = data.mean(axis=1)
    between = float(((means - data.mean()) ** 2).mean())
    whole = float(((data - data.mean()) ** 2).mean())
    found = EqualClientsRound(
        clients=clients,
        participants=drawn,
        samples_per_client=records,
        batch_size=batch,
        dimension=1,
    ).reused_variance(gradient_std=math.sqrt(whole), heterogeneity=math.sqrt(between), noise_std=0.0)
    exact = oracle.two_level_variance(data.tolist(), drawn, batch)
    within = (records - batch) / ((records - 1) * batch) / drawn
    apart = (clients - drawn) / ((clients - 1) * drawn) if clients > 1 else 0.0
    if apart > within:
        assert close(found.total, exact)
    else:  # the statistics given do not exclude that the variance lies within clients
        assert found.total >= exact
        assert close(found.total, mpf(whole) * mpf(within))


def test_the_parts_of_the_excess_risk_add_up() -> None:
    problem = ExcessRiskProblem(
        clients=9,
        participants=4,
        samples_per_client=50,
        batch_size=5,
        dimension=6,
        lipschitz=1.5,
        smoothness=2.0,
        strong_convexity=0.2,
        initial_distance=3.0,
        empirical_gradient_std=1.2,
        empirical_heterogeneity=0.3,
    )
    risk = excess_risk(problem, noise_std=0.7, rounds=40, step_size=0.2)
    share = mpf("0.2") / (2 * (1 - mpf("0.4")))
    expected = (
        oracle.optimisation(3.0, 0.2, 0.2, 40)
        + oracle.stability(1.5, 50, 9, 0.2, 0.2, 40)
        + share * mpf("1.35") * 45 / (49 * 5) / 4  # Φ̂² − v̂² within clients
        + share * mpf("0.09") * 5 / (8 * 4)  # v̂² between them
        + share * 6 * mpf("0.49") / 4
    )
    assert expected < risk.total < expected * (1 + mpf(2) ** -38)

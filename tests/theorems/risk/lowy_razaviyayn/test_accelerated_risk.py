"""The explicit accelerated bound: against sums in 40 digits, against its own best, and against runs of Algorithm 2."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    ACCELERATED_RISK_BOUND,
    AcceleratedRiskInputs,
    accelerated_risk,
    best_envelope_smoothness,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import (
    DescentFacts,
    Stage,
    best_stage,
    best_stages,
    stage_factors,
    stages_bound,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_stages import (
    LEMMA_E11,
    LEMMA_E12,
    round_weights,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from tests.oracles.golden import cases

GOLDEN = cases("lowy")


# The sums -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(40))
def test_the_factors_bound_the_sums_they_stand_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rounds = int(10 ** rng.uniform(0, 4))
    beta = float(10 ** rng.uniform(-3, 3))
    mu = 0.0 if seed % 5 == 0 else beta * float(10 ** rng.uniform(-8, 0))
    least = beta * rounds / (rounds + 1)
    weight = least * (1 + float(10 ** rng.uniform(-6, 6)))
    found = stage_factors(Stage(rounds=rounds, prox_weight=weight), smoothness=beta, strong_convexity=mu)
    spare = mpf(weight) - mpf(beta) * rounds / (rounds + 1)
    scale = mpf(2) / (rounds * (rounds + 1))
    total = scale * mp.fsum(mpf(t) ** 2 / (mpf(mu) * t * (t + 1) + 4 * spare) for t in range(1, rounds + 1))
    assert abs(found.optimisation - scale * weight) <= mpf("1e-14") * scale * weight
    assert total * (1 - mpf("1e-11")) <= found.variance_factor <= total * mpf("1.002")


def test_too_small_a_prox_weight_proves_nothing() -> None:
    found = stage_factors(Stage(rounds=9, prox_weight=0.89), smoothness=1.0, strong_convexity=0.1)
    assert found.optimisation == found.variance_factor == math.inf


@pytest.mark.parametrize("seed", range(20))
def test_the_convex_bound_in_closed_form(seed: int) -> None:
    """2βD₀²/(T + 1)² + 2D₀V √((2T + 1)/(6T(T + 1))), and no other prox weight does better."""
    rng = np.random.default_rng(seed)
    beta, distance, variance = (float(10 ** rng.uniform(-2, 2)) for _ in range(3))
    rounds = int(10 ** rng.uniform(0, 8))
    descent = DescentFacts(smoothness=beta, initial_distance=distance, diameter=distance)
    (stage,) = best_stages(rounds, descent=descent, variance=variance)
    found = stages_bound((stage,), descent, variance=variance).at(variance)
    noise = 2 * distance * math.sqrt(variance * (2 * rounds + 1) / (6 * rounds * (rounds + 1)))
    expected = 2 * beta * distance**2 / (rounds + 1) ** 2 + noise
    assert expected <= found <= expected * (1 + 1e-10)
    for factor in (0.9, 0.99, 1.01, 1.1):
        other = replace(stage, prox_weight=factor * stage.prox_weight)
        assert stages_bound((other,), descent, variance=variance).at(variance) >= found * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_stages_lose_little_to_a_fine_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mu = float(10 ** rng.uniform(-4, 0))
    rounds = int(10 ** rng.uniform(0, 4))
    variance, distance = float(10 ** rng.uniform(-4, 2)), float(10 ** rng.uniform(-1, 1))
    descent = DescentFacts(smoothness=1.0, strong_convexity=mu, initial_distance=distance, diameter=distance)
    stage = best_stage(rounds, descent=descent, squared_distance=distance**2, variance=variance)
    found = stages_bound((stage,), descent, variance=variance).at(variance)
    least = rounds / (rounds + 1)
    for spare in 10 ** np.linspace(-6, 8, 141):
        other = Stage(rounds=rounds, prox_weight=least + float(spare))
        assert stages_bound((other,), descent, variance=variance).at(variance) >= 0.85 * found
    stages = best_stages(rounds, descent=descent, variance=variance)
    assert sum(one.rounds for one in stages) == rounds
    assert stages_bound(stages, descent, variance=variance).at(variance) <= found


# Runs of the algorithm ----------------------------------------------------------------------------------------------
TRIALS = 3000
Function = Callable[[np.ndarray], np.ndarray]


def simulated(stages: tuple[Stage, ...], gradient: Function, start: np.ndarray, mu: float, std: float) -> np.ndarray:
    """w^ag of Algorithm 2 on [−1, 1]^d, with Gaussian errors of standard deviation `std` per coordinate."""
    rng = np.random.default_rng(11)
    ag = np.tile(start, (TRIALS, 1))
    for stage in stages:
        w = ag.copy()
        for r in range(1, stage.rounds + 1):
            made = round_weights(round_number=r, prox_weight=stage.prox_weight, strong_convexity=mu)
            middle = made["aggregate_weight"] * ag + made["iterate_weight"] * w
            noisy = gradient(middle) + std * rng.standard_normal(middle.shape)
            w = np.clip(made["middle_weight"] * middle + made["kept_weight"] * w - made["step_size"] * noisy, -1.0, 1.0)
            ag = made["alpha"] * w + (1 - made["alpha"]) * ag
    return ag


def slope(w: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.asarray([1.0, -0.5]), w.shape)


def huber(w: np.ndarray) -> np.ndarray:
    return np.clip(w / 0.05, -1.0, 1.0)


PROBLEMS: dict[str, tuple[Function, Function, float, float, np.ndarray, np.ndarray]] = {
    # value, gradient, β, μ, start, minimiser
    "linear, minimum in a corner": (
        lambda w: w @ np.asarray([1.0, -0.5]), slope, 0.01, 0.0, np.asarray([1.0, -1.0]), np.asarray([-1.0, 1.0]),
    ),
    "huber": (
        lambda w: np.sum(np.where(np.abs(w) < 0.05, w * w / 0.1, np.abs(w) - 0.025), axis=-1), huber, 20.0, 0.0,
        np.asarray([0.9]), np.asarray([0.0]),
    ),
    "ill-conditioned quadratic": (
        lambda w: 0.5 * (w * w) @ np.asarray([4.0, 0.05]), lambda w: w * np.asarray([4.0, 0.05]), 4.0, 0.05,
        np.asarray([0.3, 1.0]), np.asarray([0.0, 0.0]),
    ),
    "quadratic, minimum on the edge": (
        lambda w: 0.5 * np.sum((w - 1.5) ** 2, axis=-1), lambda w: w - 1.5, 1.0, 1.0, np.asarray([-1.0]),
        np.asarray([1.0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("rounds", "std"), [(1, 0.3), (5, 0.0), (40, 0.3), (40, 3.0), (300, 1.0)])
def test_runs_stay_below_the_bound(name: str, rounds: int, std: float) -> None:
    value, gradient, beta, mu, start, minimiser = PROBLEMS[name]
    distance = float(np.linalg.norm(start - minimiser))
    dimension = len(start)
    variance = dimension * std * std
    descent = DescentFacts(
        smoothness=beta,
        strong_convexity=mu,
        initial_distance=distance,
        diameter=2 * math.sqrt(dimension),
        initial_gap=float(value(start) - value(minimiser)),
    )
    stages = best_stages(rounds, descent=descent, variance=variance)
    bound = stages_bound(stages, descent, variance=variance).at(variance)
    excess = value(simulated(stages, gradient, start, mu, std)) - value(minimiser)
    assert excess.min() >= -1e-12
    error = 4 * float(excess.std()) / math.sqrt(TRIALS)
    assert excess.mean() - error <= bound
    # Nor is the bound idle.
    assert bound <= 300 * (excess.mean() + error) or std == 0.0 or bound < 1e-3


class Coins:
    """f(w, x) = (w − x)²/2 on [−1, 1], x = ±1 with a client's own bias: β = μ = 1, L = 2, all statistics known."""

    clients, participants, samples, batch, rounds, std = 12, 5, 60, 6, 10, 0.05
    heads = np.linspace(0.2, 0.7, 12)

    def __init__(self, *, fresh: bool) -> None:
        self.rng = np.random.default_rng(8)
        self.fresh = fresh
        self.counts = self.rng.binomial(self.samples, self.heads)
        if not fresh:
            self.heads = self.counts / self.samples

    @property
    def minimiser(self) -> float:
        return float(np.mean(2 * self.heads - 1))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """One round: clients, then their batches, then noise of every client."""
        chosen = self.rng.random((TRIALS, self.clients)).argsort(axis=1)[:, : self.participants]
        if self.fresh:
            drawn = self.rng.binomial(self.batch, self.heads[chosen])
        else:
            up = self.counts[chosen]
            drawn = self.rng.hypergeometric(up, self.samples - up, self.batch)
        mean = (2 * drawn / self.batch - 1).mean(axis=1)
        noise = self.std / math.sqrt(self.participants) * self.rng.standard_normal(TRIALS)
        return w - (mean + noise)[:, None]

    def problem(self) -> AcceleratedProblem:
        means = 2 * self.heads - 1
        within = float(np.mean(1 - means**2))
        between = float(np.var(means))
        return AcceleratedProblem(
            clients=self.clients, participants=self.participants, samples_per_client=self.samples,
            batch_size=self.batch, dimension=1, lipschitz=2.0, smoothness=1.0, strong_convexity=1.0,
            initial_distance=abs(1.0 - self.minimiser), diameter=2.0, initial_gap=(1.0 - self.minimiser) ** 2 / 2,
            gradient_std=math.sqrt(within if self.fresh else within + between), heterogeneity=math.sqrt(between),
            objective="population" if self.fresh else "empirical",
        )  # fmt: skip


@pytest.mark.parametrize("fresh", [True, False])
def test_a_federation_stays_below_the_bound_of_its_objective(fresh: bool) -> None:
    coins = Coins(fresh=fresh)
    found = accelerated_risk(coins.problem(), noise_std=coins.std, rounds=coins.rounds)
    ends = simulated(found.stages, coins.gradient, np.asarray([1.0]), 1.0, 0.0)[:, 0]
    excess = (ends - coins.minimiser) ** 2 / 2
    assert excess.mean() - 4 * excess.std() / math.sqrt(TRIALS) <= found.total <= 20 * excess.mean()
    # V² itself is exact here: the variance of one round's gradient at a point.
    errors = coins.gradient(np.zeros((TRIALS, 1)))[:, 0] + coins.minimiser
    variance = coins.problem().variance(coins.std).total
    assert np.mean(errors**2) == pytest.approx(variance, rel=0.1)


# The lemmas and the theorem -----------------------------------------------------------------------------------------
def case(name: str) -> dict[str, Any]:
    return next(one for one in GOLDEN if one["id"] == name)


@pytest.mark.compares("lowy.lemma-e.11")
def test_golden_lemma_e11() -> None:
    given = case("le11-01")["inputs"]
    inputs = LEMMA_E11.request(
        smoothness=given["beta"],
        initial_distance=given["dist"],
        gradient_variance=float(given["V"]) ** 2,
        rounds=given["T"],
    )
    found = LEMMA_E11.evaluate(inputs).outputs
    assert found["scale"] == pytest.approx(case("le11-01")["outputs"]["scale"], rel=1e-12)
    assert found["excess_risk"] <= 2.0 * found["scale"]
    assert found["regularization"] == pytest.approx(0.3 / math.sqrt(100), rel=1e-12)


@pytest.mark.compares("lowy.lemma-e.12")
def test_golden_lemma_e12() -> None:
    given = case("le12-01")["inputs"]
    inputs = LEMMA_E12.request(
        smoothness=given["beta"],
        strong_convexity=float(given["mu"]),
        initial_gap=given["Delta"],
        gradient_variance=float(given["V2"]),
        rounds=given["T"],
    )
    found = LEMMA_E12.evaluate(inputs).outputs
    assert found["scale"] == pytest.approx(case("le12-01")["outputs"]["scale"], rel=1e-12)
    assert found["excess_risk"] <= 4.0 * found["scale"]
    assert sum(stage["rounds"] for stage in found["stages"]) == 100
    for mu in (0.0, 2.1):
        with pytest.raises(InvalidInput, match="/strong_convexity"):
            LEMMA_E12.request(**{**vars(inputs), "strong_convexity": mu})


def problem(**changes: Any) -> AcceleratedProblem:
    fields: dict[str, Any] = {
        "clients": 10, "participants": 4, "samples_per_client": 1000, "batch_size": 50, "dimension": 5,
        "lipschitz": 2.0, "smoothness": 3.0, "strong_convexity": 0.0, "initial_distance": 1.0, "diameter": 1.5,
        "initial_gap": 2.0, "objective": "population",
    }  # fmt: skip
    return AcceleratedProblem(**{**fields, **changes})


def test_the_variance_is_that_of_the_objective() -> None:
    fresh = problem(gradient_std=0.5, heterogeneity=0.25).variance(0.1)
    assert fresh.sampling == pytest.approx(0.25 / (4 * 50))
    assert fresh.clients == pytest.approx(0.0625 / 4 * 6 / 9)
    assert fresh.noise == pytest.approx(5 * 0.01 / 4)
    again = problem(gradient_std=0.5, heterogeneity=0.25, objective="empirical").variance(0.1)
    assert again.sampling == pytest.approx((0.25 - 0.0625) * 950 / (999 * 50) / 4)
    assert again.clients == pytest.approx(fresh.clients)


def test_unknown_statistics_share_one_lipschitz_constant() -> None:
    """φ² + v² ≤ L²: whichever costs more takes all of it."""
    some = problem().variance(0.0)
    assert (some.sampling, some.clients) == (pytest.approx(0.0, abs=1e-9), pytest.approx(4.0 / 4 * 6 / 9))
    everyone = problem(participants=10).variance(0.0)
    assert (everyone.sampling, everyone.clients) == (pytest.approx(4.0 / 500), 0.0)
    partly = problem(heterogeneity=0.5).variance(0.0)
    assert partly.sampling == pytest.approx((4.0 - 0.25) / 200)


def test_the_terms_add_up_and_the_envelope_adds_its_gap() -> None:
    for changes in ({}, {"strong_convexity": 0.3}, {"envelope_smoothness": 20.0}):
        found = accelerated_risk(problem(**changes), noise_std=0.3, rounds=100)
        assert found.total == pytest.approx(sum(found.terms.values()), rel=1e-9)
        assert found.total >= sum(found.terms.values())
    assert accelerated_risk(problem(envelope_smoothness=20.0), noise_std=0.3, rounds=100).terms["smoothing"] == 0.1


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_no_other_envelope_does_much_better(mu: float) -> None:
    at = problem(strong_convexity=mu)
    best = best_envelope_smoothness(at, noise_std=0.3, rounds=50)
    least = accelerated_risk(replace(at, envelope_smoothness=best), noise_std=0.3, rounds=50).total
    for factor in (0.01, 0.1, 0.5, 0.7, 1.4, 2.0, 10.0, 100.0):
        other = accelerated_risk(replace(at, envelope_smoothness=factor * best), noise_std=0.3, rounds=50).total
        assert other >= 0.97 * least


def inputs(**changes: Any) -> AcceleratedRiskInputs:
    return AcceleratedRiskInputs(**{**ACCELERATED_RISK_BOUND.examples[0], **changes})


def test_one_pass_is_a_condition_of_the_population_alone() -> None:
    holds = {
        objective: ACCELERATED_RISK_BOUND.evaluate(inputs(rounds=201, objective=objective)).conditions[0].holds
        for objective in ("population", "empirical")
    }
    assert holds == {"population": "no", "empirical": "yes"}
    assert ACCELERATED_RISK_BOUND.evaluate(inputs()).conditions[0].holds == "yes"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 51}, "/participants"),
        ({"batch_size": 100_001}, "/batch_size"),
        ({"strong_convexity": 1.1}, "/strong_convexity"),
        ({"envelope_smoothness": 1e200}, "/envelope_smoothness"),
    ],
)
def test_what_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        inputs(**changes)
    assert [fault.pointer for fault in raised.value.faults] == [pointer]

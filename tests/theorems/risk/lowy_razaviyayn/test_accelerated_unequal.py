"""The accelerated bound for clients that differ: linear programs, reductions, simulated runs."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ClientGroup, ParticipationMoments
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import accelerated_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import (
    FEDERATED_ACCELERATED_RISK,
    UnequalAcceleratedProblem,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import client_factor, largest_variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from tests.oracles import lowy_reused

EXAMPLES: tuple[dict[str, Any], ...] = tuple(dict(one) for one in FEDERATED_ACCELERATED_RISK.examples)


def evaluated(example: dict[str, Any], **changes: Any) -> dict[str, Any]:
    request = FEDERATED_ACCELERATED_RISK.request(**{**example, **changes})
    return dict(FEDERATED_ACCELERATED_RISK.evaluate(request).outputs)


@pytest.mark.compares("epsilond.federated-accelerated-sgd-excess-risk")
@pytest.mark.parametrize("smoothness", [2.0, None])
@pytest.mark.parametrize("objective", ["population", "empirical"])
def test_one_stage_from_its_definition(smoothness: float | None, objective: Any) -> None:
    groups = [
        {"clients": 3, "samples_per_client": 400, "batch_size": 20, "noise_std": 0.3, "lipschitz": 1.0},
        {"clients": 2, "samples_per_client": 90, "batch_size": 2, "noise_std": 0.7, "lipschitz": 2.0},
        {"clients": 1, "samples_per_client": 9000, "batch_size": 90, "noise_std": 0.1, "lipschitz": 1.0, "weight": 4.0},
    ]
    scale = 6 / 9
    clients = [
        *[(400, 20, 0.3, scale)] * 3,
        *[(90, 2, 0.7, 2 * scale)] * 2,
        (9000, 90, 0.1, 4 * scale),
    ]
    found = evaluated(
        EXAMPLES[0],
        client_groups=groups,
        participation=[{"participants": 2, "probability": 0.25}, {"participants": 5, "probability": 0.75}],
        rounds=40,
        smoothness=smoothness,
        diameter=1.5,
        objective=objective,
    )
    expected = lowy_reused.one_stage(
        clients, [(2, 0.25), (5, 0.75)], d=20, D=1.5, beta=smoothness, R=40, used_once=objective == "population"
    )
    (stage,) = found.pop("stages")
    for name, value in {**found, **stage}.items():
        if name in expected:
            assert value == pytest.approx(float(expected[name]), rel=1e-9), name


@pytest.mark.parametrize("seed", range(12))
def test_the_variance_is_the_optimum_of_its_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = [
        ClientGroup(clients=int(rng.integers(1, 5)), samples_per_client=9, batch_size=1, lipschitz=rng.uniform(0.2, 3))
        for _ in range(4)
    ]
    factors = rng.uniform(0, 1, 4)
    between = float(rng.uniform(0, 1))
    caps = {
        name: float(rng.uniform(0.1, 4)) if rng.random() < 0.7 else math.inf
        for name in ("largest_within", "largest_between", "largest_total")
    }
    clients = sum(group.clients for group in groups)
    shares = np.array([group.clients / clients for group in groups])
    squares = np.array([group.lipschitz**2 for group in groups])
    cost = -np.append(shares * factors, between)
    together = np.append(shares, 1.0)[None]
    least = min(float(shares @ squares), caps["largest_total"])
    bounds = [(0, min(square, caps["largest_within"])) for square in squares] + [
        (0, min(caps["largest_between"], least))
    ]
    optimum = -linprog(cost, A_ub=together, b_ub=[least], bounds=bounds).fun
    found = largest_variance(groups, factors=factors.tolist(), between_factor=between, **caps)
    assert sum(found) == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("objective", ["population", "empirical"])
@pytest.mark.parametrize("statistics", [(None, None), (0.6, 0.4), (0.2, 1.4), (1.5, 0.0), (None, 0.3)])
@pytest.mark.parametrize("mu", [0.0, 0.2])
@pytest.mark.parametrize("envelope", [None, 7.0])
def test_equal_clients_get_the_bound_for_equal_clients(
    objective: Any, statistics: tuple[float | None, float | None], mu: float, envelope: float | None
) -> None:
    std, spread = statistics
    if objective == "empirical" and std is None:
        spread = None  # as in the other, v̂ absent is Φ̂
    shared: dict[str, Any] = {
        "participants": 2.5, "dimension": 7, "smoothness": 3.0, "strong_convexity": mu, "initial_distance": 1.5,
        "diameter": 2.0, "initial_gap": 1.2, "gradient_std": std, "heterogeneity": spread, "objective": objective,
        "envelope_smoothness": envelope,
    }  # fmt: skip
    plain = AcceleratedProblem(clients=5, samples_per_client=40, batch_size=4, lipschitz=1.5, **shared)
    group = ClientGroup(clients=5, samples_per_client=40, batch_size=4, lipschitz=1.5)
    split = [replace(group, clients=2), replace(group, clients=3)]
    seen = UnequalAcceleratedProblem.of_groups(split, heaviest=1.0, **shared)
    one, other = (accelerated_risk(problem, noise_std=0.7, rounds=30) for problem in (plain, seen))
    assert other.total == pytest.approx(one.total, rel=1e-9)


def test_the_evaluation_is_that_of_equal_clients_where_they_are() -> None:
    """Against `epsilond.accelerated-sgd-excess-risk`, whose participants do not vary."""
    group = {"clients": 4, "samples_per_client": 1000, "batch_size": 100, "noise_std": 0.2, "lipschitz": 1.0}
    found = evaluated(
        EXAMPLES[0],
        client_groups=[group, {**group, "clients": 6, "weight": 1.0}],
        participation=[{"participants": 7, "probability": 1.0}],
        smoothness=2.0,
    )
    problem = AcceleratedProblem(
        clients=10, participants=7, samples_per_client=1000, batch_size=100, dimension=20, lipschitz=1.0,
        smoothness=2.0, strong_convexity=0.0, initial_distance=1.0, diameter=1.0, initial_gap=1.0,
        objective="empirical",
    )  # fmt: skip
    expected = accelerated_risk(problem, noise_std=0.2, rounds=200)
    assert found["excess_risk"] == pytest.approx(expected.total, rel=1e-12)


def test_weights_that_differ_leave_the_mean_as_convex_and_as_smooth() -> None:
    """The gap of the envelope is mean_i(L_i²)/(2b); its convexity is at least μb/(μ_max + b), checked for two."""
    shares, scales, mu, b = (0.9, 0.1), (5 / 6, 5 / 2), 0.4, 3.0
    mean = sum(share * scale * mu * b / (scale * mu + b) for share, scale in zip(shares, scales, strict=True))
    groups = [
        ClientGroup(clients=9, samples_per_client=10, batch_size=1, lipschitz=scales[0]),
        ClientGroup(clients=1, samples_per_client=10, batch_size=1, lipschitz=scales[1]),
    ]
    problem = UnequalAcceleratedProblem.of_groups(
        groups, heaviest=scales[1], participants=10, dimension=1, smoothness=0.0, strong_convexity=mu,
        initial_distance=1.0, diameter=1.0, initial_gap=1.0, objective="empirical", envelope_smoothness=b,
    )  # fmt: skip
    kept = problem.descent.strong_convexity
    assert kept == pytest.approx(mu * b / (scales[1] * mu + b), rel=1e-14)
    assert 0.8 * mean < kept <= mean
    gap = sum(share * scale**2 for share, scale in zip(shares, scales, strict=True)) / (2 * b)
    assert problem.smoothing_gap == pytest.approx(gap, rel=1e-14)


class Squares:
    """Losses s_i(w − x)²/2 on [−1, 1], x = ±1/2, of unlike clients, by Algorithm 2 as it is written."""

    slope = np.array([1.0, 1.0, 1.0, 3.0])
    n = np.array([4, 4, 4, 20])
    K = np.array([2, 2, 2, 10])
    std = np.array([0.5, 0.5, 0.5, 0.1])
    law = ((1, 0.25), (3, 0.75))
    rounds = 25

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.data = [np.where(np.arange(n) < 0.25 * n, -0.5, 0.5) for n in self.n]
        self.data[3] = np.where(np.arange(20) < 15, -0.5, 0.5)

    def loss(self, w: np.ndarray) -> np.ndarray:
        each = [s * np.mean((w[:, None] - x) ** 2, axis=1) / 2 for s, x in zip(self.slope, self.data, strict=True)]
        return np.mean(each, axis=0)

    def gradients(self, w: np.ndarray) -> np.ndarray:
        out = np.empty_like(w)
        for place, point in enumerate(w):
            count = self.law[int(self.rng.random() > self.law[0][1])][0]
            chosen = self.rng.choice(4, size=count, replace=False)
            messages = [
                self.slope[i] * (point - self.rng.choice(self.data[i], size=self.K[i], replace=False).mean())
                + self.std[i] * self.rng.normal()
                for i in chosen
            ]
            out[place] = np.mean(messages)
        return out

    def excess(self, prox_weight: float, runs: int) -> np.ndarray:
        w = np.ones(runs)
        aggregate = w.copy()
        for t in range(1, self.rounds + 1):
            share, pull = 2 / (t + 1), 4 * prox_weight / (t * (t + 1))
            middle = (1 - share) * aggregate + share * w
            w = np.clip(w - share / pull * self.gradients(middle), -1, 1)
            aggregate = share * w + (1 - share) * aggregate
        grid = np.linspace(-1, 1, 200_001)
        return self.loss(aggregate) - self.loss(grid).min()


def test_simulated_runs_of_unlike_clients_stay_below_the_bound() -> None:
    run = Squares(3)
    groups = [
        {"clients": 3, "samples_per_client": 4, "batch_size": 2, "noise_std": 0.5, "lipschitz": 1.5},
        {"clients": 1, "samples_per_client": 20, "batch_size": 10, "noise_std": 0.1, "lipschitz": 4.5},
    ]
    found = evaluated(
        EXAMPLES[0],
        client_groups=groups,
        participation=[{"participants": m, "probability": p} for m, p in run.law],
        rounds=run.rounds,
        dimension=1,
        smoothness=3.0,
        diameter=2.0,
    )
    excess = run.excess(found["stages"][0]["prox_weight"], 300)
    assert excess.mean() + 4 * excess.std() / math.sqrt(300) <= found["excess_risk"]
    assert found["excess_risk"] < 100 * excess.mean()


def test_a_random_number_counts_through_its_harmonic_mean() -> None:
    law = [{"participants": 30, "probability": 0.5}, {"participants": 50, "probability": 0.5}]
    mean = ParticipationMoments.of(((30, 0.5), (50, 0.5))).mean
    found = evaluated(EXAMPLES[1], participation=law)
    assert mean == pytest.approx(37.5)
    problem = FEDERATED_ACCELERATED_RISK.request(**{**EXAMPLES[1], "participation": law}).problem_on(None)
    variance = problem.variance(0.1)
    assert variance.noise == pytest.approx(20 * 0.01 / 37.5)
    assert problem.participants == mean
    assert client_factor(clients=50, participants=mean) * 0.01 == pytest.approx(variance.clients)
    assert found["excess_risk"] > evaluated(EXAMPLES[1])["excess_risk"]


def test_one_pass_asks_every_client_for_its_records() -> None:
    def at(**changes: Any) -> Any:
        request = FEDERATED_ACCELERATED_RISK.request(**{**EXAMPLES[1], **changes})
        return FEDERATED_ACCELERATED_RISK.evaluate(request).conditions[0]

    assert (at().holds, at().left) == ("yes", 1.0)
    assert (at(rounds=201).holds, at(rounds=201).right) == ("no", 1.0)
    assert at(rounds=201, objective="empirical").holds == "yes"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"envelope_smoothness": 2.0, "smoothness": 2.0}, "/envelope_smoothness"),
        ({"participation": [{"participants": 2000, "probability": 1.0}]}, "/participation/0/participants"),
        ({"client_groups": []}, "/client_groups"),
    ],
)
def test_what_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluated(EXAMPLES[0], **changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}

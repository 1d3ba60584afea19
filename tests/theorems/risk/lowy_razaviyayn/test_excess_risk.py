"""The explicit excess-risk bound against simulations of the very algorithm, and its best step size."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRiskProblem,
    best_step_size,
    closed_step_size,
    excess_risk,
)

RUNS = 600


class Simulation:
    """Losses μ|w − x|²/2 or −⟨x, w⟩ on the box [−1, 1]^d, records x of signs, client means `lean`."""

    def __init__(
        self, *, quadratic: bool, dimension: int, lean: list[float], n: int, batch: int, taking_part: int
    ) -> None:
        self.quadratic, self.dimension = quadratic, dimension
        self.n, self.batch, self.taking_part = n, batch, taking_part
        self.lean = np.array(lean)
        self.rng = np.random.default_rng(23)

    def problem(self, *, strong_convexity: float = 0.0, **changes: Any) -> ExcessRiskProblem:
        return ExcessRiskProblem(
            clients=len(self.lean),
            participants=self.taking_part,
            samples_per_client=self.n,
            batch_size=self.batch,
            dimension=self.dimension,
            lipschitz=(2.0 if self.quadratic else 1.0) * math.sqrt(self.dimension),
            smoothness=1.0 if self.quadratic else 1e-9,
            strong_convexity=strong_convexity,
            initial_distance=self.distance,
            **changes,
        )

    @property
    def optimum(self) -> float:
        """Each coordinate of the population minimiser."""
        mean = float(self.lean.mean())
        return mean if self.quadratic else math.copysign(1.0, mean)

    @property
    def distance(self) -> float:
        return math.sqrt(self.dimension) * abs(-1.0 - self.optimum)

    def data(self) -> np.ndarray:
        shape = (RUNS, len(self.lean), self.n, self.dimension)
        return np.where(self.rng.random(shape) < 0.5 * (1 + self.lean[None, :, None, None]), 1.0, -1.0)

    def gradient(self, w: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return w - mean if self.quadratic else -mean

    def run(self, data: np.ndarray, *, step: float, rounds: int, noise_std: float, ratio: float) -> np.ndarray:
        """Weighted average of w_1, …, w_R, from −1 in every coordinate."""
        rng, clients = self.rng, len(self.lean)
        w = -np.ones((RUNS, self.dimension))
        total, weighted, weight = 0.0, np.zeros_like(w), 1.0
        for _ in range(rounds):
            chosen = np.argsort(rng.random((RUNS, clients)), axis=1)[:, : self.taking_part]
            drawn = np.argsort(rng.random((RUNS, self.taking_part, self.n)), axis=2)[:, :, : self.batch]
            records = data[np.arange(RUNS)[:, None, None], chosen[:, :, None], drawn]
            noise = noise_std * rng.normal(size=(RUNS, self.taking_part, self.dimension)).mean(axis=1)
            w = np.clip(w - step * (self.gradient(w, records.mean(axis=(1, 2))) + noise), -1.0, 1.0)
            weight *= ratio
            weighted, total = weighted + weight * w, total + weight
        return weighted / total

    def population_excess(self, w: np.ndarray) -> np.ndarray:
        mean = float(self.lean.mean())
        values = 0.5 * (w - mean) ** 2 if self.quadratic else -mean * (w - self.optimum)
        return np.asarray(values.sum(axis=1))

    def empirical_excess(self, w: np.ndarray, data: np.ndarray) -> np.ndarray:
        mean = data.mean(axis=(1, 2))
        if self.quadratic:
            return np.asarray(0.5 * ((w - mean) ** 2).sum(axis=1))
        return np.asarray((np.abs(mean) - mean * w).sum(axis=1))


SIMULATIONS = {
    "linear, some clients": Simulation(quadratic=False, dimension=1, lean=[0.2] * 6, n=8, batch=2, taking_part=2),
    "linear, few records": Simulation(quadratic=False, dimension=3, lean=[0.3, 0.1], n=3, batch=3, taking_part=2),
    "quadratic, all": Simulation(quadratic=True, dimension=4, lean=[0.1] * 3, n=6, batch=3, taking_part=3),
    "quadratic, unlike": Simulation(
        quadratic=True, dimension=2, lean=[0.9, -0.6, 0.3, 0.0], n=5, batch=5, taking_part=1
    ),
}


@pytest.mark.parametrize("objective", ["population", "empirical"])
@pytest.mark.parametrize(
    ("name", "mu"),
    [(name, mu) for name, made in SIMULATIONS.items() for mu in ((0.0, 1.0) if made.quadratic else (0.0,))],
)
def test_simulated_runs_stay_below_the_bound(name: str, mu: float, objective: str) -> None:
    simulation, rounds = SIMULATIONS[name], 25
    for noise_std in (0.0, 1.0):
        problem = simulation.problem(strong_convexity=mu, objective=objective)
        if objective == "empirical":  # the minimiser may be anywhere in the box
            problem = replace(problem, initial_distance=2.0 * math.sqrt(simulation.dimension))
        best = best_step_size(problem, noise_std=noise_std, rounds=rounds)
        for step in (best, 0.3 * best, min(3.0 * best, 0.9 / problem.smoothness)):
            bound = excess_risk(problem, noise_std=noise_std, rounds=rounds, step_size=step).total
            data = simulation.data()
            w = simulation.run(data, step=step, rounds=rounds, noise_std=noise_std, ratio=1.0 / (1.0 - mu * step))
            population = objective == "population"
            seen = simulation.population_excess(w) if population else simulation.empirical_excess(w, data)
            error = float(seen.std()) / math.sqrt(RUNS)
            assert seen.mean() + 4.0 * error <= bound
            if noise_std and step == best:
                assert bound < (8.0 if population else 50.0) * seen.mean()


def test_noise_and_client_sampling_are_charged_close_to_what_they_cost() -> None:
    """Unconstrained quadratic at its optimum: E of the stationary excess is known, and the bound is within a factor."""
    step, rounds, std, clients = 0.1, 400, 2.0, 5
    problem = ExcessRiskProblem(
        clients=clients, participants=clients, samples_per_client=1, batch_size=1, dimension=3, lipschitz=1e-9,
        smoothness=1.0, initial_distance=1e-9, objective="empirical",
    )  # fmt: skip
    rng = np.random.default_rng(4)
    w, total = np.zeros((RUNS, 3)), np.zeros((RUNS, 3))
    for _ in range(rounds):
        w = w - step * (w + std / math.sqrt(clients) * rng.normal(size=w.shape))
        total += w
    iterates = 0.5 * (w**2).sum(axis=1).mean()
    bound = excess_risk(problem, noise_std=std, rounds=rounds, step_size=step)
    assert bound.terms["noise"] == pytest.approx(0.05 / 0.9 * 3 * 4.0 / 5)
    assert 0.5 * ((total / rounds) ** 2).sum(axis=1).mean() < iterates <= bound.total < 3.0 * iterates


PROBLEM = ExcessRiskProblem(
    clients=25, participants=10, samples_per_client=1000, batch_size=100, dimension=20, lipschitz=1.0, smoothness=2.0,
    initial_distance=1.5,
)  # fmt: skip
CHANGES: list[dict[str, Any]] = [
    {},
    {"smoothness": 1e-6},
    {"smoothness": 1e4},
    {"objective": "empirical"},
    {"clients": 1, "participants": 1, "samples_per_client": 2, "batch_size": 1},
    {"strong_convexity": 0.3},
    {"strong_convexity": 2.0},
    {"strong_convexity": 1e-7},
    {"participants": 25, "batch_size": 1000, "objective": "empirical"},
]


@pytest.mark.parametrize("noise_std", [0.0, 1e-3, 0.3, 50.0])
@pytest.mark.parametrize("rounds", [1, 30, 10**5, 10**12])
@pytest.mark.parametrize("changes", CHANGES)
def test_no_other_step_size_does_better(changes: dict[str, Any], rounds: int, noise_std: float) -> None:
    problem = replace(PROBLEM, **changes)
    best = best_step_size(problem, noise_std=noise_std, rounds=rounds)
    found = excess_risk(problem, noise_std=noise_std, rounds=rounds, step_size=best).total
    assert math.isfinite(found)
    grid = np.exp(np.linspace(math.log(1e-7 * best), math.log(1 / problem.smoothness), 400))
    others = [excess_risk(problem, noise_std=noise_std, rounds=rounds, step_size=float(step)).total for step in grid]
    assert found <= min(others) * (1 + 1e-6)


@pytest.mark.parametrize("rounds", [1, 30, 10**5])
def test_the_closed_form_step_gives_the_closed_form_bound(rounds: int) -> None:
    """βD₀²/(2R) + D₀ √((V² + 2B)/R) for μ = 0."""
    for changes in CHANGES:
        problem = replace(PROBLEM, **{**changes, "strong_convexity": 0.0})
        step = closed_step_size(problem, noise_std=0.4, rounds=rounds)
        slope = (rounds + 1) / (problem.clients * problem.samples_per_client)
        cost = problem.variance(0.4).total + (2 * slope if problem.objective == "population" else 0.0)
        closed = problem.smoothness * 1.5**2 / (2 * rounds) + 1.5 * math.sqrt(cost / rounds)
        at_closed = excess_risk(problem, noise_std=0.4, rounds=rounds, step_size=step).total
        assert at_closed <= closed * (1 + 1e-11)
        assert at_closed > 0.7 * closed
        best = best_step_size(problem, noise_std=0.4, rounds=rounds)
        assert excess_risk(problem, noise_std=0.4, rounds=rounds, step_size=best).total <= at_closed


def test_the_bound_is_continuous_in_strong_convexity() -> None:
    convex = excess_risk(PROBLEM, noise_std=0.3, rounds=100, step_size=0.05).total
    for mu in (1e-300, 1e-12, 1e-8):
        nearly = excess_risk(replace(PROBLEM, strong_convexity=mu), noise_std=0.3, rounds=100, step_size=0.05).total
        assert nearly == pytest.approx(convex, rel=1e-6)


def test_nothing_is_claimed_beyond_the_largest_step() -> None:
    for step in (0.5, 0.6):
        assert math.isinf(excess_risk(PROBLEM, noise_std=0.3, rounds=100, step_size=step).total)


def test_terms_add_up_and_more_of_everything_is_worse() -> None:
    risk = excess_risk(PROBLEM, noise_std=0.3, rounds=100, step_size=0.05)
    assert risk.total == pytest.approx(sum(risk.terms.values()), rel=1e-11)
    assert risk.total >= math.fsum(risk.terms.values())
    for worse in (
        replace(PROBLEM, participants=9),
        replace(PROBLEM, dimension=21),
        replace(PROBLEM, initial_distance=1.6),
        replace(PROBLEM, lipschitz=1.1),
        replace(PROBLEM, samples_per_client=900),
    ):
        assert excess_risk(worse, noise_std=0.3, rounds=100, step_size=0.05).total > risk.total
    assert (
        excess_risk(replace(PROBLEM, participants=25), noise_std=0.3, rounds=100, step_size=0.05).terms[
            "client_sampling"
        ]
        == 0
    )

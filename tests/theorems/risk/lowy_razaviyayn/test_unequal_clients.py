"""The bound for clients that differ and for the envelope: exact enumeration, simulated runs, grids, reductions."""

import math
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from mpmath import mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ClientGroup, ParticipationMoments, loss_scales
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import best_envelope, enveloped_excess_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import client_factor, sampling_factor
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRiskProblem,
    best_step_size,
    excess_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import (
    FEDERATED_RISK,
    FederatedInputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_problem import UnequalProblem
from epsilond.accountants.verdict import Verdict
from tests.oracles import lowy as oracle
from tests.oracles.golden import cases

CASES = cases("lowy")
GROUPS = (
    ClientGroup(clients=4, samples_per_client=3, batch_size=2, lipschitz=1.0),
    ClientGroup(clients=2, samples_per_client=10, batch_size=5, lipschitz=2.0),
)
COUNTS = ((1, 0.5), (3, 0.5))
STDS = (0.3, 0.8)
EXAMPLE: dict[str, Any] = dict(FEDERATED_RISK.examples[0])


def unequal(groups: tuple[ClientGroup, ...] = GROUPS, **changes: Any) -> UnequalProblem:
    given: dict[str, Any] = {
        "participants": ParticipationMoments.of(COUNTS).mean,
        "dimension": 1,
        "smoothness": math.inf,
        "strong_convexity": 0.0,
        "initial_distance": 1.5,
    }
    return UnequalProblem.of(groups, **{**given, **changes})


def test_weights_scale_every_constant_of_a_loss() -> None:
    """Golden case b-01: L~ = p N L, and so on."""
    (case,) = (case for case in CASES if case["id"] == "b-01")
    given, expected = case["inputs"], case["outputs"]
    scales = loss_scales([(float(weight), 1) for weight in given["p"]])
    for name in ("L", "mu", "beta"):
        scaled = [scale * float(value) for scale, value in zip(scales, given[name], strict=True)]
        assert scaled == pytest.approx(expected[name], rel=1e-12)
    assert loss_scales([(2.0, 10), (2.0, 5)]) == (1.0, 1.0)
    assert sum(scale * count for scale, count in zip(loss_scales([(3.0, 1), (1.0, 9)]), (1, 9), strict=True)) == 10


@pytest.mark.parametrize("seed", range(4))
def test_the_variance_is_that_of_every_draw(seed: int) -> None:
    """All clients and batches enumerated: the formula of the module is exact, and the bound is above it."""
    rng = np.random.default_rng(seed)
    shapes = [(2, 1), (3, 2), (4, 2)]
    data = [
        rng.normal(size=n) * scale + lean for (n, _), scale, lean in zip(shapes, (1, 3, 2), (0, 1, -2), strict=True)
    ]
    means = [list(combinations(row, k)) for row, (_, k) in zip(data, shapes, strict=True)]
    whole = float(np.mean([row.mean() for row in data]))
    exact = 0.0
    for count, share in ((1, 0.25), (2, 0.75)):
        squares = [
            (float(np.mean([np.mean(drawn[i]) for i in chosen])) - whole) ** 2
            for drawn in product(*means)
            for chosen in combinations(range(3), count)
        ]
        exact += share * float(np.mean(squares))
    participants = ParticipationMoments.of(((1, 0.25), (2, 0.75))).mean
    within = np.mean(
        [row.var() * sampling_factor(population=n, drawn=k) for row, (n, k) in zip(data, shapes, strict=True)]
    )
    between = np.var([row.mean() for row in data])
    formula = within / participants + client_factor(clients=3, participants=participants) * between
    assert formula == pytest.approx(exact, rel=1e-10)
    groups = tuple(
        ClientGroup(clients=1, samples_per_client=n, batch_size=k, lipschitz=float(np.abs(row).max()))
        for row, (n, k) in zip(data, shapes, strict=True)
    )
    assert unequal(groups, participants=participants).variance(0.0).total >= exact


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_equal_clients_get_the_bound_for_equal_clients(mu: float) -> None:
    group = ClientGroup(clients=5, samples_per_client=40, batch_size=8, lipschitz=1.5)
    split = (replace(group, clients=2), replace(group, clients=3))
    plain = ExcessRiskProblem(
        clients=5, participants=2, samples_per_client=40, batch_size=8, dimension=7, lipschitz=1.5, smoothness=3.0,
        strong_convexity=mu, initial_distance=2.0,
    )  # fmt: skip
    seen = unequal(split, participants=2, dimension=7, smoothness=3.0, strong_convexity=mu, initial_distance=2.0)
    one, other = (excess_risk(problem, noise_std=0.7, rounds=60, step_size=0.1).terms for problem in (plain, seen))
    assert other == pytest.approx(dict(one), rel=1e-12)


class Absolute:
    """Losses L_i|w − x| on [−1, 1], x = ±1/2 with P(x = 1/2) = 0.8, on the envelope, GROUPS and COUNTS."""

    likely = 0.8

    def __init__(self, runs: int) -> None:
        self.runs, self.rng = runs, np.random.default_rng(11)
        self.n = np.repeat([3, 10], [4, 2])
        self.batch = np.repeat([2, 5], [4, 2])
        self.slope = np.repeat([1.0, 2.0], [4, 2])
        self.std = np.repeat(STDS, [4, 2])

    def gradient(self, w: np.ndarray, above: np.ndarray, envelope: float) -> np.ndarray:
        """The mean over a batch of which `above` records are 1/2."""
        left, right = (np.clip(envelope * (w[:, None] - x), -self.slope, self.slope) for x in (0.5, -0.5))
        return (above * left + (self.batch - above) * right) / self.batch

    def run(self, *, envelope: float, step: float, rounds: int) -> np.ndarray:
        rng, w = self.rng, -np.ones(self.runs)
        above = rng.binomial(self.n, self.likely, size=(self.runs, 6))
        total = np.zeros(self.runs)
        for _ in range(rounds):
            count = np.where(rng.random(self.runs) < 0.5, 1, 3)
            taking_part = np.argsort(np.argsort(rng.random((self.runs, 6)), axis=1), axis=1) < count[:, None]
            drawn = rng.hypergeometric(above, self.n - above, self.batch)
            sent = self.gradient(w, drawn, envelope) + self.std * rng.normal(size=(self.runs, 6))
            w = np.clip(w - step * (sent * taking_part).sum(axis=1) / count, -1.0, 1.0)
            total += w
        return total / rounds

    def excess(self, w: np.ndarray) -> np.ndarray:
        value = self.likely * np.abs(w - 0.5) + (1 - self.likely) * np.abs(w + 0.5)
        return np.asarray((value - (1 - self.likely)) * self.slope.mean())


@pytest.mark.parametrize("rounds", [8, 60])
def test_simulated_runs_on_the_envelope_stay_below_the_bound(rounds: int) -> None:
    """Clients that differ in n, K, L and σ, a random number of them, a loss with a kink at its minimum."""
    runs = 2000
    simulation, problem = Absolute(runs), unequal()
    noise_std = math.sqrt((4 * STDS[0] ** 2 + 2 * STDS[1] ** 2) / 6)
    best = best_envelope(problem, noise_std=noise_std, rounds=rounds)
    for shrink, stretch in ((1.0, 1.0), (0.3, 1.0), (0.5, 4.0)):
        envelope, step = best.envelope_smoothness * shrink, best.step_size * stretch * (shrink if stretch == 1 else 0.2)
        bound = enveloped_excess_risk(
            problem, envelope_smoothness=envelope, noise_std=noise_std, rounds=rounds, step_size=step
        ).total
        seen = simulation.excess(simulation.run(envelope=envelope, step=step, rounds=rounds))
        assert seen.mean() + 4.0 * float(seen.std()) / math.sqrt(runs) <= bound
        if shrink == stretch == 1.0:
            assert bound < 6.0 * seen.mean()


@pytest.mark.parametrize("noise_std", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("rounds", [1, 30, 10**5])
@pytest.mark.parametrize("mu", [0.0, 0.01, 0.5])
def test_no_other_envelope_and_step_do_better(mu: float, rounds: int, noise_std: float) -> None:
    problem = unequal(strong_convexity=mu, dimension=20)

    def total(envelope: float, step: float) -> float:
        return enveloped_excess_risk(
            problem, envelope_smoothness=envelope, noise_std=noise_std, rounds=rounds, step_size=step
        ).total

    best = best_envelope(problem, noise_std=noise_std, rounds=rounds)
    found = total(best.envelope_smoothness, best.step_size)
    steps = best.step_size * np.exp(np.linspace(-5, 5, 61))
    shares = 1 / (1 + np.exp(-np.linspace(-10, 10, 61)))
    assert found <= min(total(float(x / step), float(step)) for step in steps for x in shares) * (1 + 1e-6)
    quick = best_envelope(problem, noise_std=noise_std, rounds=rounds, quick=True)
    assert found <= total(quick.envelope_smoothness, quick.step_size)


def test_the_closed_form_of_the_envelope() -> None:
    """βD₀²/(2R) has become D₀ L/√R: the bound is at most D₀ √(((V + G)² + 2B)/R) for μ = 0."""
    for rounds in (1, 40, 10**6):
        problem = unequal()
        spread = math.sqrt(problem.variance(0.2).total) + math.sqrt(problem.squared_lipschitz)
        closed = 1.5 * math.sqrt((spread**2 + 2 * problem.influence * (rounds + 1)) / rounds)
        best = best_envelope(problem, noise_std=0.2, rounds=rounds)
        found = enveloped_excess_risk(
            problem,
            envelope_smoothness=best.envelope_smoothness,
            noise_std=0.2,
            rounds=rounds,
            step_size=best.step_size,
        )
        assert found.total <= closed * (1 + 1e-11)
        assert found.total > 0.7 * closed
        assert found.total >= math.fsum(found.terms.values())


@pytest.mark.compares("epsilond.federated-sgd-excess-risk")
def test_the_theorem_evaluates_groups_and_chooses_what_is_left_out() -> None:
    inputs = FederatedInputs(**EXAMPLE)
    found = FEDERATED_RISK.evaluate(inputs).outputs
    chosen = best_envelope(inputs.problem, noise_std=inputs.noise_std, rounds=200)
    assert found["envelope_smoothness"] == chosen.envelope_smoothness
    assert inputs.noise_std == pytest.approx(math.sqrt(0.9 * 0.09 + 0.1 * 0.0025))
    scales = loss_scales([(1.0, 900), (3.0, 100)])
    assert [group.lipschitz for group in inputs.problem.groups] == pytest.approx(list(scales))
    given = {"envelope_smoothness": found["envelope_smoothness"], "step_size": found["step_size"]}
    again = FEDERATED_RISK.evaluate(FederatedInputs(**EXAMPLE, **given)).outputs
    assert again["excess_risk"] == pytest.approx(found["excess_risk"], rel=1e-12)
    smooth = FederatedInputs(**EXAMPLE, smoothness=2.0)
    step = best_step_size(smooth.problem, noise_std=smooth.noise_std, rounds=200)
    assert FEDERATED_RISK.evaluate(smooth).outputs["step_size"] == step
    assert smooth.problem.smoothness == 2.0
    assert smooth.problem.largest_step == pytest.approx(1.0 / (2.0 * scales[1]))


def test_a_heavy_client_bounds_the_step_and_not_the_descent() -> None:
    """The mean loss is β-smooth whatever the weights; only that two runs stay together needs η p N β ≤ 1."""
    (condition,) = (one for one in FEDERATED_RISK.conditions if one.checked)
    scale = max(loss_scales([(1.0, 900), (3.0, 100)]))
    shared = {**EXAMPLE, "smoothness": 2.0, "rounds": 3}
    for share, holds in ((1 - 2**-40, True), (1 + 2**-40, False)):
        inputs = FederatedInputs(**{**shared, "step_size": share / (2.0 * scale)})
        assert condition.at(inputs).holds == Verdict.of(holds)
        assert math.isfinite(FEDERATED_RISK.evaluate(inputs).outputs["excess_risk"]) is holds
    # Few rounds want long steps: the one chosen is the longest there is.
    assert FEDERATED_RISK.evaluate(FederatedInputs(**shared)).outputs["step_size"] == pytest.approx(0.5 / scale)
    even = [{**group, "weight": 1.0} for group in EXAMPLE["client_groups"]]
    longer = FEDERATED_RISK.evaluate(FederatedInputs(**{**shared, "client_groups": even})).outputs["step_size"]
    assert 0.5 / scale < longer < 0.5


def test_the_parts_add_up_in_forty_digits() -> None:
    problem = unequal(strong_convexity=0.2, dimension=6)
    found = enveloped_excess_risk(problem, envelope_smoothness=2.0, noise_std=0.7, rounds=40, step_size=0.2)
    mu, inverse = mpf("0.2") * 2 / mpf("2.2"), (mpf(1) + mpf(1) / 3) / 2
    between = (1 - (1 / inverse - 1) / 5) * inverse
    share = mpf("0.2") / (2 * (1 - mpf("0.4")))
    within = [inverse * mpf(3 - 2) / (2 * 2), inverse * mpf(10 - 5) / (9 * 5)]
    expected = (
        oracle.optimisation(1.5, mu, 0.2, 40)
        + oracle.stability(1.0, 1, 1, mu, 0.2, 40) * (4 * mpf(1) / 3 + 2 * mpf(4) / 10) / 36
        + share * (4 * max(within[0], between) + 2 * 4 * max(within[1], between)) / 6
        + share * 6 * mpf("0.49") * inverse
        + (4 * mpf(1) + 2 * 4) / 6 / (2 * 2)
    )
    assert expected < found.total < expected * (1 + mpf(2) ** -38)


def test_the_step_size_condition_at_its_edge() -> None:
    (condition,) = (one for one in FEDERATED_RISK.conditions if one.checked)
    for share, holds in ((1 - 2**-50, True), (1.0, False)):
        inputs = FederatedInputs(**EXAMPLE, envelope_smoothness=2.0, step_size=share / 2.0)
        assert condition.at(inputs).holds == Verdict.of(holds)
        risk = FEDERATED_RISK.evaluate(inputs).outputs["excess_risk"]
        assert math.isfinite(risk) is holds


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"client_groups": []}, "/client_groups"),
        ({"client_groups": [{**EXAMPLE["client_groups"][0], "batch_size": 101}]}, "/client_groups/0/batch_size"),
        ({"client_groups": [{**EXAMPLE["client_groups"][0], "noise_std": 0.0}]}, "/client_groups/0/noise_std"),
        ({"client_groups": [{"clients": 3}]}, "/client_groups/0"),
        ({"client_groups": [3]}, "/client_groups/0"),
        ({"participation": [{"participants": 10, "probability": 0.5}]}, "/participation"),
        ({"participation": [{"participants": 1001, "probability": 1.0}]}, "/participation/0/participants"),
        ({"smoothness": 1.0, "strong_convexity": 2.0}, "/strong_convexity"),
        ({"smoothness": 1.0, "envelope_smoothness": 2.0}, "/envelope_smoothness"),
        ({"step_size": 0.1}, "/envelope_smoothness"),
        ({"initial_distance": 1e-150}, "/initial_distance"),
    ],
)
def test_inputs_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        FederatedInputs(**{**EXAMPLE, **changes})
    assert pointer in {fault.pointer for fault in caught.value.faults}

"""one-pass-accelerated-mb-sgd: exact Gaussian noise, the cut of the records, and Theorem 2.3 beside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import accelerated_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.one_pass_accelerated_mb_sgd.calibrator import CALIBRATOR, run_spec
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from tests.answers import codes, remembered, risk_of

BASE: dict[str, Any] = {**CALIBRATOR.example, "batch_size": 500}


def problem(**changes: Any) -> OnePassProblem:
    fields = {**BASE, **changes}
    return OnePassProblem(**{name: value for name, value in fields.items() if value is not None})


@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(**changes))


@pytest.mark.parametrize(
    ("epsilon", "delta", "paper", "least", "truth"),
    [(0.1, 1e-5, 96.90, 30.75, 0.0282), (1.0, 1e-5, 9.690, 3.731, 0.353), (10.0, 1e-5, 0.969, 0.500, 4.54)],
)
def test_the_printed_noise_and_the_least(
    epsilon: float, delta: float, paper: float, least: float, truth: float
) -> None:
    """Table 3 of the errata, whose σ is over the sensitivity: half our multiplier."""
    answer = solved(epsilon=epsilon, delta=delta)
    printed = answer.readings[0]
    assert printed.parameters["noise_multiplier"] / 2 == pytest.approx(paper, rel=1e-3)
    assert answer.parameters.noise_multiplier / 2 == pytest.approx(least, rel=1e-3)
    assert printed.true is not None
    assert printed.true.epsilon.upper == pytest.approx(truth, rel=4e-3)
    exact = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=math.log(delta), sensitivity=2.0 / 500)
    assert exact.lower <= answer.parameters.noise_std <= exact.upper * (1 + 2e-6)
    assert answer.guarantee.tight == "proved"


def test_a_record_is_in_one_message_and_a_client_in_all() -> None:
    run = Run(batch_size=500, rounds=200)
    assert run_spec(problem(), run, 3.0) == Gaussian(noise_multiplier=3.0)
    assert run_spec(problem(unit="client"), run, 3.0) == Repeated(times=200, mechanism=Gaussian(noise_multiplier=3.0))
    record, client = solved(rounds=200), solved(rounds=200, unit="client")
    assert client.parameters.noise_multiplier == pytest.approx(
        math.sqrt(200) * record.parameters.noise_multiplier, rel=1e-5
    )
    assert client.parameters.noise_std == pytest.approx(client.parameters.noise_multiplier)
    assert client.readings == ()
    assert client.guarantee.unit == "client"


def test_parallel_composition_by_brute_force() -> None:
    """Two rounds, two disjoint records, the second gradient chosen by the first message: δ is that of one release.

    The privacy loss of replacing the second record is Gaussian whatever the first message says, so its δ is exact.
    """
    rng = np.random.default_rng(2)
    std, epsilon = 1.5, 0.7
    first = rng.normal(size=200_000) * std
    centre = np.where(first > 0, 1.0, -1.0)  # the adversary's choice, by what it has seen
    second = centre + std * rng.normal(size=first.shape)
    loss = ((second + centre) ** 2 - (second - centre) ** 2) / (2 * std * std)
    found = np.mean(np.maximum(0.0, -np.expm1(epsilon - loss)))
    single = account(Gaussian(noise_multiplier=std), relation="replace-one").guarantee.curve.log_delta(epsilon)
    assert found == pytest.approx(math.exp(single.upper), rel=0.01)


def test_the_cut_is_as_good_as_any_other() -> None:
    best = solved(batch_size=None, within=0.0)
    assert best.parameters.batch_size * best.parameters.rounds <= 100_000
    for rounds in (1, 20, 60, 100, 150, 200, 240, 300, 400, 1000, 10_000):
        assert risk_of(best) <= risk_of(solved(batch_size=100_000 // rounds, rounds=rounds)) * 1.002
    prescribed = best.readings[1].parameters
    assert prescribed["batch_size"] == 971
    assert risk_of(best) < 0.95 * risk_of(solved(batch_size=971, rounds=102))


def test_what_is_given_is_kept_and_the_rest_is_chosen() -> None:
    by_rounds = solved(batch_size=None, rounds=300, within=0.0).parameters
    assert (by_rounds.batch_size, by_rounds.rounds) == (333, 300)
    fewer_records = solved(batch_size=None, rounds=300)
    assert fewer_records.parameters.rounds == 300
    assert risk_of(fewer_records) <= 1.1 * risk_of(solved(batch_size=333, rounds=300))
    by_batch = solved(batch_size=300)
    assert by_batch.parameters.batch_size == 300
    assert by_batch.parameters.rounds < 333
    assert risk_of(by_batch) <= 1.1 * risk_of(solved(batch_size=300, rounds=333))
    both = solved(batch_size=300, rounds=7).parameters
    assert (both.batch_size, both.rounds) == (300, 7)
    assert sum(stage.rounds for stage in both.stages) == 7


def test_budgets_bind() -> None:
    bits = 32 * 10 * 40
    tight = solved(batch_size=None, communication_budget=25 * bits)
    assert tight.parameters.rounds <= 25
    assert tight.communication is not None
    assert tight.communication.total_bits <= 25 * bits
    few = solved(batch_size=500, max_gradients=5000)
    assert few.parameters.rounds <= 10
    with pytest.raises(InvalidInput, match="does not pay for the rounds"):
        solved(batch_size=None, communication_budget=bits - 1)


def test_the_risk_is_the_explicit_bound_at_the_certified_noise() -> None:
    answer = solved(strong_convexity=0.1, smoothness=10.0, rounds=200)
    found = accelerated_risk(
        AcceleratedProblem(
            clients=50, participants=40, samples_per_client=100_000, batch_size=500, dimension=10, lipschitz=1.0,
            smoothness=10.0, strong_convexity=0.1, initial_distance=2.0, diameter=2.0, initial_gap=2.0,
            gradient_std=0.5, heterogeneity=0.1, objective="population",
        ),
        noise_std=answer.parameters.noise_std,
        rounds=200,
    )  # fmt: skip
    assert found.total < risk_of(answer) < found.total * (1.0 + 1e-12)
    assert [(one.rounds, one.prox_weight) for one in answer.parameters.stages] == [
        (one.rounds, one.prox_weight) for one in found.stages
    ]
    assert answer.parameters.strong_convexity == 0.1
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.constant == "explicit"


def test_identical_clients_differ_by_nothing() -> None:
    alike = solved(identically_distributed=True, heterogeneity=None)
    assert alike.risk is not None
    assert alike.risk.upper is not None
    assert alike.risk.upper.terms["client_sampling"] == 0.0
    unknown = solved(heterogeneity=None)
    assert risk_of(unknown) > risk_of(solved()) > risk_of(alike)
    assert "assumed-heterogeneity" in codes(unknown)


def test_printed_conditions_with_both_sides() -> None:
    informal, complete, _ = solved(epsilon=200.0).readings
    limit = {one.id: one for one in informal.conditions}["epsilon-range"]
    assert (limit.holds, limit.left, limit.right) == ("no", 200.0, pytest.approx(8 * math.log(1e6)))
    assert informal.true is not None
    assert informal.true.epsilon.lower > 200.0
    assert "informal-participation" not in {one.id for one in complete.conditions}
    assert {"printed-condition-fails", "printed-noise-not-private"} <= codes(solved(epsilon=200.0))
    assert "logarithm" in {one.id for one in solved(strong_convexity=1e-9).readings[1].conditions}


def test_other_relations_change_the_sensitivity_and_declare_the_divisor() -> None:
    replaced, zeroed = solved(), solved(relation="zero-out-one")
    assert replaced.guarantee.sensitivity == 2 * zeroed.guarantee.sensitivity == 2 / 500
    assert zeroed.parameters.noise_std == pytest.approx(replaced.parameters.noise_std / 2, rel=1e-5)
    declared = {one.id for one in zeroed.all_declared}
    assert {"fixed-divisor", "same-rounds", "disjoint-batches", "bounded-gradients"} <= declared
    assert not {"fixed-divisor", "same-rounds"} & {one.id for one in replaced.all_declared}


def test_a_statistic_of_the_data_says_nothing_of_one_pass() -> None:
    assert "field-not-used" in codes(solved(empirical_gradient_std=0.1))
    assert "field-not-used" not in codes(solved())


def test_readings_can_be_chosen() -> None:
    assert [one.reading for one in solved(readings=("complete",)).readings] == ["complete"]
    assert solved(readings=()).readings == ()


def test_cost() -> None:
    assert CALIBRATOR.cost(problem()) == "search"
    assert CALIBRATOR.cost(problem(rounds=10)) == "closed-form"
    assert CALIBRATOR.cost(problem(rounds=10, strong_convexity=0.1)) == "search"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"rounds": 201}, "/rounds"),
        ({"participants": 51}, "/participants"),
        ({"sampling": "poisson"}, "/sampling"),
        ({"initial_gap": 2.1}, "/initial_gap"),
        ({"strong_convexity": 0.9, "diameter": 10.0}, "/strong_convexity"),
        ({"batch_size": 100_001}, "/batch_size"),
    ],
)
def test_problems_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_smoothness_is_needed() -> None:
    with pytest.raises((TypeError, InvalidInput)):
        problem(smoothness=None)


@pytest.mark.parametrize("n", [1, 2, 10**15])
def test_extreme_numbers_of_records(n: int) -> None:
    answer = solved(batch_size=None, samples_per_client=n)
    assert answer.parameters.batch_size * answer.parameters.rounds <= n
    assert math.isfinite(risk_of(answer))

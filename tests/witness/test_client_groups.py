"""Clients that differ in a simulation: the certified noise of each group, satisfied bounds, and returned models."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem
from epsilond.reading import read_value
from epsilond.witness import simulation
from epsilond.witness.experiments.unlike_clients import judge
from epsilond.witness.joins.mb_sgd import certified_epsilon
from epsilond.witness.requests import SimulationRequest
from epsilond.witness.risks.measurement import build
from tests.witness.running import run_simulation

GROUPS = [
    {"clients": 3, "samples_per_client": 60},
    {"clients": 2, "samples_per_client": 30, "epsilon": 1.0, "batch_size": 3},
    {"clients": 1, "samples_per_client": 30, "weight": 2.0, "delta": 1e-6},
]
LAW = [{"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5}]
OBJECTIVES = {"mb-sgd": "population", "one-pass-accelerated-mb-sgd": "population", "accelerated-mb-sgd": "empirical"}


def risk_body(algorithm: str, *, objective: str | None = None, kind: str = "logistic", **run: Any) -> dict[str, Any]:
    shape = {"clients": 6, "samples_per_client": 60, "dimension": 3, "own_share": 0.5}
    return {
        "kind": "risk",
        "run": {"algorithm": algorithm, "rounds": 8, "batch_size": 6, "client_groups": GROUPS, **run},
        "problem": {"kind": kind, **shape, "objective": objective or OBJECTIVES[algorithm]},
        "epsilon": 4.0,
        "delta": 1e-4,
        "repetitions": 20,
    }


def answer_to(body: dict[str, Any]) -> Any:
    return run_simulation(read_value(SimulationRequest, body, at=""))


@pytest.mark.parametrize("algorithm", OBJECTIVES)
@pytest.mark.parametrize("law", [None, LAW])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_measured_excess_satisfies_the_bounds(algorithm: str, law: Any, groups: Any) -> None:
    body = risk_body(algorithm)
    if law is not None:
        body["run"]["participation"] = law
    if groups is None:
        del body["run"]["client_groups"]
    answer = answer_to(body)
    compared = [bound for bound in answer.bounds if bound.compared]
    assert compared
    assert all(bound.holds == Verdict.YES for bound in compared)
    assert all(("federated" in bound.theorem) == (groups is not None) for bound in compared)
    assert not answer.warnings


def test_each_group_has_its_calibrated_noise() -> None:
    answer = answer_to(risk_body("mb-sgd"))
    calibration = CALIBRATOR.solve(
        MbSgdProblem(
            epsilon=1.0, delta=1e-4, samples_per_client=30, clients=2, dimension=3, batch_size=3, rounds=8, diameter=2.0,
            lipschitz=answer.problem.constants.lipschitz * 6 / 7, smoothness=0.25, relation="replace-one", unit="record", observer="server",
        )
    )  # fmt: skip
    stds = [group.noise_std for group in answer.client_groups]
    assert stds[1] == pytest.approx(calibration.parameters.noise_std, rel=1e-9)
    assert [group.guarantee.target.epsilon for group in answer.client_groups] == [4.0, 1.0, 4.0]
    assert [group.guarantee.target.log10_delta for group in answer.client_groups] == pytest.approx([-4, -4, -6])
    assert all(group.guarantee.epsilon.upper <= group.guarantee.target.epsilon for group in answer.client_groups)
    run = answer.parameters
    assert [group.noise_std for group in run.client_groups] == stds
    assert run.noise_std == pytest.approx(math.sqrt((3 * stds[0] ** 2 + 2 * stds[1] ** 2 + stds[2] ** 2) / 6))
    (without_noise,) = (series.parameters for series in answer.series if series.name == "non-private")
    assert (without_noise.noise_std, {group.noise_std for group in without_noise.client_groups}) == (0.0, {None})


def test_certified_epsilon_is_the_largest_over_the_groups() -> None:
    answer = answer_to(risk_body("mb-sgd"))
    problem = build(answer.problem.spec, answer.parameters)
    epsilon = certified_epsilon(problem, answer.parameters, math.log(1e-4))
    first, second, third = answer.client_groups
    assert epsilon.upper == pytest.approx(first.guarantee.epsilon.upper, rel=1e-6)
    louder = dataclasses.replace(
        answer.parameters,
        client_groups=tuple(
            dataclasses.replace(group, noise_std=std)
            for group, std in zip(
                answer.parameters.client_groups, (9.0, second.noise_std, 9.0 * third.noise_std), strict=True
            )
        ),
    )
    assert certified_epsilon(problem, louder, math.log(1e-4)).upper == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("objective", ["population", "empirical"])
def test_bounds_hold_for_weighted_strongly_convex_losses(objective: str) -> None:
    for algorithm, own in OBJECTIVES.items():
        answer = answer_to(risk_body(algorithm, objective=objective, kind="mean-estimation"))
        compared = [bound for bound in answer.bounds if bound.compared]
        assert bool(compared) == (algorithm == "mb-sgd" or own == objective)
        assert all(bound.holds == Verdict.YES for bound in compared)


def test_model_of_the_first_repetition_is_returned_on_request() -> None:
    body = risk_body("mb-sgd", objective="empirical")
    without = answer_to(body)
    answer = answer_to(body | {"return_model": True})
    assert {series.model for series in without.series} == {None}
    problem = build(answer.problem.spec, answer.parameters)
    for series, plain in zip(answer.series, without.series, strict=True):
        assert dataclasses.replace(series, model=None) == plain
        ((*weights,),) = series.model
        excess = float(problem.excess(np.array(weights)))
        # One of twenty figures whose mean is served.
        assert 0.0 < excess < 20 * series.final.mean
    assert json.loads(json.dumps(as_json(answer)))["series"][0]["model"] == [list(answer.series[0].model[0])]


def test_one_personalised_model_is_returned_for_each_client() -> None:
    body = {
        "kind": "risk",
        "run": {"algorithm": "ppsgd", "rounds": 5, "step_size": 0.1, "personalization": 1.0, "noise_std": 0.1},
        "problem": {"kind": "personalized-least-squares", "clients": 4, "dimension": 3},
        "repetitions": 2,
        "return_model": True,
    }
    answer = answer_to(body)
    assert [len(row) for row in answer.series[0].model] == [3] * 4


def test_too_large_model_is_rejected() -> None:
    body = risk_body("mb-sgd")
    body["problem"] |= {"dimension": 20_001, "population": 3, "own_share": 0.0}
    with pytest.raises(InvalidInput) as rejected:
        simulation.plan(read_value(SimulationRequest, body | {"return_model": True}, at=""))
    assert rejected.value.faults[0].pointer == "/return_model"


def test_faults_of_groups_point_into_the_run() -> None:
    body = risk_body("mb-sgd")
    body["run"]["client_groups"] = GROUPS[:2]
    with pytest.raises(InvalidInput) as rejected:
        simulation.plan(read_value(SimulationRequest, body, at=""))
    assert rejected.value.faults[0].pointer == "/run/client_groups"


def test_experiment_confirms_its_bounds() -> None:
    table = answer_to({"kind": "preset", "preset": "unlike-clients", "repetitions": 12})
    assert [finding.verdict for finding in table.findings] == ["confirmed"] * 3
    assert len(table.cells) == 36
    for cell in table.cells:
        differ = cell.place["clients"] != "alike"
        assert (cell.parameters.client_groups is not None) == differ
        assert cell.epsilon.upper <= cell.place["epsilon"]
        if differ:
            many, few = cell.parameters.client_groups
            # Half the records, half the ε and twice the weight.
            assert few.noise_std > 4.0 * many.noise_std
    first = table.cells[0]
    violated_bounds = tuple(dataclasses.replace(bound, holds=Verdict.NO) for bound in first.bounds)
    violated = dataclasses.replace(first, bounds=violated_bounds)
    verdicts = [finding.verdict for finding in judge([violated, *table.cells[1:]])]
    assert verdicts == ["refuted", "confirmed", "confirmed"]

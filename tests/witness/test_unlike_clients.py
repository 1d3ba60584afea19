"""Clients that differ in a simulation: the noise certified to each group, bounds that are kept, the model returned."""

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

GROUPS = [
    {"clients": 3, "samples_per_client": 60},
    {"clients": 2, "samples_per_client": 30, "epsilon": 1.0, "batch_size": 3},
    {"clients": 1, "samples_per_client": 30, "weight": 2.0, "delta": 1e-6},
]
LAW = [{"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5}]
OBJECTIVES = {"mb-sgd": "population", "one-pass-accelerated-mb-sgd": "population", "accelerated-mb-sgd": "empirical"}


def body(algorithm: str, *, objective: str | None = None, kind: str = "logistic", **run: Any) -> dict[str, Any]:
    shape = {"clients": 6, "samples_per_client": 60, "dimension": 3, "own_share": 0.5}
    return {
        "kind": "risk",
        "run": {"algorithm": algorithm, "rounds": 8, "batch_size": 6, "client_groups": GROUPS, **run},
        "problem": {"kind": kind, **shape, "objective": objective or OBJECTIVES[algorithm]},
        "epsilon": 4.0,
        "delta": 1e-4,
        "repetitions": 20,
    }


def answered(asked: dict[str, Any]) -> Any:
    ready = simulation.prepare(read_value(SimulationRequest, asked, at=""))
    return simulation.assemble(ready, [simulation.run_block(ready, index) for index in range(ready.plan.blocks)])


@pytest.mark.parametrize("algorithm", OBJECTIVES)
@pytest.mark.parametrize("law", [None, LAW])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_what_is_measured_keeps_the_bound(algorithm: str, law: Any, groups: Any) -> None:
    asked = body(algorithm)
    asked["run"] |= {name: told for name, told in (("participation", law), ("client_groups", groups)) if told}
    if groups is None:
        del asked["run"]["client_groups"]
    answer = answered(asked)
    told = [bound for bound in answer.bounds if bound.compared]
    assert told
    assert all(bound.holds == Verdict.YES for bound in told)
    assert all(("federated" in bound.theorem) == (groups is not None) for bound in told)
    assert not answer.warnings


def test_each_group_has_the_noise_that_its_calibration_certifies() -> None:
    answer = answered(body("mb-sgd"))
    alone = CALIBRATOR.solve(
        MbSgdProblem(
            epsilon=1.0, delta=1e-4, samples_per_client=30, clients=2, dimension=3, batch_size=3, rounds=8, diameter=2.0,
            lipschitz=answer.problem.constants.lipschitz * 6 / 7, smoothness=0.25, relation="replace-one", unit="record", observer="server",
        )
    )  # fmt: skip
    stds = [group.noise_std for group in answer.client_groups]
    assert stds[1] == pytest.approx(alone.parameters.noise_std, rel=1e-9)
    assert [group.guarantee.target.epsilon for group in answer.client_groups] == [4.0, 1.0, 4.0]
    assert [group.guarantee.target.log10_delta for group in answer.client_groups] == pytest.approx([-4, -4, -6])
    assert all(group.guarantee.epsilon.upper <= group.guarantee.target.epsilon for group in answer.client_groups)
    ran = answer.parameters
    assert [group.noise_std for group in ran.client_groups] == stds
    assert ran.noise_std == pytest.approx(math.sqrt((3 * stds[0] ** 2 + 2 * stds[1] ** 2 + stds[2] ** 2) / 6))
    (beside,) = (series.parameters for series in answer.series if series.name == "non-private")
    assert (beside.noise_std, {group.noise_std for group in beside.client_groups}) == (0.0, {None})


def test_the_certified_epsilon_of_given_noise_is_that_of_the_client_it_hides_least() -> None:
    answer = answered(body("mb-sgd"))
    problem = build(answer.problem.spec, answer.parameters)
    found = certified_epsilon(problem, answer.parameters, math.log(1e-4))
    first, second, third = answer.client_groups
    assert found.upper == pytest.approx(first.guarantee.epsilon.upper, rel=1e-6)
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
def test_strongly_convex_losses_of_unlike_weight_keep_their_bounds(objective: str) -> None:
    for algorithm, own in OBJECTIVES.items():
        answer = answered(body(algorithm, objective=objective, kind="mean-estimation"))
        compared = [bound for bound in answer.bounds if bound.compared]
        assert bool(compared) == (algorithm == "mb-sgd" or own == objective)
        assert all(bound.holds == Verdict.YES for bound in compared)


def test_the_first_repetition_s_model_is_returned_where_it_is_asked_for() -> None:
    asked = body("mb-sgd", objective="empirical")
    without = answered(asked)
    answer = answered(asked | {"return_model": True})
    assert {series.model for series in without.series} == {None}
    problem = build(answer.problem.spec, answer.parameters)
    for series, plain in zip(answer.series, without.series, strict=True):
        assert dataclasses.replace(series, model=None) == plain
        ((*weights,),) = series.model
        excess = float(problem.excess(np.array(weights)))
        # One of twenty figures whose mean is served.
        assert 0.0 < excess < 20 * series.final.mean
    assert json.loads(json.dumps(as_json(answer)))["series"][0]["model"] == [list(answer.series[0].model[0])]


def test_personalised_models_are_returned_one_for_each_client() -> None:
    asked = {
        "kind": "risk",
        "run": {"algorithm": "ppsgd", "rounds": 5, "step_size": 0.1, "personalization": 1.0, "noise_std": 0.1},
        "problem": {"kind": "personalized-least-squares", "clients": 4, "dimension": 3},
        "repetitions": 2,
        "return_model": True,
    }
    answer = answered(asked)
    assert [len(row) for row in answer.series[0].model] == [3] * 4


def test_models_are_returned_up_to_a_size() -> None:
    asked = body("mb-sgd")
    asked["problem"] |= {"dimension": 20_001, "population": 3, "own_share": 0.0}
    with pytest.raises(InvalidInput) as refused:
        simulation.plan(read_value(SimulationRequest, asked | {"return_model": True}, at=""))
    assert refused.value.faults[0].pointer == "/return_model"


def test_faults_of_groups_point_into_the_run() -> None:
    asked = body("mb-sgd")
    asked["run"]["client_groups"] = GROUPS[:2]
    with pytest.raises(InvalidInput) as refused:
        simulation.plan(read_value(SimulationRequest, asked, at=""))
    assert refused.value.faults[0].pointer == "/run/client_groups"


def test_the_experiment_keeps_its_bounds_and_says_so() -> None:
    told = answered({"kind": "preset", "preset": "unlike-clients", "repetitions": 12})
    assert [finding.verdict for finding in told.findings] == ["confirmed"] * 3
    assert len(told.cells) == 36
    for cell in told.cells:
        differ = cell.place["clients"] != "alike"
        assert (cell.parameters.client_groups is not None) == differ
        assert cell.epsilon.upper <= cell.place["epsilon"]
        if differ:
            many, few = cell.parameters.client_groups
            # Half the records, half the ε and twice the weight.
            assert few.noise_std > 4.0 * many.noise_std
    broken = [
        dataclasses.replace(cell, bounds=tuple(dataclasses.replace(bound, holds=Verdict.NO) for bound in cell.bounds))
        for cell in told.cells[:1]
    ]
    verdicts = [finding.verdict for finding in judge([*broken, *told.cells[1:]])]
    assert verdicts == ["refuted", "confirmed", "confirmed"]

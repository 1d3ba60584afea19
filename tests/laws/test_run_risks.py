"""Laws of the risk bounds of all algorithms: noise never helps, and small, huge and noiseless runs are bounded."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.baseline import VACUOUS_RISK
from epsilond.calibrators.risk.bounder import RISK_BOUNDS, RiskBounder
from epsilond.calibrators.risk.parts import RiskFields
from epsilond.reading import read, read_body

STATUS = {theorem.id: theorem.status for theorem in THEOREMS}
BOUNDERS = {bounder.name: bounder for bounder in RISK_BOUNDS}
GIVEN_NOISE = [bounder for bounder in RISK_BOUNDS if not issubclass(bounder.problem, RiskFields)]
SEARCHED = 1e-3
"""Relative tolerance where a step size is searched: the bound is valid at each, and only nearly the least."""
each_bounder = pytest.mark.parametrize("bounder", RISK_BOUNDS, ids=lambda one: one.name)
each_given = pytest.mark.parametrize("bounder", GIVEN_NOISE, ids=lambda one: one.name)


def answered(bounder: RiskBounder, **changes: Any) -> RiskBoundsAnswer:
    body = {name: value for name, value in {**bounder.example, **changes}.items() if value is not None}
    answer: RiskBoundsAnswer = bounder.solve(read(bounder.problem, body))
    json.dumps(as_json(answer), allow_nan=False)
    return answer


def first_value(bounder: RiskBounder, **changes: Any) -> float:
    value = answered(bounder, **changes).upper[0].value
    assert value is not None
    return value


def test_every_algorithm_has_risk_bounds() -> None:
    assert list(BOUNDERS) == [calibrator.name for calibrator in CALIBRATORS]
    assert len(GIVEN_NOISE) == 7


@each_bounder
def test_every_upper_bound_says_what_it_is(bounder: RiskBounder) -> None:
    answer = answered(bounder)
    assert answer.upper
    for bound in answer.upper:
        assert bound.status == STATUS[bound.theorem]
        assert bound.theorem in bounder.theorems
        # A hidden constant has an order and never a value; a refuted theorem is only used with its errors corrected.
        assert (bound.value is None) == (bound.constant == "hidden")
        assert bound.status != "refuted" or bound.reading == "corrected"
        assert bound.value is None or bound.value >= 0.0
        failing = any(condition.holds == "no" for condition in bound.conditions)
        assert not failing or bounder not in GIVEN_NOISE or bound.value == math.inf
    assert answer.no_upper_bound is None
    assert {bound.theorem for bound in answer.lower} <= set(bounder.theorems)
    vacuous = [bound for bound in answer.upper if bound.vacuous]
    assert sum(warning.code == VACUOUS_RISK for warning in answer.warnings) == len(vacuous)


@each_bounder
def test_more_noise_never_has_a_smaller_bound(bounder: RiskBounder) -> None:
    noise = float(bounder.example["noise_std"])
    bounds = [first_value(bounder, noise_std=noise * factor) for factor in (0.5, 1.0, 2.0, 10.0, 1000.0)]
    for less, more in zip(bounds[:-1], bounds[1:], strict=True):
        assert less <= more * (1.0 + SEARCHED)
    assert bounds[-1] > bounds[0] or bounder.name == "ppsgd"  # which shares nothing where noise is large


@each_given
def test_a_run_without_noise_has_the_limit_of_small_noises(bounder: RiskBounder) -> None:
    quiet, small = (first_value(bounder, noise_std=noise) for noise in (0.0, 1e-9 * bounder.example["noise_std"]))
    assert 0.0 < quiet < math.inf
    assert small == pytest.approx(quiet, rel=SEARCHED)


SMALL: Mapping[str, Mapping[str, Any]] = {
    "qtdl": {"dimension": 1, "participants": 1, "quantization_levels": 1},
    "norm-fedavg": {"dimension": 1, "clients": 1, "participants": 1, "rounds": 1},
    "projected-sgd": {"dimension": 1, "clients": 1, "participants": 1},
    "ppsgd": {"clients": 1, "rounds": 1, "shared_dimension": 1, "sampling": "full", "participation_rate": None},
    "mu2-sgd": {"clients": 1, "participants": 1, "rounds": 1, "dimension": 1},
    "dp-fedavg": {"clients": 1, "participants": 1, "rounds": 1, "dimension": 1, "sampling": "full"},
    "gaussian": {"records": 1, "rounds": 1, "dimension": 1, "sampling": "full", "rate": None},
}


@each_given
@pytest.mark.parametrize("noise_std", [0.0, 1e-6, 1.0])
def test_one_client_in_one_round_is_bounded(bounder: RiskBounder, noise_std: float) -> None:
    value = first_value(bounder, **SMALL[bounder.name], noise_std=noise_std)
    assert 0.0 <= value < math.inf


@each_given
@pytest.mark.parametrize("noise_std", [0.0, 1e-6, 1.0])
def test_a_huge_model_is_bounded(bounder: RiskBounder, noise_std: float) -> None:
    field = "shared_dimension" if bounder.name == "ppsgd" else "dimension"
    value = first_value(bounder, **{field: 10**15, "noise_std": noise_std})
    assert 0.0 < value < math.inf
    if noise_std == 1.0 and bounder.name != "ppsgd":
        assert answered(bounder, **{field: 10**15, "noise_std": noise_std}).upper[0].vacuous


HUGE: Mapping[str, Mapping[str, Any]] = {
    "qtdl": {"participants": 10**15, "quantization_levels": 2**40},
    "norm-fedavg": {"clients": 10**15, "participants": 10**14, "rounds": 10**12},
    "projected-sgd": {"clients": 10**15, "step_schedule": {"kind": "constant", "value": 1e-6}},
    "ppsgd": {"clients": 10**12, "rounds": 10**12, "sampling": "full", "participation_rate": None},
    "mu2-sgd": {"clients": 10**12, "participants": 10**9, "rounds": 10**9},
    "dp-fedavg": {"clients": 10**15, "participants": 10**9, "rounds": 10**12, "max_rounds": 10**12},
    "gaussian": {"records": 10**15, "rounds": 10**12},
}


@each_given
def test_a_huge_federation_is_bounded_by_less_than_a_small_one(bounder: RiskBounder) -> None:
    # The noise of a client's first report stays, so that more of its reports add up to more noise.
    changes = {**HUGE[bounder.name], **({"noise_std": 0.0} if bounder.name == "mu2-sgd" else {})}
    assert first_value(bounder, **changes) < first_value(bounder)


@each_given
@pytest.mark.parametrize(
    ("field", "value"), [("noise_std", -1.0), ("noise_std", math.nan), ("dimension", 0), ("epsilon", -1.0)]
)
def test_a_wrong_number_is_rejected_by_its_name(bounder: RiskBounder, field: str, value: float) -> None:
    name = "shared_dimension" if (bounder.name, field) == ("ppsgd", "dimension") else field
    with pytest.raises(InvalidInput) as caught:
        read_body(bounder.problem, {**bounder.example, name: value})
    assert [fault.pointer for fault in caught.value.faults] == [f"/{name}"]


REJECTED = [
    ("dp-fedavg", {"lipschitz": None}, "/lipschitz"),
    ("dp-fedavg", {"diameter": None}, "/diameter"),
    ("dp-fedavg", {"rounds": None}, "/noise_std"),
    ("ppsgd", {"smoothness": None}, "/smoothness"),
    ("ppsgd", {"optimum_norm": None}, "/optimum_norm"),
    ("ppsgd", {"step_size": 0.1}, "/personalization"),
    ("ppsgd", {"step_size": 0.1, "personalization": "unbounded"}, "/personalization"),
    ("gaussian", {"records": None}, "/records"),
    ("gaussian", {"rate": None, "batch_size": 10, "population": 50, "records": 40}, "/records"),
    ("gaussian", {"solve_for": "epsilon", "epsilon": None, "noise_multiplier": 1.0}, "/noise_std"),
    ("gaussian", {"sampling": "without-replacement", "records": 50}, "/rate"),
    ("gaussian", {"sampling": "without-replacement", "rate": 0.01, "records": 10_050}, "/rate"),
    (
        "projected-sgd",
        {"solve_for": "step_size", "step_schedule": None, "noise_schedule": {"kind": "constant", "value": 1.0}},
        "/noise_std",
    ),
    ("projected-sgd", {"step_size": 0.1}, "/step_size"),
    ("mu2-sgd", {"step_size": 0.0}, "/step_size"),
    ("qtdl", {"participants": 0}, "/participants"),
    ("norm-fedavg", {"step_ratio": -1.0}, "/step_ratio"),
]


@pytest.mark.parametrize(("name", "changes", "pointer"), REJECTED)
def test_a_run_that_cannot_be_is_rejected_by_its_field(name: str, changes: dict[str, Any], pointer: str) -> None:
    bounder = BOUNDERS[name]
    body = {key: value for key, value in {**bounder.example, **changes}.items() if value is not None}
    with pytest.raises(InvalidInput) as caught:
        read_body(bounder.problem, body)
    assert pointer in {fault.pointer for fault in caught.value.faults}


@each_given
def test_without_a_noise_it_is_the_certified_one(bounder: RiskBounder) -> None:
    if bounder.name == "norm-fedavg":
        changes: dict[str, Any] = {"rounds": 4}
    elif bounder.name == "dp-fedavg":
        changes = {"sampling": "full", "participants": None}
    elif bounder.name in ("ppsgd", "gaussian"):
        changes = {"sampling": "full", "participation_rate": None, "rate": None}
    else:
        changes = {}
    known = {**bounder.example, **changes, "noise_std": None}
    answer = answered(bounder, **known)
    assert answer.run.noise_source == "certified"
    again = answered(bounder, **{**known, "noise_std": answer.run.noise_std})
    assert again.run.noise_source == "given"
    assert again.upper[0].value == pytest.approx(answer.upper[0].value, rel=1e-9)
    without = {name: value for name, value in known.items() if value is not None}
    assert bounder.cost(read(bounder.problem, without)) == bounder.calibrator.cost(read(bounder.problem, without))


@pytest.mark.parametrize(
    ("name", "changes", "premises"),
    [
        ("dp-fedavg", {}, {"projected-steps", "mean-of-rounds"}),
        ("ppsgd", {"optimum_spread": None}, {"mean-of-rounds", "equal-optima"}),
        ("ppsgd", {"optimum_spread": 0.5}, {"mean-of-rounds"}),
        ("norm-fedavg", {"client_optimum_distance": None}, {"equal-optima"}),
        ("norm-fedavg", {"client_optimum_distance": 0.25}, set()),
    ],
)
def test_a_premise_that_the_request_does_not_state_is_declared(
    name: str, changes: dict[str, Any], premises: set[str]
) -> None:
    declared = {one.id for one in answered(BOUNDERS[name], **changes).declared_conditions}
    assert declared & {"projected-steps", "mean-of-rounds", "equal-optima"} == premises

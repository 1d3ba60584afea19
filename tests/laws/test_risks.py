"""Laws of every risk that is answered: its objective, what doing nothing gives, and what a vacuous bound is called."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import epsilond
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Baseline, Calibration, as_json
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.norm_fedavg.calibrator import VACUOUS_GRADIENT_NORM
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.recommendation import name_of
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.baseline import (
    VACUOUS_PRESCRIBED_RISK,
    VACUOUS_RISK,
    Start,
    mark_vacuous_risk,
    risk_cautions,
)
from epsilond.calibrators.risk.bounder import RISK_BOUNDS, RiskBounder
from epsilond.reading import read
from tests.laws.test_calibrators import each_calibrator, solved

THEOREM_IDS = {theorem.id for theorem in THEOREMS}
WITHOUT_EXCESS_RISK = {"norm-fedavg", "projected-sgd"}
"""Algorithms with step sizes but no excess risk: a bound on the gradient norm, and none for the run of the example."""
LEARNING = {"dimension": 10**8, "epsilon": 0.05}
HOSTILE: dict[str, dict[str, Any]] = {
    "mb-sgd": {**LEARNING, "sampling": "full"},
    "accelerated-mb-sgd": {**LEARNING, "sampling": "full"},
    "one-pass-accelerated-mb-sgd": {**LEARNING, "batch_size": 100},
    "mu2-sgd": LEARNING,
    "ppsgd": {"epsilon": 0.05, "sampling": "full", "participation_rate": None, "personalization": 1.0},
    "dp-fedavg": {**LEARNING, "clients": 20, "participants": 20},
}
"""Requests at which nothing is learnt, where answering them is quick."""


def hostile(name: str) -> Calibration:
    calibrator = next(one for one in CALIBRATORS if one.name == name)
    body = {**calibrator.example, **HOSTILE[name]}
    if body.get("sampling") == "full" and "batch_size" in body:
        body |= {"batch_size": body["samples_per_client"]}
    answer: Calibration = calibrator.solve(
        read(calibrator.problem, {field: value for field, value in body.items() if value is not None})
    )
    return answer


def told(answer: Calibration, code: str) -> int:
    return sum(warning.code == code for warning in answer.warnings)


def hold(answer: Calibration) -> None:
    """The laws of one answer."""
    risk = answer.risk
    vacuous = prescribed = False
    if risk is not None:
        assert risk.objective in ("population", "empirical", "personalized")
        assert risk.baseline is not None
        assert risk.baseline.theorem in THEOREM_IDS | {None}
        assert risk.baseline.value > 0.0
        if risk.upper is not None and risk.upper.constant == "explicit":
            vacuous = risk.upper.value >= risk.baseline.value
            assert risk.upper.vacuous == vacuous
        elif risk.upper is not None:
            assert risk.upper.vacuous is None
        assert risk.lower is None or risk.lower.vacuous is None
        if risk.as_prescribed is not None:
            prescribed = risk.as_prescribed.certified_noise >= risk.baseline.value
            assert risk.as_prescribed.vacuous == prescribed
    for run in answer.frontier or ():
        assert risk is not None
        assert risk.baseline is not None
        assert run.vacuous == (run.risk >= risk.baseline.value)
    assert told(answer, VACUOUS_RISK) == vacuous
    assert told(answer, VACUOUS_PRESCRIBED_RISK) == prescribed
    for reading in answer.readings:
        claims = reading.claims
        if claims.excess_risk is None:
            assert (claims.objective, claims.baseline, claims.vacuous) == (None, None, None)
            continue
        assert claims.baseline is not None
        assert risk is None or (claims.objective, claims.baseline) == (risk.objective, risk.baseline)
        assert claims.vacuous == (claims.excess_risk >= claims.baseline.value)


@each_calibrator
def test_every_risk_has_an_objective_and_a_baseline_and_is_marked(calibrator: Calibrator) -> None:
    answer = solved(calibrator)
    hold(answer)
    has_training = type(calibrator).risk is not Calibrator.risk
    assert (answer.risk is not None) == (has_training and calibrator.name not in WITHOUT_EXCESS_RISK)


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_bound_that_says_nothing_is_marked_and_warned_of(name: str) -> None:
    answer = hostile(name)
    hold(answer)
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.vacuous


def test_runs_of_the_frontier_that_say_nothing_are_marked() -> None:
    answer = epsilond.calibrate(
        "one-pass-accelerated-mb-sgd", epsilon=1.0, delta=1e-6, samples_per_client=1000, clients=50, dimension=10,
        lipschitz=1.0, diameter=2.0, smoothness=1.0, relation="replace-one", unit="record", observer="server",
    )  # fmt: skip
    hold(answer)
    assert {run.vacuous for run in answer.frontier or ()} == {True, False}


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 2.0, math.inf])
@pytest.mark.parametrize("name", ["mb-sgd", "mu2-sgd", "ppsgd"])
def test_the_mark_turns_exactly_at_the_baseline(name: str, factor: float) -> None:
    answer = solved(next(one for one in CALIBRATORS if one.name == name))
    assert answer.risk is not None
    assert answer.risk.upper is not None
    baseline = Baseline(value=3.0, theorem="epsilond.excess-risk-of-the-start", formula="L·D")
    upper = replace(answer.risk.upper, value=3.0 * factor)
    bare = replace(answer, warnings=(), readings=(), risk=replace(answer.risk, upper=upper))
    start = Start(objective="population", baseline=baseline)
    risk = mark_vacuous_risk(bare.risk, start)
    marked = replace(bare, risk=risk, warnings=tuple(risk_cautions(risk, start)))
    assert marked.risk is not None
    assert marked.risk.upper is not None
    assert marked.risk.upper.vacuous == (3.0 * factor >= 3.0)
    hold(marked)
    if factor > 1.0:
        assert any("no better than the start (L·D = 3)" in warning.message for warning in marked.warnings)


def test_corollary_1_of_projected_sgd_has_a_baseline() -> None:
    for dimension in (1, 10**6):
        answer = epsilond.calibrate(
            "projected-sgd",
            epsilon=0.5,
            delta=1e-5,
            clients=2000,
            participants=100,
            dimension=dimension,
            lipschitz=1.0,
            radius=1.0,
            smoothness=1.0,
            strong_convexity=0.9,
            step_schedule={"kind": "inverse-time", "scale": 1.0 / 0.9},
            relation="replace-one",
            unit="record",
            observer="final-model",
        )
        hold(answer)
        assert answer.risk is not None
        assert answer.risk.baseline is not None
        assert answer.risk.baseline.value == pytest.approx(1.0 / 1.8, rel=1e-12)
        assert answer.risk.upper is not None
        assert answer.risk.upper.vacuous == (dimension > 1)


def test_gradient_norms_have_a_baseline_too() -> None:
    answer = solved(next(one for one in CALIBRATORS if one.name == "norm-fedavg"))
    found = answer.parameters.convergence
    assert found.baseline.value == 1.0  # β = 1, ‖w₀ − w*‖ = 1
    assert found.vacuous == (found.mean_gradient_norm >= 1.0)
    assert found.gradient_norm == min(found.mean_gradient_norm, 1.0)
    assert max(found.without_noise, found.fedavg) <= 1.0
    assert told(answer, VACUOUS_GRADIENT_NORM) == found.vacuous


# What the start gives, from the request alone -----------------------------------------------------------------------
def baselines() -> Iterator[tuple[str, dict[str, Any], float, str]]:
    """(algorithm, changes of its example, what the start gives, in symbols)."""
    yield "mb-sgd", {}, 2.0, "L·D"
    yield "mb-sgd", {"initial_distance": 0.25}, 0.25, "L·‖w₀ − w*‖"
    yield "mb-sgd", {"strong_convexity": 0.4}, 1.2, "L·D − μ·D²/2"
    yield "mb-sgd", {"strong_convexity": 0.8}, 0.625, "L²/(2μ)"
    yield "one-pass-accelerated-mb-sgd", {"initial_gap": 0.125, "batch_size": 1000}, 0.125, "the initial_gap given"
    yield "mu2-sgd", {}, 4.0, "L·D"
    yield "mu2-sgd", {"optimum_gradient_norm": 0.0}, 1.9625, "β·D²/2"
    yield "mu2-sgd", {"optimum_gradient_norm": 1.0}, 2.0625, "G*·D + β·D²/2"
    yield "ppsgd", {"sampling": "full", "participation_rate": None}, 1.0, "L·‖v‖"
    yield (
        "ppsgd",
        {"sampling": "full", "participation_rate": None, "optimum_norm": 0.3, "optimum_spread": 0.4},
        0.25,
        "β·√(‖v̄‖² + S/N)²/2",
    )


@pytest.mark.parametrize(("name", "changes", "value", "formula"), list(baselines()))
def test_what_the_start_gives(name: str, changes: dict[str, Any], value: float, formula: str) -> None:
    calibrator = next(one for one in CALIBRATORS if one.name == name)
    body = {**calibrator.example, **({"sampling": "full", "batch_size": 1000} if name == "mb-sgd" else {}), **changes}
    answer = calibrator.solve(read(calibrator.problem, {key: one for key, one in body.items() if one is not None}))
    assert answer.risk.baseline.formula == formula
    assert answer.risk.baseline.value >= value * (1 - 1e-15)
    assert answer.risk.baseline.value == pytest.approx(value, rel=1e-12)


def test_groups_of_clients_start_at_their_mean_lipschitz_constant() -> None:
    calibrator = next(one for one in CALIBRATORS if one.name == "mb-sgd")
    groups = [
        {"clients": 40, "samples_per_client": 1000, "lipschitz": 0.5},
        {"clients": 10, "samples_per_client": 1000, "weight": 3.0},
    ]
    body = {**calibrator.example, "sampling": "full", "batch_size": 1000, "client_groups": groups}
    answer = calibrator.solve(read(calibrator.problem, body))
    weights = 40 * 1.0 + 10 * 3.0
    mean = (40 * 1.0 * 0.5 + 10 * 3.0 * 1.0) / weights
    assert answer.risk.baseline.value == pytest.approx(2.0 * mean, rel=1e-12)


# Risk bounds --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bounder", RISK_BOUNDS, ids=lambda one: one.name)
@pytest.mark.parametrize("noise_std", [0.01, 1e6])
def test_risk_bounds_are_marked(bounder: RiskBounder, noise_std: float) -> None:
    body = {**bounder.example, "noise_std": noise_std}
    if bounder.name == "ppsgd":
        body["personalization"] = 1.0  # the best share is 0 at this noise, which then costs nothing
    answer: RiskBoundsAnswer = bounder.solve(read(bounder.problem, body))
    assert answer.objective is not None
    assert answer.baseline is not None
    for bound in answer.upper:
        if bound.value is None:
            assert bound.vacuous is None
        else:
            assert bound.vacuous == (bound.value >= answer.baseline.value)
    marked = sum(bound.vacuous is True for bound in answer.upper)
    assert sum(warning.code == VACUOUS_RISK for warning in answer.warnings) == marked
    assert marked >= (noise_std == 1e6)
    assert all(below.problem == answer.objective for below in answer.lower)


# Plans --------------------------------------------------------------------------------------------------------------
@functools.cache
def planned(dimension: int, rank_by: Any) -> PlanAnswer:
    return epsilond.plan(
        epsilon=1.0,
        delta=1e-5,
        clients=20,
        samples_per_client=400,
        dimension=dimension,
        lipschitz=1.0,
        diameter=2.0,
        smoothness=1.0,
        rounds=10,
        batch_size=400,
        sampling="full",
        optimum_norm=1.0,
        rank_by=rank_by,
        algorithms=("mb-sgd", "accelerated-mb-sgd", "mu2-sgd", "ppsgd", "gaussian"),
        relation="replace-one",
        unit="record",
        observers=["server", "shuffled-server", "released-models", "final-model", "other-clients"],
    )


@pytest.mark.parametrize("rank_by", ["risk", "noise", "bits", "rounds"])
@pytest.mark.parametrize("dimension", [5, 1000, 10**6])
def test_no_plan_ranks_what_is_no_better_than_the_start(dimension: int, rank_by: Any) -> None:
    found = planned(dimension, rank_by)
    named = {name_of(entry): entry for entry in found.entries}
    ways = {name_of_way(planner, way): way for planner in PLANNERS for way in planner.plans}
    for group in found.groups:
        assert not any(named[name].vacuous for name in group.ranked)
        silent = [named[name].vacuous is True for name in group.unranked]
        assert silent == sorted(silent, reverse=True)
        if rank_by == "risk":
            assert len({named[name].objective for name in (*group.ranked, *group.unranked)}) == 1
    for name, entry in named.items():
        said = any("no better than the start (" in reason.message for reason in entry.why)
        assert said == (entry.vacuous is True)
        if entry.risk is not None:
            assert entry.risk.baseline is not None
            assert entry.vacuous == entry.risk.vacuous == (entry.risk.value >= entry.risk.baseline.value)
            assert entry.risk.objective == entry.objective == ways[name].objective
    applying = [entry for entry in found.entries if entry.applies == "yes"]
    saying = [entry for entry in applying if entry.vacuous is False]
    assert any(entry.vacuous for entry in applying)
    names = {entry.algorithm for entry in saying}
    assert bool(names) == (dimension < 10**6)
    if rank_by == "risk":
        assert all(entry.rank is not None for entry in saying)


def name_of_way(planner: Any, way: Any) -> str:
    return planner.name + (f" ({way.variant})" if way.variant else "")


def test_a_plan_for_many_clients_of_few_records_ranks_nothing_vacuous() -> None:
    """N = 1e6, M = 1e4, n = 50, d = 1e6, ε = 2: every local and central bound here is above L·D = 10."""
    found = epsilond.plan(
        epsilon=2.0,
        delta=1e-8,
        clients=1_000_000,
        participants=10_000,
        samples_per_client=50,
        dimension=1_000_000,
        lipschitz=1.0,
        diameter=10.0,
        smoothness=1.0,
        algorithms=("mb-sgd", "accelerated-mb-sgd", "one-pass-accelerated-mb-sgd", "mu2-sgd"),
        relation="replace-one",
        unit="record",
        observers=["server", "shuffled-server", "released-models", "final-model", "other-clients"],
    )
    for group in found.groups:
        assert group.ranked == ()
    for entry in found.entries:
        if entry.applies == "yes":
            assert entry.rank is None
            assert entry.why[-1].message == "its bound on the risk is no better than the start (L·D = 10)"
    assert sum(entry.applies == "yes" for entry in found.entries) >= 4


@pytest.mark.parametrize("value", [2.0, 1e300, math.inf])
def test_baselines_survive_their_json_form(value: float) -> None:
    whole = Baseline(value=value, theorem="epsilond.excess-risk-of-the-start", formula="L·D")
    assert Baseline.from_json(as_json(whole)) == whole
    assert str(whole).startswith("L·D = ")

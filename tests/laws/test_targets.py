"""Laws of every calibrator that takes a risk as its target, and of ε = 0."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import pytest
from typer.testing import CliRunner

from epsilond.accountants.account import account
from epsilond.accountants.attackers.targets import meets
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import TargetedProblem
from epsilond.accountants.target import Target
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.solution import Solution
from epsilond.commands.line import line
from epsilond.reading import read

POINT_RISKS: dict[str, dict[str, float]] = {
    "advantage": {"advantage": 0.1},
    "small advantage": {"advantage": 1e-3},
    "true positives": {"true_positive_rate": 0.3, "false_positive_rate": 0.1},
    "true positives above one half": {"true_positive_rate": 0.8, "false_positive_rate": 0.6},
    "true positives of low noise": {"true_positive_rate": 0.99, "false_positive_rate": 0.01},
}
CURVE_RISKS: dict[str, dict[str, float]] = {"mu": {"gaussian_dp_mu": 0.7}, "rho": {"rho": 0.1}}
RISKS = POINT_RISKS | CURVE_RISKS
TARGETED = [one for one in CALIBRATORS if "advantage" in {field.name for field in dataclasses.fields(one.problem)}]
SEVERAL = {"shuffled-mb-sgd": 1.5e-2}
"""Relative excess of a noise over its bound's optimum, where that bound is irregular; 2e-3 for all others."""


def takes(calibrator: Calibrator, risk: str) -> bool:
    return set(RISKS[risk]) <= {field.name for field in dataclasses.fields(calibrator.problem)}


def problem_of(calibrator: Calibrator, target: Mapping[str, float]) -> Any:
    fields = {name: value for name, value in calibrator.example.items() if name not in ("epsilon", "delta")}
    return read(calibrator.problem, {**fields, "delta": 1e-5, **target})


@functools.cache
def solved(name: str, risk: str) -> Solution[Any]:
    calibrator = next(one for one in TARGETED if one.name == name)
    return calibrator.certify(problem_of(calibrator, RISKS[risk]))  # type: ignore[no-any-return]


cases = pytest.mark.parametrize(
    ("calibrator", "risk"),
    [pytest.param(one, risk, id=f"{one.name}-{risk}") for one in TARGETED for risk in RISKS if takes(one, risk)],
)


def target_of(calibrator: Calibrator, risk: str) -> Target:
    target: Target = problem_of(calibrator, RISKS[risk]).target
    return target


def weakened(value: Any, factor: float) -> Any:
    """The spec with each noise multiplied by a factor."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {
            field.name: getattr(value, field.name) * factor
            if field.name in ("noise_multiplier", "noise_std")
            else weakened(getattr(value, field.name), factor)
            for field in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **changes)
    return value


def curve_of(calibrator: Calibrator, solution: Solution[Any], factor: float = 1.0) -> Any:
    """The curve by an account of the releases; that of projected-sgd has its noise in a schedule."""
    problem = solution.problem
    (spec,) = calibrator.specs(solution)
    if calibrator.name == "projected-sgd":
        spec = problem.spec(problem.plan(noise_std=solution.noise_std * factor))
    else:
        spec = weakened(spec, factor)
    return account(
        spec, relation=problem.relation, unit=problem.unit, observer=observer_of(calibrator, problem)
    ).guarantee.curve


def observer_of(calibrator: Calibrator, problem: Any) -> Any:
    return "server" if calibrator.name == "mu2-sgd" else problem.observer


@cases
def test_the_answer_meets_its_risk_by_its_own_certificate_and_by_an_account(calibrator: Calibrator, risk: str) -> None:
    solution, target = solved(calibrator.name, risk), target_of(calibrator, risk)
    if (calibrator.name, risk) == ("mu2-sgd", "mu"):  # the requested μ itself, whose square root is rounded up
        assert target.risk is not None
        target = dataclasses.replace(target, risk=dataclasses.replace(target.risk, bound=0.7 * (1 + 1e-12)))
    assert meets(curve_of(calibrator, solution), target)
    held = solution.certified.full_guarantee or solution.certified.guarantee
    assert meets(held.curve, target)


@cases
def test_less_noise_misses_the_risk(calibrator: Calibrator, risk: str) -> None:
    solution, target = solved(calibrator.name, risk), target_of(calibrator, risk)
    excess = SEVERAL.get(calibrator.name, 2e-3)
    assert not meets(curve_of(calibrator, solution, 1.0 - excess), target)


@cases
def test_epsilon_is_certified_at_the_requested_delta(calibrator: Calibrator, risk: str) -> None:
    solution = solved(calibrator.name, risk)
    assert solution.target.risk == target_of(calibrator, risk).risk
    assert solution.target.delta == 1e-5
    assert (solution.problem.epsilon, solution.problem.risk) == (solution.target.epsilon, None) or (
        solution.problem.risk == solution.target.risk  # gaussian and mu2-sgd keep the request
    )
    held = solution.certified.full_guarantee or solution.certified.guarantee
    assert held.curve.upper_log_delta(solution.target.epsilon) <= solution.target.log_delta * (1 - 1e-9)


@pytest.mark.parametrize("calibrator", TARGETED, ids=lambda one: one.name)
def test_an_advantage_is_delta_at_an_epsilon_of_zero(calibrator: Calibrator) -> None:
    at_zero = calibrator.certify(problem_of(calibrator, {"epsilon": 0.0, "delta": 0.1}))
    by_advantage = solved(calibrator.name, "advantage")
    assert by_advantage.certified.noise == pytest.approx(at_zero.certified.noise, rel=2e-3)
    answer = calibrator.solve(problem_of(calibrator, {"epsilon": 0.0, "delta": 0.1}))
    assert answer.guarantee.epsilon.upper == answer.guarantee.target.epsilon == 0.0
    assert answer.guarantee.delta.upper <= 0.1 * (1 + 1e-12)
    assert answer.readings == ()


@pytest.mark.parametrize("calibrator", TARGETED, ids=lambda one: one.name)
@pytest.mark.parametrize("risk", CURVE_RISKS)
def test_a_risk_that_is_not_taken_is_rejected_by_name(calibrator: Calibrator, risk: str) -> None:
    if takes(calibrator, risk):
        assert solved(calibrator.name, risk).certified.noise > 0.0
        return
    with pytest.raises(InvalidInput, match=r"not a target of this algorithm.*advantage"):
        problem_of(calibrator, RISKS[risk])


@pytest.mark.parametrize("calibrator", TARGETED, ids=lambda one: one.name)
def test_one_target_is_given(calibrator: Calibrator) -> None:
    for fields in ({}, {"epsilon": 1.0, "advantage": 0.1}, {"advantage": 0.1, "rho": 0.1}, {"true_positive_rate": 0.5}):
        with pytest.raises(InvalidInput):
            problem_of(calibrator, fields)
    assert calibrator.name == "gaussian" or issubclass(calibrator.problem, TargetedProblem)


def test_all_other_calibrators_say_that_they_take_no_risk() -> None:
    others = [one for one in CALIBRATORS if one not in TARGETED]
    assert {one.name for one in others} == {"qtdl", "norm-fedavg"}
    for calibrator in others:
        with pytest.raises(InvalidInput, match="stated for δ at one ε"):
            read(calibrator.problem, {**calibrator.example, "advantage": 0.1})
        with pytest.raises(InvalidInput, match="/epsilon"):
            read(calibrator.problem, {**calibrator.example, "epsilon": 0.0})


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: one.name)
@pytest.mark.parametrize("risk", RISKS)
def test_the_command_line_says_which_targets_an_algorithm_takes(calibrator: Calibrator, risk: str) -> None:
    options = [text for name, value in RISKS[risk].items() for text in (f"--{name.replace('_', '-')}", str(value))]
    shown = CliRunner().invoke(line, ["calibrate", calibrator.name, *options]).output
    for name in RISKS[risk]:
        rejection = f"--{name.replace('_', '-')} is not a target"
        assert (rejection in shown) == (not takes(calibrator, risk))
    assert ("Give epsilon with delta" in shown) == (not takes(calibrator, risk))


@pytest.mark.parametrize("calibrator", TARGETED, ids=lambda one: one.name)
def test_a_request_without_a_target_names_every_target_that_is_taken(calibrator: Calibrator) -> None:
    fields = {name: value for name, value in calibrator.example.items() if name not in ("epsilon", "delta")}
    with pytest.raises(InvalidInput) as error:
        read(calibrator.problem, {**fields, **({"solve_for": "noise_multiplier"} if "solve_for" in fields else {})})
    (message,) = [fault.message for fault in error.value.faults if fault.pointer == "/epsilon"]
    for risk in ("advantage", "true_positive_rate", "gaussian_dp_mu", "rho"):
        assert (risk in message) == (risk in {field.name for field in dataclasses.fields(calibrator.problem)})

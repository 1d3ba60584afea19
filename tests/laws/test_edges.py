"""Requests at the edges of what is accepted: each once failed, or said more than is known."""

from __future__ import annotations

import math
from typing import Any

import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import Approximate, Gaussian, Laplace, ProjectedSgd, Repeated, Subsampled
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.calibrators.answer import as_json
from epsilond.reading import read


def poisson(rate: float, noise: float) -> Subsampled:
    return Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))


def test_epsilon_beyond_a_billion_is_finite() -> None:
    mu = math.sqrt(1e9) / 0.05
    found = account(Repeated(times=10**9, mechanism=Gaussian(noise_multiplier=0.05)), relation="add-or-remove-one")
    lower, upper = found.guarantee.curve.epsilon(math.log(1e-6))
    assert mu * mu / 2 < lower <= upper < mu * mu / 2 + 6 * mu
    assert upper - lower < 1e-9 * upper
    approximate = Repeated(times=10**9, mechanism=Approximate(epsilon=2.0, delta=0.0))
    bounded = account(approximate, relation="replace-one").guarantee.curve.epsilon(math.log(1e-6))
    assert bounded.upper <= 2e9


@pytest.mark.parametrize(
    ("mechanism", "times"), [(poisson(0.3, 0.05), 10**9), (poisson(0.1, 1e-5), 1000), (poisson(0.1, 1e15), 1000)]
)
def test_where_the_engines_have_no_numbers_there_is_still_a_bound(mechanism: Subsampled, times: int) -> None:
    curve = account(Repeated(times=times, mechanism=mechanism), relation="add-or-remove-one").guarantee.curve
    found = curve.epsilon(math.log(1e-6))
    assert 0.0 <= found.lower <= found.upper < math.inf
    ends = curve.log_delta(1.0)
    assert ends.lower <= ends.upper <= 0.0


def test_a_delta_of_zero_is_said_to_be_none() -> None:
    spec = {
        "kind": "subsampled",
        "sampling": "poisson",
        "rate": 0.01,
        "mechanism": as_json(Laplace(scale_multiplier=1.0)),
    }
    asked: dict[str, Any] = {
        "spec": spec,
        "relation": "add-or-remove-one",
        "query": {"epsilon": 0.5},
        "unit": "record",
        "observer": "server",
    }
    found = as_json(answer(read(AccountProblem, asked)))["guarantee"]
    assert found["log10_delta"] == {"lower": "-unbounded", "upper": "-unbounded"}
    assert found["delta"]["upper"] == 0.0
    at_zero = as_json(answer(read(AccountProblem, asked | {"query": {"epsilon": 0}})))["guarantee"]
    assert 0.0 < at_zero["delta"]["upper"] < 0.01


def test_a_tiny_ball_hides_nothing_of_the_last_step() -> None:
    asked: dict[str, Any] = {"clients": 10, "participants": 1, "lipschitz": 1.0, "release": "last"}
    schedules = {"step_schedule": Constant(value=0.5), "noise_schedule": Constant(value=0.01)}
    for radius in (1e-59, 1e-20, 1.0):
        spec = ProjectedSgd(radius=radius, **asked, **schedules)
        found = account(spec, relation="replace-one", observer="final-model").guarantee.curve.log_delta(1.0)
        assert found.upper >= math.log(0.01)
    with pytest.raises(InvalidInput):
        ProjectedSgd(radius=1e-170, **asked, **schedules)


@pytest.mark.parametrize(
    ("theorem", "inputs"),
    [
        ("lowy.f.1", {"clients": 10, "samples_per_client": 1000, "local_epsilon": 0.001, "local_delta": 0.01}),
        (
            "lowy.f.2.equation-41",
            {"clients": 100_000, "samples_per_client": 5, "local_epsilon": 0.2, "local_delta": 1e-5},
        ),
        ("lowy.f.1.compositional", {"clients": 100_000, "local_epsilon": 0.2, "local_delta": 1e-4, "rounds": 10}),
    ],
)
def test_a_premise_above_one_fails_and_is_said_to(theorem: str, inputs: dict[str, Any]) -> None:
    found = epsilond.evaluate(theorem, **inputs)
    assert any(condition.holds == "no" for condition in found.conditions)
    assert not any(math.isnan(value) for value in found.outputs.values() if isinstance(value, float))


def test_too_large_a_delta_asks_for_no_number_of_clients() -> None:
    asked = {"samples_per_client": 10, "clients": 10_000, "epsilon": 0.1, "round_delta": 1e-4}
    found = epsilond.evaluate("lowy.3.1", **asked, dimension=5, lipschitz=1.0, diameter=1.0)
    enough = next(one for one in found.conditions if one.id == "enough-clients")
    assert enough.holds == "no"
    assert found.outputs["least_clients"] == math.inf


@pytest.mark.parametrize(("server", "observer"), [("trusted", "final-model"), ("untrusted", "final-model")])
def test_who_sees_less_is_promised_no_lower_end(server: str, observer: str) -> None:
    asked = {"epsilon": 2.0, "delta": 1e-5, "clients": 100, "participants": 10, "rounds": 200, "dimension": 20}
    found = epsilond.calibrate(
        "mu2-sgd",
        **asked,
        lipschitz=1.0,
        smoothness=0.5,
        diameter=2.0,
        server=server,
        relation="replace-one",
        unit="record",
        observer=observer,
    )
    assert found.guarantee.epsilon.lower == 0.0
    assert found.guarantee.tight == "unknown"
    assert "observer-sees-less" in {warning.code for warning in found.warnings}

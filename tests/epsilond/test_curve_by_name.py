"""A curve is asked by name: no number can be taken for another one, and a domain is checked before it is used."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import epsilond

RUN = epsilond.Repeated(
    times=1000,
    mechanism=epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0)),
)
CURVE = epsilond.account(RUN, relation="add-or-remove-one", unit="record", observer="server").guarantee.curve
NOISE = {
    "solve_for": "epsilon",
    "relation": "add-or-remove-one",
    "sampling": "full",
    "rounds": 1,
    "unit": "record",
    "observer": "server",
}
CALIBRATED = epsilond.calibrate("gaussian", **NOISE, noise_multiplier=1.0, delta=1e-5)


def test_delta_and_its_logarithm_are_one_question() -> None:
    by_delta, by_logarithm = CURVE.epsilon(delta=1e-5), CURVE.epsilon(log10_delta=-5)
    assert by_delta.lower == pytest.approx(1.8282, abs=1e-4)
    assert by_delta.lower <= by_delta.upper <= by_delta.lower * (1 + 1e-6)
    assert by_logarithm == pytest.approx(by_delta, rel=1e-12)


@pytest.mark.parametrize("curve", [CURVE, CALIBRATED.guarantee.curve], ids=["account", "calibrate"])
@pytest.mark.parametrize("name", ["epsilon", "delta", "log10_delta"])
@pytest.mark.parametrize("value", [1e-5, -5, math.log(1e-5), 1.0])
def test_a_positional_number_is_refused(curve: epsilond.PrivacyCurve, name: str, value: float) -> None:
    with pytest.raises(TypeError):
        getattr(curve, name)(value)


@pytest.mark.parametrize(
    ("method", "asked", "field"),
    [
        ("epsilon", {"log10_delta": 5}, "/log10_delta"),
        ("epsilon", {"log10_delta": 0}, "/log10_delta"),
        ("epsilon", {"log10_delta": math.nan}, "/log10_delta"),
        ("epsilon", {"delta": 0.0}, "/delta"),
        ("epsilon", {"delta": 1.0}, "/delta"),
        ("epsilon", {"delta": -5}, "/delta"),
        ("epsilon", {"delta": math.nan}, "/delta"),
        ("epsilon", {"delta": True}, "/delta"),
        ("epsilon", {"delta": "1e-5"}, "/delta"),
        ("epsilon", {}, "/delta"),
        ("epsilon", {"delta": 1e-5, "log10_delta": -5}, "/delta"),
        ("delta", {"epsilon": -1.0}, "/epsilon"),
        ("delta", {"epsilon": math.inf}, "/epsilon"),
        ("log10_delta", {"epsilon": -1e-9}, "/epsilon"),
    ],
)
def test_what_is_outside_its_domain_is_refused_by_name(method: str, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(epsilond.InvalidInput) as caught:
        getattr(CURVE, method)(**asked)
    assert [fault.pointer for fault in caught.value.faults] == [field]


def test_ends_come_back_as_intervals_that_agree_with_one_another() -> None:
    at = CURVE.epsilon(delta=1e-5).upper
    delta, logarithm = CURVE.delta(epsilon=at), CURVE.log10_delta(epsilon=at)
    assert all(type(ends) is epsilond.Interval for ends in (delta, logarithm, CURVE.epsilon(delta=1e-5)))
    assert delta.lower <= 1e-5
    assert delta.upper == pytest.approx(1e-5, rel=1e-6)
    assert logarithm == pytest.approx((math.log10(delta.lower), math.log10(delta.upper)), rel=1e-9)


def test_a_delta_below_every_double_keeps_its_digits() -> None:
    found = CURVE.epsilon(log10_delta=-1000)
    assert 0 < found.lower <= found.upper < math.inf
    there = CURVE.log10_delta(epsilon=found.upper)
    assert there.upper == pytest.approx(-1000, rel=1e-6)
    assert CURVE.delta(epsilon=found.upper) == (0.0, math.nextafter(0.0, 1.0))


def test_what_has_no_finite_epsilon_is_infinite() -> None:
    broken = epsilond.account(
        epsilond.Approximate(epsilon=1.0, delta=0.1), relation="replace-one", unit="record", observer="server"
    ).guarantee.curve
    assert broken.epsilon(delta=0.01).upper == math.inf


def test_numbers_of_numpy_are_numbers() -> None:
    assert CURVE.epsilon(delta=np.float64(1e-5)) == CURVE.epsilon(delta=1e-5)
    assert CURVE.delta(epsilon=np.float32(1.0)) == CURVE.delta(epsilon=1)
    assert CURVE.epsilon(log10_delta=np.int64(-5)) == CURVE.epsilon(log10_delta=-5)


def test_a_calibration_remembers_its_curve_and_goes_to_other_processes_without_it() -> None:
    curve = CALIBRATED.guarantee.curve
    assert curve is not None
    assert curve.epsilon(delta=1e-5).upper == pytest.approx(CALIBRATED.parameters.epsilon, rel=1e-9)
    assert pickle.loads(pickle.dumps(CALIBRATED)).guarantee.curve is None


def test_an_array_is_not_one_number() -> None:
    curve = epsilond.account(
        epsilond.Gaussian(noise_multiplier=1.0), relation="replace-one", unit="record", observer="server"
    ).guarantee.curve
    for array in (np.array([1e-5]), np.array([1e-5, 1e-6])):
        with pytest.raises(epsilond.InvalidInput, match="/delta: is one number"):
            curve.epsilon(delta=array)
    assert curve.epsilon(delta=np.float64(1e-5)) == curve.epsilon(delta=1e-5)

"""Profiles from trade-off functions, against the exact curves of the mechanisms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput


def test_the_trade_off_of_an_approximate_guarantee_gives_it_back() -> None:
    """f(α) = max(0, 1 − δ − e^ε α, e^−ε (1 − δ − α)), with corners at (1 − δ)/(1 + e^ε) and 1 − δ."""
    epsilon, delta = 1.0, 0.01
    corner = (1.0 - delta) / (1.0 + math.exp(epsilon))
    spec = epsilond.profile_from_trade_off(
        false_positive_rates=[0.0, corner, 1.0 - delta, 1.0], false_negative_rates=[1.0 - delta, corner, 0.0, 0.0]
    )
    box = epsilond.Approximate(epsilon=epsilon, delta=delta)
    for at in (0.0, 0.5, 1.0, 3.0):
        ours, theirs = (
            account(one, relation="add-or-remove-one").guarantee.curve.log_delta(at).upper for one in (spec, box)
        )
        assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_points_of_a_gaussian_are_nearly_its_curve(symmetric: bool) -> None:
    places = np.linspace(-7.0, 7.0, 801)
    alphas = np.concatenate([[0.0], norm.cdf(places), [1.0]])
    betas = np.concatenate([[1.0], norm.cdf(-places - 1.0), [0.0]])
    spec = epsilond.profile_from_trade_off(
        false_positive_rates=alphas.tolist(), false_negative_rates=betas.tolist(), symmetric=symmetric
    )
    exact = account(epsilond.Gaussian(noise_multiplier=1.0), relation="add-or-remove-one").guarantee.curve
    curve = account(spec, relation="add-or-remove-one").guarantee.curve
    for at in (0.0, 0.7, 2.0, 4.0):
        truth = exact.log_delta(at).upper
        assert abs(curve.log_delta(at).upper - truth) < 1e-3 * (1.0 + abs(truth))


def test_directions_are_not_confused() -> None:
    """With the unit an output may occur that never occurs without it: loss ∞ ahead, and none behind."""
    spec = epsilond.profile_from_trade_off(false_positive_rates=[0.0, 1.0], false_negative_rates=[0.9, 0.0])
    assert dict(spec.points)[0.0] == pytest.approx(-1.0)
    assert spec.reverse is not None
    guarantee = account(spec, relation="add-or-remove-one").guarantee.curve.upper
    assert math.exp(guarantee.forward.log_delta_bounds(5.0).upper) == pytest.approx(0.1)
    assert math.exp(guarantee.backward.log_delta_bounds(0.2).upper) == pytest.approx(0.0, abs=1e-12)
    assert math.exp(guarantee.backward.log_delta_bounds(0.05).upper) == pytest.approx(1.0 - 0.9 * math.exp(0.05))


@pytest.mark.parametrize(
    ("alphas", "betas"),
    [([0.0, 1.0], [1.0]), ([0.0, 0.5], [1.0, 0.0]), ([0.0, 1.0], [0.5, 0.6]), ([0.0, math.nan, 1.0], [1.0, 0.5, 0.0])],
)
def test_lists_that_are_no_trade_off_are_rejected(alphas: Any, betas: Any) -> None:
    with pytest.raises(InvalidInput):
        epsilond.profile_from_trade_off(false_positive_rates=alphas, false_negative_rates=betas)

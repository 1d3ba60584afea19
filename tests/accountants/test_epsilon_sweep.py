"""Test ε(δ) from evaluations at many ε at once against closed inverses and the search at single values."""

from __future__ import annotations

import math

import mpmath as mp
import pytest

from epsilond.accountants.curve.bracketed_search import bracketed_epsilon
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.geometric import geometric_pair
from epsilond.accountants.profiles.laplace import laplace_pair, opposite_laplace_pair

LOG_DELTAS = (-1e-3, -0.2, -1.0, -14.0, -200.0, -5000.0)
PAIRS = {
    "laplace": laplace_pair(0.7),
    "laplace, wide": laplace_pair(300.0),
    "opposite laplace": opposite_laplace_pair(0.01, 2.0),
    "discrete laplace": geometric_pair(0.1, 7),
    "truncated": geometric_pair(0.05, 3, 400),
}


@pytest.mark.parametrize("shift", [1e-6, 0.7, 40.0, 1e5])
@pytest.mark.parametrize("log_delta", LOG_DELTAS)
def test_laplace_is_inverted_in_closed_form(shift: float, log_delta: float) -> None:
    """δ(ε) = 1 − e^{(ε − s)/2}, so that ε(δ) = s + 2 log(1 − δ)."""
    with mp.workdps(60):
        truth = max(shift + 2 * mp.log1p(-mp.exp(log_delta)), mp.mpf(0))
    found = laplace_pair(shift).epsilon(log_delta)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 1e-10 * found.upper


@pytest.mark.parametrize("log_delta", LOG_DELTAS)
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_both_searches_agree(pair: Pair, log_delta: float) -> None:
    assert pair.forward.root_search == "sweep"
    swept, one_by_one = pair.epsilon(log_delta), bracketed_epsilon(pair.log_delta_bounds, log_delta)
    assert swept.lower <= one_by_one.upper
    assert one_by_one.lower <= swept.upper
    if math.isfinite(swept.upper):
        assert swept.upper - swept.lower <= max(one_by_one.upper - one_by_one.lower, 1e-10 * swept.upper)
        assert swept.upper == 0.0 or pair.log_delta_bounds(swept.upper).upper <= log_delta
    assert swept.lower == 0.0 or pair.log_delta_bounds(swept.lower).lower > log_delta


def test_a_delta_that_is_never_attained() -> None:
    pair = geometric_pair(0.05, 3, 400)
    assert pair.epsilon(pair.forward.log_infinite_mass - 1.0) == Interval(LARGEST_EPSILON, math.inf)

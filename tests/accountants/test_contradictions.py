"""Bounds that exclude each other are refused, and rounding is not."""

from __future__ import annotations

import math
import pickle

import pytest

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import ROUNDED_BOUNDS, Interval
from epsilond.accountants.errors import ContradictoryBounds, EpsilondError
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.target import Target

LOG_DELTA = math.log(1e-6)


def test_a_witness_above_the_upper_bound_is_no_answer() -> None:
    curve = Curve(gaussian_pair(0.5), (gaussian_pair(0.6),))
    with pytest.raises(ContradictoryBounds, match="ε at the requested δ") as refused:
        curve.epsilon(LOG_DELTA)
    assert refused.value.lower == gaussian_pair(0.6).lower_epsilon(LOG_DELTA)
    assert refused.value.upper == gaussian_pair(0.5).upper_epsilon(LOG_DELTA)
    assert str(refused.value.lower) in str(refused.value)
    assert str(refused.value.upper) in str(refused.value)
    with pytest.raises(ContradictoryBounds):
        curve.epsilon_of_target(Target(1.0, LOG_DELTA, 1e-6))


def test_it_is_a_fault_of_the_library_and_no_rejection() -> None:
    fault = ContradictoryBounds("ε", 2.0, 1.0)
    assert not isinstance(fault, EpsilondError)
    copy = pickle.loads(pickle.dumps(fault))
    assert (copy.name, copy.lower, copy.upper) == ("ε", 2.0, 1.0)


@pytest.mark.parametrize("upper", [1e-3, 1.0, 1e6])
def test_rounding_is_no_contradiction(upper: float) -> None:
    room = ROUNDED_BOUNDS * (1.0 + upper)
    assert Interval.of(upper + 0.5 * room, upper, name="ε") == Interval(upper, upper)
    assert Interval.of(0.5 * upper, upper, name="ε") == Interval(0.5 * upper, upper)
    assert Interval.of(math.inf, math.inf, name="ε") == Interval(math.inf, math.inf)
    with pytest.raises(ContradictoryBounds):
        Interval.of(upper + 3.0 * room, upper, name="ε")
    with pytest.raises(ContradictoryBounds):
        Interval.of(math.inf, upper, name="ε")


@pytest.mark.parametrize("shift", [1e-9, 0.3, 1e4])
def test_two_pairs_of_one_mechanism_agree(shift: float) -> None:
    """The same pair twice, searched apart."""
    for log_delta in (-1e-3, -1.0, -30.0, -600.0):
        lower, upper = Curve(laplace_pair(shift), (laplace_pair(shift),)).epsilon(log_delta)
        assert 0.0 <= lower <= upper
        assert upper - lower <= 1e-9 * (1.0 + upper)

"""Searches for a root end at a bracket of it, wherever it is, and without more evaluations than stated."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilond.accountants.numerics.root_evaluations import RootEvaluations
from epsilond.accountants.numerics.root_search import (
    bisect_integers,
    bisect_reals,
    brent_root,
    false_position,
    least_integer,
)

ROOTS = st.floats(-5.0, 5.0)


@given(root=ROOTS, width=st.floats(1e-12, 1.0))
def test_a_bisection_ends_on_both_sides(root: float, width: float) -> None:
    low, high = bisect_reals(lambda x: x < root, -6.0, 6.0, width=width)
    assert low < root <= high
    assert high - low <= width


@given(root=ROOTS)
def test_a_bisection_without_a_width_ends_at_neighbouring_doubles(root: float) -> None:
    low, high = bisect_reals(lambda x: x < root, -6.0, 6.0, steps=2000)
    assert low < root <= high == math.nextafter(low, math.inf)


@given(last=st.integers(0, 10**40))
def test_integers_of_any_size_are_exact(last: int) -> None:
    assert bisect_integers(lambda count: count <= last, 0, 10**40 + 1) == last
    assert least_integer(lambda count: float(last + 1 - count) - 0.5, -1, 10**40 + 1, at_low=math.inf) == last + 1


@given(root=ROOTS, steepness=st.floats(1e-6, 1e6), power=st.sampled_from([1, 3, 9]))
def test_false_position_ends_on_both_sides_of_a_curved_root(root: float, steepness: float, power: int) -> None:
    evaluated = []

    def excess(x: float) -> float:
        evaluated.append(x)
        return steepness * (root - x) ** power

    low, high = false_position(excess, -6.0, 6.0, width=1e-6)
    assert excess(low) > 0.0 >= excess(high)
    assert high - low <= 1e-6
    assert {low, high} <= {-6.0, 6.0, *evaluated}
    assert len(evaluated) <= 150


def test_false_position_passes_infinite_values() -> None:
    low, high = false_position(lambda x: math.inf if x < 2.0 else -math.inf, 0.0, 3.0, width=1e-9)
    assert low < 2.0 <= high <= low + 1e-9


@pytest.mark.parametrize("root", [1e-9, 0.3, 7.0])
def test_the_root_of_brent_is_within_the_tolerance(root: float) -> None:
    assert brent_root(lambda x: math.log(root / x), 1e-12, 10.0, absolute=1e-15) == pytest.approx(root, rel=1e-12)


def test_values_that_jump_are_told_from_those_that_fall() -> None:
    """A bracket is the closest around the least place that meets the target, also if the values between jump."""
    tried = RootEvaluations()
    for place, value in ((1.0, 2.0), (3.0, -1.0), (2.0, 0.5)):
        tried.add(place, value)
    assert not tried.jumps
    assert tried.bracket == (2.0, 3.0)
    assert tried.nearest == 2.0
    tried.add(1.5, -0.2)
    assert tried.jumps
    assert tried.bracket == (1.0, 1.5)


def test_values_on_one_side_are_no_bracket() -> None:
    tried = RootEvaluations()
    tried.add(1.0, -2.0)
    tried.add(2.0, -3.0)
    assert tried.bracket is None

"""The search for the least number of noise levels: exact wherever it starts, in few trials."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.calibrators.qtdl.search import _least_integer_near


@settings(max_examples=200)
@given(
    least=st.integers(1, 10**9),
    share=st.floats(0.01, 3.0),
    rate=st.floats(1e-9, 10.0),
    first=st.integers(0, 10**6),
    floor=st.floats(-1e-3, -1e-12),
)
def test_the_least_level_is_found_wherever_it_starts(
    least: int, share: float, rate: float, first: int, floor: float
) -> None:
    """log δ falls with the level, ever less, and is never far below the target."""
    asked: list[int] = []

    def excess(levels: int) -> float:
        asked.append(levels)
        return max(rate * (least - 0.5 - levels), floor)

    start = max(int(share * least), 1)
    found = _least_integer_near(excess, start, 10**30, first)
    if least - start > 2 * max(start, 1024):
        assert found is None or found == least
    else:
        assert found == least
    assert len(asked) <= 130


def test_a_far_start_takes_few_trials() -> None:
    asked = []

    def excess(levels: int) -> float:
        asked.append(levels)
        return 1e-8 * (1_234_567_891 - levels)

    assert _least_integer_near(excess, 1_200_000_000, 10**30, 1) == 1_234_567_891
    assert len(set(asked)) <= 30


@pytest.mark.parametrize("jump", [math.inf, 700.0])
def test_values_may_jump(jump: float) -> None:
    assert _least_integer_near(lambda levels: jump if levels < 5000 else -math.inf, 3000, 10**30, 7) == 5000


def test_nothing_far_above_is_sought() -> None:
    assert _least_integer_near(lambda _: 1.0, 10, 10**30, 1) is None
    assert _least_integer_near(lambda _: 1.0, 10, 5, 1) is None

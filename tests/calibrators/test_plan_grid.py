"""The grid that searches go through: ascending, exact, of steps that are at most 1e-3."""

from __future__ import annotations

import pytest

from epsilond.calibrators.planning.value_grid import ValueGrid

COUNTS, MILLIONTHS = ValueGrid(least=1, most=10**6), ValueGrid(least=1000, most=10**6, micro=True)


@pytest.mark.parametrize("grid", [COUNTS, MILLIONTHS], ids=["counts", "millionths"])
def test_places_and_values_are_one_to_one(grid: ValueGrid) -> None:
    places = [*range(grid.least, 40_000), *range(80_000, 80_100)]
    values = [grid.value(place) for place in places]
    assert values == sorted(set(values))
    assert [grid.index_of(value) for value in values] == places


def test_counts_are_every_whole_number_and_then_steps_of_a_thousandth() -> None:
    assert [COUNTS.value(place) for place in range(1, 10_001)] == list(range(1, 10_001))
    for place in range(10_000, 60_000, 7):
        low, high = COUNTS.value(place), COUNTS.value(place + 1)
        assert isinstance(low, int)
        assert low < high
        assert 1000 * (high - low) <= low


def test_a_place_is_of_the_least_value_at_or_above() -> None:
    for value in (1, 9_999, 10_001, 99_999, 123_456, 10**9 - 1):
        place = COUNTS.index_of(value)
        assert COUNTS.value(place - 1) < value <= COUNTS.value(place) or value == 1
    assert MILLIONTHS.value(MILLIONTHS.index_of(0.12345)) == 0.1235


def test_places_stay_within_the_grid() -> None:
    small = ValueGrid(least=5, most=50)
    assert [small.index_of(value) for value in (1, 7, 10**9)] == [5, 7, 50]

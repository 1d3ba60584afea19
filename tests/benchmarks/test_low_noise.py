"""The questions of the benchmark of accounts with little noise."""

from __future__ import annotations

import math

import pytest

from benchmarks import low_noise


def test_a_pair_of_error_rates_has_the_epsilon_of_its_delta() -> None:
    # At δ = 1 − FPR − FNR any ε will do; at δ = 0 the best test of randomised response has these rates.
    assert low_noise.epsilon_for(0.65, 0.1, 0.25) == pytest.approx(0.0, abs=1e-12)
    epsilon = 1.3
    rate = 1.0 / (1.0 + math.exp(epsilon))
    assert low_noise.epsilon_for(0.0, rate, rate) == pytest.approx(epsilon)


def test_without_tables_another_engine_gives_an_overlapping_interval() -> None:
    with_tables = low_noise.curve_of(0.1).epsilon(delta=0.3)
    with low_noise.without_tables():
        without = low_noise.curve_of(0.1).epsilon(delta=0.3)
    assert without != with_tables
    assert max(without.lower, with_tables.lower) <= min(without.upper, with_tables.upper)
    assert with_tables.upper - with_tables.lower < without.upper - without.lower

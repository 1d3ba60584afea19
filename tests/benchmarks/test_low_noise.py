"""The questions of the benchmark of accounts with little noise."""

from __future__ import annotations

from benchmarks import low_noise


def test_without_tables_another_engine_gives_an_overlapping_interval() -> None:
    with_tables = low_noise.curve_of(0.1).epsilon(delta=0.3)
    with low_noise.without_tables():
        without = low_noise.curve_of(0.1).epsilon(delta=0.3)
    assert without != with_tables
    assert max(without.lower, with_tables.lower) <= min(without.upper, with_tables.upper)
    assert with_tables.upper - with_tables.lower < without.upper - without.lower


def test_a_whole_account_overlaps_that_of_the_other_engines() -> None:
    with_tables = low_noise.account_of(0.15, delta=1e-5).meaning
    with low_noise.without_tables():
        without = low_noise.account_of(0.15, delta=1e-5).meaning
    assert without != with_tables
    for ours, theirs in zip(with_tables.true_positive_rates, without.true_positive_rates, strict=True):
        assert ours.true_positive_rate.lower <= theirs.true_positive_rate.upper
        assert theirs.true_positive_rate.lower <= ours.true_positive_rate.upper

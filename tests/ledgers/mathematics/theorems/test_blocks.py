"""Blocks whose members come late, and balances of single records: exact finite examples."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from epsilond.accountants.theorem import Status
from epsilond.ledgers.mathematics.theorems.blocks import INDIVIDUAL_BUDGETS, OPEN_BLOCKS
from tests.oracles.finite import hockey_stick


def late_record(blocks: int, delta: Fraction, bit: int) -> dict[Any, Fraction]:
    """Each running mechanism raises its flag with probability δ and then tells all that arrives; else it tells nothing.

    Whoever sees the flags has the record join a block whose flag is up, if there is one.
    """
    law: dict[Any, Fraction] = {}
    for flags in product((True, False), repeat=blocks):
        chance = Fraction(1)
        for flag in flags:
            chance *= delta if flag else 1 - delta
        told = bit if any(flags) else None
        law[(flags, told)] = law.get((flags, told), Fraction(0)) + chance
    return law


@pytest.mark.erratum("L-7")
@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(3), Fraction(10**6)])
def test_a_record_that_joins_where_the_flag_is_up_is_told(blocks: int, gamma: Fraction) -> None:
    delta = Fraction(1, 1000)
    told = hockey_stick(late_record(blocks, delta, 0), late_record(blocks, delta, 1), gamma)
    assert told == 1 - (1 - delta) ** blocks
    assert OPEN_BLOCKS.status is Status.REFUTED


def test_a_record_whose_block_was_fixed_has_what_its_block_has() -> None:
    delta, gamma = Fraction(1, 1000), Fraction(3)
    for own in range(4):
        laws = []
        for bit in (0, 1):
            law: dict[Any, Fraction] = {}
            for flags in product((True, False), repeat=4):
                chance = Fraction(1)
                for flag in flags:
                    chance *= delta if flag else 1 - delta
                key = (flags, bit if flags[own] else None)
                law[key] = law.get(key, Fraction(0)) + chance
            laws.append(law)
        assert hockey_stick(laws[0], laws[1], gamma) == delta


def shown(value: int, *, balance: bool) -> dict[Any, Fraction]:
    """A sum of one value in {0, 1} with noise on {−2, …, 2}, and the person's balance: 1, less what the value cost."""
    noise = {-2: 1, -1: 2, 0: 4, 1: 2, 2: 1}
    left = Fraction(1) - Fraction(value) ** 2 / 2
    return {(value + y, left if balance else None): Fraction(weight, 10) for y, weight in noise.items()}


@pytest.mark.erratum("L-3")
def test_balances_of_single_records_tell_the_records() -> None:
    for gamma in (Fraction(1), Fraction(20), Fraction(10**9)):
        assert hockey_stick(shown(1, balance=True), shown(0, balance=True), gamma) == 1
    # The same sums without the balances: the losses are at most log 2, but for the values that one of them cannot have.
    assert hockey_stick(shown(1, balance=False), shown(0, balance=False), Fraction(2)) == Fraction(1, 10)
    assert INDIVIDUAL_BUDGETS.status is Status.REFUTED

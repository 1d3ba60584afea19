"""Amounts round outward and are read as they are written."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.mathematics import amounts


@given(st.floats(min_value=0.0, max_value=1e17))
def test_a_float_is_between_its_amounts(value: float) -> None:
    low, high = amounts.down(value), amounts.up(value)
    assert Fraction(low) <= Fraction(value) <= Fraction(high)
    assert high - low <= amounts.QUANTUM


@given(st.decimals(min_value=0, max_value=Decimal("1e17"), places=18))
def test_a_root_is_on_its_side(amount: Decimal) -> None:
    assert Fraction(amounts.root_below(amount)) ** 2 <= Fraction(amount)
    assert Fraction(amounts.root_above(amount)) ** 2 >= Fraction(amount)
    assert amounts.float_below(amount) <= amount <= amounts.float_above(amount)


@pytest.mark.parametrize(("told", "amount"), [(0.1, "0.1"), ("0.1", "0.1"), (8, "8"), ("2.6e-7", "0.00000026")])
def test_amounts_are_read_as_people_write_them(told: float | str, amount: str) -> None:
    assert amounts.format_amount(amounts.exact(told, "/x")) == amount


@pytest.mark.parametrize("told", ["-1", "nan", "inf", "1e-19", "1e18", "one", -0.5])
def test_what_is_no_amount_is_refused(told: float | str) -> None:
    with pytest.raises(InvalidInput) as caught:
        amounts.exact(told, "/slots/0/capacity/rho")
    assert caught.value.faults[0].pointer == "/slots/0/capacity/rho"

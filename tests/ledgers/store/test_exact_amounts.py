"""Test that amounts are stored without rounding and compared as numbers."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, insert, select

from epsilond.ledgers.mathematics.amounts import EXACT
from epsilond.ledgers.store.exact import ExactDecimal, format_exact

TABLES = MetaData()
AMOUNTS = Table("amounts", TABLES, Column("id", Integer, primary_key=True), Column("amount", ExactDecimal))
QUANTUM = Decimal("1e-18")
VALUES = [
    Decimal(0),
    QUANTUM,
    Decimal("9.2"),
    Decimal(10),
    Decimal("10.000000000000000001"),
    Decimal("0.1"),
    Decimal(10) ** 17,
    Decimal("100000000000000000.000000000000000001"),
    Decimal("999999999999999999.999999999999999999"),
    Decimal("123456789012345678.901234567890123456"),
]
BAD = ["-1e-18", "-0", "1e-19", "0.1234567890123456789", "1e18", "NaN", "Infinity", "-Infinity", "sNaN"]


@pytest.fixture
def kept(database):
    with database.writing() as connection:
        TABLES.create_all(connection)
        connection.execute(insert(AMOUNTS), [{"amount": each} for each in VALUES])
    return database


def test_what_is_read_is_what_was_written(kept):
    with kept.reading() as connection:
        found = list(connection.execute(select(AMOUNTS.c.amount).order_by(AMOUNTS.c.id)).scalars())
    assert found == VALUES
    assert all(each.as_tuple().exponent == -18 for each in found)


def test_the_database_compares_them_as_numbers(kept):
    with kept.reading() as connection:
        for bound in VALUES:
            below = connection.execute(select(AMOUNTS.c.amount).where(AMOUNTS.c.amount < bound)).scalars()
            assert set(below) == {each for each in VALUES if each < bound}
            same = connection.execute(select(AMOUNTS.c.amount).where(AMOUNTS.c.amount == bound)).scalars()
            assert list(same) == [bound]
        assert list(connection.execute(select(AMOUNTS.c.amount).order_by(AMOUNTS.c.amount)).scalars()) == sorted(VALUES)


def test_text_is_ordered_as_the_numbers_are():
    chosen = random.Random(7)
    many = VALUES + [EXACT.scaleb(Decimal(chosen.randrange(10 ** chosen.randrange(1, 37))), -18) for _ in range(2000)]
    assert [Decimal(text) for text in sorted(map(format_exact, many))] == sorted(many)
    assert {len(format_exact(each)) for each in many} == {37}


@pytest.mark.parametrize("value", BAD)
def test_what_is_no_amount_is_refused_and_not_rounded(value):
    with pytest.raises(ValueError, match="an amount"):
        format_exact(Decimal(value))


def test_the_column_refuses_it_too(kept):
    for value in BAD[:3]:
        with pytest.raises(ValueError, match="an amount"), kept.writing() as connection:
            connection.execute(insert(AMOUNTS).values(amount=Decimal(value)))

"""A row that something other than a move has changed is noticed: at the next move, and by the check of all ledgers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from sqlalchemy import text

from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.mathematics.balance import BALANCE
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.exact import format_exact
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import TENANT, Clock, book, key, opening, query, runs

CHANGES = {
    "a slot's use": f"UPDATE ledger_slots SET used = '{format_exact(Decimal(0))}' WHERE part = 'mu_squared'",
    "a slot's capacity": f"UPDATE ledger_slots SET capacity = '{format_exact(Decimal(1))}' WHERE part = 'mu_squared'",
    "committed runs of the plan": "UPDATE ledger_items SET committed = 0, credit = 0",
    "planned runs": "UPDATE ledger_items SET planned = planned + 1000",
    "the mechanism of the plan": """UPDATE ledger_items SET spec = '{"kind":"gaussian","noise_multiplier":9.0}'""",
    "the charge of a reservation": "UPDATE ledger_holdings SET charge ="
    " replace(charge, '0.01', '0.00') WHERE charge IS NOT NULL",
    "the runs of a reservation": "UPDATE ledger_holdings SET count = count + 5",
    "the seal": "UPDATE ledgers SET sealed = NOT sealed",
    "a closed ledger": "UPDATE ledgers SET status = 'closed'",
}
"""Statements of somebody who may write to the database, each by what it changes."""


def change_behind(database: Database, statement: str) -> None:
    """Change rows as the owner of the database can, whom no trigger holds."""
    with database.writing() as connection:
        if database.shared:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        else:
            names = connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars().all()
            for name in names:
                connection.execute(text(f"DROP TRIGGER {name}"))
        assert connection.exec_driver_sql(statement).rowcount >= 1


@pytest.fixture
def kept(database: Database) -> Book:
    return book(database, clock=Clock())


def spent(kept: Book, name: str = "people") -> tuple[str, str, str]:
    """A ledger with commits of its slot and of its plan, and a reservation in each with runs left."""
    ledger = kept.open(TENANT, opening(dataset=name), key()).id
    slot = kept.reserve(TENANT, [ledger], query(count=2), key()).id
    plan = kept.reserve(TENANT, [ledger], runs(item="train", count=10), key()).id
    for each in (slot, plan):
        kept.commit(TENANT, each, CommitAsked(count=1), key())
    return ledger, slot, plan


@pytest.mark.parametrize("changed", CHANGES)
def test_a_changed_row_is_refused_at_the_next_move(kept: Book, database: Database, changed: str) -> None:
    ledger, slot, plan = spent(kept)
    assert kept.unbalanced_ledgers() == []
    change_behind(database, CHANGES[changed])
    for held in (slot, plan):
        with pytest.raises(NotReconciled, match=ledger):
            kept.commit(TENANT, held, CommitAsked(count=1), key())
    (sentence,) = kept.unbalanced_ledgers()
    assert ledger in sentence


def test_a_changed_entry_is_refused(kept: Book, database: Database) -> None:
    ledger, slot, _ = spent(kept)
    newest = kept.entries(TENANT, ledger, order="newest", limit=1)[0]
    forged = "X'7b7d'" if not database.shared else "'\\x7b7d'::bytea"
    change_behind(database, f"UPDATE ledger_entries SET leaf = {forged} WHERE seq = {newest['seq']}")
    with pytest.raises(NotReconciled, match="not the one that is in the log's tree"):
        kept.commit(TENANT, slot, CommitAsked(count=1), key())


def test_other_ledgers_go_on(kept: Book, database: Database) -> None:
    ledger, _, _ = spent(kept)
    _, good, _ = spent(kept, "others")
    change_behind(database, f"UPDATE ledgers SET sealed = NOT sealed WHERE id = '{ledger}'")
    assert kept.commit(TENANT, good, CommitAsked(count=1), key())["receipts"]


def test_a_ledger_of_an_earlier_version_is_played_again(kept: Book, database: Database) -> None:
    """Entries without a balance are those of earlier versions: nothing is refused, and the check of all replays them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epsilond.ledgers.book.logged.entries.BALANCE", "unknown")
        ledger, slot, _ = spent(kept)
    assert BALANCE not in kept.entries(TENANT, ledger)[-1]
    assert kept.unbalanced_ledgers() == []
    change_behind(database, CHANGES["planned runs"])
    (sentence,) = kept.unbalanced_ledgers()
    assert ledger in sentence
    change_behind(database, "UPDATE ledger_items SET planned = planned - 1000")
    kept.commit(TENANT, slot, CommitAsked(count=1), key())
    assert BALANCE in kept.entries(TENANT, ledger)[-1]

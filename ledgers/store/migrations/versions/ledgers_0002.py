"""Ledgers of which an observation contradicts a run: nothing more is committed to them."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ONE_WAY: Final = (
    "NEW.version <> OLD.version + 1 OR (OLD.status = 'closed' AND NEW.status <> 'closed')"
    " OR (OLD.sealed AND NOT NEW.sealed) OR (OLD.conditional AND NOT NEW.conditional)"
    " OR (OLD.contradicted AND NOT NEW.contradicted)"
)
"""Changes of a ledger that no move makes."""
CONTRADICTED: Final = "EXISTS (SELECT 1 FROM ledgers WHERE id = NEW.ledger AND contradicted)"
REFUSAL: Final = "no move commits to a contradicted ledger"


def upgrade() -> None:
    """Add the column, and let triggers refuse commits, also those of a service of an earlier version."""
    op.add_column("ledgers", sa.Column("contradicted", sa.Boolean, nullable=False, server_default=sa.false()))
    if op.get_bind().dialect.name == "postgresql":
        _guard_postgresql()
    else:
        _guard_sqlite()


def _guard_postgresql() -> None:
    """Replace the trigger of changes of a ledger, and add one that rejects commits to contradicted ledgers.

    A ledger is contradicted if a run was observed to differ from the mechanism that was paid for. PostgreSQL needs a
    function for the second trigger, because the condition of a trigger must not contain queries.
    """
    op.execute("DROP TRIGGER ledgers_one_way ON ledgers")
    op.execute(
        f"CREATE TRIGGER ledgers_one_way BEFORE UPDATE ON ledgers FOR EACH ROW WHEN ({ONE_WAY})"
        " EXECUTE FUNCTION ledger_refuse('no move changes ledgers like this')"
    )
    # The function has the query, and the trigger calls it for each commit.
    op.execute(
        "CREATE FUNCTION ledger_refuse_contradicted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF {CONTRADICTED} THEN"
        f" RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END IF;"
        " RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER ledger_holdings_contradicted BEFORE UPDATE ON ledger_holdings FOR EACH ROW"
        " WHEN (NEW.committed > OLD.committed) EXECUTE FUNCTION ledger_refuse_contradicted()"
    )


def _guard_sqlite() -> None:
    """Replace the trigger of changes of a ledger, and add one that rejects commits to contradicted ledgers.

    A ledger is contradicted if a run was observed to differ from the mechanism that was paid for.
    """
    op.execute("DROP TRIGGER ledgers_one_way")
    op.execute(
        f"CREATE TRIGGER ledgers_one_way BEFORE UPDATE ON ledgers FOR EACH ROW WHEN ({ONE_WAY})"
        " BEGIN SELECT RAISE(ABORT, 'no move changes ledgers like this'); END"
    )
    op.execute(
        "CREATE TRIGGER ledger_holdings_contradicted BEFORE UPDATE ON ledger_holdings FOR EACH ROW"
        f" WHEN (NEW.committed > OLD.committed AND {CONTRADICTED})"
        f" BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    )

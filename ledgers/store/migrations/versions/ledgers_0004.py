"""Ledgers that cover the same people: the database refuses commits to them, also those of an earlier version."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0004"
down_revision = "0003"

SAME_PEOPLE: Final = (
    "other.id <> own.id AND other.organisation = own.organisation AND other.dataset_key = own.dataset_key"
    " AND (other.block_key = own.block_key OR other.block_key = '' OR own.block_key = '')"
)
COLLIDES: Final = (
    f"EXISTS (SELECT 1 FROM ledgers own JOIN ledgers other ON {SAME_PEOPLE} WHERE own.id = NEW.ledger"  # noqa: S608
    " AND (own.status = 'closed' OR (other.status = 'open' AND NOT other.contradicted)))"
)
"""Another ledger of the people may commit, or this one is closed and not the only one: as a book judges it."""
COMMITS: Final = "NEW.committed > OLD.committed"
REFUSAL: Final = "no move commits to a ledger while another of its people is open"


def upgrade() -> None:
    """Create a trigger of the database that rejects commits in a ledger if another ledger covers the same people.

    Two such ledgers could each spend a full privacy budget on the same people. The trigger is a condition and an error,
    which the two kinds of databases write differently.
    """
    # In PostgreSQL the condition of a trigger must not contain queries, so it is in a function.
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION ledger_refuse_colliding() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF {COLLIDES} THEN"
            f" RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END IF;"
            " RETURN NEW; END $$"
        )
        op.execute(
            "CREATE TRIGGER ledger_holdings_colliding BEFORE UPDATE ON ledger_holdings FOR EACH ROW"
            f" WHEN ({COMMITS}) EXECUTE FUNCTION ledger_refuse_colliding()"
        )
    else:
        op.execute(
            "CREATE TRIGGER ledger_holdings_colliding BEFORE UPDATE ON ledger_holdings FOR EACH ROW"
            f" WHEN ({COMMITS} AND {COLLIDES}) BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        )

"""Ledgers of organisations: names that are compared in a normal form, who opened a ledger, and its organisation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from epsilond.ledgers.store.names import key_of

revision = "0003"
down_revision = "0002"

UNASSIGNED = "NEW.organisation IS NULL OR NEW.dataset_key = ''"
"""A new ledger of a service of an earlier version, which knows no organisations."""
RENAMED = (
    "OLD.dataset_key <> '' AND (NEW.dataset_key <> OLD.dataset_key OR NEW.block_key <> OLD.block_key"
    " OR NEW.opened_by <> OLD.opened_by)"
)
TAKEN_AWAY = "COALESCE(OLD.organisation, '') <> '' AND COALESCE(NEW.organisation, '') <> OLD.organisation"
"""A ledger of a named organisation stays its own."""
OF_BLOCK = ("organisation", "dataset_key", "block_key", "copy")


def upgrade() -> None:
    """Add the columns, fill those that follow from a row, and guard them. Organisations are assigned by the service."""
    # The organisation, who opened the ledger, and the normal forms of the names of the data set and of the block.
    op.add_column("ledgers", sa.Column("organisation", sa.String(255)))
    op.add_column("ledgers", sa.Column("opened_by", sa.String(255), nullable=False, server_default=""))
    op.add_column("ledgers", sa.Column("dataset_key", sa.String(64), nullable=False, server_default=""))
    op.add_column("ledgers", sa.Column("block_key", sa.String(64), nullable=False, server_default=""))
    op.add_column("ledgers", sa.Column("copy", sa.Integer, nullable=False, server_default="0"))
    _fill()
    # A new block has at most one ledger in its organisation; `copy` numbers those of earlier versions.
    op.create_index("ledgers_of_block", "ledgers", list(OF_BLOCK), unique=True)
    op.create_index("ledgers_by_organisation", "ledgers", ["organisation", "created", "id"])
    op.drop_index("ledgers_by_tenant", "ledgers")
    # Statements are rejected also if a service of an earlier version sends them.
    _refuse("unassigned", "INSERT", UNASSIGNED, "no move opens a ledger without an organisation")
    _refuse("renamed", "UPDATE", RENAMED, "the names of a ledger are never changed")
    _refuse("taken_away", "UPDATE", TAKEN_AWAY, "no move takes a ledger from its organisation")
    # In SQLite, an insertion could replace a row.
    if op.get_bind().dialect.name == "sqlite":
        same = " AND ".join(f"{column} = NEW.{column}" for column in OF_BLOCK)
        there = f"EXISTS (SELECT 1 FROM ledgers WHERE {same})"  # noqa: S608 (the names are those above)
        _refuse("replaced_of_block", "INSERT", there, "rows of ledgers are never replaced")


def _fill() -> None:
    """Fill the columns with normal forms of names.

    The versions are raised, because a trigger demands it of each change.
    """
    connection = op.get_bind()
    names = ("id", "tenant", "dataset", "block", "version", *OF_BLOCK, "opened_by")
    table = sa.table("ledgers", *map(sa.column, names))
    query = sa.select(table.c.id, table.c.tenant, table.c.dataset, table.c.block)
    for row in connection.execute(query).all():
        # A ledger of a whole data set has no block, so the normal form of its name is empty.
        block_key = key_of(row.block) if row.block else ""
        filling = (
            sa.update(table)
            .where(table.c.id == row.id)
            .values(
                dataset_key=key_of(row.dataset),
                block_key=block_key,
                opened_by=row.tenant,
                version=table.c.version + 1,
            )
        )
        connection.execute(filling)


def _refuse(name: str, what: str, when: str, why: str) -> None:
    """Create a trigger that rejects statements on the table of ledgers.

    Args:
        name: name of the trigger, without the name of the table.
        what: kind of the statements, INSERT or UPDATE.
        when: SQL condition on the rows OLD and NEW under which a statement is rejected.
        why: message of the error, without quotation marks.
    """
    head = f"CREATE TRIGGER ledgers_{name} BEFORE {what} ON ledgers FOR EACH ROW WHEN ({when})"
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"{head} EXECUTE FUNCTION ledger_refuse('{why}')")
    else:
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{why}'); END")

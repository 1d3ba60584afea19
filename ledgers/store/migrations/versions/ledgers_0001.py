"""Tables of ledgers, their holdings, their log and their idempotency keys."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from epsilond.ledgers.store.migrations.guards import guard

revision = "0001"
down_revision = None

MOST: Final = 2**53 - 1
"""The largest count: every reader of JSON has it exactly."""


def upgrade() -> None:
    """Make the tables and their guards."""
    _make_books()
    _make_reservations()
    _make_log()
    op.execute("INSERT INTO ledger_counter (id, size) VALUES (1, 0)")
    guard(op.get_bind().dialect.name)


def _make_books() -> None:
    """Create the tables of ledgers, of the parts of their slots, and of the items of their plans.

    A slot is a privacy budget in one notion of privacy; its parts are amounts such as ρ or δ. An item of a plan is a
    mechanism with a number of runs. CHECK constraints keep every reserved or used amount within its capacity.
    """
    # Ledgers, of which each block of a data set has at most one.
    op.create_table(
        "ledgers",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("tenant", sa.String(255), nullable=False),
        sa.Column("dataset", sa.String(255), nullable=False),
        sa.Column("block", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("sealed", sa.Boolean, nullable=False),
        sa.Column("conditional", sa.Boolean, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("tenant", "dataset", "block", name="ledgers_block"),
        sa.CheckConstraint("status IN ('open', 'closed')", name="ledgers_status"),
    )
    op.create_index("ledgers_by_tenant", "ledgers", ["tenant", "created", "id"])
    # Parts of the slots of ledgers.
    amounts = ("capacity", "used", "held")
    op.create_table(
        "ledger_slots",
        sa.Column("ledger", sa.String(64), sa.ForeignKey("ledgers.id"), primary_key=True),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("part", sa.String(64), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("mixed", sa.Boolean, nullable=False),
        *(sa.Column(name, _amount(), nullable=False) for name in amounts),
        sa.CheckConstraint(
            "used <= held AND (held <= capacity OR (mixed AND kind = 'rdp'))", name="ledger_slots_within_capacity"
        ),
        *(_is_amount(name) for name in amounts),
    )
    # Items of the plans of ledgers.
    counts = ("planned", "reserved", "committed", "credit")
    op.create_table(
        "ledger_items",
        sa.Column("ledger", sa.String(64), sa.ForeignKey("ledgers.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("job", sa.String(64)),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in counts),
        sa.UniqueConstraint("ledger", "name", name="ledger_items_name"),
        sa.CheckConstraint("reserved + committed + credit <= planned", name="ledger_items_within_plan"),
        *(_is_count("ledger_items", name) for name in counts),
    )


def _make_reservations() -> None:
    """Create the tables of reservations, and of the runs that each holds in each ledger.

    A reservation keeps runs of a mechanism for one caller. The second table has a row for each pair of a reservation
    and a ledger that pays for it.
    """
    # Reservations, with the index by which expired ones are found.
    op.create_table(
        "ledger_reservations",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("tenant", sa.String(255), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double),
        sa.CheckConstraint(
            "state IN ('reserved', 'committed', 'cancelled', 'expired')", name="ledger_reservations_state"
        ),
    )
    op.create_index("ledger_reservations_by_end", "ledger_reservations", ["state", "expires"])
    # The runs that each reservation holds in each ledger.
    op.create_table(
        "ledger_holdings",
        sa.Column("reservation", sa.String(64), sa.ForeignKey("ledger_reservations.id"), primary_key=True),
        sa.Column("ledger", sa.String(64), sa.ForeignKey("ledgers.id"), primary_key=True),
        sa.Column("item", sa.String(255)),
        sa.Column("slot", sa.String(16)),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("charge", sa.Text),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("committed", sa.BigInteger, nullable=False),
        sa.CheckConstraint("committed <= count", name="ledger_holdings_committed_of_count"),
        *(_is_count("ledger_holdings", name) for name in ("count", "committed")),
    )
    op.create_index("ledger_holdings_by_ledger", "ledger_holdings", ["ledger", "committed"])
    # Holdings with runs that are not committed yet.
    unfinished = sa.text("committed < count")
    op.create_index(
        "ledger_holdings_unfinished",
        "ledger_holdings",
        ["ledger"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )


def _make_log() -> None:
    """Create the tables of log entries, tree nodes and idempotency keys, and the counter of entries.

    The tree nodes are the hashes of the Merkle tree over all entries. The idempotency keys identify repeated requests.
    The counter has one row, with the number of entries.
    """
    # Log entries: the content of each, and its hash.
    op.create_table(
        "ledger_entries",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("tenant", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("ledger", sa.String(64), sa.ForeignKey("ledgers.id")),
        sa.Column("leaf", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("digest", name="ledger_entries_digest"),
        sa.CheckConstraint("length(digest) = 32", name="ledger_entries_digest_length"),
    )
    op.create_index("ledger_entries_by_ledger", "ledger_entries", ["ledger", "seq"])
    # Nodes of the Merkle tree.
    op.create_table(
        "ledger_nodes",
        sa.Column("level", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("place", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("level >= 0 AND place >= 0 AND length(hash) = 32", name="ledger_nodes_hash"),
    )
    # Idempotency keys, with a hash of the request and its answer.
    op.create_table(
        "ledger_keys",
        sa.Column("tenant", sa.String(255), primary_key=True),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("answer", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    # The counter of log entries, a table of one row.
    op.create_table(
        "ledger_counter",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", name="ledger_counter_is_one"),
    )


def _amount() -> sa.String:
    """Return the type of a column with an amount: decimal text in SQLite, and a number in PostgreSQL."""
    return sa.String(37).with_variant(sa.Numeric(38, 18), "postgresql")


def _is_amount(name: str) -> sa.CheckConstraint:
    """Return the constraint of an amount: at least 0 and below 10^18.

    In SQLite an amount is text of one width, so that the order by characters is the order of the numbers. PostgreSQL
    sorts NaN above every number, so that NaN is not below 10^18.

    Args:
        name: name of the column in the table of slots.

    Returns:
        The constraint, for the database of this migration.
    """
    if op.get_bind().dialect.name == "postgresql":
        return sa.CheckConstraint(f"{name} >= 0 AND {name} < 1e18", name=f"ledger_slots_{name}")
    # 18 digits, the point, and 18 digits.
    digits = f"length({name}) = 37 AND substr({name}, 19, 1) = '.' AND replace({name}, '.', '') NOT GLOB '*[^0-9]*'"
    condition = f"typeof({name}) = 'text' AND {digits} AND length(replace({name}, '.', '')) = 36"
    return sa.CheckConstraint(condition, name=f"ledger_slots_{name}")


def _is_count(table: str, name: str) -> sa.CheckConstraint:
    """Return the constraint of a count: an integer from 0 to `MOST`.

    Args:
        table: name of the table.
        name: name of the column.

    Returns:
        The constraint, for the database of this migration. SQLite does not require a column to have one type.
    """
    is_integer = "" if op.get_bind().dialect.name == "postgresql" else f" AND typeof({name}) = 'integer'"
    return sa.CheckConstraint(f"{name} >= 0 AND {name} <= {MOST}{is_integer}", name=f"{table}_{name}")

"""Ledgers in which a second person approves some moves, and these moves while they wait."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

IDENTITY: Final = ("id", "ledger", "kind", "body", "requested_by", "requested_at")
CHANGED: Final = " OR ".join(f"NEW.{column} <> OLD.{column}" for column in IDENTITY)
"""A pending move is another than the one that was requested."""
PROLONGED: Final = "COALESCE(NEW.expires, -1.0) <> COALESCE(OLD.expires, -1.0)"
TWO_PEOPLE: Final = (
    "state <> 'approved' OR (closed_by IS NOT NULL AND applied IS NOT NULL AND lower(closed_by) <> lower(requested_by))"
)
OFF: Final = (
    "OLD.approval_from IS NOT NULL AND (NEW.approval_from IS NULL OR NEW.approval_from <> OLD.approval_from)"
    " AND NOT (NEW.approval_from IS NULL AND EXISTS (SELECT 1 FROM ledger_pending WHERE ledger = NEW.id"
    " AND kind = 'amend' AND state = 'approved' AND applied = NEW.version))"
)
"""Approval is turned off, and no approved amendment makes this version of the ledger."""
ALONE: Final = (
    "NEW.kind IN ('amended', 'voided', 'reconciled') AND EXISTS (SELECT 1 FROM ledgers own WHERE own.id = NEW.ledger"
    " AND own.approval_from < own.version AND NOT EXISTS (SELECT 1 FROM ledger_pending WHERE ledger = own.id"
    " AND state = 'approved' AND applied = own.version))"
)
"""An entry of a ledger with approval, and no approved move makes this version of the ledger."""


def upgrade() -> None:
    """Add the table of moves that wait for a second person, and the column that turns such approval on.

    A move is a change of a ledger. Triggers guard the table and the column, so that a service of an earlier version
    cannot make a move without approval.
    """
    # The version of a ledger from which on a second person approves; empty for a ledger without approval.
    op.add_column("ledgers", sa.Column("approval_from", sa.BigInteger))
    # The moves that wait, and those that have ended.
    op.create_table(
        "ledger_pending",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("ledger", sa.String(64), sa.ForeignKey("ledgers.id"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("requested_by", sa.String(255), nullable=False),
        sa.Column("requested_at", sa.Double, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("closed_by", sa.String(255)),
        sa.Column("closed_at", sa.Double),
        sa.Column("applied", sa.BigInteger),
        sa.CheckConstraint("kind IN ('amend', 'void', 'reconcile')", name="ledger_pending_kind"),
        sa.CheckConstraint(
            "state IN ('pending', 'approved', 'rejected', 'withdrawn', 'expired')", name="ledger_pending_state"
        ),
        sa.CheckConstraint("requested_by <> ''", name="ledger_pending_requested"),
        sa.CheckConstraint(TWO_PEOPLE, name="ledger_pending_two_people"),
    )
    op.create_index("ledger_pending_by_ledger", "ledger_pending", ["ledger", "state"])
    # Rows are never removed, and change only once, when the move ends.
    _refuse("ledger_pending", "removed", "DELETE", None, "rows of ledger_pending are never removed")
    _refuse("ledger_pending", "identity", "UPDATE", f"{CHANGED} OR {PROLONGED}", "a pending move is never changed")
    _refuse("ledger_pending", "one_way", "UPDATE", "OLD.state <> 'pending'", "a move that has ended is never changed")
    _refuse("ledger_pending", "begun", "INSERT", "NEW.state <> 'pending'", "no move begins as one that has ended")
    # A ledger with approval changes only by approved moves.
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER ledger_pending_truncated BEFORE TRUNCATE ON ledger_pending FOR EACH STATEMENT"
            " EXECUTE FUNCTION ledger_refuse('rows of ledger_pending are never removed')"
        )
        _refuse_postgresql("ledgers", "approval", "UPDATE", OFF, "no move turns approval off without approval")
        _refuse_postgresql(
            "ledger_entries", "alone", "INSERT", ALONE, "no move of this ledger is made without approval"
        )
    else:
        there = "EXISTS (SELECT 1 FROM ledger_pending WHERE id = NEW.id)"
        _refuse("ledger_pending", "replaced", "INSERT", there, "rows of ledger_pending are never replaced")
        _refuse("ledgers", "approval", "UPDATE", OFF, "no move turns approval off without approval")
        _refuse("ledger_entries", "alone", "INSERT", ALONE, "no move of this ledger is made without approval")


def _refuse(table: str, name: str, what: str, when: str | None, why: str) -> None:
    """Create a trigger that rejects statements on a table.

    Args:
        table: name of the table.
        name: name of the trigger, without the name of the table.
        what: kind of the statements, such as INSERT or DELETE.
        when: SQL condition on the rows OLD and NEW under which a statement is rejected; None for all statements.
        why: message of the error, without quotation marks.
    """
    condition = f"WHEN ({when})" if when else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {what} ON {table} FOR EACH ROW {condition}"
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"{head} EXECUTE FUNCTION ledger_refuse('{why}')")
    else:
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{why}'); END")


def _refuse_postgresql(table: str, name: str, what: str, when: str, why: str) -> None:
    """Create a trigger that rejects statements, with its condition in a function.

    In PostgreSQL the condition of a trigger itself must not contain queries.

    Args:
        table: name of the table.
        name: name of the trigger, without the name of the table.
        what: kind of the statements, such as INSERT or UPDATE.
        when: SQL condition on the rows OLD and NEW under which a statement is rejected.
        why: message of the error, without quotation marks.
    """
    function = f"{table}_refuse_{name}"
    op.execute(
        f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {when} THEN"
        f" RAISE EXCEPTION '{why}' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $$"
    )
    op.execute(f"CREATE TRIGGER {table}_{name} BEFORE {what} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()")

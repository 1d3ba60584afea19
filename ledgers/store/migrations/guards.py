"""Triggers that reject every change of rows that no move makes, by any caller.

They hold for every caller that may not change the tables themselves. In PostgreSQL the service should not own them, and
UPDATE, DELETE and TRUNCATE of the append-only tables should be revoked, where triggers are not enough. A revision that
changes a trigger makes it anew; the text here belongs to revision 0001.
"""

from __future__ import annotations

from typing import Final

from alembic import op

APPEND_ONLY: Final = ("ledger_entries", "ledger_nodes", "ledger_keys")
NEVER_REMOVED: Final = (
    *APPEND_ONLY,
    "ledgers",
    "ledger_slots",
    "ledger_items",
    "ledger_reservations",
    "ledger_holdings",
    "ledger_counter",
)
IDENTITY: Final = {
    "ledgers": ("id", "tenant", "dataset", "block", "record", "created"),
    "ledger_slots": ("ledger", "kind", "part", "mixed"),
    "ledger_items": ("ledger", "position", "name", "spec"),
    "ledger_reservations": ("id", "tenant", "created"),
    "ledger_holdings": ("reservation", "ledger", "spec"),
    "ledger_counter": ("id",),
}
"""Columns that are never changed."""
ONE_WAY: Final = {
    "ledgers": "NEW.version <> OLD.version + 1 OR (OLD.status = 'closed' AND NEW.status <> 'closed')"
    " OR (OLD.sealed AND NOT NEW.sealed) OR (OLD.conditional AND NOT NEW.conditional)",
    "ledger_slots": "NEW.capacity > OLD.capacity",
    "ledger_items": "NEW.planned > OLD.planned",
    "ledger_reservations": "OLD.state IN ('cancelled', 'expired')"
    " OR (OLD.state = 'committed' AND NEW.state = 'reserved')",
    "ledger_counter": "NEW.size <= OLD.size",
}
"""Changes that no move makes."""
UNIQUE: Final = {
    "ledgers": (("id",), ("tenant", "dataset", "block")),
    "ledger_slots": (("ledger", "kind", "part"),),
    "ledger_items": (("ledger", "position"), ("ledger", "name")),
    "ledger_reservations": (("id",),),
    "ledger_holdings": (("reservation", "ledger"),),
    "ledger_entries": (("seq",), ("digest",)),
    "ledger_nodes": (("level", "place"),),
    "ledger_keys": (("tenant", "key"),),
    "ledger_counter": (("id",),),
}
"""Unique columns by which INSERT OR REPLACE of SQLite removes rows without a trigger of DELETE."""
NEXT: Final = "COALESCE((SELECT max(seq) + 1 FROM ledger_entries), 0)"


def guard(dialect: str) -> None:
    """Create the triggers that reject changes which no move makes, such as a deletion or another id.

    A move is a change of a ledger by the service. The triggers protect the budgets against a faulty program and against
    SQL by hand. The owner of the database can still drop them.

    Args:
        dialect: name of the database system, "sqlite" or "postgresql".
    """
    if dialect == "postgresql":
        _make_functions()

    # Rows are never removed, and those of the log are never changed.
    for table in NEVER_REMOVED:
        _refuse(dialect, table, "removed", "DELETE", None, f"rows of {table} are never removed")
        if dialect == "postgresql":
            _refuse_truncation(table)
    for table in APPEND_ONLY:
        _refuse(dialect, table, "changed", "UPDATE", None, f"rows of {table} are never changed")

    # Other rows keep their identity, and some values change in one direction only.
    for table, columns in IDENTITY.items():
        changed = " OR ".join(f"NEW.{column} <> OLD.{column}" for column in columns)
        _refuse(dialect, table, "identity", "UPDATE", changed, f"{', '.join(columns)} of {table} are never changed")
    for table, wrong in ONE_WAY.items():
        _refuse(dialect, table, "one_way", "UPDATE", wrong, f"no move changes {table} like this")
    _refuse_gaps(dialect)

    # In SQLite, INSERT OR REPLACE would delete a row without calling the triggers of deletions.
    if dialect == "sqlite":
        for table, keys in UNIQUE.items():
            there = " OR ".join(_there(table, columns) for columns in keys)
            _refuse(dialect, table, "replaced", "INSERT", there, f"rows of {table} are never replaced")


def _refuse(dialect: str, table: str, name: str, what: str, when: str | None, why: str) -> None:
    """Create a trigger that rejects statements on single rows of a table.

    The trigger calls a function in PostgreSQL, and raises the error itself in SQLite.

    Args:
        dialect: sqlite or postgresql.
        table: name of the table.
        name: last part of the trigger's name.
        what: INSERT, UPDATE or DELETE.
        when: SQL condition on the old and the new row; None rejects every such statement.
        why: message of the error.
    """
    condition = f"WHEN ({when})" if when else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {what} ON {table} FOR EACH ROW {condition}"
    if dialect == "postgresql":
        op.execute(f"{head} EXECUTE FUNCTION ledger_refuse('{why}')")
    else:
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{why}'); END")


def _refuse_gaps(dialect: str) -> None:
    """Create the trigger that rejects a log entry unless its number is the next one.

    A deleted or a skipped entry would leave a gap in the numbers, so the trigger makes such a change visible.

    Args:
        dialect: name of the database system, "postgresql" or "sqlite".
    """
    if dialect == "postgresql":
        op.execute(
            "CREATE TRIGGER ledger_entries_without_gaps BEFORE INSERT ON ledger_entries FOR EACH ROW"
            " EXECUTE FUNCTION ledger_refuse_gaps()"
        )
    else:
        _refuse(dialect, "ledger_entries", "without_gaps", "INSERT", f"NEW.seq <> {NEXT}", "entries have no gaps")


def _refuse_truncation(table: str) -> None:
    """Create a trigger of PostgreSQL that rejects the statement TRUNCATE, which deletes all rows of a table.

    Args:
        table: name of the table.
    """
    op.execute(
        f"CREATE TRIGGER {table}_truncated BEFORE TRUNCATE ON {table} FOR EACH STATEMENT"
        f" EXECUTE FUNCTION ledger_refuse('rows of {table} are never removed')"
    )


def _make_functions() -> None:
    """Create the two functions of PostgreSQL that triggers call to reject a statement.

    The function `ledger_refuse` always raises an error, with the trigger's argument as its message. The function
    `ledger_refuse_gaps` raises an error if the number of a new log entry is not the next one.
    """
    # A function that rejects every statement, with the text that the trigger gives.
    op.execute(
        "CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    # A function that rejects an entry unless its number is the next one.
    op.execute(
        "CREATE FUNCTION ledger_refuse_gaps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF NEW.seq <> {NEXT} THEN"
        " RAISE EXCEPTION 'entries have no gaps' USING ERRCODE = 'integrity_constraint_violation'; END IF;"
        " RETURN NEW; END $$"
    )


def _there(table: str, columns: tuple[str, ...]) -> str:
    """Return the SQL condition that a table has a row with the same values as the new row in some columns.

    Args:
        table: name of the table.
        columns: names of the columns.

    Returns:
        The condition, for a trigger with the row NEW.
    """
    same = " AND ".join(f"{column} = NEW.{column}" for column in columns)
    return f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608 (the names stand above)

"""Databases of ledgers as the version before organisations left them."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL, make_url

from epsilond.storage import opening

OF_APPROVAL = (("ledgers", "approval"), ("ledger_entries", "alone"))
"""Triggers about a second person, each with its table and its name."""
TRIGGERS = ("unassigned", "renamed", "taken_away", "replaced_of_block")
COLUMNS = ("organisation", "opened_by", "dataset_key", "block_key", "copy")

NAMES_OF_KEYS = (
    (
        "ledgers",
        "ledgers_identity",
        "UPDATE ledgers SET tenant = replace(tenant, 'organisation/', ''), version = version + 1",
    ),
    ("ledger_keys", "ledger_keys_changed", "UPDATE ledger_keys SET tenant = replace(tenant, '/', '')"),
)
"""Changes that write the names of keys in place of organisations, each with its table and the trigger against it."""


def take_organisations_away(place: str) -> None:
    """Bring the tables of ledgers at a place back to revision 0002; a ledger's owner is its `tenant` then."""
    url = make_url(place) if "://" in place else URL.create("sqlite", database=place)
    database = opening.open_database(url, [], name="the place", what="ledgers")
    with database.writing() as connection:
        connection.execute(text("DROP TABLE ledger_messages"))
        connection.execute(text("DROP TABLE ledger_messages_read"))
        connection.execute(text("DROP INDEX ledger_entries_rare"))
        of_table = " ON ledgers" if database.shared else ""
        connection.execute(
            text(f"DROP TRIGGER ledger_holdings_colliding{of_table.replace('ledgers', 'ledger_holdings')}")
        )
        if database.shared:
            connection.execute(text("DROP FUNCTION ledger_refuse_colliding"))
        _take_approval_away(connection, shared=database.shared)
        _write_names_of_keys(connection, shared=database.shared)
        for name in TRIGGERS:
            connection.execute(text(f"DROP TRIGGER IF EXISTS ledgers_{name}{of_table}"))
        connection.execute(text("DROP INDEX ledgers_of_block"))
        connection.execute(text("DROP INDEX ledgers_by_organisation"))
        for column in COLUMNS:
            connection.execute(text(f"ALTER TABLE ledgers DROP COLUMN {column}"))
        connection.execute(text("CREATE INDEX ledgers_by_tenant ON ledgers (tenant, created, id)"))
        connection.execute(text("UPDATE ledger_version SET version_num = '0002'"))
    database.close()


def _write_names_of_keys(connection: Connection, *, shared: bool) -> None:
    """Write the names of keys as `tenant`, which triggers protect."""
    for table, trigger, change in NAMES_OF_KEYS:
        if shared:
            connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}"))
            connection.execute(text(change))
            connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}"))
            continue
        made: str = connection.execute(text(f"SELECT sql FROM sqlite_master WHERE name = '{trigger}'")).scalar_one()
        connection.execute(text(f"DROP TRIGGER {trigger}"))
        connection.execute(text(change))
        connection.execute(text(made))


def _take_approval_away(connection: Connection, *, shared: bool) -> None:
    """Bring the tables back to revision 0004, in which nobody approves anything."""
    for table, name in OF_APPROVAL:
        connection.execute(text(f"DROP TRIGGER {table}_{name}" + (f" ON {table}" if shared else "")))
        if shared:
            connection.execute(text(f"DROP FUNCTION {table}_refuse_{name}"))
    connection.execute(text("DROP TABLE ledger_pending"))
    connection.execute(text("ALTER TABLE ledgers DROP COLUMN approval_from"))

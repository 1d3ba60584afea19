"""Databases of ledgers as the version before organisations left them."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL, make_url

from epsilond.storage import opening

TRIGGERS = ("unassigned", "renamed", "taken_away", "replaced_of_block")
COLUMNS = ("organisation", "opened_by", "dataset_key", "block_key", "copy")


def take_organisations_away(place: str) -> None:
    """Bring the tables of ledgers at a place back to revision 0002; a ledger's owner is its `tenant` then."""
    url = make_url(place) if "://" in place else URL.create("sqlite", database=place)
    database = opening.opened(url, [], name="the place", what="ledgers")
    with database.writing() as connection:
        of_table = " ON ledgers" if database.shared else ""
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
    """Write the names of keys as `tenant`, which a trigger protects."""
    names = text("UPDATE ledgers SET tenant = replace(tenant, 'organisation/', ''), version = version + 1")
    if shared:
        connection.execute(text("ALTER TABLE ledgers DISABLE TRIGGER ledgers_identity"))
        connection.execute(names)
        connection.execute(text("ALTER TABLE ledgers ENABLE TRIGGER ledgers_identity"))
        return
    wanted = text("SELECT sql FROM sqlite_master WHERE name = 'ledgers_identity'")
    trigger: str = connection.execute(wanted).scalar_one()
    connection.execute(text("DROP TRIGGER ledgers_identity"))
    connection.execute(names)
    connection.execute(text(trigger))

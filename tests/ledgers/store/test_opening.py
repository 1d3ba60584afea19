"""Ledgers have a database of their own or stand beside the jobs, and the tables are those that are asked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.engine import URL, make_url

from epsilond.app.settings import Settings
from epsilond.app.store.opening import open_database as opened_jobs
from epsilond.ledgers.store import entries
from epsilond.ledgers.store.opening import CHAIN, add_tables, open_store
from epsilond.ledgers.store.tables import TABLES
from epsilond.ledgers.store.transactions import looking
from epsilond.storage import opening as storage
from epsilond.storage.faults import StoreFault, StoreLocked, StoreUnavailable
from tests.ledgers.store.samples import kept, ledger, loaded, spend

OLD_LEDGER = (
    "INSERT INTO ledgers (id, tenant, dataset, block, name, status, sealed, conditional, record, created, version)"
    " VALUES ('a', 't', 'visits', '', 'a', 'closed', (1 = 1), (1 = 0), '{}', 10.5, 3)"
)


def test_the_tables_are_those_that_are_asked(database):
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": CHAIN.version_table})
        assert compare_metadata(context, TABLES) == []


def test_what_was_kept_is_there_when_it_is_opened_again(place):
    first = open_store(place)
    kept(first, ledger())
    spend(first, "a")
    before = loaded(first)
    first.close()
    again = open_store(place)
    assert loaded(again) == before
    with looking(again) as connection:
        assert entries.size(connection) == 2
    again.close()


@pytest.fixture
def first_revision(place: str):
    """A database with the tables of the first revision, and one closed ledger."""
    url = make_url(place) if "://" in place else URL.create("sqlite", database=place)
    made = storage.open_database(url, [], name="the place", what="ledgers")
    configuration = Config()
    configuration.set_main_option("script_location", str(CHAIN.scripts))
    with made.writing() as connection:
        configuration.attributes.update(connection=connection, chain=CHAIN)
        command.upgrade(configuration, "0001")
        connection.execute(text(OLD_LEDGER))
    made.close()


def test_ledgers_of_the_first_revision_are_kept(first_revision, place):
    database = open_store(place)
    row = loaded(database)
    assert (row.status, row.contradicted, row.contradictions) == ("closed", False, ())
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": CHAIN.version_table})
        assert context.get_current_revision() == "0007"
        assert compare_metadata(context, TABLES) == []
    with pytest.raises(StoreFault), database.writing() as connection:
        connection.execute(text("UPDATE ledgers SET version = version + 1, status = 'open'"))
    database.close()


def test_ledgers_stand_beside_jobs(place):
    settings = Settings(store_url=place) if "://" in place else Settings(store_path=place)
    for _ in range(2):  # the second time everything is there
        database = add_tables(opened_jobs(settings))
        with database.reading() as connection:
            names = set(inspect(connection).get_table_names())
        assert {"jobs", "ticks", "alembic_version", "ledger_version", *TABLES.tables} <= names
        database.close()


def test_tables_of_a_later_version_are_left_alone(place):
    database = open_store(place)
    with database.writing() as connection:
        connection.execute(text("UPDATE ledger_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match=r"later version of epsilond \(revision 9999\)"):
        add_tables(database)
    database.close()
    with pytest.raises(StoreUnavailable, match=r"ledgers cannot be kept in .*later version"):
        open_store(place)


def test_replicas_may_start_together(postgresql_url: str):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(open_store, [postgresql_url] * 4))
    kept(made[0], ledger())
    assert {loaded(each) for each in made} == {ledger()}
    for each in made:
        each.close()


def test_memory_takes_ledgers_too():
    database = open_store(":memory:")
    kept(database, ledger())
    assert [spend(database, "a", key=key) for key in "kkl"] == [1, 1, 2]
    database.close()


def test_a_file_has_one_process(tmp_path: Path):
    path = tmp_path / "ledgers.sqlite"
    first = open_store(path)
    with pytest.raises(StoreLocked, match=r"another service keeps its ledgers in .*ledgers\.sqlite"):
        open_store(path)
    first.close()
    open_store(path).close()


def test_a_file_loses_nothing_with_the_power(tmp_path: Path):
    database = open_store(tmp_path / "ledgers.sqlite")
    with database.reading() as connection:
        pragmas = ("synchronous", "journal_mode", "foreign_keys")
        found = [connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in pragmas]
    assert found == [2, "wal", 1]
    database.close()


def test_a_url_that_cannot_be_read_is_rejected_without_its_text():
    with pytest.raises(StoreUnavailable, match="cannot be read") as caught:
        open_store("foo//://secret")
    assert "secret" not in str(caught.value)

"""What happens to a store under a service is told in words, and nothing is accepted that would be gone."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from epsilond.app.settings import Settings
from epsilond.app.store import AttemptProgress, End, Store, StoreFault, StoreUnavailable
from epsilond.storage import shared
from tests.app.store.samples import EXHAUSTED, LEASE, done, one, queued, record, running, states

SECRET = b"secret-31337"
EVERYTHING: list[Callable[[Store], object]] = [
    lambda store: store.add(record("x"), replica=None, lease_seconds=LEASE),
    lambda store: store.add(record("y", idempotency_key="k"), replica="me", lease_seconds=LEASE),
    lambda store: store.get("", "a"),
    lambda store: store.with_key("", "k"),
    lambda store: store.page(""),
    lambda store: store.live(""),
    lambda store: store.counts(),
    lambda store: store.size(),
    lambda store: store.claim("me", engine_version="1", limit=1, lease_seconds=LEASE, exhausted=EXHAUSTED),
    lambda store: store.beat("me", {"a": AttemptProgress(attempt=1)}, LEASE),
    lambda store: store.end("a", 1, "a", End(state="done", result=b"[]")),
    lambda store: store.release("a"),
    lambda store: store.cancel("", "a"),
    lambda store: store.remove("", "a"),
    lambda store: store.prune(days=30.0, jobs=10, size=10),
    lambda store: store.interrupt(engine_version="1", problem=b"{}"),
]
"""Every method of a store."""


def faults_of(store: Store) -> set[str]:
    """What every method says."""
    told = set()
    for method in EVERYTHING:
        with pytest.raises(StoreFault) as raised:
            method(store)
        told.add(str(raised.value))
    return told


@pytest.fixture
def opened(file_settings: Settings) -> tuple[Store, Path]:
    """A store on a file, with a job that runs, and its file."""
    store = Store.open(file_settings)
    running(store, "a")
    return store, Path(file_settings.store_path)


def test_a_file_that_was_removed_takes_nothing(opened: tuple[Store, Path]) -> None:
    store, path = opened
    path.unlink()
    (told,) = faults_of(store)
    assert "removed or replaced" in told
    store.close()


def test_a_file_that_was_replaced_takes_nothing(opened: tuple[Store, Path], tmp_path: Path) -> None:
    store, path = opened
    aside = path.rename(tmp_path / "aside")
    shutil.copy(aside, path)
    (told,) = faults_of(store)
    assert "removed or replaced" in told
    path.unlink()
    aside.rename(path)
    assert queued(store, "b").id == "b"  # it was put back
    store.close()


def test_a_journal_that_was_removed_takes_nothing(opened: tuple[Store, Path]) -> None:
    store, path = opened
    path.with_name("jobs.sqlite-wal").unlink()
    (told,) = faults_of(store)
    assert "removed or replaced" in told
    store.close()


def test_a_file_that_was_removed_while_it_was_written_is_told(opened: tuple[Store, Path]) -> None:
    store, path = opened
    with pytest.raises(StoreFault, match="removed or replaced"), store._database.writing():
        path.unlink()
    store.close()


@pytest.mark.parametrize("content", [b"", b"not a database", b"x" * 100_000])
def test_a_file_that_was_written_over_takes_nothing(opened: tuple[Store, Path], content: bytes) -> None:
    store, path = opened
    path.write_bytes(content)
    with pytest.raises(StoreFault, match="another program has written"):
        queued(store, "b")
    with pytest.raises(StoreFault, match="another program has written"):
        store.release("a")
    store.close()


def test_a_file_that_is_damaged_is_told_when_it_is_read(file_settings: Settings) -> None:
    store = Store.open(file_settings)
    running(store, "a")
    store.end("a", 1, "a", End(state="done", result=bytes(5_000_000)))
    store.close()
    path = Path(file_settings.store_path)
    again = Store.open(file_settings)
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"x" * (path.stat().st_size - 8192))
    with pytest.raises(StoreFault, match="malformed"):
        one(again, "a")
    with pytest.raises(StoreFault):
        queued(again, "b")
    again.close()


def test_a_database_that_was_emptied_is_told(store: Store) -> None:
    with store._database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE jobs")
    for told in faults_of(store):
        assert "no such table" in told or "not what they were" in told


def test_a_disk_that_is_full_loses_nothing(file_settings: Settings) -> None:
    store = Store.open(file_settings)
    running(store, "a")
    with store._database._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    limit(store, pages + 10)
    with pytest.raises(StoreFault, match="full"):
        store.end("a", 1, "a", End(state="done", result=bytes(1_000_000)))
    assert states(store) == {"a": "running"}
    limit(store, pages + 10_000)
    assert store.end("a", 1, "a", End(state="done", result=bytes(1_000_000)))
    store.close()


def limit(store: Store, pages: int) -> None:
    """Let the file have so many pages, as a full disk would; SQLite answers the same."""
    with store._database.writing() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")


def test_a_fault_tells_nothing_of_what_was_asked(store: Store) -> None:
    running(store, "a", request=SECRET)
    with pytest.raises(StoreFault) as raised:
        running(store, "a", request=SECRET, owner="secret-31337", caller="secret-31337", idempotency_key="31337")
    with pytest.raises(StoreFault) as again, store._database.writing() as connection:
        connection.exec_driver_sql("SELECT CAST('secret-31337' AS integer) FROM nothing")
    for error in (raised.value, again.value):
        assert "31337" not in str(error)
        assert error.__cause__ is None
        assert error.__suppress_context__


def test_what_is_closed_takes_nothing(settings: Settings) -> None:
    store = Store.open(settings)
    store.close()
    assert faults_of(store) == {"it is closed"}


def test_connections_that_were_cut_are_made_again(shared_settings: Settings) -> None:
    store = Store.open(shared_settings)
    running(store, "a")
    with psycopg.connect(shared_settings.store_url, autocommit=True) as other:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
        other.execute(cut, [other.info.backend_pid])
    assert store.end("a", 1, "a", End(state="done", result=b"[]"))
    store.close()


def test_a_connection_that_is_cut_in_a_transaction_is_told(shared_settings: Settings) -> None:
    store = Store.open(shared_settings)
    with pytest.raises(StoreFault, match="database"), store._database.writing() as connection:
        connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
    done(store, "a")
    store.close()


def test_a_database_that_is_gone_is_told(shared_settings: Settings, postgresql_server: str) -> None:
    store = Store.open(shared_settings)
    name = shared_settings.store_url.rpartition("/")[2]
    with psycopg.connect(f"{postgresql_server}/postgres", autocommit=True) as other:
        other.execute(f"DROP DATABASE {name} WITH (FORCE)")
    for told in faults_of(store):
        assert "database" in told
    with psycopg.connect(f"{postgresql_server}/postgres", autocommit=True) as other:
        other.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    store.close()


def test_a_database_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SECONDS", 2)  # the shortest that libpq takes
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://postgres@127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(StoreUnavailable, match="timeout"):
            Store.open(Settings(store_url=url))


def test_somebody_elses_lock_is_not_waited_for(shared_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SECONDS", 1)
    store = Store.open(shared_settings)
    queued(store, "a")
    with psycopg.connect(shared_settings.store_url) as other:
        other.execute("LOCK TABLE jobs")
        with pytest.raises(StoreFault, match="lock"):
            store.cancel("", "a")
    assert store.cancel("", "a") is not None
    store.close()

"""Where a store is, whose it is, and what is said when it cannot be opened."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from epsilond.app.settings import Settings
from epsilond.app.store import Store, StoreLocked, StoreUnavailable
from tests.app.store.samples import claimed, done, one, queued, running, states


@pytest.fixture(params=["file", "postgresql"])
def lasting(request: pytest.FixtureRequest, file_settings: Settings) -> Settings:
    """Of a store that outlives its service."""
    return file_settings if request.param == "file" else Settings(store_url=request.getfixturevalue("postgresql_url"))


def test_what_was_kept_is_there_when_it_is_opened_again(lasting: Settings) -> None:
    store = Store.open(lasting)
    queued(store, "a", idempotency_key="k")
    done(store, "b")
    kept = [one(store, name) for name in "ab"]
    store.close()
    again = Store.open(lasting)
    assert [one(again, name) for name in "ab"] == kept
    assert queued(again, "c", idempotency_key="k") == kept[0]
    again.close()


def test_memory_forgets() -> None:
    settings = Settings(store_path=":memory:")
    first, second = Store.open(settings), Store.open(settings)
    queued(first, "a")
    assert states(second) == {}
    first.close()
    second.close()


def test_what_ran_on_a_file_is_queued_again(file_settings: Settings) -> None:
    store = Store.open(file_settings)
    for name in ("a", "b"):
        running(store, name, "gone")
    store.cancel("", "b")
    store.close()
    again = Store.open(file_settings)
    assert states(again) == {"a": "queued", "b": "cancelled"}
    (taken,) = claimed(again, "me")
    assert (taken.attempt, taken.lost) == (2, 1)
    again.close()


def test_what_runs_on_another_replica_runs_on(shared_settings: Settings) -> None:
    first = Store.open(shared_settings)
    running(first, "a", "first")
    second = Store.open(shared_settings)
    assert states(second) == {"a": "running"}
    assert (first.shared, second.shared) == (True, True)
    second.close()
    first.close()


def test_only_a_database_is_shared(file_settings: Settings) -> None:
    for settings in (file_settings, Settings(store_path=":memory:")):
        store = Store.open(settings)
        assert not store.shared
        store.close()


def test_a_url_goes_before_the_file(file_settings: Settings, tmp_path: Path) -> None:
    Store.open(file_settings.model_copy(update={"store_url": f"sqlite:///{tmp_path}/other.sqlite"})).close()
    assert (tmp_path / "other.sqlite").exists()
    assert not Path(file_settings.store_path).exists()


def test_one_service_a_file(file_settings: Settings) -> None:
    store = Store.open(file_settings)
    with pytest.raises(StoreLocked, match=r"EPSILOND_STORE_PATH: another service .*jobs\.sqlite"):
        Store.open(file_settings)
    store.close()
    Store.open(file_settings).close()


def test_a_second_service_may_keep_its_jobs_in_memory(file_settings: Settings) -> None:
    first = Store.open(file_settings)
    second, sentence = Store.fallback(file_settings)
    assert file_settings.store_path in sentence
    assert "EPSILOND_STORE_PATH" in sentence
    queued(second, "a")
    assert states(first) == {}
    second.close()
    first.close()


def test_one_service_a_file_whatever_it_is_called(file_settings: Settings, tmp_path: Path) -> None:
    store = Store.open(file_settings)
    link = tmp_path / "link.sqlite"
    link.symlink_to(file_settings.store_path)
    other = tmp_path / "other"
    other.symlink_to(Path(file_settings.store_path).parent)
    for name in (link, other / "jobs.sqlite", tmp_path / "other" / ".." / "state" / "jobs.sqlite"):
        for chosen in (Settings(store_path=str(name)), Settings(store_url=f"sqlite:///{name}")):
            with pytest.raises(StoreLocked):
                Store.open(chosen)
    store.close()
    Store.open(Settings(store_path=str(link))).close()


def test_a_file_that_cannot_be_told_by_its_name_is_refused(file_settings: Settings, tmp_path: Path) -> None:
    Store.open(file_settings).close()
    path = file_settings.store_path
    for uri in (f"file:{path}?uri=true", f"{path}?uri=true", "file::memory:?uri=true"):
        with pytest.raises(StoreUnavailable, match=r"EPSILOND_STORE_URL: .*a file: URI is not taken"):
            Store.open(Settings(store_url=f"sqlite:///{uri}"))
    (tmp_path / "hard.sqlite").hardlink_to(path)
    with pytest.raises(StoreUnavailable, match="several names"):
        Store.open(Settings(store_path=str(tmp_path / "hard.sqlite")))


def test_a_file_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("this is no database, but long enough to be looked at as one " * 20)
    for path in (tmp_path, file, file / "jobs.sqlite"):
        with pytest.raises(StoreUnavailable, match="EPSILOND_STORE_PATH: jobs cannot be kept in") as raised:
            Store.open(Settings(store_path=str(path)))
        assert not isinstance(raised.value, StoreLocked)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "is not a database's URL"),
        ("sqlite://:port/x", "is not a database's URL|cannot be kept"),
        ("nothing://localhost", "an SQLite file or a PostgreSQL database"),
        ("oracle://user:secret-31337@localhost/x", "an SQLite file or a PostgreSQL database"),
        ("postgresql+asyncpg://user:secret-31337@localhost/x", "write postgresql://"),
        ("postgresql://user:secret-31337@127.0.0.1:1/x", "cannot be kept in postgresql://user:.*@127.0.0.1:1/x"),
        ("postgresql://user:secret%2D31337@127.0.0.1:1/x", "cannot be kept"),
        ("postgresql://127.0.0.1:1/x?user=u&password=secret-31337", "cannot be kept"),
        ("postgresql://127.0.0.1:1/x?nonsense=secret-31337", "cannot be kept"),
    ],
)
def test_a_url_that_cannot_be_one_is_refused_without_its_secrets(url: str, message: str) -> None:
    with pytest.raises(StoreUnavailable, match=message) as raised:
        Store.open(Settings(store_url=url))
    assert str(raised.value).startswith("EPSILOND_STORE_URL")
    assert "31337" not in str(raised.value)


def test_a_database_that_is_not_there_is_told(postgresql_server: str) -> None:
    with pytest.raises(StoreUnavailable, match='database "epsilond_none" does not exist'):
        Store.open(Settings(store_url=f"{postgresql_server}/epsilond_none"))


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreUnavailable, match=r"pip install 'epsilond\[postgresql\]'"):
        Store.open(Settings(store_url="postgresql://localhost/x"))


def test_other_names_of_postgresql_are_taken(postgresql_url: str) -> None:
    for name in ("postgres", "postgresql+psycopg"):
        store = Store.open(Settings(store_url=postgresql_url.replace("postgresql", name, 1)))
        assert store.shared
        store.close()

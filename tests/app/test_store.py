"""The store: what is kept, in which order, for how long, and what it says when it cannot keep anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from epsilond.app.jobs.records import End, Record
from epsilond.app.jobs.store import Store, StoreUnavailable
from epsilond.app.settings import Settings, state_file


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A file in a directory that is not there yet."""
    return Settings(store_path=str(tmp_path / "state" / "jobs.sqlite"))


def record(name: str, **members: object) -> Record:
    """A simulation just taken in."""
    made = Record(
        id=name, kind="dice", created=1.0, blocks=3, seconds=2.0, engine_version="0", fingerprint="f", request=b"{}"
    )
    return replace(made, **members)  # type: ignore[arg-type]


def filled(store: Store, count: int) -> None:
    """So many that ended at 1, 2, 3, …, with results of ten bytes beside two of the request."""
    for place in range(1, count + 1):
        store.add(record(f"s{place}"))
        store.end(f"s{place}", End(status="done", blocks_done=3, result=b"0123456789"), float(place))


def names(store: Store) -> list[str]:
    """Those that are kept, newest first."""
    return [each.id for each in store.page("", None, None, 100)]


def test_what_was_kept_is_there_when_it_is_opened_again(settings: Settings) -> None:
    store = Store.open(settings)
    kept = store.add(record("a", idempotency_key="k"))
    assert kept == record("a", idempotency_key="k", sequence=kept.sequence)
    store.start("a", 5.0)
    store.end("a", End(status="done", blocks_done=3, result=b"[1]"), 6.0)
    store.close()
    again = Store.open(settings)
    assert again.get("", "a") == replace(kept, status="done", started=5.0, ended=6.0, blocks_done=3, result=b"[1]")
    assert again.with_key("", "k") == again.get("", "a")
    assert again.get("", "b") is again.with_key("", "l") is None
    again.close()


def test_memory_forgets() -> None:
    settings = Settings(store_path=":memory:")
    first, second = Store.open(settings), Store.open(settings)
    first.add(record("a"))
    assert names(first) == ["a"]
    assert names(second) == []
    first.close()
    second.close()


def test_a_url_goes_before_the_file(settings: Settings, tmp_path: Path) -> None:
    store = Store.open(settings.model_copy(update={"store_url": f"sqlite:///{tmp_path}/other.sqlite"}))
    store.close()
    assert (tmp_path / "other.sqlite").exists()
    assert not Path(settings.store_path).exists()


def test_a_key_is_of_one_simulation() -> None:
    store = Store.open(Settings(store_path=":memory:"))
    first = store.add(record("a", idempotency_key="k"))
    assert store.add(record("b", idempotency_key="k")) == first
    assert names(store) == ["a"]
    store.close()


def test_what_was_left_is_interrupted_and_what_has_ended_stays() -> None:
    store = Store.open(Settings(store_path=":memory:"))
    filled(store, 1)
    for name in ("queued", "running"):
        store.add(record(name))
    store.start("running", 2.0)
    assert store.interrupt(b"{}", 9.0) == 2
    assert store.interrupt(b"{}", 10.0) == 0
    left = store.get("", "running")
    assert left is not None
    assert (left.status, left.started, left.ended, left.problem) == ("interrupted", 2.0, 9.0, b"{}")
    ended = store.get("", "s1")
    assert ended is not None
    assert ended.status == "done"
    store.close()


def test_a_result_goes_before_interrupted_and_before_nothing_else() -> None:
    store = Store.open(Settings(store_path=":memory:"))
    for name in ("late", "gone"):
        store.add(record(name))
    assert store.interrupt(b"{}", 9.0) == 2
    assert not store.end("gone", End(status="failed", problem=b"[]"), 11.0)
    assert store.end("late", End(status="done", blocks_done=3, result=b"late"), 11.0)
    assert not store.end("late", End(status="done", result=b"later"), 12.0)
    assert not store.end("none", End(status="done"), 12.0)
    gone, late = store.get("", "gone"), store.get("", "late")
    assert gone is not None
    assert late is not None
    assert (gone.status, gone.problem) == ("interrupted", b"{}")
    assert (late.status, late.ended, late.result, late.problem) == ("done", 11.0, b"late", None)
    store.close()


def test_only_what_has_ended_is_removed() -> None:
    store = Store.open(Settings(store_path=":memory:"))
    filled(store, 1)
    store.add(record("queued"))
    assert [store.remove("", name) for name in ("s1", "s1", "queued", "none")] == [True, False, False, False]
    assert names(store) == ["queued"]
    store.close()


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({}, ["s5", "s4", "s3", "s2", "s1"]),
        ({"ended_before": 3.0}, ["s5", "s4", "s3"]),
        ({"jobs": 2}, ["s5", "s4"]),
        ({"size": 36}, ["s5", "s4", "s3"]),
        ({"size": 35}, ["s5", "s4"]),
        ({"ended_before": 2.0, "jobs": 3, "size": 12}, ["s5"]),
    ],
)
def test_retention(limits: dict[str, float], kept: list[str]) -> None:
    store = Store.open(Settings(store_path=":memory:"))
    store.add(record("queued"))
    filled(store, 5)
    removed = store.prune(**{"ended_before": 0.0, "jobs": 100, "size": 10**6} | limits)  # type: ignore[arg-type]
    assert names(store) == [*kept, "queued"]
    assert removed == 5 - len(kept)
    store.close()


def test_one_service_a_file(settings: Settings) -> None:
    store = Store.open(settings)
    with pytest.raises(StoreUnavailable, match=r"EPSILOND_STORE_PATH: another service .*jobs\.sqlite"):
        Store.open(settings)
    store.close()
    Store.open(settings).close()


def test_one_service_a_file_whatever_it_is_called(settings: Settings, tmp_path: Path) -> None:
    store = Store.open(settings)
    link = tmp_path / "link.sqlite"
    link.symlink_to(settings.store_path)
    other = tmp_path / "other"
    other.symlink_to(Path(settings.store_path).parent)
    for name in (link, other / "jobs.sqlite", tmp_path / "other" / ".." / "state" / "jobs.sqlite"):
        for chosen in (Settings(store_path=str(name)), Settings(store_url=f"sqlite:///{name}")):
            with pytest.raises(StoreUnavailable, match="another service"):
                Store.open(chosen)
    store.close()
    Store.open(Settings(store_path=str(link))).close()


def test_a_file_that_cannot_be_told_by_its_name_is_refused(settings: Settings, tmp_path: Path) -> None:
    Store.open(settings).close()
    for uri in (f"file:{settings.store_path}?uri=true", f"{settings.store_path}?uri=true", "file::memory:?uri=true"):
        with pytest.raises(StoreUnavailable, match=r"EPSILOND_STORE_URL: .*a file: URI is not taken"):
            Store.open(Settings(store_url=f"sqlite:///{uri}"))
    (tmp_path / "hard.sqlite").hardlink_to(settings.store_path)
    with pytest.raises(StoreUnavailable, match="several names"):
        Store.open(Settings(store_path=str(tmp_path / "hard.sqlite")))


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("this is no database, but long enough to be looked at as one " * 20)
    for path in (tmp_path, file, file / "jobs.sqlite"):
        with pytest.raises(StoreUnavailable, match="EPSILOND_STORE_PATH: simulations cannot be kept in"):
            Store.open(Settings(store_path=str(path)))
    for url, message in (
        ("nonsense", "is not a database's URL"),
        ("nothing://localhost", "cannot be kept"),
        ("oracle://user:secret-31337@localhost/x", "cannot be kept"),
    ):
        with pytest.raises(StoreUnavailable, match=message) as raised:
            Store.open(Settings(store_url=url))
        assert str(raised.value).startswith("EPSILOND_STORE_URL")
        assert "secret-31337" not in str(raised.value)


def test_where_state_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert state_file() == "/home/somebody/.local/state/epsilond/jobs.sqlite"
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert Settings().store_path == "/var/state/epsilond/jobs.sqlite"

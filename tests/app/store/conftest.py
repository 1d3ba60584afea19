"""Every kind of store, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from epsilond.app.settings import Settings
from epsilond.app.store import Store


@pytest.fixture(params=["file", "memory", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Of a file in a directory that is not there yet, of memory, and of a new database on a real server."""
    if request.param == "postgresql":
        return Settings(store_url=request.getfixturevalue("postgresql_url"))
    return Settings(store_path=":memory:" if request.param == "memory" else str(tmp_path / "state" / "jobs.sqlite"))


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """A new store."""
    opened = Store.open(settings)
    yield opened
    opened.close()


@pytest.fixture
def file_settings(tmp_path: Path) -> Settings:
    """Of a file in a directory that is not there yet."""
    return Settings(store_path=str(tmp_path / "state" / "jobs.sqlite"))


@pytest.fixture
def shared_settings(postgresql_url: str) -> Settings:
    """Of a new database on a real server."""
    return Settings(store_url=postgresql_url)


@pytest.fixture
def replicas(shared_settings: Settings) -> Iterator[tuple[Store, Store]]:
    """The stores of two replicas on one database."""
    first, second = Store.open(shared_settings), Store.open(shared_settings)
    yield first, second
    first.close()
    second.close()

"""Every kind of database that ledgers are kept in, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from epsilond.ledgers.store.opening import open_store
from epsilond.storage.transactions import Database
from tests.app.postgresql import postgresql_server, postgresql_url  # noqa: F401 (fixtures)


@pytest.fixture(params=["file", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a file in a folder that is not there yet, and of a new database on a real server."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql_url")
    return str(tmp_path / "state" / "ledgers.sqlite")


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    """A new one, empty."""
    made = open_store(place)
    yield made
    made.close()


@pytest.fixture
def shared(postgresql_url: str) -> Iterator[Database]:  # noqa: F811
    """A new one, empty, on a real server."""
    made = open_store(postgresql_url)
    yield made
    made.close()

"""What an earlier version kept is kept, whoever opens it, and however often."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from epsilond.app.settings import Settings
from epsilond.app.store import Record, Store, StoreUnavailable
from epsilond.app.store.tables import TABLES
from tests.app.store.released import SIMULATIONS, connected, make_released
from tests.app.store.samples import claimed, queued


@pytest.fixture(params=["file", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Of a database that lasts."""
    if request.param == "postgresql":
        return Settings(store_url=request.getfixturevalue("postgresql_url"))
    return Settings(store_path=str(tmp_path / "jobs.sqlite"))


def expected(sequence: int, tick: float) -> Record:
    """The job that the simulation of this place became."""
    name, status, started, ended, blocks, owner, key, result, problem = SIMULATIONS[sequence - 1]
    left = status == "running"
    request = f'{{"seed": "{name}"}}'.encode()
    return Record(
        sequence=sequence,
        id=name,
        kind="simulation",
        name="dice",
        state="queued" if left else status,
        created=10.5,
        started=None if left else started,
        ended=ended,
        steps=4,
        steps_done=blocks,
        seconds=2.5,
        engine_version="0.2.0",
        owner=owner,
        caller=owner,
        idempotency_key=key,
        fingerprint=f"of {name}",
        request=request,
        media_type="application/json" if result else None,
        result=result,
        problem=problem,
        size=len(request) + len(result or b"") + len(problem or b""),
        queued_tick=tick,
        ended_tick=None if ended is None else 0.0,
    )


def test_the_simulations_of_the_released_version_become_jobs(settings: Settings) -> None:
    make_released(settings)
    store = Store.open(settings)
    for place, (name, *_, owner, _, _, _) in enumerate(SIMULATIONS, start=1):
        found = store.get(owner, name)
        assert found == (None if place == 1 else expected(place, found.queued_tick))
    assert queued(store, "new").sequence == len(SIMULATIONS) + 1
    store.close()
    with connected(settings) as connection:
        assert {*inspect(connection).get_table_names()} - {"sqlite_sequence"} == {"alembic_version", "jobs", "ticks"}


def test_what_waited_in_the_released_version_can_be_run(settings: Settings) -> None:
    make_released(settings)
    store = Store.open(settings)
    taken = store.claim("me", engine_version="0.2.0", limit=9, lease_seconds=600.0, exhausted=b"{}")
    assert {each.id for each in taken} == {"sim_queued", "sim_running"}
    store.close()


def test_the_tables_are_those_that_the_service_asks(settings: Settings) -> None:
    Store.open(settings).close()
    with connected(settings) as connection:
        assert compare_metadata(MigrationContext.configure(connection), TABLES) == []


def test_a_table_of_no_released_version_is_left_alone(settings: Settings) -> None:
    with connected(settings) as connection:
        connection.execute(text("CREATE TABLE simulations (id INTEGER)"))
        connection.commit()
    with pytest.raises(StoreUnavailable, match=r"its table of simulations is of another version \(no blocks, "):
        Store.open(settings)
    with connected(settings) as connection:
        assert inspect(connection).get_table_names() == ["simulations"]


def test_tables_of_a_later_version_are_left_alone(settings: Settings) -> None:
    Store.open(settings).close()
    with connected(settings) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.commit()
    with pytest.raises(StoreUnavailable, match=r"of a later version of epsilond \(revision 9999\)"):
        Store.open(settings)


def test_replicas_may_start_together(shared_settings: Settings) -> None:
    make_released(shared_settings)
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: Store.open(shared_settings), range(6)))
    assert {len(store.page("")) for store in stores} == {4}
    assert claimed(stores[0], "me") == []
    for store in stores:
        store.close()

"""Many writers over HTTP never pass a slot's capacity: on SQLite, and on PostgreSQL at two replicas."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import cycle, islice

import httpx
import pytest

from epsilond.ledgers.http.examples import QUERY
from tests.app.conftest import PATIENT, serving
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, key, opened, slot_of, verify
from tests.app.postgresql import database_of

WRITERS = 8
EACH = 4
FITTING = 20
"""Of 32 charges of 1/400, with what rounding up adds."""
CAPACITY = Decimal("0.0500000000001")
Replicas = list[httpx.Client]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def replicas(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    """Serve from every replica of a service; return their clients."""
    folder = tmp_path_factory.mktemp("replicas")
    if request.param == "sqlite":
        with serving(PATIENT.model_copy(update={"store_path": str(folder / "jobs.sqlite")})) as one:
            yield [one]
        return
    with database_of(request.getfixturevalue("postgresql_server")) as url:
        chosen = {"store_url": url, "ledger_keys": str(folder / "keys"), "workers": 2}
        settings = PATIENT.model_copy(update=chosen)
        with serving(settings) as first, serving(settings) as second:
            yield [first, second]


def test_no_more_is_granted_than_there_is(replicas: Replicas) -> None:
    slots = [{"kind": "gdp", "capacity": {"mu_squared": str(CAPACITY)}}]
    ledger = opened(replicas[0], plan=[], slots=slots)["id"]

    def write(client: httpx.Client) -> list[bytes]:
        """Reserve and commit one charge after another; answers the receipts."""
        found = []
        for _ in range(EACH):
            job = {"spec": QUERY, "slot": "gdp"}
            held = client.post(f"{LEDGERS}/{ledger}/reservations", json=job, headers=key())
            if held.status_code == 409:
                assert held.json()["type"] == "/problems/ledger-exhausted"
                continue
            assert held.status_code == 201, held.text
            where, same = f"{RESERVATIONS}/{held.json()['id']}/commits", key()
            receipts = {client.post(where, json={}, headers=same).content for _ in range(2)}
            assert len(receipts) == 1
            found += receipts
        return found

    with ThreadPoolExecutor(WRITERS) as pool:
        granted = [each for found in pool.map(write, islice(cycle(replicas), WRITERS)) for each in found]
    assert len(granted) == FITTING
    keys = replicas[-1].get("/v1/keys").json()
    receipts = [httpx.Response(201, content=each).json() for each in granted]
    assert len({verify(receipt, keys) for receipt in receipts}) == FITTING
    for client in replicas:
        slot = slot_of(client, ledger)
        assert slot["used"]["mu_squared"] <= CAPACITY
        assert slot["used"]["mu_squared"] + slot["remaining"]["mu_squared"] == CAPACITY
        assert slot["reserved"]["mu_squared"] == 0
        entries = client.get(f"{LEDGERS}/{ledger}/entries", params={"limit": 1000}).json()["entries"]
        assert [each["kind"] for each in entries].count("committed") == FITTING


def test_one_key_at_every_replica_is_one_reservation(replicas: Replicas) -> None:
    ledger, same = opened(replicas[0])["id"], key()
    where, job = f"{LEDGERS}/{ledger}/reservations", {"spec": QUERY, "slot": "gdp"}
    with ThreadPoolExecutor(WRITERS) as pool:
        posts = [pool.submit(each.post, where, json=job, headers=same) for each in islice(cycle(replicas), WRITERS)]
        answers = {post.result().content for post in posts}
    assert {post.result().status_code for post in posts} == {201}
    assert len(answers) == 1
    kinds = [each["kind"] for each in replicas[-1].get(f"{LEDGERS}/{ledger}/entries").json()["entries"]]
    assert kinds == ["opened", "reserved"]


def test_a_shared_store_without_keys_has_no_ledgers(postgresql_url: str) -> None:
    """Each replica would sign with keys of its own."""
    with serving(PATIENT.model_copy(update={"store_url": postgresql_url})) as client:
        refused = client.get(LEDGERS)
        assert refused.status_code == 503
        assert "EPSILOND_LEDGER_KEYS" in refused.json()["detail"]

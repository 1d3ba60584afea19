"""A request that is sent again with its idempotency key is answered again, and debits nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx

from epsilond.ledgers.http.examples import QUERY
from tests.app.conftest import problem
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, key, opened, reserved, slot_of


def test_a_ledger_is_opened_once(client: httpx.Client) -> None:
    asked, same = body(), key()
    answers = [client.post(LEDGERS, json=asked, headers=same) for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    problem(client.post(LEDGERS, json=asked | {"name": "x"}, headers=same), 422, "idempotency-key-reused")


def test_a_reservation_is_made_once(client: httpx.Client) -> None:
    ledger, same = opened(client)["id"], key()
    where, job = f"{LEDGERS}/{ledger}/reservations", {"spec": QUERY, "slot": "gdp"}
    answers = [client.post(where, json=job, headers=same) for _ in range(3)]
    assert len({each.content for each in answers}) == 1
    price = answers[0].json()["charge"]["parts"]["mu_squared"]
    assert str(slot_of(client, ledger)["reserved"]["mu_squared"]) == price
    problem(client.post(where, json=job | {"count": 2}, headers=same), 422, "idempotency-key-reused")


def test_receipts_are_equal_byte_for_byte(client: httpx.Client) -> None:
    ledger, same = opened(client)["id"], key()
    held = reserved(client, ledger, spec=QUERY, slot="gdp", count=3)["id"]
    where = f"{RESERVATIONS}/{held}/commits"
    with ThreadPoolExecutor(8) as pool:
        at_once = [pool.submit(client.post, where, json={"count": 1}, headers=same) for _ in range(8)]
        first = {each.result().content for each in at_once}
    assert {each.result().status_code for each in at_once} == {201}
    reserved(client, ledger)  # the log has grown
    assert {client.post(where, json={"count": 1}, headers=same).content} == first
    assert len(first) == 1
    assert client.get(f"{RESERVATIONS}/{held}").json()["committed"] == 1
    problem(client.post(where, json={"count": 2}, headers=same), 422, "idempotency-key-reused")
    assert client.post(where, json={"count": 2}, headers=key()).status_code == 201


def test_a_refusal_is_not_kept(client: httpx.Client) -> None:
    ledger, same = opened(client, slots=[{"kind": "gdp", "capacity": {"mu_squared": "0.003"}}])["id"], key()
    held = reserved(client, ledger)["id"]
    where, job = f"{LEDGERS}/{ledger}/reservations", {"spec": QUERY, "slot": "gdp"}
    problem(client.post(where, json=job, headers=same), 409, "ledger-exhausted")
    client.delete(f"{RESERVATIONS}/{held}")
    assert client.post(where, json=job, headers=same).status_code == 201

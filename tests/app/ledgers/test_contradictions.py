"""A contradicted ledger over HTTP: its answers, its page, and what is refused with which problem."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from epsilond.ledgers.http.examples import CONTRADICT, QUERY
from tests.app.conftest import problem
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, committed, key, opened, reserved

SEEN: dict[str, Any] = CONTRADICT["repeated-batches"]["value"]["observations"][0]
SENTENCE = f"{SEEN['premise']}: {SEEN['message']} (12 times). {SEEN['remedy']}"


def contradicted(client: httpx.Client, ledger: str, **more: Any) -> dict[str, Any]:
    """The ledger after a contradiction."""
    response = client.post(f"{LEDGERS}/{ledger}/contradictions", json={"observations": [SEEN], **more}, headers=key())
    assert response.status_code == 201, response.text
    assert response.headers["location"] == f"{LEDGERS}/{ledger}"
    found: dict[str, Any] = response.json()
    return found


@pytest.fixture(scope="module")
def paid(client: httpx.Client) -> tuple[str, str]:
    """A contradicted ledger, and the reservation that paid for the run."""
    ledger = opened(client)["id"]
    held = reserved(client, ledger, item="train", count=300)["id"]
    committed(client, held, count=100)
    assert contradicted(client, ledger, reservations=[held])["state"] == "contradicted"
    return ledger, held


def test_the_answer_has_no_guarantee(client: httpx.Client, paid: tuple[str, str]) -> None:
    answer = client.get(f"{LEDGERS}/{paid[0]}").json()
    assert (answer["state"], answer["observations"], answer["curve"]) == ("contradicted", [SEEN], [])
    assert "guarantee" not in answer
    listed = {each["id"]: each["state"] for each in client.get(f"{LEDGERS}?limit=100").json()["ledgers"]}
    assert listed[paid[0]] == "contradicted"
    entries = client.get(f"{LEDGERS}/{paid[0]}/entries").json()["entries"]
    assert [each["kind"] for each in entries] == ["opened", "reserved", "committed", "contradicted"]
    assert [each.get("contradicted") for each in entries] == [None, None, True, None]
    assert (entries[-1]["observations"], entries[-1]["reservations"]) == ([SEEN], [paid[1]])


def test_nothing_more_is_paid(client: httpx.Client, paid: tuple[str, str]) -> None:
    ledger, held = paid
    for path, body in (
        (f"{LEDGERS}/{ledger}/reservations", {"spec": QUERY, "slot": "gdp"}),
        (f"{RESERVATIONS}/{held}/commits", {"count": 1}),
        (f"{LEDGERS}/{ledger}/amendments", {"lower": [{"name": "train", "planned": 500}]}),
        (f"{LEDGERS}/{ledger}/seal", {}),
        (f"{LEDGERS}/{ledger}/calibrations/gaussian", {"fields": {"sampling": "full", "rounds": 5}, "slot": "gdp"}),
    ):
        refused = problem(client.post(path, json=body, headers=key()), 409, "run-differs")
        assert refused["observations"] == [SEEN]
    answer = client.post(f"{LEDGERS}/{ledger}/what-if", json={"spec": QUERY, "slot": "gdp"}).json()
    assert not answer["fits"]
    assert SENTENCE in answer["reason"]


def test_reports_have_the_reasons_and_no_figure(client: httpx.Client) -> None:
    ledger = opened(client)
    contradicted(client, ledger["id"])
    where = f"{LEDGERS}/{ledger['id']}/report"
    page = client.get(where, headers={"accept": "text/html"}).text
    assert SENTENCE in page
    assert "there is no ε" in page
    assert "ε at most" not in page
    record = client.get(where, headers={"accept": "application/json"}).json()["report"]
    assert record["ledger"]["observations"] == [SEEN]
    for figure in ("epsilon", "log10_delta"):
        assert repr(ledger["guarantee"][figure]) not in json.dumps(record)
        assert repr(ledger["guarantee"][figure]) not in page


def test_what_is_held_returns_and_it_may_be_closed(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    held = reserved(client, ledger, item="train", count=300)["id"]
    committed(client, held, count=100)
    contradicted(client, ledger)
    seen = client.get(f"{RESERVATIONS}/{held}").json()
    assert "run-differs" in {each["code"] for each in seen["warnings"]}
    assert seen["receipts"] == []
    assert client.delete(f"{RESERVATIONS}/{held}").json()["state"] == "cancelled"
    closed = client.post(f"{LEDGERS}/{ledger}/close")
    assert (closed.status_code, closed.json()["state"]) == (200, "contradicted")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"observations": []}, "/observations"),
        ({"observations": [SEEN] * 101}, "/observations"),
        ({"observations": [SEEN | {"count": -1}]}, "/observations/0/count"),
        ({"observations": [SEEN | {"message": ""}]}, "/observations/0/message"),
        ({"observations": [SEEN | {"message": "x" * 2001}]}, "/observations/0/message"),
        ({"observations": [{"premise": "noise"}]}, "/observations/0/message"),
        ({"reservations": ["reservation_nobody"]}, "/reservations/0"),
    ],
)
def test_what_is_no_contradiction_is_named(client: httpx.Client, change: dict[str, Any], pointer: str) -> None:
    ledger = opened(client)["id"]
    body = {"observations": [SEEN]} | change
    where = f"{LEDGERS}/{ledger}/contradictions"
    refused = problem(client.post(where, json=body, headers=key()), 422, "invalid-input")
    assert pointer in [each["pointer"] for each in refused["errors"]]
    assert client.get(f"{LEDGERS}/{ledger}").json()["state"] == "open"


def test_a_key_is_required_and_names_one_request(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    where, body = f"{LEDGERS}/{ledger}/contradictions", {"observations": [SEEN]}
    problem(client.post(where, json=body), 422, "invalid-input")
    same = key()
    first, second = (client.post(where, json=body, headers=same).json() for _ in range(2))
    assert first["observations"] == second["observations"] == [SEEN]
    problem(client.post(where, json={"observations": [SEEN] * 2}, headers=same), 422, "idempotency-key-reused")
    problem(client.post(f"{LEDGERS}/ledger_nobody/contradictions", json=body, headers=key()), 404, "not-found")

"""What ledgers refuse, by its kind, and that nothing was moved then."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from epsilond.ledgers.http.examples import QUERY, TRAINING
from epsilond.ledgers.requests import MOST_LEDGERS
from tests.app.conftest import problem
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, committed, key, opened, reserved

SMALL = [{"kind": "gdp", "capacity": {"mu_squared": "0.01"}}]


def test_a_block_has_one_ledger_a_closed_one_too(client: httpx.Client) -> None:
    asked = body()
    first = client.post(LEDGERS, json=asked).json()["id"]
    client.post(f"{LEDGERS}/{first}/close")
    refused = problem(client.post(LEDGERS, json=asked | {"name": "again"}), 409, "block-already-has-ledger")
    assert refused["nearest"] == {"ledger": first}


def test_what_is_beyond_the_target_is_not_opened(client: httpx.Client) -> None:
    refused = problem(client.post(LEDGERS, json=body(target={"epsilon": 0.5, "delta": 1e-6})), 409, "infeasible")
    asked = body(target={"epsilon": 0.5, "delta": 1e-6}, slots=[])
    found = problem(client.post(LEDGERS, json=asked), 409, "infeasible")
    assert refused["detail"]
    assert found["condition"]["left"] > found["condition"]["right"]
    nearest = found["nearest"]["epsilon"]
    opened(client, target={"epsilon": nearest * 1.000001, "delta": 1e-6}, slots=[])


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"declared": {"inputs": "functions-of-releases", "sealed": True, "released_before": True}}, "/declared/released_before"),
        ({"plan": [], "slots": []}, "/plan"),
        ({"slots": [{"kind": "gdp", "capacity": {"mu_squared": "much"}}]}, "/slots/0/capacity/mu_squared"),
        ({"slots": [{"kind": "gdp"}, {"kind": "pure"}]}, "/slots/1/capacity"),
        ({"name": ""}, "/name"),
        ({"dataset": "a\x00b"}, "/dataset"),
        ({"plan": [{"name": "a\nb", "spec": TRAINING}]}, "/plan/0/name"),
        ({"target": {"epsilon": 8.0}}, "/target"),
        ({"surprise": 1}, "/surprise"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_named(client: httpx.Client, change: dict[str, Any], pointer: str) -> None:
    refused = problem(client.post(LEDGERS, json=body(**change)), 422, "invalid-input")
    assert any(each["pointer"].startswith(pointer) for each in refused["errors"]), refused


@pytest.mark.parametrize(
    ("ledgers", "message"),
    [
        ([], "are too few or too many"),
        ([f"l{number}" for number in range(MOST_LEDGERS + 1)], "are too few or too many"),
        (["first", "first"], "name a ledger twice"),
    ],
)
def test_ledgers_of_a_reservation_are_some_and_different(
    client: httpx.Client, ledgers: list[str], message: str
) -> None:
    asked = {"spec": QUERY, "slot": "gdp", "count": 1, "ledgers": ledgers}
    refused = problem(client.post(RESERVATIONS, json=asked, headers=key()), 422, "invalid-input")
    assert [(each["pointer"], each["message"]) for each in refused["errors"]] == [("/ledgers", message)]


def test_more_than_is_left(client: httpx.Client) -> None:
    ledger = opened(client, slots=SMALL)["id"]
    where = f"{LEDGERS}/{ledger}/reservations"
    refused = problem(
        client.post(where, json={"spec": QUERY, "slot": "gdp", "count": 5}, headers=key()), 409, "ledger-exhausted"
    )
    assert refused["nearest"]["largest_count"] in (3.0, 4.0)
    assert refused["nearest"]["smallest_noise_multiplier"] > 20.0
    assert refused["condition"]["left"] > refused["condition"]["right"]
    fits = int(refused["nearest"]["largest_count"])
    reserved(client, ledger, spec=QUERY, slot="gdp", count=fits)
    of_plan = problem(client.post(where, json={"item": "train", "count": 1001}, headers=key()), 409, "ledger-exhausted")
    assert of_plan["nearest"] == {"largest_count": 1000.0}


def test_what_is_not_planned(client: httpx.Client) -> None:
    where = f"{LEDGERS}/{opened(client)['id']}/reservations"
    problem(client.post(where, json={"spec": QUERY}, headers=key()), 409, "not-in-plan")
    problem(client.post(where, json={"item": "other"}, headers=key()), 409, "not-in-plan")
    riskier = {"kind": "repeated", "times": 10, "mechanism": TRAINING["mechanism"] | {"rate": 0.02}}
    problem(client.post(where, json={"item": "train", "spec": riskier}, headers=key()), 409, "not-in-plan")


def test_before_it_is_sealed_and_after_it_was_closed(client: httpx.Client) -> None:
    unsealed = {"inputs": "functions-of-releases", "sealed": False, "released_before": False}
    ledger = opened(client, declared=unsealed)["id"]
    where, job = f"{LEDGERS}/{ledger}", {"spec": QUERY, "slot": "gdp"}
    problem(client.post(f"{where}/reservations", json=job, headers=key()), 409, "not-sealed")
    assert client.post(f"{where}/what-if", json=job).json()["fits"] is False
    assert client.post(f"{where}/seal").json()["sealed"] is True
    held = reserved(client, ledger)
    assert client.post(f"{where}/close").json()["state"] == "closed"
    problem(client.post(f"{where}/reservations", json=job, headers=key()), 409, "ledger-closed")
    committed(client, held["id"])


def test_what_has_ended(client: httpx.Client) -> None:
    held = reserved(client, opened(client)["id"])
    where = f"{RESERVATIONS}/{held['id']}"
    assert client.delete(where).json()["state"] == "cancelled"
    assert client.delete(where).json()["state"] == "cancelled"
    problem(client.post(f"{where}/commits", json={}, headers=key()), 409, "reservation-expired")


def test_a_key_is_needed_where_a_retry_would_debit_again(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    held = reserved(client, ledger)["id"]
    many = {"ledgers": [ledger], "item": "train"}
    for path, sent in (
        (f"{LEDGERS}/{ledger}/reservations", {"item": "train"}),
        (RESERVATIONS, many),
        (f"{RESERVATIONS}/{held}/commits", {}),
    ):
        refused = problem(client.post(path, json=sent), 422, "invalid-input")
        assert [each["parameter"] for each in refused["errors"]] == ["Idempotency-Key"]
    assert client.get(f"{RESERVATIONS}/{held}").json()["committed"] == 0


@pytest.mark.parametrize(
    "path", [f"{LEDGERS}/none", f"{LEDGERS}/none/entries", f"{LEDGERS}/none/report", f"{RESERVATIONS}/none"]
)
def test_what_is_not_there(client: httpx.Client, path: str) -> None:
    problem(client.get(path), 404, "not-found")


def test_moves_of_what_is_not_there(client: httpx.Client) -> None:
    for path, sent in (
        (f"{LEDGERS}/none/what-if", {"item": "train"}),
        (f"{LEDGERS}/none/reservations", {"item": "train"}),
        (RESERVATIONS, {"ledgers": ["none"], "item": "train"}),
        (f"{RESERVATIONS}/none/commits", {}),
    ):
        problem(client.post(path, json=sent, headers=key()), 404, "not-found")
    for path in (f"{LEDGERS}/none/seal", f"{LEDGERS}/none/close"):
        problem(client.post(path), 404, "not-found")
    problem(client.delete(f"{RESERVATIONS}/none"), 404, "not-found")
    problem(client.get("/v1/log/proofs?entry=1000000"), 404, "not-found")
    problem(client.get("/v1/log/proofs?from=1000000"), 404, "not-found")


@pytest.mark.parametrize("query", ["", "entry=0&from=0", "entry=0&to=1", "to=1", "entry=-1", "from=x"])
def test_proofs_of_nothing_in_particular(client: httpx.Client, query: str) -> None:
    problem(client.get(f"/v1/log/proofs?{query}"), 422, "invalid-input")


def test_operators_are_asked_who_they_are(client: httpx.Client) -> None:
    """Without keys nobody is an operator."""
    ledger = opened(client)["id"]
    held = reserved(client, ledger)["id"]
    committed(client, held)
    void = {"reservation": held, "count": 1, "declared": "no-output-observed"}
    problem(client.post(f"{LEDGERS}/{ledger}/voids", json=void, headers=key()), 403, "forbidden")
    accept = {"declared": "missing-entries-are-accounted-for"}
    problem(client.post("/v1/log/reconciliations", json=accept), 403, "forbidden")

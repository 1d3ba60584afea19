"""Ledgers as tests open them over HTTP."""

from __future__ import annotations

from decimal import Decimal
from itertools import count
from typing import Any

import httpx

from epsilond.ledgers.http.examples import LEDGER, QUERY, TRAINING
from epsilond.ledgers.log import receipts
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import published_keys

LEDGERS = "/v1/ledgers"
RESERVATIONS = "/v1/reservations"
STEP = TRAINING["mechanism"]
_FRESH = count()


def key(name: str = "") -> dict[str, str]:
    """The header of an idempotency key: this one, or one that was not used before."""
    return {"idempotency-key": name or f"key-{next(_FRESH)}"}


def body(**more: Any) -> dict[str, Any]:
    """The request of a ledger for a block that has none."""
    return LEDGER | {"block": f"block-{next(_FRESH)}"} | more


def opened(client: httpx.Client, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """A ledger of its own."""
    response = client.post(LEDGERS, json=body(**more), headers=headers)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    assert response.headers["location"] == f"{LEDGERS}/{found['id']}"
    return found


def reserved(client: httpx.Client, ledger: str, headers: dict[str, str] | None = None, **job: Any) -> dict[str, Any]:
    """Runs that are held; of the query in the Gaussian slot unless others are asked for."""
    asked = job or {"spec": QUERY, "slot": "gdp"}
    response = client.post(f"{LEDGERS}/{ledger}/reservations", json=asked, headers=key() | (headers or {}))
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    assert response.headers["location"] == f"{RESERVATIONS}/{found['id']}"
    return found


def committed(client: httpx.Client, reservation: str, **more: Any) -> dict[str, Any]:
    """The receipt of a commit."""
    response = client.post(f"{RESERVATIONS}/{reservation}/commits", json=more, headers=key())
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def slot_of(client: httpx.Client, ledger: str, headers: dict[str, str] | None = None) -> dict[str, dict[str, Decimal]]:
    """The Gaussian slot's balances."""
    slot = client.get(f"{LEDGERS}/{ledger}", headers=headers).json()["slots"][0]
    names = ("capacity", "used", "reserved", "remaining")
    return {name: {part: Decimal(text) for part, text in slot[name].items()} for name in names}


def verify(receipt: dict[str, Any], document: dict[str, Any]) -> int:
    """The number of a receipt's entry, once the receipt was verified with nothing but the published keys."""
    keys = [each.key for each in published_keys(document)]
    told = {name: receipt[name] for name in ("entry", "proof", "checkpoint", "signature")}
    receipts.verify(Receipt.of_record(told), keys[0].name, keys)
    place: int = receipt["proof"]["leaf_index"]
    return place

"""Answers that are signed: by a service with keys, whose signatures hold offline, also after its keys were exchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

import epsilond
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from epsilond.ledgers.book.reports import verify_report
from epsilond.ledgers.http import signatures
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.key_files import rotate
from epsilond.ledgers.log.signing import published_keys
from epsilond.ledgers.log.statements import HEADER
from tests.app.conftest import PATIENT, serving
from tests.app.ledgers.support import LEDGERS, committed, opened, reserved

ASKED = {
    "solve_for": "noise_multiplier",
    "epsilon": 2.0,
    "delta": 1e-6,
    "sampling": "full",
    "rounds": 10,
    "relation": "add-or-remove-one",
    "unit": "record",
    "observer": "server",
}
ACCOUNT = {
    "spec": {"kind": "gaussian", "noise_multiplier": 2.0},
    "relation": "replace-one",
    "query": {"delta": 1e-5},
    "unit": "record",
    "observer": "server",
}
CALIBRATIONS = "/v1/calibrations/gaussian"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return PATIENT.model_copy(update={"store_path": str(tmp_path_factory.mktemp("store") / "jobs.sqlite")})


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings, create_app(settings=settings)) as made:
        yield made


@pytest.fixture(scope="module")
def keys(client: httpx.Client) -> dict:
    return client.get("/v1/keys").json()


def answered(client: httpx.Client, path: str, body: dict) -> tuple[str, str]:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.text, response.headers[HEADER]


def test_a_calibration_is_of_its_request_and_computed_anew(client: httpx.Client, keys: dict) -> None:
    text, token = answered(client, CALIBRATIONS, ASKED)
    assert answered(client, CALIBRATIONS, ASKED) == (text, token)  # kept, and the same
    found = epsilond.verify(text, signature=token, keys=keys, request=ASKED)
    assert found.outcome == "exactly"
    assert found.signed_by == f"{keys['keys'][0]['name']} {keys['keys'][0]['kid']}"
    indented = json.dumps(json.loads(text), indent=1)
    assert epsilond.verify(indented, signature=token, keys=keys).outcome == "signed"
    other = json.loads(text)
    other["parameters"]["noise_multiplier"] /= 2.0
    assert epsilond.verify(json.dumps(other), signature=token, keys=keys).outcome == "broken"
    assert epsilond.verify(text, signature=token, keys=keys, request=ASKED | {"rounds": 11}).outcome == "broken"


def test_an_account_and_a_sweep_are_signed_as_what_they_are(client: httpx.Client, keys: dict) -> None:
    text, token = answered(client, "/v1/accounts", ACCOUNT)
    found = epsilond.verify(text, signature=token, keys=keys, request=ACCOUNT)
    assert (found.outcome, found.kind) == ("exactly", "account")
    swept = {**ASKED, "sweep": {"field": "epsilon", "values": [1.0, 2.0]}}
    answer, signature = answered(client, CALIBRATIONS, swept)
    found = epsilond.verify(answer, signature=signature, keys=keys, request=swept)
    assert (found.outcome, found.kind) == ("signed", "sweep")
    for one, other in ((text, signature), (answer, token)):
        assert epsilond.verify(one, signature=other, keys=keys).outcome == "broken"


def test_a_report_is_signed_to_the_byte(client: httpx.Client, keys: dict) -> None:
    page, token = answered(client, "/v1/reports", {"kind": "account", "request": ACCOUNT, "date": "2026-01-31"})
    found = epsilond.verify(page, signature=token, keys=keys)
    assert found.agrees
    assert found.signed_by is not None
    other, another = answered(client, "/v1/reports", {"kind": "account", "request": ACCOUNT})
    assert epsilond.verify(other, signature=token, keys=keys).outcome == "broken"
    assert epsilond.verify(page + "\n", signature=token, keys=keys).outcome == "broken"
    text, of_account = answered(client, "/v1/accounts", ACCOUNT)
    assert epsilond.verify(page, signature=of_account, keys=keys).outcome == "broken"
    assert epsilond.verify(text, signature=another, keys=keys).outcome == "broken"


def test_what_a_ledger_signs_is_none_of_an_answer(client: httpx.Client, keys: dict) -> None:
    ledger = opened(client)["id"]
    receipt = committed(client, reserved(client, ledger)["id"])
    report = client.get(f"{LEDGERS}/{ledger}/report", headers={"accept": "application/json"}).json()
    text, token = answered(client, "/v1/accounts", ACCOUNT)
    trusted = tuple(each.key for each in published_keys(keys))
    assert verify_report(report, trusted).kid == keys["keys"][0]["kid"]
    for signature in (receipt["signature"], report["signature"]):
        assert epsilond.verify(text, signature=signature, keys=keys).outcome == "broken"
        head, _, end = signature.partition("..")
        forged = f"{head}.{token.split('.')[1]}.{end}"
        assert epsilond.verify(text, signature=forged, keys=keys).outcome == "broken"
    head, _, end = token.split(".")
    for signature in (receipt["signature"], f"{head}..{end}"):
        with pytest.raises(NotVerified):
            verify_report(report | {"signature": signature}, trusted)


def test_the_page_of_a_ledger_is_what_is_answered_unless_json_is_asked_for(client: httpx.Client, keys: dict) -> None:
    ledger = opened(client)["id"]
    response = client.get(f"{LEDGERS}/{ledger}/report")
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    found = epsilond.verify(response.text, keys=keys)
    assert (found.outcome, found.kind, found.name) == ("signed", "ledger", "models of 2025")
    assert epsilond.verify(response.text.replace("ε = 8", "ε = 1", 1), keys=keys).outcome == "broken"


def test_a_job_has_the_signature_of_its_answer(client: httpx.Client, keys: dict) -> None:
    asked = ASKED | {"rounds": 12}
    key = {"idempotency-key": "signed-1"}
    first = client.post(CALIBRATIONS, json=asked, headers={**key, "prefer": "wait=0"})
    job = first.headers.get("location")
    if first.status_code == 202:
        assert HEADER not in first.headers
        result = client.get(f"{job}/result", headers={"prefer": "wait=60"})
        assert result.status_code == 200
        assert epsilond.verify(result.text, signature=result.headers[HEADER], keys=keys, request=asked).agrees
    again = client.post(CALIBRATIONS, json=asked, headers=key)
    assert epsilond.verify(again.text, signature=again.headers[HEADER], keys=keys, request=asked).agrees


def test_what_is_not_an_answer_has_no_signature(client: httpx.Client) -> None:
    for response in (client.post(CALIBRATIONS, json={}), client.get("/v1/algorithms"), client.get("/v1/keys")):
        assert HEADER not in response.headers


def test_after_a_rotation_old_signatures_hold_and_new_ones_are_of_the_new_key(
    client: httpx.Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signatures, "FRESH", 0.0)
    text, old = answered(client, "/v1/accounts", ACCOUNT)
    before = client.get("/v1/keys").json()
    rotate(Path(f"{settings.store_path}.keys"), before["keys"][0]["name"], datetime.now(UTC))
    same, new = answered(client, "/v1/accounts", ACCOUNT)  # without a restart
    after = client.get("/v1/keys").json()
    assert same == text
    assert new != old
    assert [epsilond.verify(text, signature=each, keys=after).signed_by.split()[-1] for each in (old, new)] == [
        each["kid"] for each in after["keys"]
    ]
    assert after["keys"][0]["until"] == after["keys"][1]["from"]
    assert epsilond.verify(text, signature=new, keys=before).outcome == "broken"  # who has only the old keys


def test_a_service_whose_keys_end_with_it_signs_nothing() -> None:
    with serving(PATIENT, create_app(settings=PATIENT)) as client:
        assert client.get("/v1/keys").status_code == 200
        assert HEADER not in client.post("/v1/accounts", json=ACCOUNT).headers

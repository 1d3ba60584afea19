"""Ledgers belong to the organisation of the key that opened them; what a key may do is its scopes' and its roles'."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.scopes import RoleName, ScopeName
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, problem, serving
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, key, opened, reserved, slot_of

GIVEN: dict[str, frozenset[ScopeName]] = {
    "ada": frozenset({"ledger"}),
    "bob": frozenset({"ledger"}),
    "cal": frozenset({"calibrate", "simulate", "metrics"}),
    "op": frozenset({"admin"}),
    "vet": frozenset({"ledger"}),
}
ORGANISATIONS = {"ada": "north", "bob": "south", "vet": "North"}
ROLES: dict[str, frozenset[RoleName]] = {"vet": frozenset({"approver"})}
KEYS = {
    name: keys.new(
        name, CallerLimits(), scopes, organisation=ORGANISATIONS.get(name), roles=ROLES.get(name, frozenset())
    )
    for name, scopes in GIVEN.items()
}


def bearer(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {KEYS[name][0]}"}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client without a key, of a server that asks for one."""
    file = file_of(tmp_path_factory.mktemp("keys"), *(line for _, line in KEYS.values()))
    with serving(PATIENT.model_copy(update={"api_keys_file": str(file)})) as served:
        yield served


def test_without_the_scope_nothing_opens(locked: httpx.Client) -> None:
    for name in ("cal", "op"):
        problem(locked.post(LEDGERS, json=body(), headers=bearer(name)), 403, "forbidden")
        for path in (LEDGERS, f"{LEDGERS}/x", f"{RESERVATIONS}/x", "/v1/log/checkpoint", "/v1/log/proofs?entry=0"):
            problem(locked.get(path, headers=bearer(name)), 403, "forbidden")
            problem(locked.get(path), 401, "unauthorized")
        assert locked.get("/v1/keys", headers=bearer(name)).status_code == 200


def test_nobody_sees_anothers(locked: httpx.Client) -> None:
    mine = opened(locked, bearer("ada"), block="shared")["id"]
    theirs = opened(locked, bearer("bob"), block="shared")["id"]
    held = reserved(locked, mine, bearer("ada"))
    for name, seen, hidden in (("ada", mine, theirs), ("bob", theirs, mine)):
        listed = [each["id"] for each in locked.get(LEDGERS, headers=bearer(name)).json()["ledgers"]]
        assert seen in listed
        assert hidden not in listed
        for path in ("", "/entries", "/report"):
            problem(locked.get(f"{LEDGERS}/{hidden}{path}", headers=bearer(name)), 404, "not-found")
    where, bob = f"{RESERVATIONS}/{held['id']}", bearer("bob")
    problem(locked.get(where, headers=bob), 404, "not-found")
    problem(locked.delete(where, headers=bob), 404, "not-found")
    problem(locked.post(f"{where}/commits", json={}, headers=bob | key()), 404, "not-found")
    job = {"item": "train", "count": 1}
    problem(locked.post(f"{LEDGERS}/{mine}/reservations", json=job, headers=bob | key()), 404, "not-found")
    problem(locked.post(RESERVATIONS, json=job | {"ledgers": [theirs, mine]}, headers=bob | key()), 404, "not-found")
    for move in ("seal", "close"):
        problem(locked.post(f"{LEDGERS}/{mine}/{move}", headers=bob), 404, "not-found")
    opening = locked.get(f"{LEDGERS}/{mine}/entries", headers=bearer("ada")).json()["entries"][0]["seq"]
    problem(locked.get(f"/v1/log/proofs?entry={opening}", headers=bob), 404, "not-found")


def test_keys_of_requests_are_of_one_tenant(locked: httpx.Client) -> None:
    same = key("of both")  # not a visible character more: a blank is none
    problem(locked.post(LEDGERS, json=body(), headers=bearer("ada") | same), 422, "invalid-input")
    same = key("of-both")
    ids = {opened(locked, bearer(name) | same)["id"] for name in ("ada", "bob")}
    assert len(ids) == 2


def test_an_approver_voids_and_the_log_says_who(locked: httpx.Client) -> None:
    ada = bearer("ada")
    ledger = opened(locked, ada)["id"]
    held = reserved(locked, ledger, ada)["id"]
    assert locked.post(f"{RESERVATIONS}/{held}/commits", json={}, headers=ada | key()).status_code == 201
    used = slot_of(locked, ledger, ada)["used"]["mu_squared"]
    where = f"{LEDGERS}/{ledger}/voids"
    void = {"reservation": held, "count": 1, "declared": "no-output-observed"}
    problem(locked.post(where, json=void, headers=ada | key()), 403, "forbidden")
    problem(locked.post(where, json=void, headers=bearer("op") | key()), 403, "forbidden")
    problem(locked.post(where, json=void, headers=bearer("vet")), 422, "invalid-input")
    problem(
        locked.post(where, json=void | {"declared": "nobody-looked"}, headers=bearer("vet") | key()),
        422,
        "invalid-input",
    )
    assert slot_of(locked, ledger, ada)["used"]["mu_squared"] == used > 0
    same = bearer("vet") | key()
    for _ in range(2):
        voided = locked.post(where, json=void, headers=same)
        assert voided.status_code == 201, voided.text
    assert voided.json()["conditional"] is True
    assert "ledger-unseen" in {each["id"] for each in voided.json()["declared_conditions"]}
    assert slot_of(locked, ledger, ada)["used"]["mu_squared"] == 0
    last = locked.get(f"{LEDGERS}/{ledger}/entries", headers=ada).json()["entries"][-1]
    written = {"kind": "voided", "requested_by": "vet", "declared": "no-output-observed", "tenant": "north"}
    assert {name: last[name] for name in written} == written
    problem(locked.post(where, json=void, headers=bearer("vet") | key()), 422, "invalid-input")

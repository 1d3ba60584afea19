"""Over HTTP: moves of a ledger with approval wait for an approver of the organisation who did not request them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import epsilond
from epsilond.accountants.errors import MoveEnded, SamePerson
from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.scopes import RoleName
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, problem, serving
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, key, opened, reserved

PEOPLE: dict[str, tuple[str, tuple[RoleName, ...]]] = {
    "olga": ("acme", ("owner",)),
    "rolf": ("acme", ("analyst",)),
    "vera": ("acme", ("approver",)),
    "walter": ("acme", ("approver",)),
    "anna": ("acme", ("auditor",)),
    "boss": ("acme", ("owner", "approver")),
    "xenia": ("other", ("owner", "approver")),
}
MADE = {
    name: keys.new(name, CallerLimits(), frozenset({"ledger"}), organisation=organisation, roles=frozenset(roles))
    for name, (organisation, roles) in PEOPLE.items()
} | {"op": keys.new("op", CallerLimits(), frozenset({"admin"}))}
LOWER = {"lower": [{"name": "train", "planned": 500}]}
ACCEPT = {"declared": "missing-entries-are-accounted-for"}


def bearer(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {MADE[name][0]}"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client without a key, of a server whose keys have one role each."""
    file = file_of(tmp_path_factory.mktemp("keys"), *(line for _, line in MADE.values()))
    with serving(PATIENT.model_copy(update={"api_keys_file": str(file)})) as client:
        yield client


@pytest.fixture
def ledger(served: httpx.Client) -> str:
    """A ledger with approval."""
    made = opened(served, bearer("olga"), approval=True)
    assert made["approval"] is True
    identifier: str = made["id"]
    return identifier


def pending(client: httpx.Client, ledger: str, by: str = "anna") -> list[dict[str, Any]]:
    """Return the pending moves of a ledger as a caller sees them."""
    moves: list[dict[str, Any]] = client.get(f"{LEDGERS}/{ledger}/pending", headers=bearer(by)).json()
    return moves


def requested(client: httpx.Client, ledger: str, by: str = "olga", asked: object = None) -> str:
    """Return the path of a pending amendment."""
    response = client.post(f"{LEDGERS}/{ledger}/amendments", json=asked or LOWER, headers=bearer(by) | key())
    assert response.status_code == 202, response.text
    move = response.json()
    assert response.headers["location"] == f"{LEDGERS}/{ledger}/pending/{move['id']}"
    assert move in pending(client, ledger)
    location: str = response.headers["location"]
    return location


def committed(client: httpx.Client, ledger: str) -> str:
    """Return a reservation of which a run was committed."""
    held: str = reserved(client, ledger, bearer("rolf"))["id"]
    assert client.post(f"{RESERVATIONS}/{held}/commits", json={}, headers=bearer("rolf") | key()).status_code == 201
    return held


def test_an_amendment_waits_for_another_person(served: httpx.Client, ledger: str) -> None:
    before = served.get(f"{LEDGERS}/{ledger}", headers=bearer("olga")).json()
    where = requested(served, ledger)
    move = served.get(where, headers=bearer("vera")).json()
    assert (move["kind"], move["state"], move["requested_by"]) == ("amend", "pending", "olga")
    assert move["body"]["lower"] == LOWER["lower"]
    assert move["requested_at"] < move["expires_at"]
    assert served.get(f"{LEDGERS}/{ledger}", headers=bearer("olga")).json() == before
    for name in ("olga", "rolf", "anna"):
        problem(served.post(f"{where}/approve", headers=bearer(name)), 403, "forbidden")
    done = served.post(f"{where}/approve", headers=bearer("vera"))
    assert (done.status_code, done.json()["state"], done.json()["closed_by"]) == (200, "approved", "vera")
    assert served.post(f"{where}/approve", headers=bearer("walter")).json() == done.json()
    assert pending(served, ledger) == []
    after = served.get(f"{LEDGERS}/{ledger}", headers=bearer("anna")).json()
    assert after["plan"][0]["planned"] == 500
    entries = served.get(f"{LEDGERS}/{ledger}/entries", headers=bearer("anna")).json()["entries"]
    names = [(each["kind"], each["requested_by"], each.get("approved_by")) for each in entries]
    assert names == [("opened", "olga", None), ("amended", "olga", "vera")]


def test_the_requester_does_not_approve(served: httpx.Client, ledger: str) -> None:
    where = requested(served, ledger, "boss")
    refusal = problem(served.post(f"{where}/approve", headers=bearer("boss")), 409, "same-person")
    assert "boss requested" in refusal["detail"]
    assert "boss cannot approve" in refusal["detail"]
    assert served.post(f"{where}/approve", headers=bearer("vera")).status_code == 200


def test_an_approver_of_another_organisation_gets_the_answer_of_an_id_that_is_none(
    served: httpx.Client, ledger: str
) -> None:
    theirs = requested(served, ledger)
    own = opened(served, bearer("xenia"), approval=True)["id"]
    move = theirs.rpartition("/")[2]
    for method, ending in (("GET", ""), ("POST", "/approve"), ("POST", "/reject")):
        answers = []
        for where in (theirs, f"{LEDGERS}/ledger_none/pending/{move}", f"{LEDGERS}/{own}/pending/{move}"):
            response = served.request(method, f"{where}{ending}", headers=bearer("xenia"))
            problem(response, 404, "not-found")
            answers.append({name: value for name, value in response.json().items() if name != "instance"})
        assert answers[0] == answers[1] == answers[2]
    problem(served.get(f"{LEDGERS}/{ledger}/pending", headers=bearer("xenia")), 404, "not-found")
    assert [each["id"] for each in pending(served, ledger)] == [move]


def test_an_analyst_requests_a_void_and_an_approver_makes_it(served: httpx.Client, ledger: str) -> None:
    asked = {"reservation": committed(served, ledger), "count": 1, "declared": "no-output-observed"}
    where = served.post(f"{LEDGERS}/{ledger}/voids", json=asked, headers=bearer("rolf") | key())
    assert where.status_code == 202
    problem(served.post(f"{where.headers['location']}/approve", headers=bearer("rolf")), 403, "forbidden")
    assert served.post(f"{where.headers['location']}/approve", headers=bearer("vera")).status_code == 200
    shown = served.get(f"{LEDGERS}/{ledger}", headers=bearer("rolf")).json()
    assert shown["conditional"]
    assert set(shown["slots"][0]["used"].values()) == {"0"}


def test_an_analyst_voids_nothing_without_approval(served: httpx.Client) -> None:
    plain = opened(served, bearer("olga"))
    assert plain["approval"] is False
    asked = {"reservation": committed(served, plain["id"]), "count": 1, "declared": "no-output-observed"}
    for name in ("rolf", "olga"):
        refused = served.post(f"{LEDGERS}/{plain['id']}/voids", json=asked, headers=bearer(name) | key())
        assert "role approver" in problem(refused, 403, "forbidden")["detail"]
    voided = served.post(f"{LEDGERS}/{plain['id']}/voids", json=asked, headers=bearer("vera") | key())
    assert voided.status_code == 201


def test_a_move_is_rejected_or_withdrawn(served: httpx.Client, ledger: str) -> None:
    where = requested(served, ledger)
    problem(served.post(f"{where}/reject", headers=bearer("rolf")), 403, "forbidden")
    problem(served.post(f"{where}/reject", headers=bearer("anna")), 403, "forbidden")
    assert served.post(f"{where}/reject", headers=bearer("olga")).json()["state"] == "withdrawn"
    problem(served.post(f"{where}/approve", headers=bearer("vera")), 409, "move-ended")
    again = requested(served, ledger)
    assert served.post(f"{again}/reject", headers=bearer("vera")).json()["state"] == "rejected"
    assert served.post(f"{again}/reject", headers=bearer("walter")).json()["closed_by"] == "vera"


def test_approval_is_turned_off_by_two_people_only(served: httpx.Client, ledger: str) -> None:
    where = requested(served, ledger, asked={"approval": False})
    assert served.get(f"{LEDGERS}/{ledger}", headers=bearer("anna")).json()["approval"]
    assert served.post(f"{where}/approve", headers=bearer("vera")).status_code == 200
    assert not served.get(f"{LEDGERS}/{ledger}", headers=bearer("anna")).json()["approval"]
    amended = served.post(f"{LEDGERS}/{ledger}/amendments", json=LOWER, headers=bearer("olga") | key())
    assert amended.status_code == 201
    on = served.post(f"{LEDGERS}/{ledger}/amendments", json={"approval": True}, headers=bearer("olga") | key())
    assert (on.status_code, on.json()["approval"]) == (201, True)


def test_the_library_requests_and_approves_with_two_keys(served: httpx.Client, ledger: str, tmp_path: Path) -> None:
    def place(name: str) -> Any:
        return epsilond.ledger(str(served.base_url), key=MADE[name][0], runs=tmp_path / name)

    with place("olga") as books:
        own = books.ledger(ledger)
        move = own.amend(lower={"train": 500})
        assert (move.state, move.requested_by) == ("pending", "olga")
        with pytest.raises(epsilond.EpsilondError, match="role approver"):
            own.approve(move.id)
        with pytest.raises(epsilond.InvalidInput, match="on a service the key says who calls"):
            own.amend(lower={"train": 400}, by="olga")
    with place("vera") as books:
        own = books.ledger(ledger)
        assert [each.id for each in own.pending()] == [move.id]
        assert own.approve(move.id).closed_by == "vera"
        assert own.show().plan[0]["planned"] == 500
        with pytest.raises(MoveEnded):
            own.reject(move.id)
    with place("boss") as books:
        second = books.ledger(ledger).amend(approval=False)
        with pytest.raises(SamePerson, match="boss cannot approve"):
            books.ledger(ledger).approve(second.id)
        assert books.ledger(ledger).reject(second.id).state == "withdrawn"


def test_a_service_without_names_opens_no_ledger_with_approval() -> None:
    with serving(PATIENT.model_copy(update={"ledgers_in_memory": True})) as client:
        refused = client.post(LEDGERS, json=body(approval=True))
        assert problem(refused, 422, "invalid-input")["errors"][0]["pointer"] == "/approval"


def test_an_accepted_log_moves_a_ledger_with_approval_only_once_its_approver_agrees(tmp_path: Path) -> None:
    file = file_of(tmp_path, *(line for _, line in MADE.values()))
    chosen = PATIENT.model_copy(
        update={
            "store_path": str(tmp_path / "here" / "jobs.sqlite"),
            "ledger_checkpoint": str(tmp_path / "there" / "head"),
            "api_keys_file": str(file),
        }
    )
    here, copy = Path(chosen.store_path).parent, tmp_path / "copy"
    with serving(chosen) as client:
        guarded = opened(client, bearer("olga"), approval=True)["id"]
        plain = opened(client, bearer("olga"))["id"]
    shutil.copytree(here, copy)
    with serving(chosen) as client:
        reserved(client, guarded, bearer("rolf"))
    shutil.rmtree(here)
    shutil.copytree(copy, here)
    with serving(chosen, reconciled=False) as client:
        for _ in range(2):
            accepted = client.post("/v1/log/reconciliations", json=ACCEPT, headers=bearer("op"))
            assert accepted.status_code in (201, 202)
        assert [each["kind"] for each in pending(client, guarded)] == ["reconcile"]
        assert pending(client, plain) == []
        reserved(client, plain, bearer("rolf"))
        job = {"item": "train", "count": 1}
        where = f"{LEDGERS}/{guarded}/reservations"
        problem(client.post(where, json=job, headers=bearer("rolf") | key()), 409, "awaits-approval")
        (move,) = pending(client, guarded)
        assert "the log has fewer" in move["body"]["reason"]
        assert move["requested_by"] == "op"
        assert "expires_at" not in move
        path = f"{LEDGERS}/{guarded}/pending/{move['id']}"
        problem(client.post(f"{path}/reject", headers=bearer("vera")), 409, "awaits-approval")
        assert client.post(f"{path}/approve", headers=bearer("vera")).status_code == 200
        assert client.post(where, json=job, headers=bearer("rolf") | key()).status_code == 201
        entries = client.get(f"{LEDGERS}/{guarded}/entries", headers=bearer("anna")).json()["entries"]
        (entry,) = [each for each in entries if each["kind"] == "reconciled"]
        assert (entry["requested_by"], entry["approved_by"]) == ("op", "vera")

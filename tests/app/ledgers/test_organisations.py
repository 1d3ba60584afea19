"""A data set belongs to an organisation: its keys share one ledger, with roles, and other organisations see nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import epsilond
from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.scopes import RoleName, ScopeName
from epsilond.ledgers.client.auditing import audited
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, problem, serving
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, key, opened, reserved
from tests.ledgers.earlier import take_organisations_away

LEDGER: frozenset[ScopeName] = frozenset({"ledger"})
ROLES: Mapping[str, frozenset[RoleName]] = {
    "owns": frozenset({"owner"}),
    "runs": frozenset({"analyst"}),
    "vets": frozenset({"approver"}),
    "reads": frozenset({"auditor"}),
}
MADE = {
    "alice": keys.new("alice", CallerLimits(), LEDGER, organisation="acme"),
    "bob": keys.new("bob", CallerLimits(), LEDGER, organisation="Acme"),
    "carol": keys.new("carol", CallerLimits(), LEDGER, organisation="other"),
    "op": keys.new("op", CallerLimits(), frozenset({"admin"})),
    **{name: keys.new(name, CallerLimits(), LEDGER, organisation="acme", roles=roles) for name, roles in ROLES.items()},
}
NAMELESS = {name: keys.new(name, CallerLimits(), LEDGER) for name in ("alice", "bob")}


def bearer(name: str, made: Mapping[str, tuple[str, keys.KeyLine]] = MADE) -> dict[str, str]:
    return {"authorization": f"Bearer {made[name][0]}"}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client without a key, of a server whose keys name organisations."""
    file = file_of(tmp_path_factory.mktemp("keys"), *(line for _, line in MADE.values()))
    with serving(PATIENT.model_copy(update={"api_keys_file": str(file)})) as served:
        yield served


@pytest.fixture(scope="module")
def nameless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client without a key, of a server whose keys name none."""
    file = file_of(tmp_path_factory.mktemp("keys"), *(line for _, line in NAMELESS.values()))
    with serving(PATIENT.model_copy(update={"api_keys_file": str(file)})) as served:
        yield served


def refused_second(client: httpx.Client, first: dict[str, str], second: dict[str, str]) -> None:
    ledger = opened(client, first, block="all", dataset="visits")["id"]
    for dataset in ("visits", "Visits", "VISITS"):
        again = client.post(LEDGERS, json=body(block="all", dataset=dataset), headers=second)
        problem(again, 409, "block-already-has-ledger")
        assert again.json()["nearest"] == {"ledger": ledger}
    assert [each["id"] for each in client.get(LEDGERS, headers=second).json()["ledgers"]].count(ledger) == 1


def test_two_keys_of_one_organisation_have_one_ledger_for_a_data_set(locked: httpx.Client) -> None:
    refused_second(locked, bearer("alice"), bearer("bob"))


def test_keys_that_name_no_organisation_share_one(nameless: httpx.Client) -> None:
    refused_second(nameless, bearer("alice", NAMELESS), bearer("bob", NAMELESS))


def test_two_organisations_have_a_ledger_each(locked: httpx.Client) -> None:
    first, second = (opened(locked, bearer(name), block="each", dataset="both") for name in ("alice", "carol"))
    assert first["id"] != second["id"]


def test_names_in_other_unicode_forms_are_one_data_set(locked: httpx.Client) -> None:
    opened(locked, bearer("alice"), dataset="Caf\u00e9", block="Stra\u00dfe")
    for dataset, block in (("Cafe\u0301", "STRASSE"), ("CAF\u00c9", "stra\u00dfe")):
        again = locked.post(LEDGERS, json=body(dataset=dataset, block=block), headers=bearer("bob"))
        problem(again, 409, "block-already-has-ledger")
    whole = body(dataset="CAF\u00c9")
    del whole["block"]
    problem(locked.post(LEDGERS, json=whole, headers=bearer("bob")), 409, "block-already-has-ledger")


def test_almost_equal_names_cause_a_warning(locked: httpx.Client) -> None:
    def warned(**names: str) -> list[str]:
        answer = opened(locked, bearer("alice"), **names)
        return [each["message"] for each in answer["warnings"] if each["code"] == "almost-equal-name"]

    assert warned(dataset="blood tests", block="2025") == []
    assert warned(dataset="blood tests", block="2026") == []
    (data_set,) = warned(dataset="Blood-Tests", block="2027")
    assert "\u201cblood tests\u201d" in data_set
    (wide,) = warned(dataset="\uff42lood tests", block="2028")
    assert "\u201cblood tests\u201d" in wide
    (block,) = warned(dataset="blood tests", block="20.26")
    assert "\u201c2026\u201d" in block


@pytest.mark.parametrize("character", ["\ufe0f", "\u034f", "\u3164", "\u115f", "\u2800", "\U000e0100"])
def test_names_with_characters_that_show_nothing_are_refused(locked: httpx.Client, character: str) -> None:
    refused = locked.post(LEDGERS, json=body(dataset=f"seen{character}"), headers=bearer("alice"))
    assert problem(refused, 422, "invalid-input")["errors"][0]["pointer"] == "/dataset"


def test_entries_name_the_organisation_and_the_caller(locked: httpx.Client) -> None:
    ledger = opened(locked, bearer("alice"))["id"]
    held = reserved(locked, ledger, bearer("bob"))["id"]
    assert locked.post(f"{RESERVATIONS}/{held}/commits", json={}, headers=bearer("alice") | key()).status_code == 201
    entries = locked.get(f"{LEDGERS}/{ledger}/entries", headers=bearer("reads")).json()["entries"]
    assert [(each["tenant"], each["requested_by"]) for each in entries] == [
        ("acme", "alice"),
        ("acme", "bob"),
        ("acme", "alice"),
    ]


def test_one_idempotency_key_of_two_callers_is_two_requests(locked: httpx.Client) -> None:
    ledger, same = opened(locked, bearer("alice"))["id"], key()
    first, second = (reserved(locked, ledger, bearer(name) | same)["id"] for name in ("alice", "bob"))
    assert first != second
    assert reserved(locked, ledger, bearer("alice") | same)["id"] == first


def requests(ledger: str, held: str) -> dict[str, tuple[str, str, dict[str, Any] | None]]:
    """Return every request about a ledger, by its name: method, path and body."""
    one, job = f"{LEDGERS}/{ledger}", {"item": "train", "count": 1}
    void = {"reservation": held, "count": 1, "declared": "no-output-observed"}
    observation = {"premise": "noise", "message": "a step had none", "remedy": "Add it.", "count": 1}
    return {
        "open": ("POST", LEDGERS, body()),
        "list": ("GET", LEDGERS, None),
        "show": ("GET", one, None),
        "entries": ("GET", f"{one}/entries", None),
        "report": ("GET", f"{one}/report", None),
        "reservation": ("GET", f"{RESERVATIONS}/{held}", None),
        "log": ("GET", "/v1/log/entries", None),
        "what-if": ("POST", f"{one}/what-if", job),
        "reserve": ("POST", f"{one}/reservations", job),
        "commit": ("POST", f"{RESERVATIONS}/{held}/commits", {"count": 1}),
        "cancel": ("DELETE", f"{RESERVATIONS}/{held}", None),
        "seal": ("POST", f"{one}/seal", None),
        "amend": ("POST", f"{one}/amendments", {"lower": [{"name": "train", "planned": 1}]}),
        "void": ("POST", f"{one}/voids", void),
        "contradict": ("POST", f"{one}/contradictions", {"observations": [observation]}),
        "pending": ("GET", f"{one}/pending", None),
        "move": ("GET", f"{one}/pending/move_none", None),
        "approve": ("POST", f"{one}/pending/move_none/approve", None),
        "reject": ("POST", f"{one}/pending/move_none/reject", None),
        "close": ("POST", f"{one}/close", None),
    }


READS = {"list", "show", "entries", "report", "reservation", "pending", "move"}
ALLOWED = {
    "owns": READS | {"open", "what-if", "seal", "amend", "contradict", "reject", "close"},
    "runs": READS | {"what-if", "reserve", "commit", "cancel", "contradict", "reject"},
    "vets": READS | {"void", "approve", "reject"},
    "reads": READS | {"log"},
    "op": set[str](),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_role_opens_what_is_its_own_and_nothing_else(locked: httpx.Client, name: str) -> None:
    ledger = opened(locked, bearer("alice"))["id"]
    held = reserved(locked, ledger, bearer("alice"), item="train", count=2)["id"]
    for what, (method, path, asked) in requests(ledger, held).items():
        response = locked.request(method, path, json=asked, headers=bearer(name) | key())
        if what in ALLOWED[name]:
            assert response.status_code != 403, (what, response.text)
            continue
        problem(response, 403, "forbidden")
        assert name == "op" or "This needs the role" in response.json()["detail"], what


def test_another_organisation_gets_the_answer_of_an_id_that_is_none(locked: httpx.Client) -> None:
    ledger = opened(locked, bearer("alice"))["id"]
    held = reserved(locked, ledger, bearer("alice"))["id"]
    theirs, none = requests(ledger, held), requests("ledger_none", "reservation_none")
    for what in theirs.keys() - {"open", "list", "log", "approve"}:
        answers = []
        for method, path, asked in (theirs[what], none[what]):
            response = locked.request(method, path, json=asked, headers=bearer("carol") | key())
            problem(response, 404, "not-found")
            answers.append({name: value for name, value in response.json().items() if name != "instance"})
        assert answers[0] == answers[1], what


def test_an_auditor_exports_all_ledgers_with_the_client_and_others_are_refused(
    locked: httpx.Client, tmp_path: Path
) -> None:
    mine, theirs = opened(locked, bearer("alice"))["id"], opened(locked, bearer("carol"))["id"]
    with epsilond.ledger(str(locked.base_url), key=MADE["reads"][0], runs=tmp_path) as books:
        bundle = books.bundle()
        (tmp_path / "keys.json").write_text(json.dumps(dict(books.keys())))
    named = {receipt.entry["ledger"] for receipt in bundle.receipts}
    assert mine in named
    assert theirs not in named
    (tmp_path / "bundle").write_bytes(bundle.to_bytes())
    assert audited(tmp_path / "bundle", tmp_path / "keys.json").holds
    with (
        epsilond.ledger(str(locked.base_url), key=MADE["alice"][0], runs=tmp_path) as books,
        pytest.raises(epsilond.EpsilondError, match="role auditor"),
    ):
        books.bundle()


def test_an_auditor_exports_the_log_of_the_organisation(locked: httpx.Client) -> None:
    mine, theirs = opened(locked, bearer("alice"))["id"], opened(locked, bearer("carol"))["id"]
    entries, path = [], "/v1/log/entries?limit=2"
    while path:
        page = locked.get(path, headers=bearer("reads")).json()
        entries += page["entries"]
        path = page.get("next")
    assert mine in {each["ledger"] for each in entries}
    assert theirs not in {each["ledger"] for each in entries}
    assert {each["tenant"] for each in entries} == {"acme"}
    assert [each["seq"] for each in entries] == sorted({each["seq"] for each in entries})
    receipt = locked.get(f"/v1/log/proofs?entry={entries[0]['seq']}", headers=bearer("reads")).json()
    assert receipt["entry"] == entries[0]


def test_a_store_of_before_starts_with_its_collisions_and_both_ledgers_can_be_read(tmp_path: Path) -> None:
    before = {name: keys.new(name, CallerLimits(), LEDGER, organisation=name) for name in ("alice", "bob")}
    after = {name: (token, replace(line, organisation=None)) for name, (token, line) in before.items()}
    chosen = PATIENT.model_copy(update={"store_path": str(tmp_path / "store.sqlite")})

    def served(made: Mapping[str, tuple[str, keys.KeyLine]]) -> AbstractContextManager[httpx.Client]:
        file = file_of(tmp_path, *(line for _, line in made.values()))
        return serving(chosen.model_copy(update={"api_keys_file": str(file)}))

    with served(before) as client:
        ids = {name: opened(client, bearer(name, before), dataset="visits", block="all")["id"] for name in before}
    take_organisations_away(chosen.store_path)
    with served(after) as client:
        for name, other in (("alice", "bob"), ("bob", "alice")):
            for reader in after:
                shown = client.get(f"{LEDGERS}/{ids[name]}", headers=bearer(reader, after)).json()
                (warning,) = [each for each in shown["warnings"] if each["code"] == "ledger-collides"]
                assert ids[other] in warning["message"]
            where, job = f"{LEDGERS}/{ids[name]}/reservations", {"item": "train", "count": 1}
            refused = client.post(where, json=job, headers=bearer(name, after) | key())
            assert problem(refused, 409, "block-already-has-ledger")["nearest"] == {"ledger": ids[other]}
            within = {"fields": {"sampling": "full", "rounds": 5}, "slot": "gdp"}
            for path, asked in (("what-if", job), ("calibrations/gaussian", within)):
                refused = client.post(f"{LEDGERS}/{ids[name]}/{path}", json=asked, headers=bearer(name, after))
                assert problem(refused, 409, "block-already-has-ledger")["nearest"] == {"ledger": ids[other]}
        assert collisions(client.get(LEDGERS, headers=bearer("bob", after)).json()) == 2
        assert client.post(f"{LEDGERS}/{ids['alice']}/close", headers=bearer("bob", after)).status_code == 200
        held = reserved(client, ids["bob"], bearer("alice", after), item="train", count=1)
        assert held["state"] == "reserved"
        again = client.get(f"{RESERVATIONS}/{held['id']}", headers=bearer("bob", after)).json()
        assert collisions(held) == collisions(again) == 1


def collisions(answer: Mapping[str, Any]) -> int:
    """Return the number of warnings of an answer that name other ledgers of the same people."""
    return sum(each["code"] == "ledger-collides" for each in answer["warnings"])

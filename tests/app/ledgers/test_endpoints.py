"""Every endpoint of ledgers: what it answers is what the document declares, and what the ledger then holds."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import httpx
import pytest

import epsilond
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book.reports import verify_report
from epsilond.ledgers.http.examples import QUERY
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.signing import published_keys
from tests.app.conftest import sample_of, wait_until
from tests.app.documents import conforms, content
from tests.app.ledgers.support import (
    LEDGERS,
    RESERVATIONS,
    STEP,
    committed,
    key,
    opened,
    reserved,
    slot_of,
    verify,
)


@pytest.fixture(scope="module")
def document(client: httpx.Client) -> dict[str, Any]:
    served: dict[str, Any] = client.get("/openapi.json").json()
    return served


def test_every_answer_and_every_example_is_as_declared(client: httpx.Client, document: dict[str, Any]) -> None:
    paths = document["paths"]

    def checked(method: str, path: str, status: int, name: str | None = None, **sent: Any) -> Any:
        operation = paths[path][method]
        response = client.request(method, path.replace("{id}", name or ""), **sent)
        assert response.status_code == status, response.text
        conforms(document, content(document, operation, status), response.json())
        if "json" in sent:
            schema = operation["requestBody"]["content"]["application/json"]
            for example in (sent["json"], *(each["value"] for each in schema["examples"].values())):
                conforms(document, schema["schema"], example)
        return response.json()

    one, of_reservation = "/v1/ledgers/{id}", "/v1/reservations/{id}"
    example = paths[LEDGERS]["post"]["requestBody"]["content"]["application/json"]["examples"]
    ledger = checked("post", LEDGERS, 201, json=example["plan-and-slot"]["value"])["id"]
    other = opened(client)["id"]
    jobs = paths[f"{one}/reservations"]["post"]["requestBody"]["content"]["application/json"]["examples"]
    for job in jobs.values():
        asked = checked("post", f"{one}/what-if", 200, ledger, json=job["value"])
        assert asked["fits"] is True
        made = checked("post", f"{one}/reservations", 201, ledger, json=job["value"], headers=key())
        assert made["charge"] == asked["charge"]
        checked("post", f"{of_reservation}/commits", 201, made["id"], json={"count": 1}, headers=key())
        checked("get", of_reservation, 200, made["id"])
        checked("delete", of_reservation, 200, made["id"])
    many = {"ledgers": [ledger, other], "spec": QUERY, "slot": "gdp"}
    both = checked("post", RESERVATIONS, 201, json=many, headers=key())
    checked("post", f"{of_reservation}/commits", 201, both["id"], json={}, headers=key())
    for path in (one, f"{one}/entries"):
        checked("get", path, 200, ledger, headers={"accept": "application/json"})
    for path in (LEDGERS, "/v1/log/checkpoint", "/v1/keys"):
        checked("get", path, 200)
    for query in ({"entry": "0"}, {"from": "1"}, {"from": "1", "to": "2"}):
        checked("get", "/v1/log/proofs", 200, params=query)
    for move in ("seal", "close"):
        checked("post", f"{one}/{move}", 200, ledger)


def test_what_is_opened_is_told(client: httpx.Client) -> None:
    ledger = opened(client, name="a name")
    assert ledger == client.get(f"{LEDGERS}/{ledger['id']}").json()
    assert (ledger["state"], ledger["sealed"], ledger["conditional"]) == ("open", True, False)
    assert ledger["target"] == {"epsilon": 8.0, "delta": 1e-6, "log10_delta": -6.0}
    assert ledger["plan"] == [{"name": "train", "planned": 1000, "reserved": 0, "committed": 0, "credit": 0}]
    assert "a name" in ledger["guarantee"]["in_words"]
    assert ledger["guarantee"]["epsilon"] <= 8.0
    assert ledger["guarantee"]["log10_delta"] <= -6.0
    assert {"ledger-one-run", "ledger-block"} <= {each["id"] for each in ledger["declared_conditions"]}
    assert [warning["code"] for warning in ledger["warnings"]] == ["ledgers-in-memory"]
    curve = [point["epsilon"] for point in ledger["curve"]]
    assert curve == sorted(curve, reverse=True)
    assert len(curve) == 7


def test_the_curve_of_the_plan_is_that_of_the_account(client: httpx.Client) -> None:
    ledger = opened(client)
    spec = {"kind": "repeated", "times": 1000, "mechanism": STEP}
    asked = {"spec": spec, "relation": "add-or-remove-one", "observer": "released-models"}
    for point in ledger["curve"]:
        query = {"log10_deltas": [point["log10_delta"]]}
        told = client.post(
            "/v1/accounts", json=asked | {"query": query, "unit": "record", "observer": "server"}
        ).json()["guarantee"]["epsilon"]
        assert told["lower"] <= point["epsilon"] * (1.0 + 1e-12)
        assert point["epsilon"] == pytest.approx(told["upper"], rel=1e-9)


def test_balances_of_a_slot_move_as_a_gaussian_is_charged(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    before = slot_of(client, ledger)
    held = reserved(client, ledger, spec=QUERY, slot="gdp", count=4)
    price = Decimal(held["charge"]["parts"]["mu_squared"])
    assert Decimal(4) / 400 <= price <= Decimal(4) / 400 * (1 + Decimal("1e-14"))
    committed(client, held["id"], count=1)
    half = slot_of(client, ledger)
    assert (half["used"]["mu_squared"], half["reserved"]["mu_squared"]) == (price / 4, price * 3 / 4)
    ended = client.delete(f"{RESERVATIONS}/{held['id']}").json()
    assert (ended["state"], ended["committed"], ended["count"]) == ("cancelled", 1, 4)
    after = slot_of(client, ledger)
    assert after["used"]["mu_squared"] == price / 4
    assert after["reserved"]["mu_squared"] == 0
    assert after["remaining"]["mu_squared"] == before["capacity"]["mu_squared"] - price / 4


def test_a_residue_is_charged_whole_and_its_rest_is_credit(client: httpx.Client) -> None:
    ledger = opened(client, plan=[], slots=[{"kind": "gdp", "capacity": {"mu_squared": "largest", "eta": "2.6e-7"}}])
    job = {"kind": "repeated", "times": 100, "mechanism": STEP}
    held = reserved(client, ledger["id"], spec=job, slot="gdp", eta="1e-8")
    assert "each" not in held["charge"]
    committed(client, held["id"], count=30)
    client.delete(f"{RESERVATIONS}/{held['id']}")
    found = client.get(f"{LEDGERS}/{ledger['id']}").json()
    name = f"job {held['id']}"
    told = {"name": name, "planned": 100, "reserved": 0, "committed": 30, "credit": 70, "job": held["id"]}
    assert found["plan"] == [told]
    assert found["slots"][0]["used"]["mu_squared"] == held["charge"]["parts"]["mu_squared"]
    assert "epsilond.ledger-residue" in found["guarantee"]["theorems"]
    assert reserved(client, ledger["id"], item=name, count=70)["charge"] == {"item": name, "count": 70, "parts": {}}


def test_several_ledgers_or_none(client: httpx.Client) -> None:
    rich, poor = (
        opened(client)["id"],
        opened(client, slots=[{"kind": "gdp", "capacity": {"mu_squared": "0.001"}}])["id"],
    )
    job = {"ledgers": [rich, poor], "spec": QUERY, "slot": "gdp"}
    assert client.post(RESERVATIONS, json=job, headers=key()).json()["type"] == "/problems/ledger-exhausted"
    assert slot_of(client, rich)["reserved"]["mu_squared"] == 0
    other = opened(client)["id"]
    held = client.post(RESERVATIONS, json=job | {"ledgers": [rich, other]}, headers=key()).json()
    assert set(held["ledgers"]) == {rich, other}
    receipt, keys = committed(client, held["id"]), client.get("/v1/keys").json()
    assert {each["entry"]["ledger"] for each in receipt["receipts"]} == {rich, other}
    assert len({verify(each, keys) for each in receipt["receipts"]}) == 2
    assert verify(receipt, keys) == receipt["receipts"][0]["proof"]["leaf_index"]
    for ledger in (rich, other):
        assert slot_of(client, ledger)["used"]["mu_squared"] > 0


def test_what_if_says_what_would_fit_and_changes_nothing(client: httpx.Client) -> None:
    ledger = opened(client, slots=[{"kind": "gdp", "capacity": {"mu_squared": "0.5"}}])["id"]
    before = client.get(f"{LEDGERS}/{ledger}").content
    strong = {"kind": "gaussian", "noise_multiplier": 1.0}
    found = client.post(f"{LEDGERS}/{ledger}/what-if", json={"spec": strong, "slot": "gdp"}).json()
    assert found["fits"] is False
    assert found["reason"]
    least = found["nearest"]["smallest_noise_multiplier"]
    assert math.sqrt(2.0) <= least <= math.sqrt(2.0) * 1.01
    fitting = {"spec": strong | {"noise_multiplier": least}, "slot": "gdp"}
    assert client.post(f"{LEDGERS}/{ledger}/what-if", json=fitting).json()["fits"] is True
    assert client.get(f"{LEDGERS}/{ledger}").content == before
    assert len(client.get(f"{LEDGERS}/{ledger}/entries").json()["entries"]) == 1


def test_what_runs_out_first_is_said_of_a_ledger_and_of_a_job(client: httpx.Client) -> None:
    ledger = opened(client, slots=[{"kind": "gdp", "capacity": {"mu_squared": "0.5"}}])["id"]
    query = {"spec": {"kind": "gaussian", "noise_multiplier": 2.0}, "slot": "gdp"}
    assert client.post(f"{LEDGERS}/{ledger}/reservations", json=query, headers=key()).status_code == 201
    shown = client.get(f"{LEDGERS}/{ledger}").json()
    first, slot = shown["runs_out_first"], shown["slots"][0]
    assert (first["slot"], first["part"]) == ("gdp", "mu_squared")
    assert first["remaining"] == slot["remaining"]["mu_squared"]
    assert first["share_used"] == pytest.approx(0.5)
    answer = client.post(f"{LEDGERS}/{ledger}/what-if", json=query | {"count": 2}).json()
    assert not answer["fits"]
    assert answer["held_by_others"] == {"gdp": slot["reserved"]}
    assert answer["runs_out_first"] == first
    smaller = query | {"spec": {"kind": "gaussian", "noise_multiplier": 4.0}}
    after = client.post(f"{LEDGERS}/{ledger}/what-if", json=smaller).json()["runs_out_first"]
    assert after["share_used"] == pytest.approx(0.625)


def test_pages_of_ledgers_and_of_entries(client: httpx.Client) -> None:
    mine = [opened(client)["id"] for _ in range(3)]
    seen: list[str] = []
    where: str | None = f"{LEDGERS}?limit=2"
    while where is not None:
        page = client.get(where).json()
        assert len(page["ledgers"]) <= 2
        seen += [each["id"] for each in page["ledgers"]]
        where = page.get("next")
    assert seen[-3:] == mine
    assert len(seen) == len(set(seen))
    held = reserved(client, mine[0])
    committed(client, held["id"])
    first = client.get(f"{LEDGERS}/{mine[0]}/entries", params={"limit": 2}).json()
    rest = client.get(first["next"]).json()
    kinds = [each["kind"] for each in first["entries"] + rest["entries"]]
    assert kinds == ["opened", "reserved", "committed"]
    assert "next" not in rest
    newest = client.get(f"{LEDGERS}/{mine[0]}/entries", params={"limit": 2, "order": "newest"}).json()
    oldest = client.get(newest["next"]).json()
    assert [each["kind"] for each in newest["entries"] + oldest["entries"]] == kinds[::-1]
    assert "next" not in oldest
    back = {"order": "newest", "from": newest["entries"][1]["seq"]}
    assert client.get(f"{LEDGERS}/{mine[0]}/entries", params=back).json()["entries"] == [
        newest["entries"][1],
        *oldest["entries"],
    ]
    assert client.get(f"{LEDGERS}/{mine[0]}/entries", params={"order": "best"}).status_code == 422
    assert client.get(f"{LEDGERS}?cursor=ledger_none").status_code == 404


def test_reservations_expire_by_themselves(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    held = reserved(client, ledger, spec=QUERY, slot="gdp", expires_in=0.05)
    where = f"{RESERVATIONS}/{held['id']}"
    wait_until(lambda: client.get(where).json()["state"] == "expired")
    assert slot_of(client, ledger)["reserved"]["mu_squared"] == 0
    late = client.post(f"{where}/commits", json={}, headers=key())
    assert (late.status_code, late.json()["type"]) == (409, "/problems/reservation-expired")
    assert client.get(f"{LEDGERS}/{ledger}/entries").json()["entries"][-1]["kind"] == "expired"


def test_the_log_is_proved(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    held = reserved(client, ledger)
    keys = client.get("/v1/keys").json()
    trusted = [each.key for each in published_keys(keys)]
    before = client.get("/v1/log/checkpoint").json()
    receipt = committed(client, held["id"])
    place = verify(receipt, keys)
    assert receipt["entry"] | {"at": "", "balance": ""} == {
        "balance": "", "kind": "committed", "seq": place, "at": "", "tenant": "", "ledger": ledger, "reservation": held["id"],
        "count": 1, "charge": {"each": held["charge"]["each"], "parts": held["charge"]["parts"],
        "theorem": held["charge"]["theorem"]},
    }  # fmt: skip
    after = client.get("/v1/log/checkpoint").json()
    note = client.get("/v1/log/checkpoint", headers={"accept": "text/plain"}).text
    heads = [checkpoints.verify(each, before["origin"], trusted) for each in (before["checkpoint"], note)]
    assert [head.size for head in heads] == [before["size"], after["size"]]
    sizes = {"from": str(heads[0].size), "to": str(heads[1].size)}
    proof = Consistency.of_record(client.get("/v1/log/proofs", params=sizes).json())
    proof.verify(heads[0].root, heads[1].root)
    assert verify(client.get("/v1/log/proofs", params={"entry": str(place)}).json(), keys) == place
    assert [verify(each, keys) for each in client.get(f"{RESERVATIONS}/{held['id']}").json()["receipts"]] == [place]


def test_a_calibration_within_what_is_left_is_reserved_as_it_stands(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    body = {"fields": {"sampling": "full", "rounds": 10}, "slot": "gdp"}
    response = client.post(f"{LEDGERS}/{ledger}/calibrations/gaussian", json=body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert found["slack"] == 0.001
    remaining = slot_of(client, ledger)["remaining"]["mu_squared"]
    least = (10 / float(remaining)) ** 0.5
    assert least <= found["calibration"]["parameters"]["noise_multiplier"] <= 1.0002 * least
    assert as_json(epsilond.calibrate("gaussian", **found["request"]).parameters) == found["calibration"]["parameters"]
    held = reserved(client, ledger, spec=found["spec"], slot="gdp")
    assert held["charge"] == found["charge"]
    refused = client.post(f"{LEDGERS}/{ledger}/calibrations/mb-sgd", json={"fields": {"epsilon": 1.0}})
    assert refused.status_code == 422, refused.text
    assert {"/epsilon"} == {each["pointer"] for each in refused.json()["errors"]}
    ppsgd = {"clients": 5, "rounds": 1, "clipping_norm": 1.0, "shared_dimension": 1}
    other = client.post(f"{LEDGERS}/{ledger}/calibrations/ppsgd", json={"fields": ppsgd})
    assert other.status_code == 409, other.text
    assert other.json()["condition"]["id"] == "epsilond.ledger-unit"


def test_a_plan_is_amended_and_what_is_promised_is_certified_anew(client: httpx.Client) -> None:
    ledger = opened(client, slots=[])
    where = f"{LEDGERS}/{ledger['id']}/amendments"
    held = reserved(client, ledger["id"], item="train", count=10)
    committed(client, held["id"])
    more = {"add": [{"name": "more", "spec": {"kind": "gaussian", "noise_multiplier": 1.0}}]}
    refused = client.post(where, json=more, headers=key())
    assert (refused.status_code, refused.json()["condition"]["right"]) == (409, 0.0)
    assert client.post(where, json=more | {"declared": "independent-of-outputs"}).status_code == 422  # no key
    response = client.post(where, json=more | {"declared": "independent-of-outputs"}, headers=key())
    assert response.status_code == 201, response.text
    amended = response.json()
    assert amended == client.get(f"{LEDGERS}/{ledger['id']}").json()
    assert amended["conditional"] is True
    assert ledger["guarantee"]["epsilon"] < amended["guarantee"]["epsilon"] <= 8.0
    assert "ledger-independent-of-outputs" in {each["id"] for each in amended["declared_conditions"]}
    last = client.get(f"{LEDGERS}/{ledger['id']}/entries").json()["entries"][-1]
    assert (last["kind"], last["declared"]) == ("amended", "independent-of-outputs")


def test_a_report_is_signed(client: httpx.Client) -> None:
    ledger = opened(client)["id"]
    told = client.get(f"{LEDGERS}/{ledger}/report", headers={"accept": "application/json"}).json()
    keys = tuple(each.key for each in published_keys(client.get("/v1/keys").json()))
    assert verify_report(told, keys) == keys[-1]
    assert told["report"]["ledger"]["id"] == ledger
    assert told["report"]["ledger"]["target"]["epsilon"] == "8.0"
    told["report"]["ledger"]["target"]["epsilon"] = "1.0"
    with pytest.raises(NotVerified):
        verify_report(told, keys)


def test_moves_are_counted(client: httpx.Client) -> None:
    names = ("opened", "reserved", "committed", "cancelled", "sealed", "closed")
    samples = [f'epsilond_ledger_moves_total{{move="{name}"}}' for name in names]
    before = [sample_of(client, sample) for sample in samples]
    ledger = opened(client)["id"]
    held = reserved(client, ledger, spec=QUERY, slot="gdp", count=2)
    committed(client, held["id"], count=1)
    client.delete(f"{RESERVATIONS}/{held['id']}")
    for move in ("seal", "close"):
        assert client.post(f"{LEDGERS}/{ledger}/{move}").status_code == 200
    assert [sample_of(client, sample) - was for sample, was in zip(samples, before, strict=True)] == [1.0] * 6

"""Ledgers after a restart, after their keys were exchanged, and after a store was restored from a copy."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.settings import Settings
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.key_files import rotate
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.signing import published_keys
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, problem, serving, wait_until
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, committed, key, opened, reserved, verify

ACCEPT = {"declared": "missing-entries-are-accounted-for"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a store in a file, whose newest checkpoint is kept elsewhere."""
    chosen = {
        "store_path": str(tmp_path / "here" / "jobs.sqlite"),
        "ledger_checkpoint": str(tmp_path / "there" / "head"),
    }
    return PATIENT.model_copy(update=chosen)


def test_receipts_are_good_after_a_restart_and_after_keys_were_exchanged(settings: Settings) -> None:
    with serving(settings) as client:
        ledger = opened(client)
        assert ledger["warnings"] == []
        held = reserved(client, ledger["id"], item="train", count=10)["id"]
        before, same = client.get("/v1/keys").json(), key()
        where = f"{RESERVATIONS}/{held}/commits"
        first = client.post(where, json={"count": 1}, headers=same)
        head = client.get("/v1/log/checkpoint").json()
    folder = Path(f"{settings.store_path}.keys")
    with serving(settings) as client:
        assert client.get("/v1/keys").json() == before
        assert client.post(where, json={"count": 1}, headers=same).content == first.content
        rotate(folder, head["origin"], datetime.now(UTC))
        second = committed(client, held, count=2)  # without another restart
        after = client.get("/v1/keys").json()
        assert len(after["keys"]) == 2
        assert after["keys"][-1]["kid"] != before["keys"][0]["kid"]
        assert [verify(each, after) for each in (first.json(), second)] == [2, 3]
        now = client.get("/v1/log/checkpoint").json()
        trusted = [each.key for each in published_keys(after)]
        old, new = (checkpoints.verify(each["checkpoint"], head["origin"], trusted) for each in (head, now))
        sizes = {"from": str(old.size), "to": str(new.size)}
        proof = Consistency.of_record(client.get("/v1/log/proofs", params=sizes).json())
        proof.verify(old.root, new.root)
        assert client.get(f"{LEDGERS}/{ledger['id']}").json()["plan"][0]["committed"] == 3


def test_a_reservation_that_expired_meanwhile_is_ended(settings: Settings) -> None:
    with serving(settings) as client:
        ledger = opened(client)["id"]
        held = reserved(client, ledger, item="train", count=10, expires_in=0.001)["id"]
    with serving(settings) as client:
        other = opened(client)["id"]
        reserved(client, other)  # any move ends first what has expired
        wait_until(lambda: client.get(f"{RESERVATIONS}/{held}").json()["state"] == "expired")
        assert client.get(f"{LEDGERS}/{ledger}").json()["plan"][0]["reserved"] == 0


def test_a_store_from_a_copy_moves_nothing_until_an_operator_has_looked(settings: Settings, tmp_path: Path) -> None:
    made = {
        name: keys.new(name, CallerLimits(), frozenset({scope})) for name, scope in (("ada", "ledger"), ("op", "admin"))
    }  # type: ignore[arg-type]
    file = file_of(tmp_path, *(line for _, line in made.values()))
    chosen = settings.model_copy(update={"api_keys_file": str(file)})
    ada, op = ({"authorization": f"Bearer {made[name][0]}"} for name in ("ada", "op"))
    here, copy = Path(settings.store_path).parent, tmp_path / "copy"

    def commit(client: httpx.Client, count: int = 1) -> httpx.Response:
        return client.post(f"{RESERVATIONS}/{held}/commits", json={"count": count}, headers=ada | key())

    with serving(chosen) as client:
        ledger = opened(client, ada)["id"]
        held = reserved(client, ledger, ada, item="train", count=10)["id"]
        assert commit(client).status_code == 201
    shutil.copytree(here, copy)
    with serving(chosen) as client:
        assert commit(client).status_code == 201
        kept = client.get("/v1/log/checkpoint", headers=ada).json()
        assert Path(settings.ledger_checkpoint).read_text(encoding="utf-8") == kept["checkpoint"]
    shutil.rmtree(here)
    shutil.copytree(copy, here)
    with serving(chosen, reconciled=False) as client:
        plan = client.get(f"{LEDGERS}/{ledger}", headers=ada).json()["plan"][0]
        assert plan["committed"] == 1  # the second is forgotten
        job = {"item": "train", "count": 1}
        where = f"{LEDGERS}/{ledger}/reservations"
        for refused in (
            commit(client),
            client.post(where, json=job, headers=ada | key()),
            client.delete(f"{RESERVATIONS}/{held}", headers=ada),
            client.post(f"{LEDGERS}/{ledger}/close", headers=ada),
            client.get("/v1/log/checkpoint", headers=ada),
        ):
            problem(refused, 503, "ledger-not-reconciled")
        assert "the log has fewer" in client.get("/readyz").text
        assert "epsilond_ledger_reconciled 0.0" in client.get("/metrics", headers=op).text
        assert client.get(f"{LEDGERS}/{ledger}", headers=ada).json()["plan"][0] == plan
        problem(client.post("/v1/log/reconciliations", json=ACCEPT, headers=ada), 403, "forbidden")
        problem(client.post("/v1/log/reconciliations", json={}, headers=op), 422, "invalid-input")
        accepted = client.post("/v1/log/reconciliations", json=ACCEPT, headers=op)
        assert (accepted.status_code, accepted.json()["size"]) == (201, kept["size"] - 1)
        assert client.get("/readyz").status_code == 200
        assert commit(client, count=2).status_code == 201  # equal entries within a second would have equal roots
        again = client.get("/v1/log/checkpoint", headers=ada).json()
        assert Path(settings.ledger_checkpoint).read_text(encoding="utf-8") == again["checkpoint"]
        assert again["size"] == kept["size"]
        assert again["root"] != kept["root"]  # two heads of one size: whoever kept a receipt can show it


@pytest.mark.parametrize("kept", ["nonsense", None])
def test_a_checkpoint_that_is_gone_or_none_is_reconciled_by_an_operator_alone(
    settings: Settings, tmp_path: Path, kept: str | None
) -> None:
    token, line = keys.new("op", CallerLimits(), frozenset({"admin", "ledger"}))
    chosen = settings.model_copy(update={"api_keys_file": str(file_of(tmp_path, line))})
    op, head = {"authorization": f"Bearer {token}"}, Path(settings.ledger_checkpoint)
    with serving(chosen) as client:
        assert head.read_text(encoding="utf-8").splitlines()[1] == "0"  # written before the first move
        ledger = opened(client, op)["id"]
        held = reserved(client, ledger, op)["id"]
        assert client.delete(f"{RESERVATIONS}/{held}", headers=op).status_code == 200
        assert head.read_text(encoding="utf-8").splitlines()[1] == "3"  # of every move, not of commits alone
    head.unlink()
    if kept is not None:
        head.write_text(kept, encoding="utf-8")
    with serving(chosen, reconciled=False) as client:
        problem(client.post(f"{LEDGERS}/{ledger}/seal", headers=op | key()), 503, "ledger-not-reconciled")
        assert client.post("/v1/log/reconciliations", json=ACCEPT, headers=op).status_code == 201
        opened(client, op)
        assert head.read_text(encoding="utf-8") == client.get("/v1/log/checkpoint", headers=op).json()["checkpoint"]


def test_a_checkpoint_that_cannot_be_kept_holds_the_receipt_back(settings: Settings, tmp_path: Path) -> None:
    place = tmp_path / "there"
    with serving(settings) as client:
        held = reserved(client, opened(client)["id"])["id"]
        place.rename(tmp_path / "aside")
        place.write_text("no folder", encoding="utf-8")
        same, where = key(), f"{RESERVATIONS}/{held}/commits"
        refused = client.post(where, json={}, headers=same)
        problem(refused, 503, "unavailable")
        place.unlink()
        (tmp_path / "aside").rename(place)
        receipt = client.post(where, json={}, headers=same)
        assert receipt.status_code == 201
        assert Path(settings.ledger_checkpoint).read_text(encoding="utf-8") == receipt.json()["checkpoint"]
        assert client.get(f"{RESERVATIONS}/{held}").json()["committed"] == 1

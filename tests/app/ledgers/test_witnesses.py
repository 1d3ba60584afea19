"""A service of ledgers whose heads a witness cosigns, and no file: what a restored, forked or late log is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from epsilond.app.callers import keys
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.settings import Settings
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.http.heads import KeptHeads
from epsilond.ledgers.log import key_files, notes
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.store.opening import open_store as opened_database
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, problem, serving
from tests.app.ledgers.support import LEDGERS, RESERVATIONS, body, committed, key, opened, reserved, verify
from tests.ledgers.book.books import KEYS, TENANT, book, opening
from tests.ledgers.book.books import key as book_key
from tests.ledgers.cosigning.running import NAME, RunningWitness, running
from tests.ledgers.log.keys import FIRST
from tests.ledgers.log.test_cosignatures import verified_by_the_specification

ORIGIN = "ledgers.example/log"
ACCEPT = {"declared": "missing-entries-are-accounted-for"}
TEXT = {"accept": "text/plain"}


@dataclass(frozen=True)
class Place:
    """A store in a file, keys that sign its log, and a witness of it.

    Attributes:
        folder: folder of all of them.
        log: public key of the log.
    """

    folder: Path
    log: PublicKey

    @property
    def store(self) -> Path:
        """Folder of the store."""
        return self.folder / "here"

    def settings(self, *witnesses: RunningWitness, **more: object) -> Settings:
        """Settings of a service with these witnesses."""
        chosen = {
            "store_path": str(self.store / "jobs.sqlite"),
            "ledger_keys": str(self.folder / "keys"),
            "ledger_witnesses": "\n".join(each.setting for each in witnesses),
        }
        return PATIENT.model_copy(update=chosen | more)

    @contextmanager
    def witness(self, port: int = 0, name: str = NAME) -> Iterator[RunningWitness]:
        """Run a witness."""
        with running(self.folder / name.replace("/", "-"), self.log, name=name, port=port) as found:
            yield found

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put the store back as it was before what happens inside."""
        shutil.copytree(self.store, self.folder / "copy")
        yield
        shutil.rmtree(self.store)
        (self.folder / "copy").rename(self.store)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = key_files.make(tmp_path / "keys", ORIGIN, datetime.now(UTC))
    return Place(tmp_path, made.signing.public)


def commit(client: httpx.Client, held: str, idempotency: dict[str, str] | None = None) -> httpx.Response:
    return client.post(f"{RESERVATIONS}/{held}/commits", json={"count": 1}, headers=idempotency or key())


def prepared(client: httpx.Client) -> tuple[str, str]:
    """A ledger, and a reservation of ten runs."""
    ledger = opened(client)["id"]
    return ledger, reserved(client, ledger, item="train", count=10)["id"]


def size_at(witness: RunningWitness) -> int:
    head = witness.folder.head(ORIGIN)
    return 0 if head is None else head.size


def test_every_move_is_cosigned_before_its_answer_and_heads_carry_cosignatures(place: Place, tmp_path: Path) -> None:
    with place.witness() as witness, serving(place.settings(witness)) as client:
        assert witness.folder.head(ORIGIN) is not None  # the head of the empty log, at the start
        _, held = prepared(client)
        receipt = committed(client, held, count=2)
        published = client.get("/v1/keys").json()
        assert size_at(witness) == verify(receipt, published) + 1
        assert len(notes.parse(receipt["checkpoint"]).signatures) == 1
        head = client.get("/v1/log/checkpoint", headers=TEXT).text
        assert head.startswith(receipt["checkpoint"])
        assert verified_by_the_specification(head, NAME, witness.folder.public.raw) > 0
        assert client.get("/v1/log/checkpoint").json()["checkpoint"] == head
        receipt_file, keys_file, head_file = (tmp_path / name for name in ("receipt", "public", "head"))
        receipt_file.write_text(client.get(f"/v1/log/proofs?entry={verify(receipt, published)}").text)
        keys_file.write_text(client.get("/v1/keys").text)
        head_file.write_text(head)
    vkey = witness.folder.public.vkey
    shown = audited(receipt_file, keys_file, [head_file], witnesses=[vkey])
    assert [each.outcome for each in shown.findings if NAME in each.sentence] == ["verified"]
    bare = audited(receipt_file, keys_file, witnesses=[vkey])
    assert [each.outcome for each in bare.findings if NAME in each.sentence] == ["not verified"]


def test_a_restored_store_is_noticed_before_the_first_move_and_stays_so_until_both_sides_agree(place: Place) -> None:
    token, line = keys.new("op", CallerLimits(), frozenset({"admin", "ledger"}))
    op = {"authorization": f"Bearer {token}"}
    more = {"api_keys_file": str(file_of(place.folder, line))}
    with place.witness() as witness:
        settings = place.settings(witness, **more)
        with serving(settings) as client:
            client.headers.update(op)
            ledger, held = prepared(client)
        with place.restored(), serving(settings) as client:
            client.headers.update(op)
            assert commit(client, held).status_code == 201
        known = size_at(witness)
        with serving(settings, reconciled=False) as client:
            assert "cosigned 3 entries, and the log has fewer" in client.get("/readyz").text
            client.headers.update(op)
            assert "epsilond_ledger_reconciled 0.0" in client.get("/metrics").text
            problem(commit(client, held), 503, "ledger-not-reconciled")
            problem(client.get("/v1/log/checkpoint"), 503, "ledger-not-reconciled")
            assert client.get(f"{LEDGERS}/{ledger}").json()["plan"][0]["committed"] == 0
            assert client.post("/v1/log/reconciliations", json=ACCEPT).status_code == 201
            problem(commit(client, held), 503, "ledger-not-reconciled")  # the second party has not agreed
            assert client.get("/readyz").status_code == 503
            assert size_at(witness) == known
            assert witness.folder.forget(ORIGIN) is not None
            assert client.post("/v1/log/reconciliations", json=ACCEPT).status_code == 201
            assert client.get("/readyz").status_code == 200
            assert commit(client, held).status_code == 201


def test_a_fork_under_a_running_service_stops_it(place: Place) -> None:
    """Another service goes on from a copy of the store: of two logs with one key, the witness cosigns one."""
    with place.witness() as witness, ExitStack() as stack:
        settings = place.settings(witness)
        with serving(settings) as client:
            ledger, held = prepared(client)
        shutil.copytree(place.store, place.folder / "fork")
        fork = settings.model_copy(update={"store_path": str(place.folder / "fork" / "jobs.sqlite")})
        client, forked = stack.enter_context(serving(settings)), stack.enter_context(serving(fork))
        committed(forked, held, count=2)
        problem(commit(client, held), 503, "ledger-not-reconciled")  # of the same size
        known = size_at(witness)
        for _ in range(2):
            problem(commit(client, held), 503, "ledger-not-reconciled")
        problem(client.post(f"{LEDGERS}/{ledger}/close", headers=key()), 503, "ledger-not-reconciled")
        assert "that are not the log's first" in client.get("/readyz").text
        assert "epsilond_ledger_reconciled 0.0" in client.get("/metrics").text
        assert client.get(f"{LEDGERS}/{ledger}").json()["plan"][0]["committed"] == 1  # before it was noticed
        assert commit(forked, held).status_code == 201
        assert size_at(witness) == known + 1


def test_a_witness_that_is_down_holds_answers_back_and_loses_nothing(place: Place) -> None:
    with ExitStack() as stack:
        with place.witness() as witness:
            client = stack.enter_context(serving(place.settings(witness)))
            ledger, held = prepared(client)
            port = int(witness.url.rpartition(":")[2])
        same = key()
        refused = commit(client, held, same)
        problem(refused, 503, "unavailable")
        assert int(refused.headers["retry-after"]) > 0
        assert witness.url not in refused.text
        problem(commit(client, held), 503, "unavailable")  # this one was not written
        assert client.get(f"{LEDGERS}/{ledger}").json()["plan"][0]["committed"] == 1
        head = client.get("/v1/log/checkpoint", headers=TEXT)
        assert (head.status_code, len(notes.parse(head.text).signatures)) == (200, 1)
        with place.witness(port):
            first = commit(client, held, same)
            assert first.status_code == 201
            assert commit(client, held, same).content == first.content
            assert commit(client, held).status_code == 201
            assert client.get(f"{LEDGERS}/{ledger}").json()["plan"][0]["committed"] == 2


def test_one_of_two_witnesses_may_be_down_where_one_is_needed(place: Place) -> None:
    with place.witness() as first, ExitStack() as stack:
        with place.witness(name="witness.example/w2") as second:
            client = stack.enter_context(serving(place.settings(first, second, ledger_witnesses_needed=1)))
            _, held = prepared(client)
        assert commit(client, held).status_code == 201
        head = client.get("/v1/log/checkpoint", headers=TEXT).text
        assert verified_by_the_specification(head, NAME, first.folder.public.raw) > 0


def test_a_service_that_starts_without_its_witness_writes_nothing_until_it_is_there(place: Place) -> None:
    with place.witness() as witness, serving(place.settings(witness)) as client:
        ledger, held = prepared(client)
        port = int(witness.url.rpartition(":")[2])
    with serving(place.settings(witness)) as client:
        problem(commit(client, held), 503, "unavailable")
        assert client.get(f"{LEDGERS}/{ledger}").json()["plan"][0]["committed"] == 0
        with place.witness(port):
            assert commit(client, held).status_code == 201


def test_a_witness_with_another_key_or_without_the_logs_key_gives_nothing(place: Place) -> None:
    with place.witness() as witness, running(place.folder / "other", FIRST.public) as other:
        for setting in (f"{witness.url} {other.folder.public.vkey}", other.setting):
            with serving(place.settings(ledger_witnesses=setting)) as client:
                problem(client.post(LEDGERS, json=body(), headers=key()), 503, "unavailable")
                assert client.get(LEDGERS).json()["ledgers"] == []


def test_replicas_with_one_witness_move_in_turn(place: Place, postgresql_url: str) -> None:
    with place.witness() as witness, ExitStack() as stack:
        settings = place.settings(witness, store_url=postgresql_url)
        replicas = [stack.enter_context(serving(settings)) for _ in range(2)]
        ledger, held = prepared(replicas[0])
        for number in range(6):
            assert commit(replicas[number % 2], held).status_code == 201
        assert replicas[1].get(f"{LEDGERS}/{ledger}").json()["plan"][0]["committed"] == 6
        for client in replicas:
            head = client.get("/v1/log/checkpoint", headers=TEXT).text
            assert verified_by_the_specification(head, NAME, witness.folder.public.raw) > 0


def test_a_standby_that_lags_is_used_once_it_has_the_missing_entries(tmp_path: Path) -> None:
    primary, standby = tmp_path / "primary", tmp_path / "standby"
    with running(tmp_path / "witness", KEYS.signing.public) as witness:
        settings = Settings(ledger_witnesses=witness.setting)
        database = opened_database(primary / "ledgers.sqlite")
        first = KeptHeads(book(database), settings)
        first._book.open(TENANT, opening(block="a"), book_key())
        first.begin()
        database.close()
        shutil.copytree(primary, standby)
        database = opened_database(primary / "ledgers.sqlite")
        first._book._database = database
        first._book.open(TENANT, opening(block="b"), book_key())
        first.keep()
        database.close()
        database = opened_database(standby / "ledgers.sqlite")
        late = KeptHeads(book(database), settings)
        late.begin()
        for refused in (late.require, late.checkpoint, lambda: late._book.open(TENANT, opening(block="c"), book_key())):
            with pytest.raises(NotReconciled, match="cosigned 2 entries, and the log has fewer"):
                refused()
        database.close()
        shutil.rmtree(standby)
        shutil.copytree(primary, standby)
        database = opened_database(standby / "ledgers.sqlite")
        late._book._database = database
        late.require()
        assert late._book.continuity.trouble is None
        late._book.open(TENANT, opening(block="c"), book_key())
        late.keep()
        assert witness.folder.public.verify(notes.parse(late.checkpoint())) is not None
        database.close()
        first.close()
        late.close()


def test_a_rollback_under_a_replica_that_knew_less_is_noticed_by_its_witness(tmp_path: Path) -> None:
    """One replica moves and ends; the store is restored under another one, whose own newest head the copy continues."""
    here, copy = tmp_path / "here", tmp_path / "copy"
    with running(tmp_path / "witness", KEYS.signing.public) as witness:
        settings = Settings(ledger_witnesses=witness.setting)
        database = opened_database(here / "ledgers.sqlite")
        first, idle = (KeptHeads(book(database), settings) for _ in range(2))
        for each in (first, idle):
            each.begin()
        database.close()
        shutil.copytree(here, copy)
        database = opened_database(here / "ledgers.sqlite")
        first._book._database = database
        first._book.open(TENANT, opening(block="a"), book_key())
        first.keep()
        database.close()
        shutil.rmtree(here)
        copy.rename(here)
        database = opened_database(here / "ledgers.sqlite")
        idle._book._database = database
        idle.require()
        idle._book.open(TENANT, opening(block="b"), book_key())
        with pytest.raises(NotReconciled, match="that are not the log's first"):
            idle.keep()
        for refused in (idle.require, lambda: idle._book.open(TENANT, opening(block="c"), book_key())):
            with pytest.raises(NotReconciled):
                refused()
        assert idle._book.root(2) is None
        database.close()
        first.close()
        idle.close()


@pytest.mark.parametrize(
    ("witnesses", "needed", "named"),
    [
        ("nonsense", 0, "LEDGER_WITNESSES:"),
        ("", 1, "LEDGER_WITNESSES_NEEDED"),
    ],
)
def test_settings_that_name_no_witness_are_rejected(
    monkeypatch: pytest.MonkeyPatch, witnesses: str, needed: int, named: str
) -> None:
    monkeypatch.setenv("EPSILOND_LEDGER_WITNESSES", witnesses)
    monkeypatch.setenv("EPSILOND_LEDGER_WITNESSES_NEEDED", str(needed))
    with pytest.raises(ValueError, match=named):
        Settings.from_environment()

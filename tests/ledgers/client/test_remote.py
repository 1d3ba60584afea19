"""The same words on a service: lost answers debit once, forged receipts begin nothing, refusals are the library's."""

from pathlib import Path

import pytest

import epsilond
from epsilond import connection
from epsilond.accountants.errors import BlockHasLedger
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.client.errors import LogForked, ReceiptUsed, Refused, Unanswered
from epsilond.ledgers.log.canonical import canonical
from tests.ledgers.client.places import ASKED, QUERY
from tests.ledgers.client.service import serving


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.001)
    with serving(tmp_path) as found:
        yield found


@pytest.fixture
def books(service, tmp_path):
    with epsilond.ledger(service[0], runs=tmp_path / "runs") as found:
        yield found


def committed(ledger):
    (item,) = [each for each in ledger.show().plan if each["name"] == "train"]
    return item["committed"]


def test_the_words_of_a_file(books):
    ledger = books.open(**ASKED)
    assert books.ledger("hospital").id == ledger.id
    assert ledger.what_if("train", count=3).fits
    with ledger.reserve("train", count=10) as run:
        receipt = run.commit(4)
    assert receipt.entry["count"] == 4
    assert run.show().state == "cancelled"
    assert committed(ledger) == 4
    with ledger.reserve("query", spec=QUERY, slot="gdp") as run:
        run.commit()
    ledger.void(run, 1, declared="no-output-observed")
    ledger.close()
    kinds = "opened reserved committed cancelled reserved committed voided closed"
    assert [each.kind for each in ledger.entries()] == kinds.split()
    assert [each.kind for each in ledger.entries(6)] == ["voided", "closed"]
    assert books.checkpoint().splitlines()[1] == "8"
    with pytest.raises(ReceiptUsed):
        books.begin(receipt)
    assert "1000" in str(ledger)


def test_lost_answers_are_asked_for_again_and_debit_once(service, books):
    _, faults, _ = service
    ledger = books.open(**ASKED)
    faults.lost = 2
    run = ledger.reserve("train", count=10)
    faults.lost, faults.busy = 1, 1
    run.commit(4)
    assert committed(ledger) == 4
    assert len([each for each in ledger.entries() if each.kind == "reserved"]) == 1
    keys = [key for method, path, key in faults.asked if path.endswith("/commits")]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_no_answer_begins_nothing_and_the_same_key_tells(service, books, tmp_path):
    _, faults, _ = service
    ledger = books.open(**ASKED)
    run = ledger.reserve("train", count=10)
    faults.lost = connection.TRIES
    with pytest.raises(Unanswered, match="does not answer"):
        run.commit(4, key="mine")
    assert not list(tmp_path.glob("runs/*.json"))
    assert run.commit(4, key="mine").entry["count"] == 4
    assert committed(ledger) == 4


def test_a_forged_receipt_begins_nothing(service, books, tmp_path):
    _, faults, _ = service
    run = books.open(**ASKED).reserve("train", count=10)
    faults.forged = True
    with pytest.raises(Refused, match="does not hold"):
        run.commit(4)
    assert not list(tmp_path.glob("runs/*.json"))


def test_an_answer_without_receipts_begins_nothing(service, books, tmp_path):
    _, faults, _ = service
    run = books.open(**ASKED).reserve("train", count=10)
    faults.emptied = True
    with pytest.raises(Refused, match="not a receipt"):
        run.commit(4)
    assert not list(tmp_path.glob("runs/*.json"))


@pytest.mark.parametrize("lost", [1, 3])
def test_two_receipts_of_one_number_stop_the_loop(service, books, tmp_path, lost):
    """The service is restored from a copy without its newest commits, and the head that it keeps elsewhere with it."""
    _, _, place = service
    run = books.open(**ASKED).reserve("train", count=10)
    run.commit(1)
    database = list(tmp_path.glob("served.db?*"))
    files = [tmp_path / "served.db", *filter(Path.is_file, database), tmp_path / "none" / "head"]
    copied = {path: path.read_bytes() for path in files}
    for _ in range(lost):
        run.commit(1)
    place.close()
    for path in tmp_path.glob("served.db-*"):
        path.unlink()
    for path, content in copied.items():
        path.write_bytes(content)
    (kept,) = (tmp_path / "runs").glob("seen-head-*")
    before = kept.read_text()
    with serving(tmp_path) as (url, _, _), epsilond.ledger(url, runs=tmp_path / "runs") as again:
        with pytest.raises(LogForked, match="nothing may be run"):
            again.run(run.id).commit(3)
        with pytest.raises(LogForked):
            again.checkpoint()
    assert kept.read_text() == before


def test_heads_are_followed(service, books, tmp_path):
    run = books.open(**ASKED).reserve("train", count=10)
    first, again = run.commit(1, key="first"), run.commit(2)
    (kept,) = (tmp_path / "runs").glob("seen-head-*")
    assert kept.read_text() == again.checkpoint
    assert run.commit(1, key="first", begin=False).checkpoint == first.checkpoint  # an old answer is of the same log
    assert kept.read_text() == again.checkpoint
    assert books.checkpoint() == again.checkpoint


def test_refusals_are_the_librarys(service, books):
    ledger = books.open(**ASKED)
    with pytest.raises(epsilond.LedgerExhausted) as refused:
        ledger.reserve(spec=epsilond.Gaussian(noise_multiplier=0.5), slot="gdp")
    assert refused.value.nearest["smallest_noise_multiplier"] > 2.0
    with pytest.raises(BlockHasLedger):
        books.open(**ASKED)
    with pytest.raises(epsilond.InvalidInput) as invalid:
        ledger.reserve("train", count=0)
    assert invalid.value.faults[0].pointer == "/count"
    with pytest.raises(Refused, match="no such"):
        books.run("nobody")


def test_a_bundle_of_receipts_is_verified(service, books, tmp_path):
    ledger = books.open(**ASKED)
    with ledger.reserve("train", count=10) as run:
        run.commit(4)
    (tmp_path / "bundle").write_bytes(books.bundle(ledger).to_bytes())
    (tmp_path / "keys").write_bytes(canonical(books.keys()))
    found = audited(tmp_path / "bundle", tmp_path / "keys")
    assert found.holds
    assert any("were computed again" in each.sentence for each in found.findings)


def test_nobody_there(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.001)
    with epsilond.ledger("http://127.0.0.1:9", runs=tmp_path) as books, pytest.raises(Unanswered):
        books.ledgers()


def test_nobody_is_followed_elsewhere_with_the_key(service, tmp_path):
    url, faults, _ = service
    faults.elsewhere = f"{url}/v1/ledgers"
    with epsilond.ledger(url, runs=tmp_path, key="secret") as books, pytest.raises(Refused, match="found"):
        books.ledgers()
    assert len(faults.asked) == 1

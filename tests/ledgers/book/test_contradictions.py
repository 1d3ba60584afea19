"""A contradiction in a book: written once, in every answer since, and before or after a commit, but never between."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput, Observation, RunDiffers
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book import answers
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import KeyReused, NotFound
from epsilond.ledgers.book.promises.ledger import compute_promise
from epsilond.ledgers.correction_requests import AmendAsked, ContradictAsked, VoidAsked
from epsilond.ledgers.mathematics.replay import balances, replay_entries
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.specs import spec_of, text_of
from epsilond.ledgers.store.transactions import looking
from epsilond.reading import read
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import TENANT, book, key, opening, query
from tests.ledgers.book.test_writers import books

SEEN = {"premise": "fresh-draw", "message": "batches repeat", "remedy": "Use the loader.", "count": 3}
OBSERVED = Observation("fresh-draw", "batches repeat", remedy="Use the loader.", count=3)
ALL = CommitAsked()


def told(reservations: list[str] | None = None, **changed: Any) -> ContradictAsked:
    """What is asked to contradict a ledger."""
    body: dict[str, Any] = {"observations": [SEEN | changed]}
    return read(ContradictAsked, body | ({} if reservations is None else {"reservations": reservations}))


@pytest.fixture
def kept(database: Database) -> Book:
    return book(database)


def paid(kept: Book, ledger: str, **asked: Any) -> str:
    """A reservation of which one run was committed."""
    made = kept.reserve(TENANT, [ledger], query(**asked), key())
    kept.commit(TENANT, made.id, CommitAsked(count=1), key())
    return made.id


def answer(kept: Book, ledger: str) -> dict[str, Any]:
    """The ledger as it is answered."""
    row, state = kept.row_and_state(TENANT, ledger)
    found: dict[str, Any] = as_json(answers.answer(row, state, compute_promise(state, of_block=False)))
    return found


def test_it_accepts_no_further_runs(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    held = paid(kept, ledger, count=3)
    kept.contradict(TENANT, ledger, told(), key())
    moves: list[Callable[[], object]] = [
        lambda: kept.reserve(TENANT, [ledger], query(), key()),
        lambda: kept.commit(TENANT, held, ALL, key()),
        lambda: kept.amend(TENANT, ledger, read(AmendAsked, {"lower": [{"name": "train", "planned": 1}]}), key()),
        lambda: kept.seal(TENANT, ledger, key()),
    ]
    for move in moves:
        with pytest.raises(RunDiffers) as refused:
            move()
        assert refused.value.observations == (OBSERVED,)
    assert kept.cancel(TENANT, held).state == "cancelled"
    kept.close(TENANT, ledger, key())
    assert kept.state(TENANT, ledger).status == "contradicted"
    entries = kept.entries(TENANT, ledger)
    assert [each["kind"] for each in entries] == [
        "opened",
        "reserved",
        "committed",
        "contradicted",
        "cancelled",
        "closed",
    ]
    state = replay_entries(entries, spec_of, text_of)
    assert state.observations == (OBSERVED,)
    assert balances(state) == balances(kept.state(TENANT, ledger))


def test_a_closed_ledger_is_contradicted(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    held = kept.reserve(TENANT, [ledger], query(), key()).id
    kept.close(TENANT, ledger, key())
    kept.contradict(TENANT, ledger, told([]), key())
    with pytest.raises(RunDiffers):
        kept.commit(TENANT, held, ALL, key())
    assert answer(kept, ledger)["state"] == "contradicted"


def test_the_answer_has_observations_and_no_epsilon(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    paid(kept, ledger)
    before = answer(kept, ledger)
    assert (before["state"], before["observations"]) == ("open", [])
    kept.contradict(TENANT, ledger, told(), key())
    kept.contradict(TENANT, ledger, told(premise="noise", count=1), key())
    after = answer(kept, ledger)
    assert after["state"] == as_json(answers.summary(kept.ledger(TENANT, ledger)))["state"] == "contradicted"
    assert after["observations"] == [SEEN, SEEN | {"premise": "noise", "count": 1}]
    assert "guarantee" not in after
    assert after["curve"] == []
    assert str(before["guarantee"]["epsilon"]) not in json.dumps(after)
    assert after["slots"] == before["slots"]


def test_commits_of_the_run_are_marked(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    good, bad = paid(kept, ledger), paid(kept, ledger)
    assert kept.receipts(TENANT, bad)
    kept.contradict(TENANT, ledger, told([bad]), key())
    marks = {each["reservation"]: each.get("contradicted") for each in kept.entries(TENANT, ledger) if "count" in each}
    assert marks == {good: None, bad: True}
    contradicted = [kept.contradicting_ledgers(kept.reservation(TENANT, each)) for each in (good, bad)]
    assert contradicted == [[], [ledger]]
    assert (len(kept.receipts(TENANT, good)), kept.receipts(TENANT, bad)) == (1, [])
    assert [each.contradicted for each in kept.state(TENANT, ledger).reservations.values()] == [False, True]
    kept.contradict(TENANT, ledger, told(), key())
    assert all(each.get("contradicted") for each in kept.entries(TENANT, ledger) if each["kind"] == "committed")


def test_the_log_keeps_what_was_signed(kept: Book, database: Database) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    bad = paid(kept, ledger)
    seq = kept.entries(TENANT, ledger)[-1]["seq"]
    before = kept.inclusion(TENANT, seq).entry
    kept.contradict(TENANT, ledger, told([bad]), key())
    assert kept.inclusion(TENANT, seq).entry == before
    assert "contradicted" not in before
    with looking(database) as connection:
        leaf = connection.exec_driver_sql("SELECT leaf FROM ledger_entries ORDER BY seq DESC LIMIT 1").scalar_one()
    record = json.loads(bytes(leaf))
    assert (record["kind"], record["observations"], record["reservations"]) == ("contradicted", [SEEN], [bad])


def test_a_request_is_written_once(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    again = key()
    for _ in range(2):
        assert kept.contradict(TENANT, ledger, told(), again).contradicted
    assert len(kept.state(TENANT, ledger).observations) == 1
    with pytest.raises(KeyReused):
        kept.contradict(TENANT, ledger, told(count=4), again)


def test_what_it_cannot_concern_is_rejected(kept: Book) -> None:
    ledger, other = (kept.open(TENANT, opening(block=each), key()).id for each in "ab")
    foreign = paid(kept, other)
    for reservations in ([foreign], ["reservation_nobody"]):
        with pytest.raises(InvalidInput, match="/reservations/0"):
            kept.contradict(TENANT, ledger, told(reservations), key())
    with pytest.raises(NotFound):
        kept.contradict("others", ledger, told(), key())
    assert kept.state(TENANT, ledger).status == "open"


def test_a_run_that_several_ledgers_pay_for_ends_with_one_of_them(kept: Book) -> None:
    several = [kept.open(TENANT, opening(block=each), key()).id for each in "ab"]
    made = kept.reserve(TENANT, several, query(count=2), key()).id
    kept.contradict(TENANT, several[0], told([made]), key())
    with pytest.raises(RunDiffers):
        kept.commit(TENANT, made, ALL, key())
    assert not any(each.committed for each in kept.reservation(TENANT, made).holdings)


def test_the_receipt_of_a_contradicted_ledger_is_not_given_again(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    made, again = kept.reserve(TENANT, [ledger], query(), key()).id, key()
    kept.commit(TENANT, made, ALL, again)
    kept.contradict(TENANT, ledger, told(), key())
    with pytest.raises(RunDiffers):
        kept.commit(TENANT, made, ALL, again)


def test_runs_may_be_voided_and_do_not_make_it_open(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    made = paid(kept, ledger)
    kept.contradict(TENANT, ledger, told(), key())
    kept.void(TENANT, ledger, VoidAsked(reservation=made, count=1, declared="no-output-observed"), key())
    with pytest.raises(RunDiffers):
        kept.reserve(TENANT, [ledger], query(), key())


def test_commits_are_before_the_contradiction_or_refused(place: str) -> None:
    with books(place) as kept, ThreadPoolExecutor(9) as pool:
        ledger = kept[0].open(TENANT, opening(), key()).id
        held = [kept[0].reserve(TENANT, [ledger], query(), key()).id for _ in range(8)]

        def committed(place_of: int) -> bool:
            try:
                kept[place_of % len(kept)].commit(TENANT, held[place_of], ALL, key())
            except RunDiffers:
                return False
            return True

        done = pool.map(committed, range(8))
        contradicted = pool.submit(kept[-1].contradict, TENANT, ledger, told(), key())
        counts = sum(done)
        contradicted.result()
        entries = kept[0].entries(TENANT, ledger)
        kinds = [each["kind"] for each in entries]
        assert kinds.count("committed") == counts
        assert "committed" not in kinds[kinds.index("contradicted") :]
        assert all(each.get("contradicted") for each in entries if each["kind"] == "committed")
        assert balances(replay_entries(entries, spec_of, text_of)) == balances(kept[0].state(TENANT, ledger))

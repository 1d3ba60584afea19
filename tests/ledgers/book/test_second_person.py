"""In a ledger with approval a second person approves amendments, voids and reconciliations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from epsilond.accountants.errors import (
    AwaitsApproval,
    ConditionViolated,
    EpsilondError,
    InvalidInput,
    LedgerClosed,
    MoveEnded,
    SamePerson,
)
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import BookError, KeyReused, NotFound, RoleMissing
from epsilond.ledgers.book.gated import PENDING_SECONDS
from epsilond.ledgers.book.pending import MOST_PENDING
from epsilond.ledgers.correction_requests import AmendAsked, VoidAsked
from epsilond.ledgers.mathematics.balance import BALANCE
from epsilond.ledgers.mathematics.checks import people
from epsilond.ledgers.mathematics.replay import DoesNotReplay, balances, replay_entries
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.records import LedgerRow, PendingRow
from epsilond.ledgers.store.specs import spec_of, text_of
from epsilond.reading import read
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import TENANT, Clock, book, key, opening, query

REQUESTER, APPROVER = "alice", "vera"
RACERS = 8
Request = Callable[..., PendingRow]


def lowering(planned: int = 100, **more: Any) -> AmendAsked:
    """What is asked to lower the plan's item."""
    return read(AmendAsked, {"lower": [{"name": "train", "planned": planned}], **more})


def amending(**asked: Any) -> AmendAsked:
    return read(AmendAsked, asked)


def voiding(reservation: str, count: int = 1) -> VoidAsked:
    return read(VoidAsked, {"reservation": reservation, "count": count, "declared": "no-output-observed"})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(database: Database, clock: Clock) -> Book:
    return book(database, clock=clock)


@pytest.fixture
def ledger(kept: Book) -> LedgerRow:
    """A ledger with approval."""
    return kept.open(TENANT, opening(approval=True), key(), by="olga")


def committed(kept: Book, ledger: str) -> str:
    """Return a reservation of which one run was committed."""
    held = kept.reserve(TENANT, [ledger], query(), key(), by="rolf")
    kept.commit(TENANT, held.id, CommitAsked(), key(), by="rolf")
    return held.id


def requested(kept: Book, ledger: str, kind: str, **more: Any) -> PendingRow:
    """Return a pending move of this kind."""
    if kind == "void":
        made = kept.void(TENANT, ledger, voiding(committed(kept, ledger)), key(), by=REQUESTER, **more)
    elif kind == "off":
        made = kept.amend(TENANT, ledger, amending(approval=False), key(), by=REQUESTER)
    elif kind == "reconcile":
        assert kept.request_reconciliations(REQUESTER, "The log lacks entries.") == 1
        (made,) = kept.pending(TENANT, ledger)
    else:
        made = kept.amend(TENANT, ledger, lowering(), key(), by=REQUESTER)
    assert isinstance(made, PendingRow)
    return made


def balanced(kept: Book, ledger: str) -> list[dict[str, Any]]:
    """Return the entries of a ledger, after checking that they give its balances."""
    entries = kept.entries(TENANT, ledger)
    state = kept.state(TENANT, ledger)
    again = replay_entries(entries, spec_of, text_of)
    assert balances(again) == balances(state)
    assert (again.approval, again.conditional) == (state.approval, state.conditional)
    return entries


GATED = ["amend", "void", "off", "reconcile"]
ENTRIES = {"amend": "amended", "void": "voided", "off": "amended", "reconcile": "reconciled"}


@pytest.mark.parametrize("kind", GATED)
def test_a_gated_move_changes_nothing_until_another_person_approves_it(
    kept: Book, ledger: LedgerRow, kind: str, clock: Clock
) -> None:
    move = requested(kept, ledger.id, kind)
    before, entries = kept.ledger(TENANT, ledger.id), kept.entries(TENANT, ledger.id)
    assert kept.pending(TENANT, ledger.id) == [move]
    assert (move.state, move.requested_by, move.requested_at) == ("pending", REQUESTER, clock.now)
    assert move.expires == (None if kind == "reconcile" else clock.now + PENDING_SECONDS)
    for name in (REQUESTER, REQUESTER.upper(), f" {REQUESTER} ", "\uff41lice"):
        with pytest.raises(SamePerson, match=f"{REQUESTER} requested.*{name} cannot approve"):
            kept.approve(TENANT, ledger.id, move.id, by=name)
    assert (kept.ledger(TENANT, ledger.id), kept.entries(TENANT, ledger.id)) == (before, entries)

    clock.now += 60.0
    done = kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
    assert (done.state, done.closed_by, done.closed_at, done.applied) == (
        "approved",
        APPROVER,
        clock.now,
        before.version + 1,
    )
    assert kept.pending(TENANT, ledger.id) == []
    (last,) = balanced(kept, ledger.id)[len(entries) :]
    assert last["kind"] == ENTRIES[kind]
    assert (last["requested_by"], last["approved_by"], last["move"]) == (REQUESTER, APPROVER, move.id)
    assert last["requested_at"] < last["at"]

    assert kept.approve(TENANT, ledger.id, move.id, by="walter") == done
    assert len(kept.entries(TENANT, ledger.id)) == len(entries) + 1
    with pytest.raises(AwaitsApproval if kind == "reconcile" else MoveEnded):
        kept.reject(TENANT, ledger.id, move.id, by="walter")


def test_a_ledger_without_approval_is_moved_by_one_person(kept: Book) -> None:
    row = kept.open(TENANT, opening(), key(), by="olga")
    assert isinstance(kept.amend(TENANT, row.id, lowering(), key(), by=REQUESTER), LedgerRow)
    done = kept.void(TENANT, row.id, voiding(committed(kept, row.id)), key(), by=REQUESTER)
    assert isinstance(done, LedgerRow)
    assert done.conditional
    assert kept.request_reconciliations("op", "The log lacks entries.") == 0
    assert not any("approved_by" in entry or "approval" in entry for entry in balanced(kept, row.id))
    held = committed(kept, row.id)
    with pytest.raises(RoleMissing):
        kept.void(TENANT, row.id, voiding(held), key(), by=REQUESTER, may_act=False)


def test_an_analyst_may_request_a_void_of_a_ledger_with_approval(kept: Book, ledger: LedgerRow) -> None:
    assert requested(kept, ledger.id, "void", may_act=False).state == "pending"


def test_a_request_is_judged_at_once(kept: Book, ledger: LedgerRow) -> None:
    held = committed(kept, ledger.id)
    with pytest.raises(InvalidInput, match="is not a number of runs"):
        kept.void(TENANT, ledger.id, voiding(held, 2), key(), by=REQUESTER)
    with pytest.raises(ConditionViolated):
        kept.amend(TENANT, ledger.id, lowering(), key(), by=REQUESTER)
    with pytest.raises(InvalidInput, match="is already in the ledger"):
        kept.amend(TENANT, ledger.id, amending(approval=True), key(), by=REQUESTER)
    assert kept.pending(TENANT, ledger.id) == []


def test_approval_judges_again_and_what_is_refused_stays_pending(kept: Book, ledger: LedgerRow) -> None:
    move = requested(kept, ledger.id, "amend")
    held = kept.reserve(TENANT, [ledger.id], query(slot=None, spec=None, item="train", count=150), key())
    before = kept.entries(TENANT, ledger.id)
    with pytest.raises(InvalidInput, match="what is taken of train"):
        kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
    assert kept.pending(TENANT, ledger.id) == [move]
    assert kept.entries(TENANT, ledger.id) == before
    kept.cancel(TENANT, held.id)
    assert kept.approve(TENANT, ledger.id, move.id, by=APPROVER).state == "approved"
    assert kept.ledger(TENANT, ledger.id).items[0].planned == 100


def test_an_undeclared_amendment_of_before_the_first_commit_is_not_approved_after_it(
    kept: Book, ledger: LedgerRow
) -> None:
    move = requested(kept, ledger.id, "amend")
    committed(kept, ledger.id)
    with pytest.raises(ConditionViolated):
        kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
    declared = kept.amend(TENANT, ledger.id, lowering(declared="independent-of-outputs"), key(), by=REQUESTER)
    assert isinstance(declared, PendingRow)
    kept.approve(TENANT, ledger.id, declared.id, by=APPROVER)
    assert kept.ledger(TENANT, ledger.id).conditional
    balanced(kept, ledger.id)


def test_two_pending_voids_of_one_run_are_not_both_made(kept: Book, ledger: LedgerRow) -> None:
    held = committed(kept, ledger.id)
    moves = [kept.void(TENANT, ledger.id, voiding(held), key(), by=REQUESTER) for _ in range(2)]
    kept.approve(TENANT, ledger.id, moves[0].id, by=APPROVER)
    with pytest.raises(InvalidInput):
        kept.approve(TENANT, ledger.id, moves[1].id, by=APPROVER)
    balanced(kept, ledger.id)


def test_a_closed_ledger_is_not_amended_by_a_move_of_before(kept: Book, ledger: LedgerRow) -> None:
    move = requested(kept, ledger.id, "off")
    kept.close(TENANT, ledger.id, key())
    with pytest.raises(LedgerClosed):
        kept.approve(TENANT, ledger.id, move.id, by=APPROVER)


def test_a_move_expires_after_a_week(kept: Book, ledger: LedgerRow, clock: Clock) -> None:
    move, second = requested(kept, ledger.id, "amend"), requested(kept, ledger.id, "off")
    clock.now += PENDING_SECONDS - 1.0
    assert kept.approve(TENANT, ledger.id, second.id, by=APPROVER).state == "approved"
    assert kept.pending(TENANT, ledger.id) == [move]
    clock.now += 1.0
    assert kept.pending(TENANT, ledger.id) == []
    with pytest.raises(MoveEnded, match="expired"):
        kept.reject(TENANT, ledger.id, move.id, by=APPROVER)
    with pytest.raises(MoveEnded, match="expired"):
        kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
    clock.now -= 10.0  # a clock that is set back revives nothing
    with pytest.raises(MoveEnded, match="expired"):
        kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
    assert kept.pending_move(TENANT, ledger.id, move.id).state == "expired"


def test_a_move_is_rejected_by_an_approver_and_withdrawn_by_its_requester(kept: Book, ledger: LedgerRow) -> None:
    first, second = requested(kept, ledger.id, "amend"), requested(kept, ledger.id, "off")
    with pytest.raises(RoleMissing):
        kept.reject(TENANT, ledger.id, first.id, by="rolf", is_approver=False)
    rejected = kept.reject(TENANT, ledger.id, first.id, by=APPROVER)
    withdrawn = kept.reject(TENANT, ledger.id, second.id, by=REQUESTER, is_approver=False)
    assert (rejected.state, rejected.closed_by) == ("rejected", APPROVER)
    assert (withdrawn.state, withdrawn.closed_by) == ("withdrawn", REQUESTER)
    for ended in (rejected, withdrawn):
        assert kept.reject(TENANT, ledger.id, ended.id, by=APPROVER) == ended
        with pytest.raises(MoveEnded, match=f"{ended.state} by"):
            kept.approve(TENANT, ledger.id, ended.id, by=APPROVER)
    assert kept.ledger(TENANT, ledger.id) == ledger
    assert len(kept.entries(TENANT, ledger.id)) == 1


def test_a_request_that_is_sent_again_is_one_move(kept: Book, ledger: LedgerRow) -> None:
    same = key()
    first, again = (kept.amend(TENANT, ledger.id, lowering(), same, by=REQUESTER) for _ in range(2))
    assert first == again
    with pytest.raises(KeyReused):
        kept.amend(TENANT, ledger.id, lowering(90), same, by=REQUESTER)
    done = kept.approve(TENANT, ledger.id, first.id, by=APPROVER)
    assert kept.amend(TENANT, ledger.id, lowering(), same, by=REQUESTER) == done


def test_approval_is_switched_on_by_one_person_and_off_by_two(kept: Book) -> None:
    row = kept.open(TENANT, opening(), key(), by="olga")
    held = committed(kept, row.id)
    switched = kept.amend(TENANT, row.id, amending(approval=True), key(), by=REQUESTER)
    assert isinstance(switched, LedgerRow)
    assert switched.approval_from == switched.version
    assert not switched.conditional
    kept.approve(TENANT, row.id, requested(kept, row.id, "off").id, by=APPROVER)
    assert kept.ledger(TENANT, row.id).approval_from is None
    assert isinstance(kept.void(TENANT, row.id, voiding(held), key(), by=REQUESTER), LedgerRow)
    balanced(kept, row.id)


def test_names_are_needed(kept: Book, ledger: LedgerRow) -> None:
    with pytest.raises(InvalidInput, match="/approval"):
        kept.open(TENANT, opening(block="b", approval=True), key())
    with pytest.raises(InvalidInput, match="/by"):
        kept.amend(TENANT, ledger.id, lowering(), key())
    with pytest.raises(InvalidInput, match="/by"):
        kept.request_reconciliations("", "The log lacks entries.")


def test_pending_moves_are_few(kept: Book, ledger: LedgerRow) -> None:
    for _ in range(MOST_PENDING):
        kept.amend(TENANT, ledger.id, amending(approval=False), key(), by=REQUESTER)
    with pytest.raises(AwaitsApproval, match=str(MOST_PENDING)):
        kept.amend(TENANT, ledger.id, amending(approval=False), key(), by=REQUESTER)


def test_another_organisation_finds_nothing(kept: Book, ledger: LedgerRow) -> None:
    move = requested(kept, ledger.id, "amend")
    other = kept.open("other", opening(approval=True), key(), by="olga")
    calls: list[Callable[[], object]] = [
        lambda: kept.pending("other", ledger.id),
        lambda: kept.pending_move("other", ledger.id, move.id),
        lambda: kept.approve("other", ledger.id, move.id, by=APPROVER),
        lambda: kept.approve("other", other.id, move.id, by=APPROVER),
        lambda: kept.approve(TENANT, ledger.id, "move_none", by=APPROVER),
        lambda: kept.reject("other", ledger.id, move.id, by=APPROVER),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()


def test_a_ledger_waits_for_its_reconciliation(kept: Book, ledger: LedgerRow) -> None:
    held = kept.reserve(TENANT, [ledger.id], query(), key(), by="rolf")
    amendment = requested(kept, ledger.id, "amend")
    for _ in range(2):  # sent again, it is not a second move
        assert kept.request_reconciliations("op", "The log lacks entries.") == 1
    move = next(each for each in kept.pending(TENANT, ledger.id) if each.kind == "reconcile")
    assert len(kept.pending(TENANT, ledger.id)) == 2
    assert json.loads(move.body)["reason"] == "The log lacks entries."
    refused: list[Callable[[], object]] = [
        lambda: kept.reserve(TENANT, [ledger.id], query(), key()),
        lambda: kept.commit(TENANT, held.id, CommitAsked(), key()),
        lambda: kept.what_if(TENANT, ledger.id, query()),
        lambda: kept.amend(TENANT, ledger.id, lowering(), key(), by=REQUESTER),
        lambda: kept.approve(TENANT, ledger.id, amendment.id, by=APPROVER),
    ]
    for call in refused:
        with pytest.raises(AwaitsApproval):
            call()
    kept.cancel(TENANT, held.id)
    kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
    committed(kept, ledger.id)
    balanced(kept, ledger.id)


def alter(entries: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """Return entries with members of the last one changed; None takes a member away."""
    last = {name: value for name, value in (entries[-1] | more).items() if value is not None}
    return [*entries[:-1], last]


@pytest.mark.parametrize("kind", GATED)
def test_a_log_needs_two_people_where_the_ledger_has_approval(kept: Book, ledger: LedgerRow, kind: str) -> None:
    kept.approve(TENANT, ledger.id, requested(kept, ledger.id, kind).id, by=APPROVER)
    written = balanced(kept, ledger.id)
    entries = [{name: value for name, value in entry.items() if name != BALANCE} for entry in written]
    for approver in (None, "", " ", REQUESTER, f"{REQUESTER.upper()} ", 7):
        with pytest.raises(DoesNotReplay, match="another person"):
            replay_entries(alter(entries, approved_by=approver), spec_of, text_of)
    with pytest.raises(DoesNotReplay, match="another person"):
        replay_entries(alter(entries, requested_by=None), spec_of, text_of)
    first = {name: value for name, value in entries[0].items() if name != "approval"}
    if kind in ("amend", "void"):  # a ledger without approval is moved by one person, as in logs of before
        replay_entries([first, *alter(entries, approved_by=None)[1:]], spec_of, text_of)
    else:
        with pytest.raises(DoesNotReplay):
            replay_entries([first, *entries[1:]], spec_of, text_of)


@pytest.fixture
def replicas(place: str, clock: Clock) -> Iterator[list[Book]]:
    """Two books on a shared database, as two replicas have; on a file one, which threads share."""
    with ExitStack() as stack:
        databases = [open_store(place) for _ in range(2 if "://" in place else 1)]
        for each in databases:
            stack.callback(each.close)
        yield [book(each, clock=clock) for each in databases]


@pytest.mark.parametrize("kind", GATED)
def test_many_approvers_at_once_make_a_move_once(replicas: list[Book], kind: str) -> None:
    kept = replicas[0]
    row = kept.open(TENANT, opening(approval=True), key(), by="olga")
    move = requested(kept, row.id, kind)
    before = len(kept.entries(TENANT, row.id))

    def approve(place: int) -> PendingRow:
        return replicas[place % len(replicas)].approve(TENANT, row.id, move.id, by=f"approver-{place}")

    with ThreadPoolExecutor(RACERS) as pool:
        done = list(pool.map(approve, range(RACERS)))
    assert len(set(done)) == 1
    assert len(balanced(kept, row.id)) == before + 1


def test_an_approval_and_a_rejection_do_not_both_win(replicas: list[Book]) -> None:
    row = replicas[0].open(TENANT, opening(approval=True), key(), by="olga")
    planned = 200
    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            move = replicas[0].amend(TENANT, row.id, lowering(planned - 1), key(), by=REQUESTER)
            assert isinstance(move, PendingRow)
            ends = [
                pool.submit(replicas[0].approve, TENANT, row.id, move.id, by=APPROVER),
                pool.submit(replicas[-1].reject, TENANT, row.id, move.id, by="walter"),
            ]
            lost = [end.exception() for end in ends]
            assert [type(each) for each in lost if each is not None] == [MoveEnded]
            planned -= lost[0] is None
            assert replicas[0].ledger(TENANT, row.id).items[0].planned == planned
    balanced(replicas[0], row.id)


def test_an_approval_and_a_reservation_do_not_both_take_the_same_runs(replicas: list[Book]) -> None:
    row = replicas[0].open(TENANT, opening(approval=True), key(), by="olga")
    move = requested(replicas[0], row.id, "amend")
    asked = query(slot=None, spec=None, item="train", count=150)
    with ThreadPoolExecutor(2) as pool:
        ends: list[Future[Any]] = [
            pool.submit(replicas[0].approve, TENANT, row.id, move.id, by=APPROVER),
            pool.submit(replicas[-1].reserve, TENANT, [row.id], asked, key()),
        ]
        lost = [end.exception() for end in ends]
    assert sum(each is None for each in lost) == 1
    assert all(each is None or isinstance(each, EpsilondError) for each in lost)
    item = replicas[0].ledger(TENANT, row.id).items[0]
    assert (item.planned, item.reserved) in ((100, 0), (200, 150))
    balanced(replicas[0], row.id)


class Crashed(Exception):
    """The process ends here."""


def test_a_crash_at_an_approval_leaves_all_or_nothing(
    kept: Book, ledger: LedgerRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = requested(kept, ledger.id, "amend")
    before = kept.ledger(TENANT, ledger.id), kept.entries(TENANT, ledger.id)
    for place in ("epsilond.ledgers.store.pending.close", "epsilond.ledgers.store.ledgers.write"):
        monkeypatch.setattr(place, _crashing(place))
        with pytest.raises(Crashed):
            kept.approve(TENANT, ledger.id, move.id, by=APPROVER)
        monkeypatch.undo()
        assert (kept.ledger(TENANT, ledger.id), kept.entries(TENANT, ledger.id)) == before
        assert kept.pending(TENANT, ledger.id) == [move]
    assert kept.approve(TENANT, ledger.id, move.id, by=APPROVER).state == "approved"
    balanced(kept, ledger.id)


def _crashing(place: str) -> Callable[..., object]:
    """Return a function that does what the named one does, and then crashes."""
    module, _, name = place.rpartition(".")
    real = getattr(__import__(module, fromlist=[name]), name)

    def crash(*arguments: object) -> object:
        real(*arguments)
        raise Crashed

    return crash


STATEMENTS = [
    "UPDATE ledger_pending SET body = '{}'",
    "UPDATE ledger_pending SET requested_by = 'vera'",
    "UPDATE ledger_pending SET expires = expires + 1",
    "UPDATE ledger_pending SET expires = NULL",
    "UPDATE ledger_pending SET state = 'approved'",
    "UPDATE ledger_pending SET state = 'approved', closed_by = 'ALICE', applied = 1",
    "UPDATE ledger_pending SET state = 'made'",
    "DELETE FROM ledger_pending",
    "UPDATE ledgers SET version = version + 1, approval_from = NULL",
    "UPDATE ledgers SET version = version + 1, approval_from = 9",
    "INSERT INTO ledger_pending SELECT 'b', ledger, kind, body, 'a', 1.0, expires, 'approved', 'v', 1.0, 1 FROM ledger_pending",
]


def test_the_database_refuses_what_no_move_does(kept: Book, ledger: LedgerRow, database: Database) -> None:
    move = requested(kept, ledger.id, "amend")
    for statement in STATEMENTS:
        with pytest.raises(StoreFault), database.writing() as connection:
            connection.exec_driver_sql(statement)
    kept.reject(TENANT, ledger.id, move.id, by=APPROVER)
    with pytest.raises(StoreFault), database.writing() as connection:
        connection.exec_driver_sql("UPDATE ledger_pending SET state = 'pending'")


@pytest.mark.parametrize("kind", ["amend", "void"])
def test_the_database_refuses_a_replica_that_knows_no_approval(
    kept: Book, ledger: LedgerRow, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A replica of an earlier version does not read the column."""
    asked: AmendAsked | VoidAsked = lowering() if kind == "amend" else voiding(committed(kept, ledger.id))
    before = kept.ledger(TENANT, ledger.id)
    load = kept._desk.row
    monkeypatch.setattr(kept._desk, "row", lambda *named: replace(load(*named), approval_from=None))
    monkeypatch.setattr("epsilond.ledgers.store.ledgers._CHANGING", ("status", "sealed", "conditional", "contradicted"))
    with pytest.raises((StoreFault, BookError)):
        kept.amend(TENANT, ledger.id, asked, key(), by=REQUESTER) if isinstance(asked, AmendAsked) else kept.void(
            TENANT, ledger.id, asked, key(), by=REQUESTER
        )
    monkeypatch.undo()
    assert kept.ledger(TENANT, ledger.id) == before


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("ana", "ana\u200b"),
        ("ana", "\u2060ana"),
        ("ana", "a\u00adna"),
        ("ana", "ANA"),
        ("ana", " ana\u3164"),
        ("ana", "\uff41\uff4e\uff41"),
        ("ana maria", "ana  maria"),
        ("ana maria", "ana\tmaria"),
        ("\u0390", "\u0390".upper()),
    ],
)
def test_a_name_that_looks_like_another_is_the_same_person(name: str, twin: str) -> None:
    assert people.is_same_person(name, twin)
    assert not people.has_two_people({"requested_by": name, "approved_by": twin})
    assert people.has_two_people({"requested_by": name, "approved_by": "bob"})


@pytest.mark.parametrize("name", ["", " ", "\u3164", "\u200b"])
def test_a_name_that_shows_nothing_is_nobody(name: str) -> None:
    assert not people.has_two_people({"requested_by": "ana", "approved_by": name})

"""In a file names are declared: a ledger with approval records who requested and who approved, and audits demand both."""

import json
import shutil
import sqlite3

import pytest

import epsilond
from epsilond.accountants.errors import AwaitsApproval, MoveEnded, SamePerson
from epsilond.ledgers.book.restore import ACCOUNTED_FOR
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.findings import ClaimOutcome
from epsilond.ledgers.log.tree import MemoryNodes, Tree
from tests.ledgers.client.places import opened


@pytest.fixture
def books(tmp_path):
    found, _ = opened(tmp_path, approval=True, by="alice")
    with found:
        yield found


@pytest.fixture
def ledger(books):
    return books.ledger("hospital")


def failures(tmp_path, bundle):
    """Return the failed findings of an audit of a bundle."""
    (tmp_path / "bundle").write_bytes(bundle.to_bytes())
    verification = audited(tmp_path / "bundle", tmp_path / "ledger.db.keys")
    return [each.sentence for each in verification.findings if each.outcome == ClaimOutcome.FAILED]


def resigned(books, entries):
    """Return a bundle of entries under a head that the file's own key signs."""
    signing = books._place._keyring.signing
    tree = Tree(MemoryNodes()).extend(map(canonical, entries))
    return Bundle(entries=entries, checkpoints=[checkpoints.sign(checkpoints.of_tree(tree, signing.name), signing)])


def test_an_amendment_waits_and_another_name_approves_it(ledger):
    move = ledger.amend(lower={"train": 5}, by="alice")
    assert (move.state, move.requested_by, move.ledger) == ("pending", "alice", ledger.id)
    assert [each.id for each in ledger.pending()] == [move.id]
    assert ledger.show().approval
    assert ledger.show().plan[0]["planned"] == 1000
    with pytest.raises(SamePerson, match="Alice cannot approve"):
        ledger.approve(move.id, by="Alice")
    assert ledger.approve(move.id, by="vera").state == "approved"
    assert ledger.show().plan[0]["planned"] == 5
    assert ledger.pending() == []


def test_a_void_waits_and_may_be_withdrawn(ledger):
    run = ledger.reserve("train", count=2)
    run.commit()
    move = ledger.void(run, 1, declared="no-output-observed", by="alice")
    assert ledger.reject(move.id, by="alice").state == "withdrawn"
    with pytest.raises(MoveEnded):
        ledger.approve(move.id, by="vera")
    again = ledger.void(run, 1, declared="no-output-observed", by="alice")
    ledger.approve(again.id, by="vera")
    assert ledger.show().plan[0]["committed"] == 1


def test_a_ledger_without_approval_returns_no_move(tmp_path):
    books, ledger = opened(tmp_path)
    with books:
        assert not ledger.show().approval
        assert ledger.amend(lower={"train": 5}) is None
        assert ledger.amend(approval=True, by="alice") is None
        assert ledger.amend(approval=False, by="alice").kind == "amend"


def test_a_name_is_declared(books, ledger):
    with pytest.raises(epsilond.InvalidInput, match="/by"):
        ledger.amend(lower={"train": 5})
    move = ledger.amend(lower={"train": 5}, by="alice")
    for by in (None, "", "  ", "a\n", "a" * 65):
        with pytest.raises(epsilond.InvalidInput, match="/by"):
            ledger.approve(move.id, by=by)
    with pytest.raises(epsilond.InvalidInput, match="/approval"):
        books.open(
            name="b",
            dataset="b",
            unit="record",
            relation="add-or-remove-one",
            observer="server",
            epsilon=1.0,
            delta=1e-6,
            slots=["gdp"],
            approval=True,
        )


def test_an_audit_demands_two_people(books, ledger, tmp_path):
    ledger.approve(ledger.amend(lower={"train": 5}, by="alice").id, by="vera")
    bundle = books.bundle()
    assert failures(tmp_path, bundle) == []
    *first, last = [dict(entry) for entry in bundle.entries]
    assert (last["requested_by"], last["approved_by"]) == ("alice", "vera")
    tampered = [*first, last | {"approved_by": "walter"}]
    (failure,) = failures(tmp_path, Bundle(entries=tampered, checkpoints=bundle.checkpoints))
    assert "are not those of the checkpoint" in failure
    assert failures(tmp_path, resigned(books, [*first, last])) == []
    for people in ({"approved_by": "ALICE"}, {"approved_by": ""}, {"requested_by": "vera"}):
        (failure,) = failures(tmp_path, resigned(books, [*first, last | people]))
        assert "another person who approves" in failure
    alone = {name: value for name, value in last.items() if name != "approved_by"}
    (failure,) = failures(tmp_path, resigned(books, [*first, alone]))
    assert "another person who approves" in failure


def test_an_audit_finds_approval_that_was_turned_off_in_the_file(books, ledger, tmp_path):
    path, keys = tmp_path / "ledger.db", tmp_path / "ledger.db.keys"
    assert audited(path, keys).holds
    books.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER ledgers_approval")
        connection.execute("UPDATE ledgers SET approval_from = NULL, version = version + 1")
    connection.close()
    verification = audited(path, keys)
    (failure,) = [each.sentence for each in verification.findings if each.outcome == ClaimOutcome.FAILED]
    assert "are not those that its entries give" in failure


def test_an_accepted_log_waits_for_another_person(tmp_path):
    books, ledger = opened(tmp_path, approval=True, by="alice")
    books.close()
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        books.ledger("hospital").reserve("train", count=5)
    shutil.copy(tmp_path / "copy.db", tmp_path / "ledger.db")
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        with pytest.raises(epsilond.InvalidInput, match="/by"):
            books.reconcile(declared=ACCOUNTED_FOR)
        assert books.reconcile(declared=ACCOUNTED_FOR, by="alice").waiting == 1
        ledger = books.ledger("hospital")
        with pytest.raises(AwaitsApproval):
            ledger.reserve("train", count=5)
        (move,) = ledger.pending()
        with pytest.raises(SamePerson):
            ledger.approve(move.id, by="alice")
        ledger.approve(move.id, by="vera")
        ledger.reserve("train", count=5)
        assert failures(tmp_path, books.bundle()) == []
        assert json.loads(json.dumps(move.body))["size"] == 1

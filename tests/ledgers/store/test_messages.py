"""Messages to webhooks are put once, and claimed by one process at a time."""

from __future__ import annotations

from dataclasses import replace

from epsilond.ledgers.store import messages
from epsilond.ledgers.store.messages import MessageRow
from tests.ledgers.store.samples import kept, ledger

ROW = MessageRow(id="msg_a", endpoint="e", kind="fraction", body="{}", created=10.0, due=10.0)


def put(database, *rows: MessageRow) -> int:
    with database.writing() as connection:
        return messages.add(connection, rows)


def claim(database, now: float) -> MessageRow | None:
    with database.writing() as connection:
        return messages.claim(connection, "e", now, 60.0)


def test_a_message_is_put_once(database):
    assert put(database, ROW, replace(ROW, body="other"), replace(ROW, id="msg_b")) == 2
    assert put(database, ROW) == 0
    with database.reading() as connection:
        assert messages.pending(connection, ["e"]) == 2
        assert messages.pending(connection, ["another"]) == 0
        assert messages.is_kept(connection, "msg_a")
        assert not messages.is_kept(connection, "msg_c")


def test_a_claimed_message_comes_back_when_its_lease_ends(database):
    put(database, ROW, replace(ROW, id="msg_b", due=20.0), replace(ROW, id="msg_c", endpoint="f"))
    assert claim(database, 9.0) is None
    claimed = claim(database, 30.0)
    assert claimed == replace(ROW, attempts=1, due=90.0)
    assert claim(database, 30.0).id == "msg_b"
    assert claim(database, 89.0) is None
    with database.writing() as connection:
        messages.write(connection, replace(claimed, state="delivered"))
    assert claim(database, 100.0).id == "msg_b"
    assert claim(database, 100.0) is None


def test_two_processes_claim_different_messages(shared):
    put(shared, ROW, replace(ROW, id="msg_b", due=20.0))
    with shared.writing() as first, shared.writing() as second:
        claimed = [messages.claim(each, "e", 30.0, 60.0) for each in (first, second)]
        assert [row.id for row in claimed] == ["msg_a", "msg_b"]
        assert messages.claim(second, "e", 30.0, 60.0) is None


def test_one_process_reads_the_log(shared):
    with shared.writing() as connection:
        messages.begin(connection, 3)
        messages.begin(connection, 5)
    with shared.writing() as first, shared.writing() as second:
        assert messages.read_size(first, alone=True) == 3
        assert messages.read_size(second, alone=True) is None
        messages.advance(first, 4)
    with shared.reading() as connection:
        assert messages.read_size(connection) == 4


def test_old_messages_are_removed_except_for_those_that_are_sent_once(database):
    kept(database, ledger())
    put(database, ROW, replace(ROW, id="msg_b", kind="expired"), replace(ROW, id="msg_c", kind="expired", created=30.0))
    with database.writing() as connection:
        messages.prune(connection, 20.0, "fraction")
        assert [messages.is_kept(connection, f"msg_{name}") for name in "abc"] == [True, False, True]

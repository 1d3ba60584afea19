"""Messages over a wire come out as they went in, however the bytes are cut."""

import socket

import pytest

from epsilond.app.workers.work import CHUNK, Inbox, Wire, framed

MESSAGES = [b"", b"began", b"\0" * 8, bytes(range(256)) * 5]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 4096])
def test_messages_come_whole_and_in_order_whatever_the_pieces(size):
    whole = b"".join(map(framed, MESSAGES))
    ours, theirs = socket.socketpair()
    inbox, came = Inbox(), []
    with ours, theirs:
        for start in range(0, len(whole), size):
            theirs.sendall(whole[start : start + size])
            inbox.take(ours)
            while (message := inbox.next()) is not None:
                came.append(message)
    assert came == MESSAGES


def test_part_of_a_message_is_none_yet():
    ours, theirs = socket.socketpair()
    inbox = Inbox()
    with ours, theirs:
        theirs.sendall(framed(b"whole")[:-1])
        inbox.take(ours)
        assert inbox.next() is None
        theirs.sendall(b"e")
        inbox.take(ours)
        assert inbox.next() == b"whole"
        assert inbox.next() is None


def test_a_message_larger_than_a_chunk_is_waited_for():
    ours, theirs = socket.socketpair()
    large = b"x" * (CHUNK + 1)
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * CHUNK)
        theirs.sendall(framed(large))
        assert Wire(ours).receive() == large


def test_the_end_of_a_wire_is_told():
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()
        with pytest.raises(EOFError):
            Wire(ours).receive()


def test_nothing_to_take_is_told_where_nobody_waits():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs, pytest.raises(BlockingIOError):
        Inbox().take(ours)

"""The parser with a memory: the same events as h11's on every sequence of pieces, and fewer parsed heads."""

from __future__ import annotations

from collections.abc import Sequence

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilond.app.http.parsing import BoundedParser

HEAD_BYTES = 400
GET = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
POST = b"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
BARE = POST.replace(b"\r\n", b"\n")
CODED = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
REQUESTS = (
    GET,
    POST + b"{}",
    POST + b"[]",
    BARE + b"\r\n",
    CODED + b"2\r\n{}\r\n0\r\n\r\n",
    POST.replace(b"Host", b"Expect: 100-continue\r\nHost") + b"{}",
    GET.replace(b"host", b"connection: close\r\nhost"),
    GET.replace(b"/1.1", b"/1.0"),
    GET.replace(b"host: x", b"host: x\r\nhost: y"),
    b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 500 + b"\r\n\r\n",
)


def events_of(parser: h11.Connection, pieces: Sequence[bytes]) -> list[object]:
    """Return what a server sees of some pieces if it answers each request when it is complete."""
    seen: list[object] = []
    for piece in pieces:
        try:
            parser.receive_data(piece)
            while (event := parser.next_event()) is not h11.NEED_DATA:
                shown = bytes(event.data) if isinstance(event, h11.Data) else event
                seen.append((shown, parser.our_state, parser.their_state, parser.they_are_waiting_for_100_continue))
                if event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                    break
                if isinstance(event, h11.EndOfMessage):
                    answer = h11.Response(status_code=200, headers=[(b"content-length", b"0")])
                    seen += [parser.send(answer), parser.send(h11.EndOfMessage())]
                    if parser.our_state is h11.DONE:
                        parser.start_next_cycle()
        except (h11.RemoteProtocolError, h11.LocalProtocolError) as error:
            return [*seen, str(error)]
    return seen


def limited(pieces: Sequence[bytes]) -> list[object]:
    """Return what a server sees with a parser that forgets each head."""

    class Forgetful(BoundedParser):
        def receive_data(self, data: bytes) -> None:
            self._last = None
            super().receive_data(data)

    return events_of(Forgetful(h11.SERVER, HEAD_BYTES), pieces)


@given(st.lists(st.tuples(st.sampled_from(REQUESTS), st.integers(0, 60), st.integers(1, 2)), max_size=6))
def test_the_memory_changes_no_event(parts: list[tuple[bytes, int, int]]) -> None:
    pieces = [piece for request, cut, times in parts for piece in (request[:cut], (request * times)[cut:]) if piece]
    assert events_of(BoundedParser(h11.SERVER, HEAD_BYTES), pieces) == limited(pieces)


@pytest.mark.parametrize("request_bytes", REQUESTS[:4])
def test_equal_requests_give_the_events_of_h11(request_bytes: bytes) -> None:
    pieces = [request_bytes] * 3 + [request_bytes * 2] * 2 + [GET, request_bytes, request_bytes]
    assert events_of(BoundedParser(h11.SERVER, HEAD_BYTES), pieces) == events_of(h11.Connection(h11.SERVER), pieces)


def test_an_equal_head_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parser, parsed = BoundedParser(h11.SERVER, HEAD_BYTES), list[int]()
    whole = h11.Connection.next_event

    def count_and_parse(here: h11.Connection) -> object:
        parsed.append(1)
        return whole(here)

    monkeypatch.setattr(h11.Connection, "next_event", count_and_parse)
    events_of(parser, [POST + b"{}"])
    assert len(parsed) == 4
    events_of(parser, [POST + b"[]"] * 5)
    assert len(parsed) == 4 + 5  # only that there is no more


def test_a_head_with_much_white_space_is_not_kept() -> None:
    parser = BoundedParser(h11.SERVER, HEAD_BYTES)
    wide = GET.replace(b"host: x", b"host: x\r\nx:" + b" " * HEAD_BYTES + b"y")
    events_of(parser, [wide])
    assert parser._last is None
    events_of(parser, [GET])
    assert parser._last is not None

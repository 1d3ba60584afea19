"""Whole answers of h11 connections: the same bytes as h11 gives event by event, after the same checks."""

from __future__ import annotations

from types import SimpleNamespace

import h11
import pytest

from epsilond.app.http.connections import BoundedConnection
from epsilond.app.http.sending import has_length, whole_answer

REQUEST = b"POST /v1/accounts HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}"
HEADERS = [(b"Content-Type", b"application/json"), (b"content-length", b"3"), (b"x-request-id", b"a-1")]


def parser_of(request: bytes) -> h11.Connection:
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(request)
    while type(parser.next_event()) is not h11.EndOfMessage:
        pass
    return parser


@pytest.mark.parametrize("request_bytes", [REQUEST, REQUEST.replace(b"host: x", b"host: x\r\nconnection: close")])
def test_an_answer_is_the_bytes_that_h11_gives_for_its_events(request_bytes: bytes) -> None:
    whole, stepwise = parser_of(request_bytes), parser_of(request_bytes)
    events = (h11.Response(status_code=200, headers=HEADERS, reason="OK"), h11.Data(data=b"abc"), h11.EndOfMessage())
    expected = b"".join(stepwise.send(event) or b"" for event in events)
    assert whole_answer(whole, 200, HEADERS, b"abc") == expected
    assert (whole.our_state, whole.their_state) == (stepwise.our_state, stepwise.their_state)


@pytest.mark.parametrize("header", [(b"x-a", b"1\r\nset-cookie: b"), (b"x a", b"1"), (b"content-length", b"3, 4")])
def test_illegal_headers_are_rejected_each_time(header: tuple[bytes, bytes]) -> None:
    for _ in range(2):
        with pytest.raises(h11.LocalProtocolError):
            whole_answer(parser_of(REQUEST), 200, [*HEADERS, header], b"abc")


@pytest.mark.parametrize("length", [b"2", b"4"])
def test_a_wrong_length_is_rejected(length: bytes) -> None:
    with pytest.raises(h11.LocalProtocolError):
        whole_answer(parser_of(REQUEST), 200, [(b"content-length", length)], b"abc")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (HEADERS, True),
        ([(b"Content-Length", b"3")], True),
        ([], False),
        ([*HEADERS, (b"content-length", b"3")], False),
        ([*HEADERS, (b"transfer-encoding", b"chunked")], False),
    ],
)
def test_only_an_answer_with_one_length_may_wait_for_its_body(
    headers: list[tuple[bytes, bytes]], expected: bool
) -> None:
    assert has_length(headers) is expected


def test_a_connection_knows_of_an_answer_that_it_could_not_send() -> None:
    """Uvicorn closes a connection whose answer has begun and is not complete."""
    connection = SimpleNamespace(conn=parser_of(REQUEST))
    scope = {"headers": [], "method": "POST"}
    cycle = SimpleNamespace(default_headers=[], scope=scope, response_started=False, response_complete=False)
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]}
    with pytest.raises(h11.LocalProtocolError):
        BoundedConnection.send_answer(connection, cycle, start, b"123456")  # type: ignore[arg-type]
    assert (cycle.response_started, cycle.response_complete) == (True, False)

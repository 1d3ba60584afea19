"""Whole answers of h11 connections: checked and written at once.

Uvicorn writes the head and the body of an answer separately, and h11 checks every header of every answer anew. Most
headers are equal in all answers, so that the result of a check is remembered. The sent bytes are those of h11.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from http import HTTPStatus

import h11
from h11._headers import Headers, normalize_and_validate

REMEMBERED_HEADERS = 512
"""Number of checked headers that are remembered: twenty answers with all headers of different values."""
REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
"""Reason phrases by status, as uvicorn sends them."""
LENGTH = b"content-length"
CLOSE = (b"connection", b"close")


def has_length(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether an answer declares its length, so that its head may wait for its body.

    Args:
        headers: the headers of the answer.

    Returns:
        True if there is exactly one Content-Length and no Transfer-Encoding.
    """
    names = [name.lower() for name, _ in headers]
    return names.count(LENGTH) == 1 and b"transfer-encoding" not in names


def whole_answer(parser: h11.Connection, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> bytes:
    """Return the bytes of an HTTP answer, and inform the parser h11 that the answer is sent.

    Head and body are then one write to the connection, which is faster than two.

    Args:
        parser: the state of the connection.
        status: status code.
        headers: headers of which exactly one is Content-Length and none is Transfer-Encoding.
        body: the whole body; empty for HEAD.

    Returns:
        The head and the body, ready to be written to the connection.

    Raises:
        LocalProtocolError: a header has illegal characters, or the length is not that of the body.
    """
    fields: list[tuple[bytes, bytes, bytes]] = []
    for name, value in headers:
        fields.extend(_check_header(name, value))
    response = h11.Response(status_code=status, headers=Headers(fields), reason=REASONS.get(status, b""))
    events = (response, h11.Data(data=body), h11.EndOfMessage())
    return b"".join([parser.send(event) or b"" for event in events])


@lru_cache(REMEMBERED_HEADERS)
def _check_header(name: bytes, value: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Return a header as h11 keeps it: the sent name, the lower-case name and the value.

    Raises:
        LocalProtocolError: the name or the value has illegal characters.
    """
    return list(normalize_and_validate([(name, value)])._full_items)  # noqa: SLF001 (h11's own form of a header)

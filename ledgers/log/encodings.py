"""Base 64 of RFC 4648, where every string of bytes has exactly one accepted text."""

from __future__ import annotations

import base64
import binascii

from epsilond.ledgers.log.errors import Malformed


def to_base64(data: bytes) -> str:
    """Encode bytes as base 64 with padding (RFC 4648, section 4).

    Args:
        data: any bytes.

    Returns:
        The encoded text.
    """
    return base64.b64encode(data).decode("ascii")


def from_base64(text: str) -> bytes:
    """Decode base 64 with padding (RFC 4648, section 4), accepting one text only for each value.

    In base 64 the last character may have unused bits, so that several texts encode the same bytes. Only the text that
    `to_base64` returns is accepted. Otherwise a signed text could be changed without changing its meaning.

    Args:
        text: base 64 of some bytes.

    Returns:
        The decoded bytes.

    Raises:
        Malformed: the text is not base 64, or another text encodes the same bytes.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("is not base 64") from None
    if to_base64(data) != text:
        raise Malformed("is not base 64 in its one form")
    return data


def to_base64url(data: bytes) -> str:
    """Encode bytes as base 64 for URLs without padding (RFC 4648, section 5; RFC 7515).

    Args:
        data: any bytes.

    Returns:
        The encoded text, without padding.
    """
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def from_base64url(text: str) -> bytes:
    """Decode base 64 for URLs without padding, accepting one text only for each value.

    Several texts may encode the same bytes, because the last character may have unused bits. Only the text that
    `to_base64url` returns is accepted.

    Args:
        text: base 64 for URLs of some bytes.

    Returns:
        The decoded bytes.

    Raises:
        Malformed: the text is not base 64 for URLs, or another text encodes the same bytes.
    """
    padding = "=" * (-len(text) % 4)  # up to a multiple of 4 characters
    try:
        data = base64.b64decode(text + padding, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("is not base 64 for URLs") from None
    if to_base64url(data) != text:
        raise Malformed("is not base 64 for URLs in its one form")
    return data

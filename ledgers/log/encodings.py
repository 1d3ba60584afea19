"""Base 64 of RFC 4648, where every string of bytes has exactly one accepted text."""

from __future__ import annotations

import base64
import binascii

from epsilond.ledgers.log.errors import Malformed


def to_base64(data: bytes) -> str:
    """Encode bytes in the base64 alphabet of RFC 4648, section 4, with padding."""
    return base64.b64encode(data).decode("ascii")


def from_base64(text: str) -> bytes:
    """Decode base 64, accepting only the one text that `to_base64` returns for the same bytes.

    Raises:
        Malformed: the text is not base 64, or another text encodes the same bytes.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("is not base 64") from None
    if to_base64(data) != text:  # unused bits may be set, so that several texts encode the same bytes
        raise Malformed("is not base 64 in its one form")
    return data


def to_base64url(data: bytes) -> str:
    """Encode bytes in the base64url alphabet of RFC 4648, section 5, without padding, as in RFC 7515."""
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def from_base64url(text: str) -> bytes:
    """Decode base 64 for URLs without padding, accepting only the one text that `to_base64url` returns.

    Raises:
        Malformed: the text is not base 64 for URLs, or another text encodes the same bytes.
    """
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("is not base 64 for URLs") from None
    if to_base64url(data) != text:
        raise Malformed("is not base 64 for URLs in its one form")
    return data

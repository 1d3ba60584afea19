"""Signatures of answers, reports and ledgers' pages, checked with published keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.extras import extra

if TYPE_CHECKING:
    from epsilond.ledgers.log.keys import PublicKey
    from epsilond.ledgers.log.statements import SignedStatement

Keys = str | Path | JsonObject
"""A file or folder of published keys, or the answer of `/v1/keys`."""


class NoSignature(Exception):
    """A signature does not hold. The message is a clause with the reason."""


def read_keys(keys: Keys) -> tuple[PublicKey, ...]:
    """Return the public keys that a caller trusts.

    Args:
        keys: file of published keys, folder that contains it, or the JSON answer of the service at `/v1/keys`.

    Returns:
        The public keys, against which signatures are verified.

    Raises:
        InvalidInput: there is no such file, or it contains no keys.
        MissingExtra: the packages of signatures are not installed.
    """
    with extra("ledger", "a signature"):
        from epsilond.ledgers.client.evidence import trusted_keys  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.log.errors import Malformed  # noqa: PLC0415
        from epsilond.ledgers.log.signing import published_keys  # noqa: PLC0415
    if not isinstance(keys, Mapping):
        return trusted_keys(Path(keys))
    try:
        return tuple(entry.key for entry in published_keys(keys))
    except Malformed as error:
        raise InvalidInput.at("/keys", str(error)) from None


def verify_statement(content: bytes, signature: str, keys: Keys) -> tuple[SignedStatement, PublicKey]:
    """Verify the signature of an answer or a page, and return the signed statement and the key that signed it.

    Args:
        content: the bytes of the answer or page.
        signature: the signature, or the headers of the HTTP response that contain it.
        keys: published keys that the caller trusts.

    Returns:
        The statement, with the digest of the request and the version of the engine that answered it, and the key.

    Raises:
        InvalidInput: there is no file of keys, or it contains none.
        NoSignature: the text is not a signature, or no trusted key signed this content.
    """
    trusted_keys = read_keys(keys)
    from epsilond.ledgers.log import statements  # noqa: PLC0415  only the extra has its packages
    from epsilond.ledgers.log.errors import NotVerified  # noqa: PLC0415

    try:
        return statements.verify(statements.find_signature(signature), content, trusted_keys)
    except NotVerified as error:
        raise NoSignature(str(error)) from None


def digest_of(request: bytes) -> str:
    """Return the SHA-256 digest of a request, by which a signed statement refers to it.

    The digest does not depend on white space or the order of members.

    Args:
        request: the request as JSON text.

    Returns:
        The digest, as `sha256:` and 64 hexadecimal digits.

    Raises:
        InvalidInput: the request is not JSON, or contains a number that is not finite.
    """
    from epsilond.ledgers.log import statements  # noqa: PLC0415  only the extra has its packages
    from epsilond.ledgers.log.errors import Malformed  # noqa: PLC0415

    try:
        return statements.digest_of(request)
    except Malformed as error:
        raise InvalidInput.at("/request", str(error)) from None


def is_ledger_page(page: str) -> bool:
    """Return whether a page is the report of a ledger. Its signature is not verified."""
    return '<script type="application/json" id="ledger-report">' in page


def ledger_page(page: str, keys: Keys) -> tuple[JsonObject, PublicKey]:
    """Verify a ledger's signed page, and return the report in it and the trusted key that signed it.

    Args:
        page: text of the page, with its signature.
        keys: published keys that the caller trusts.

    Returns:
        The report as JSON, and the key.

    Raises:
        InvalidInput: there is no file of keys, or it contains none.
        NoSignature: no trusted key signed this page.
    """
    trusted_keys = read_keys(keys)
    from epsilond.ledgers.log.errors import NotVerified  # noqa: PLC0415  only the extra has its packages
    from epsilond.ledgers.pages.page import open_page  # noqa: PLC0415

    try:
        return open_page(page, trusted_keys)
    except NotVerified as error:
        raise NoSignature(str(error)) from None

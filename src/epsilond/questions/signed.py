"""Signatures of answers, reports and ledgers' pages, checked with published keys and nothing else."""

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
"""A file or folder of published keys, or what `/v1/keys` answers."""


class NoSignature(Exception):
    """What was to be shown is not: the message says why, in a clause."""


def trusted(keys: Keys) -> tuple[PublicKey, ...]:
    """The public keys that a caller trusts.

    Raises:
        InvalidInput: there are none.
        MissingExtra: what signatures need is not installed.
    """
    with extra("ledger", "a signature"):
        from epsilond.ledgers.client.auditing import trusted_keys  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.log.errors import Malformed  # noqa: PLC0415
        from epsilond.ledgers.log.signing import published_keys  # noqa: PLC0415
    if not isinstance(keys, Mapping):
        return trusted_keys(Path(keys))
    try:
        return tuple(each.key for each in published_keys(keys))
    except Malformed as error:
        raise InvalidInput.at("/keys", str(error)) from None


def stated(content: bytes, signature: str, keys: Keys) -> tuple[SignedStatement, PublicKey]:
    """What one of these keys signed about an answer.

    Raises:
        NoSignature: none of them signed this content.
    """
    known = trusted(keys)
    from epsilond.ledgers.log import statements  # noqa: PLC0415  as above
    from epsilond.ledgers.log.errors import NotVerified  # noqa: PLC0415

    try:
        return statements.verify(statements.find_signature(signature), content, known)
    except NotVerified as error:
        raise NoSignature(str(error)) from None


def digest_of(request: bytes) -> str:
    """The digest of a request, as statements have it.

    Raises:
        InvalidInput: it is no JSON.
    """
    from epsilond.ledgers.log import statements  # noqa: PLC0415  as above
    from epsilond.ledgers.log.errors import Malformed  # noqa: PLC0415

    try:
        return statements.digest_of(request)
    except Malformed as error:
        raise InvalidInput.at("/request", str(error)) from None


def is_ledger_page(page: str) -> bool:
    """Whether a page is a ledger's report; without the extra for ledgers none is."""
    return '<script type="application/json" id="ledger-report">' in page


def ledger_page(page: str, keys: Keys) -> tuple[JsonObject, PublicKey]:
    """The report in a ledger's page, and which of these keys signed all of it.

    Raises:
        NoSignature: none of them signed this page.
    """
    known = trusted(keys)
    from epsilond.ledgers.log.errors import NotVerified  # noqa: PLC0415  as above
    from epsilond.ledgers.pages.page import open_page  # noqa: PLC0415

    try:
        return open_page(page, known)
    except NotVerified as error:
        raise NoSignature(str(error)) from None

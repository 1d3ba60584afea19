"""Reports of a ledger: the service's answer about it and the log's head, signed as one record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book.answers import LedgerAnswer, when
from epsilond.ledgers.log import jws
from epsilond.ledgers.log.canonical import canonical, digest
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.keys import PublicKey, SigningKey

FORMAT: Final = "epsilond-ledger-report-1"
"""Name and version of the report's format, which each report states."""
TYPE: Final = "epsilond-ledger-report+jws"
"""Type of the signed record, so that its signature is never valid for a receipt or an answer."""


def report(ledger: LedgerAnswer, checkpoint: str, entries: JsonObject, now: float) -> JsonRecord:
    """Return the report of a ledger as the JSON object that is signed.

    The canonical JSON text that is signed permits no floating-point numbers.

    Args:
        ledger: the answer about the ledger.
        checkpoint: the signed head of the log: its size and Merkle root.
        entries: summary of the ledger's entries, as `written` returns it.
        now: time of the report, in seconds since 1970.

    Returns:
        The report, with floats as decimal strings, and without its signature.
    """
    record = _texts(as_json(ledger))
    return {"format": FORMAT, "at": when(now), "checkpoint": checkpoint, "ledger": record, "entries": dict(entries)}


def written(kinds: Mapping[str, int], first: int, last: int) -> JsonRecord:
    """Return a summary of a ledger's entries.

    Args:
        kinds: number of entries of each kind.
        first: number in the log of the ledger's first entry.
        last: number in the log of the ledger's last entry.

    Returns:
        The summary as a JSON object.
    """
    return {"count": sum(kinds.values()), "first": first, "last": last, "kinds": dict(sorted(kinds.items()))}


def sign_report(report: JsonObject, key: SigningKey) -> JsonRecord:
    """Sign a report of a ledger with a detached JSON Web Signature (RFC 7515, appendix F).

    Args:
        report: the report, as `report` returns it.
        key: private key of the log.

    Returns:
        A record with the members `report` and `signature`. The subject of the signature is the SHA-256 digest of the
        report's canonical JSON text.
    """
    return {"report": report, "signature": jws.sign(report, digest(canonical(report)), key, kind=TYPE)}


def verify_report(document: JsonObject, keys: tuple[PublicKey, ...]) -> PublicKey:
    """Verify the signature of a report, and return the key that signed it.

    A report has the state and the guarantee of a ledger at one time. Its signature covers the canonical JSON text.

    Args:
        document: object with the members `report` and `signature`.
        keys: the trusted public keys.

    Returns:
        The key that signed the report.

    Raises:
        Malformed: the document is not a signed report of a ledger.
        NotVerified: no trusted key signed it, it was changed, or it is a record of another kind.
    """
    record = document.get("report")
    signature = document.get("signature")
    if not isinstance(record, Mapping) or not isinstance(signature, str) or record.get("format") != FORMAT:
        raise Malformed("is not a report of a ledger")
    return jws.verify(record, digest(canonical(record)), signature, keys, kind=TYPE)


def _texts(value: object) -> object:
    """Return a JSON value in which every float is replaced by a string, at any depth.

    Programs read floats differently, and a signed record must have one meaning for all readers. The string is the
    shortest that gives the same double.

    Args:
        value: JSON value.

    Returns:
        The converted value; the given one is not changed.
    """
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {name: _texts(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return value

"""The report of a ledger: what is known of it under the log's head, signed as one record."""

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
TYPE: Final = "epsilond-ledger-report+jws"
"""The kind of record that is signed: no signature of it is one of a receipt, or of an answer."""


def report(ledger: LedgerAnswer, checkpoint: str, entries: JsonObject, now: float) -> JsonRecord:
    """What is signed. Its numbers that are no integers are decimal strings. `entries` is what `written` gives."""
    told = _texts(as_json(ledger))
    return {"format": FORMAT, "at": when(now), "checkpoint": checkpoint, "ledger": told, "entries": dict(entries)}


def written(kinds: Mapping[str, int], first: int, last: int) -> JsonRecord:
    """A summary of a ledger's entries: how many of each kind, and their first and last number in the log."""
    return {"count": sum(kinds.values()), "first": first, "last": last, "kinds": dict(sorted(kinds.items()))}


def signed(told: JsonObject, key: SigningKey) -> JsonRecord:
    """The report and its detached JSON Web Signature, whose subject is the report itself."""
    return {"report": told, "signature": jws.sign(told, digest(canonical(told)), key, kind=TYPE)}


def verified(told: JsonObject, keys: tuple[PublicKey, ...]) -> PublicKey:
    """Which of these keys signed a report.

    Raises:
        NotVerified: none did, or it was changed since, or it is a record of another kind.
    """
    record, signature = told.get("report"), told.get("signature")
    if not isinstance(record, Mapping) or not isinstance(signature, str) or record.get("format") != FORMAT:
        raise Malformed("is no report of a ledger")
    return jws.verify(record, digest(canonical(record)), signature, keys, kind=TYPE)


def _texts(value: object) -> object:
    """As a record can hold it: what is signed is read with the same value everywhere."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {name: _texts(item) for name, item in value.items()}
    return [_texts(item) for item in value] if isinstance(value, list) else value

"""The report of a ledger: what is known of it under the log's head, signed as one record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book.answers import LedgerAnswer, when
from epsilond.ledgers.log import jws
from epsilond.ledgers.log.canonical import canonical, digest
from epsilond.ledgers.log.keys import PublicKey, SigningKey

FORMAT: Final = "epsilond-ledger-report-1"


def signed(ledger: LedgerAnswer, checkpoint: str, now: float, key: SigningKey) -> dict[str, Any]:
    """The report and its detached JSON Web Signature. Its numbers that are no integers are decimal strings."""
    report = {"format": FORMAT, "at": when(now), "checkpoint": checkpoint, "ledger": _texts(as_json(ledger))}
    return {"report": report, "signature": jws.sign(report, digest(canonical(report)), key)}


def verified(told: Mapping[str, Any], keys: tuple[PublicKey, ...]) -> PublicKey:
    """Which of these keys signed a report.

    Raises:
        NotVerified: none did, or it was changed since.
    """
    report = told["report"]
    return jws.verify(report, digest(canonical(report)), told["signature"], keys)


def _texts(value: Any) -> Any:
    """As a record can hold it: what is signed is read with the same value everywhere."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {name: _texts(item) for name, item in value.items()}
    return [_texts(item) for item in value] if isinstance(value, list) else value

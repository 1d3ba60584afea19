"""Fingerprints of requests, which recognise a repeated request with the same idempotency key."""

from __future__ import annotations

import hashlib
import json

from epsilond.accountants.json_types import JsonRecord
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.requests import OpenLedger


def fingerprint_of(kind: str, request: object) -> str:
    """Return a digest of a request, by which a repeated request with the same idempotency key is recognised.

    Args:
        kind: kind of the request, such as "reserve".
        request: the request as plain data or data classes.

    Returns:
        The SHA-256 digest as 64 hexadecimal digits. It does not depend on the order of members.
    """
    text = json.dumps([kind, as_json(request)], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def without_default(request: OpenLedger) -> JsonRecord:
    """Convert a request to open a ledger to the JSON object from which its fingerprint is computed.

    The fingerprint is a digest that identifies repeated requests. Earlier versions had no member `approval`. It is left
    out if it is false, so that a request has the same fingerprint in every version.

    Args:
        request: the request.

    Returns:
        The JSON object, as a new dictionary.
    """
    record: JsonRecord = as_json(request)
    if not request.approval:
        record.pop("approval", None)
    return record

"""Descriptions of JSON files that a caller gives in place of a report."""

from __future__ import annotations

import json
from typing import Final

LEDGER: Final = "it is verified by `epsilond ledger verify`"
SIGNED_ONLY: Final = (
    "verify checks a report's page, as `epsilond report` writes, or this file with --signature, --keys and --request"
)
NO_ANSWER: Final = "verify checks the page that `epsilond report` writes, or a signed answer as JSON"


def describe_json(text: str) -> str:
    """Return the end of a sentence about a file: the kind of its JSON text, and the file to give in its place."""
    try:
        body = json.loads(text)
    except ValueError:
        return f"begins like JSON and is none; {NO_ANSWER}"
    if not isinstance(body, dict):
        return f"is JSON without a report; {NO_ANSWER}"
    return _describe_object(body)


def _describe_object(body: dict[str, object]) -> str:
    if str(body.get("format", "")).startswith("epsilond-log") or "checkpoint" in body:
        return f"is a receipt or bundle of a ledger; {LEDGER}"
    if "guarantee" in body and "parameters" in body:
        return f"is the answer of a calibration as JSON, without proof of who gave it; {SIGNED_ONLY}"
    if "guarantee" in body:
        return f"is the answer of an account as JSON, without proof of who gave it; {SIGNED_ONLY}"
    if "kind" in body:
        return f"is a spec, to which `epsilond account` gives an answer; {NO_ANSWER}"
    if "spec" in body:
        return f"is a request for an account; {NO_ANSWER}"
    return f"is JSON, but no answer; {NO_ANSWER}"

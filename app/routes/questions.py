"""What the routes of questions share: the answer 202, for what does not end in time."""

from __future__ import annotations

from typing import Any

from epsilond.app.jobs.documents import JobDocument
from epsilond.app.ledgers.signatures import DESCRIBED

LOCATION = {"Location": {"description": "the job", "schema": {"type": "string"}}}
RETRY = {"Retry-After": {"description": "seconds after which it is worth to look", "schema": {"type": "string"}}}
APPLIED = {"Preference-Applied": {"description": "the wait that was granted, if any", "schema": {"type": "string"}}}
TAKEN_AS_A_JOB: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "It did not end in time: a job goes on with it, at Location",
        "model": JobDocument,
        "headers": LOCATION | RETRY | APPLIED,
    }
}
SIGNED_OR_A_JOB: dict[int | str, dict[str, Any]] = {200: {"headers": DESCRIBED}, **TAKEN_AS_A_JOB}
"""Of answers that are signed."""

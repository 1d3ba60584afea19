"""The kinds of problem, as data: each has a page at /problems/<slug>, and its slug never changes its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of problem: `slug` names it for good, `explanation` is what its page says."""

    slug: str
    status: int
    title: str
    explanation: str


KINDS: Mapping[str, Kind] = {
    kind.slug: kind
    for kind in (
        Kind("malformed-json", 400, "The body is not JSON", "Send one JSON text in UTF-8, as RFC 8259 has it."),
        Kind("bad-request", 400, "The request cannot be read", "The request breaks the rules of HTTP."),
        Kind(
            "unauthorized",
            401,
            "Authentication is required",
            "Send `Authorization: Bearer` with an API key, or a token.",
        ),
        Kind(
            "forbidden",
            403,
            "This is not allowed",
            "The key or token has none of the scopes that this needs; `detail` names them. An operator gives them.",
        ),
        Kind(
            "not-found",
            404,
            "Nothing is served at this path",
            "Look at /v1/algorithms, /v1/theorems and /openapi.json.",
        ),
        Kind(
            "no-formula",
            404,
            "This theorem has no formula",
            "It is a rule between guarantees, used by the service; there are no numbers to put into it.",
        ),
        Kind("method-not-allowed", 405, "The method is not allowed here", "The Allow header lists those that are."),
        Kind(
            "not-acceptable",
            406,
            "None of the accepted media types can be served",
            "Figures are image/png and image/svg+xml: send one of them in Accept, or ?format=png or svg.",
        ),
        Kind("body-timeout", 408, "The body took too long to arrive", "Send the whole body at once."),
        Kind(
            "infeasible",
            409,
            "The target cannot be met",
            "No value of the parameter that is solved for meets the target. `condition` is the condition that fails, "
            "with both sides; `nearest` is the closest request that can be met.",
        ),
        Kind(
            "condition-violated",
            409,
            "A condition of every applicable proof fails",
            "Nothing can be certified here. `condition` is the one that fails, with both sides, and `nearest` a "
            "request that would pass. `considered` lists the theorems that were tried, each with the reason that it "
            "does not apply.",
        ),
        Kind(
            "beyond-budget",
            409,
            "The computation would exceed its budget",
            "Budgets are counted in cells and nodes before the start, never in seconds: another try does not help. "
            "`nearest` is a request that would fit. The time and the memory of a simulation are estimated before it "
            "starts: `condition` has the estimate on the left and the service's limit on the right.",
        ),
        Kind(
            "no-result",
            409,
            "The job has no result",
            "It has not ended yet, or it ended without one: its `state` says which.",
        ),
        Kind(
            "ledger-exhausted",
            409,
            "The ledger has not enough left",
            "The remaining budget of the plan's item or of the slot does not suffice. `condition` has the cost on "
            "the left and the free budget on the right. `nearest` has the largest count, and the smallest noise "
            "multiplier, that would fit. The run may fit after another reservation is cancelled or expires.",
        ),
        Kind(
            "not-in-plan",
            409,
            "The ledger's plan has no such mechanism",
            "Runs are drawn on an item of the plan with the same mechanism. They may also be drawn on a named item "
            "if its mechanism is proved to lose as much or more. Name a slot to have it charged there.",
        ),
        Kind(
            "not-sealed",
            409,
            "The ledger is not sealed",
            "Nothing may read the block before its membership is fixed: POST /v1/ledgers/{id}/seal declares that.",
        ),
        Kind(
            "ledger-closed",
            409,
            "The ledger was closed",
            "Nothing more is reserved; runs that are held may still be committed. A closed ledger is not replaced.",
        ),
        Kind(
            "run-differs",
            409,
            "The run differs from its record",
            "Observations contradict a run that was paid from the ledger: `observations` lists them, each with its "
            "count and a remedy. No ε holds for the releases, and nothing more is reserved or committed. "
            "Reservations may be cancelled and the ledger may be closed.",
        ),
        Kind(
            "reservation-expired",
            409,
            "The reservation has ended",
            "It was cancelled or has expired: nothing may be released on it. Reserve again, under a new key.",
        ),
        Kind(
            "block-already-has-ledger",
            409,
            "The block has a ledger",
            "A dataset's block has one ledger for good, a closed one too: a second would double the loss unseen."
            " `nearest` has its id.",
        ),
        Kind(
            "same-person",
            409,
            "The requester cannot approve the move",
            "A ledger with approval needs two people: the caller who requested a move does not approve it. Another "
            "caller with the role approver in the organisation does.",
        ),
        Kind(
            "move-ended",
            409,
            "The pending move has ended",
            "It was approved, rejected or withdrawn, or has expired. Request the move again, under a new key.",
        ),
        Kind(
            "awaits-approval",
            409,
            "The ledger waits for an approver",
            "Either an operator accepted a log that lacks entries, or too many moves are pending. In the first case "
            "the ledger moves again once its approver approves the pending reconciliation. GET "
            "/v1/ledgers/{id}/pending lists them.",
        ),
        Kind("too-large", 413, "The body is too large", "Bodies hold a description of a run: at most 1 MB."),
        Kind(
            "unsupported-media-type",
            415,
            "The body is not declared as JSON",
            "Send `Content-Type: application/json`.",
        ),
        Kind(
            "invalid-input",
            422,
            "The request has invalid values",
            "`errors` names each field by a JSON pointer into the body (or a query parameter by its name). It gives "
            "the fault and the allowed values. Numbers are finite JSON numbers. NaN, Infinity, strings, booleans, "
            "null, numbers that overflow or underflow, unknown and duplicate fields are rejected.",
        ),
        Kind(
            "idempotency-key-reused",
            422,
            "The idempotency key belongs to another request",
            "A key names one request: posting that again answers the same. Another needs a new key. Ledgers keep keys"
            " for ever.",
        ),
        Kind(
            "too-many-requests",
            429,
            "Too many computations are waiting",
            "Try again after the seconds in Retry-After. Cached and closed-form answers are not limited.",
        ),
        Kind(
            "rate-limited",
            429,
            "The limit of this caller is reached",
            "Try again after the seconds in Retry-After. Requests, computations, jobs, event streams, requests that "
            "wait for jobs and CPU time are counted for each key, or for each address if no key is required. An "
            "operator sets the limits.",
        ),
        Kind(
            "client-closed-request",
            499,
            "The client went away",
            "Its computation was stopped unless others wait for it. This document is not sent to any caller; it is "
            "in the logs.",
        ),
        Kind(
            "internal-error",
            500,
            "The service failed",
            "This is a fault of ours. Report it with the X-Request-ID of the answer.",
        ),
        Kind(
            "not-installed",
            501,
            "This service has no packages for it",
            "Figures and data sets of simulations need packages that the service does without. `detail` has the command"
            " that installs them.",
        ),
        Kind(
            "deadline-exceeded",
            503,
            "The computation took too long",
            "It was stopped at the service's deadline. An operator can raise EPSILOND_DEADLINE_SECONDS.",
        ),
        Kind(
            "ledger-not-reconciled",
            503,
            "The log of ledgers lacks entries",
            "The store was restored or lost transactions: its log does not continue the checkpoint that is kept "
            "elsewhere, and debited budget may be free again. Nothing is moved until an operator has entered the "
            "missing moves and accepts the log by POST /v1/log/reconciliations.",
        ),
        Kind(
            "ledgers-not-durable",
            503,
            "This service would lose its ledgers",
            "Its store is in memory: a ledger would be gone when the service stops, and debited budget would be free "
            "again. `detail` has the reason. Give the service a file of its own with EPSILOND_STORE_PATH, or a "
            "database with EPSILOND_STORE_URL. EPSILOND_LEDGERS_IN_MEMORY=yes lets it keep ledgers in memory, for "
            "trials.",
        ),
        Kind(
            "interrupted",
            503,
            "The service stopped before the job ended",
            "Its partial results are lost. Post it again, with the same Idempotency-Key if it had one: the answer is "
            "the same. Where jobs outlive the service, they are run after its next start instead.",
        ),
        Kind(
            "unavailable",
            503,
            "The service is not ready",
            "It is starting or stopping, its store is full, or the processes that computed the answer were lost."
            " Try again.",
        ),
    )
}

OF_LEDGERS = frozenset(
    {
        "ledger-exhausted",
        "not-in-plan",
        "not-sealed",
        "ledger-closed",
        "run-differs",
        "reservation-expired",
        "block-already-has-ledger",
        "same-person",
        "move-ended",
        "awaits-approval",
        "ledger-not-reconciled",
        "ledgers-not-durable",
    }
)
"""Kinds of problem that only requests of ledgers are answered with."""

BY_STATUS: Mapping[int, str] = {
    400: "bad-request",
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid-input",
    429: "too-many-requests",
    503: "unavailable",
}
"""Kinds of the exceptions that the framework raises, by HTTP status."""

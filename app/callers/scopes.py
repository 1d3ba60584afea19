"""Scopes: what a key or a token allows, and which path needs which; and roles on the ledgers of an organisation."""

from __future__ import annotations

from typing import Literal, get_args

ScopeName = Literal["calibrate", "simulate", "ledger", "admin", "metrics"]
SCOPES: frozenset[ScopeName] = frozenset(get_args(ScopeName))
ASKING: frozenset[ScopeName] = frozenset({"calibrate", "simulate"})
"""Of a key that is made without saying which."""
UNSAID: frozenset[ScopeName] = ASKING | {"metrics"}
"""Of a line that has none, as the files of earlier versions do: what every key was for."""
ANYBODYS: frozenset[ScopeName] = SCOPES - {"admin"}
"""Of everybody, where no credentials are asked for."""
RoleName = Literal["owner", "analyst", "approver", "auditor"]
ROLES: frozenset[RoleName] = frozenset(get_args(RoleName))
UNSAID_ROLES: frozenset[RoleName] = frozenset({"owner", "analyst"})
"""Of a key of scope `ledger` that names no roles: what every such key was allowed before there were roles."""
ANYBODYS_ROLES: frozenset[RoleName] = ROLES - {"approver"}
"""Of everybody, where no credentials are required."""
METRICS = "/metrics"
BY_PATH: tuple[tuple[str, frozenset[ScopeName]], ...] = (
    ("/v1/simulations", frozenset({"simulate"})),
    ("/v1/jobs", ASKING),
    ("/v1/ledgers", frozenset({"ledger"})),
    ("/v1/reservations", frozenset({"ledger"})),
    ("/v1/log/reconciliations", frozenset({"admin"})),
    ("/v1/log", frozenset({"ledger"})),
    ("/v1/keys", SCOPES - {"metrics"}),
    ("/v1/api-keys", frozenset({"admin"})),
    (METRICS, frozenset({"metrics", "admin"})),
)
"""Any of these opens the path and what is below it."""
ELSEWHERE: frozenset[ScopeName] = frozenset({"calibrate"})
"""Questions and documents."""


def needed(path: str) -> frozenset[ScopeName]:
    """The scopes of which one is enough for this path; which job of /v1/jobs it may be, the job itself says."""
    return next((any_of for start, any_of in BY_PATH if path == start or path.startswith(f"{start}/")), ELSEWHERE)

"""Scopes: rights of a key or a token, and the scopes that each path requires; and roles on ledgers."""

from __future__ import annotations

from typing import Literal, get_args

ScopeName = Literal["calibrate", "simulate", "ledger", "admin", "metrics"]
SCOPES: frozenset[ScopeName] = frozenset(get_args(ScopeName))
DEFAULT_SCOPES: frozenset[ScopeName] = frozenset({"calibrate", "simulate"})
"""Default scopes of a new key."""
LEGACY_SCOPES: frozenset[ScopeName] = DEFAULT_SCOPES | {"metrics"}
"""Scopes of a line without scopes, as in files of earlier versions: the uses that every key had."""
OPEN_SCOPES: frozenset[ScopeName] = SCOPES - {"admin"}
"""Scopes of every caller, if no credentials are required."""
RoleName = Literal["owner", "analyst", "approver", "auditor"]
ROLES: frozenset[RoleName] = frozenset(get_args(RoleName))
DEFAULT_ROLES: frozenset[RoleName] = frozenset({"owner", "analyst"})
"""Roles of a key with the scope `ledger` that names no roles: the rights of these keys before there were roles."""
OPEN_ROLES: frozenset[RoleName] = ROLES - {"approver"}
"""Roles of every caller, if no credentials are required."""
METRICS = "/metrics"
BY_PATH: tuple[tuple[str, frozenset[ScopeName]], ...] = (
    ("/v1/simulations", frozenset({"simulate"})),
    ("/v1/jobs", DEFAULT_SCOPES),
    ("/v1/ledgers", frozenset({"ledger"})),
    ("/v1/reservations", frozenset({"ledger"})),
    ("/v1/log/reconciliations", frozenset({"admin"})),
    ("/v1/log", frozenset({"ledger"})),
    ("/v1/keys", SCOPES - {"metrics"}),
    ("/v1/api-keys", frozenset({"admin"})),
    (METRICS, frozenset({"metrics", "admin"})),
)
"""Paths with their scopes, of which any opens the path and the paths below it."""
ELSEWHERE: frozenset[ScopeName] = frozenset({"calibrate"})
"""Scopes for all other paths: questions and documents."""


def required_scopes(path: str) -> frozenset[ScopeName]:
    """Return the scopes of which any suffices for this path. A job of /v1/jobs checks its own scope in addition."""
    return next((any_of for start, any_of in BY_PATH if path == start or path.startswith(f"{start}/")), ELSEWHERE)

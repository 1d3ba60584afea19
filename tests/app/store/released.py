"""The tables of version 0.2.0, as that version made them, with simulations in every state."""

from __future__ import annotations

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from epsilond.app.settings import Settings

SQLITE = """
CREATE TABLE simulations (
    sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id VARCHAR(64) NOT NULL,
    kind VARCHAR(64) NOT NULL,
    status VARCHAR(16) NOT NULL,
    created DOUBLE NOT NULL,
    started DOUBLE,
    ended DOUBLE,
    blocks INTEGER NOT NULL,
    blocks_done INTEGER,
    seconds DOUBLE NOT NULL,
    engine_version VARCHAR(64) NOT NULL,
    owner VARCHAR(64) NOT NULL,
    idempotency_key VARCHAR(255),
    fingerprint VARCHAR(64) NOT NULL,
    request BLOB NOT NULL,
    result BLOB,
    problem BLOB,
    size BIGINT NOT NULL,
    UNIQUE (owner, idempotency_key),
    UNIQUE (id)
)
"""
POSTGRESQL = (
    SQLITE.replace("INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "BIGSERIAL NOT NULL PRIMARY KEY")
    .replace("DOUBLE", "DOUBLE PRECISION")
    .replace("BLOB", "BYTEA")
)
INDEX = "CREATE INDEX simulations_by_end ON simulations (ended)"
INSERT = """
INSERT INTO simulations (id, kind, status, created, started, ended, blocks, blocks_done, seconds, engine_version, owner,
    idempotency_key, fingerprint, request, result, problem, size)
VALUES (:id, 'dice', :status, 10.5, :started, :ended, 4, :done, 2.5, '0.2.0', :owner, :key, :fingerprint, :request, :result,
    :problem, :size)
"""
SIMULATIONS = [
    ("gone", "done", 11.0, 12.0, 4, "", None, b"[0]", None),
    ("sim_done", "done", 11.0, 12.0, 4, "", "k", b"[1]", None),
    ("sim_failed", "failed", 11.0, 13.0, 1, "somebody", "k", None, b'{"type": "/problems/x"}'),
    ("sim_cancelled", "cancelled", None, 14.0, 0, "", None, None, None),
    ("sim_interrupted", "interrupted", 11.0, 15.0, None, "", "l", None, b"{}"),
    ("sim_running", "running", 11.0, None, None, "somebody", None, None, None),
    ("sim_queued", "queued", None, None, None, "", None, None, None),
]


def connected(settings: Settings) -> Connection:
    """A connection to a store's database that is not the store's."""
    url = settings.store_url.replace("postgresql://", "postgresql+psycopg://") or f"sqlite:///{settings.store_path}"
    return create_engine(url, poolclass=NullPool).connect()


def make_released(settings: Settings) -> None:
    """Make what version 0.2.0 left: all of the simulations but the first, which was removed."""
    with connected(settings) as connection:
        connection.execute(text(POSTGRESQL if settings.store_url else SQLITE))
        connection.execute(text(INDEX))
        for name, status, started, ended, blocks, owner, key, result, problem in SIMULATIONS:
            request = f'{{"seed": "{name}"}}'.encode()
            values = {
                "id": name,
                "status": status,
                "started": started,
                "ended": ended,
                "done": blocks,
                "owner": owner,
                "key": key,
                "fingerprint": f"of {name}",
                "request": request,
                "result": result,
                "problem": problem,
                "size": len(request) + len(result or b"") + len(problem or b""),
            }
            connection.execute(text(INSERT), values)
        connection.execute(text("DELETE FROM simulations WHERE id = 'gone'"))
        connection.commit()

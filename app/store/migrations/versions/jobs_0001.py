"""Jobs of every kind, and seconds of service; the simulations of version 0.2.0 become jobs."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

RELEASED = (
    "sequence", "id", "kind", "status", "created", "started", "ended", "blocks", "blocks_done", "seconds",
    "engine_version", "owner", "idempotency_key", "fingerprint", "request", "result", "problem", "size",
)  # fmt: skip
"""Columns of the table `simulations` in version 0.2.0."""
COPY = """
    INSERT INTO jobs (sequence, id, kind, name, state, created, started, ended, steps, steps_done, seconds,
        engine_version, owner, caller, idempotency_key, fingerprint, request, media_type, result, problem, size,
        attempt, lost, cancel_requested, queued_tick, ended_tick)
    SELECT sequence, id, 'simulation', kind, CASE status WHEN 'running' THEN 'queued' ELSE status END, created,
        CASE status WHEN 'running' THEN NULL ELSE started END, ended, blocks, blocks_done, seconds,
        engine_version, owner, owner, idempotency_key, fingerprint, request,
        CASE WHEN result IS NULL THEN NULL ELSE 'application/json' END, result, problem, size,
        0, 0, :no, 0, CASE WHEN ended IS NULL THEN NULL ELSE 0 END
    FROM simulations
"""
"""SQL that copies the simulations. Running ones were left by the earlier service, and are queued again."""


def upgrade() -> None:
    """Create the tables of jobs, and move the simulations of version 0.2.0 from their table, which is then dropped.

    It is the first step of the chain of migrations of the database.

    Raises:
        OSError: there is a table `simulations` that lacks columns of version 0.2.0.
    """
    connection = op.get_bind()
    _make_tables()
    op.bulk_insert(
        sa.table("ticks", sa.column("id"), sa.column("seconds"), sa.column("counted")),
        [{"id": 1, "seconds": 0.0, "counted": time.time()}],
    )
    inspector = sa.inspect(connection)
    if not inspector.has_table("simulations"):
        return
    present = {str(column["name"]) for column in inspector.get_columns("simulations")}
    missing = sorted(set(RELEASED) - present)
    if missing:
        raise OSError(0, f"its table of simulations is of another version (no {', '.join(missing)})")
    connection.execute(sa.text(COPY), {"no": False})
    if connection.dialect.name == "postgresql":  # new jobs must not get the sequence numbers of copied ones
        op.execute("SELECT setval(pg_get_serial_sequence('jobs', 'sequence'), max(sequence)) FROM jobs")
    op.drop_table("simulations")


def _make_tables() -> None:
    """Create the tables `jobs` and `ticks` with their indices.

    A row of `jobs` is a job, a computation that goes on after its request was answered. The row of `ticks` counts the
    seconds during which the service has run, which never go back.
    """
    op.create_table(
        "jobs",
        sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        # Times in seconds since 1970.
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("ended", sa.Double),
        sa.Column("steps", sa.BigInteger, nullable=False),
        sa.Column("steps_done", sa.BigInteger),
        sa.Column("seconds", sa.Double),
        sa.Column("seconds_left", sa.Double),
        sa.Column("engine_version", sa.String(64), nullable=False),
        # The sender, and the request. A repeated request has the same key and the same fingerprint.
        sa.Column("owner", sa.String(255), nullable=False),
        sa.Column("caller", sa.String(255), nullable=False),
        sa.Column("idempotency_key", sa.String(255)),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("request", sa.LargeBinary, nullable=False),
        # The outcome: a result with its media type, or a problem document.
        sa.Column("media_type", sa.String(255)),
        sa.Column("result", sa.LargeBinary),
        sa.Column("problem", sa.LargeBinary),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("lost", sa.Integer, nullable=False),
        # The process of the service that runs the job, and the time until which it holds the job.
        sa.Column("replica", sa.String(255)),
        sa.Column("lease_until", sa.Double),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        sa.Column("queued_tick", sa.Double, nullable=False),
        sa.Column("ended_tick", sa.Double),
        sa.UniqueConstraint("id", name="jobs_id"),
        sa.UniqueConstraint("owner", "idempotency_key", name="jobs_idempotency_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("jobs_by_owner", "jobs", ["owner", "sequence"])
    op.create_index("jobs_by_state", "jobs", ["state", "sequence"])
    op.create_index("jobs_by_end", "jobs", ["ended_tick"])
    op.create_table(
        "ticks",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("counted", sa.Double, nullable=False),
    )

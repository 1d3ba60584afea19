"""The tables of jobs. `migrations/` creates them; a change here needs a revision there."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

TABLES = MetaData()

JOBS = Table(
    "jobs",
    TABLES,
    Column("sequence", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("name", String(255), nullable=False),
    Column("state", String(16), nullable=False),
    Column("created", Double, nullable=False),
    Column("started", Double),
    Column("ended", Double),
    Column("steps", BigInteger, nullable=False),
    Column("steps_done", BigInteger),
    Column("seconds", Double),
    Column("seconds_left", Double),
    Column("engine_version", String(64), nullable=False),
    Column("owner", String(255), nullable=False),
    Column("caller", String(255), nullable=False),
    Column("idempotency_key", String(255)),
    Column("fingerprint", String(64), nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("media_type", String(255)),
    Column("result", LargeBinary),
    Column("problem", LargeBinary),
    Column("size", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("lost", Integer, nullable=False),
    Column("replica", String(255)),
    Column("lease_until", Double),
    Column("cancel_requested", Boolean, nullable=False),
    Column("queued_tick", Double, nullable=False),
    Column("ended_tick", Double),
    UniqueConstraint("id", name="jobs_id"),
    UniqueConstraint("owner", "idempotency_key", name="jobs_idempotency_key"),
    Index("jobs_by_owner", "owner", "sequence"),
    Index("jobs_by_state", "state", "sequence"),
    Index("jobs_by_end", "ended_tick"),
    sqlite_autoincrement=True,
)

TICKS = Table(
    "ticks",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seconds", Double, nullable=False),
    Column("counted", Double, nullable=False),
)
"""Table with one row: the seconds of service so far, and the time of the last count by the clock."""

"""A simulation as it is kept: its record, and the table that holds it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

from sqlalchemy import (
    BigInteger,
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

Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
Ended = Literal["done", "failed", "cancelled", "interrupted"]
UNFINISHED: Final = ("queued", "running")

TABLE = Table(
    "simulations",
    MetaData(),
    Column("sequence", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("kind", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("created", Double, nullable=False),
    Column("started", Double),
    Column("ended", Double),
    Column("blocks", Integer, nullable=False),
    Column("blocks_done", Integer),
    Column("seconds", Double, nullable=False),
    Column("engine_version", String(64), nullable=False),
    Column("owner", String(64), nullable=False),
    Column("idempotency_key", String(255)),
    Column("fingerprint", String(64), nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("result", LargeBinary),
    Column("problem", LargeBinary),
    Column("size", BigInteger, nullable=False),
    UniqueConstraint("owner", "idempotency_key"),
    Index("simulations_by_end", "ended"),
    sqlite_autoincrement=True,
)
LARGE = ("request", "result", "problem")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A simulation as it is kept. Times are seconds since 1970; `request`, `result` and `problem` are JSON texts."""

    sequence: int = 0
    """Its place in the order of creation, given by the store."""
    id: str
    kind: str
    status: Status = "queued"
    created: float
    started: float | None = None
    ended: float | None = None
    blocks: int
    blocks_done: int | None = None
    """Of one that has ended, if anybody knows."""
    seconds: float
    """The estimate it was accepted with."""
    engine_version: str
    owner: str = ""
    """Name of the API key that posted it; empty where none was asked for."""
    idempotency_key: str | None = None
    """Of one owner; others may have the same."""
    fingerprint: str
    """Equal for equal requests."""
    request: bytes
    result: bytes | None = None
    problem: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class End:
    """How a simulation ended."""

    status: Ended
    blocks_done: int | None = None
    result: bytes | None = None
    problem: bytes | None = None


NAMES = tuple(field.name for field in fields(Record))

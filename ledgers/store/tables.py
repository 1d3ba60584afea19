"""Tables of ledgers. `migrations/` makes them, with the CHECKs and triggers that guard them against wrong callers.

A change here needs a revision there.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from epsilond.ledgers.store.exact import ExactDecimal

TABLES: Final = MetaData()
UNFINISHED: Final = text("committed < count")
"""Condition of holdings in an index: a ledger has few unfinished holdings, however many it ever had."""
RARE: Final = text("kind IN ('voided', 'contradicted')")
"""Condition of entries that take something back. A query with it uses an index, however long the log is."""

LEDGERS: Final = Table(
    "ledgers",
    TABLES,
    Column("id", String(64), primary_key=True),
    Column("tenant", String(255), nullable=False),
    Column("dataset", String(255), nullable=False),
    Column("block", String(255), nullable=False),
    Column("name", String(255), nullable=False),
    Column("status", String(16), nullable=False),
    Column("sealed", Boolean, nullable=False),
    Column("conditional", Boolean, nullable=False),
    Column("record", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("contradicted", Boolean, nullable=False, server_default=false()),
    Column("organisation", String(255)),
    Column("opened_by", String(255), nullable=False, server_default=""),
    Column("dataset_key", String(64), nullable=False, server_default=""),
    Column("block_key", String(64), nullable=False, server_default=""),
    Column("copy", Integer, nullable=False, server_default="0"),
    Column("approval_from", BigInteger),
    UniqueConstraint("tenant", "dataset", "block", name="ledgers_block"),
    Index("ledgers_of_block", "organisation", "dataset_key", "block_key", "copy", unique=True),
    Index("ledgers_by_organisation", "organisation", "created", "id"),
)
"""One row for each ledger, which a move locks. Each move adds one to its version.

`organisation` is the owner of the ledger; None until a service of this version has assigned it. `tenant` is its owner
when it was opened: the name of a key, or `organisation/` and the name of an organisation. `dataset_key` and `block_key`
are digests of the names' normal forms. `copy` is 0 except for ledgers of a block that had another one when
organisations were assigned. `approval_from` is the version from which on a second person approves some moves.

A contradicted ledger may be open or closed; the observations are in the log.
"""

SLOTS: Final = Table(
    "ledger_slots",
    TABLES,
    Column("ledger", String(64), ForeignKey("ledgers.id"), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("part", String(64), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("mixed", Boolean, nullable=False),
    Column("capacity", ExactDecimal, nullable=False),
    Column("used", ExactDecimal, nullable=False),
    Column("held", ExactDecimal, nullable=False),
)
"""One row for each part of each slot; `held` is the amount that is used or reserved."""

ITEMS: Final = Table(
    "ledger_items",
    TABLES,
    Column("ledger", String(64), ForeignKey("ledgers.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", String(255), nullable=False),
    Column("spec", Text, nullable=False),
    Column("job", String(64)),
    Column("planned", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("committed", BigInteger, nullable=False),
    Column("credit", BigInteger, nullable=False),
    UniqueConstraint("ledger", "name", name="ledger_items_name"),
)
"""One row for each item of a plan, and for each job that a residue charge has paid for."""

RESERVATIONS: Final = Table(
    "ledger_reservations",
    TABLES,
    Column("id", String(64), primary_key=True),
    Column("tenant", String(255), nullable=False),
    Column("state", String(16), nullable=False),
    Column("created", Double, nullable=False),
    Column("expires", Double),
    Index("ledger_reservations_by_end", "state", "expires"),
)
"""One row a reservation, of one ledger or of several, all or nothing."""

HOLDINGS: Final = Table(
    "ledger_holdings",
    TABLES,
    Column("reservation", String(64), ForeignKey("ledger_reservations.id"), primary_key=True),
    Column("ledger", String(64), ForeignKey("ledgers.id"), primary_key=True),
    Column("item", String(255)),
    Column("slot", String(16)),
    Column("spec", Text, nullable=False),
    Column("charge", Text),
    Column("count", BigInteger, nullable=False),
    Column("committed", BigInteger, nullable=False),
    Index("ledger_holdings_by_ledger", "ledger", "committed"),
    Index("ledger_holdings_unfinished", "ledger", sqlite_where=UNFINISHED, postgresql_where=UNFINISHED),
)
"""Runs that a reservation holds in one ledger."""

PENDING: Final = Table(
    "ledger_pending",
    TABLES,
    Column("id", String(64), primary_key=True),
    Column("ledger", String(64), ForeignKey("ledgers.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("requested_by", String(255), nullable=False),
    Column("requested_at", Double, nullable=False),
    Column("expires", Double),
    Column("state", String(16), nullable=False),
    Column("closed_by", String(255)),
    Column("closed_at", Double),
    Column("applied", BigInteger),
    Index("ledger_pending_by_ledger", "ledger", "state"),
)
"""One row for each move that a second person approves, kept for ever. `applied` is the version that it made."""

ENTRIES: Final = Table(
    "ledger_entries",
    TABLES,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("tenant", String(255), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("ledger", String(64), ForeignKey("ledgers.id")),
    Column("leaf", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    UniqueConstraint("digest", name="ledger_entries_digest"),
    Index("ledger_entries_by_ledger", "ledger", "seq"),
    Index("ledger_entries_rare", "ledger", "kind", "seq", sqlite_where=RARE, postgresql_where=RARE),
)
"""The log: every move, in one order, from 0 and without gaps. Rows are never changed and never removed."""

NODES: Final = Table(
    "ledger_nodes",
    TABLES,
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("place", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
)
"""Hashes of perfect subtrees of the log's Merkle tree; level 0 has the leaves. Never changed, never removed."""

KEYS: Final = Table(
    "ledger_keys",
    TABLES,
    Column("tenant", String(255), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("answer", LargeBinary, nullable=False),
    Column("at", Double, nullable=False),
)
"""Idempotency keys with their answers, kept for ever."""

COUNTER: Final = Table(
    "ledger_counter",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("size", BigInteger, nullable=False),
)
"""One row: how many entries there are, and so the next one's number. A sequence would leave gaps on rollback."""

MESSAGES: Final = Table(
    "ledger_messages",
    TABLES,
    Column("id", String(64), primary_key=True),
    Column("endpoint", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("body", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", Double, nullable=False),
    Index("ledger_messages_by_due", "state", "endpoint", "due"),
)
"""One row for each message to a webhook. No budget depends on it."""

MESSAGES_READ: Final = Table(
    "ledger_messages_read",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("size", BigInteger, nullable=False),
)
"""One row: how many entries of the log were read for messages."""

"""An index of the rare entries that take something back, so that a move finds them in a log of any length."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"

RARE = text("kind IN ('voided', 'contradicted')")


def upgrade() -> None:
    """Index entries of rare kinds by their ledger."""
    op.create_index(
        "ledger_entries_rare", "ledger_entries", ["ledger", "kind", "seq"], sqlite_where=RARE, postgresql_where=RARE
    )

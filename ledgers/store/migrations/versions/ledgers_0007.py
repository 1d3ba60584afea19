"""Messages to webhooks, kept until they are delivered, and how far the log was read for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the table of messages to webhooks, and the counter of log entries for which messages were made.

    No trigger guards the two tables, because no privacy budget depends on them.
    """
    # The messages, with the number of attempts to deliver each and the time of the next one.
    op.create_table(
        "ledger_messages",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("endpoint", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due", sa.Double, nullable=False),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'dropped')", name="ledger_messages_state"),
    )
    op.create_index("ledger_messages_by_due", "ledger_messages", ["state", "endpoint", "due"])
    # The number of log entries for which messages were made, in one row.
    op.create_table(
        "ledger_messages_read",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    )

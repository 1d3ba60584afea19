"""What alembic runs for every migration: on the connection, and in the transaction, that `migrating.py` hands over."""

from __future__ import annotations

from alembic import context

from epsilond.app.store.tables import TABLES

context.configure(connection=context.config.attributes["connection"], target_metadata=TABLES, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()

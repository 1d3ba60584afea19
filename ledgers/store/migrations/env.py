"""What alembic runs for every migration of the ledgers."""

from __future__ import annotations

from epsilond.storage.migrating import run

run()

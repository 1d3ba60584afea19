"""Environment of alembic for every migration of ledgers."""

from __future__ import annotations

from epsilond.storage.migrating import run

run()

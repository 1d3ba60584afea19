"""The environment in which alembic runs every migration of the jobs."""

from __future__ import annotations

from epsilond.storage.migrating import run

run()

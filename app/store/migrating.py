"""Tables of an earlier version are brought to this one's, all at once or not at all."""

from __future__ import annotations

import errno
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from epsilond.app.store.database import shared

SCRIPTS = Path(__file__).parent / "migrations"


def migrate(engine: Engine) -> None:
    """Make the tables of this version, or make them out of an earlier version's, keeping everything.

    Raises:
        OSError: the tables are a later version's, or no released version's.
        SQLAlchemyError: the database does not let us.
    """
    configuration = Config()
    configuration.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(configuration).walk_revisions()}
    with engine.execution_options(writes=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            shared.alone_with_tables(connection)
        there = MigrationContext.configure(connection).get_current_revision()
        if there is not None and there not in known:
            raise OSError(errno.EINVAL, f"its tables are of a later version of epsilond (revision {there})")
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "head")

"""Tables of an earlier version are brought to this one's, all at once or not at all."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

from alembic import command, context
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Executable, MetaData

from epsilond.storage import shared


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The revisions of some tables. Several chains may stand in one database and know nothing of each other."""

    scripts: Path
    """The folder with `env.py` and `versions`."""
    version_table: str
    """Where alembic notes how far this chain is; of no other chain."""
    tables: MetaData
    """What the last revision leaves."""
    probe: Executable
    """A statement that changes nothing, and fails where these tables may not be written."""


def migrate(connection: Connection, chain: Chain) -> None:
    """Make the tables of this version, or make them out of an earlier version's, keeping everything.

    Raises:
        OSError: the tables are a later version's, or no released version's.
        SQLAlchemyError: the database does not let us.
    """
    configuration = Config()
    configuration.set_main_option("script_location", str(chain.scripts).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(configuration).walk_revisions()}
    if connection.dialect.name == "postgresql":
        shared.alone_with_tables(connection)
    noted = MigrationContext.configure(connection, opts={"version_table": chain.version_table})
    there = noted.get_current_revision()
    if there is not None and there not in known:
        raise OSError(errno.EINVAL, f"its tables are of a later version of epsilond (revision {there})")
    configuration.attributes["connection"] = connection
    configuration.attributes["chain"] = chain
    command.upgrade(configuration, "head")


def run() -> None:
    """What every chain's `env.py` does: on the connection, and in the transaction, that `migrate` was given."""
    chain: Chain = context.config.attributes["chain"]
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=chain.tables,
        version_table=chain.version_table,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()

"""Migration of tables of an earlier version to this version, all at once or not at all."""

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
    """Successive revisions of some tables, which alembic applies. A database may have several independent chains.

    A revision is a script that changes the tables of one version to those of the next. Alembic is a tool that runs such
    scripts in their order, and notes the last one in the database.
    """

    scripts: Path
    """The folder with `env.py` and `versions`."""
    version_table: str
    """Table in which alembic notes the revision of this chain only."""
    tables: MetaData
    """Tables of the last revision."""
    probe: Executable
    """Statement that changes nothing, and fails if these tables may not be written."""


def migrate(connection: Connection, chain: Chain) -> None:
    """Create the tables of this version, or migrate those of an earlier version without loss.

    Args:
        connection: connection of a transaction that writes. On PostgreSQL it waits for migrations by other replicas.
        chain: revisions of the tables.

    Raises:
        OSError: the tables are of a version that this program does not know, such as a later one.
        SQLAlchemyError: the database rejects a statement.
    """
    configuration = Config()
    escaped_path = str(chain.scripts).replace("%", "%%")  # values of a configuration have no plain percent sign
    configuration.set_main_option("script_location", escaped_path)
    revisions = {script.revision for script in ScriptDirectory.from_config(configuration).walk_revisions()}
    if connection.dialect.name == "postgresql":
        shared.alone_with_tables(connection)
    migration = MigrationContext.configure(connection, opts={"version_table": chain.version_table})
    current = migration.get_current_revision()
    if current is not None and current not in revisions:
        raise OSError(errno.EINVAL, f"its tables are of a later version of epsilond (revision {current})")
    configuration.attributes["connection"] = connection
    configuration.attributes["chain"] = chain
    command.upgrade(configuration, "head")


def run() -> None:
    """Run the migrations in the connection and transaction of `migrate`; every chain's `env.py` calls this.

    A migration changes the tables of an older version to those of this version.
    """
    chain: Chain = context.config.attributes["chain"]
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=chain.tables,
        version_table=chain.version_table,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()

"""The list of drills, and how they are run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from epsilond.extras import MissingExtra
from epsilond.ledgers.drills.keys import lose_keys, rotate_keys
from epsilond.ledgers.drills.names import DrillName
from epsilond.ledgers.drills.reports import ERRORS, DrillRecorder, DrillReport, UnexpectedRefusal
from epsilond.ledgers.drills.restoring import promote_standby, restore_backup, roll_back
from epsilond.ledgers.drills.rows import change_row
from epsilond.ledgers.drills.stores import DrillStore, make_store
from epsilond.ledgers.drills.witnessing import ask_witness

Drill = Callable[[DrillStore, DrillRecorder], None]
DRILLS: Final[Mapping[DrillName, Drill]] = MappingProxyType(
    {
        DrillName.BACKUP_AND_RESTORE: restore_backup,
        DrillName.ROLLBACK: roll_back,
        DrillName.LAGGING_STANDBY: promote_standby,
        DrillName.LOST_KEYS: lose_keys,
        DrillName.KEY_ROTATION: rotate_keys,
        DrillName.CHANGED_ROW: change_row,
        DrillName.WITNESS: ask_witness,
    }
)
"""Function of each drill, in the order of the report."""


def run_drills(names: Sequence[DrillName] = (), server: str | None = None) -> Iterator[DrillReport]:
    """Run drills, rehearsals of faults, each in a new temporary store, and yield their reports.

    The drills run one after another, in the order of `DRILLS`. A store is removed before the next drill begins.

    Args:
        names: names of drills; none means all.
        server: URL of a PostgreSQL server, on which a temporary database is created for each drill. None uses temporary
            SQLite files.

    Yields:
        The report of each drill, as soon as the drill has ended.

    Raises:
        InvalidInput: the server cannot be used, or its user may not create databases.
    """
    for name in DRILLS:
        if not names or name in names:
            with make_store(server) as store:
                yield run_drill(name, store)


def run_drill(name: DrillName, store: DrillStore) -> DrillReport:
    """Run one drill in a store, and return its report.

    An error of the ledgers or their store, or a missing package, ends the drill and is recorded as a failed check.

    Args:
        name: name of the drill.
        store: new temporary ledgers.

    Returns:
        The report, with the outcome of each check.
    """
    record = DrillRecorder(store.folder)
    start_time = time.monotonic()
    try:
        DRILLS[name](store, record)
    except UnexpectedRefusal:
        pass  # its check is recorded
    except (*ERRORS, MissingExtra) as error:
        record.fail(error)
    return DrillReport(name, tuple(record.checks), time.monotonic() - start_time)

"""Drills of a database that goes back in time: restored, rolled back under a process, or a standby that lags."""

from __future__ import annotations

from typing import Final

from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.drills.processes import TENANT, commit_once, start, verify
from epsilond.ledgers.drills.reports import VERIFIED, DrillRecorder
from epsilond.ledgers.drills.stores import DrillStore
from epsilond.storage.faults import StoreFault

FEWER: Final = "the log has fewer"
NOT_FIRST: Final = "not the first of the log"
LOST_RUNS: Final = 3
"""Number of runs that are committed after the older copy; several, so that a restored log stays shorter."""


def restore_backup(store: DrillStore, record: DrillRecorder) -> None:
    """Rehearse restoring a backup of the database.

    Expect that an old copy is rejected until an operator accepts its log. The newest copy, which lacks nothing, must be
    accepted. A receipt of a run that the older copy lacks must still verify.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
    """
    with start(store) as process:
        ledger = process.open_ledger("people")
        process.commit(ledger)
    store.copy("older")

    with start(store) as process:
        lost_receipts = [process.commit(ledger) for _ in range(LOST_RUNS)]
    store.copy("newest")
    store.restore("newest")
    record.expect_success("The newest copy is restored. A run is committed.", lambda: commit_once(store, ledger))

    # The older copy is rejected, until an operator accepts its log.
    store.restore("older")
    with start(store) as process:
        record.expect_error(
            f"A copy from before the last {LOST_RUNS + 1} runs is restored. A run is committed.",
            lambda: process.commit(ledger),
            NotReconciled,
            expected="Refused: the log has fewer entries than the head in the file.",
            containing=FEWER,
        )
        record.expect_error(
            "The head of the restored log is requested.",
            process.book.checkpoint,
            NotReconciled,
            expected="Refused: no shorter log is signed.",
            containing=FEWER,
        )
        record.expect_success("The restored ledger is read.", lambda: process.book.row_and_state(TENANT, ledger))
        record.expect_success(
            "A receipt of a lost run is verified.",
            lambda: verify(lost_receipts[-1], process.keyring.keys),
            outcome=VERIFIED,
        )
        record.expect_success("The operator reconciles the log.", process.reconcile)
        record.expect_success("A run is committed after the reconciliation.", lambda: process.commit(ledger))


def roll_back(store: DrillStore, record: DrillRecorder) -> None:
    """Rehearse an older copy in place of the database of a running process, which must reject all changes.

    The process has no file with the log's head, its size and Merkle root. It notices the older copy by the newest head
    that it remembers or, in SQLite, by the replaced file. A new process must accept the newest copy.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
    """
    with start(store, has_file=False) as process:
        ledger = process.open_ledger("people")
        process.commit(ledger)
        store.copy("older")
        for _ in range(LOST_RUNS):
            process.commit(ledger)
        store.copy("newest")

        store.restore("older")
        record.expect_error(
            f"The database is rolled back by {LOST_RUNS} runs under a process. The process commits a run.",
            lambda: process.commit(ledger),
            NotReconciled,
            StoreFault,
            expected="Refused: the process wrote a longer log, or the file was replaced.",
        )
        record.expect_error(
            "The process reports the head of the log.",
            process.book.checkpoint,
            NotReconciled,
            StoreFault,
            expected="Refused: no shorter log is signed.",
        )

    store.restore("newest")
    with start(store, has_file=False) as process:
        record.expect_success(
            "The newest copy is restored. A new process commits a run.", lambda: process.commit(ledger)
        )


def promote_standby(store: DrillStore, record: DrillRecorder) -> None:
    """Rehearse a standby that was promoted too early: a copy of the database that lacks the last runs.

    A file has the log's newest head, its size and Merkle root. The copy must be rejected as long as it does not
    continue this head, even once it has more entries. The newest copy must be accepted.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
    """
    with start(store) as process:
        ledger = process.open_ledger("people")
        process.commit(ledger)
        # The standby stops here, and lacks the runs that follow.
        store.copy("standby")
        for _ in range(LOST_RUNS):
            process.commit(ledger)
    store.copy("newest")

    store.restore("standby")
    with start(store) as process:
        record.expect_error(
            f"A standby that lacks {LOST_RUNS} runs is promoted. A run is committed.",
            lambda: process.commit(ledger),
            NotReconciled,
            expected="Refused: the log has fewer entries than the head in the file.",
            containing=FEWER,
        )

    # Without the file, append more entries than the log lacks. They differ from those that the head covers.
    with start(store, has_file=False) as process:
        for _ in range(LOST_RUNS + 1):
            process.commit(ledger)
    with start(store) as process:
        record.expect_error(
            "The standby takes more runs than it lacks, without the file. A process with the file commits a run.",
            lambda: process.commit(ledger),
            NotReconciled,
            expected="Refused: the head in the file is of entries that are not the first of the log.",
            containing=NOT_FIRST,
        )
    store.restore("newest")
    record.expect_success("The standby catches up. A run is committed.", lambda: commit_once(store, ledger))

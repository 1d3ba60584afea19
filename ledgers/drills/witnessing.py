"""Drill of a witness: it notices a database that went back in time where no file of the head is left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from epsilond.extras import extra
from epsilond.ledgers.cosigning.quorum import TooFewCosignatures, WitnessQuorum
from epsilond.ledgers.cosigning.remote import HeadRejected, WitnessAddress
from epsilond.ledgers.drills.processes import DrillProcess, start
from epsilond.ledgers.drills.reports import DrillRecorder
from epsilond.ledgers.drills.stores import DrillStore
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.receipts import Receipt

NAME: Final = "witness.example"
LOST_RUNS: Final = 3
"""Number of runs that are committed after the older copy; several, so that the log can be replaced by a longer one."""


def ask_witness(store: DrillStore, record: DrillRecorder) -> None:
    """Show a witness an older log, and then a longer but different one. Expect that it cosigns neither.

    A witness is a second party that signs only heads of a log (size and Merkle root) which continue its earlier ones.
    The drill copies the database after one run, and again after more runs. It restores the older copy, shows it, and
    appends other runs. At last it restores the newest copy, which the witness cosigns. The log is shown to the witness
    before each run, as a service does. No process of this drill has a file with the head. The drill tries the witness
    and its client, not the service.

    Args:
        store: database, keys and copies of the drill.
        record: records each step with its expected and actual outcome.

    Raises:
        MissingExtra: the packages of the service are not installed.
    """
    with start(store, has_file=False) as process:
        ledger = process.open_ledger("people")
        key = process.keyring.signing.public
        with run_witness(store, key) as address:
            record.expect_success(
                "A run is committed, and a witness cosigns the head.", lambda: _commit(process, ledger, address)
            )
            store.copy("older")
            for _ in range(LOST_RUNS):
                _commit(process, ledger, address)
            store.copy("newest")
    store.restore("older")
    _show_older_logs(store, record, ledger, key)
    # The newest copy continues the head that the witness cosigned last, so that it can go on.
    store.restore("newest")
    with start(store, has_file=False) as process:
        record.expect_error(
            "The newest copy is restored. A run is committed while the witness does not answer.",
            lambda: _commit(process, ledger, address),
            TooFewCosignatures,
            expected="Refused: the witness cannot be reached.",
            containing="cannot be reached",
        )
        with run_witness(store, key) as address:
            record.expect_success(
                "The witness answers again. A run is committed.", lambda: _commit(process, ledger, address)
            )


def _show_older_logs(store: DrillStore, record: DrillRecorder, ledger: str, key: PublicKey) -> None:
    """Show the witness, a second party, a log that lost entries, twice. Expect two rejections.

    The log is restored from an older copy. First it has fewer entries than the head that the witness signed. Then it
    has more, but other ones.

    Args:
        store: the temporary ledgers, with the older copy.
        record: receives the outcome of each step.
        ledger: id of a ledger.
        key: key of the log.
    """
    # The restored log has fewer entries than the head that the witness cosigned.
    with run_witness(store, key) as address, start(store, has_file=False) as process:
        record.expect_error(
            f"A copy from before the last {LOST_RUNS} runs is restored. A run is committed.",
            lambda: _commit(process, ledger, address),
            HeadRejected,
            expected="Refused: the witness has cosigned more entries than the log has.",
            containing="has fewer",
        )

    # It gets more entries than it lacks, without the witness. They differ from those of the head.
    with start(store, has_file=False) as process:
        for _ in range(LOST_RUNS + 1):
            process.commit(ledger)
    with run_witness(store, key) as address, start(store, has_file=False) as process:
        record.expect_error(
            "The older copy takes more runs than it lacks, without the witness. A run is committed with the witness.",
            lambda: _commit(process, ledger, address),
            HeadRejected,
            expected="Refused: the witness has cosigned entries that are not the first of the log.",
            containing="not the log's first",
        )


def _commit(process: DrillProcess, ledger: str, address: WitnessAddress) -> Receipt:
    """Commit one run as a service does: let a witness sign the log's head before and after the commit.

    A head is the log's size and Merkle root.

    Args:
        process: process of the service with a temporary book (the ledgers in a database).
        ledger: id of the ledger.
        address: address and public key of the witness.

    Returns:
        The receipt of the commit.

    Raises:
        HeadRejected: the witness has cosigned more or other entries than the log has.
        TooFewCosignatures: the witness did not answer.
    """
    quorum = WitnessQuorum([address], 1, on_rejection=lambda _: None)
    try:
        # Cosign the present head before the commit, as a service does, and the new head after it.
        quorum.cosign(process.book.checkpoint(), process.book)
        receipt = process.commit(ledger)
        quorum.cosign(process.book.checkpoint(), process.book)
    finally:
        quorum.close()
    return receipt


@contextmanager
def run_witness(store: DrillStore, key: PublicKey) -> Iterator[WitnessAddress]:
    """Run a witness, a party that signs heads of a log, in a thread, as a context manager.

    Each call uses the same folder. So the witness remembers the heads (size and Merkle root) that it signed in earlier
    calls.

    Args:
        store: store of the drill. The witness has its folder in the drill's temporary folder.
        key: key of the log.

    Yields:
        The address of the witness: its URL and its public key.

    Raises:
        MissingExtra: the packages of the service are not installed.
    """
    with extra("service", "the drill of a witness"):
        from epsilond.ledgers.cosigning.folder import WitnessFolder  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.cosigning.server import WitnessService, listener, server  # noqa: PLC0415  only the extra has its packages

    folder = WitnessFolder.open(store.folder / "witness", NAME)
    serving = server(WitnessService(folder, [key]))
    with listener("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, name="witness")
        thread.start()
        _, port = listening.getsockname()
        try:
            yield WitnessAddress(f"http://127.0.0.1:{port}", folder.public)
        finally:
            serving.should_exit = True
            thread.join()

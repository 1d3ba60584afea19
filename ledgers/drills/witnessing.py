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

    A witness is a second party that signs heads of a log (size and Merkle root). It signs only heads that continue
    those it signed before. The drill copies the database after one run, and again after more runs. It restores the
    older copy, shows it, and appends other runs. At last it restores the newest copy, which the witness cosigns. The
    log is shown to the witness before and after each run, as a service does. No process of this drill compares the log
    with a file. The drill tests the witness and its client, not the service.

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
    # The newest copy has the head that the witness cosigned last, so the witness accepts it.
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

    The log was restored from an older copy. First it has fewer entries than the head (size and Merkle root) that the
    witness signed. Then it has more, but different ones.

    Args:
        store: the temporary database, restored from the older copy.
        record: records each step with its expected and actual outcome.
        ledger: id of a ledger.
        key: key of the log.
    """
    with run_witness(store, key) as address, start(store, has_file=False) as process:
        record.expect_error(
            f"A copy from before the last {LOST_RUNS} runs is restored. A run is committed.",
            lambda: _commit(process, ledger, address),
            HeadRejected,
            expected="Refused: the witness has cosigned more entries than the log has.",
            containing="has fewer",
        )

    # Without the witness, append more entries than the log lacks. They differ from those that the witness signed.
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
        process: the process that commits, with the ledgers of the drill.
        ledger: id of the ledger.
        address: address and public key of the witness.

    Returns:
        The receipt of the commit.

    Raises:
        HeadRejected: the witness has cosigned more or other entries than the log has.
        TooFewCosignatures: the witness did not cosign in time.
    """
    quorum = WitnessQuorum([address], 1, on_rejection=lambda _: None)
    try:
        quorum.cosign(process.book.checkpoint(), process.book)
        receipt = process.commit(ledger)
        quorum.cosign(process.book.checkpoint(), process.book)
    finally:
        quorum.close()
    return receipt


@contextmanager
def run_witness(store: DrillStore, key: PublicKey) -> Iterator[WitnessAddress]:
    """Run a witness, a party that signs heads of a log, in a thread, as a context manager.

    Each call uses the same folder, so the witness remembers the heads (size and Merkle root) of earlier calls. The
    thread ends when the context is left.

    Args:
        store: store of the drill. In its temporary folder the witness has its own.
        key: public key that the log is signed with.

    Yields:
        The address of the witness: its URL and its public key.

    Raises:
        MissingExtra: the packages of the service are not installed.
    """
    with extra("service", "the drill of a witness"):
        from epsilond.ledgers.cosigning.folder import WitnessFolder  # noqa: PLC0415  only the extra has its packages
        from epsilond.ledgers.cosigning.server import WitnessService, listener, server  # noqa: PLC0415  only the extra has its packages

    folder = WitnessFolder.open(store.folder / "witness", NAME)
    http_server = server(WitnessService(folder, [key]))
    with listener("127.0.0.1", 0) as socket:
        thread = threading.Thread(target=http_server.run, kwargs={"sockets": [socket]}, name="witness")
        thread.start()
        _, port = socket.getsockname()
        try:
            yield WitnessAddress(f"http://127.0.0.1:{port}", folder.public)
        finally:
            http_server.should_exit = True
            thread.join()

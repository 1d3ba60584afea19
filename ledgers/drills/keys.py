"""Drills of the keys that sign: lost, and rotated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.client.replays import replay
from epsilond.ledgers.drills.processes import ORIGIN, TENANT, commit_once, now, start, verify
from epsilond.ledgers.drills.reports import VERIFIED, DrillRecorder
from epsilond.ledgers.drills.stores import DrillStore
from epsilond.ledgers.log import key_files
from epsilond.ledgers.log import verify as logs
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.errors import KeysUnusable, NotVerified
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.receipts import Receipt


def lose_keys(store: DrillStore, record: DrillRecorder) -> None:
    """Rehearse the loss of signing keys: remove all keys, then only the private key.

    Expect that nothing is signed then, that earlier receipts verify with the public keys that were published before,
    and that other keys cannot sign the log. Runs are committed again with the restored folder, and with a new key after
    the lost one was retired.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
    """
    with start(store) as process:
        ledger = process.open_ledger("people")
        receipt = process.commit(ledger)
        public_keys = process.keyring.keys
        kid = process.keyring.signing.public.kid
    _lose_folder(store, record, ledger, receipt, public_keys)
    _lose_private_key(store, record, ledger)
    _replace_key(store, record, ledger, receipt, kid)


def _lose_folder(
    store: DrillStore, record: DrillRecorder, ledger: str, receipt: Receipt, public_keys: Sequence[PublicKey]
) -> None:
    """Rehearse the loss of all signing keys, and expect that a process with new keys cannot commit.

    Earlier receipts must still verify with the published public keys. The folder is restored at the end.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
        ledger: id of a ledger.
        receipt: receipt of an earlier commit.
        public_keys: keys that were published before.
    """
    backup = store.keys.with_name("keys.backup")
    store.keys.rename(backup)
    record.expect_success(
        "The folder of keys is gone. A receipt is verified with the public keys that were given out.",
        lambda: verify(receipt, public_keys),
        outcome=VERIFIED,
    )

    # A process without keys makes new ones. They have signed no head of the log, so they cannot continue it.
    with start(store) as process:
        record.expect_error(
            "A process starts and makes new keys. It commits a run.",
            lambda: process.commit(ledger),
            NotReconciled,
            expected="Refused: no new key has signed the head in the file.",
            containing="not this log's",
        )
        record.expect_error(
            "The receipt is verified with the new keys.",
            lambda: verify(receipt, process.keyring.keys),
            NotVerified,
            expected="Not verified: another key has signed it.",
        )

    store.keys.rename(store.keys.with_name("keys.new"))
    backup.rename(store.keys)
    record.expect_success("The folder is restored. A run is committed.", lambda: commit_once(store, ledger))


def _lose_private_key(store: DrillStore, record: DrillRecorder, ledger: str) -> None:
    """Delete the private key, and expect that no process makes a new one in its place.

    A new key in its place would be unknown to those who verify receipts.

    Args:
        store: the temporary ledgers and their keys.
        record: receives the expected and the actual outcome.
        ledger: id of a ledger, in which a run is committed.
    """
    for private_key in store.keys.glob("*.pem"):
        private_key.unlink()
    record.expect_error(
        "The private key is gone, and the public keys are there. A process starts.",
        lambda: commit_once(store, ledger),
        KeysUnusable,
        expected="Refused: no key is made in place of a lost one.",
        containing="no key at",
    )


def _replace_key(store: DrillStore, record: DrillRecorder, ledger: str, receipt: Receipt, kid: str) -> None:
    """Rehearse the replacement of a lost signing key by a new one. Expect that receipts of both keys verify.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
        ledger: id of a ledger.
        receipt: receipt that the lost key signed.
        kid: id of the lost key.
    """
    record.expect_success("The lost key is retired, and another is made.", lambda: _retire_and_make(store, kid))
    new_receipt = record.expect_success("A run is committed with the new key.", lambda: commit_once(store, ledger))
    # Receipts of the lost key must still verify, because its public key stays published.
    published = [key.key for key in key_files.listed(store.keys)]
    for name, signed in (("earlier", receipt), ("new", new_receipt)):
        record.expect_success(
            f"The {name} receipt is verified with the published keys.",
            partial(verify, signed, published),
            outcome=VERIFIED,
        )


def rotate_keys(store: DrillStore, record: DrillRecorder) -> None:
    """Rehearse a new signing key while a process runs. Expect that receipts from before and after it verify.

    Receipts of the new key must not verify with the public keys that were published before it.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
    """
    with start(store) as process:
        ledger = process.open_ledger("people")
        earlier_receipt = process.commit(ledger)
        earlier_keys = process.keyring
        earlier_head = process.book.checkpoint()

        record.expect_success(
            "The key is rotated under a process.",
            lambda: key_files.rotate(store.keys, ORIGIN, now()),
        )
        process.reload_keys()
        new_keys = process.keyring
        new_receipt = record.expect_success("The process commits a run.", lambda: process.commit(ledger))
        _compare_private_keys(store, record, earlier_keys.signing.public, new_keys.signing.public)

        for name, receipt in (("earlier", earlier_receipt), ("new", new_receipt)):
            record.expect_success(
                f"The {name} receipt is verified with the new public keys.",
                partial(verify, receipt, new_keys.keys),
                outcome=VERIFIED,
            )
        record.expect_error(
            "The new receipt is verified with the earlier public keys.",
            lambda: verify(new_receipt, earlier_keys.keys),
            NotVerified,
            expected="Not verified: the new public keys must be given out.",
        )
        bundle = Bundle(entries=process.book.log_entries(TENANT), checkpoints=[earlier_head, process.book.checkpoint()])
    record.expect_success("A new process commits a run.", lambda: commit_once(store, ledger))
    record.expect_success(
        "The log is verified, with heads of both keys.", lambda: _verify_log(bundle, new_keys.keys), outcome=VERIFIED
    )


def _compare_private_keys(
    store: DrillStore, record: DrillRecorder, earlier_key: PublicKey, signing_key: PublicKey
) -> None:
    """Record whether the earlier private key was deleted after a rotation, and whether another key signs.

    Args:
        store: the temporary ledgers with the folder of keys.
        record: receives the expected and the actual outcome.
        earlier_key: public key that signed before the rotation.
        signing_key: public key that signs after it.
    """
    is_kept = key_files.has_private(store.keys, earlier_key.kid)
    is_unchanged = signing_key == earlier_key
    place = "there" if is_kept else "deleted"
    signer = "it" if is_unchanged else "another key"
    record.compare(
        "The folder is searched for the earlier private key.",
        expected="It is deleted, and another key signs.",
        happened=f"It is {place}, and {signer} signs.",
        passed=not is_unchanged and not is_kept,
    )


def _retire_and_make(store: DrillStore, kid: str) -> None:
    """Retire a lost key, and make a new one. Signatures of the retired key remain verifiable.

    Args:
        store: the temporary ledgers.
        kid: id of the lost key.
    """
    key_files.retire(store.keys, ORIGIN, kid, now())
    key_files.make(store.keys, ORIGIN, now())


def _verify_log(bundle: Bundle, keys: Sequence[PublicKey]) -> None:
    """Verify all entries and signed heads (size and root) of a log, and recompute its privacy costs.

    Args:
        bundle: the entries and signed heads.
        keys: trusted public keys of the log.

    Raises:
        NotVerified: a check fails, or the bundle does not suffice for a check.
    """
    verification = logs.verify(bundle, origin=ORIGIN, keys=keys, replay=replay)
    if not verification.complete:
        raise NotVerified("; ".join(verification.sentences()))

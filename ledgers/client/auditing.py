"""Audits of a log's evidence without its keeper; all charges are computed again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.ledgers.book.contradictions import mark_commit
from epsilond.ledgers.client.evidence import (
    cosigner_key,
    is_ledger_file,
    notes_of_file,
    read_checkpoints,
    read_evidence,
    trusted_keys,
)
from epsilond.ledgers.client.local import FilePlace, file_place
from epsilond.ledgers.client.replays import by_ledger, compare_balances, replay
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import Record
from epsilond.ledgers.log.cosignatures import CosignerKey
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.findings import UNCOMPUTED, ClaimOutcome, LogVerification
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.verify import verify
from epsilond.ledgers.mathematics.entries import observations_of


def audited(
    evidence: Path,
    keys: Path,
    checkpoints: Sequence[Path] = (),
    *,
    log: Path | None = None,
    witnesses: Sequence[str] = (),
) -> LogVerification:
    """Verify the log of ledgers, or parts of it, with trusted keys and without its service.

    Args:
        evidence: file of a bundle (exported log entries and receipts), of a single receipt, or of ledgers.
        keys: file or folder of the trusted keys.
        checkpoints: files with old signed heads (size and Merkle root) of the log that the verifier kept. The log must
            continue them.
        log: bundle or receipts of entries that show whether the runs of a receipt were voided later.
        witnesses: public keys of trusted witnesses, other parties that sign heads, as vkeys `name+id+key`. Each must
            have signed the largest head.

    Returns:
        The checked statements, each with its outcome. Evidence that fails a check is reported there, not raised.

    Raises:
        InvalidInput: a file cannot be read, or is of another kind.
    """
    trust = _TrustedEvidence(trusted_keys(keys), tuple(map(cosigner_key, witnesses)), tuple(checkpoints), log)
    if is_ledger_file(evidence):
        return _audit_ledger_file(evidence, trust)
    bundle = read_evidence(evidence, "/bundle")
    return _verify_bundle(trust.add_log(bundle), bundle.receipts, trust)


@dataclass(frozen=True)
class _TrustedEvidence:
    """Keys that a verifier of a log trusts, and further files of the verifier.

    Attributes:
        keys: trusted keys of the log, at least one.
        cosigners: trusted keys of witnesses, other parties that sign heads of the log.
        checkpoints: files with old signed heads (size and Merkle root) of the log.
        log: file with entries that show whether the runs of a receipt were voided later, if there is one.
    """

    keys: tuple[PublicKey, ...]
    cosigners: tuple[CosignerKey, ...]
    checkpoints: tuple[Path, ...]
    log: Path | None

    def add_log(self, bundle: Bundle) -> Bundle:
        """Return a bundle (exported evidence) joined with the evidence in the file `log`.

        Only one of both may have log entries. If there is no such file, the bundle is returned unchanged.

        Args:
            bundle: entries, signed heads, receipts and proofs of a log; each kind may be empty.

        Returns:
            The joined evidence, of which nothing is verified yet.

        Raises:
            InvalidInput: the file cannot be read, or both have entries.
        """
        if self.log is None:
            return bundle
        evidence = read_evidence(self.log, "/log")
        if bundle.entries and evidence.entries:
            raise InvalidInput.at("/log", "is for receipts: the entries of a log are given already")
        return Bundle(
            entries=bundle.entries or evidence.entries,
            checkpoints=list(bundle.checkpoints) + list(evidence.checkpoints),
            receipts=list(bundle.receipts) + list(evidence.receipts),
            proofs=list(bundle.proofs) + list(evidence.proofs),
        )


def _audit_ledger_file(path: Path, trust: _TrustedEvidence) -> LogVerification:
    """Verify the log in a file of ledgers, and compare the balances in the file with the entries of the log.

    The log is verified like exported evidence: its signatures, its Merkle roots, and the privacy costs of its entries.

    Args:
        path: file of ledgers, an SQLite database with the folder of its keys next to it.
        trust: keys that the verifier trusts, and further files of the verifier.

    Returns:
        The checked statements with their outcomes. If an entry cannot be read, this failure is the only one.

    Raises:
        InvalidInput: another process has the file, or a further file of the verifier cannot be read.
    """
    with closing(file_place(path, notes_of_file(path))) as place:
        try:
            bundle = _read_log(place, path)
        except NotVerified as error:
            verification = LogVerification()
            verification.add(ClaimOutcome.FAILED, f"An entry of the file is malformed: {error}.")
            return verification
        complete = trust.add_log(bundle)
        verification = _verify_bundle(complete, bundle.receipts, trust)
        compare_balances(place, complete.entries, verification)
        return verification


def _read_log(place: FilePlace, path: Path) -> Bundle:
    """Read all log entries in a file of ledgers, and the signed head (size and Merkle root) that is stored next to it.

    Args:
        place: the opened file.
        path: its path.

    Returns:
        The entries and signed heads, not verified.

    Raises:
        NotVerified: an entry has no valid form.
    """
    bundle = place.bundle_as_it_is()
    head = notes_of_file(path).head
    if not head.exists():
        return bundle
    return replace(bundle, checkpoints=[*bundle.checkpoints, *read_checkpoints(head)])


def _verify_bundle(bundle: Bundle, receipts: Sequence[Receipt], trust: _TrustedEvidence) -> LogVerification:
    """Verify exported entries and receipts of a log, together with heads of the log that the verifier kept.

    A head is the log's size and Merkle root at some time. Runs that were declared void, or observed to differ from
    their mechanism, are reported too.

    Args:
        bundle: the exported evidence, joined with the evidence in the verifier's file `log`.
        receipts: receipts that are reported if their runs are void or contradicted. Those from the file `log` are not
            among them.
        trust: trusted keys and files of the verifier.

    Returns:
        The checked statements with their outcomes.
    """
    # The heads that the verifier kept are checked like those of the bundle, so that the log must continue each of them.
    old_checkpoints = chain.from_iterable(map(read_checkpoints, trust.checkpoints))
    first_key, *_ = trust.keys
    verification = verify(
        replace(bundle, checkpoints=[*bundle.checkpoints, *old_checkpoints]),
        origin=first_key.name,  # the keys of a log have its name
        keys=trust.keys,
        replay=replay,
        witnesses=trust.cosigners,
    )

    # `verify` computes the costs of a complete log only. Receipts have single entries.
    if bundle.receipts and not bundle.entries:
        _replay_receipts(bundle.receipts, verification)
    _check_voids(receipts, bundle, verification)
    _check_contradictions(receipts, bundle, verification)
    return verification


def _replay_receipts(receipts: Sequence[Receipt], verification: LogVerification) -> None:
    """Compute the privacy costs of the entries in receipts again, and report the outcome.

    This needs all entries of a ledger from its opening on. Ledgers without their opening are reported as not verified.
    The report also says that receipts cannot show whether the log has more entries of these ledgers.

    Args:
        receipts: receipts of a log of which no other entries are known.
        verification: collects the statements and their outcomes.
    """
    # Order the entries as in the log. An entry may be in several receipts.
    entries = sorted((receipt.entry for receipt in receipts), key=lambda entry: int(entry.get("seq", 0)))
    distinct_entries = {json.dumps(entry, sort_keys=True): entry for entry in entries}.values()

    ledgers = by_ledger(distinct_entries).values()
    opened_ledgers = [own_entries for own_entries in ledgers if own_entries[0].get("kind") == "opened"]
    if not ledgers or len(opened_ledgers) < len(ledgers):
        verification.add(ClaimOutcome.NOT_VERIFIED, UNCOMPUTED)
    if not opened_ledgers:
        return

    try:
        for sentence in replay(chain.from_iterable(opened_ledgers)):
            verification.add(ClaimOutcome.VERIFIED, sentence)
    except EpsilondError as error:
        message = f"The entries of the receipts do not follow from each other: {error}."
        verification.add(ClaimOutcome.FAILED, message)
    message = "Receipts cannot show whether the log has more entries of these ledgers."
    verification.add(ClaimOutcome.NOT_VERIFIED, message)


def _list_entries(bundle: Bundle) -> list[Record]:
    """Return all log entries in the evidence: those of the exported log, and those in receipts.

    Args:
        bundle: exported evidence about a log.

    Returns:
        The entries as JSON objects; an entry may occur twice.
    """
    return list(bundle.entries) + [receipt.entry for receipt in bundle.receipts]


def _check_voids(receipts: Sequence[Receipt], bundle: Bundle, verification: LogVerification) -> None:
    """Report receipts of runs that were later declared void, so that no run may begin with them.

    Such a receipt is a failure, unless the entry that declares this is among the receipts too, as in an export of a
    ledger. Without the log, the report says that such entries may exist.

    Args:
        receipts: the examined receipts.
        bundle: all evidence, which may contain such entries.
        verification: collects the statements and their outcomes.
    """
    # Number of an entry that declares runs void, by their ledger and reservation.
    void_numbers = {}
    for entry in _list_entries(bundle):
        if entry.get("kind") == "voided":
            void_numbers[entry.get("ledger"), entry.get("reservation")] = entry.get("seq")

    disclosed_numbers = {receipt.entry.get("seq") for receipt in receipts}
    has_commit = False
    for index, receipt in enumerate(receipts):
        if receipt.entry.get("kind") != "committed":
            continue
        has_commit = True
        void_number = void_numbers.get((receipt.entry.get("ledger"), receipt.entry.get("reservation")))
        if void_number is not None:
            outcome = ClaimOutcome.VOIDED if void_number in disclosed_numbers else ClaimOutcome.FAILED
            reason = f"runs of its reservation were voided by entry {void_number}"
            verification.add(outcome, f"Receipt {index} is void: {reason}.")
    if has_commit and not _shows_later_entries(bundle):
        message = "Whether runs of a receipt were voided or contradicted later is not shown: give the log."
        verification.add(ClaimOutcome.NOT_VERIFIED, message)


def _shows_later_entries(bundle: Bundle) -> bool:
    """Return whether evidence has the entries of a log, or the receipt of a ledger's opening, as an export has.

    Only then can it show that no runs were declared void later.

    Args:
        bundle: exported evidence about a log.
    """
    has_opening = any(receipt.entry.get("kind") == "opened" for receipt in bundle.receipts)
    return bool(bundle.entries) or has_opening


def _check_contradictions(receipts: Sequence[Receipt], bundle: Bundle, verification: LogVerification) -> None:
    """Report each observation that a run differed from its mechanism, and the receipts of such runs.

    Such a receipt is a failure, unless the entry with the observation is among the receipts, as in an export of a
    ledger. The check ends at the first entry that cannot be read, which is reported as a failure.

    Args:
        receipts: the examined receipts.
        bundle: all evidence, which may contain entries with observations.
        verification: collects the statements and their outcomes.
    """
    # An entry may be in the log and in receipts. It is reported once.
    entries = {str(entry.get("seq")): entry for entry in _list_entries(bundle) if entry.get("kind") == "contradicted"}
    for number, entry in entries.items():
        try:
            observations = " ".join(map(str, observations_of(entry)))
            list(entry.get("reservations", ()))  # raises TypeError unless it can be iterated
        except (EpsilondError, KeyError, TypeError):
            verification.add(ClaimOutcome.FAILED, f"Entry {number} claims to be a contradiction but is not one.")
            return
        verification.add(ClaimOutcome.CONTRADICTED, f"Ledger {entry.get('ledger')}, by entry {number}: {observations}")

    entries_by_ledger = by_ledger(entries.values())
    for index, receipt in enumerate(receipts):
        contradictions = entries_by_ledger.get(str(receipt.entry.get("ledger")), ())
        is_contradicted = mark_commit(dict(receipt.entry), contradictions) != receipt.entry
        if is_contradicted:
            is_disclosed = any(disclosed.entry in contradictions for disclosed in receipts)
            outcome = ClaimOutcome.CONTRADICTED if is_disclosed else ClaimOutcome.FAILED
            message = f"Receipt {index} is of a run that differs from its record: no ε holds for the releases."
            verification.add(outcome, message)

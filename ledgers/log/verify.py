"""Verification of a bundle without the service: proved claims, open claims, and points that no log can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise, product
from typing import TypeAlias

from epsilond.accountants.errors import EpsilondError
from epsilond.ledgers.log import checkpoints, notes, receipts
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import Record, canonical
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.cosignatures import CosignerKey
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.findings import UNCOMPUTED, ClaimOutcome, LogVerification
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import Note
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.tree import MemoryNodes, Tree

Replay: TypeAlias = Callable[[Sequence[Record]], Iterable[str]]
"""Function that computes the charges of all entries again, and returns sentences about the verified ones.

It raises an EpsilondError if an entry does not follow from the entries before it.
"""


@dataclass(frozen=True, order=True)
class _Head:
    """Head of an append-only log: its number of entries, and the root of the Merkle tree over them.

    Heads are ordered by their size.

    Attributes:
        size: number of entries.
        root: root hash, 32 bytes.
    """

    size: int
    root: bytes


def verify(
    bundle: Bundle,
    *,
    origin: str,
    keys: Iterable[PublicKey],
    replay: Replay | None = None,
    witnesses: Iterable[CosignerKey] = (),
) -> LogVerification:
    """Verify exported parts of a log: signatures, Merkle roots, proofs, signatures of witnesses, and charges.

    Args:
        bundle: the exported parts: entries, signed heads, receipts and proofs.
        origin: name of the log.
        keys: trusted keys of the log.
        replay: function that computes the charges of the entries again, and yields a sentence for each ledger. None
            skips this check.
        witnesses: trusted keys of witnesses, other parties that sign heads of the log. Each must have signed the
            largest head.

    Returns:
        Statements about the log with their outcomes. A failed check is one of them, and raises no exception.
    """
    # Without a validly signed head (size and Merkle root) nothing can be verified.
    verification = LogVerification()
    valid_checkpoints = _verify_checkpoints(bundle, origin, tuple(keys), verification)
    heads = sorted({_Head(checkpoint.size, checkpoint.root) for checkpoint in valid_checkpoints})
    if not heads:
        message = "There is no checkpoint that holds, so nothing of the entries is verified."
        verification.add(ClaimOutcome.NOT_VERIFIED, message)
        return verification

    _check_roots(heads, verification)
    recomputed = _check_entries(bundle.entries, heads, verification)
    _check_consistency(bundle, heads, recomputed, verification)
    _report_cosignatures(bundle, origin, heads, witnesses, verification)

    # Receipts without entries leave nothing to compute again, so that nothing is stated about charges then.
    has_only_receipts = bundle.receipts and not bundle.entries
    if replay is None or not has_only_receipts:
        _verify_charges(bundle.entries, replay, verification)
    return verification


def _verify_checkpoints(
    bundle: Bundle, origin: str, keys: Sequence[PublicKey], verification: LogVerification
) -> Iterable[Checkpoint]:
    """Verify the signatures of all checkpoints, including those in receipts, and yield the valid ones.

    A statement is added to `verification` for each checkpoint and receipt, as it is reached.

    Args:
        bundle: the exported parts of the log.
        origin: name of the log.
        keys: trusted keys.
        verification: receives the statements and their outcomes.

    Yields:
        The valid checkpoints: those of the bundle, then those in receipts.
    """
    for number, note in enumerate(bundle.checkpoints):
        try:
            checkpoint = checkpoints.verify(note, origin, keys)
        except NotVerified as error:
            verification.add(ClaimOutcome.FAILED, f"Checkpoint {number} does not hold: {error}.")
            continue
        message = f"{origin} signed that it has {_count(checkpoint.size)} (checkpoint {number})."
        verification.add(ClaimOutcome.VERIFIED, message)
        yield checkpoint

    # Checkpoints in receipts, each of which also proves that the log has an entry.
    for number, receipt in enumerate(bundle.receipts):
        try:
            checkpoint = receipts.verify(receipt, origin, keys)
        except NotVerified as error:
            verification.add(ClaimOutcome.FAILED, f"Receipt {number} does not hold: {error}.")
            continue
        index = receipt.proof.leaf_index
        size = _count(checkpoint.size)
        message = f"The entry of receipt {number} is entry {index} of the log when it had {size}."
        verification.add(ClaimOutcome.VERIFIED, message)
        yield checkpoint


def _check_roots(heads: Sequence[_Head], verification: LogVerification) -> None:
    """Report a failure for each size of the log for which several Merkle roots were signed.

    Two roots of one size prove a fork: the log has shown different entries to different readers.

    Args:
        heads: sizes and roots of valid checkpoints, each pair once.
        verification: receives the failures.
    """
    root_counts = Counter(head.size for head in heads)
    for size, count in root_counts.items():
        if count > 1:
            message = f"{count} roots are signed for the log of {_count(size)}: keep them, they are proof of a fork."
            verification.add(ClaimOutcome.FAILED, message)


def _check_entries(entries: Sequence[Record], heads: Sequence[_Head], verification: LogVerification) -> set[_Head]:
    """Compute the Merkle roots of the entries at the sizes of the signed heads, and report whether they agree.

    Args:
        entries: entries of the log from the first on, without gaps; perhaps not all.
        heads: sizes and roots of valid checkpoints, by increasing size; at least one.
        verification: receives the statements and their outcomes.

    Returns:
        The heads with the same root as the entries. Heads of more entries than are given cannot be among them.
    """
    try:
        tree = Tree(MemoryNodes()).extend(canonical(entry) for entry in entries)
    except NotVerified as error:
        verification.add(ClaimOutcome.FAILED, f"An entry has no canonical form: {error}.")
        return set()

    # Each entry may state its number in the log, which must be its index.
    for index, entry in enumerate(entries):
        if entry.get("seq", index) != index:
            verification.add(ClaimOutcome.FAILED, f"Entry {index} says that it is entry {entry['seq']} of the log.")

    # Entries after the largest head are signed by nobody yet.
    recomputed = {head for head in heads if _has_root(tree, head, verification)}
    largest_head = heads[-1]
    if tree.size > largest_head.size:
        size = _count(tree.size)
        message = f"Of {size} given, the first {largest_head.size} are under a checkpoint: the others may change."
        verification.add(ClaimOutcome.NOT_VERIFIED, message)
    return recomputed


def _has_root(tree: Tree, head: _Head, verification: LogVerification) -> bool:
    """Report whether the given entries have the Merkle root of a signed head.

    Args:
        tree: Merkle tree of the given entries.
        head: the head. If it has more entries than the tree, it is reported as not verified.
        verification: receives the statement and its outcome.

    Returns:
        True if the head has the root of its first entries.
    """
    if head.size > tree.size:  # some entries of the head are not given, so its root cannot be computed
        message = f"A checkpoint has {_count(head.size)}, of which {tree.size} are given: the others are unknown."
        verification.add(ClaimOutcome.NOT_VERIFIED, message)
        return False
    if Tree(tree.nodes, head.size).root() != head.root:
        message = f"The first {_count(head.size)} given are not those of the checkpoint of that size."
        verification.add(ClaimOutcome.FAILED, message)
        return False
    message = f"The first {_count(head.size)} given are all of the log of that size."
    verification.add(ClaimOutcome.VERIFIED, message)
    return True


def _check_consistency(
    bundle: Bundle, heads: Sequence[_Head], recomputed: set[_Head], verification: LogVerification
) -> None:
    """Report for each two successive heads of a log whether the larger log continues the smaller one.

    It suffices that both are proved to be beginnings of the same larger log, or of the given entries.

    Args:
        bundle: the exported parts of the log, with consistency proofs.
        heads: sizes and roots of valid checkpoints, by increasing size.
        recomputed: heads of which the root was recomputed from the entries.
        verification: receives the statements and their outcomes.
    """
    # For each head, the logs that are proved to begin with its log: heads, or None for the log of the given entries.
    larger_logs: dict[_Head, set[_Head | None]] = {}
    for head in heads:
        larger_logs[head] = {head, None} if head in recomputed else {head}
    steps = _proved_steps(bundle, heads, verification)
    for earlier, later in sorted(steps, reverse=True):  # by decreasing size, so that the set of `later` is complete
        larger_logs[earlier] |= larger_logs[later]
    for earlier, later in pairwise(heads):
        if earlier.size == later.size:
            continue  # two roots of one size are reported as a fork
        has_common_log = not larger_logs[earlier].isdisjoint(larger_logs[later])
        if earlier.size == 0 or has_common_log:
            message = f"The log of {_count(earlier.size)} is the beginning of the log of {_count(later.size)}."
            verification.add(ClaimOutcome.VERIFIED, message)
        else:
            message = (
                f"Whether the log of {_count(earlier.size)} is the beginning of the log of {later.size} is not shown."
            )
            verification.add(ClaimOutcome.NOT_VERIFIED, message)


def _proved_steps(bundle: Bundle, heads: Sequence[_Head], verification: LogVerification) -> list[tuple[_Head, _Head]]:
    """Return the pairs of heads for which a valid proof shows that the later log continues the earlier one.

    Args:
        bundle: the exported parts of the log, with consistency proofs.
        heads: heads of the log, each with a size and a root.
        verification: receives a statement for each proof that is not valid or belongs to no heads.

    Returns:
        The pairs, each with the earlier head first.
    """
    steps = []
    for proof in bundle.proofs:
        earlier_heads = [head for head in heads if head.size == proof.first]
        later_heads = [head for head in heads if head.size == proof.second]
        if not earlier_heads or not later_heads:
            message = f"No checkpoints belong to the consistency proof from {proof.first} to {proof.second} entries."
            verification.add(ClaimOutcome.NOT_VERIFIED, message)
        for earlier, later in product(earlier_heads, later_heads):
            if _is_consistent(proof, earlier, later, verification):
                steps.append((earlier, later))
    return steps


def _is_consistent(proof: Consistency, earlier: _Head, later: _Head, verification: LogVerification) -> bool:
    """Return whether a proof shows that the log of one head continues the log of an earlier head.

    Args:
        proof: consistency proof (RFC 9162) between the sizes of both heads.
        earlier: the smaller head, with its Merkle root.
        later: the larger head.
        verification: receives a failure if the proof is not valid for these roots.

    Returns:
        True if the proof is valid.
    """
    try:
        proof.verify(earlier.root, later.root)
    except NotVerified as error:
        message = f"The consistency proof from {proof.first} to {proof.second} entries does not hold: {error}."
        verification.add(ClaimOutcome.FAILED, message)
        return False
    return True


def _report_cosignatures(
    bundle: Bundle, origin: str, heads: Sequence[_Head], witnesses: Iterable[CosignerKey], verification: LogVerification
) -> None:
    """Report the largest head of the log that each witness signed.

    If the witness has not signed the largest head of all, that is reported, too.

    Args:
        bundle: the exported parts of the log, with signed heads.
        origin: name of the log.
        heads: sizes and roots of valid checkpoints, by increasing size.
        witnesses: trusted keys of witnesses, other parties that sign heads of the log.
        verification: receives the statements and their outcomes.
    """
    largest_head = heads[-1]
    notes_of_heads = _notes_of_heads(bundle, origin, heads)
    for witness in witnesses:
        has_signed_largest = False
        newest = _newest_cosignature(witness, notes_of_heads, verification)
        if newest is not None:  # the witness signed at least one head
            head, time = newest
            has_signed_largest = head.size >= largest_head.size
            message = f"The witness {witness.name} cosigned {_count(head.size)}{_time_text(time)}."
            verification.add(ClaimOutcome.VERIFIED, message)
        if not has_signed_largest:
            message = f"Whether the witness {witness.name} cosigned {_count(largest_head.size)} is not shown."
            verification.add(ClaimOutcome.NOT_VERIFIED, message)


def _notes_of_heads(bundle: Bundle, origin: str, heads: Sequence[_Head]) -> list[tuple[_Head, Note]]:
    """Return the signed notes of a bundle that contain one of the given heads, each with its head.

    A note may have signatures of witnesses in addition to that of the log.

    Args:
        bundle: the exported parts of the log, with notes of their own and notes in receipts.
        origin: name of the log. Notes of other logs are skipped.
        heads: sizes and Merkle roots of valid checkpoints.

    Returns:
        Pairs (head, note), in the order of the bundle.
    """
    texts = list(bundle.checkpoints) + [receipt.checkpoint for receipt in bundle.receipts]
    notes_of_heads = []
    for text in texts:
        with suppress(NotVerified):  # a text that is no note is left out
            note = notes.parse(text)
            checkpoint = checkpoints.parse(note.text)
            head = _Head(checkpoint.size, checkpoint.root)
            if checkpoint.origin == origin and head in heads:
                notes_of_heads.append((head, note))
    return notes_of_heads


def _newest_cosignature(
    witness: CosignerKey, notes_of_heads: Sequence[tuple[_Head, Note]], verification: LogVerification
) -> tuple[_Head, int] | None:
    """Return the largest head (size and Merkle root) of a log that a witness, another party, signed.

    Args:
        witness: trusted key of the witness.
        notes_of_heads: heads of the log with their signed notes.
        verification: receives a statement for each signature of the witness that is not valid.

    Returns:
        The head, and the latest time of its cosignature in seconds since 1970. None if the witness cosigned no head.
    """
    cosigned = []
    for head, note in notes_of_heads:
        try:
            time = witness.verify(note)
        except NotVerified as error:
            verification.add(ClaimOutcome.FAILED, f"A cosignature does not hold: {error}.")
            continue
        if time is not None:  # the note has a signature of this witness
            cosigned.append((head, time))
    return max(cosigned, default=None)  # the largest head, and the newest signature of it


def _time_text(seconds: int) -> str:
    """Return the time of a cosignature as text, with which a sentence ends.

    Args:
        seconds: time in seconds since 1970.

    Returns:
        For example ` at 2026-01-31 08:30:00 UTC`. After the year 9999 it states the seconds instead of a date.
    """
    try:
        return f" at {datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f" at {seconds} s after 1970"


def _verify_charges(entries: Sequence[Record], replay: Replay | None, verification: LogVerification) -> None:
    """Check that each log entry is a valid change of a ledger, with a large enough privacy cost.

    Without entries, or without the function, the charges are reported as not verified.

    Args:
        entries: entries of the log, from the first on.
        replay: function that checks the entries, and yields a sentence for each ledger.
        verification: receives the statements and their outcomes.
    """
    if replay is None or not entries:
        verification.add(ClaimOutcome.NOT_VERIFIED, UNCOMPUTED)
        return
    try:
        sentences = tuple(replay(entries))
    except EpsilondError as error:
        verification.add(ClaimOutcome.FAILED, f"The entries do not follow from each other: {error}.")
        return
    for sentence in sentences:
        verification.add(ClaimOutcome.VERIFIED, sentence)


def _count(size: int) -> str:
    """Return a number of entries as text, such as "1 entry"."""
    return f"{size} entry" if size == 1 else f"{size} entries"

"""What a bundle shows of a log, verified without the service; what it leaves open; and what no log can show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeAlias

from epsilond.accountants.errors import EpsilondError
from epsilond.ledgers.log import checkpoints, notes, receipts
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import Record, canonical
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.cosignatures import CosignerKey
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import Note
from epsilond.ledgers.log.tree import MemoryNodes, Tree

Replay: TypeAlias = Callable[[Sequence[Record]], Iterable[str]]
"""Plays the entries again from the first on: sentences of what it verified, or an EpsilondError of what fails."""

NOT_SHOWN: Final = (
    "It proves what was written, not that nothing was run without writing.",
    "It proves that these checkpoints are of one log, not that nobody was shown another: compare yours with others'.",
    "Times in entries are what the service said they were.",
    "That the keys are the service's is for you to know: a bundle with keys of its own would prove nothing.",
)


UNCOMPUTED: Final = "The charges were not computed again: whether they are right is not verified."


class ClaimOutcome(StrEnum):
    """Result of the check of a claim.

    Attributes:
        VERIFIED: it holds.
        FAILED: it does not hold.
        NOT_VERIFIED: the evidence leaves it open.
        VOIDED: the runs of the receipt were taken back later.
        CONTRADICTED: an observation contradicts the run, so there is no ε.
    """

    VERIFIED = "verified"
    FAILED = "failed"
    NOT_VERIFIED = "not verified"
    VOIDED = "voided"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class ClaimFinding:
    """One claim, and what became of it."""

    outcome: ClaimOutcome
    sentence: str


@dataclass
class LogVerification:
    """Findings in the order in which they were made, and what verification never shows."""

    findings: list[ClaimFinding] = field(default_factory=list)
    not_shown: tuple[str, ...] = NOT_SHOWN

    @property
    def holds(self) -> bool:
        """True if something was verified and nothing failed. The findings list the open points."""
        outcomes = {each.outcome for each in self.findings}
        return ClaimOutcome.VERIFIED in outcomes and ClaimOutcome.FAILED not in outcomes

    @property
    def complete(self) -> bool:
        """True if everything was verified: nothing failed, and nothing is left open."""
        return self.holds and all(each.outcome != ClaimOutcome.NOT_VERIFIED for each in self.findings)

    def sentences(self) -> list[str]:
        """Return sentences for readers: each finding with its outcome, then the points that are not shown."""
        found = [f"{each.outcome}: {each.sentence}" for each in self.findings]
        return [*found, *(f"not shown: {each}" for each in self.not_shown)]

    def add(self, outcome: ClaimOutcome, sentence: str) -> None:
        """Add a finding."""
        self.findings.append(ClaimFinding(outcome, sentence))


@dataclass(frozen=True, order=True)
class _Head:
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
    """Verify a bundle of the log of this origin.

    A failed check raises no exception: it is a finding.

    Args:
        bundle: the evidence.
        origin: name of the log.
        keys: trusted keys.
        replay: plays the entries of ledgers again; None if they are not to be played.
        witnesses: trusted keys of witnesses. Each must have cosigned the largest head.
    """
    found, trusted = LogVerification(), tuple(keys)
    heads = sorted({_Head(each.size, each.root) for each in _signed(bundle, origin, trusted, found)})
    if not heads:
        found.add(
            ClaimOutcome.NOT_VERIFIED, "There is no checkpoint that holds, so nothing of the entries is verified."
        )
        return found
    _one_root_a_size(heads, found)
    begins = _entries(bundle.entries, heads, found)
    _consistent(bundle, heads, begins, found)
    _report_cosignatures(bundle, origin, heads, witnesses, found)
    if replay is None or bundle.entries or not bundle.receipts:
        _replayed(bundle.entries, replay, found)
    return found


def _signed(bundle: Bundle, origin: str, keys: Sequence[PublicKey], found: LogVerification) -> Iterable[Checkpoint]:
    """Yield the checkpoints with valid signatures, including the checkpoints of receipts."""
    for place, note in enumerate(bundle.checkpoints):
        try:
            checkpoint = checkpoints.verify(note, origin, keys)
        except NotVerified as error:
            found.add(ClaimOutcome.FAILED, f"Checkpoint {place} does not hold: {error}.")
            continue
        found.add(ClaimOutcome.VERIFIED, f"{origin} signed that it has {_count(checkpoint.size)} (checkpoint {place}).")
        yield checkpoint
    for place, receipt in enumerate(bundle.receipts):
        try:
            checkpoint = receipts.verify(receipt, origin, keys)
        except NotVerified as error:
            found.add(ClaimOutcome.FAILED, f"Receipt {place} does not hold: {error}.")
            continue
        index, size = receipt.proof.leaf_index, _count(checkpoint.size)
        found.add(
            ClaimOutcome.VERIFIED, f"The entry of receipt {place} is entry {index} of the log when it had {size}."
        )
        yield checkpoint


def _one_root_a_size(heads: Sequence[_Head], found: LogVerification) -> None:
    roots: dict[int, int] = {}
    for head in heads:
        roots[head.size] = roots.get(head.size, 0) + 1
    for size, several in roots.items():
        if several > 1:
            message = f"{several} roots are signed for the log of {_count(size)}: keep them, they are proof of a fork."
            found.add(ClaimOutcome.FAILED, message)


def _entries(entries: Sequence[Record], heads: Sequence[_Head], found: LogVerification) -> set[_Head]:
    """Return the heads whose content is exactly the entries up to the head's size, recomputed."""
    try:
        tree = Tree(MemoryNodes()).extend(canonical(entry) for entry in entries)
    except NotVerified as error:
        found.add(ClaimOutcome.FAILED, f"An entry has no canonical form: {error}.")
        return set()
    for place, entry in enumerate(entries):
        if entry.get("seq", place) != place:
            found.add(ClaimOutcome.FAILED, f"Entry {place} says that it is entry {entry['seq']} of the log.")
    begins = set()
    for head in heads:
        if head.size > tree.size:
            message = f"A checkpoint has {_count(head.size)}, of which {tree.size} are given: the others are unknown."
            found.add(ClaimOutcome.NOT_VERIFIED, message)
        elif Tree(tree.nodes, head.size).root() == head.root:
            begins.add(head)
            found.add(ClaimOutcome.VERIFIED, f"The first {_count(head.size)} given are all of the log of that size.")
        else:
            message = f"The first {_count(head.size)} given are not those of the checkpoint of that size."
            found.add(ClaimOutcome.FAILED, message)
    if tree.size > heads[-1].size:
        message = (
            f"Of {_count(tree.size)} given, the first {heads[-1].size} are under a checkpoint: the others may change."
        )
        found.add(ClaimOutcome.NOT_VERIFIED, message)
    return begins


def _consistent(bundle: Bundle, heads: Sequence[_Head], begins: set[_Head], found: LogVerification) -> None:
    """Check that each head is the beginning of the next. Then the smaller of any two is the beginning of the larger.

    The next need not be proved from it directly: two beginnings of one tree are beginnings of each other.
    """
    reached: dict[_Head, set[_Head | None]] = {head: {head} for head in heads}  # None: the tree of the given entries
    for head in begins:
        reached[head].add(None)
    steps = list[tuple[_Head, _Head]]()
    for proof in bundle.proofs:
        pairs = [
            (one, other) for one in heads for other in heads if (one.size, other.size) == (proof.first, proof.second)
        ]
        if not pairs:
            message = f"No checkpoints belong to the consistency proof from {proof.first} to {proof.second} entries."
            found.add(ClaimOutcome.NOT_VERIFIED, message)
        for one, other in pairs:
            try:
                proof.verify(one.root, other.root)
            except NotVerified as error:
                message = f"The consistency proof from {proof.first} to {proof.second} entries does not hold: {error}."
                found.add(ClaimOutcome.FAILED, message)
            else:
                steps.append((one, other))
    for one, other in sorted(steps, reverse=True):  # the larger first, whose own steps are then known
        reached[one] |= reached[other]
    for one, other in pairwise(heads):
        if one.size == other.size:
            continue
        if one.size == 0 or reached[one] & reached[other]:
            message = f"The log of {_count(one.size)} is the beginning of the log of {_count(other.size)}."
            found.add(ClaimOutcome.VERIFIED, message)
        else:
            message = f"Whether the log of {_count(one.size)} is the beginning of the log of {other.size} is not shown."
            found.add(ClaimOutcome.NOT_VERIFIED, message)


def _report_cosignatures(
    bundle: Bundle, origin: str, heads: Sequence[_Head], witnesses: Iterable[CosignerKey], found: LogVerification
) -> None:
    """Report the largest head that each witness cosigned. A head that is larger is reported as not cosigned."""
    signed = list[tuple[_Head, Note]]()
    for text in (*bundle.checkpoints, *(receipt.checkpoint for receipt in bundle.receipts)):
        with suppress(NotVerified):  # reported before
            note = notes.parse(text)
            checkpoint = checkpoints.parse(note.text)
            head = _Head(checkpoint.size, checkpoint.root)
            if checkpoint.origin == origin and head in heads:
                signed.append((head, note))
    for witness in witnesses:
        cosigned = list[tuple[_Head, int]]()
        for head, note in signed:
            try:
                time = witness.verify(note)
            except NotVerified as error:
                found.add(ClaimOutcome.FAILED, f"A cosignature does not hold: {error}.")
                continue
            if time is not None:
                cosigned.append((head, time))
        if cosigned:
            head, time = max(cosigned)
            said = _time(time)
            found.add(ClaimOutcome.VERIFIED, f"The witness {witness.name} cosigned {_count(head.size)}{said}.")
        if not cosigned or head.size < heads[-1].size:
            message = f"Whether the witness {witness.name} cosigned {_count(heads[-1].size)} is not shown."
            found.add(ClaimOutcome.NOT_VERIFIED, message)


def _time(seconds: int) -> str:
    """Return the time of a cosignature as words; the year 9999 is the latest that has a name."""
    try:
        return f" at {datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f" at {seconds} s after 1970"


def _replayed(entries: Sequence[Record], replay: Replay | None, found: LogVerification) -> None:
    if replay is None or not entries:
        found.add(ClaimOutcome.NOT_VERIFIED, UNCOMPUTED)
        return
    try:
        said = tuple(replay(entries))
    except EpsilondError as error:
        found.add(ClaimOutcome.FAILED, f"The entries do not follow from each other: {error}.")
        return
    for sentence in said:
        found.add(ClaimOutcome.VERIFIED, sentence)


def _count(size: int) -> str:
    return f"{size} entry" if size == 1 else f"{size} entries"

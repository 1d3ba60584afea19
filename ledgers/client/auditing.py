"""Evidence of a log that somebody holds, verified without whoever keeps it, charges computed again included."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.ledgers.book.contradictions import mark_commit
from epsilond.ledgers.client.local import FilePlace, file_place
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.bundles import FORMAT, Bundle
from epsilond.ledgers.log.canonical import Record, read
from epsilond.ledgers.log.checkpoints import parse as parse_checkpoint
from epsilond.ledgers.log.cosignatures import CosignerKey
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.key_files import PUBLISHED
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import parse as parse_note
from epsilond.ledgers.log.proofs import WARNINGS
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import published_keys
from epsilond.ledgers.log.verify import UNCOMPUTED, ClaimOutcome, LogVerification, verify
from epsilond.ledgers.mathematics.amounts import ZERO
from epsilond.ledgers.mathematics.entries import amounts, observations_of
from epsilond.ledgers.mathematics.replay import DoesNotReplay, balances, replay_entries
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.pages.page import checkpoint_of, is_page
from epsilond.ledgers.store.names import normalise
from epsilond.ledgers.store.specs import spec_of, text_of

SQLITE: Final = b"SQLite format 3\x00"
_RECEIPT: Final = {"entry", "proof", "checkpoint", "signature"}


def audited(
    evidence: Path,
    keys: Path,
    checkpoints: Sequence[Path] = (),
    *,
    log: Path | None = None,
    witnesses: Sequence[str] = (),
) -> LogVerification:
    """Verify a bundle, a receipt or a file of ledgers against trusted keys and old checkpoints.

    Args:
        evidence: file of the bundle, the receipt or the ledgers.
        keys: file or folder of the trusted keys.
        checkpoints: files with trusted old checkpoints.
        log: bundle or receipts of entries that show whether the runs of a receipt were voided later.
        witnesses: vkeys of trusted witnesses. Each must have cosigned the largest head.

    Raises:
        InvalidInput: a file cannot be read, or is of another kind.
    """
    trusted, cosigners = trusted_keys(keys), [_cosigner(vkey) for vkey in witnesses]
    with_file = _is_database(evidence)
    place = file_place(evidence, _runs(evidence)) if with_file else None
    try:
        try:
            bundle = _bundle(evidence) if place is None else _of_file(place, evidence)
        except NotVerified as error:
            if place is None:
                raise InvalidInput.at("/bundle", str(error)) from None
            found = LogVerification()
            found.add(ClaimOutcome.FAILED, f"An entry of the file is none: {error}.")
            return found
        own = bundle.receipts
        if log is not None:
            bundle = _with_log(bundle, log)
        old = [note for path in checkpoints for note in _notes(path)]
        found = verify(
            replace(bundle, checkpoints=[*bundle.checkpoints, *old]),
            origin=trusted[0].name,
            keys=trusted,
            replay=replay,
            witnesses=cosigners,
        )
        _receipts_replayed(bundle, found)
        _voided(own, bundle, found)
        _check_contradictions(own, bundle, found)
        if place is not None:
            _balances_compared(place, bundle.entries, found)
        return found
    finally:
        if place is not None:
            place.close()


def replay(entries: Iterable[Record]) -> Iterator[str]:
    """Play every ledger's entries again from its opening. Yield a sentence for each ledger whose charges all suffice.

    Raises:
        DoesNotReplay: an entry is no legal move, or a block has two ledgers, by names as the service compares them.
    """
    blocks: dict[tuple[object, str], dict[str, str]] = {}
    for name, own in by_ledger(entries).items():
        state = _played(name, own)
        opened = own[0]
        data_set = opened.get("tenant"), normalise(str(opened.get("dataset", "")))
        block = normalise(str(opened.get("block") or ""))
        of_data_set = blocks.setdefault(data_set, {})
        for earlier, ledger in of_data_set.items():
            if earlier == block or "" in (earlier, block):
                raise DoesNotReplay(f"the block of {name} has another ledger, {ledger}")
        of_data_set[block] = name
        yield _sentence(name, opened, state, len(own))


def by_ledger(entries: Iterable[Record]) -> dict[str, list[Record]]:
    """Entries by the ledger they are of, in their order."""
    found: dict[str, list[Record]] = {}
    for entry in entries:
        if isinstance(entry.get("ledger"), str):
            found.setdefault(entry["ledger"], []).append(entry)
    return found


def trusted_keys(path: Path) -> tuple[PublicKey, ...]:
    """Read the keys of a published document, or of a folder that contains a published document.

    Raises:
        InvalidInput: there is no such document.
    """
    file = path / PUBLISHED if path.is_dir() else path
    try:
        return tuple(each.key for each in published_keys(read(_content(file, "/keys"))))
    except Malformed as error:
        raise InvalidInput.at("/keys", f"{file}: {error}") from None


def _cosigner(vkey: str) -> CosignerKey:
    """Return the key of a witness.

    Raises:
        InvalidInput: the text is no vkey of a witness.
    """
    try:
        return CosignerKey.of_vkey(vkey)
    except Malformed as error:
        raise InvalidInput.at("/witness", str(error)) from None


def _played(name: str, own: Sequence[Record]) -> LedgerState:
    try:
        return replay_entries(own, spec_of, text_of)
    except DoesNotReplay as error:
        raise DoesNotReplay(f"ledger {name}: {error}") from error


def _sentence(name: str, opened: Record, state: LedgerState, count: int) -> str:
    called = opened.get("name", name)
    computed = (
        f"Ledger {called} ({name}): its opening and the charges of all its {count} entries were computed again and"
        " suffice"
    )
    if state.observations:
        return f"{computed}. It is contradicted, so there is no ε of what was released."
    target, conditional = state.target, " It is conditional on what was declared." if state.conditional else ""
    bound = f"within ε = {target.epsilon:g} at log δ = {target.log_delta:.6g}"
    return f"{computed}; all that it allows is {bound}.{conditional}"


def _receipts_replayed(bundle: Bundle, found: LogVerification) -> None:
    """Play the entries of receipts again, as a service gives no other entries. Report the points that stay open."""
    if bundle.entries or not bundle.receipts:
        return
    entries = sorted((each.entry for each in bundle.receipts), key=lambda entry: int(entry.get("seq", 0)))
    unlike = {json.dumps(entry, sort_keys=True): entry for entry in entries}
    by_name = by_ledger(unlike.values())
    whole = {name: own for name, own in by_name.items() if own[0].get("kind") == "opened"}
    if len(whole) < len(by_name) or not by_name:
        found.add(ClaimOutcome.NOT_VERIFIED, UNCOMPUTED)
    if not whole:
        return
    try:
        for sentence in replay(entry for own in whole.values() for entry in own):
            found.add(ClaimOutcome.VERIFIED, sentence)
    except EpsilondError as error:
        found.add(ClaimOutcome.FAILED, f"The entries of the receipts do not follow from each other: {error}.")
    found.add(ClaimOutcome.NOT_VERIFIED, "Whether the log has more entries of these ledgers, receipts cannot show.")


def _with_log(bundle: Bundle, path: Path) -> Bundle:
    try:
        more = _bundle(path, "/log")
    except NotVerified as error:
        raise InvalidInput.at("/log", str(error)) from None
    if bundle.entries and more.entries:
        raise InvalidInput.at("/log", "is for receipts: the entries of a log are given already")
    return Bundle(
        entries=bundle.entries or more.entries,
        checkpoints=[*bundle.checkpoints, *more.checkpoints],
        receipts=[*bundle.receipts, *more.receipts],
        proofs=[*bundle.proofs, *more.proofs],
    )


def _voided(own: Sequence[Receipt], bundle: Bundle, found: LogVerification) -> None:
    """Marks receipts of commits whose runs were taken back: nobody may run anything on them, nor show them for a run.

    Where the receipt of the void itself was given beside them, as in an export of a ledger, that is said and no fault.
    """
    voids = {
        (entry.get("ledger"), entry.get("reservation")): entry.get("seq")
        for entry in (*bundle.entries, *(each.entry for each in bundle.receipts))
        if entry.get("kind") == "voided"
    }
    shown = bool(bundle.entries) or any(each.entry.get("kind") == "opened" for each in bundle.receipts)
    commits = [(place, each.entry) for place, each in enumerate(own) if each.entry.get("kind") == "committed"]
    for place, entry in commits:
        void = voids.get((entry.get("ledger"), entry.get("reservation")))
        if void is not None:
            told = any(each.entry.get("seq") == void for each in own)
            outcome = ClaimOutcome.VOIDED if told else ClaimOutcome.FAILED
            message = f"Receipt {place} is good for nothing: runs of its reservation were voided by entry {void}."
            found.add(outcome, message)
    if commits and not shown:
        message = "Whether runs of a receipt were voided or contradicted later is not shown: give the log."
        found.add(ClaimOutcome.NOT_VERIFIED, message)


def _check_contradictions(own: Sequence[Receipt], bundle: Bundle, found: LogVerification) -> None:
    """Report contradicted ledgers with their observations, and mark the receipts of contradicted runs.

    A receipt fails unless the contradiction itself is among the receipts, as in an export of a ledger.
    """
    log_entries = [*bundle.entries, *(receipt.entry for receipt in bundle.receipts)]
    entries = {str(entry.get("seq")): entry for entry in log_entries if entry.get("kind") == "contradicted"}
    for seq, entry in entries.items():
        try:
            observations = " ".join(map(str, observations_of(entry)))
            list(entry.get("reservations", ()))
        except (EpsilondError, KeyError, TypeError):
            found.add(ClaimOutcome.FAILED, f"Entry {seq} is of the kind of a contradiction, and is none.")
            return
        found.add(ClaimOutcome.CONTRADICTED, f"Ledger {entry.get('ledger')}, by entry {seq}: {observations}")
    by_ledgers = by_ledger(entries.values())
    for place, receipt in enumerate(own):
        commit = receipt.entry
        contradictions = by_ledgers.get(str(commit.get("ledger")), ())
        if mark_commit(dict(commit), contradictions) == commit:
            continue
        shown = any(each.entry in contradictions for each in own)
        outcome = ClaimOutcome.CONTRADICTED if shown else ClaimOutcome.FAILED
        message = f"Receipt {place} is of a run that differs from its record: there is no ε of what was released."
        found.add(outcome, message)


def _balances_compared(place: FilePlace, entries: Sequence[Record], found: LogVerification) -> None:
    """Check that the file's balances and contradicted ledgers are those that the entries give."""
    for name, own in by_ledger(entries).items():
        try:
            state = replay_entries(own, spec_of, text_of)
            wanted = balances(state)
        except EpsilondError:
            continue  # a finding already
        told = place.ledger(name)
        slots = {slot["kind"]: {"used": slot["used"], "reserved": slot["reserved"]} for slot in told["slots"]}
        expected = {
            kind: {part: amounts({**dict.fromkeys(slots[kind][part], ZERO), **held}) for part, held in each.items()}
            for kind, each in wanted["slots"].items()
        }
        plan = {
            item["name"]: {part: item[part] for part in ("reserved", "committed", "credit")} for item in told["plan"]
        }
        same = slots == expected and plan == wanted["plan"]
        same = same and (told["state"] == "contradicted") == (state.status == "contradicted")
        same = same and told["approval"] == state.approval
        outcome, verb = (ClaimOutcome.VERIFIED, "are") if same else (ClaimOutcome.FAILED, "are not")
        found.add(outcome, f"The balances of ledger {told['name']} in the file {verb} those that its entries give.")


def _of_file(place: FilePlace, path: Path) -> Bundle:
    bundle = place.bundle_as_it_is()
    head = _runs(path).head
    return replace(bundle, checkpoints=[*bundle.checkpoints, *(_notes(head) if head.exists() else ())])


def _runs(path: Path) -> RunNotes:
    return RunNotes(path.with_name(f"{path.name}.runs"))


def _is_database(path: Path) -> bool:
    if _content(path, "/bundle", len(SQLITE)) != SQLITE:
        return False
    if not path.with_name(f"{path.name}.keys").is_dir():
        raise InvalidInput.at("/bundle", "is a file of ledgers without its keys beside it: export a bundle of it")
    return True


def _bundle(path: Path, pointer: str = "/bundle") -> Bundle:
    text = _content(path, pointer)
    record = read(text)
    if record.keys() - {WARNINGS} == _RECEIPT:
        return Bundle(receipts=[Receipt.of_record(record)])
    if record.get("format") != FORMAT:
        raise Malformed("is neither a bundle, nor a receipt, nor a file of ledgers")
    return Bundle.of_bytes(text)


def _notes(path: Path) -> list[str]:
    """Checkpoints from a note, a receipt, a bundle or a ledger's page."""
    text = _content(path, "/checkpoint")
    try:
        if not text.lstrip().startswith(b"{"):
            plain = text.decode("utf-8", "replace")
            return [checkpoint_of(plain) if is_page(plain) else plain]
        bundle = _bundle(path)
    except NotVerified as error:
        raise InvalidInput.at("/checkpoint", str(error)) from None
    return [*bundle.checkpoints, *(each.checkpoint for each in bundle.receipts)]


def newest(path: Path) -> str:
    """Return the largest checkpoint of a note, a receipt or a bundle, without verifying it.

    Raises:
        InvalidInput: the file cannot be read, or has no checkpoint.
    """
    try:
        return max(_notes(path), key=lambda note: parse_checkpoint(parse_note(note).text).size)
    except (NotVerified, ValueError):
        raise InvalidInput.at("/checkpoint", "has no checkpoint") from None


def _content(path: Path, pointer: str, size: int = -1) -> bytes:
    try:
        with path.open("rb") as opened:
            return opened.read(size)
    except OSError as error:
        raise InvalidInput.at(pointer, f"cannot be read: {path}: {error.strerror}") from None

"""Audits of a log's evidence without its keeper; all charges are computed again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.ledgers.book.contradictions import mark_commit
from epsilond.ledgers.client.local import FilePlace, file_place
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.bundles import FORMAT, Bundle
from epsilond.ledgers.log.canonical import Record, read_json
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
        checkpoints: files with old signed heads of the log that the verifier kept. The log must continue them.
        log: bundle or receipts of entries that show whether the runs of a receipt were voided later.
        witnesses: vkeys of trusted witnesses. Each must have cosigned the largest head.

    Raises:
        InvalidInput: a file cannot be read, or is of another kind.
    """
    trusted = trusted_keys(keys)
    cosigners = [_cosigner(vkey) for vkey in witnesses]
    if not _is_database(evidence):
        try:
            bundle = _bundle(evidence)
        except NotVerified as error:
            raise InvalidInput.at("/bundle", str(error)) from None
        _, verification = _verify_bundle(bundle, trusted, checkpoints, log, cosigners)
        return verification
    place = file_place(evidence, _runs(evidence))
    try:
        try:
            bundle = _of_file(place, evidence)
        except NotVerified as error:
            verification = LogVerification()
            verification.add(ClaimOutcome.FAILED, f"An entry of the file is none: {error}.")
            return verification
        complete, verification = _verify_bundle(bundle, trusted, checkpoints, log, cosigners)
        _compare_balances(place, complete.entries, verification)
        return verification
    finally:
        place.close()


def _verify_bundle(
    bundle: Bundle,
    trusted: Sequence[PublicKey],
    checkpoints: Sequence[Path],
    log: Path | None,
    cosigners: Sequence[CosignerKey],
) -> tuple[Bundle, LogVerification]:
    """Verify a bundle together with old checkpoints and the evidence of another file.

    Args:
        bundle: the evidence.
        trusted: trusted keys of the log, at least one.
        checkpoints: files with trusted old checkpoints.
        log: file with entries that show whether the runs of a receipt were voided later, if there is one.
        cosigners: trusted keys of witnesses.

    Returns:
        The bundle with the evidence of `log`, and the findings.
    """
    complete = bundle if log is None else _with_log(bundle, log)
    old = [note for path in checkpoints for note in _notes(path)]
    verification = verify(
        replace(complete, checkpoints=[*complete.checkpoints, *old]),
        origin=trusted[0].name,
        keys=trusted,
        replay=replay,
        witnesses=cosigners,
    )
    _replay_receipts(complete, verification)
    _check_voids(bundle.receipts, complete, verification)
    _check_contradictions(bundle.receipts, complete, verification)
    return complete, verification


def replay(entries: Iterable[Record]) -> Iterator[str]:
    """Compute all charges of each ledger again from its entries. Yield a sentence for each ledger without errors.

    Raises:
        DoesNotReplay: an entry is not a valid move, or two ledgers cover one block under equal or similar names.
    """
    blocks: dict[tuple[object, str], dict[str, str]] = {}
    for name, own in by_ledger(entries).items():
        state = _replay_ledger(name, own)
        opening = own[0]
        data_set = opening.get("tenant"), normalise(str(opening.get("dataset", "")))
        block = normalise(str(opening.get("block") or ""))
        of_data_set = blocks.setdefault(data_set, {})
        for earlier, ledger in of_data_set.items():
            if earlier == block or "" in (earlier, block):
                raise DoesNotReplay(f"the block of {name} has another ledger, {ledger}")
        of_data_set[block] = name
        yield _sentence(name, opening, state, len(own))


def by_ledger(entries: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the entries of each ledger, in their order."""
    groups: dict[str, list[Record]] = {}
    for entry in entries:
        if isinstance(entry.get("ledger"), str):
            groups.setdefault(entry["ledger"], []).append(entry)
    return groups


def trusted_keys(path: Path) -> tuple[PublicKey, ...]:
    """Read the keys of a published document, or of a folder that contains a published document.

    Raises:
        InvalidInput: there is no such document.
    """
    file = path / PUBLISHED if path.is_dir() else path
    try:
        return tuple(published.key for published in published_keys(read_json(_content(file, "/keys"))))
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


def _replay_ledger(name: str, own: Sequence[Record]) -> LedgerState:
    """Return the state after all entries of a ledger, with all charges computed again."""
    try:
        return replay_entries(own, spec_of, text_of)
    except DoesNotReplay as error:
        raise DoesNotReplay(f"ledger {name}: {error}") from error


def _sentence(name: str, opening: Record, state: LedgerState, count: int) -> str:
    """Return a sentence about a ledger whose charges were all computed again, with its guarantee if it has one."""
    label = opening.get("name", name)
    computed = (
        f"Ledger {label} ({name}): its opening and the charges of all its {count} entries were computed again and"
        " suffice"
    )
    if state.observations:
        return f"{computed}. It is contradicted, so no ε holds for the releases."
    target, conditional = state.target, " It is conditional on the declarations." if state.conditional else ""
    bound = f"within ε = {target.epsilon:g} at log δ = {target.log_delta:.6g}"
    return f"{computed}; all that it allows is {bound}.{conditional}"


def _replay_receipts(bundle: Bundle, verification: LogVerification) -> None:
    """Compute the charges in receipts again if there are no other entries, and report the points that stay open."""
    if bundle.entries or not bundle.receipts:
        return
    entries = sorted((receipt.entry for receipt in bundle.receipts), key=lambda entry: int(entry.get("seq", 0)))
    distinct = {json.dumps(entry, sort_keys=True): entry for entry in entries}
    by_name = by_ledger(distinct.values())
    from_opening = [own for own in by_name.values() if own[0].get("kind") == "opened"]
    if len(from_opening) < len(by_name) or not by_name:
        verification.add(ClaimOutcome.NOT_VERIFIED, UNCOMPUTED)
    if not from_opening:
        return
    try:
        for sentence in replay(chain.from_iterable(from_opening)):
            verification.add(ClaimOutcome.VERIFIED, sentence)
    except EpsilondError as error:
        message = f"The entries of the receipts do not follow from each other: {error}."
        verification.add(ClaimOutcome.FAILED, message)
    message = "Whether the log has more entries of these ledgers, receipts cannot show."
    verification.add(ClaimOutcome.NOT_VERIFIED, message)


def _with_log(bundle: Bundle, path: Path) -> Bundle:
    """Return the bundle together with the evidence in the file of the option `log`. Only one may have entries."""
    try:
        evidence = _bundle(path, "/log")
    except NotVerified as error:
        raise InvalidInput.at("/log", str(error)) from None
    if bundle.entries and evidence.entries:
        raise InvalidInput.at("/log", "is for receipts: the entries of a log are given already")
    return Bundle(
        entries=bundle.entries or evidence.entries,
        checkpoints=[*bundle.checkpoints, *evidence.checkpoints],
        receipts=[*bundle.receipts, *evidence.receipts],
        proofs=[*bundle.proofs, *evidence.proofs],
    )


def _entries_of(bundle: Bundle) -> list[Record]:
    """Return the entries of a bundle, and those of its receipts."""
    return list(bundle.entries) + [receipt.entry for receipt in bundle.receipts]


def _check_voids(own: Sequence[Receipt], bundle: Bundle, verification: LogVerification) -> None:
    """Report receipts of commits whose runs were later declared void, so that they are valid for no run.

    Such a receipt is a failure, unless the receipt of the void is among the receipts, as in an export of a ledger.
    """
    log_entries = _entries_of(bundle)
    voids = {
        (entry.get("ledger"), entry.get("reservation")): entry.get("seq")
        for entry in log_entries
        if entry.get("kind") == "voided"
    }
    own_numbers = {receipt.entry.get("seq") for receipt in own}
    commits = [(place, receipt.entry) for place, receipt in enumerate(own) if receipt.entry.get("kind") == "committed"]
    for place, entry in commits:
        void = voids.get((entry.get("ledger"), entry.get("reservation")))
        if void is not None:
            outcome = ClaimOutcome.VOIDED if void in own_numbers else ClaimOutcome.FAILED
            message = f"Receipt {place} is good for nothing: runs of its reservation were voided by entry {void}."
            verification.add(outcome, message)
    has_log = bool(bundle.entries) or any(receipt.entry.get("kind") == "opened" for receipt in bundle.receipts)
    if commits and not has_log:
        message = "Whether runs of a receipt were voided or contradicted later is not shown: give the log."
        verification.add(ClaimOutcome.NOT_VERIFIED, message)


def _check_contradictions(own: Sequence[Receipt], bundle: Bundle, verification: LogVerification) -> None:
    """Report observations which show that runs differed from their reserved mechanisms, and receipts of such runs.

    Such a receipt is a failure, unless the entry with the observation is among the receipts, as in an export.
    """
    entries = {str(entry.get("seq")): entry for entry in _entries_of(bundle) if entry.get("kind") == "contradicted"}
    for seq, entry in entries.items():
        try:
            observations = " ".join(map(str, observations_of(entry)))
            list(entry.get("reservations", ()))
        except (EpsilondError, KeyError, TypeError):
            verification.add(ClaimOutcome.FAILED, f"Entry {seq} is of the kind of a contradiction, and is none.")
            return
        verification.add(ClaimOutcome.CONTRADICTED, f"Ledger {entry.get('ledger')}, by entry {seq}: {observations}")
    by_ledgers = by_ledger(entries.values())
    for place, receipt in enumerate(own):
        commit = receipt.entry
        contradictions = by_ledgers.get(str(commit.get("ledger")), ())
        if mark_commit(dict(commit), contradictions) == commit:
            continue
        shown = any(own_receipt.entry in contradictions for own_receipt in own)
        outcome = ClaimOutcome.CONTRADICTED if shown else ClaimOutcome.FAILED
        message = f"Receipt {place} is of a run that differs from its record: no ε holds for the releases."
        verification.add(outcome, message)


def _compare_balances(place: FilePlace, entries: Sequence[Record], verification: LogVerification) -> None:
    """Report for each ledger in a file whether its balances and its state agree with the log's entries.

    Args:
        place: the file of ledgers.
        entries: entries of the log.
        verification: receives a finding for each ledger. A ledger with entries that cannot be replayed gets none here,
            because the replay reports it.
    """
    for name, own in by_ledger(entries).items():
        try:
            state = replay_entries(own, spec_of, text_of)
        except EpsilondError:
            continue
        stored = place.ledger(name)
        has_status = (stored["state"] == "contradicted") == (state.status == "contradicted")
        has_approval = stored["approval"] == state.approval
        is_same = _has_balances(stored, state) and has_status and has_approval
        outcome = ClaimOutcome.VERIFIED if is_same else ClaimOutcome.FAILED
        verb = "are" if is_same else "are not"
        message = f"The balances of ledger {stored['name']} in the file {verb} those that its entries give."
        verification.add(outcome, message)


def _has_balances(stored: JsonObject, state: LedgerState) -> bool:
    """Return whether a ledger in the file has the amounts and runs of the state that its entries give."""
    expected = balances(state)
    plan = {}
    for item in stored["plan"]:
        plan[item["name"]] = {column: item[column] for column in ("reserved", "committed", "credit")}
    if plan != expected["plan"] or {slot["kind"] for slot in stored["slots"]} != expected["slots"].keys():
        return False
    for slot in stored["slots"]:
        for column in ("used", "reserved"):
            amounts_of_state = amounts(expected["slots"][slot["kind"]][column])
            if slot[column] != {**dict.fromkeys(slot[column], "0"), **amounts_of_state}:
                return False
    return True


def _of_file(place: FilePlace, path: Path) -> Bundle:
    """Return all log entries in a file of ledgers, with the signed head that is stored next to the file."""
    bundle = place.bundle_as_it_is()
    head = _runs(path).head
    if not head.exists():
        return bundle
    return replace(bundle, checkpoints=[*bundle.checkpoints, *_notes(head)])


def _runs(path: Path) -> RunNotes:
    """Return the notes next to a file."""
    return RunNotes(path.with_name(f"{path.name}.runs"))


def _is_database(path: Path) -> bool:
    """Return whether a path is a file of ledgers.

    Raises:
        InvalidInput: it is one without its keys next to it, or cannot be read.
    """
    if _content(path, "/bundle", len(SQLITE)) != SQLITE:
        return False
    if not path.with_name(f"{path.name}.keys").is_dir():
        raise InvalidInput.at("/bundle", "is a file of ledgers without its keys beside it: export a bundle of it")
    return True


def _bundle(path: Path, pointer: str = "/bundle") -> Bundle:
    """Return the evidence in a file: a bundle or one receipt."""
    text = _content(path, pointer)
    record = read_json(text)
    if record.keys() - {WARNINGS} == _RECEIPT:
        return Bundle(receipts=[Receipt.of_record(record)])
    if record.get("format") != FORMAT:
        raise Malformed("is neither a bundle, nor a receipt, nor a file of ledgers")
    return Bundle.of_bytes(text)


def _notes(path: Path) -> list[str]:
    """Return the checkpoints of a note, a receipt, a bundle or a ledger's page."""
    text = _content(path, "/checkpoint")
    try:
        if not text.lstrip().startswith(b"{"):
            plain = text.decode("utf-8", "replace")
            return [checkpoint_of(plain) if is_page(plain) else plain]
        bundle = _bundle(path)
    except NotVerified as error:
        raise InvalidInput.at("/checkpoint", str(error)) from None
    return list(bundle.checkpoints) + [receipt.checkpoint for receipt in bundle.receipts]


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
    """Return the first `size` bytes of a file; by default all. Errors name the option at `pointer`."""
    try:
        with path.open("rb") as opened:
            return opened.read(size)
    except OSError as error:
        raise InvalidInput.at(pointer, f"cannot be read: {path}: {error.strerror}") from None

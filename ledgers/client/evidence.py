"""Files with evidence about a log: trusted keys, bundles, receipts, old checkpoints, and files of ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.bundles import FORMAT, Bundle
from epsilond.ledgers.log.canonical import read_json
from epsilond.ledgers.log.checkpoints import parse as parse_checkpoint
from epsilond.ledgers.log.cosignatures import CosignerKey
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.key_files import PUBLISHED
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import parse as parse_note
from epsilond.ledgers.log.proofs import WARNINGS
from epsilond.ledgers.log.receipts import MEMBERS, Receipt
from epsilond.ledgers.log.signing import published_keys
from epsilond.ledgers.pages.page import checkpoint_of, is_page

_SQLITE_HEADER: Final = b"SQLite format 3\x00"
"""First bytes of every SQLite file."""


def trusted_keys(path: Path) -> tuple[PublicKey, ...]:
    """Read trusted public keys from a file of published keys, or from a folder that contains this file.

    The keys verify the signatures of a log of ledgers. The file must come from a source that the caller trusts.

    Args:
        path: the file (JSON), or the folder.

    Returns:
        The public keys in the order of the file; at least one.

    Raises:
        InvalidInput: the file cannot be read, or is not a document of published keys.
    """
    file = path / PUBLISHED if path.is_dir() else path
    text = _read_bytes(file, "/keys")
    try:
        published = published_keys(read_json(text))
    except Malformed as error:
        raise InvalidInput.at("/keys", f"{file}: {error}") from None
    return tuple(published_key.key for published_key in published)


def cosigner_key(vkey: str) -> CosignerKey:
    """Read the public key of a witness from its text `name+id+key`, called vkey in the format of signed notes.

    A witness is another party that signs the heads of a log (size and Merkle root), if they belong to one growing log.

    Args:
        vkey: the text.

    Returns:
        The public key of the witness.

    Raises:
        InvalidInput: the text is not a vkey of a witness.
    """
    try:
        return CosignerKey.of_vkey(vkey)
    except Malformed as error:
        raise InvalidInput.at("/witness", str(error)) from None


def is_ledger_file(path: Path) -> bool:
    """Return whether a file contains ledgers, that is, whether it is an SQLite database with keys next to it.

    Args:
        path: file of evidence, which may also be a receipt or an exported bundle.

    Returns:
        True for an SQLite database; False for any other content.

    Raises:
        InvalidInput: the file cannot be read, or is a database without the folder of its keys next to it.
    """
    if _read_bytes(path, "/bundle", len(_SQLITE_HEADER)) != _SQLITE_HEADER:
        return False
    if not path.with_name(f"{path.name}.keys").is_dir():
        raise InvalidInput.at("/bundle", "is a file of ledgers without its keys beside it: export a bundle of it")
    return True


def notes_of_file(path: Path) -> RunNotes:
    """Return the record of used receipts (proofs of commits), which is in a folder next to a file of ledgers.

    Args:
        path: path of the file. The folder has the same name with the suffix `.runs`.

    Returns:
        The record. Its folder need not exist yet.
    """
    return RunNotes(path.with_name(f"{path.name}.runs"))


def read_evidence(path: Path, pointer: str) -> Bundle:
    """Read a file that contains a bundle or a single receipt. Nothing in it is verified.

    A bundle has entries, signed heads (size and Merkle root), receipts and proofs of a log. A receipt is evidence that
    one commit is in the log.

    Args:
        path: path of the file.
        pointer: JSON pointer of the option that names the file, for errors.

    Returns:
        The bundle. A single receipt is returned as a bundle with only this receipt.

    Raises:
        InvalidInput: the file cannot be read, or has another content.
    """
    text = _read_bytes(path, pointer)
    try:
        record = read_json(text)
        if record.keys() - {WARNINGS} == MEMBERS:
            return Bundle(receipts=[Receipt.of_record(record)])
        if record.get("format") != FORMAT:
            raise Malformed("is neither a bundle, nor a receipt, nor a file of ledgers")
        return Bundle.of_bytes(text)
    except NotVerified as error:
        raise InvalidInput.at(pointer, str(error)) from None


def read_checkpoints(path: Path) -> list[str]:
    """Read the signed notes of all checkpoints in a file. None of them is verified.

    The file may be a signed note, a receipt, a bundle or the page of a ledger's report.

    Args:
        path: file that contains signed heads of a log (size and Merkle root), which are called checkpoints.

    Returns:
        The text of each signed note. The list is empty if a bundle has none.

    Raises:
        InvalidInput: the file cannot be read, or has another content.
    """
    text = _read_bytes(path, "/checkpoint")
    # A bundle and a receipt are JSON, a signed note is plain text, and a page is HTML that contains a note.
    if text.lstrip().startswith(b"{"):
        bundle = read_evidence(path, "/checkpoint")
        return list(bundle.checkpoints) + [receipt.checkpoint for receipt in bundle.receipts]
    note_or_page = text.decode("utf-8", "replace")
    if not is_page(note_or_page):
        return [note_or_page]
    try:
        return [checkpoint_of(note_or_page)]
    except NotVerified as error:
        raise InvalidInput.at("/checkpoint", str(error)) from None


def newest(path: Path) -> str:
    """Return the signed note with the largest head of a log in a file, without verifying it.

    A head is the log's size and Merkle root at some time. The file is a note, a receipt, a bundle or the page of a
    report.

    Args:
        path: the file.

    Returns:
        The text of the signed note.

    Raises:
        InvalidInput: the file cannot be read, or has no checkpoint.
    """
    checkpoints = read_checkpoints(path)
    try:
        return max(checkpoints, key=_size_of)
    except (NotVerified, ValueError):  # ValueError if there are none
        raise InvalidInput.at("/checkpoint", "has no checkpoint") from None


def _size_of(note: str) -> int:
    """Return the number of entries that a signed head of a log states. Its signature is not verified.

    Args:
        note: text of the signed note.

    Raises:
        Malformed: the text is not a signed note with the head of a log.
    """
    checkpoint = parse_checkpoint(parse_note(note).text)
    return checkpoint.size


def _read_bytes(path: Path, pointer: str, size: int = -1) -> bytes:
    """Return the first bytes of a file, by default all of them.

    Args:
        path: path of the file.
        pointer: JSON pointer to the option that names the file, for the error.
        size: largest number of bytes; −1 for all.

    Raises:
        InvalidInput: the file cannot be read.
    """
    try:
        with path.open("rb") as opened:
            return opened.read(size)
    except OSError as error:
        raise InvalidInput.at(pointer, f"cannot be read: {path}: {error.strerror}") from None

"""Signed notes (c2sp.org/signed-note): a text that people can read, an empty line, and a line for each signature.

Signatures of keys that the verifier does not have are ignored, so that keys can be exchanged and others can cosign; one
that is claimed by a key that it has and does not verify condemns the whole note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey, is_key_name

MOST_SIGNATURES: Final = 100
LONGEST: Final = 1_000_000
"""Characters of a note."""
_ID_BYTES: Final = 4
_DASH: Final = "\N{EM DASH} "


@dataclass(frozen=True)
class NoteSignature:
    """A line of a note: who is said to have signed, and what; nothing of it is verified."""

    name: str
    note_id: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"{_DASH}{self.name} {to_base64(self.note_id + self.signature)}\n"


@dataclass(frozen=True)
class Note:
    """A text, which ends in a newline, and signatures of which none is verified."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        return "\n".join((self.text, "".join(map(str, self.signatures))))

    def verify(self, keys: Iterable[PublicKey]) -> tuple[PublicKey, ...]:
        """Which of these keys signed it, at least one.

        Raises:
            NotVerified: none of them did, or a signature that names one of them is not that key's.
        """
        known = {(key.name, key.note_id): key for key in keys}
        signers = dict[PublicKey, None]()
        for each in self.signatures:
            key = known.get((each.name, each.note_id))
            if key is not None:
                key.verify(self.text.encode(), each.signature)
                signers[key] = None
        if not signers:
            raise NotVerified("no key that is known signed the note")
        return tuple(signers)


def sign(text: str, *keys: SigningKey) -> Note:
    """The note of this text, signed with each of these keys, one or more.

    Raises:
        Malformed: the text does not end in a newline, holds other control characters, or is too long.
    """
    _check(text)
    message = text.encode()
    note = Note(text, tuple(NoteSignature(key.name, key.public.note_id, key.sign(message)) for key in keys))
    if parse(str(note)) != note:
        raise Malformed("the text of the note cannot be read back")
    return note


def parse(whole: str) -> Note:
    """A note as it is written, nothing of it verified.

    Raises:
        Malformed: it is no note.
    """
    _check(whole)
    text, gap, lines = whole.rpartition("\n\n")
    if not gap or not lines.endswith("\n"):
        raise Malformed("the note has no signatures after an empty line")
    signed = lines[:-1].split("\n")
    if len(signed) > MOST_SIGNATURES:
        raise Malformed(f"the note has more than {MOST_SIGNATURES} signatures")
    return Note(text + "\n", tuple(map(_signature, signed)))


def _check(whole: str) -> None:
    if len(whole) > LONGEST:
        raise Malformed("the note is too long")
    if any((each < " " and each != "\n") or "\ud800" <= each <= "\udfff" for each in whole):
        raise Malformed("the note holds control characters, or cannot be written in UTF-8")


def _signature(line: str) -> NoteSignature:
    name, _, told = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not is_key_name(name):
        raise Malformed("a line of the note's signatures is none")
    try:
        data = from_base64(told)
    except Malformed as error:
        raise Malformed(f"the signature of {name} {error}") from None
    if len(data) <= _ID_BYTES:
        raise Malformed(f"the signature of {name} is too short")
    return NoteSignature(name, data[:_ID_BYTES], data[_ID_BYTES:])

"""Signed notes (c2sp.org/signed-note): a text that people can read, an empty line, and a line for each signature.

Signatures of unknown keys are ignored, so that keys can be exchanged and others can cosign. A line that names a trusted
key but does not verify invalidates the whole note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey, is_key_name

MOST_SIGNATURES: Final = 100
"""Largest number of signature lines of a note."""
LONGEST: Final = 1_000_000
"""Largest number of characters in a note."""
_ID_BYTES: Final = 4
"""Length of the id of a key, which precedes the signature in a signature line."""
_DASH: Final = "\N{EM DASH} "
"""Beginning of each signature line of a note."""


@dataclass(frozen=True)
class NoteSignature:
    """Signature line of a note (c2sp.org/signed-note). Nothing of it was verified.

    Attributes:
        name: name of the key, as the line states it.
        note_id: id of the key, 4 bytes.
        signature: bytes of the signature. Their meaning depends on the type of the key.
    """

    name: str
    note_id: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"{_DASH}{self.name} {to_base64(self.note_id + self.signature)}\n"


@dataclass(frozen=True)
class Note:
    """Signed note (c2sp.org/signed-note): a text with signatures, which were not verified yet.

    Attributes:
        text: the signed text, which ends in a newline.
        signatures: signature lines, in their order.
    """

    text: str
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        return "\n".join((self.text, "".join(map(str, self.signatures))))

    def verify(self, keys: Iterable[PublicKey]) -> tuple[PublicKey, ...]:
        """Verify the signatures of trusted keys, and return the keys that signed. Other signatures are ignored.

        A note may have signatures of several parties, such as a log and its witnesses. The caller need not know all.

        Args:
            keys: trusted keys.

        Returns:
            The keys in the order of their first signatures, each once; at least one.

        Raises:
            NotVerified: no trusted key signed the note, or a signature line with the id of a trusted key is not valid.
        """
        trusted_keys = {(key.name, key.note_id): key for key in keys}
        message = self.text.encode()
        signers: list[PublicKey] = []
        for line in self.signatures:
            key = trusted_keys.get((line.name, line.note_id))
            if key is None:  # another party's signature
                continue
            key.verify(message, line.signature)
            if key not in signers:
                signers.append(key)
        if not signers:
            raise NotVerified("no key that is known signed the note")
        return tuple(signers)


def sign(text: str, *keys: SigningKey) -> Note:
    """Sign a text with each of several keys, and return the signed note (c2sp.org/signed-note).

    Args:
        text: the text, which must end in a newline.
        keys: signing keys, from one to `MOST_SIGNATURES`.

    Returns:
        The note, with one signature line for each key.

    Raises:
        Malformed: the text does not end in a newline, has other control characters, or is too long. Or there is no key,
            or too many.
    """
    _require_note_characters(text)
    message = text.encode()
    signatures = [NoteSignature(key.name, key.public.note_id, key.sign(message)) for key in keys]
    note = Note(text, tuple(signatures))
    # Only a note that can be parsed may be published.
    if parse(str(note)) != note:
        raise Malformed("the text of the note cannot be read back")
    return note


def parse(whole: str) -> Note:
    """Parse a signed note. Its signatures are not verified.

    A signed note is a text, an empty line, and one line for each signature (c2sp.org/signed-note).

    Args:
        whole: text, empty line, and signature lines.

    Returns:
        The text of the note, with its signatures.

    Raises:
        Malformed: the text is too long or has characters that notes cannot have. Or it has no signature lines after an
            empty line, more than `MOST_SIGNATURES`, or a line that is not a signature.
    """
    _require_note_characters(whole)
    # The text ends at the last empty line, and the lines after it are the signatures.
    text, empty_line, signature_lines = whole.rpartition("\n\n")
    if not empty_line or not signature_lines.endswith("\n"):
        raise Malformed("the note has no signatures after an empty line")
    lines = signature_lines[:-1].split("\n")
    if len(lines) > MOST_SIGNATURES:
        raise Malformed(f"the note has more than {MOST_SIGNATURES} signatures")
    return Note(text + "\n", tuple(map(_parse_signature, lines)))


def _require_note_characters(text: str) -> None:
    """Check the length and the characters of a signed note, or of the text that is to be signed.

    Args:
        text: the text.

    Raises:
        Malformed: the text has more than `LONGEST` characters, characters below U+0020 other than line ends, or
            surrogates, which UTF-8 cannot encode.
    """
    if len(text) > LONGEST:
        raise Malformed("the note is too long")
    for character in text:
        is_control = character < " " and character != "\n"
        is_surrogate = "\ud800" <= character <= "\udfff"
        if is_control or is_surrogate:
            raise Malformed("the note holds control characters, or cannot be written in UTF-8")


def _parse_signature(line: str) -> NoteSignature:
    """Parse a signature line: a dash, the key's name, and base 64 of the key's id (4 bytes) and the signature.

    Args:
        line: the line, without its newline.

    Returns:
        The name of the key, its id and the signature.

    Raises:
        Malformed: the line has another form.
    """
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not is_key_name(name):
        raise Malformed("a line in the note's signatures is not a signature")
    try:
        data = from_base64(encoded)
    except Malformed as error:
        raise Malformed(f"the signature of {name} {error}") from None
    if len(data) <= _ID_BYTES:
        raise Malformed(f"the signature of {name} is too short")
    return NoteSignature(name, data[:_ID_BYTES], data[_ID_BYTES:])

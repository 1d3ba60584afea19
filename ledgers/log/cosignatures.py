"""Cosignatures of witnesses (c2sp.org/tlog-cosignature), version 1: a key, a time and a checkpoint.

A cosignature states that the witness has seen no larger checkpoint of the log at that time. It also states that the log
continues all earlier checkpoints that the witness cosigned.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.notes import Note, NoteSignature

_COSIGNATURE: Final = b"\x04"
"""Signature type that c2sp.org/signed-note assigns to cosignatures of version 1."""
_TIME_BYTES: Final = 8
"""Bytes of the time in a cosignature: seconds since 1970, most significant byte first."""
_SIGNATURE_BYTES: Final = 64
"""Bytes of an Ed25519 signature."""
_LATEST: Final = 2**63 - 1
"""Latest time that a cosignature may state, in seconds since 1970; C2SP sets it."""


@dataclass(frozen=True)
class CosignerKey:
    """Public key that verifies the signatures of a witness.

    A witness is a party, independent of the log's operator, that signs the heads (size and Merkle root) of the log.

    Attributes:
        name: name of the witness.
        raw: the 32 bytes of an Ed25519 public key.

    Raises:
        Malformed: the name cannot name a key, or the bytes are not a key.
    """

    name: str
    raw: bytes

    def __post_init__(self) -> None:
        _ = self._key  # rejects an invalid name or key

    @cached_property
    def _key(self) -> PublicKey:
        """The key in the form that verifies signed bytes."""
        return PublicKey(self.name, self.raw)

    @cached_property
    def note_id(self) -> bytes:
        """The four bytes that identify the key in a signature line, a hash of name, signature type and key."""
        return hashlib.sha256(self.name.encode() + b"\n" + _COSIGNATURE + self.raw).digest()[:4]

    @cached_property
    def vkey(self) -> str:
        """The key as one text, `name+id+key`, the form in which verifiers of notes are configured."""
        return f"{self.name}+{self.note_id.hex()}+{to_base64(_COSIGNATURE + self.raw)}"

    @classmethod
    def of_vkey(cls, text: str) -> CosignerKey:
        """Read the public key of a witness from its vkey, the text `name+id+key`.

        Args:
            text: the vkey. The part `key` is base 64 of one byte, the signature type, and of the public key.

        Returns:
            The public key.

        Raises:
            Malformed: the text is not a vkey of a witness, or the id in it belongs to another key.
        """
        name, _, id_and_key = text.partition("+")
        _, _, encoded_key = id_and_key.partition("+")
        type_and_key = from_base64(encoded_key)
        if type_and_key[:1] != _COSIGNATURE:
            raise Malformed("is not a key of a witness: its signature type is not 4")
        key = cls(name, type_and_key[1:])
        # The id is computed from the key, so that a wrong id makes a different text.
        if key.vkey != text:
            raise Malformed(f"the id in the key of {name} is not this key's")
        return key

    def verify(self, note: Note) -> int | None:
        """Verify the signatures of this witness in a note, a signed text with one line for each signature.

        Args:
            note: the note, which may have several lines of this key.

        Returns:
            The latest time that such a signature states, in seconds since 1970; None if the note has no line of this
            key.

        Raises:
            NotVerified: a line with the name and the id of this key does not verify.
        """
        own_lines = [line for line in note.signatures if (line.name, line.note_id) == (self.name, self.note_id)]
        times = [self._verify_line(note.text, line) for line in own_lines]
        return max(times, default=None)

    def _verify_line(self, text: str, line: NoteSignature) -> int:
        """Verify a signature line of this key, and return the time at which the witness signed.

        Args:
            text: signed text of the note.
            line: the signature line: the time, then the signature of the time and the text.

        Returns:
            The time of the signature, in seconds since 1970.

        Raises:
            NotVerified: the signature has another length, states no time, or is not valid.
        """
        if len(line.signature) != _TIME_BYTES + _SIGNATURE_BYTES:
            raise NotVerified(f"the cosignature of {self.name} has another length")
        time_bytes = line.signature[:_TIME_BYTES]
        signature = line.signature[_TIME_BYTES:]
        time = int.from_bytes(time_bytes, "big")
        if not 0 < time <= _LATEST:
            raise NotVerified(f"the cosignature of {self.name} states no time")
        self._key.verify(_message(time, text), signature)
        return time


@dataclass(frozen=True)
class CosigningKey:
    """Private key with which a witness signs heads of logs. Its repr shows no secret.

    A head is the size and the Merkle root of a log. A witness signs only heads that continue those it signed before.

    Attributes:
        name: name of the witness.
        private: the Ed25519 key.
    """

    name: str
    private: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"CosigningKey({self.public.vkey!r})"

    @cached_property
    def public(self) -> CosignerKey:
        """The public key."""
        return CosignerKey(self.name, self.private.public_key().public_bytes_raw())

    def cosign(self, text: str, time: int) -> NoteSignature:
        """Sign the text of a checkpoint together with the time.

        Args:
            text: text of the checkpoint, which ends in a newline.
            time: seconds since 1970.

        Returns:
            The signature line, which has the time before the signature.
        """
        signature = time.to_bytes(_TIME_BYTES, "big") + self.private.sign(_message(time, text))
        return NoteSignature(self.name, self.public.note_id, signature)


def _message(time: int, text: str) -> bytes:
    """Return the bytes that a witness signs for a head of a log (c2sp.org/tlog-cosignature, version 1).

    Args:
        time: time of the signature in seconds since 1970.
        text: text of the checkpoint: name, size and Merkle root of the log.

    Returns:
        The signed bytes: a header, the time, and the text.
    """
    return f"cosignature/v1\ntime {time}\n{text}".encode()

"""Ed25519 keys of RFC 8032, as C2SP signed notes and as JSON Web Keys name them.

One key signs notes and detached JSON Web Signatures: a note's text ends in a newline, which what a JSON Web Signature
signs never holds, so that neither can be taken for the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.encodings import from_base64, to_base64, to_base64url
from epsilond.ledgers.log.errors import Malformed, NotVerified

_ED25519: Final = b"\x01"  # the signature type that C2SP assigns


@dataclass(frozen=True)
class PublicKey:
    """Whom a signature is verified with: a name, which for a log is its origin, and the 32 bytes of a key.

    Raises:
        Malformed: the name is none, or the bytes are no key.
    """

    name: str
    raw: bytes

    def __post_init__(self) -> None:
        if not is_key_name(self.name):
            raise Malformed(f"{self.name!r} is no name of a key: it has no spaces, no plus and no control characters")
        try:
            Ed25519PublicKey.from_public_bytes(self.raw)
        except ValueError:
            raise Malformed("a public key of Ed25519 has 32 bytes") from None

    @cached_property
    def note_id(self) -> bytes:
        """The four bytes that a note's signature begins with (c2sp.org/signed-note)."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.raw).digest()[:4]

    @cached_property
    def note_key(self) -> str:
        """name+id+key, as verifiers of notes are configured."""
        return f"{self.name}+{self.note_id.hex()}+{to_base64(_ED25519 + self.raw)}"

    @cached_property
    def kid(self) -> str:
        """The thumbprint of the JSON Web Key (RFC 7638): it names the key alone, without its name."""
        required = {"crv": "Ed25519", "kty": "OKP", "x": to_base64url(self.raw)}
        return to_base64url(hashlib.sha256(canonical(required)).digest())

    @cached_property
    def jwk(self) -> dict[str, str]:
        """The JSON Web Key of RFC 8037."""
        x = to_base64url(self.raw)
        return {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid, "alg": "EdDSA", "use": "sig"}

    @classmethod
    def of_note_key(cls, text: str) -> PublicKey:
        """Back from `note_key`.

        Raises:
            Malformed: it is no key of Ed25519, or its id is another key's.
        """
        name, _, rest = text.partition("+")
        told_id, _, told_key = rest.partition("+")
        data = from_base64(told_key)
        if data[:1] != _ED25519:
            raise Malformed("is no key of Ed25519")
        key = cls(name, data[1:])
        if key.note_key != text:
            raise Malformed(f"the id {told_id!r} is not this key's")
        return key

    def verify(self, message: bytes, signature: bytes) -> None:
        """That this key signed the message.

        Raises:
            NotVerified: it did not.
        """
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            raise NotVerified(f"the signature is not that of {self.name} with key {self.kid}") from None


@dataclass(frozen=True)
class SigningKey:
    """What signs: a name and a private key, which no text of this object shows."""

    name: str
    private: Ed25519PrivateKey

    def __post_init__(self) -> None:
        _ = self.public  # refuses a name that is none

    def __repr__(self) -> str:
        return f"SigningKey({self.public.note_key!r})"

    @classmethod
    def new(cls, name: str) -> SigningKey:
        """A key that nobody had before, from the system's randomness."""
        return cls(name, Ed25519PrivateKey.generate())

    @cached_property
    def public(self) -> PublicKey:
        return PublicKey(self.name, self.private.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """64 bytes, the same for the same message."""
        return self.private.sign(message)


def is_key_name(name: str) -> bool:
    """Return whether a text can name a key.

    It must not be empty, must have no Unicode spaces, plus or control characters, and must be writable in UTF-8.
    """
    if not name or "+" in name or any(each.isspace() or each < " " for each in name):
        return False
    return not any("\ud800" <= each <= "\udfff" for each in name)

"""Ed25519 keys (RFC 8032) with their identifiers in C2SP signed notes and in JSON Web Keys.

One key signs notes and detached JSON Web Signatures. They cannot be confused: the text of a note ends in a newline, and
the signing input of a JSON Web Signature never contains one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.encodings import from_base64, to_base64, to_base64url
from epsilond.ledgers.log.errors import Malformed, NotVerified

_ED25519: Final = b"\x01"
"""Signature type that c2sp.org/signed-note assigns to Ed25519."""


@dataclass(frozen=True)
class PublicKey:
    """Ed25519 public key with a name, which verifies signatures of a log or of another signer.

    Attributes:
        name: name of the signer. The keys of a log have the name of the log.
        raw: the 32 bytes of the key (RFC 8032).

    Raises:
        Malformed: the name is not valid, or the bytes are not a key.
    """

    name: str
    raw: bytes

    def __post_init__(self) -> None:
        """Check the name and the bytes of the key.

        Raises:
            Malformed: the name is not valid, or the bytes are not an Ed25519 public key.
        """
        if not is_key_name(self.name):
            raise Malformed(
                f"{self.name!r} is not a name of a key: it has no spaces, no plus and no control characters"
            )
        try:
            Ed25519PublicKey.from_public_bytes(self.raw)
        except ValueError:
            raise Malformed("a public key of Ed25519 has 32 bytes") from None

    @cached_property
    def note_id(self) -> bytes:
        """First four bytes of this key's signatures in notes (c2sp.org/signed-note)."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.raw).digest()[:4]

    @cached_property
    def note_key(self) -> str:
        """Text name+id+key with which verifiers of notes are configured."""
        return f"{self.name}+{self.note_id.hex()}+{to_base64(_ED25519 + self.raw)}"

    @cached_property
    def kid(self) -> str:
        """Thumbprint of the JSON Web Key (RFC 7638), which does not depend on the name."""
        required_members = {"crv": "Ed25519", "kty": "OKP", "x": to_base64url(self.raw)}
        thumbprint = hashlib.sha256(canonical(required_members)).digest()
        return to_base64url(thumbprint)

    @cached_property
    def jwk(self) -> dict[str, str]:
        """The JSON Web Key of RFC 8037."""
        encoded_key = to_base64url(self.raw)
        return {"kty": "OKP", "crv": "Ed25519", "x": encoded_key, "kid": self.kid, "alg": "EdDSA", "use": "sig"}

    @classmethod
    def of_note_key(cls, text: str) -> PublicKey:
        """Read a key from the text `name+id+key`, the usual form in which verifiers of signed notes are configured.

        Args:
            text: the text. Its last part is base 64 of the signature type (one byte) and of the public key (32 bytes).

        Returns:
            The key, with its name.

        Raises:
            Malformed: the text is not an Ed25519 key, or the id in it belongs to another key.
        """
        name, _, id_and_key = text.partition("+")
        stated_id, _, encoded = id_and_key.partition("+")
        data = from_base64(encoded)
        if data[:1] != _ED25519:
            raise Malformed("is not a key of Ed25519")
        key = cls(name, data[1:])
        # The id follows from the name and the key, so a mistyped text is noticed here.
        if key.note_key != text:
            raise Malformed(f"the id {stated_id!r} is not this key's")
        return key

    def verify(self, message: bytes, signature: bytes) -> None:
        """Verify that this key signed a message.

        Args:
            message: the signed bytes.
            signature: Ed25519 signature of the message, 64 bytes.

        Raises:
            NotVerified: the signature is not valid.
        """
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            raise NotVerified(f"the signature is not that of {self.name} with key {self.kid}") from None


@dataclass(frozen=True)
class SigningKey:
    """Ed25519 private key with a name, which signs. Its repr shows no secret.

    Attributes:
        name: name of the signer. The keys of a log have the name of the log.
        private: the private key.
    """

    name: str
    private: Ed25519PrivateKey

    def __post_init__(self) -> None:
        _ = self.public  # rejects an invalid name

    def __repr__(self) -> str:
        return f"SigningKey({self.public.note_key!r})"

    @classmethod
    def new(cls, name: str) -> SigningKey:
        """Generate a new key from the system's randomness.

        Args:
            name: name of the signer, such as the name of a log.

        Returns:
            The new key, which is not stored yet.
        """
        return cls(name, Ed25519PrivateKey.generate())

    @cached_property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey(self.name, self.private.public_key().public_bytes_raw())

    @property
    def pem(self) -> bytes:
        """The private key as the content of a PEM file (PKCS #8, not encrypted)."""
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, message: bytes) -> bytes:
        """Return the Ed25519 signature of a message: 64 bytes, equal for equal messages.

        Args:
            message: the bytes to sign.

        Returns:
            The signature, which anyone can verify with the public key.
        """
        return self.private.sign(message)


def is_key_name(name: str) -> bool:
    """Return whether a text can name a key in signed notes (c2sp.org/signed-note).

    A name must not be empty, and must have no `+`, no Unicode spaces and no characters below U+0020. It must be
    encodable in UTF-8. So it can be separated from the other parts of a signature line and of a key `name+id+key`.

    Args:
        name: the text.

    Returns:
        True if the text satisfies these conditions.
    """
    if not name or "+" in name:
        return False
    has_spaces = any(character.isspace() for character in name)
    has_controls = any(character < " " for character in name)
    has_surrogates = any("\ud800" <= character <= "\udfff" for character in name)  # which UTF-8 cannot encode
    return not (has_spaces or has_controls or has_surrogates)

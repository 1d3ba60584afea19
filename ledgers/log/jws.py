"""Detached JSON Web Signatures (RFC 7515, appendix F; RFC 8037) over canonical records.

The payload, which is left out between the two points, is the record's canonical form in the usual encoding (`b64` is
not used). The protected header names the key and a subject. The subject is a digest of content that the record cannot
hold, such as the bytes of a report or an answer with floats. A signature of a record is valid for one subject only.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from epsilond.ledgers.log.canonical import Record, canonical, is_digest, parse
from epsilond.ledgers.log.encodings import from_base64url, to_base64url
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey

TYPE: Final = "epsilond-record+jws"
"""Default type of signed records. A signature of one type is not valid for another."""
REMEMBERED: Final = 64
"""Number of headers without their subject that are cached, one for each pair of a key and a kind of record."""
_SUBJECT: Final = b"<subject>"
"""Placeholder of the subject in a remembered header. No id of a key contains it, because ids are base64url."""
LONGEST: Final = 1_000
"""Largest number of characters in a signature; ours have about 360."""


def sign(record: Record, subject: str, key: SigningKey, *, kind: str = TYPE) -> str:
    """Sign a JSON object, and return a detached JSON Web Signature (RFC 7515, appendix F).

    "Detached" means that the text of the signature leaves out the record. Equal arguments give equal signatures.

    Args:
        record: the record to sign.
        subject: digest of the document that the record is about, as `canonical.digest` returns it.
        key: the key that signs.
        kind: type of the record. The header names it, so that the signature is not valid for another type.

    Returns:
        The signature, `header..signature`.

    Raises:
        Malformed: the record has no canonical form, or the subject is not a digest.
    """
    header, _, signature = sign_whole(record, subject, key, kind=kind).split(".")
    return f"{header}..{signature}"


def sign_whole(record: Record, subject: str, key: SigningKey, *, kind: str = TYPE) -> str:
    """Sign a JSON object, and return a JSON Web Signature that contains it (RFC 7515).

    The signature covers the header, which names the key, the digest of a document and the type of the record. Equal
    arguments give equal signatures.

    Args:
        record: the record to sign.
        subject: digest of the document that the record is about, as `canonical.digest` returns it.
        key: the key that signs.
        kind: type of the record, which the header names.

    Returns:
        The signature, `header.record.signature`.

    Raises:
        Malformed: the record has no canonical form, or the subject is not a digest.
    """
    header = _header(key.public.kid, subject, kind)
    signing_input = _signing_input(header, record)
    signature = to_base64url(key.sign(signing_input))
    return f"{signing_input.decode()}.{signature}"


def verify(record: Record, subject: str, jws: str, keys: Iterable[PublicKey], *, kind: str = TYPE) -> PublicKey:
    """Verify a detached JSON Web Signature of a JSON object, and return the key that made it.

    "Detached" means that the text of the signature leaves out the record, which is given separately.

    Args:
        record: the signed record.
        subject: digest of the document that the record is about, as `canonical.digest` returns it.
        jws: the detached signature, `header..signature`.
        keys: trusted keys.
        kind: type of the record, which the header must name.

    Returns:
        The key that made the signature.

    Raises:
        Malformed: the text is not a detached signature.
        NotVerified: no trusted key signed the record, or the signature is for another subject or kind.
    """
    if len(jws) > LONGEST or ".." not in jws:
        raise Malformed("is not a detached JSON Web Signature")
    header, _, signature = jws.partition("..")
    kid = parse(from_base64url(header)).get("kid")
    key = next((trusted for trusted in keys if trusted.kid == kid), None)
    if key is None:
        raise NotVerified("no key that is known signed the record")
    # Apart from the id of the key, the header is not interpreted but compared. So it cannot select another algorithm.
    if header != _header(key.kid, subject, kind):
        raise NotVerified("the signature is for another subject, or of another form or kind")
    key.verify(_signing_input(header, record), from_base64url(signature))
    return key


def _header(kid: str, subject: str, kind: str) -> str:
    """Return the protected header of a JSON Web Signature, in base 64 for URLs.

    The header is part of the signed text. A signature for one document or type is therefore not valid for another.

    Args:
        kid: id of the key.
        subject: digest of the document that the record is about.
        kind: type of the record.

    Returns:
        The header as base 64 text without padding.

    Raises:
        Malformed: the subject is not a digest.
    """
    if not is_digest(subject):
        raise Malformed("a subject is sha256: and 64 hexadecimal digits")
    header = _header_template(kid, kind).replace(_SUBJECT, subject.encode(), 1)
    return to_base64url(header)


@lru_cache(REMEMBERED)
def _header_template(kid: str, kind: str) -> bytes:
    """Return the canonical text of a header with a placeholder for its subject.

    The template is cached, because canonical JSON takes longer than replacing the placeholder.

    Args:
        kid: id of the key.
        kind: type of the record.
    """
    return canonical({"alg": "EdDSA", "kid": kid, "subject": _SUBJECT.decode(), "typ": kind})


def _signing_input(header: str, record: Record) -> bytes:
    """Return the bytes that a JSON Web Signature signs: `header.record`, each in base 64 for URLs (RFC 7515).

    Args:
        header: encoded protected header.
        record: the JSON object to sign. Its canonical form is the payload.
    """
    return f"{header}.{to_base64url(canonical(record))}".encode()

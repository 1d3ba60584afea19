"""What a service signs of its answers: which engine answered which request, with the answer's digest as the subject.

A statement is a record of its own kind (the `typ` of its header), so that no signature of a receipt or of a ledger's
report is one of an answer, and its member `kind` says what it speaks of. Its subject is the digest of a report's bytes,
or of an answer's canonical text (RFC 8785), so that an answer may be indented and stored anew. It says nothing of when
it was signed: the same answer has the same signature for as long as the key signs.

It travels as one text, header.record.signature (RFC 7515, section 3.1), which any library of JSON Web Signatures reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonRecord
from epsilond.calibrators import strict_json
from epsilond.ledgers.log import jws
from epsilond.ledgers.log.canonical import SHA256, digest, is_digest, parse
from epsilond.ledgers.log.encodings import from_base64url
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.keys import PublicKey, SigningKey
from epsilond.witness.reports.canonical import canonical as canonical_answer

FORMAT: Final = "epsilond-statement-1"
TYPE: Final = "epsilond-statement+jws"
REPORT: Final = "report"
KINDS: Final = frozenset({REPORT, "calibration", "sweep", "account"})
"""What statements are about."""
HEADER: Final = "Epsilond-Signature"
"""The response header that has it."""
LONGEST: Final = 4_000


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """That this engine answered this request with what the signature has as its subject."""

    kind: str
    name: str
    """Of the algorithm; of an account `account`."""
    engine_version: str
    request: str
    """The digest of the request's canonical text: of the body that was posted."""

    @property
    def record(self) -> JsonRecord:
        """The record that is signed."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "name": self.name,
            "engine_version": self.engine_version,
            "request": self.request,
        }

    @classmethod
    def of_record(cls, record: dict[str, object]) -> SignedStatement:
        """Back from `record`.

        Raises:
            Malformed: it is no statement, or one about something else than answers.
        """
        members = {name: item for name, item in record.items() if name != "format" and isinstance(item, str)}
        try:
            found = cls(**members)
        except TypeError:
            raise Malformed("is no statement about an answer") from None
        if found.record != record or found.kind not in KINDS or not is_digest(found.request):
            raise Malformed("is no statement about an answer")
        return found


def sign(statement: SignedStatement, content: bytes, key: SigningKey, *, digest: str | None = None) -> str:
    """Return the signature of an answer, with the statement in it.

    Args:
        statement: what is stated about the answer.
        content: bytes of the answer.
        key: the key that signs.
        digest: SHA-256 of the canonical text of an answer in JSON, in hexadecimal digits, where it is known already.

    Raises:
        Malformed: the content is no answer of the statement's kind.
    """
    subject = _subject(statement, content) if digest is None else f"{SHA256}{digest}"
    return jws.sign_whole(statement.record, subject, key, kind=TYPE)


def verify(token: str, content: bytes, keys: Iterable[PublicKey]) -> tuple[SignedStatement, PublicKey]:
    """Return the signed statement about some bytes, and the key that signed it.

    Args:
        token: the signature with its statement.
        content: the bytes that the statement is about.
        keys: trusted keys.

    Raises:
        NotVerified: none of these keys made the signature, or for another content or kind of record.
    """
    parts = token.split(".") if len(token) <= LONGEST else []
    if len(parts) != 3:
        raise Malformed("is no signature of an answer")
    head, payload, signature = parts
    statement = SignedStatement.of_record(parse(from_base64url(payload)))
    key = jws.verify(statement.record, _subject(statement, content), f"{head}..{signature}", keys, kind=TYPE)
    return statement, key


def digest_of(text: bytes) -> str:
    """Return the digest of the canonical form of a JSON text, which may be a request's body or an answer's.

    Raises:
        Malformed: the text is no JSON, or holds a number that is none.
    """
    try:
        return digest(canonical_answer(strict_json.parse(text)).encode("utf-8", "surrogatepass"))
    except (strict_json.MalformedJson, InvalidInput, ValueError):
        raise Malformed("is no JSON that can be signed") from None


def _subject(statement: SignedStatement, content: bytes) -> str:
    return digest(content) if statement.kind == REPORT else digest_of(content)


def found_in(text: str) -> str:
    """Return the signature in a text. The text is the signature itself, or the headers of a response.

    Raises:
        NotVerified: the text has several.
    """
    named = [line.partition(":")[2] for line in text.splitlines() if line.lower().startswith(f"{HEADER.lower()}:")]
    if len(named) > 1:
        raise NotVerified("there are several signatures")
    return (named[0] if named else text).strip()

"""Signed statements of a service about its answers: the engine, the request and, as the subject, the answer's digest.

A statement is a record of its own type (the `typ` of its header). Therefore a signature of a receipt or of a ledger's
report is never valid for an answer. Its member `kind` names the kind of answer. Its subject is the digest of a report's
bytes, or of an answer's canonical text (RFC 8785), so that an answer may be indented and stored again. It has no time:
one answer has the same signature as long as the key signs.

A statement is sent as one text, header.record.signature (RFC 7515, section 3.1), which every library of JSON Web
Signatures reads.
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
"""Kinds of answers that have statements."""
HEADER: Final = "Epsilond-Signature"
"""Response header with the signature."""
LONGEST: Final = 4_000
"""Largest number of characters of a signed statement that is read."""


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """Statement that a version of the engine gave a certain answer to a request.

    The answer's digest is not in the statement. It is the subject of the signature.

    Attributes:
        kind: kind of the answer: `calibration`, `sweep`, `account` or `report`.
        name: name of the algorithm, or `account` for an account.
        engine_version: version of the engine, the code that computes guarantees.
        request: digest of the request body's canonical text.
    """

    kind: str
    name: str
    engine_version: str
    request: str

    @property
    def record(self) -> JsonRecord:
        """The statement as a JSON object, of which the canonical form is signed.

        Its members are the attributes, and `format`, the name and version of this form.
        """
        return {
            "format": FORMAT,
            "kind": self.kind,
            "name": self.name,
            "engine_version": self.engine_version,
            "request": self.request,
        }

    @classmethod
    def of_record(cls, record: dict[str, object]) -> SignedStatement:
        """Read a statement from its JSON object, without verifying a signature.

        Args:
            record: the JSON object, as `record` returns it.

        Returns:
            The statement.

        Raises:
            Malformed: the record has other members than a statement, an unknown kind, or an invalid digest.
        """
        texts = {name: str(record.get(name)) for name in ("kind", "name", "engine_version", "request")}
        statement = cls(**texts)
        has_exact_members = statement.record == record  # which also rejects members that are not texts
        if not has_exact_members or statement.kind not in KINDS or not is_digest(statement.request):
            raise Malformed("is not a statement about an answer")
        return statement


def sign(statement: SignedStatement, content: bytes, key: SigningKey, *, digest: str | None = None) -> str:
    """Sign a statement about an answer of the service, and return the signature, which contains the statement.

    A statement says that a version of the engine gave this answer to a certain request.

    Args:
        statement: the statement about the answer.
        content: bytes of the answer.
        key: the key that signs.
        digest: SHA-256 of the canonical text of an answer in JSON, in hexadecimal digits. If None, it is computed from
            `content`.

    Returns:
        The signature, a JSON Web Signature with the statement in it.

    Raises:
        Malformed: the content is not an answer of the statement's kind.
    """
    subject = _subject(statement, content) if digest is None else f"{SHA256}{digest}"
    return jws.sign_whole(statement.record, subject, key, kind=TYPE)


def verify(token: str, content: bytes, keys: Iterable[PublicKey]) -> tuple[SignedStatement, PublicKey]:
    """Verify a signed statement about an answer.

    Args:
        token: the signature, which contains the statement.
        content: bytes of the answer.
        keys: trusted keys.

    Returns:
        The statement, and the key that signed it.

    Raises:
        Malformed: the token is too long, or is not a signature with a statement.
        NotVerified: no trusted key signed the statement, or it is about another answer.
    """
    if len(token) > LONGEST or token.count(".") != 2:
        raise Malformed("is not a signature of an answer")
    head, payload, signature = token.split(".")
    statement = SignedStatement.of_record(parse(from_base64url(payload)))
    key = jws.verify(statement.record, _subject(statement, content), f"{head}..{signature}", keys, kind=TYPE)
    return statement, key


def digest_of(text: bytes) -> str:
    """Return a digest of a JSON text that does not depend on white space or on the order of members.

    It is the SHA-256 digest of the text's canonical form (RFC 8785). Indenting an answer therefore keeps its signature
    valid.

    Args:
        text: bytes of a JSON text.

    Returns:
        The digest, as `sha256:` and 64 hexadecimal digits.

    Raises:
        Malformed: the text is not JSON, or has a number that is not finite.
    """
    try:
        return digest(canonical_answer(strict_json.parse(text)).encode("utf-8", "surrogatepass"))
    except (strict_json.MalformedJson, InvalidInput, ValueError):
        raise Malformed("is not JSON that can be signed") from None


def _subject(statement: SignedStatement, content: bytes) -> str:
    """Return the digest of an answer of the service, by which a signature refers to the answer.

    The digest of a report is that of its bytes. That of any other answer, which is JSON, ignores white space.

    Args:
        statement: the statement about the answer. Only its kind is used.
        content: bytes of the answer.

    Returns:
        The digest, as `sha256:` and 64 hexadecimal digits.

    Raises:
        Malformed: the answer should be JSON and is not.
    """
    if statement.kind == REPORT:
        return digest(content)
    return digest_of(content)


def find_signature(text: str) -> str:
    """Find the signature of an answer in the headers of an HTTP response, or in a text with only the signature.

    Args:
        text: lines of headers, such as a program for HTTP saves them, or a signature.

    Returns:
        The value of the header `Epsilond-Signature`. The whole text, without outer white space, if it has no such
        header.

    Raises:
        NotVerified: the text has several such headers.
    """
    prefix = f"{HEADER.lower()}:"
    signatures = [line[len(prefix) :] for line in text.splitlines() if line.lower().startswith(prefix)]
    if not signatures:
        return text.strip()
    first_signature, *more_signatures = signatures
    if more_signatures:
        raise NotVerified("there are several signatures")
    return first_signature.strip()

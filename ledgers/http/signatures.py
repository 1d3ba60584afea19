"""Signatures of answers, in a header of the response, if the service has keys that outlive it."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import JsonRecord
from epsilond.app.http.record import ServicePart
from epsilond.ledgers.http.keys import Keys
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.statements import HEADER, KINDS, SignedStatement, digest_of, sign
from epsilond.witness.reports.questions import ACCOUNT

KEPT: Final = 1024
"""Largest number of remembered signatures, each of less than a kilobyte."""
FRESH: Final = 1.0
"""Time in seconds after which the folder of keys is read again."""
AT_ONCE: Final = 4_096
"""Largest number of bytes of a request whose answer, with a known digest, is signed in the event loop, in 0.1 ms."""
DESCRIBED: Final[JsonRecord] = {
    HEADER: {
        "description": "signature of the answer: a JSON Web Signature that contains the digest of the answer. Absent "
        "if the service has no keys",
        "schema": {"type": "string"},
    }
}


@dataclass(frozen=True)
class _UnsignedAnswer:
    """An answer of the service that is to be signed, with its request.

    Attributes:
        kind: kind of the answer, such as `calibration` or `account`.
        name: name of the algorithm; for an account, the kind of its mechanism.
        engine: version of the engine that computed the answer.
        request: body of the request.
        answer: body of the answer.
        digest: digest of the answer's canonical JSON; None if it is not known yet.
    """

    kind: str
    name: str
    engine: str
    request: bytes
    answer: bytes
    digest: str | None

    @property
    def statement(self) -> SignedStatement:
        """Statement that the signature covers. For an account its name is `account`, not the kind of the mechanism.

        Raises:
            Malformed: the request has numbers without a canonical form in JSON.
        """
        name = ACCOUNT if self.kind == ACCOUNT else self.name
        request = digest_of(self.request)
        return SignedStatement(kind=self.kind, name=name, engine_version=self.engine, request=request)

    def cache_key(self, signing: SigningKey) -> bytes:
        """Return a digest of all that determines the signature of the answer, under which it is cached.

        Args:
            signing: the private key that signs.

        Returns:
            The SHA-256 digest, 32 bytes.
        """
        hasher = hashlib.sha256(signing.public.raw)
        names = [name.encode() for name in (self.kind, self.name, self.engine)]
        for part in (*names, self.request, self.answer):
            hasher.update(len(part).to_bytes(8))  # otherwise other parts with the same bytes in sequence would collide
            hasher.update(part)
        return hasher.digest()


class Signatures:
    """Signer of the service's answers, such as calibrations. Answers are not signed until the service has keys.

    The newest signatures are cached, because equal answers have equal signatures.
    """

    def __init__(self) -> None:
        self._keys: Keys | None = None
        self._signing: SigningKey | None = None
        self._read_at = 0.0
        self._kept: OrderedDict[bytes, str] = OrderedDict()
        self._log = structlog.get_logger()

    def use(self, keys: Keys | None) -> None:
        """Sign with the given keys from now on, or no more.

        Args:
            keys: source of the present signing keys; None if answers are not to be signed.
        """
        self._keys = keys
        self._signing = None
        self._read_at = 0.0

    async def of(
        self, kind: str, name: str, engine: str, request: bytes, answer: bytes, digest: str | None = None
    ) -> str | None:
        """Return the signature of an answer to a request. Equal answers get a cached signature for some time.

        Args:
            kind: kind of the answer, such as a calibration. Only some kinds are signed.
            name: name of the algorithm.
            engine: version of the engine.
            request: body of the request.
            answer: body of the answer.
            digest: digest of the answer's canonical text, if it is known already.

        Returns:
            The signature. None if the kind is not signed, or if the keys or the request cannot be used.
        """
        keys = self._keys
        if keys is None or kind not in KINDS:
            return None
        unsigned = _UnsignedAnswer(kind, name, engine, request, answer, digest)

        # With a key that was read shortly before, use the cached signature, or sign a short request at once.
        signing = self._signing
        is_fresh = time.monotonic() - self._read_at < FRESH
        if signing is not None and is_fresh:
            signature = self._kept.get(unsigned.cache_key(signing))
            if signature is not None:
                return signature
            is_quick = digest is not None and len(request) <= AT_ONCE
            if is_quick:
                return self._sign(lambda: signing, unsigned)

        # Otherwise read the key again and sign in a thread.
        return await to_thread.run_sync(self._sign, partial(self._read_key, keys), unsigned)

    def _read_key(self, keys: Keys) -> SigningKey:
        """Read the present signing key, and store it with the time at which it was read.

        Args:
            keys: source of the signing keys, which an operator may replace at any time.

        Returns:
            The private key that signs.

        Raises:
            KeysUnusable: the keys cannot be used.
            OSError: the folder cannot be read.
        """
        signing = keys().signing
        self._signing, self._read_at = signing, time.monotonic()
        return signing

    def _sign(self, signing_key: Callable[[], SigningKey], unsigned: _UnsignedAnswer) -> str | None:
        """Sign an answer, and cache the signature. If the cache has more than `KEPT` signatures, drop the oldest.

        Args:
            signing_key: function that returns the private key.
            unsigned: the answer to sign.

        Returns:
            The signature. None if the keys cannot be used, or if the request has numbers without a canonical form in
            JSON. The reason is then written to the service's log.
        """
        try:
            signing = signing_key()
            signature = sign(unsigned.statement, unsigned.answer, signing, digest=unsigned.digest)
        except (KeysUnusable, OSError) as error:
            self._log.error("answers are not signed: the keys cannot be used", reason=str(error))
            return None
        except Malformed as error:
            self._log.warning("an answer is not signed", reason=str(error))
            return None
        self._kept[unsigned.cache_key(signing)] = signature
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return signature


SIGNATURES: ServicePart[Signatures] = ServicePart("signatures")


async def sign_response(
    request: Request,
    response: Response,
    kind: str,
    name: str,
    body: bytes,
    engine: str = ENGINE_VERSION,
    *,
    digest: str | None = None,
) -> Response:
    """Add a signature to a response in a header, if the service signs answers of this kind.

    The signature shows that this version of the engine gave this answer to this request.

    Args:
        request: the request.
        response: the response, which is changed and returned.
        kind: kind of the answer.
        name: name of the algorithm.
        body: body of the request.
        engine: version of the engine.
        digest: digest of the answer's canonical text; None computes it if it is needed.

    Returns:
        The same response.
    """
    signatures = SIGNATURES.of(request)
    # Errors are not signed.
    if response.status_code == 200:
        signature = await signatures.of(kind, name, engine, body, bytes(response.body), digest)
        if signature is not None:
            response.headers[HEADER] = signature
    return response

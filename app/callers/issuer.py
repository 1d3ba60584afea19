"""An OpenID Connect issuer: its keys, fetched in a thread and kept, and the tokens that they sign.

Nothing is taken that was not checked: signature, issuer, audience, expiry, and not before its time.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.client import HTTPException
from urllib.error import HTTPError

import anyio
import jwt
import structlog
from anyio import to_thread

from epsilond.accountants.json_types import JsonObject
from epsilond.app.settings import is_private_url

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Signatures by a private key alone: a secret that both sides know could be made up from what is public here."""
LEEWAY_SECONDS = 60
KEPT_SECONDS = 600.0
"""How long fetched keys are used without asking again."""
UNKNOWN_SECONDS = 60.0
"""How often at most a token with an unknown key makes us ask again."""
FAILED_SECONDS = 5.0
"""How long after a failure nobody is asked."""
TIMEOUT_SECONDS = 5.0
MOST_BYTES = 1_048_576


class IssuerUnreachable(Exception):
    """Its keys cannot be had, so that nothing can be said of a token."""


class Issuer:
    """One issuer. Its keys belong to the event loop's thread."""

    def __init__(
        self, issuer: str, audience: str, jwks_url: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._jwks_url = jwks_url
        self._clock = clock
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetched = -float("inf")
        self._failed = -float("inf")
        self._fetching = anyio.Lock()
        self._log = structlog.get_logger()

    async def claims(self, token: str) -> JsonObject | None:
        """What a token says; None of one that is not this issuer's for this audience, now.

        Raises:
            IssuerUnreachable: the keys cannot be had.
        """
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError):
            return None
        identifier = header.get("kid")
        if header.get("alg") not in ALGORITHMS or "crit" in header or not isinstance(identifier, str):
            return None
        key = await self._key(identifier)
        if key is None or key.algorithm_name not in ALGORITHMS:
            return None
        try:
            claims: Mapping[str, object] = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError):
            return None
        return claims

    async def _key(self, identifier: str) -> jwt.PyJWK | None:
        """The issuer's key of this id, None if it has none.

        Raises:
            IssuerUnreachable: that cannot be found out.
        """
        if self._fresh and identifier in self._keys:
            return self._keys[identifier]
        async with self._fetching:
            if not (self._fresh and (identifier in self._keys or self._clock() - self._fetched < UNKNOWN_SECONDS)):
                await self._fetch()
        return self._keys.get(identifier)

    @property
    def _fresh(self) -> bool:
        return self._clock() - self._fetched < KEPT_SECONDS

    async def _fetch(self) -> None:
        if self._clock() - self._failed < FAILED_SECONDS:
            raise IssuerUnreachable
        try:
            keys = await to_thread.run_sync(partial(_keys_of, self._issuer, self._jwks_url), abandon_on_cancel=True)
        except (OSError, HTTPException, ValueError, jwt.PyJWTError) as error:
            self._failed = self._clock()
            self._log.error("the identity provider cannot be reached", reason=type(error).__name__)
            raise IssuerUnreachable from None
        self._keys = {key.key_id: key for key in keys if key.key_id is not None}
        self._fetched = self._clock()


def _keys_of(issuer: str, jwks_url: str) -> Sequence[jwt.PyJWK]:
    """The keys with which an issuer signs.

    Raises:
        OSError, HTTPException, ValueError, PyJWTError: they cannot be had.
    """
    url = jwks_url or _discovered(issuer)
    return jwt.PyJWKClient(url, cache_jwk_set=False, timeout=TIMEOUT_SECONDS).get_signing_keys()


def _discovered(issuer: str) -> str:
    """Where an issuer says that its keys are.

    Raises:
        OSError, HTTPException, ValueError: it does not say, or somewhere others could change them.
    """
    where = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        with urllib.request.build_opener(_Here()).open(where, timeout=TIMEOUT_SECONDS) as answer:
            document = json.loads(answer.read(MOST_BYTES))
    except HTTPError as refused:
        refused.close()
        raise
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        raise ValueError("the document is another issuer's")
    url = document.get("jwks_uri")
    if not isinstance(url, str) or not is_private_url(url):
        raise ValueError("its keys are nowhere that is safe")
    return url


class _Here(urllib.request.HTTPRedirectHandler):
    """No other place than the one that was asked for."""

    def redirect_request(self, *_: object) -> None:
        """Refuse."""

"""An OpenID Connect issuer: its keys, fetched in a thread and kept, and the tokens that they sign.

A token is accepted only after these checks: signature, issuer, audience, expiry, and start of validity.
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
from epsilond.app.machine import is_private_url

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Accepted signature algorithms, all with a private key.

With a shared secret, an attacker could sign with a public key as the secret.
"""
# Difference of the clocks of issuer and service that is tolerated, in seconds.
LEEWAY_SECONDS = 60
KEPT_SECONDS = 600.0
"""Seconds for which fetched keys are used before they are fetched again."""
UNKNOWN_SECONDS = 60.0
"""Seconds after a fetch in which a token with an unknown key causes no other fetch."""
FAILED_SECONDS = 5.0
"""Seconds after a failed fetch in which no other fetch is tried."""
# Longest time for fetching the keys, in seconds.
TIMEOUT_SECONDS = 5.0
# Bytes of a configuration document that are read at most.
MOST_BYTES = 1_048_576


class IssuerUnreachable(Exception):
    """Error that the issuer's keys cannot be fetched, so that tokens can be neither accepted nor rejected."""


class Issuer:
    """Issuer of OpenID Connect tokens, with a cache of its public keys; for the thread of the event loop only."""

    def __init__(
        self, issuer: str, audience: str, jwks_url: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Store the settings; the keys of the issuer are fetched when the first token is verified.

        Args:
            issuer: URL of the issuer, the identity provider that signs tokens.
            audience: name of this service, which tokens must have as their audience.
            jwks_url: URL of the issuer's public keys; empty to read it from the configuration document of the issuer.
            clock: monotonic clock in seconds, by which cached keys expire.
        """
        self._issuer = issuer
        self._audience = audience
        self._jwks_url = jwks_url
        self._clock = clock
        self._keys: Mapping[str, jwt.PyJWK] = {}
        # Times of the latest successful and of the latest failed fetch; −∞ before the first.
        self._fetched = -float("inf")
        self._failed = -float("inf")
        self._fetching = anyio.Lock()
        self._log = structlog.get_logger()

    async def claims(self, token: str) -> JsonObject | None:
        """Verify a token, and return its claims.

        The claims of a signed JSON Web Token (RFC 7519) identify the caller and state its rights.

        Args:
            token: bearer token in the compact form of a signed JSON Web Token.

        Returns:
            The claims by name. None if the token is malformed, expired or not valid yet, has another issuer or
            audience, or has no valid signature by one of the accepted algorithms.

        Raises:
            IssuerUnreachable: the issuer's keys cannot be fetched.
        """
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError):
            return None
        identifier = header.get("kid")
        has_extensions = "crit" in header  # extensions that a verifier must understand (RFC 7515); none is supported
        has_accepted_algorithm = header.get("alg") in ALGORITHMS
        if not has_accepted_algorithm or has_extensions or not isinstance(identifier, str):
            return None
        key = await self._key(identifier)
        # The key's own algorithm must be accepted too, so that the header of a token does not choose it.
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
        """Return the issuer's key with this id, from the cache or after fetching all keys.

        For an id that is not in the cache, keys are fetched at most once in `UNKNOWN_SECONDS`.

        Args:
            identifier: id of the key (`kid`), as the header of a token names it.

        Returns:
            The public key; None if the issuer has no such key.

        Raises:
            IssuerUnreachable: the keys cannot be fetched.
        """
        if self._is_fresh() and identifier in self._keys:
            return self._keys[identifier]
        # Only one task fetches; tasks that waited for it use its result.
        async with self._fetching:
            if self._must_fetch(identifier):
                await self._fetch()
        return self._keys.get(identifier)

    def _must_fetch(self, identifier: str) -> bool:
        """Return whether keys must be fetched: the cache is too old, or lacks this key and may be fetched again."""
        if not self._is_fresh():
            return True
        was_just_fetched = self._clock() - self._fetched < UNKNOWN_SECONDS
        return identifier not in self._keys and not was_just_fetched

    def _is_fresh(self) -> bool:
        """Return whether the cached keys may still be used."""
        return self._clock() - self._fetched < KEPT_SECONDS

    async def _fetch(self) -> None:
        """Fetch all keys of the issuer into the cache.

        After a failure, no attempt is made for `FAILED_SECONDS`, so that many requests do not flood the issuer.

        Raises:
            IssuerUnreachable: the keys cannot be fetched, or an attempt within the last `FAILED_SECONDS` failed.
        """
        if self._clock() - self._failed < FAILED_SECONDS:
            raise IssuerUnreachable
        try:
            keys = await to_thread.run_sync(partial(_keys_of, self._issuer, self._jwks_url), abandon_on_cancel=True)
        except (OSError, HTTPException, ValueError, jwt.PyJWTError) as error:
            self._failed = self._clock()
            self._log.error("the identity provider cannot be reached", reason=type(error).__name__)
            raise IssuerUnreachable from None
        # Tokens name their key by its id, so keys without an id are of no use.
        self._keys = {key.key_id: key for key in keys if key.key_id is not None}
        self._fetched = self._clock()


def _keys_of(issuer: str, jwks_url: str) -> Sequence[jwt.PyJWK]:
    """Fetch the public keys of an issuer, with which signatures of tokens are verified.

    Args:
        issuer: URL of the issuer (an identity provider).
        jwks_url: URL of its public keys; empty to read it from the configuration document of the issuer.

    Raises:
        OSError, HTTPException, ValueError, PyJWTError: the keys cannot be fetched.
    """
    url = jwks_url or _discover_keys_url(issuer)
    return jwt.PyJWKClient(url, cache_jwk_set=False, timeout=TIMEOUT_SECONDS).get_signing_keys()


def _discover_keys_url(issuer: str) -> str:
    """Read the URL of an issuer's keys from its configuration document, as OpenID Connect Discovery defines it.

    Args:
        issuer: URL of the issuer.

    Returns:
        The URL, which is an https URL or of this machine.

    Raises:
        OSError, HTTPException: the document cannot be fetched.
        ValueError: the document is not JSON, belongs to another issuer, or has no such URL.
    """
    configuration_url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    # A redirect could lead to a document of somebody else.
    opener = urllib.request.build_opener(_RedirectRefuser())
    try:
        with opener.open(configuration_url, timeout=TIMEOUT_SECONDS) as answer:
            document = json.loads(answer.read(MOST_BYTES))
    except HTTPError as refused:
        refused.close()
        raise
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        raise ValueError("the document is that of another issuer")
    url = document.get("jwks_uri")
    if not isinstance(url, str) or not is_private_url(url):
        raise ValueError("the document has no URL of keys that is protected in transit")
    return url


class _RedirectRefuser(urllib.request.HTTPRedirectHandler):
    """Handler for HTTP requests that rejects redirects, so that keys come only from the configured address."""

    def redirect_request(self, *_: object) -> None:
        """Reject the redirect."""

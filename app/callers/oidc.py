"""Bearer tokens of an OpenID Connect issuer: whom they name, and what they allow."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from epsilond.app.callers.caller import Budgets, Caller
from epsilond.app.callers.keys import NAME_PATTERN
from epsilond.app.callers.scopes import ROLES, SCOPES, UNSAID_ROLES, RoleName, ScopeName
from epsilond.app.http.problems import Problem
from epsilond.app.settings import Settings
from epsilond.extras import extra

if TYPE_CHECKING:
    from epsilond.app.callers.issuer import Issuer

NAME_LENGTH = 64
"""Most that the owner of a job may have."""
SUBJECT_LENGTH = 1024
RETRY = {"Retry-After": "5"}


class Tokens:
    """Everybody who has a token."""

    def __init__(self, issuer: Issuer, settings: Settings, budgets: Budgets) -> None:
        self._issuer = issuer
        self._settings = settings
        self._budgets = budgets

    @classmethod
    def of(cls, settings: Settings, budgets: Budgets) -> Tokens | None:
        """Those of the issuer of the settings; None if there is none.

        Raises:
            MissingExtra: the packages that check tokens are not installed.
        """
        if not settings.oidc_issuer:
            return None
        with extra("oidc", "an OpenID Connect issuer"):
            from epsilond.app.callers.issuer import Issuer  # noqa: PLC0415  its packages are an extra
        issuer = Issuer(settings.oidc_issuer, settings.oidc_audience, settings.oidc_jwks_url)
        return cls(issuer, settings, budgets)

    async def caller(self, token: str) -> Caller | None:
        """Whom a token names; None of one that is not taken.

        Raises:
            Problem: its issuer cannot be asked for its keys.
        """
        from epsilond.app.callers.issuer import IssuerUnreachable  # noqa: PLC0415  as above

        try:
            claims = await self._issuer.claims(token)
        except IssuerUnreachable:
            raise Problem("unavailable", "The identity provider cannot be reached.", headers=RETRY) from None
        name = None if claims is None else owner_of(claims.get(self._settings.oidc_name_claim))
        if claims is None or name is None:
            return None
        scopes = scopes_of(claims, self._settings.oidc_scope_claim)
        organisation = organisation_of(claims, self._settings.oidc_organisation_claim)
        roles = roles_of(claims, self._settings.oidc_roles_claim)
        if organisation is None or "ledger" not in scopes:
            organisation, roles = "", frozenset()
        return Caller.of_token(name, scopes, self._budgets, organisation=organisation, roles=roles)


def owner_of(subject: object) -> str | None:
    """The name of a token's subject, which no key can have; of a long or unusual one, of its digest."""
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_LENGTH:
        return None
    name = f"token:{subject}"
    if len(name) <= NAME_LENGTH and name.isascii() and name.isprintable():
        return name
    return f"token-sha256:{hashlib.sha256(subject.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def scopes_of(claims: Mapping[str, object], claim: str) -> frozenset[ScopeName]:
    """The scopes of ours that a token has; it may have others, for other services."""
    words = _words(claims.get(claim, ""))
    return frozenset(scope for scope in SCOPES if scope in words)


def organisation_of(claims: Mapping[str, object], claim: str) -> str | None:
    """Return the organisation of a token in lower case; the nameless one where no claim is configured.

    Args:
        claims: what the token says.
        claim: name of the claim; empty where none is configured.

    Returns:
        None if the claim is missing or no name: such a token has no rights on ledgers.
    """
    if not claim:
        return ""
    name = claims.get(claim)
    return name.lower() if isinstance(name, str) and re.fullmatch(NAME_PATTERN, name) else None


def roles_of(claims: Mapping[str, object], claim: str) -> frozenset[RoleName]:
    """Return the roles of a token; owner and analyst where no claim is configured.

    Args:
        claims: what the token says.
        claim: name of the claim, words with spaces between or a list; empty where none is configured.
    """
    if not claim:
        return UNSAID_ROLES
    words = _words(claims.get(claim, ""))
    return frozenset(role for role in ROLES if role in words)


def _words(value: object) -> Sequence[object]:
    """Return the words of a claim."""
    return value.split() if isinstance(value, str) else value if isinstance(value, list) else ()

"""Bearer tokens of an OpenID Connect issuer: their callers, and their rights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from epsilond.app.callers.caller import Budgets, Caller
from epsilond.app.callers.keys import NAME_PATTERN
from epsilond.app.callers.limits import NO_OWN_LIMITS
from epsilond.app.callers.scopes import DEFAULT_ROLES, ROLES, SCOPES, RoleName, ScopeName
from epsilond.app.http.problems import Problem
from epsilond.app.settings import Settings
from epsilond.extras import extra

if TYPE_CHECKING:
    from epsilond.app.callers.issuer import Issuer

NAME_LENGTH = 64
"""Most characters of the owner of a job."""
# Length of the longest accepted name of a caller, in characters.
SUBJECT_LENGTH = 1024
RETRY = {"Retry-After": "5"}


class Tokens:
    """Verifier of bearer tokens of one OpenID Connect issuer.

    Args:
        issuer: the issuer. Its public keys verify the signatures of tokens.
        settings: names of the claims with the caller's name, scopes, organisation and roles.
        budgets: accounts of the CPU time of callers.
    """

    def __init__(self, issuer: Issuer, settings: Settings, budgets: Budgets) -> None:
        self._issuer = issuer
        self._settings = settings
        self._budgets = budgets

    @classmethod
    def of(cls, settings: Settings, budgets: Budgets) -> Tokens | None:
        """Return the verifier of bearer tokens of the configured OpenID Connect issuer.

        Args:
            settings: settings of the service.
            budgets: accounts of the CPU time of callers.

        Returns:
            The verifier. None if the settings name no issuer, so that the service accepts no tokens.

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
        """Verify a token, and return its caller with the permissions that its claims (signed statements) give.

        A token without a valid organisation, or without the scope `ledger`, has no roles.

        Args:
            token: bearer token of a request, as the client sent it.

        Returns:
            The caller; None if the token is not valid or names no caller.

        Raises:
            Problem: the keys of the issuer cannot be fetched.
        """
        from epsilond.app.callers.issuer import IssuerUnreachable  # noqa: PLC0415  its packages are an extra

        try:
            claims = await self._issuer.claims(token)
        except IssuerUnreachable:
            raise Problem("unavailable", "The identity provider cannot be reached.", headers=RETRY) from None
        if claims is None:
            return None
        name = owner_of(claims.get(self._settings.oidc_name_claim))
        if name is None:
            return None

        # Roles are permissions on the ledgers of an organisation, so they need it and the scope.
        scopes = scopes_of(claims, self._settings.oidc_scope_claim)
        organisation = organisation_of(claims, self._settings.oidc_organisation_claim)
        roles = roles_of(claims, self._settings.oidc_roles_claim)
        if organisation is None or "ledger" not in scopes:
            organisation, roles = "", frozenset()
        return Caller(
            name=name,
            identity=name,
            shown=name,
            scopes=scopes,
            limits=NO_OWN_LIMITS,
            budgets=self._budgets,
            organisation=organisation,
            roles=roles,
        )


def owner_of(subject: object) -> str | None:
    """Return the name under which the jobs of a token's subject are stored.

    It contains a colon, so that no API key has the same name. A subject that is long or not printable ASCII is replaced
    by its digest.

    Args:
        subject: value of the claim (signed statement in the token) that names its subject.

    Returns:
        The name, at most `NAME_LENGTH` characters. None if the claim is not a text, is empty, or is longer than
        `SUBJECT_LENGTH`.
    """
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_LENGTH:
        return None
    name = f"token:{subject}"
    if len(name) <= NAME_LENGTH and name.isascii() and name.isprintable():
        return name
    subject_bytes = subject.encode("utf-8", "surrogatepass")  # JSON texts may have unpaired surrogates
    # The first 160 bits of the digest suffice to keep the names of different subjects apart.
    digest = hashlib.sha256(subject_bytes).hexdigest()
    return f"token-sha256:{digest[:40]}"


def scopes_of(claims: Mapping[str, object], claim: str) -> frozenset[ScopeName]:
    """Return the scopes (permissions for kinds of requests) of this service that a token has.

    Args:
        claims: claims (signed statements) of the token by name.
        claim: name of the claim with the scopes, words with spaces between or a list.

    Returns:
        The known scopes. Scopes of other services are ignored.
    """
    words = _words(claims.get(claim, ""))
    return frozenset(scope for scope in SCOPES if scope in words)


def organisation_of(claims: Mapping[str, object], claim: str) -> str | None:
    """Return the organisation of a token in lower case; empty if no claim is configured.

    The organisation decides which ledgers (privacy budgets of data sets) the caller may use.

    Args:
        claims: claims (signed statements) of the token by name.
        claim: name of the claim; empty if none is configured.

    Returns:
        The organisation. None if the claim is missing or not a valid name: such a token has no rights on ledgers.
    """
    if not claim:
        return ""
    name = claims.get(claim)
    if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name):
        return None
    return name.lower()


def roles_of(claims: Mapping[str, object], claim: str) -> frozenset[RoleName]:
    """Return the roles of a token, which are permissions on the ledgers of its organisation.

    Args:
        claims: claims (signed statements) of the token by name.
        claim: name of the claim, words with spaces between or a list; empty if none is configured.

    Returns:
        The known roles among the words of the claim; owner and analyst if no claim is configured.
    """
    if not claim:
        return DEFAULT_ROLES
    words = _words(claims.get(claim, ""))
    return frozenset(role for role in ROLES if role in words)


def _words(value: object) -> Sequence[object]:
    """Return the words of a claim: a list as it is, or a text split at spaces. Any other value has no words."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list):
        return value
    return ()

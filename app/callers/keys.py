"""API keys and their lines: the owner of a key, its rights, and its time of expiry.

A file of keys holds one JSON object per line: {"name": …, "sha256": …} and optionally "organisation", "roles",
"scopes", "expires", "revoked" and "limits". It has only digests of keys. A key is 256 random bits, which cannot be
recovered from its SHA-256. A slow hash would protect only secrets that people choose. Two lines of one name are two
keys of one owner, so that a key can be replaced without a gap.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from epsilond.app.callers.limits import NO_OWN_LIMITS, CallerLimits
from epsilond.app.callers.scopes import DEFAULT_ROLES, DEFAULT_SCOPES, LEGACY_SCOPES, RoleName, ScopeName
from epsilond.app.settings import PREFIX

PREFIX_OF_KEYS = "epsk_"
"""Prefix of every key, by which people and scanners recognise a leaked key."""
SETTING = f"{PREFIX}API_KEYS_FILE"
# Number of hexadecimal digits of the digest that are the public id of a key.
ID_DIGITS = 12
NAME_PATTERN = r"^[A-Za-z0-9._-]{1,64}$"
"""Pattern of the names of keys and of organisations."""


@dataclass(frozen=True, kw_only=True)
class KeyLine:
    """A line of the file of API keys: one key with its owner, its permissions and its limits.

    The line holds only the SHA-256 digest of the secret key, so that the file does not reveal it. A scope is a
    permission for one kind of requests, such as calibrations. A role is a permission on the ledgers of an
    organisation's data sets.

    Attributes:
        name: owner of the key. All keys of one name are one caller.
        sha256: SHA-256 digest of the key, in hexadecimal digits.
        scopes: scopes of the key; absent in lines of earlier versions, which have `LEGACY_SCOPES`.
        organisation: organisation of the data sets that the key may use; absent: the data sets of all keys without an
            organisation.
        roles: roles on these data sets, which need the scope `ledger`; absent for owner and analyst.
        expires: time of expiry; absent for no expiry.
        revoked: time of the revocation. The line of a revoked key is kept as a record of the key.
        limits: limits on the use of all keys of this name together.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")

    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    scopes: Annotated[tuple[ScopeName, ...], Field(min_length=1)] | None = None
    organisation: Annotated[str, Field(pattern=NAME_PATTERN)] | None = None
    roles: Annotated[tuple[RoleName, ...], Field(min_length=1)] | None = None
    expires: AwareDatetime | None = None
    revoked: AwareDatetime | None = None
    limits: CallerLimits = NO_OWN_LIMITS

    @property
    def id(self) -> str:
        """Identifier of the key in lists and revocations.

        It distinguishes keys of one name, and does not reveal the key.
        """
        return self.sha256[:ID_DIGITS]

    @property
    def allowed(self) -> frozenset[ScopeName]:
        """The scopes of the key; if the line states none, those that all keys of earlier versions had."""
        if self.scopes is None:
            return LEGACY_SCOPES
        return frozenset(self.scopes)

    @property
    def belongs_to(self) -> str:
        """Name of the organisation in lower case, because names are compared without case; empty if there is none."""
        if self.organisation is None:
            return ""
        return self.organisation.lower()

    @property
    def held_roles(self) -> frozenset[RoleName]:
        """The roles of the key on the ledgers of its organisation; none without the scope `ledger`."""
        if "ledger" not in self.allowed:
            return frozenset()
        if self.roles is None:
            return DEFAULT_ROLES
        return frozenset(self.roles)

    @property
    def text(self) -> str:
        """The text of the line in the file."""
        return LINE.dump_json(self, exclude_defaults=True).decode()

    def is_expired(self, now: datetime) -> bool:
        """Return whether the key has expired.

        Args:
            now: present time, with its time zone.
        """
        return self.expires is not None and self.expires <= now


LINE: TypeAdapter[KeyLine] = TypeAdapter(KeyLine)


class NewKey(NamedTuple):
    """A new API key.

    Attributes:
        key: the key, which is not stored anywhere.
        line: its line for the file of keys, with a digest of the key.
    """

    key: str
    line: KeyLine


def new(
    name: str,
    limits: CallerLimits,
    scopes: Collection[ScopeName] = DEFAULT_SCOPES,
    expires: datetime | None = None,
    *,
    organisation: str | None = None,
    roles: Collection[RoleName] = (),
) -> NewKey:
    """Make a random key, and its line for the file of keys.

    Clients send the key itself with their requests. The service stores and compares only its digest.

    Args:
        name: owner of the key.
        limits: limits on the use of all keys of this name together.
        scopes: scopes of the key, that is, permissions for kinds of requests.
        expires: time of expiry; None for no expiry.
        organisation: organisation of the data sets that the key may use; None: data sets of keys without organisation.
        roles: roles on the ledgers of these data sets; empty for owner and analyst.

    Returns:
        The secret key, and its line with only the digest of the key.

    Raises:
        ValueError: a field is invalid, roles are given without the scope `ledger`, or the key would be expired already.
    """
    if roles and "ledger" not in scopes:
        raise ValueError("a role is one on ledgers: it needs the scope ledger")
    if expires is not None and expires <= datetime.now(UTC):
        raise ValueError("a key that has expired already opens nothing")
    key = PREFIX_OF_KEYS + secrets.token_urlsafe(32)  # 32 random bytes cannot be guessed
    line = KeyLine(
        name=name,
        sha256=digest(key),
        organisation=organisation,
        roles=tuple(sorted(roles)) or None,
        scopes=tuple(sorted(scopes)),
        expires=expires,
        limits=limits,
    )
    return NewKey(key, _validate(line))


def _validate(line: KeyLine) -> KeyLine:
    """Check the fields of a line of the file of API keys, and return the line.

    Args:
        line: one key with its owner, limits and permissions.

    Raises:
        ValueError: a field is invalid. The message does not repeat the value.
    """
    try:
        return LINE.validate_python(line)
    except ValidationError as error:
        field_name = "/".join(map(str, error.errors()[0]["loc"]))
    if field_name in ("name", "organisation"):
        raise ValueError("a name is up to 64 letters, digits, dots, hyphens and underscores")
    raise ValueError(f"{field_name} is out of range")


def digest(key: str) -> str:
    """Return the SHA-256 digest of a key, in 64 hexadecimal digits.

    Args:
        key: the secret key.
    """
    return hashlib.sha256(key.encode()).hexdigest()


def read_keys(path: Path) -> tuple[KeyLine, ...]:
    """Read all lines of a file of API keys.

    Args:
        path: the file, with one key per line as a JSON object.

    Returns:
        The keys in the order of the file, including expired and revoked ones.

    Raises:
        ValueError: the file cannot be read, or a line is invalid. The message does not repeat the line.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{SETTING}: {path} cannot be read: {type(error).__name__}") from None
    return lines_of(content, path)


def is_comment(text: str) -> bool:
    """Return whether a line of a file of keys is empty or a comment, which begins with #.

    Args:
        text: the line.
    """
    content = text.strip()
    return not content or content.startswith("#")


def lines_of(content: str, path: Path) -> tuple[KeyLine, ...]:
    """Parse the text of a file of API keys; empty lines and lines that begin with # are skipped.

    All keys of one name belong to one caller, so their limits and organisations must agree, except for revoked keys.

    Args:
        content: the text, with one key per line as a JSON object.
        path: the file, which error messages name.

    Returns:
        The keys in the order of the text, including expired and revoked ones; at least one.

    Raises:
        ValueError: a line is invalid or conflicts with an earlier one, there is no key, or only some of the keys with
            the scope `ledger` name an organisation. The message does not repeat a line.
    """
    lines: dict[str, KeyLine] = {}  # by digest
    first_of_name: dict[str, KeyLine] = {}  # of keys that are not revoked
    for number, text in enumerate(content.splitlines(), start=1):
        if is_comment(text):
            continue
        location = f"{SETTING}: line {number} of {path}"
        line = _parse_line(text, location)
        if line.sha256 in lines:
            raise ValueError(f"{location} has the key of an earlier line")
        if line.revoked is None:
            first_line = first_of_name.setdefault(line.name, line)
            _require_same_owner(line, first_line, location)
        lines[line.sha256] = line
    if not lines:
        raise ValueError(f"{SETTING}: {path} has no keys, so that nobody could ask")
    _require_organisations([*lines.values()], path)
    return tuple(lines.values())


def _parse_line(text: str, location: str) -> KeyLine:
    """Parse one line of a file of API keys.

    Args:
        text: the line, a JSON object.
        location: file and number of the line, for the message.

    Returns:
        The digest of the key, with its owner and rights.

    Raises:
        ValueError: the line is invalid. The message names the wrong field, without its value.
    """
    try:
        return LINE.validate_json(text)
    except ValidationError as error:
        invalid_field = "/".join(map(str, error.errors()[0]["loc"])) or "the line"
        raise ValueError(f"{location} is invalid: {invalid_field}") from None


def _require_same_owner(line: KeyLine, earlier: KeyLine, location: str) -> None:
    """Require that two API keys of one name have equal limits and organisations.

    All keys of one name belong to one caller, who has one set of limits and one organisation.

    Args:
        line: the later line of the file of keys.
        earlier: an earlier line with the same name.
        location: file and number of the later line, for the message.

    Raises:
        ValueError: the limits or the organisations differ.
    """
    if line.limits != earlier.limits:
        raise ValueError(f"{location} has other limits than an earlier one of its name")
    if line.belongs_to != earlier.belongs_to:
        raise ValueError(f"{location} has another organisation than its name before")


def _require_organisations(lines: Sequence[KeyLine], path: Path) -> None:
    """Require that either all keys with the scope `ledger` name an organisation, or none of them.

    A ledger belongs to an organisation. If some keys named none, one owner could have two ledgers for a data set, and
    spend its privacy budget twice.

    Args:
        lines: the API keys; revoked ones are not considered.
        path: file of the keys, for the message.

    Raises:
        ValueError: some of these keys name an organisation, and others do not.
    """
    ledger_keys = [line for line in lines if line.revoked is None and "ledger" in line.allowed]
    owners = [line.name for line in ledger_keys if line.organisation is None]  # of keys without an organisation
    if owners and len(owners) < len(ledger_keys):
        raise ValueError(f"{SETTING}: {path}: {owners[0]} has the scope ledger without an organisation, others with")

"""Keys of a service over time: one key signs, and all earlier signing keys stay published.

No signed document can prove when it was signed. `from` and `until` therefore state only which key signed when, and
signatures of a retired key stay valid. Misuse of a stolen key shows in the log's consistency and not in a date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from epsilond.ledgers.log.keys import PublicKey, SigningKey


@dataclass(frozen=True)
class PublishedKey:
    """Public key of a service with the times between which it signs.

    Attributes:
        key: the public key.
        since: time from which it signs, in UTC and whole seconds.
        until: time up to which it signed, if it was retired; None if it still signs.

    Raises:
        KeysUnusable: `until` is before `since`.
    """

    key: PublicKey
    since: datetime
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.until is not None and self.until < self.since:
            raise KeysUnusable("a key is not retired before it signs")

    @property
    def record(self) -> dict[str, str | None]:
        """The key as a JSON object, a JSON Web Key (RFC 7517) with further members.

        These are `name`, `note_key` (the key as text for verifiers of notes), and `from` and `until` (the times between
        which the key signs).
        """
        until = None if self.until is None else _format_time(self.until)
        members = {
            "name": self.key.name,
            "note_key": self.key.note_key,
            "from": _format_time(self.since),
            "until": until,
        }
        return self.key.jwk | members

    @classmethod
    def of_record(cls, record: object) -> PublishedKey:
        """Read a published key from its JSON object, as `record` returns it.

        Args:
            record: JSON object with the members of a published key, such as `note_key`, `from` and `until`.

        Returns:
            The public key, with the times between which it signs.

        Raises:
            Malformed: the record lacks members or has others, or its members describe different keys.
        """
        if not isinstance(record, Mapping):
            raise Malformed("is not a published key")
        try:
            key = PublicKey.of_note_key(record["note_key"])
            until_text = record["until"]
            until = None if until_text is None else _read_time(until_text)
            published = cls(key, _read_time(record["from"]), until)
        except (KeyError, AttributeError, TypeError, KeysUnusable):
            raise Malformed("is not a published key") from None
        # Several members state the same key. All must agree with the key that was read.
        if published.record != record:
            raise Malformed("the parts of a published key are not of one key")
        return published


@dataclass(frozen=True)
class SigningKeys:
    """Keys of a service: the private key that signs at present, and all public keys that were ever published.

    Attributes:
        signing: the private key that signs.
        published: all published keys, oldest first. The last is the public key of `signing`; the others are retired.

    Raises:
        KeysUnusable: the last published key is not that of `signing`, an earlier key is not retired, or a key is listed
            twice.
    """

    signing: SigningKey
    published: tuple[PublishedKey, ...]

    def __post_init__(self) -> None:
        """Check that exactly the last published key signs, and that no key is listed twice.

        Raises:
            KeysUnusable: the last published key is not that of `signing`, an earlier key is not retired, or a key is
                listed twice.
        """
        *retired, current = self.published
        if current.key != self.signing.public or current.until is not None:
            raise KeysUnusable("the key that signs is not the one that is published")
        has_several_current = any(key.until is None for key in retired)
        has_duplicates = len({key.key for key in self.published}) < len(self.published)
        if has_several_current or has_duplicates:
            raise KeysUnusable("all keys but the last are retired, and no key is listed twice")

    @classmethod
    def new(cls, signing: SigningKey, at: datetime) -> SigningKeys:
        """Return the keys of a service that has only its first key.

        Args:
            signing: the private key.
            at: time from which the key signs.
        """
        return cls(signing, (PublishedKey(signing.public, _second(at)),))

    @classmethod
    def following(cls, published: tuple[PublishedKey, ...], signing: SigningKey, at: datetime) -> SigningKeys:
        """Return the keys of a log after a new signing key has replaced the last one.

        The last key is retired at the same time. The earlier keys stay in the list, so that their signatures can be
        verified.

        Args:
            published: the keys that were published before.
            signing: the new key.
            at: time from which the new key signs.

        Returns:
            The new keys; the given ones are not changed.

        Raises:
            KeysUnusable: the new key signed before or has another name, or `at` is before the present key's start.
        """
        current = published[-1]
        if signing.name != current.key.name:
            raise KeysUnusable(f"the keys of {current.key.name} keep that name")
        if any(key.key == signing.public for key in published):
            raise KeysUnusable("a key that signed before does not follow itself")
        now = _second(at)
        retired = retire_signing_key(published, now)
        return cls(signing, (*retired, PublishedKey(signing.public, now)))

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """Public keys that verify the signatures of this service."""
        return tuple(key.key for key in self.published)

    def document(self) -> JsonRecord:
        """Return the public keys as the JSON document that the service publishes."""
        return document_of(self.published)


def retire_signing_key(published: tuple[PublishedKey, ...], at: datetime) -> tuple[PublishedKey, ...]:
    """Return the keys, with the last key retired at a given time unless it was retired before.

    A retired key signs no more. It stays published, so that its earlier signatures can be verified.

    Args:
        published: published keys, oldest first; at least one.
        at: time of the retirement, in UTC.

    Returns:
        All keys in the same order. Only the last may have changed.

    Raises:
        KeysUnusable: `at` is before the time from which the last key signs.
    """
    *earlier, current = published
    if current.until is not None:
        return published
    return (*earlier, replace(current, until=_second(at)))


def document_of(published: tuple[PublishedKey, ...]) -> JsonRecord:
    """Return the document of public keys that a service publishes.

    It is a JSON Web Key Set (RFC 7517). Its keys have more members: the name, the text for verifiers of notes, and the
    times between which the key signs.

    Args:
        published: the public keys, oldest first.

    Returns:
        The document as a JSON object with the member `keys`.
    """
    return {"keys": [key.record for key in published]}


def published_keys(document: object) -> tuple[PublishedKey, ...]:
    """Read the keys of a published document, which the caller must have from a trusted source.

    Args:
        document: JSON value, as `document_of` returns it.

    Returns:
        The keys in the order of the document; at least one.

    Raises:
        Malformed: the document has no list of keys, or a key is malformed.
    """
    listed = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(listed, list) or not listed:
        raise Malformed("is not a document of published keys")
    return tuple(PublishedKey.of_record(key) for key in listed)


def _second(at: datetime) -> datetime:
    """Return a time converted to UTC and rounded down to whole seconds.

    Args:
        at: time with a time zone.
    """
    return at.astimezone(UTC).replace(microsecond=0)


def _format_time(at: datetime) -> str:
    """Return a time as RFC 3339 text to the second, such as `2026-01-31T12:00:00Z`.

    Args:
        at: time in UTC.
    """
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _read_time(text: str) -> datetime:
    """Parse a time in UTC from its RFC 3339 text, such as `2026-01-31T12:00:00Z`.

    Args:
        text: the text, as `_format_time` writes it.

    Returns:
        The time, in UTC.

    Raises:
        Malformed: the text has another form.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise Malformed("is not a time of a published key") from None

"""The file of webhooks: URLs, the events that each gets, and the secret that signs its messages."""

from __future__ import annotations

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from epsilond.app.callers.keys import NAME_PATTERN
from epsilond.app.machine import is_private_url
from epsilond.app.settings import PREFIX

SETTING: Final = f"{PREFIX}LEDGER_WEBHOOKS"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 (no secret)
"""Beginning of a secret in the file, as in Standard Webhooks; base 64 follows."""
SECRET_BYTES: Final = range(24, 65)
"""Lengths of a secret in bytes, as in Standard Webhooks: shorter ones can be guessed."""
EventKind = Literal["fraction", "expired", "exhausted", "head"]
Fraction = Annotated[float, Field(gt=0.0, le=1.0)]


class WebhookEndpoint(BaseModel):
    """Receiver of webhook messages, as an entry of the service's file of endpoints.

    Attributes:
        url: address to which messages are sent: https, or http of the loopback.
        secret: `whsec_` and the signing key in base 64.
        events: kinds of events about which messages are sent.
        fractions: fractions above 0 and at most 1. A message is sent when the committed share of a slot reaches one of
            them. A slot is a part of a ledger's privacy budget.
        organisation: only messages about this organisation's ledgers are sent; None means those of all.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    url: str
    secret: str
    events: Annotated[tuple[EventKind, ...], Field(min_length=1)] = get_args(EventKind)
    fractions: Annotated[tuple[Fraction, ...], Field(min_length=1, max_length=20)] = (0.5, 0.8, 0.95)
    organisation: Annotated[str, Field(pattern=NAME_PATTERN)] | None = None

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        """Return the URL of an endpoint, after checking that messages to it cannot be read on the way.

        Args:
            url: the URL: https, or http of the same machine.

        Returns:
            The same URL.

        Raises:
            ValueError: the URL is neither of these, or has a user, a fragment, or characters that are not printable
                ASCII.
        """
        has_user_or_fragment = "@" in url or "#" in url
        is_plain_text = url.isascii() and url.isprintable()
        if not is_private_url(url) or has_user_or_fragment or not is_plain_text:
            raise ValueError("must be an https URL without user and fragment; http only of the loopback")
        return url

    @field_validator("secret")
    @classmethod
    def _check_secret(cls, secret: str) -> str:
        """Return the secret of an endpoint, after checking its form and the length of the key in it.

        Args:
            secret: `whsec_` and the key in base 64.

        Returns:
            The same secret.

        Raises:
            ValueError: the secret does not have this form, or the key is shorter than 24 or longer than 64 bytes.
        """
        try:
            length = len(key_of(secret))
        except (binascii.Error, ValueError):
            length = 0  # which is rejected below
        if not secret.startswith(SECRET_PREFIX) or length not in SECRET_BYTES:
            raise ValueError(f"must be {SECRET_PREFIX} and 24 to 64 bytes in base 64")
        return secret

    @property
    def id(self) -> str:
        """Identifier of the endpoint: a hash of its URL and organisation, which other fields do not affect."""
        return hashlib.sha256(f"{self.url}\n{self.organisation or ''}".encode()).hexdigest()[:32]

    @property
    def key(self) -> bytes:
        """The key that signs the messages."""
        return key_of(self.secret)

    def gets(self, kind: EventKind, organisation: str | None) -> bool:
        """Return whether messages of a kind about an organisation's ledgers are sent to this endpoint.

        Args:
            kind: kind of the event. The kind `head` (the log lacks entries) concerns every organisation.
            organisation: owner of the ledgers; None for an event of the log as a whole.

        Returns:
            True if they are sent.
        """
        concerns_organisation = kind == "head" or self.organisation is None or self.organisation == organisation
        return kind in self.events and concerns_organisation


class WebhooksFile(BaseModel):
    """The content of the service's file of webhooks (HTTP addresses that get messages about ledgers).

    Attributes:
        webhooks: the endpoints, at most 50.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    webhooks: Annotated[tuple[WebhookEndpoint, ...], Field(max_length=50)]


def key_of(secret: str) -> bytes:
    """Decode the signing key in the secret of an endpoint.

    Args:
        secret: `whsec_` and the key in base 64.

    Returns:
        The bytes of the key.

    Raises:
        ValueError: the text after the prefix is not base 64.
    """
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)


def endpoints_of(path: str) -> tuple[WebhookEndpoint, ...]:
    """Read the endpoints of webhooks from a JSON file. An empty path gives no endpoints.

    An endpoint is an HTTP address that gets messages about the ledgers of an organisation.

    Args:
        path: path of the file, from the service's settings.

    Returns:
        The endpoints, of which no two have the same address and organisation.

    Raises:
        ValueError: the file cannot be read, or a field is not valid. The message names the field, without its value.
    """
    if not path:
        return ()
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{SETTING}: the file cannot be read: {error.strerror}") from None
    try:
        endpoints = WebhooksFile.model_validate_json(text).webhooks
    except ValidationError as error:
        # The input is left out of the message, because it contains secrets.
        fault, *_ = error.errors(include_input=False, include_url=False, include_context=False)
        field = ".".join(map(str, fault["loc"])) or "the file"
        raise ValueError(f"{SETTING}: {field}: {fault['msg']}") from None
    if len({endpoint.id for endpoint in endpoints}) < len(endpoints):
        raise ValueError(f"{SETTING}: webhooks: two have the same url and organisation")
    return endpoints

"""One delivery: a message is signed as in Standard Webhooks 1.0, and posted. Nothing of the response is kept."""

from __future__ import annotations

import base64
import hashlib
import hmac
import urllib.request
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError

from epsilond.ledgers.http.webhooks.endpoints import WebhookEndpoint
from epsilond.ledgers.store.messages import MessageRow

TIMEOUT_SECONDS: Final = 10.0
"""Longest wait for a connection and for a response, in seconds; receivers should answer before they work."""
GONE: Final = 410
"""Status by which a receiver says that it wants no messages any more."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Handler that treats a redirect as a failure.

    A message then goes only to the address that the operator has set.
    """

    def redirect_request(self, *_: object) -> None:
        """Return None, so that the response is raised as an error."""
        return


_OPENER: Final = urllib.request.build_opener(_NoRedirects)


def headers_of(row: MessageRow, key: bytes, timestamp: int) -> dict[str, str]:
    """Return the HTTP headers of a delivery, with its signature as in Standard Webhooks 1.0.

    The signature is the HMAC-SHA-256 of the message's id, the time and the body, joined by full stops.

    Args:
        row: the message.
        key: secret key of the endpoint.
        timestamp: time of the delivery, in whole seconds since 1970.

    Returns:
        The values of the headers, by their names.
    """
    signed = f"{row.id}.{timestamp}.{row.body}".encode()
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return {
        "content-type": "application/json",
        "user-agent": "epsilond-webhooks",
        "webhook-id": row.id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }


def send(endpoint: WebhookEndpoint, row: MessageRow, timestamp: int) -> str | None:
    """Post a message to an endpoint. Each read of the response blocks for at most `TIMEOUT_SECONDS`.

    Args:
        endpoint: receiver of the message.
        row: the message.
        timestamp: present time, in whole seconds since 1970.

    Returns:
        None if the endpoint received the message. Otherwise the reason: an HTTP status such as "503", or the name of
        the error's class, which contains no URL.
    """
    headers = headers_of(row, endpoint.key, timestamp)
    request = urllib.request.Request(endpoint.url, row.body.encode(), headers, method="POST")  # noqa: S310 (checked)
    try:
        with _OPENER.open(request, timeout=TIMEOUT_SECONDS):
            return None
    except HTTPError as error:
        error.close()
        return str(error.code)
    except (OSError, HTTPException, ValueError) as error:
        return type(error).__name__

"""Addresses: whose queue and budget a request without a name counts to."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from starlette.types import Scope

UNKNOWN = "unknown"
"""A socket without addresses, or a proxy that names no address."""
NETWORK = 64
"""Bits of an IPv6 address that name a subscriber; whoever has one such network has all the addresses in it."""
REMEMBERED = 1024
"""Addresses of which it is known how they are written."""


def address_of(scope: Scope) -> str:
    """The address of the client, as the server or a proxy that it believes has told it."""
    client = scope.get("client")
    return _written(client[0]) if client else UNKNOWN


@lru_cache(REMEMBERED)
def _written(host: str) -> str:
    """An address as it is written here, whatever spelling it came in."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return UNKNOWN


@lru_cache(REMEMBERED)
def network_of(address: str) -> str:
    """The address if it is one of IPv4, else its network of 64 bits: all that one subscriber can choose from."""
    if address == UNKNOWN:
        return address
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), NETWORK), strict=False))

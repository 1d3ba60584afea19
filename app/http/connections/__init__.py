"""Connections to the service: uvicorn's own, bounded against clients that are slow on purpose, or too many."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Literal

from epsilond.app.http.connections.by_h11 import ByH11
from epsilond.app.settings import Settings

Parser = Literal["h11", "httptools"]


def connection(settings: Settings, parser: Parser | None = None) -> type[asyncio.Protocol]:
    """The class of connections of these settings, as uvicorn wants it: over httptools where it is installed."""
    plain = type("Connection", (ByH11,), {"settings": settings})
    if (parser or ("httptools" if find_spec("httptools") else "h11")) == "h11":
        return plain
    from epsilond.app.http.connections.by_httptools import ByHttptools  # noqa: PLC0415  it may not be installed

    return type("Connection", (ByHttptools,), {"settings": settings, "plain": plain})

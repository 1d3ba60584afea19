"""The Prefer header of RFC 7240, of which we honour `wait`: how long a client would rather wait than come again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.request import parse_http_list

WAIT = re.compile(r'wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;.*)?', re.IGNORECASE)


def wait_of(headers: Sequence[str]) -> int | None:
    """The seconds of the first `wait` of the headers; None if there is none that can be read."""
    preferences = (preference for header in headers for preference in parse_http_list(header))
    found = next(filter(None, map(WAIT.fullmatch, preferences)), None)
    return None if found is None else int(found[1] or found[2])

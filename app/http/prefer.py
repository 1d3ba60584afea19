"""How a client wants to be answered: Prefer (RFC 7240), of which we honour `wait` and `respond-async`, and its key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.request import parse_http_list

from fastapi import Depends, Header
from starlette.requests import Request

from epsilond.app.settings import Settings

WAIT = re.compile(r'wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;.*)?', re.IGNORECASE)
AT_ONCE = re.compile(r"respond-async\s*(?:;.*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Preferences:
    """What a request says of how it is to be answered."""

    wait: int | None = None
    """Most seconds that it wants to wait; None: as long as the service lets it."""
    key: str | None = None
    """The idempotency key."""
    most: float = 0.0
    """Longest that this service lets a request wait that says how long."""

    def seconds(self, settings: Settings) -> float:
        """How long to wait for the answer to a question."""
        return settings.deadline_seconds if self.wait is None else float(self.granted or 0)

    @property
    def granted(self) -> int | None:
        """The seconds of waiting that are granted, if any were asked for."""
        return None if self.wait is None else min(self.wait, int(self.most))

    @property
    def applied(self) -> Mapping[str, str]:
        """The header that says so."""
        return {} if self.granted is None else {"preference-applied": f"wait={self.granted}"}


def wait_of(headers: Sequence[str]) -> int | None:
    """The seconds of the first `wait` of the headers, 0 for `respond-async`; None if neither can be read."""
    preferences = [preference for header in headers for preference in parse_http_list(header)]
    found = next(filter(None, map(WAIT.fullmatch, preferences)), None)
    if found is not None:
        return int(found[1] or found[2])
    return 0 if any(map(AT_ONCE.fullmatch, preferences)) else None


Prefer = Annotated[
    list[str] | None,
    Header(
        alias="Prefer",
        description="RFC 7240. `wait=S`: wait so many seconds, then take a job; `respond-async`: at once",
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="names this request: where it became a job, posting it again answers that job while it is kept, and"
        " a new one if it was interrupted",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
    ),
]


STATED_IN = ("prefer", "idempotency-key")
"""Headers that state preferences."""


async def preferences_of(
    request: Request, prefer: Prefer = None, idempotency_key: IdempotencyKey = None
) -> Preferences:
    """Those that the headers of a request state."""
    return Preferences(wait_of(prefer or ()), idempotency_key, request.app.state.settings.job_wait_seconds)


async def _waits(request: Request, prefer: Prefer = None) -> Preferences:
    return Preferences(wait_of(prefer or ()), None, request.app.state.settings.job_wait_seconds)


def unstated(request: Request) -> Preferences | None:
    """The preferences of a request that states none; None if it states some, which are to be read."""
    if any(name in request.headers for name in STATED_IN):
        return None
    return Preferences(most=request.app.state.settings.job_wait_seconds)


OfQuestion = Annotated[Preferences, Depends(preferences_of)]
"""A parameter of an endpoint that starts something."""
OfLook = Annotated[Preferences, Depends(_waits)]
"""A parameter of an endpoint that only looks."""

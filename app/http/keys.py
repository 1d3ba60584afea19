"""Who may ask: the file of API keys, read once at start, and the allowance that each name has.

The file holds one JSON object a line: {"name": …, "sha256": …, "limits": {…}}. It has digests only. A key is 256 random
bits, which nobody finds from its SHA-256; a slow hash is for secrets that people choose, and would only slow us down.
Two lines of one name are two keys of one owner, so that a key can be replaced without a gap.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import Request

from epsilond.app.http.problems import Problem
from epsilond.app.settings import PREFIX

PREFIX_OF_KEYS = "epsk_"
"""So that a key which has leaked is known for what it is, by people and by scanners."""
CALLER = "epsilond.caller"
SETTING = f"{PREFIX}API_KEYS_FILE"
Count = Annotated[int, Field(ge=1, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the keys of one name may do together; absent: as much as anybody."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")

    requests_per_minute: Count | None = None
    concurrent_computations: Count | None = None
    """Questions of theirs that run or wait at one time; answers from the cache and closed forms do not count."""
    jobs: Count | None = None
    """Simulations of theirs that run or wait at one time."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the file."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    limits: Limits = Limits()

    @property
    def text(self) -> str:
        """As it stands in the file."""
        return LINE.dump_json(self, exclude_defaults=True).decode()


LINE: TypeAdapter[Line] = TypeAdapter(Line)


def new(name: str, limits: Limits) -> tuple[str, Line]:
    """A fresh key, and its line; the key is nowhere else.

    Raises:
        ValueError: the name cannot be one.
    """
    key = PREFIX_OF_KEYS + secrets.token_urlsafe(32)
    try:
        return key, LINE.validate_python(Line(name=name, sha256=digest(key), limits=limits))
    except ValidationError:
        raise ValueError("a name is up to 64 letters, digits, dots, hyphens and underscores") from None


def digest(key: str) -> str:
    """The SHA-256 of a key, in hexadecimal."""
    return hashlib.sha256(key.encode()).hexdigest()


def read(path: Path) -> tuple[Line, ...]:
    """The lines of a file of keys.

    Raises:
        ValueError: the file cannot be read, or a line is none. Nothing of the line is repeated.
    """
    try:
        texts = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{SETTING}: {path} cannot be read: {type(error).__name__}") from None
    return lines_of(texts, path)


def lines_of(whole: str, path: Path) -> tuple[Line, ...]:
    """The lines of the text of a file; empty ones and those that begin with # say nothing.

    Raises:
        ValueError: a line is none, or does not go with an earlier one. Nothing of it is repeated.
    """
    texts = whole.splitlines()
    lines: list[Line] = []
    for place, text in enumerate(texts, start=1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        try:
            line = LINE.validate_json(text)
        except ValidationError as error:
            wrong = "/".join(map(str, error.errors()[0]["loc"])) or "the line"
            raise ValueError(f"{SETTING}: line {place} of {path} is invalid: {wrong}") from None
        if any(earlier.sha256 == line.sha256 for earlier in lines):
            raise ValueError(f"{SETTING}: line {place} of {path} has the key of an earlier line")
        if any(earlier.name == line.name and earlier.limits != line.limits for earlier in lines):
            raise ValueError(f"{SETTING}: line {place} of {path} has other limits than an earlier one of its name")
        lines.append(line)
    if not lines:
        raise ValueError(f"{SETTING}: {path} has no keys, so that nobody could ask")
    return tuple(lines)


class Caller:
    """Whoever asks: their name, and what they may still do."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self._rate = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._per_minute = RateLimitItemPerMinute(limits.requests_per_minute or 1)
        self._computing = 0

    async def request(self) -> None:
        """One request more.

        Raises:
            Problem: they have asked too often within a minute.
        """
        if self.limits.requests_per_minute is None or await self._rate.hit(self._per_minute, self.name):
            return
        left = (await self._rate.get_window_stats(self._per_minute, self.name)).reset_time - time.time()
        seconds = str(min(max(math.ceil(left), 1), 60))
        raise Problem("rate-limited", "This key has asked too often.", headers={"Retry-After": seconds})

    @contextmanager
    def computation(self) -> Iterator[None]:
        """Within this, one computation of theirs runs or waits.

        Raises:
            Problem: too many do.
        """
        most = self.limits.concurrent_computations
        if most is not None and self._computing >= most:
            raise Problem("rate-limited", "Too many computations of this key are under way.", headers=RETRY_SOON)
        self._computing += 1
        try:
            yield
        finally:
            self._computing -= 1

    def require_job(self, live: int) -> None:
        """One simulation more, beside so many of theirs.

        Raises:
            Problem: that would be too many.
        """
        if self.limits.jobs is not None and live >= self.limits.jobs:
            raise Problem("rate-limited", "Too many simulations of this key have not ended.", headers=RETRY_SOON)


RETRY_SOON = {"Retry-After": "5"}
ANYBODY = Caller("", Limits())
"""Who asks where no keys are asked for."""


class Keys:
    """Everybody who has a key."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._digests = [(line.sha256, line.name) for line in lines]
        self._callers = {line.name: Caller(line.name, line.limits) for line in lines}

    @classmethod
    def of(cls, path: str) -> Keys | None:
        """Those of a file; None if no file is named: then nobody is asked.

        Raises:
            ValueError: the file cannot be read.
        """
        return cls(read(Path(path))) if path else None

    def caller(self, key: str) -> Caller | None:
        """Whose key this is. Every digest is compared, each in constant time, so that the time says nothing."""
        given, found = digest(key), ""
        for known, name in self._digests:
            if hmac.compare_digest(known, given):
                found = name
        return self._callers.get(found)


def caller_of(request: Request) -> Caller:
    """Whoever asks this."""
    caller: Caller = request.scope.get(CALLER, ANYBODY)
    return caller

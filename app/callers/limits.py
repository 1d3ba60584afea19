"""What one caller may do at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

Count = Annotated[int, Field(ge=1, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class CallerLimits:
    """What the keys of one name may do together; absent: as much as anybody."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")

    requests_per_minute: Count | None = None
    concurrent_computations: Count | None = None
    """Questions of theirs that run or wait at one time; answers from the cache and closed forms do not count."""
    jobs: Count | None = None
    """Jobs of theirs that run or wait at one time."""
    cpu_seconds_per_minute: Annotated[float, Field(gt=0.0, le=1e9)] | None = None
    """CPU time of their computations, in the long run; ten minutes' worth may be used at once."""


NONE = CallerLimits()
"""Of a key that says nothing of limits."""

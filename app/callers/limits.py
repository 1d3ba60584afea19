"""Limits on the use of the service by one caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

Count = Annotated[int, Field(ge=1, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class CallerLimits:
    """Limits on the use of all keys of one name together; absent limits are the limits of all callers."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")

    requests_per_minute: Count | None = None
    concurrent_computations: Count | None = None
    """Most questions that run or wait at a time; answers from the cache and closed forms do not count."""
    jobs: Count | None = None
    """Most jobs that run or wait at a time."""
    cpu_seconds_per_minute: Annotated[float, Field(gt=0.0, le=1e9)] | None = None
    """CPU seconds of computations per minute, in the long run; ten minutes' worth may be used at once."""


NO_OWN_LIMITS = CallerLimits()
"""Limits of a key that states none."""

"""Limits on the use of the service by one caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

Count = Annotated[int, Field(ge=1, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class CallerLimits:
    """Limits on the use of all keys of one name together; absent limits are the limits of all callers.

    Attributes:
        requests_per_minute: largest number of requests within a minute.
        concurrent_computations: most questions that run or wait at a time. Answers from the cache and closed forms do
            not count.
        jobs: most jobs that run or wait at a time.
        cpu_seconds_per_minute: CPU seconds of computations per minute, in the long run. Ten minutes' worth may be used
            at once.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")

    requests_per_minute: Count | None = None
    concurrent_computations: Count | None = None
    jobs: Count | None = None
    cpu_seconds_per_minute: Annotated[float, Field(gt=0.0, le=1e9)] | None = None


NO_OWN_LIMITS = CallerLimits()
"""Limits of a key that states none."""

"""Servers that tests of jobs share."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from epsilond.app.settings import Settings
from tests.app.conftest import serving, wait_until
from tests.app.jobs.support import JOBS


@pytest.fixture(scope="module")
def small() -> Iterator[httpx.Client]:
    """Two workers of jobs, one place in the queue, little time and little room."""
    settings = Settings(
        workers=1,
        spare_workers=0,
        port=0,
        store_path=":memory:",
        job_workers=2,
        job_queue=1,
        job_seconds=100.0,
        job_megabytes=1,
        job_wait_seconds=500.0,
    )
    with serving(settings) as served:
        yield served


@pytest.fixture
def strict(small: httpx.Client) -> httpx.Client:
    """The same with nothing to do."""
    states = ("queued", "running")
    wait_until(lambda: not any(small.get(JOBS, params={"state": each}).json()["jobs"] for each in states))
    return small

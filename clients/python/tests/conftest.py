"""The service that ./scripts/test-clients has started, and clients of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from epsilond_client import Client


@pytest.fixture(scope="session")
def url() -> str:
    """Where the service is."""
    return os.environ["EPSILOND_URL"]


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    """A client of it."""
    with Client(url) as connected:
        yield connected

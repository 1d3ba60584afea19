"""The service at EPSILOND_URL, which scripts/test-clients starts."""

from __future__ import annotations

import os

import pytest

from epsilond_answers import connect


@pytest.fixture(scope="session")
def url():
    return os.environ["EPSILOND_URL"]


@pytest.fixture
def client(url):
    with connect(url, os.environ["EPSILOND_API_KEY"]) as connected:
        yield connected

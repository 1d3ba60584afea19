"""The whole contract, asked by schemathesis in every way that it knows. Collected only where slow tests are to run.

It makes its requests up while tests are collected, for every operation, and that takes longer than many tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig

from tests.app.test_contract import CHECKS, DOCUMENT, hurried_service

CONTRACT = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig())
CONTRACT.config.phases.update(phases=["examples", "coverage", "fuzzing"])
CONTRACT.config.generation.update(max_examples=30)


@pytest.fixture(scope="module")
def service(quiet: None) -> Iterator[httpx.Client]:
    """The service itself."""
    with hurried_service() as served:
        yield served


@pytest.mark.slow
@CONTRACT.parametrize()
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_the_contract_is_kept_at_length(case: Any, service: httpx.Client) -> None:
    case.call_and_validate(base_url=str(service.base_url), checks=CHECKS, timeout=300)

"""The whole contract, asked by schemathesis what its document allows and what it forbids, on a live service.

A deadline is an answer that the contract foresees, so 503 is no fault; 500 is. That a request which its schema allows
may be refused is meant: pairs of fields that no run can have (422) and what no proof answers (409) are no schema's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks

from app.main import create_app
from app.settings import Settings
from tests.app.conftest import serving

DOCUMENT = Path(__file__).parents[2] / "openapi" / "openapi.json"
load_all_checks()


def never_500(context: Any, response: Any, case: Any) -> None:
    """A fault of ours."""
    del context
    assert response.status_code != 500, (case.as_curl_command(), response.text)


CHECKS: list[Any] = [
    never_500,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
]


def contract(*, phases: list[str], **generation: Any) -> Any:
    """The committed document, to be asked about in these ways."""
    schema = schemathesis.openapi.from_path(DOCUMENT, config=SchemathesisConfig())
    schema.config.phases.update(phases=phases)
    schema.config.generation.update(**generation)
    return schema


SHORT = contract(phases=["fuzzing"], max_examples=1, deterministic=True)
LONG = contract(phases=["examples", "coverage", "fuzzing"], max_examples=30)
patient = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def service(quiet: None) -> Iterator[httpx.Client]:
    """The service itself. Whoever waits longer than a second is told that it took too long."""
    chosen = Settings(
        workers=1, port=0, deadline_seconds=1.0, job_seconds=2.0, job_wait_seconds=0.5, store_path=":memory:"
    )
    with serving(chosen, create_app(settings=chosen)) as served:
        yield served


@SHORT.parametrize()
@patient
def test_the_contract_is_kept(case: Any, service: httpx.Client) -> None:
    case.call_and_validate(base_url=str(service.base_url), checks=CHECKS, timeout=30)


@pytest.mark.slow
@LONG.parametrize()
@patient
def test_the_contract_is_kept_at_length(case: Any, service: httpx.Client) -> None:
    case.call_and_validate(base_url=str(service.base_url), checks=CHECKS, timeout=30)

"""The whole contract, asked by schemathesis what its document allows and what it forbids, on a live service.

Of a theorem's evaluations the schemas are those that stand at the theorem.

A deadline is an answer that the contract foresees, so 503 is not a fault; 500 is. That a request which its schema allows
may be refused is meant: pairs of fields that no run can have (422) and what no proof answers (409) belong to no schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks

from epsilond.accountants.theorems import THEOREMS
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from tests.app.conftest import serving
from tests.app.documents import with_theorems

COMMITTED = Path(__file__).parents[2] / "openapi" / "openapi.json"
DOCUMENT = with_theorems(json.loads(COMMITTED.read_text(encoding="utf-8")), THEOREMS)
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


OPERATIONS = [
    pytest.param(method, path, id=f"{method.upper()} {path}")
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
]
ONCE = settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def contract() -> Any:
    """The document. Requests are made up where a test runs: to collect the tests has to stay cheap."""
    return schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig())


def hurried_service() -> AbstractContextManager[httpx.Client]:
    """The service itself. Whoever waits longer than a second is told that it took too long."""
    chosen = Settings(
        workers=1,
        port=0,
        deadline_seconds=1.0,
        job_seconds=2.0,
        job_wait_seconds=0.5,
        store_path=":memory:",
        ledgers_in_memory=True,
    )
    return serving(chosen, create_app(settings=chosen))


@pytest.fixture(scope="module")
def service(quiet: None) -> Iterator[httpx.Client]:
    """It, for all of the operations."""
    with hurried_service() as served:
        yield served


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_contract_is_kept(method: str, path: str, contract: Any, service: httpx.Client) -> None:
    @given(contract[path][method.upper()].as_strategy())
    @settings(ONCE)
    def ask(case: Any) -> None:
        case.call_and_validate(base_url=str(service.base_url), checks=CHECKS, timeout=300)

    ask()

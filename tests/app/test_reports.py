"""POST /v1/reports: the page that the library makes, and faults that point into the body."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

import epsilond
from epsilond.app.main import create_app
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.witness.reports.compare import compare_records
from epsilond.witness.reports.record import open_page
from tests.app.conftest import PATIENT, serving

GAUSSIAN = next(dict(each.example) for each in CALIBRATORS if each.name == "gaussian")
BODY = {"kind": "calibration", "algorithm": "gaussian", "date": "2026-01-31", "request": GAUSSIAN}
SAID = ("kind", "name", "date", "request", "engine_version")
ACCOUNT = {"kind": "account", "request": EXAMPLES["several-deltas"]}


@pytest.fixture(scope="module")
def real() -> Iterator[httpx.Client]:
    """The service itself."""
    with serving(PATIENT, create_app(settings=PATIENT)) as served:
        yield served


@pytest.mark.parametrize("body", [BODY, ACCOUNT], ids=lambda body: body["kind"])
def test_the_page_is_the_librarys_and_today_agrees(real: httpx.Client, body: dict) -> None:
    response = real.post("/v1/reports", json=body)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    given = body["kind"], body.get("algorithm")
    ours = open_page(epsilond.report(*given, request=body["request"], date=body.get("date")))
    served = open_page(response.text)
    assert {name: served[name] for name in SAID} == {name: ours[name] for name in SAID}
    assert compare_records(served, ours)[0] != "contradicts"
    assert epsilond.verify(response.text).agrees
    assert real.post("/v1/reports", json=body).headers["x-cache"] == "hit"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"request": {**GAUSSIAN, "epsilon": -1}}, "/request/epsilon"),
        ({"request": {**GAUSSIAN, "delta": None}}, "/request/delta"),
        ({"request": {**GAUSSIAN, "sigma": 1}}, "/request/sigma"),
        ({"request": []}, "/request"),
        ({"date": "soon"}, "/date"),
        ({"algorithm": "gausian"}, "/algorithm"),
        ({"kind": "plan"}, "/kind"),
        ({"kind": "account"}, "/algorithm"),
        ({"title": "x"}, "/title"),
    ],
)
def test_faults_point_into_the_body(real: httpx.Client, change: dict, pointer: str) -> None:
    response = real.post("/v1/reports", json={**BODY, **change})
    assert response.status_code == 422
    assert [each["pointer"] for each in response.json()["errors"]] == [pointer]


def test_what_cannot_be_certified_is_a_problem_and_no_page(real: httpx.Client) -> None:
    spec = {"kind": "gaussian", "noise_multiplier": 1.0}
    shuffled = {"kind": "shuffled", "clients": 10, "mechanism": spec}
    body = {
        "spec": shuffled,
        "relation": "zero-out-one",
        "observer": "final-model",
        "query": {"delta": 1e-5},
        "unit": "record",
    }
    response = real.post("/v1/reports", json={"kind": "account", "request": body})
    assert response.status_code == 409
    assert response.headers["content-type"] == "application/problem+json"

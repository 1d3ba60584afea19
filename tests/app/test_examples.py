"""The committed examples are answered, by the project's own lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from epsilond.accountants.theorems import THEOREMS
from epsilond.app import openapi
from epsilond.app.main import create_app
from epsilond.calibrators import CALIBRATORS
from epsilond.witness.reports.record import opened
from tests.app.conftest import PATIENT, serving
from tests.app.documents import conforms, content

EXAMPLES = sorted((openapi.HERE / "examples").glob("*.json"))


@pytest.fixture(scope="module")
def real() -> Iterator[httpx.Client]:
    """The service itself."""
    with serving(PATIENT, create_app(settings=PATIENT)) as served:
        yield served


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(real: httpx.Client, path: Path) -> None:
    example = json.loads(path.read_text())
    response = real.request(example["method"], example["path"], json=example["body"])
    assert response.status_code == (202 if example["path"] == "/v1/simulations" else 200), response.text
    if response.headers["content-type"].startswith("text/html"):
        assert opened(response.text)["request"]
        return
    document = real.get("/openapi.json").json()
    conforms(document, content(document["paths"][example["path"]]["post"], response.status_code), response.json())


def test_everything_that_can_be_asked_has_an_example() -> None:
    bodies = [json.loads(path.read_text())["path"] for path in EXAMPLES]
    for calibrator in CALIBRATORS:
        assert f"/v1/calibrations/{calibrator.name}" in bodies
    for theorem in THEOREMS:
        if theorem.formula is not None:
            assert f"/v1/theorems/{theorem.id}/evaluations" in bodies


def test_the_committed_files_are_what_is_generated() -> None:
    assert openapi.differences(openapi.texts(create_app()), openapi.HERE) == []

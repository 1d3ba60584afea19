"""The committed examples and those of each theorem are answered, by the project's own lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import jsonschema
import pytest

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app import openapi
from epsilond.app.main import create_app
from epsilond.calibrators import CALIBRATORS
from epsilond.witness.reports.record import open_page
from tests.app.conftest import PATIENT, serving
from tests.app.documents import EVALUATIONS, SWEEPS, conforms, content

LEFT_OUT = ("/v1/ledgers", "/v1/reservations", "/v1/log")
"""These belong together: tests/app/ledgers."""
EXAMPLES = [
    path
    for path in sorted((openapi.HERE / "examples").glob("*.json"))
    if not json.loads(path.read_text(encoding="utf-8"))["path"].startswith(LEFT_OUT)
]
DOCUMENT = json.loads((openapi.HERE / "openapi.json").read_text(encoding="utf-8"))
FORMULAS = [theorem for theorem in THEOREMS if theorem.formula is not None]


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
        assert open_page(response.text)["request"]
        return
    document = real.get("/openapi.json").json()
    path_in_it = EVALUATIONS if example["path"].startswith("/v1/theorems/") else example["path"]
    path_in_it = SWEEPS if path_in_it.endswith("/sweeps") else path_in_it
    conforms(document, content(document, document["paths"][path_in_it]["post"], response.status_code), response.json())


@pytest.mark.parametrize("theorem", FORMULAS, ids=lambda theorem: theorem.id)
def test_a_theorem_tells_its_inputs_outputs_and_examples(real: httpx.Client, theorem: Theorem) -> None:
    told = real.get(f"/v1/theorems/{theorem.id}").json()
    assert told["examples"]
    for inputs in told["examples"]:
        jsonschema.Draft202012Validator(told["inputs_schema"]).validate(inputs)
        response = real.post(told["links"]["evaluations"], json={"inputs": inputs})
        assert response.status_code == 200, response.text
        outputs = response.json()["outputs"]
        jsonschema.Draft202012Validator(told["outputs_schema"]).validate(outputs)
        assert outputs.keys() <= told["outputs_schema"]["properties"].keys()
        conforms(DOCUMENT, content(DOCUMENT, DOCUMENT["paths"][EVALUATIONS]["post"], 200), response.json())


def test_everything_that_can_be_asked_has_an_example() -> None:
    bodies = [json.loads(path.read_text())["path"] for path in EXAMPLES]
    for calibrator in CALIBRATORS:
        assert f"/v1/calibrations/{calibrator.name}" in bodies
    for theorem in FORMULAS:
        assert theorem.examples


def test_the_committed_files_are_what_is_generated() -> None:
    assert openapi.differences(openapi.texts(create_app()), openapi.HERE) == []

"""Every kind of simulation that is shipped, over HTTP: posted, waited for, the library's answer to the bit, drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

import epsilond
from epsilond.app.main import create_app
from epsilond.simulators.files.folders import VARIABLE
from epsilond.witness.kinds import KINDS
from scripts.pages.simulations import result_schema
from tests.app.conftest import PATIENCE, PATIENT, serving
from tests.simulators.files.small_files import write_costs

PATH = "/v1/simulations"
SMALL: dict[str, dict[str, Any]] = {
    "risk": {"repetitions": 3, "points": 3},
    "audit": {"samples": 2000},
    "membership": {"runs": 2},
    "preset": {"preset": "mb-sgd-bound", "repetitions": 2},
}
EACH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.example["kind"]))


@pytest.fixture(scope="module")
def shipped() -> Iterator[httpx.Client]:
    """A server of the application as it is shipped."""
    with serving(PATIENT, create_app(settings=PATIENT)) as served:
        served.timeout = httpx.Timeout(2 * PATIENCE)
        yield served


def without_further_fields(schema: Any) -> Any:
    """Return the schema with every object limited to the fields that it lists."""
    if isinstance(schema, list):
        return [without_further_fields(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limits = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return {name: without_further_fields(item) for name, item in schema.items()} | limits


@EACH
def test_a_simulation_answers_what_the_library_answers_and_is_drawn(shipped: httpx.Client, kind: Any) -> None:
    body = dict(kind.example) | SMALL[kind.example["kind"]]
    response = shipped.post(PATH, json=body, headers={"prefer": "wait=600"})
    assert response.status_code == 200, response.text
    document = response.json()
    assert document["state"] == "done", document
    assert document["result"] == json.loads(json.dumps(epsilond.as_json(epsilond.simulate(body))))
    jsonschema.validate(document["result"], without_further_fields(dict(result_schema(kind))))
    figure = shipped.get(document["links"]["figure"], params={"format": "svg"})
    assert figure.status_code == 200
    assert figure.content == epsilond.draw(document["result"], "svg")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"run": {"algorithm": "sgd"}}, "/run/algorithm"),
        ({"repetitions": 1}, "/repetitions"),
        ({"problem": {"kind": "personalized-huber", "clients": 3, "dimension": 2}}, "/problem/kind"),
        ({"run": KINDS[0].example["run"] | {"noise_std": 1.0}}, "/run/noise_std"),
        ({"run": KINDS[0].example["run"] | {"batch_size": 1000}}, "/run/batch_size"),
        ({"alternatives": ["louder"]}, "/alternatives/0"),
        ({"epsilon": "1"}, "/epsilon"),
    ],
)
def test_faults_are_pointed_to(shipped: httpx.Client, change: dict[str, Any], pointer: str) -> None:
    response = shipped.post(PATH, json=dict(KINDS[0].example) | change)
    assert response.status_code == 422, response.text
    assert pointer in [error["pointer"] for error in response.json()["errors"]]


# The papers' own data -------------------------------------------------------------------------------------------------
@pytest.fixture
def with_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[httpx.Client, Path]]:
    """Yield a client of a server with an empty folder of data sets, and the folder."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    settings = PATIENT.model_copy(update={"data": str(tmp_path)})
    with serving(settings, create_app(settings=settings)) as served:
        served.timeout = httpx.Timeout(2 * PATIENCE)
        yield served, tmp_path


def test_files_of_a_data_set_are_looked_for_in_the_configured_folder(with_data: tuple[httpx.Client, Path]) -> None:
    client, root = with_data
    body = {"kind": "preset", "preset": "lowy-insurance", "repetitions": 2}

    refused = client.post(PATH, json=body)
    assert refused.status_code == 422, refused.text
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "/preset"
    assert "data set medical-costs" in error["message"]
    assert VARIABLE in error["message"]

    (root / "medical-costs").mkdir()
    job = client.post(PATH, json=body, headers={"prefer": "wait=60"}).json()
    assert job["state"] == "failed", job
    assert job["problem"]["errors"][0]["pointer"] == "/data/medical-costs"
    assert "has no file insurance.csv" in job["problem"]["errors"][0]["message"]
    assert str(root) not in json.dumps(job), "a service does not tell where its files are"

    write_costs(root / "medical-costs", records=5)
    job = client.post(PATH, json=body, headers={"prefer": "wait=60"}).json()
    assert job["state"] == "failed", job
    assert "insurance.csv is not the original file" in job["problem"]["errors"][0]["message"]

"""/v1/risk-bounds: the list's routes, their faults, and the command that asks the same."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from typer.testing import CliRunner

from epsilond.app.main import create_app
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.commands.line import line
from epsilond.reading import read
from tests.app.conftest import PATIENT, serving
from tests.app.documents import conforms, content


@pytest.fixture(scope="module")
def real() -> Iterator[httpx.Client]:
    """The service itself."""
    with serving(PATIENT, create_app(settings=PATIENT)) as served:
        yield served


@pytest.mark.parametrize("name", [bounder.name for bounder in RISK_BOUNDS])
def test_examples_are_answered_as_declared(real: httpx.Client, name: str) -> None:
    document = real.get("/openapi.json").json()
    operation = document["paths"][f"/v1/risk-bounds/{name}"]["post"]
    (example,) = operation["requestBody"]["content"]["application/json"]["examples"].values()
    response = real.post(f"/v1/risk-bounds/{name}", json=example["value"])
    assert response.status_code == 200
    conforms(document, content(document, operation, 200), response.json())
    assert response.json()["algorithm"] == name


def test_unknown_algorithms_and_fields_are_named(real: httpx.Client) -> None:
    assert real.post("/v1/risk-bounds/mb-sdg", json={}).status_code == 404
    assert real.get("/v1/risk-bounds/mb-sgd").status_code == 405
    body = {
        **RISK_BOUNDS[0].example,
        "noise_std": -1.0,
        "relation": "replace-one",
        "unit": "record",
        "observer": "server",
    }
    problem = real.post("/v1/risk-bounds/mb-sgd", json=body)
    assert problem.status_code == 422
    assert problem.json()["errors"][0]["pointer"] == "/noise_std"


@pytest.mark.parametrize("name", [bounder.name for bounder in RISK_BOUNDS])
def test_the_command_shows_every_algorithm(name: str) -> None:
    bounder = next(each for each in RISK_BOUNDS if each.name == name)
    arguments = ["risk-bound", name, "--request", "-"]
    result = CliRunner().invoke(line, arguments, input=json.dumps(dict(bounder.example)))
    assert result.exit_code == 0, result.output
    answer = bounder.solve(read(bounder.problem, bounder.example))
    titles = {"excess-risk": "Excess risk", "gradient-norm": "Gradient norm", "squared-error": "Squared error"}
    assert f"{titles[answer.measure]} ({answer.objective})" in result.stdout
    assert ("Compare" in result.stdout) == (answer.reference is not None)


def test_the_command_says_what_is_open() -> None:
    body = {**next(each for each in RISK_BOUNDS if each.name == "dp-fedavg").example, "lipschitz": 3.0}
    result = CliRunner().invoke(line, ["risk-bound", "dp-fedavg", "--request", "-"], input=json.dumps(body))
    assert result.exit_code == 0, result.output
    assert "No upper bound" in result.stdout
    assert "bias of clipping" in " ".join(result.stdout.split())


def test_the_command_names_the_condition_of_a_bound_that_nothing_decides() -> None:
    body = {
        **next(each for each in RISK_BOUNDS if each.name == "projected-sgd").example,
        "smoothness": 0.1,
        "strong_convexity": 0.1,
    }
    result = CliRunner().invoke(line, ["risk-bound", "projected-sgd", "--request", "-"], input=json.dumps(body))
    assert result.exit_code == 0, result.output
    assert "(statement, proved) if interior-minimiser" in result.stdout
    assert "the gradient of the population risk is 0" in " ".join(result.stdout.split())


@pytest.mark.parametrize("as_body", [False, True])
def test_the_command_asks_the_same(as_body: bool) -> None:
    arguments = ["risk-bound", "mb-sgd", "--request", "-", *(["--json"] if as_body else [])]
    result = CliRunner().invoke(line, arguments, input=json.dumps(dict(RISK_BOUNDS[0].example)))
    assert result.exit_code == 0, result.output
    if as_body:
        assert json.loads(result.stdout)["lower"][0]["theorem"] == "lowy.3.1"
    else:
        assert "lowy.3.1" in result.stdout
        assert "hidden" in result.stdout or "orders" in result.stdout
    refused = CliRunner().invoke(line, arguments, input="{}")
    assert refused.exit_code == 2

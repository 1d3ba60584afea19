"""Theorems, their evaluations, algorithms and problems, as they are listed."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from epsilond.app.http.problem_kinds import KINDS
from epsilond.app.theorem_detail import NUMBER
from tests.app.conftest import problem
from tests.app.toys import CALIBRATORS

EVALUATE = "/v1/theorems/toy.1/evaluations"


def test_the_list_of_theorems(client: httpx.Client) -> None:
    listed = client.get("/v1/theorems").json()["theorems"]
    assert listed == [
        {
            "id": "toy.1",
            "title": "The first toy",
            "statement": "noise = ε/N",
            "source": {"key": "toy2020", "item": "Theorem 1"},
            "status": "refuted",
            "constants": "explicit",
            "links": {"self": "/v1/theorems/toy.1", "evaluations": EVALUATE},
        },
        {
            "id": "other.lemma-2",
            "title": "A rule",
            "statement": "A guarantee gives a guarantee",
            "source": {"key": "other2021", "item": "Lemma 2"},
            "status": "proved",
            "constants": "hidden",
            "links": {"self": "/v1/theorems/other.lemma-2"},
        },
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=proved", ["other.lemma-2"]),
        ("status=unproved", []),
        ("paper=toy", ["toy.1"]),
        ("paper=toy&status=proved", []),
        ("", ["toy.1", "other.lemma-2"]),
    ],
)
def test_theorems_by_status_and_paper(client: httpx.Client, query: str, found: list[str]) -> None:
    listed = client.get(f"/v1/theorems?{query}").json()["theorems"]
    assert [theorem["id"] for theorem in listed] == found


@pytest.mark.parametrize(("query", "parameter"), [("status=31337", "status"), ("paper=31337", "paper")])
def test_a_filter_that_selects_nothing_there_is(client: httpx.Client, query: str, parameter: str) -> None:
    response = client.get(f"/v1/theorems?{query}")
    (fault,) = problem(response, 422, "invalid-input")["errors"]
    assert fault["parameter"] == parameter
    assert fault["message"] == "is not one of the allowed values"
    assert fault["allowed"]
    assert "31337" not in response.text


def test_a_theorem(client: httpx.Client) -> None:
    theorem = client.get("/v1/theorems/toy.1").json()
    assert theorem["conditions"] == [
        {"id": "toy.small", "statement": "ε ≤ 1", "kind": "checked"},
        {"id": "toy.convex", "statement": "the loss is convex", "kind": "declared"},
        {"id": "toy.limit", "statement": "δ = o(1/n)", "kind": "undecidable"},
    ]
    assert theorem["errata"][0]["truth"] == "ε/√N"
    assert theorem["readings"] == ["printed", "corrected"]
    assert theorem["inputs_schema"]["properties"]["epsilon"]["x-symbol"] == "ε"
    assert theorem["inputs_schema"]["required"] == ["epsilon", "clients"]
    assert theorem["outputs_schema"] == {"type": "object", "properties": {"noise": NUMBER}}
    assert theorem["examples"][0] == {"epsilon": 1.0, "clients": 4}


def test_a_theorem_without_formula(client: httpx.Client) -> None:
    theorem = client.get("/v1/theorems/other.lemma-2").json()
    assert not {"inputs_schema", "outputs_schema", "readings", "examples"} & set(theorem)
    body = problem(client.post("/v1/theorems/other.lemma-2/evaluations", json={"inputs": {}}), 404, "no-formula")
    assert body["detail"] == "other.lemma-2 is a rule between guarantees and has no formula to evaluate."


@pytest.mark.parametrize("path", ["/v1/theorems/toy.11", "/v1/theorems/toy.11/evaluations"])
def test_an_unknown_theorem(client: httpx.Client, path: str) -> None:
    for method in ("GET", "POST")[: 1 if path.endswith("11") else 2]:
        body = problem(client.request(method, path), 404, "not-found")
        assert body["errors"] == [{"message": "is unknown", "parameter": "theorem", "allowed": "toy.1"}]


@pytest.mark.parametrize(("name", "slug"), [("toy.11", "not-found"), ("other.lemma-2", "no-formula")])
def test_the_theorem_is_looked_for_before_the_body_is_read(client: httpx.Client, name: str, slug: str) -> None:
    path = f"/v1/theorems/{name}/evaluations"
    problem(client.post(path, content=b"{", headers={"content-type": "application/json"}), 404, slug)
    problem(client.get(path), 404, slug)


def test_evaluations_take_no_other_method(client: httpx.Client) -> None:
    for method in ("GET", "PUT"):
        response = client.request(method, EVALUATE)
        problem(response, 405, "method-not-allowed")
        assert response.headers["allow"] == "OPTIONS, POST"


def test_evaluation(client: httpx.Client) -> None:
    printed = client.post(EVALUATE, json={"inputs": {"epsilon": 2, "clients": 4}}).json()
    assert printed["outputs"] == {"noise": 0.5}
    assert printed["reading"] == "printed"
    assert printed["status"] == "refuted"
    assert printed["errata"][0]["id"] == "toy.1.e1"
    assert printed["conditions"] == [
        {"id": "toy.small", "statement": "ε ≤ 1", "holds": "no", "left": 2.0, "right": 1.0},
        {"id": "toy.convex", "statement": "the loss is convex", "holds": "undecidable"},
        {"id": "toy.limit", "statement": "δ = o(1/n)", "holds": "undecidable"},
    ]
    corrected = client.post(EVALUATE, json={"inputs": {"epsilon": 2, "clients": 4}, "reading": "corrected"}).json()
    assert corrected["outputs"] == {"noise": 1.0}
    assert corrected["reading"] == "corrected"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"inputs": {"epsilon": 1}}, "/inputs/clients"),
        ({"inputs": {"epsilon": -1, "clients": 1}}, "/inputs/epsilon"),
        ({"inputs": {"epsilon": 422, "clients": 1}}, "/inputs/epsilon"),
        ({"inputs": {"epsilon": 1, "clients": 1}, "reading": "proof"}, "/reading"),
        ({"inputs": {"epsilon": 1, "clients": 1}, "reading": None}, "/reading"),
        ({"inputs": None}, "/inputs"),
        ({"epsilon": 1, "clients": 1}, "/inputs"),
    ],
)
def test_an_evaluation_that_cannot_be(client: httpx.Client, body: object, pointer: str) -> None:
    faults = problem(client.post(EVALUATE, json=body), 422, "invalid-input")["errors"]
    assert pointer in {fault["pointer"] for fault in faults}


def test_the_list_of_algorithms(client: httpx.Client) -> None:
    listed = client.get("/v1/algorithms").json()["algorithms"]
    assert [algorithm["name"] for algorithm in listed] == [calibrator.name for calibrator in CALIBRATORS]
    toy = listed[0]
    answer = client.post(toy["links"]["calibrations"], json=toy["example"])
    assert answer.status_code == 200
    path, _, pointer = toy["links"]["schema"].partition("#")
    schema = client.get(path).json()
    for step in pointer.split("/")[1:]:
        schema = schema[step]
    assert schema["properties"].keys() >= toy["example"].keys()


def test_every_problem_has_a_page(client: httpx.Client) -> None:
    listed = client.get("/problems").json()["problems"]
    assert [kind["slug"] for kind in listed] == list(KINDS)
    for kind in listed:
        assert client.get(f"/problems/{kind['slug']}").json() == kind
        assert kind["title"]
        assert kind["explanation"]
    problem(client.get("/problems/infeasibel"), 404, "not-found")


def test_calibrations_are_counted(client: httpx.Client, metric: Callable[[str], float]) -> None:
    sample = 'epsilond_calibration_seconds_count{algorithm="toy",status="200"}'
    route = 'epsilond_request_seconds_count{method="POST",route="/v1/calibrations/{name}",status="200"}'
    before = metric(sample), metric(route)
    client.post("/v1/calibrations/toy", json=CALIBRATORS[0].example)
    assert (metric(sample), metric(route)) == (before[0] + 1, before[1] + 1)

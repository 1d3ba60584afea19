"""The OpenAPI document: what it declares is what is answered, and the committed files are what is generated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from epsilond.app import openapi
from epsilond.app.document import document as document_of
from epsilond.app.main import create_app
from epsilond.app.questions.readings import POSTED
from epsilond.app.routes.jobs.jobs import list_jobs
from epsilond.app.routes.pages.docs import compact
from epsilond.app.settings import Settings
from epsilond.calibrators.account_examples import EXAMPLES
from tests.app import toys
from tests.app.documents import conforms, content, resolved


@pytest.fixture(scope="module")
def document(client: httpx.Client) -> dict[str, Any]:
    """The document over the toys."""
    served: dict[str, Any] = client.get("/openapi.json").json()
    return served


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every (path, method, operation)."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every object in a part of the document."""
    if isinstance(node, dict):
        yield node
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from objects(item)


def test_names_are_stable(document: dict[str, Any]) -> None:
    assert {operation["operationId"] for _, _, operation in operations(document)} == {posted.kind for posted in POSTED} | {
        "calibrate_toy", "calibrate_slow_toy", "calibrate_busy", "sweep_calibration", "list_algorithms", "list_theorems", "get_theorem",
        "evaluate_theorem", "healthz", "readyz", "metrics", "list_problems", "get_problem",
        "start_simulation",
        "list_jobs", "get_job", "get_job_result", "remove_job", "follow_job", "draw_job", "list_api_keys", "revoke_api_key",
        "open_ledger", "list_ledgers", "get_ledger", "list_ledger_entries", "get_ledger_report", "ask_ledger_what_if",
        "seal_ledger", "close_ledger", "contradict_ledger", "void_ledger_runs", "calibrate_within_ledger", "amend_ledger_plan", "reserve", "reserve_many", "get_reservation",
        "cancel_reservation", "commit_reservation", "get_log_checkpoint", "get_log_proof", "list_log_entries", "list_log_keys", "reconcile_log",
        "list_pending_moves", "get_pending_move", "decide_pending_move",
    }  # fmt: skip
    names = set(document["components"]["schemas"])
    assert {"ToyProblem", "Calibration", "EvaluationRequest", "Problem", "Relation", "Caution", "Status"} <= names
    assert not {"HTTPValidationError", "ValidationError", "Warning", "Warning_"} & names


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for node in objects(document):
        if "$ref" in node:
            _, home, kind, name = node["$ref"].split("/")
            assert name in document[home][kind]


def read(document: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """A response, or what it refers to."""
    return resolved(document, response)


def test_a_shared_problem_says_what_its_status_means_there(document: dict[str, Any]) -> None:
    problems = {name: each for name, each in document["components"]["responses"].items() if name.startswith("Problem")}
    assert problems
    for name, response in problems.items():
        assert response["content"].keys() == {"application/problem+json"}
        used = {
            status
            for _, _, operation in operations(document)
            for status, one in operation["responses"].items()
            if one == {"$ref": f"#/components/responses/{name}"}
        }
        assert used == {name.removeprefix("Problem").partition("-")[0]}


def test_a_description_ends_before_the_arguments_of_the_function(document: dict[str, Any]) -> None:
    assert "Args:" in (list_jobs.__doc__ or "")
    texts = [node[name] for node in objects(document) for name in ("description", "summary") if name in node]
    assert not [text for text in texts if "Args:" in text or "\f" in text]


def test_problems_are_declared_on_every_operation(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        declared = {
            int(status)
            for status, response in operation["responses"].items()
            if read(document, response).get("content", {}).keys() == {"application/problem+json"}
        }
        assert 500 in declared
        assert declared >= ({400, 409, 413, 415, 422, 429, 503} if method == "post" else set())
        assert 404 in declared or "{" not in path


def test_no_null_anywhere_and_no_default_in_answers(document: dict[str, Any]) -> None:
    for node in objects(document):
        assert node.get("type") != "null"
        assert "default" not in node
    for name in ("Calibration", "GuaranteeAnswer", "Problem", "Risk", "TheoremDetail"):
        for member in document["components"]["schemas"][name]["properties"].values():
            assert "default" not in member


def test_requests_tell_ranges_symbols_and_defaults(document: dict[str, Any]) -> None:
    problem = document["components"]["schemas"]["ToyProblem"]
    assert problem["additionalProperties"] is False
    assert problem["required"] == ["epsilon", "clients"]
    assert problem["properties"]["clients"]["maximum"] == 10**15
    assert problem["properties"]["epsilon"]["x-symbol"] == "ε"
    assert problem["properties"]["relation"] == {
        "$ref": "#/components/schemas/Relation",
        "description": "how two neighbouring data sets differ",
        "x-default": "replace-one",
    }


def test_a_union_of_objects_is_one_object_that_names_the_properties_of_its_members(document: dict[str, Any]) -> None:
    spec = document["components"]["schemas"]["Spec"]
    assert spec["required"] == ["kind"]
    assert spec["properties"]["mechanism"]["$ref"].endswith("/Spec")
    members = spec["x-members"]
    assert members["gaussian"] == {"required": ["noise_multiplier"], "optional": []}
    assert set(members) == set(document["components"]["schemas"]["SpecKind"]["enum"])
    named = {name for member in members.values() for names in member.values() for name in names}
    assert named == set(spec["properties"]) - {"kind"}


def test_no_union_but_of_a_number_or_a_text_and_something_else(document: dict[str, Any]) -> None:
    """Generators read unions in ways that differ; these they read alike."""
    for node in objects(document):
        assert "oneOf" not in node
        assert "allOf" not in node
        assert "const" not in node
        if "anyOf" in node:
            kinds = [each.get("type", each.get("$ref", "").rpartition("/")[2]) for each in node["anyOf"]]
            assert kinds[:1] in (["number"], ["string"], ["JsonObject"], ["Unit"])  # the unit is a named word


def test_enumerations_have_names(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for member in schema.get("properties", {}).values():
            assert "enum" not in member, name


def test_examples_are_shown_conform_and_are_answered_as_declared(
    client: httpx.Client, document: dict[str, Any]
) -> None:
    for path, method, operation in operations(document):
        if method != "post" or "ledgers" in operation["tags"]:  # those belong together: tests/app/ledgers
            continue
        body = operation["requestBody"]["content"]["application/json"]
        assert body["examples"]
        for example in body["examples"].values():
            conforms(document, body["schema"], example["value"])
            response = client.post(openapi.fill_path(path, operation), json=example["value"])
            assert response.status_code == (202 if path == "/v1/simulations" else 200)
            if path != "/v1/reports":  # a page
                conforms(document, content(document, operation, response.status_code), response.json())


@pytest.mark.parametrize("path", ["/v1/algorithms", "/v1/theorems", "/problems"])
def test_lists_are_answered_as_declared(client: httpx.Client, document: dict[str, Any], path: str) -> None:
    conforms(document, content(document, document["paths"][path]["get"], 200), client.get(path).json())


@pytest.mark.parametrize("name", ["toy.1", "other.lemma-2"])
def test_theorems_are_answered_as_declared(client: httpx.Client, document: dict[str, Any], name: str) -> None:
    schema = content(document, document["paths"]["/v1/theorems/{id}"]["get"], 200)
    conforms(document, schema, client.get(f"/v1/theorems/{name}").json())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{}", 422),
        (b'{"epsilon":400,"clients":1}', 409),
        (b'{"epsilon":401,"clients":1}', 409),
        (b'{"epsilon":500,"clients":1}', 500),
    ],
)
def test_problems_are_answered_as_declared(
    client: httpx.Client, document: dict[str, Any], body: bytes, status: int
) -> None:
    response = client.post("/v1/calibrations/toy", content=body, headers={"content-type": "application/json"})
    assert response.status_code == status
    declared = read(document, document["paths"]["/v1/calibrations/toy"]["post"]["responses"][str(status)])
    conforms(document, declared["content"]["application/problem+json"]["schema"], response.json())


def test_drift_is_found_told_and_mended(tmp_path: Path) -> None:
    app = create_app(calibrators=(toys.TOY,), theorems=(toys.PRINTED,), settings=Settings(workers=1), kinds=())
    wanted = openapi.texts(app)
    names = {
        "openapi.json",
        "examples/account.json",
        *(f"examples/account_{number}.json" for number in range(2, len(EXAMPLES) + 1)),
        "examples/calibrate_toy.json",
        "examples/evaluate_theorem.json",
        "examples/report.json",
        "examples/report_2.json",
        "examples/sweep_calibration.json",
    }
    of_ledgers = (
        "open_ledger",
        "ask_ledger_what_if",
        "calibrate_within_ledger",
        "amend_ledger_plan",
        "contradict_ledger",
        "void_ledger_runs",
        "reserve",
        "commit_reservation",
        "reconcile_log",
    )
    others = {str(path) for path in wanted if not path.stem.startswith(of_ledgers)}
    assert others == names
    openapi.write(wanted, tmp_path)
    assert openapi.differences(wanted, tmp_path) == []
    example = tmp_path / "examples" / "calibrate_toy.json"
    assert json.loads(example.read_text()) == {
        "method": "POST",
        "path": "/v1/calibrations/toy",
        "body": toys.TOY.example,
    }
    example.write_text(example.read_text().replace('"clients": 10', '"clients": 11'))
    (tmp_path / "examples" / "gone.json").write_text("{}\n")
    found = openapi.differences(wanted, tmp_path)
    assert '-    "clients": 11' in found
    assert '+    "clients": 10' in found
    assert "--- examples/gone.json as committed" in found
    openapi.write(wanted, tmp_path)
    assert openapi.differences(wanted, tmp_path) == []


def test_names_are_short_and_differ_by_more_than_their_spelling() -> None:
    names = json.loads((openapi.HERE / "openapi.json").read_text())["components"]["schemas"]
    assert not [name for name in names if "__" in name]
    assert len({name.replace("_", "").lower() for name in names}) == len(names)


def test_the_whole_document_is_small() -> None:
    """An editor, a generator of clients and a model's context are to take all of it."""
    document = document_of(create_app())
    assert len(compact(document)) <= 400_000
    schemas = document["components"]["schemas"]
    assert len(schemas) <= 220
    unions = sum("anyOf" in schema for schema in schemas.values())
    tags = {operation["tags"][0] for _, _, operation in operations(document)}
    of_every_client = 9 + 1  # its own modules, and the package of its operations
    files = len(schemas) - unions + len(list(operations(document))) + len(tags) + of_every_client
    assert files <= 270, "openapi-python-client writes a file for each object, enumeration, operation and tag"


def test_no_two_schemas_are_equal() -> None:
    schemas = document_of(create_app())["components"]["schemas"]
    texts = Counter(json.dumps({**schema, "description": ""}, sort_keys=True) for schema in schemas.values())
    assert max(texts.values()) == 1


def test_a_sweep_has_an_operation_of_its_own(client: httpx.Client, document: dict[str, Any]) -> None:
    operation = document["paths"]["/v1/calibrations/{algorithm}/sweeps"]["post"]
    assert content(document, operation, 200)["$ref"].endswith("/SweepAnswer")
    body = {**toys.TOY.example, "sweep": {"field": "epsilon", "values": [1.0, -1.0]}}
    answer = client.post("/v1/calibrations/toy/sweeps", json=body)
    assert answer.status_code == 200
    assert answer.json() == client.post("/v1/calibrations/toy", json=body).json()
    assert client.post("/v1/calibrations/toy/sweeps", json=toys.TOY.example).status_code == 422
    assert client.post("/v1/calibrations/toi/sweeps", json=body).status_code == 404


def test_headers_of_requests_are_strings(document: dict[str, Any]) -> None:
    headers = [
        parameter
        for _, _, operation in operations(document)
        for parameter in (resolved(document, each) for each in operation.get("parameters", ()))
        if parameter["in"] == "header"
    ]
    assert {parameter["name"] for parameter in headers} >= {"Prefer", "Idempotency-Key", "Last-Event-ID"}
    assert {parameter["schema"]["type"] for parameter in headers} == {"string"}

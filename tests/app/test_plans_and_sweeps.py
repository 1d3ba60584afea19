"""Plans and sweeps over HTTP: the single calls' own answers, from the same cache, under one deadline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from tests.app import toy_planners, toys
from tests.app.conftest import PATIENT, serving, wait_until

ONE: dict[str, Any] = {"delta": 1e-6, "clients": 10}
"""A question for the toys, which give no guarantee."""
PLAN: dict[str, Any] = {
    **ONE,
    "relation": "replace-one",
    "unit": "record",
    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
}


def served(settings: Settings) -> Iterator[httpx.Client]:
    """The toys with their adapters."""
    app = create_app(
        calibrators=toy_planners.CALIBRATORS,
        theorems=toys.THEOREMS,
        theorem_home="tests.app.toys",
        settings=settings,
        kinds=(),
    )
    with serving(settings, app) as client:
        yield client


@pytest.fixture(scope="module")
def planning() -> Iterator[httpx.Client]:
    """A server with time for all of it."""
    yield from served(PATIENT)


def post(client: httpx.Client, path: str, body: Any, status: int = 200) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == status, response.text
    return response.json()


@pytest.mark.parametrize("name", ["toy", "slow-toy"])
def test_a_sweep_is_its_single_calls(planning: httpx.Client, name: str) -> None:
    path, values = f"/v1/calibrations/{name}", [1.5, 2, 400.0, 422.0, -1, "x", None, [1]]
    swept = post(planning, path, {**ONE, "sweep": {"field": "epsilon", "values": [*values[:6], [1]]}})
    assert swept["algorithm"] == name
    assert swept["sweep"] == {"field": "epsilon", "values": [*values[:6], [1]]}
    for each in swept["answers"]:
        alone = planning.post(path, json={**ONE, "epsilon": each["value"]})
        assert each.get("answer", each.get("problem")) == alone.json()
        assert ("answer" in each) == (alone.status_code == 200)
    statuses = [each.get("problem", {}).get("status") for each in swept["answers"]]
    assert statuses == [None, None, 409, 422, 422, 422, 422]


def test_a_sweep_and_single_calls_share_their_cache(planning: httpx.Client) -> None:
    path = "/v1/calibrations/slow-toy"
    post(planning, path, {**ONE, "sweep": {"field": "epsilon", "values": [71.0]}})
    assert planning.post(path, json={**ONE, "epsilon": 71.0}).headers["x-cache"] == "hit"


def test_a_sweep_for_a_picture_is_a_question_of_its_own(planning: httpx.Client) -> None:
    path, sweep = "/v1/calibrations/slow-toy", {"field": "epsilon", "values": [73.0]}
    drawn = post(planning, path, {**ONE, "sweep": {**sweep, "true_figures": False}})
    assert planning.post(path, json={**ONE, "epsilon": 73.0}).headers["x-cache"] == "miss"
    assert drawn == post(planning, path, {**ONE, "sweep": sweep})
    assert planning.post(path, json={**ONE, "sweep": {**sweep, "true_figures": 0}}).status_code == 422


def test_the_swept_field_may_stand_in_the_body(planning: httpx.Client) -> None:
    body = {**ONE, "sweep": {"field": "epsilon", "values": [3.0]}}
    path = "/v1/calibrations/toy"
    assert post(planning, path, body) == post(planning, path, {**body, "epsilon": 9.0})


def test_a_pair_of_fields_is_the_values_own_problem(planning: httpx.Client) -> None:
    body = {**ONE, "epsilon": 1.0, "sweep": {"field": "participants", "values": [10, 11]}}
    first, second = post(planning, "/v1/calibrations/toy", body)["answers"]
    assert "answer" in first
    assert [fault["pointer"] for fault in second["problem"]["errors"]] == ["/participants", "/clients"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({**ONE, "sweep": {"field": "sigma", "values": [1]}}, "/sweep/field"),
        ({**ONE, "sweep": {"field": "epsilon", "values": []}}, "/sweep/values"),
        ({**ONE, "sweep": {"field": "epsilon", "values": [1] * 201}}, "/sweep/values"),
        ({**ONE, "sweep": {"field": "epsilon"}}, "/sweep/values"),
        ({**ONE, "sweep": {"field": "epsilon", "values": [1], "step": 2}}, "/sweep/step"),
        ({**ONE, "sweep": 3}, "/sweep"),
        ({**ONE, "clients": 0, "sweep": {"field": "epsilon", "values": [1]}}, "/clients"),
        ({**ONE, "sigma": 0, "sweep": {"field": "epsilon", "values": [1]}}, "/sigma"),
        ({"delta": 1e-6, "sweep": {"field": "epsilon", "values": [1]}}, "/clients"),
    ],
)
def test_what_is_wrong_beside_the_values_is_the_requests(planning: httpx.Client, body: Any, pointer: str) -> None:
    problem = post(planning, "/v1/calibrations/toy", body, status=422)
    assert pointer in [fault["pointer"] for fault in problem["errors"]]


@pytest.mark.parametrize("key", ["sweep", "\\u0073weep"])
def test_a_sweep_of_which_no_value_can_be_is_answered_value_by_value(planning: httpx.Client, key: str) -> None:
    body = json.dumps({**ONE, "*": {"field": "epsilon", "values": [-1, -2]}}).replace('"*"', f'"{key}"')
    headers = {"content-type": "application/json"}
    for _ in range(2):
        answered = planning.post("/v1/calibrations/toy", content=body, headers=headers)
        assert answered.status_code == 200
        assert [each["problem"]["status"] for each in answered.json()["answers"]] == [422, 422]


def test_a_value_whose_worker_dies_is_its_own_problem(planning: httpx.Client) -> None:
    body = {"seconds": 0.01, "sweep": {"field": "way", "values": ["die", "sleep"]}}
    first, second = post(planning, "/v1/calibrations/busy", body)["answers"]
    assert first["problem"]["status"] == 503
    assert "answer" in second


def test_two_hundred_values_in_one_call(planning: httpx.Client) -> None:
    values = [1.0 + place for place in range(200)]
    found = post(planning, "/v1/calibrations/toy", {**ONE, "sweep": {"field": "epsilon", "values": values}})
    assert [each["answer"]["parameters"]["noise_std"] for each in found["answers"]] == [1.0 / one for one in values]


def test_a_plan_has_every_planner_with_its_single_call(planning: httpx.Client) -> None:
    found = post(planning, "/v1/plans", {**PLAN, "epsilon": 1.25, "rounds": 1, "rank_by": "noise"})
    applying = [entry for entry in found["entries"] if entry["applies"] == "yes"]
    assert [entry["algorithm"] for entry in applying if "rank" in entry] == [
        name.partition(" ")[0] for group in found["groups"] for name in group["ranked"]
    ]
    assert {entry["algorithm"] for entry in found["entries"]} == {"toy", "slow-toy", "busy"}
    for entry in applying:
        path = f"/v1/calibrations/{entry['algorithm']}"
        alone = planning.post(path, json=entry["request"])
        assert entry["calibration"] == alone.json()
        if entry["algorithm"] == "slow-toy":
            assert alone.headers["x-cache"] == "hit"


def test_what_does_not_end_in_time_becomes_a_job_that_loses_nothing(planning: httpx.Client, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    body = {"diary": str(diary), "sweep": {"field": "seconds", "values": [0.0, 90.0]}}
    taken = planning.post("/v1/calibrations/busy", json=body, headers={"Prefer": "wait=0"})
    assert taken.status_code == 202, taken.text
    job = taken.json()
    assert (job["kind"], job["name"], job["state"]) == ("sweep", "busy", "running")
    assert job["progress"]["of"] == 2
    assert job["request"] == body
    assert taken.headers["location"] == job["links"]["self"] == f"/v1/jobs/{job['id']}"
    wait_until(lambda: planning.get(job["links"]["self"]).json()["progress"]["done"] == 1)
    assert planning.get(f"{job['links']['self']}/result").status_code == 409
    toys.may_end(diary).touch()
    done = planning.get(job["links"]["self"], headers={"Prefer": "wait=600"}).json()
    assert done["state"] == "done"
    assert [each["value"] for each in done["result"]["answers"]] == [0.0, 90.0]
    assert planning.get(done["links"]["result"]).json() == done["result"]
    assert planning.post("/v1/calibrations/busy", json=body).json() == done["result"]
    assert diary.read_text().count("began") == 2


def test_refusals_of_the_mathematics_are_told_in_their_entries(planning: httpx.Client) -> None:
    found = post(planning, "/v1/plans", {**PLAN, "epsilon": 400.0, "algorithms": ["slow-toy"]})
    (entry,) = found["entries"]
    assert entry["applies"] == "no"
    assert entry["why"][0]["condition"]["right"] == 401.0
    assert entry["why"][0]["nearest"] == {"epsilon": 401.0}


def test_what_reaches_no_risk_says_so(planning: httpx.Client) -> None:
    reach = {"risk": 0.1, "solve_for": "epsilon"}
    (entry,) = post(planning, "/v1/plans", {**PLAN, "algorithms": ["slow-toy"], "reach": reach})["entries"]
    assert entry["applies"] == "no"
    assert "no theorem bounds its risk" in entry["why"][0]["message"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({**PLAN}, "/epsilon"),
        ({**PLAN, "epsilon": 1.0, "algorithms": ["sgd"]}, "/algorithms/0"),
        ({**PLAN, "epsilon": 1.0, "trust": ["all"]}, "/trust/0"),
        ({**PLAN, "epsilon": 1.0, "sigma": 1}, "/sigma"),
        ({**PLAN, "reach": {"risk": 0.0, "solve_for": "epsilon"}}, "/reach/risk"),
        ({**PLAN, "reach": {"risk": 0.1, "solve_for": "delta"}}, "/reach/solve_for"),
        ({**PLAN, "epsilon": 1.0, "reach": {"risk": 0.1, "solve_for": "epsilon"}}, "/epsilon"),
    ],
)
def test_plans_that_cannot_be(planning: httpx.Client, body: Any, pointer: str) -> None:
    problem = post(planning, "/v1/plans", body, status=422)
    assert pointer in [fault["pointer"] for fault in problem["errors"]]


def test_without_planners_there_are_no_plans(client: httpx.Client) -> None:
    assert client.post("/v1/plans", json=ONE).status_code == 404

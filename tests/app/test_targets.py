"""Targets of risk over HTTP: of calibrations, sweeps and plans, and the rejections that name the accepted targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import epsilond
from epsilond.app.main import create_app
from tests.app.conftest import PATIENT, serving

RUN: dict[str, Any] = {
    "samples_per_client": 1000,
    "clients": 50,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "batch_size": 100,
    "rounds": 20,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}
LEDGER: dict[str, Any] = {
    "name": "a", "dataset": "b", "unit": "record", "relation": "replace-one", "observer": "server",
    "declared": {"inputs": "functions-of-releases", "sealed": True, "released_before": False},
}  # fmt: skip


@pytest.fixture(scope="module")
def real() -> Iterator[httpx.Client]:
    """The service itself."""
    with serving(PATIENT, create_app(settings=PATIENT)) as served:
        yield served


@pytest.mark.parametrize(
    "target",
    [
        {"advantage": 0.1},
        {"true_positive_rate": 0.3, "false_positive_rate": 0.1},
        {"gaussian_dp_mu": 0.5},
        {"rho": 0.1},
        {"epsilon": 0.0, "delta": 0.01},
    ],
)
def test_the_service_answers_what_the_library_answers(real: httpx.Client, target: dict[str, float]) -> None:
    answer = real.post("/v1/calibrations/mb-sgd", json=RUN | target)
    assert answer.status_code == 200
    expected = epsilond.calibrate("mb-sgd", **RUN, **target)  # type: ignore[call-overload]
    body = answer.json()
    assert body["parameters"]["noise_multiplier"] == expected.parameters.noise_multiplier
    assert target.items() <= body["guarantee"]["target"].items()


def test_a_sweep_of_a_risk(real: httpx.Client) -> None:
    body = RUN | {"sweep": {"field": "advantage", "values": [0.05, 0.2]}}
    answers = real.post("/v1/calibrations/mb-sgd", json=body).json()["answers"]
    noises = [each["answer"]["parameters"]["noise_multiplier"] for each in answers]
    assert noises[0] > noises[1]


def test_a_plan_for_a_risk(real: httpx.Client) -> None:
    body = RUN | {"observers": ["server"], "advantage": 0.1, "algorithms": ["mb-sgd", "qtdl"]}
    del body["observer"]
    entries = {entry["algorithm"]: entry for entry in real.post("/v1/plans", json=body).json()["entries"]}
    assert entries["mb-sgd"]["applies"] == "yes"
    assert entries["mb-sgd"]["request"]["advantage"] == 0.1
    assert entries["qtdl"]["applies"] == "no"


@pytest.mark.parametrize(
    "target",
    [
        {"advantage": 0.1},
        {"true_positive_rate": 0.3, "false_positive_rate": 0.1},
        {"gaussian_dp_mu": 0.5},
        {"rho": 0.1, "delta": 1e-8},
        {"epsilon": 0.0, "delta": 0.01},
    ],
)
def test_a_ledger_of_a_risk(real: httpx.Client, target: dict[str, float]) -> None:
    body = LEDGER | {"dataset": repr(target), "target": target, "slots": [{"kind": "gdp"}]}
    answer = real.post("/v1/ledgers", json=body)
    assert answer.status_code == 201, answer.text
    assert target.items() <= answer.json()["target"].items()
    shown = real.get(f"/v1/ledgers/{answer.json()['id']}").json()
    assert shown["target"] == answer.json()["target"]


@pytest.mark.parametrize(
    "own",
    [
        {"advantage": 0.05},
        {"true_positive_rate": 0.3, "false_positive_rate": 0.1},
        {"gaussian_dp_mu": 0.5},
        {"rho": 0.1},
        {"epsilon": 0.0, "delta": 0.01},
    ],
)
def test_a_group_with_a_target_of_its_own(real: httpx.Client, own: dict[str, float]) -> None:
    groups = [{"clients": 20, "samples_per_client": 1000}, {"clients": 30, "samples_per_client": 1000, **own}]
    answer = real.post("/v1/calibrations/mb-sgd", json=RUN | {"advantage": 0.1, "client_groups": groups})
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["parameters"]["groups"]
    assert first["guarantee"]["target"]["advantage"] == 0.1
    assert own.items() <= second["guarantee"]["target"].items()


@pytest.mark.parametrize(
    ("path", "body", "pointer", "words"),
    [
        ("/v1/calibrations/mb-sgd", RUN | {"advantage": 0.1, "epsilon": 1.0, "delta": 1e-5}, "/epsilon", "one target"),
        ("/v1/calibrations/mb-sgd", RUN, "/epsilon", "or one of advantage"),
        ("/v1/calibrations/shuffled-mb-sgd", RUN | {"rho": 0.1}, "/rho", "true_positive_rate with"),
        ("/v1/risk-bounds/mb-sgd", RUN | {"advantage": 0.1}, "/advantage", "Give epsilon with delta"),
        ("/v1/ledgers", LEDGER | {"target": {"rho": 0.1, "advantage": 0.1}}, "/target/rho", "one target"),
        ("/v1/ledgers", LEDGER | {"target": {}}, "/target/epsilon", "or one of advantage"),
        ("/v1/ledgers", LEDGER | {"target": {"advantage": 0.1, "delta": 1e-5}}, "/target/delta", "no part"),
        (
            "/v1/ledgers",
            LEDGER | {"target": {"rho": 0.1}, "slots": [{"kind": "rdp", "capacity": {"orders": [2], "budget": "1"}}]},
            "/slots/0/kind",
            "few Rényi orders",
        ),
        (
            "/v1/ledgers",
            LEDGER
            | {
                "target": {"gaussian_dp_mu": 0.1},
                "slots": [{"kind": "zcdp", "capacity": {"rho": "1e-3", "delta": "1e-9"}}],
            },
            "/slots/0/capacity/delta",
            "adds to δ",
        ),
    ],
)
def test_a_target_that_is_not_taken_is_rejected_by_name(
    real: httpx.Client, path: str, body: dict[str, Any], pointer: str, words: str
) -> None:
    answer = real.post(path, json=body)
    assert answer.status_code == 422
    messages = {error["pointer"]: error["message"] for error in answer.json()["errors"]}
    assert words in messages[pointer]

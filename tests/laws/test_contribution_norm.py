"""A law of every answer: noise_std is noise_multiplier times contribution_norm, and the sensitivity follows from it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

import epsilond
from epsilond.accountants.errors import EpsilondError
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.calibration import Calibrator
from epsilond.reading import read
from tests.laws.test_calibrators import each_calibrator
from tests.laws.test_printed import UNLIKE

FACTORS = {"add-or-remove-one": 1.0, "zero-out-one": 1.0, "replace-one": 2.0}
"""Sensitivity over the norm bound of one contribution: a replaced contribution moves the sum by two norms at most."""
GROUPED: dict[str, list[dict[str, Any]]] = {
    name: [
        {"participants": None, "client_groups": UNLIKE, "rounds": 40, "batch_size": 15},
        {"participants": None, "client_groups": [{**one, "lipschitz": 1.0} for one in UNLIKE], "rounds": 40},
    ]
    for name in ("mb-sgd", "accelerated-mb-sgd")
}
CHANGES: dict[str, list[dict[str, Any]]] = GROUPED | {
    "mu2-sgd": [{"server": "trusted", "observer": "released-models"}],
    "dp-fedavg": [{"clipping_norm": 0.3}, {"clipping_norm": 0.3, "adaptive_clipping": {"count_std": 20.0}}],
    "projected-sgd": [{"lipschitz": 0.3}],
    "ppsgd": [{"sampling": "full", "participation_rate": None, "clipping_norm": 0.3}],
    "shuffled-mb-sgd": [{"lipschitz": 0.3}],
}
STD_NAMES = ("noise_std", "noise_std_of_sum")
CASES = [
    (calibrator, changes, relation)
    for calibrator in CALIBRATORS
    for changes, relation in itertools.product([{}, *CHANGES.get(calibrator.name, [])], FACTORS)
]
WITHOUT_NOISE_MULTIPLIER = {"qtdl", "norm-fedavg"}
"""Calibrators of discrete noise, whose parameters are levels and a rate."""


@cache
def _solved(place: int) -> tuple[Any, Any] | None:
    """Return the served answer with its problem, or None where the algorithm does not admit the relation."""
    calibrator, changes, relation = CASES[place]
    body = {**calibrator.example, **changes, "relation": relation}
    try:
        problem = read(calibrator.problem, {name: value for name, value in body.items() if value is not None})
        answer = calibrator.solve(problem, true_figures=False)
    except EpsilondError:
        return None
    return as_json(answer), problem


def _with_noise(answer: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield every mapping of parameters that has a noise multiplier, with the guarantee that it belongs to."""
    parameters = answer["parameters"]
    if "noise_multiplier" in parameters:
        yield parameters, answer["guarantee"]
    for group in parameters.get("groups", ()):
        yield group, group["guarantee"]


@pytest.mark.parametrize("place", range(len(CASES)), ids=lambda place: f"{CASES[place][0].name}-{CASES[place][2]}")
def test_noise_and_sensitivity_follow_from_the_contribution_norm(place: int) -> None:
    calibrator, _, relation = CASES[place]
    found = _solved(place)
    if found is None:
        return
    answer, _ = found
    shown = list(_with_noise(answer))
    assert bool(shown) == (calibrator.name not in WITHOUT_NOISE_MULTIPLIER)
    for parameters, guarantee in shown:
        norm = parameters["contribution_norm"]
        for name in STD_NAMES:
            if name in parameters:
                assert parameters[name] == pytest.approx(parameters["noise_multiplier"] * norm, rel=1e-13)
        if "sensitivity" in guarantee:
            assert guarantee["sensitivity"] == pytest.approx(FACTORS[relation] * norm, rel=1e-13)
        assert guarantee["relation"] == relation


@each_calibrator
def test_some_relation_is_answered_and_noise_has_its_unit(calibrator: Calibrator) -> None:
    places = [place for place, case in enumerate(CASES) if case[0] is calibrator]
    answers = [found[0] for place in places if (found := _solved(place)) is not None]
    assert answers
    if calibrator.name in WITHOUT_NOISE_MULTIPLIER:
        return
    for answer in answers:
        for parameters, _ in _with_noise(answer):
            assert calibrator.name == "gaussian" or any(name in parameters for name in STD_NAMES)


def test_the_definition_for_mini_batches() -> None:
    """A gradient of norm at most L in a mean of K: L/K, whatever is calibrated."""
    for lipschitz, batch_size in ((1.0, 50), (0.3, 15), (7.0, 1)):
        answer = epsilond.calibrate(
            "mb-sgd", epsilon=1.0, delta=1e-5, samples_per_client=1000, clients=50, dimension=100, diameter=10.0,
            smoothness=1.0, rounds=10, lipschitz=lipschitz, batch_size=batch_size, relation="replace-one",
            unit="record", observer="server",
        )  # fmt: skip
        assert answer.parameters.contribution_norm == pytest.approx(lipschitz / batch_size, rel=1e-15)
        assert answer.guarantee.sensitivity == pytest.approx(2.0 * lipschitz / batch_size, rel=1e-15)


def test_every_calibration_of_a_plan_has_it() -> None:
    plan = epsilond.plan(**PLAN)
    answers = [as_json(entry.calibration) for entry in plan.entries if entry.calibration is not None]
    assert answers
    for answer in answers:
        for parameters, _ in _with_noise(answer):
            assert {"contribution_norm"} <= set(parameters)
    assert any("noise_multiplier" in answer["parameters"] for answer in answers)


PLAN: dict[str, Any] = {
    "epsilon": 2.0, "delta": 1e-6, "clients": 200, "samples_per_client": 500, "dimension": 10, "lipschitz": 1.0,
    "diameter": 2.0, "smoothness": 1.0, "unit": "record", "relation": "replace-one",
    "observers": ["server", "shuffled-server", "released-models", "final-model"],
}  # fmt: skip
"""A plan that several algorithms answer."""


def test_the_schema_says_how_the_sensitivity_follows() -> None:
    document = json.loads((epsilond_root() / "openapi/openapi.json").read_text(encoding="utf-8"))
    described = [
        schema["properties"]["contribution_norm"]["description"]
        for schema in document["components"]["schemas"].values()
        if "contribution_norm" in schema.get("properties", {})
    ]
    assert described
    for text in described:
        assert "replace-one" in text
        assert "add-or-remove-one" in text
        assert "zero-out-one" in text


def epsilond_root() -> Any:
    """Return the folder of the repository."""
    from tests.documents import ROOT

    return ROOT

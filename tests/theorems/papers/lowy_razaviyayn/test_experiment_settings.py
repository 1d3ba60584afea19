"""Appendix H: golden cases of the metric, the sizes and the settings."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.lowy_razaviyayn import experiments as ours

FILE = json.loads((Path(__file__).parents[3] / "golden" / "lowy.json").read_text())
CASES = {case["id"]: case for case in FILE["cases"]}


def number(text: object) -> float:
    return float(Fraction(str(text)))


@pytest.mark.compares("lowy.appendix-h.metric")
def test_golden_metric() -> None:
    case = CASES["h-04"]
    inputs = ours.METRIC.request(
        values=tuple(map(number, case["inputs"]["y"])),
        predictions=tuple(map(number, case["inputs"]["y_hat"])),
        training_mean=number(case["inputs"]["y_bar_train"]),
    )
    found = ours.METRIC.evaluate(inputs).outputs["relative_error"]
    assert found == pytest.approx(case["outputs"]["rrmse"], rel=1e-12)


@pytest.mark.parametrize(
    "changes", [{"values": ()}, {"predictions": (1.0,)}, {"training_mean": math.inf}, {"values": (2.0, 2.0)}]
)
def test_a_metric_of_nothing_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ours.METRIC.request(**{"values": (1.0, 2.0), "predictions": (1.0, 2.0), "training_mean": 2.0, **changes})


@pytest.mark.compares("lowy.appendix-h.sizes")
def test_golden_sizes() -> None:
    case = CASES["h-08"]
    found = ours.SIZES.evaluate(ours.SIZES.request(clients=case["inputs"]["N"]))
    assert found.outputs["samples_per_client"] == case["outputs"]["sizes"]
    assert found.conditions[0].holds == "no"
    assert sum(found.outputs["samples_per_client"]) == ours.INSURANCE_RECORDS
    assert ours.SIZES.evaluate(ours.SIZES.request(clients=5)).conditions[0].holds == "yes"
    with pytest.raises(InvalidInput):
        ours.SIZES.request(clients=10_001)


def test_settings_are_those_of_the_paper() -> None:
    mnist = ours.EXPERIMENTS.evaluate(ours.EXPERIMENTS.request(experiment="mnist")).outputs
    assert mnist["delta"] == pytest.approx(6.524672396198987e-07, rel=1e-15)
    assert set(mnist["participants"]) == {12, 18, 25}
    assert ours.EXPERIMENTS.evaluate(ours.EXPERIMENTS.request(experiment="insurance")).outputs["records"] == 1338

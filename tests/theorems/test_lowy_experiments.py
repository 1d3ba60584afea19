"""Appendix H: golden cases of metric and sizes, and what its calibration really gives."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from accountants.account import account
from accountants.errors import InvalidInput
from accountants.specs import Gaussian, Repeated, Subsampled
from accountants.theorem import Status
from accountants.theorems import lowy_experiments as ours

FILE = json.loads((Path(__file__).parents[1] / "golden" / "lowy.json").read_text())
CASES = {case["id"]: case for case in FILE["cases"]}
BRACKETS = [case for case in FILE["intervals"] if case["id"].startswith("bracket-apph")]


def number(text: object) -> float:
    return float(Fraction(str(text)))


def true_epsilon(inputs: ours.CalibrationInputs) -> Any:
    found = ours.calibration(inputs)
    batch = Subsampled(
        sampling="without-replacement",
        batch_size=inputs.batch,
        population=inputs.samples_per_client,
        mechanism=Gaussian(noise_multiplier=found["noise_multiplier"]),
    )
    run = Repeated(times=inputs.rounds, mechanism=batch)
    return account(run, relation="replace-one", effort="coarse").guarantee.curve.epsilon(inputs.log_delta)


def run(epsilon: float, batch_size: int | None = None) -> ours.CalibrationInputs:
    return ours.CalibrationInputs(
        epsilon=epsilon, delta=1.0 / 1238**2, samples_per_client=1238, rounds=35, lipschitz=1.0, batch_size=batch_size
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in BRACKETS])
def test_the_noise_and_its_true_epsilon_agree_with_the_independent_brackets(case: dict[str, Any]) -> None:
    given, known = case["inputs"], case["outputs"]
    inputs = run(float(given["eps"]), given["K"])
    assert ours.calibration(inputs)["noise_multiplier"] == pytest.approx(2.0 * given["z"], rel=1e-12)
    true = true_epsilon(inputs)
    assert true.lower <= known["wor_up"]
    assert true.upper >= known["wor_lo"]


def test_the_calibration_gives_away_more_than_it_says() -> None:
    """Table 2 of the errata: [1.526, 1.593] at a target of 1.5, [37.35, 39.13] at 18."""
    assert ours.EXPERIMENTAL_NOISE.status == Status.REFUTED
    for epsilon, low, high in ((1.5, 1.526, 1.593), (18.0, 37.35, 39.13)):
        inputs = run(epsilon)
        assert all(one.holds in (True, "undecidable") for one in ours.EXPERIMENTAL_NOISE.evaluate(inputs).conditions)
        true = true_epsilon(inputs)
        assert true.lower > epsilon
        assert low * 0.999 <= true.upper
        assert true.lower <= high * 1.001
    assert true_epsilon(run(0.75)).upper < 0.75


@pytest.mark.parametrize("epsilon", [0.125, 3.0, 18.0])
def test_the_side_condition_is_a_constant(epsilon: float) -> None:
    assert ours.calibration(run(epsilon))["rate_squared_rounds"] == pytest.approx(epsilon / 4.0, rel=1e-12)


@pytest.mark.parametrize(
    ("condition", "inputs"),
    [("prescribed-batch-size", run(3.0, 181)), ("batch-of-records", run(300.0))],
)
def test_each_condition_fails(condition: str, inputs: ours.CalibrationInputs) -> None:
    found = {one.id: one.holds for one in ours.EXPERIMENTAL_NOISE.evaluate(inputs).conditions}
    assert found[condition] is False
    with pytest.raises(InvalidInput):
        run(1.0, 1239)


def test_golden_metric() -> None:
    case = CASES["h-04"]
    inputs = ours.MetricInputs(
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
        ours.MetricInputs(**{"values": (1.0, 2.0), "predictions": (1.0, 2.0), "training_mean": 2.0, **changes})


def test_golden_sizes() -> None:
    case = CASES["h-08"]
    found = ours.SIZES.evaluate(ours.SizesInputs(clients=case["inputs"]["N"]))
    assert found.outputs["samples_per_client"] == case["outputs"]["sizes"]
    assert found.conditions[0].holds is False
    assert sum(found.outputs["samples_per_client"]) == ours.INSURANCE_RECORDS
    assert ours.SIZES.evaluate(ours.SizesInputs(clients=5)).conditions[0].holds is True
    with pytest.raises(InvalidInput):
        ours.SizesInputs(clients=10_001)


def test_settings_are_those_of_the_paper() -> None:
    mnist = ours.EXPERIMENTS.evaluate(ours.SettingsInputs(experiment="mnist")).outputs
    assert mnist["delta"] == pytest.approx(6.524672396198987e-07, rel=1e-15)
    assert set(mnist["participants"]) == {12, 18, 25}
    assert ours.EXPERIMENTS.evaluate(ours.SettingsInputs(experiment="insurance")).outputs["records"] == 1338

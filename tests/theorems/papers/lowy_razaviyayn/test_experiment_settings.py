"""Appendix H: golden cases of the metric, the sizes and the settings."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.lowy_razaviyayn import experiments as ours
from tests.oracles.golden import number, stored

FILE = stored("lowy")
CASES = {case["id"]: case for case in FILE["cases"]}


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
    # 80 of 100 records are for training, and one in seven images is used.
    whole = mnist["unreduced_samples_per_client"]
    assert whole["test"] / (whole["training"] + whole["test"]) == pytest.approx(mnist["test_ratio"], rel=1e-3)
    assert whole["training"] / mnist["images_per_used_image"] == pytest.approx(mnist["samples_per_client"], rel=1e-3)
    assert [math.log(each) for each in mnist["step_size_range"]] == pytest.approx([-6.0, 0.0])
    insurance = ours.EXPERIMENTS.evaluate(ours.EXPERIMENTS.request(experiment="insurance")).outputs
    assert insurance["records"] == sum(insurance["samples"].values()) == 1338
    assert insurance["samples"]["test"] == pytest.approx(insurance["test_ratio"] * 1338, abs=0.5)
    assert len(insurance["clipping_norms"]) * insurance["step_sizes"] == 50
    assert [math.log(each) for each in insurance["local_step_size_range"]] == pytest.approx([-10.0, 0.0])


@pytest.mark.parametrize("experiment", ["mnist", "insurance"])
def test_the_experiments_run_with_these_settings(experiment: ours.Experiment) -> None:
    """What the experiments on the papers' own data run, which has a module of its own."""
    from epsilond.witness.experiments.own_data import lowy_insurance, lowy_mnist

    module = {"mnist": lowy_mnist, "insurance": lowy_insurance}[experiment]
    served = ours.SETTINGS[experiment]
    for algorithm, name in (("mini-batch", "step_size_range"), ("local", "local_step_size_range")):
        steps = module.STEP_SIZES[algorithm][: served["step_sizes"]]
        assert [steps[0], steps[-1]] == pytest.approx(served[name], rel=1e-12)
    if experiment == "insurance":
        smaller, *printed = lowy_insurance.CLIPPING_NORMS
        assert printed == served["clipping_norms"]
        assert smaller == 10.0 < min(printed), "the experiment puts one smaller norm before the paper's grid"
    else:
        assert served["largest_inner_product"] == lowy_mnist.LARGEST_PREDICTION
        assert served["lipschitz_over_largest_norm"] == lowy_mnist.LIPSCHITZ_RATIO
        assert served["images_per_used_image"] == lowy_mnist.USED_SHARE

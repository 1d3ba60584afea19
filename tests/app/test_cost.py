"""Estimates of what a question costs."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from epsilond import CALIBRATORS
from epsilond.app.questions import cost
from epsilond.app.questions.accounts import read_account
from epsilond.app.questions.calibrations import calibration_of
from epsilond.app.questions.cost import (
    ABSENT,
    ACCOUNTS,
    ANNOUNCED_SECONDS,
    EXPENSIVE_SECONDS,
    LISTS,
    Tree,
    estimate_seconds,
)
from epsilond.app.questions.features import features_of
from epsilond.app.questions.question import Question
from epsilond.calibrators.accounts import AccountProblem
from epsilond.reading import read

STEP = {
    "kind": "subsampled",
    "sampling": "poisson",
    "rate": 0.01,
    "mechanism": {"kind": "gaussian", "noise_multiplier": 2.0},
}
RUN = {"kind": "repeated", "times": 1000, "mechanism": STEP}
SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "server", "query": {"log10_delta": -6.0}}


def account(spec: dict[str, Any]) -> AccountProblem:
    """Return the account of a spec."""
    return read(AccountProblem, {"spec": spec, **SETTING})


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Tree]]:
    """Trees that the test chooses."""
    chosen: dict[str, list[Tree]] = {}
    monkeypatch.setattr(cost, "_trees", lambda: chosen)
    return chosen


def test_a_request_has_the_features_of_its_numbers_and_words() -> None:
    features = features_of(account(RUN))
    assert features["rate"] == features["q"] == -2.0
    assert features["times"] == 3.0
    assert features["q T"] == 1.0
    assert features["noise_multiplier"] == math.log10(2.0)
    assert features["sampling=poisson"] == features["kind=gaussian"] == features["run=poisson gaussian"] == 1.0


def test_a_list_has_the_least_and_the_largest_of_its_numbers() -> None:
    features = features_of(account({"kind": "composed", "mechanisms": [RUN, {**RUN, "times": 10}, STEP]}))
    assert (features["least times"], features["times"], features["sampling=poisson"]) == (1.0, 3.0, 3.0)
    assert (features["least T"], features["T"], features["runs"], features["labels"]) == (0.0, 3.0, 3.0, 1.0)
    assert features["repeated=poisson gaussian"] == 2.0


def test_numbers_in_a_list_of_lists_are_features() -> None:
    features = features_of(account({"kind": "profile", "points": [[0.0, -1.0], [1000.0, -3.0]]}))
    assert (features["least points"], features["points"]) == (-300.0, 3.0)


def test_the_curve_of_an_account_is_read_where_a_normal_distribution_says() -> None:
    one = {"kind": "gaussian", "noise_multiplier": 4.0}
    features = features_of(account({"kind": "composed", "mechanisms": [one, {**one, "noise_multiplier": 3.0}]}))
    shift = math.hypot(1.0 / 4.0, 1.0 / 3.0)
    assert features["μ"] == pytest.approx(math.log10(shift))
    deviations = math.sqrt(2.0 * math.log(1e6))
    assert 10.0 ** features["ε"] == pytest.approx(shift * deviations + 0.5 * shift**2)


@pytest.mark.parametrize("unknown", ["noise_multiplier", "rounds", "rate", "epsilon", "delta"])
def test_a_calibration_has_the_noise_that_fits_a_normal_distribution(unknown: str) -> None:
    (calibrator,) = (each for each in CALIBRATORS if each.name == "gaussian")
    body = {**calibrator.example, "noise_multiplier": 1.0, "solve_for": unknown}
    del body[unknown]
    features = features_of(read(calibrator.problem, body))
    assert ("σ" in features) == (unknown not in ("epsilon", "delta"))
    if unknown == "noise_multiplier":
        shift = 0.01 * math.sqrt(1000.0) / 10.0 ** features["σ"]
        assert shift * math.sqrt(2.0 * math.log(1e6)) + 0.5 * shift**2 == pytest.approx(1.0)


def test_a_fixed_batch_has_a_rate() -> None:
    batch = {**STEP, "sampling": "without-replacement", "batch_size": 10, "population": 1000}
    del batch["rate"]
    assert (
        features_of(read(AccountProblem, {"spec": batch, **SETTING, "relation": "replace-one"}))["batch rate"] == -2.0
    )


def test_the_estimate_is_the_geometric_mean_of_the_trees_of_the_group(trees: dict[str, list[Tree]]) -> None:
    trees[ACCOUNTS] = [("times", 2.5, -1.0, ("rate", -3.0, 0.5, 2.0)), -1.0]
    trees[LISTS] = [1.0]
    assert estimate_seconds(ACCOUNTS, account({**RUN, "times": 10})) == pytest.approx(0.1)
    assert estimate_seconds(ACCOUNTS, account(RUN)) == pytest.approx(math.sqrt(10.0))
    assert estimate_seconds(ACCOUNTS, account({"kind": "composed", "mechanisms": [RUN, STEP]})) == 10.0
    assert estimate_seconds("no such calibrator", account(RUN)) is None


def test_a_feature_that_is_absent_is_below_every_threshold(trees: dict[str, list[Tree]]) -> None:
    trees[ACCOUNTS] = [("times", math.nextafter(ABSENT, 0.0), 1.0, 2.0)]
    assert estimate_seconds(ACCOUNTS, account(STEP)) == 10.0


def test_a_question_is_expensive_beyond_the_limit(trees: dict[str, list[Tree]]) -> None:
    body = json.dumps({"spec": RUN, **SETTING}).encode()
    trees[ACCOUNTS] = [math.log10(0.99 * ANNOUNCED_SECONDS)]
    assert not read_account(body).is_expensive
    trees[ACCOUNTS] = [math.log10(1.01 * ANNOUNCED_SECONDS)]
    assert read_account(body).is_expensive


def test_what_is_joined_costs_what_its_parts_cost(trees: dict[str, list[Tree]]) -> None:
    (calibrator,) = (each for each in CALIBRATORS if each.name == "gaussian")
    trees["gaussian"] = [math.log10(0.2)]
    parts = tuple(calibration_of(calibrator, read(calibrator.problem, calibrator.example)) for _ in range(3))
    assert Question.of("sweep", "gaussian", "", parts[0].work, parts=parts).seconds == pytest.approx(0.6)  # type: ignore[arg-type]
    assert Question.of("sweep", "gaussian", "", parts[0].work).seconds is None  # type: ignore[arg-type]


def test_every_calibrator_and_account_has_a_shipped_estimate() -> None:
    for calibrator in CALIBRATORS:
        seconds = estimate_seconds(calibrator.name, read(calibrator.problem, calibrator.example))
        assert seconds is not None
        assert 0.0 < seconds < 100.0
    assert (estimate_seconds(ACCOUNTS, account(RUN)) or math.inf) < EXPENSIVE_SECONDS


def test_a_risk_has_no_estimate_because_no_tree_has_learned_one() -> None:
    calibrator = next(each for each in CALIBRATORS if each.name == "gaussian")
    numbers = {name: value for name, value in calibrator.example.items() if name not in ("epsilon", "delta")}
    assert estimate_seconds("gaussian", read(calibrator.problem, calibrator.example)) is not None
    by_rates = read(calibrator.problem, {**numbers, "true_positive_rate": 0.3, "false_positive_rate": 0.1})
    assert estimate_seconds("gaussian", by_rates) is None
    assert calibration_of(calibrator, by_rates).seconds is None

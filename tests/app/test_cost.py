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
from epsilond.app.questions.cost import ABSENT, ACCOUNTS, EXPENSIVE_SECONDS, LISTS, Tree, estimate_seconds, features_of
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
def trees(monkeypatch: pytest.MonkeyPatch) -> dict[str, Tree]:
    """Trees that the test chooses."""
    chosen: dict[str, Tree] = {}
    monkeypatch.setattr(cost, "_trees", lambda: chosen)
    return chosen


def test_a_request_has_the_features_of_its_numbers_and_words() -> None:
    features = features_of(account(RUN))
    assert features["rate"] == features["least rate"] == -2.0
    assert features["times"] == 3.0
    assert features["rate times"] == 1.0
    assert features["noise_multiplier"] == math.log10(2.0)
    assert features["sampling=poisson"] == features["kind=gaussian"] == 1.0


def test_a_list_has_the_least_and_the_largest_of_its_numbers() -> None:
    features = features_of(account({"kind": "composed", "mechanisms": [RUN, {**RUN, "times": 10}, STEP]}))
    assert (features["least times"], features["times"], features["sampling=poisson"]) == (1.0, 3.0, 3.0)


def test_a_fixed_batch_has_a_rate() -> None:
    batch = {**STEP, "sampling": "without-replacement", "batch_size": 10, "population": 1000}
    del batch["rate"]
    assert (
        features_of(read(AccountProblem, {"spec": batch, **SETTING, "relation": "replace-one"}))["batch rate"] == -2.0
    )


def test_the_estimate_is_read_off_the_tree_of_the_group(trees: dict[str, Tree]) -> None:
    trees[ACCOUNTS] = ("times", 2.5, 0.25, ("rate", -3.0, 0.5, 4.0))
    trees[LISTS] = 7.0
    assert estimate_seconds(ACCOUNTS, account({**RUN, "times": 10})) == 0.25
    assert estimate_seconds(ACCOUNTS, account(RUN)) == 4.0
    assert estimate_seconds(ACCOUNTS, account({"kind": "composed", "mechanisms": [RUN, STEP]})) == 7.0
    assert estimate_seconds("no such calibrator", account(RUN)) is None


def test_a_feature_that_is_absent_is_below_every_threshold(trees: dict[str, Tree]) -> None:
    trees[ACCOUNTS] = ("times", math.nextafter(ABSENT, 0.0), 1.0, 2.0)
    assert estimate_seconds(ACCOUNTS, account(STEP)) == 1.0


def test_a_question_is_expensive_beyond_the_limit(trees: dict[str, Tree]) -> None:
    body = json.dumps({"spec": RUN, **SETTING}).encode()
    trees[ACCOUNTS] = EXPENSIVE_SECONDS
    assert not read_account(body).is_expensive
    trees[ACCOUNTS] = 1.01 * EXPENSIVE_SECONDS
    assert read_account(body).is_expensive


def test_what_is_joined_costs_what_its_parts_cost(trees: dict[str, Tree]) -> None:
    (calibrator,) = (each for each in CALIBRATORS if each.name == "gaussian")
    trees["gaussian"] = 0.2
    parts = tuple(calibration_of(calibrator, read(calibrator.problem, calibrator.example)) for _ in range(3))
    assert Question.of("sweep", "gaussian", "", parts[0].work, parts=parts).seconds == pytest.approx(0.6)  # type: ignore[arg-type]
    assert Question.of("sweep", "gaussian", "", parts[0].work).seconds is None  # type: ignore[arg-type]


def test_every_calibrator_and_account_has_a_shipped_estimate() -> None:
    for calibrator in CALIBRATORS:
        seconds = estimate_seconds(calibrator.name, read(calibrator.problem, calibrator.example))
        assert seconds is not None
        assert 0.0 < seconds < 100.0
    assert (estimate_seconds(ACCOUNTS, account(RUN)) or math.inf) < EXPENSIVE_SECONDS

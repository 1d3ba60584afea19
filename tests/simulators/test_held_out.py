"""Held-out records and what is said of predictions of them, from the definitions; and how records are dealt."""

from __future__ import annotations

import numpy as np
import pytest

from epsilond.simulators.algorithms.kinds import ALGORITHMS
from epsilond.simulators.problems.data_sets import PAIR_RECORDS, DataSetProblem, read_features
from epsilond.simulators.problems.held_out import HeldOut, by_largest, by_sign, relative_error

GENERATOR = np.random.default_rng(7)
FEATURES = GENERATOR.standard_normal((30, 4))
ONE_OF_EACH = [
    DataSetProblem(clients=5, held_out=0.2, diameter=10.0),
    DataSetProblem(data_set="digits", clients=25, split="odd-even-pairs", held_out=0.2),
    DataSetProblem(data_set="digits", loss="softmax", clients=50, split="by-label", held_out=0.2),
    DataSetProblem(data_set="diabetes", clients=5, split="by-label", held_out=0.2, diameter=4.0),
]
EACH = pytest.mark.parametrize("spec", ONE_OF_EACH, ids=lambda spec: f"{spec.data_set}-{spec.loss}")


def test_signs_are_counted_one_by_one() -> None:
    targets = GENERATOR.choice([-1.0, 1.0], 30)
    models = np.vstack([GENERATOR.standard_normal((6, 4)), np.zeros(4)])
    found = HeldOut(FEATURES, targets, by_sign).scores(models)
    for model, error, accuracy in zip(models[:6], found["test_error"], found["test_accuracy"], strict=False):
        missed = sum(
            (sum(x * w for x, w in zip(row, model, strict=True)) > 0) != (y > 0)
            for row, y in zip(FEATURES, targets, strict=True)
        )
        assert error == pytest.approx(missed / 30)
        assert accuracy == pytest.approx(1.0 - missed / 30)
    assert found["test_error"][-1] == 0.5


def test_classes_are_counted_one_by_one() -> None:
    targets = GENERATOR.integers(3, size=30).astype(float)
    models = GENERATOR.standard_normal((5, 12))
    found = HeldOut(FEATURES, targets, by_largest, outputs=3).scores(models)
    for model, accuracy in zip(models, found["test_accuracy"], strict=True):
        rows = [model[:4], model[4:8], model[8:]]
        right = sum(max(range(3), key=lambda c: rows[c] @ x) == y for x, y in zip(FEATURES, targets, strict=True))
        assert accuracy == pytest.approx(right / 30)


def test_the_relative_error_is_its_formula() -> None:
    targets = GENERATOR.standard_normal(30)
    model = GENERATOR.standard_normal(4)
    held = HeldOut(FEATURES, targets, relative_error(0.25))
    top = sum((x @ model - y) ** 2 for x, y in zip(FEATURES, targets, strict=True))
    below = sum((y - 0.25) ** 2 for y in targets)
    assert held.scores(model)["test_rrmse"] == pytest.approx((top / below) ** 0.5)
    assert HeldOut(FEATURES, targets, relative_error(0.0)).scores(np.zeros(4))["test_rrmse"] == pytest.approx(1.0)


def test_a_score_does_not_depend_on_what_stands_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ONE_OF_EACH[2].build()
    models = GENERATOR.standard_normal((4, 3, problem.dimension))
    together = problem.scores(models)["test_error"]
    monkeypatch.setattr("epsilond.simulators.problems.held_out.AT_ONCE", 1)
    assert problem.scores(models)["test_error"].tolist() == together.tolist()
    assert together.shape == (4, 3)


@EACH
def test_nobody_trains_on_what_is_held_out_and_nothing_is_dealt_twice(spec: DataSetProblem) -> None:
    problem = spec.build()
    held = problem.held_out
    assert held is not None
    kept = problem.population.features.reshape(-1, problem.population.features.shape[-1])
    every = [*map(bytes, kept), *map(bytes, held.features)]
    assert len(every) == spec.clients * spec.dealt
    assert len(held.targets) == spec.clients * spec.tested
    assert len(set(every)) == len({bytes(row) for row in read_features(spec.data_set)[0]} & set(every))
    # Records that are equal are few in these sets: almost all are dealt once.
    assert len(set(every)) >= 0.99 * len(every)
    assert problem.facts()["held_out"] == len(held.targets)


@EACH
def test_the_minimiser_predicts_better_than_nothing(spec: DataSetProblem) -> None:
    problem = spec.build()
    best, nothing = problem.scores(problem.minimiser), problem.scores(np.zeros(problem.dimension))
    name = "test_rrmse" if spec.data_set == "diabetes" else "test_error"
    assert best[name] < 0.8 * nothing[name]


def test_a_pair_is_of_one_odd_and_one_even_digit() -> None:
    spec = DataSetProblem(data_set="digits", clients=25, split="odd-even-pairs")
    problem = spec.build()
    features, labels = read_features("digits")
    label_of = {bytes(row): int(label) for row, label in zip(features, labels, strict=True)}
    pairs = {tuple(sorted({label_of[bytes(row)] for row in client})) for client in problem.population.features}
    assert pairs == {tuple(sorted((odd, even))) for odd in (1, 3, 5, 7, 9) for even in (0, 2, 4, 6, 8)}
    assert np.all(np.sum(problem.population.targets, axis=1) == 0.0)
    assert 5 * PAIR_RECORDS <= np.bincount(labels.astype(int)).min() < 5 * (PAIR_RECORDS + 1)


def test_targets_of_a_regression_are_centred_and_fill_the_interval() -> None:
    _, targets = read_features("diabetes")
    assert np.max(np.abs(targets)) == 1.0
    assert abs(np.mean(targets)) < 1e-12


def test_every_algorithm_of_one_model_scores_its_output() -> None:
    """What is scored is what is put out: without noise, many rounds come near the minimiser's score."""
    problem = DataSetProblem(clients=5, held_out=0.2, diameter=10.0).build()
    extra = {
        "norm-fedavg": {"participants": 5, "local_steps": 2, "noise_levels": 0},
        "fedavg": {"participants": 5, "local_steps": 2},
        "mb-sgd": {"batch_size": 20, "step_size": 4.0, "noise_std": 0.0},
        "mu2-sgd": {"noise_std": 0.0, "step_size": 0.1},
    }
    algorithms = {each.name: each for each in ALGORITHMS if each.name in extra}
    assert {*algorithms} == {*extra}
    for name, algorithm in algorithms.items():
        run = algorithm.run(rounds=60, **extra[name])
        curves = algorithm.simulate(problem, run, [np.random.default_rng(seed) for seed in (0, 1)], (60,))
        assert curves.scores["test_error"].shape == (2,)
        assert np.all(curves.scores["test_error"] < 0.2)

"""Digits for personalized models: gradients, losses and scores from their definitions, and what clients are dealt."""

import math

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms.ppsgd.ppsgd import simulate
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.problems.personalized_digits import PersonalizedDigits
from epsilond.simulators.problems.problem import Records
from epsilond.simulators.seeds import generators

PROBLEM = PersonalizedDigits(clients=89).build()


def loss(model, feature, label):
    """Cross-entropy of one record, from its definition."""
    outputs = [float(np.dot(row, feature)) for row in model.reshape(10, 64)]
    top = max(outputs)
    return top + math.log(sum(math.exp(each - top) for each in outputs)) - outputs[int(label)]


def test_a_gradient_is_the_slope_of_the_weighted_losses():
    generator = np.random.default_rng(0)
    records = PROBLEM.records(generator, np.array([3, 40]), 4)
    models, weights = generator.standard_normal((2, 640)), generator.random((2, 4))
    gradient = PROBLEM.weighted_gradient(models, records, weights)
    for row in range(2):
        direction = generator.standard_normal(640)
        slopes = []
        for size in (1e-5, -1e-5):
            moved = models[row] + size * direction
            parts = zip(weights[row], records.features[row], records.targets[row], strict=True)
            slopes.append(sum(weight * loss(moved, feature, label) for weight, feature, label in parts))
        assert (slopes[0] - slopes[1]) / 2e-5 == pytest.approx(float(direction @ gradient[row]), rel=1e-6)


def test_the_excess_is_the_mean_loss_on_the_clients_own_training_records():
    models = np.random.default_rng(1).standard_normal((89, 640))
    parts = [
        np.mean([loss(models[i], feature, label) for feature, label in zip(*own, strict=True)])
        for i, own in enumerate(zip(PROBLEM.features, PROBLEM.labels, strict=True))
    ]
    assert PROBLEM.excess(models, np.full(89, 1 / 89)) == pytest.approx(np.mean(parts))


def test_scores_count_the_clients_own_held_out_records():
    models = np.random.default_rng(2).standard_normal((2, 89, 640))
    right = [
        np.argmax(models[1, i].reshape(10, 64) @ feature) == label
        for i in range(89)
        for feature, label in zip(PROBLEM.test_features[i], PROBLEM.test_labels[i], strict=True)
    ]
    found = PROBLEM.scores(models)
    assert found["test_accuracy"][1] == pytest.approx(np.mean(right))
    assert found["test_error"][0] == pytest.approx(1 - found["test_accuracy"][0])


def test_the_least_loss_is_at_most_the_gap_and_the_gap_is_small():
    # Fourteen records in 64 features can be fitted without a miss.
    assert PROBLEM.excess(PROBLEM.optima, np.full(89, 1 / 89)) == pytest.approx(PROBLEM.optimum_gap)
    assert 0.0 <= PROBLEM.optimum_gap < 1e-3


def test_no_gradient_is_longer_than_the_lipschitz_constant():
    generator = np.random.default_rng(3)
    records = PROBLEM.records(generator, np.arange(89), 1)
    gradients = PROBLEM.weighted_gradient(100 * generator.standard_normal((89, 640)), records, np.ones((89, 1)))
    assert np.linalg.norm(gradients, axis=1).max() <= PROBLEM.constants.lipschitz * (1 + 1e-12)


@pytest.mark.parametrize("split", ["consecutive", "by-label"])
def test_every_record_is_dealt_once(split):
    dealt = PersonalizedDigits(clients=89, split=split).build()
    everything = np.concatenate([dealt.features, dealt.test_features], axis=1)
    assert everything.shape == (89, 20, 64)
    labels = np.concatenate([dealt.labels, dealt.test_labels], axis=1)
    whole = PersonalizedDigits(clients=1, held_out=0.1).build()
    known = sorted(np.concatenate([whole.features[0], whole.test_features[0]]).sum(axis=1).round(9))
    found = sorted(everything.reshape(-1, 64).sum(axis=1).round(9))
    assert len(found) == 1780
    remaining = list(known)
    for each in found:
        remaining.remove(each)
    assert len(remaining) == 17
    kinds = [len(set(own)) for own in labels]
    assert (max(kinds) <= 2) if split == "by-label" else (np.mean(kinds) > 6)


def test_batches_are_the_clients_own():
    records = PROBLEM.records(np.random.default_rng(4), np.array([7]), 50)
    own = {tuple(feature) for feature in PROBLEM.features[7]}
    assert {tuple(feature) for feature in records.features[0]} <= own


def test_a_run_learns_and_does_not_depend_on_its_neighbours():
    run = PpsgdRun(
        rounds=15, batch_size=5, clipping_norm=0.5, personalization=1 / 89, step_size=5.0 * 89, noise_std=0.0
    )
    both = simulate(PROBLEM, run, generators(0, range(2)), (15,))
    alone = simulate(PROBLEM, run, generators(0, [1]), (15,))
    assert both.scores["test_accuracy"].min() > 0.6
    assert both.scores["test_accuracy"][1] == alone.scores["test_accuracy"][0]
    assert isinstance(both, type(alone))
    assert isinstance(PROBLEM.records(np.random.default_rng(0), np.array([0]), 1), Records)


@pytest.mark.parametrize(
    ("change", "pointer"), [({"clients": 450}, "/clients"), ({"clients": 400, "held_out": 0.05}, "/held_out")]
)
def test_clients_need_records_to_train_on_and_to_be_tested_on(change, pointer):
    with pytest.raises(InvalidInput) as refused:
        PersonalizedDigits(**change)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]

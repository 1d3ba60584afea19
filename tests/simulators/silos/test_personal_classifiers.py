"""Test PPSGD on classified records: it agrees with a training that keeps every personal model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.files.federated_emnist import read_writers
from epsilond.simulators.files.stack_overflow import read_authors
from epsilond.simulators.silos.federated_users import read_digit_writers, read_tagging_users
from epsilond.simulators.silos.personal_classifiers import (
    ClassifiedRecords,
    ClassifiedUsers,
    ClassifierTraining,
    draw_rounds,
    train_classifiers,
)
from tests.simulators.files.small_files import write_authors, write_writers

STEPS = (0.05, 0.4, 2.0)
SIZES, TEST_SIZES, DIMENSION, CLASSES = (23, 9, 40, 4, 31), (30, 20, 0, 10, 40), 7, 3


def draw_records(sizes: tuple[int, ...], seed: int, *, is_sparse: bool = False) -> ClassifiedRecords:
    """Draw records of users that each have labels of their own."""
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((sum(sizes), DIMENSION)).astype(np.float32)
    features *= generator.random(features.shape) < 0.5
    weights = np.random.default_rng(7).standard_normal((DIMENSION, CLASSES))
    own = np.random.default_rng(8).standard_normal((len(sizes), DIMENSION, CLASSES))
    users = np.repeat(np.arange(len(sizes)), sizes)
    scores = np.einsum("rd,rdk->rk", features, weights + own[users])
    targets = np.eye(CLASSES, dtype=np.float32)[scores.argmax(axis=1)]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return ClassifiedRecords(
        features=sparse.csr_array(features) if is_sparse else features, targets=targets, bounds=bounds
    )


def draw_users(*, is_sparse: bool = False) -> ClassifiedUsers:
    """Draw users with records for training and for tests."""
    return ClassifiedUsers(
        training=draw_records(SIZES, 1, is_sparse=is_sparse), test=draw_records(TEST_SIZES, 2, is_sparse=is_sparse)
    )


def settings(personalization: float = 1.0, noise: float = 0.5, clipping_norm: float = 0.7) -> ClassifierTraining:
    """Return the settings of a run in which the clipping norm binds for some users."""
    return ClassifierTraining(
        personalization=personalization,
        noise_multiplier=noise,
        clipping_norm=clipping_norm,
        participants=2,
        batch_size=4,
        passes=2,
        target_offset=0.1,
        measured=(0.5, 1.0),
    )


def train_plainly(users: ClassifiedUsers, training: ClassifierTraining, step: float, seed: int) -> list[float]:
    """Run Algorithm 3 of Bietti et al. for a fixed number of users, with every model as a matrix in double precision.

    The rounds and the noise are those of the tested function.
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    rounds = draw_rounds(
        users.batches(training.batch_size), participants=training.participants, passes=training.passes,
        generator=generator,
    )  # fmt: skip
    alpha = training.personalization
    shared_step = step * min(alpha, 1.0)
    personal_step = 0.0 if math.isinf(alpha) else step / max(alpha, 1.0)
    features, tests = np.asarray(users.training.features, dtype=float), np.asarray(users.test.features, dtype=float)
    shared = np.zeros((DIMENSION, CLASSES))
    personal = np.zeros((users.count, DIMENSION, CLASSES))
    accuracies = []
    for number, participation in enumerate(rounds, start=1):
        gradients = []
        for user, batch in zip(participation.users, participation.batches, strict=True):
            start = users.training.bounds[user] + batch * training.batch_size
            rows = slice(start, start + training.batch_size)
            residuals = features[rows] @ (shared + personal[user]) - (users.training.targets[rows] - 0.1)
            gradient = features[rows].T @ residuals / training.batch_size
            personal[user] -= personal_step * gradient
            gradients.append(gradient / max(1.0, float(np.linalg.norm(gradient)) / training.clipping_norm))
        if shared_step:
            noise = generator.standard_normal((DIMENSION, CLASSES), dtype=np.float32)
            scale = training.noise_multiplier * training.clipping_norm / len(gradients)
            shared -= shared_step * (np.mean(gradients, axis=0) + scale * noise)
        if number in [math.ceil(share * len(rounds)) for share in training.measured]:
            hits = 0.0
            for user in range(users.count):
                records = users.test.user(user)
                best = (tests[records] @ (shared + personal[user])).argmax(axis=1)
                hits += users.test.targets[records][np.arange(len(best)), best].sum()
            accuracies.append(float(hits) / len(tests))
    return accuracies


@pytest.mark.parametrize("personalization", [0.0, 0.1, 1.0, 10.0, math.inf])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_accuracies_are_those_of_a_plain_training(personalization: float, noise: float) -> None:
    users, training = draw_users(), settings(personalization, noise)
    trained = train_classifiers(users, training, STEPS, seed=3)
    plain = np.transpose([train_plainly(users, training, step, seed=3) for step in STEPS])
    assert trained == pytest.approx(plain, abs=1e-12)
    assert trained.shape == (2, 3)
    assert trained.max() > 0.4, "one class in three is a guess"


def test_sparse_features_give_the_same_accuracies() -> None:
    dense = train_classifiers(draw_users(), settings(), STEPS, seed=3)
    assert train_classifiers(draw_users(is_sparse=True), settings(), STEPS, seed=3) == pytest.approx(dense, abs=1e-12)


def test_noise_and_clipping_change_the_shared_model_only() -> None:
    users = draw_users()
    for personalization, is_equal in ((0.0, True), (1.0, False)):
        plain = train_classifiers(users, settings(personalization, 0.0), STEPS, seed=3)
        noisy = train_classifiers(users, settings(personalization, 50.0), STEPS, seed=3)
        clipped = train_classifiers(users, settings(personalization, 0.0, clipping_norm=1e-3), STEPS, seed=3)
        assert np.array_equal(plain, noisy) is is_equal
        assert np.array_equal(plain, clipped) is is_equal


def test_a_run_that_diverges_has_accuracy_zero() -> None:
    accuracies = train_classifiers(draw_users(), settings(0.0, 0.0), (0.1, 1e30), seed=3)
    assert accuracies[1, 0] > 0.0
    assert accuracies[1, 1] == 0.0


def test_each_batch_is_used_once_in_each_pass() -> None:
    batches = np.array([5, 2, 10, 0, 7])
    rounds = draw_rounds(batches, participants=2, passes=3, generator=np.random.default_rng(0))
    assert all(len(set(each.users)) == len(each.users) <= 2 for each in rounds)
    assert all(len(each.users) == 2 for each in rounds[:12]), "two users have batches left for at least so long"
    for user, count in enumerate(batches):
        own = [int(each.batches[each.users == user][0]) for each in rounds if user in each.users]
        assert len(own) == 3 * count
        for start in range(0, len(own), max(1, count)):
            assert sorted(own[start : start + count]) == list(range(count))


# Users ----------------------------------------------------------------------------------------------------------------
def test_writers_have_their_pixels_as_features(tmp_path: Path) -> None:
    write_writers(tmp_path, writers=3, training=12, test=4)
    read_writers.cache_clear()
    users = read_digit_writers(tmp_path, 2)
    assert users.count == 2
    assert users.training.features.shape == (24, 784)
    assert users.training.bounds.tolist() == [0, 12, 24]
    assert users.test.targets.argmax(axis=1).tolist() == [0, 1, 2, 3] * 2
    second = read_writers(tmp_path, 2)[1]
    assert np.array_equal(users.training.features[12], second.training.images[0].ravel())
    with pytest.raises(InvalidInput, match="has 3 writers, and 4 are needed"):
        read_digit_writers(tmp_path, 4)


def test_documents_have_frequencies_of_words_and_their_frequent_tags(tmp_path: Path) -> None:
    write_authors(tmp_path, authors=3, training=6, test=2)
    read_authors.cache_clear()
    users = read_tagging_users(tmp_path, 3, words=10, tags=2)
    assert users.training.features.shape == (18, 10)
    assert users.training.bounds.tolist() == [0, 6, 12, 18]
    documents = [document for author in read_authors(tmp_path, 3, 500) for document in author.training]
    for row, document in enumerate(documents):
        expected = [document.words.count(f"w{word}") / len(document.words) for word in range(10)]
        assert users.training.features[[row]].toarray()[0] == pytest.approx(expected, rel=1e-6)
        assert users.training.targets[row].tolist() == [float(f"t{tag}" in document.tags) for tag in range(2)]
    with pytest.raises(InvalidInput, match="has 3 users of both splits, and 4 are needed"):
        read_tagging_users(tmp_path, 4, words=10, tags=2)

"""PPSGD of Bietti et al. on records of real users, for many step sizes at once.

User i scores class k by ⟨w_k + θ_{i,k}, x⟩, with a shared model w and a personal model θ_i. The loss is the squared
one of each class against all others. In each round some users take part, each with its next batch. The shared step uses
clipped gradients with Gaussian noise; the personal step is private, because it never leaves the user.

A personal model is a sum of outer products of its user's training records and residuals. So the sums of residuals of
each record are kept in its place, and products of the user's records give its scores.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from epsilond.simulators.silos.personal_models import Floats, split_steps

Features = npt.NDArray[np.float32] | sparse.csr_array
"""(records, d), one record in each row."""
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifiedRecords:
    """Records of all users, those of one user after another."""

    features: Features
    targets: Floats
    """(records, classes): 1 for the classes of a record, and 0 for others."""
    bounds: Indices
    """(users + 1): user i has the records from `bounds[i]` up to `bounds[i + 1]`."""

    def user(self, index: int) -> slice:
        """Return the place of a user's records.

        Args:
            index: number of the user.
        """
        return slice(int(self.bounds[index]), int(self.bounds[index + 1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifiedUsers:
    """Users with records for training and for tests."""

    training: ClassifiedRecords
    test: ClassifiedRecords

    @property
    def count(self) -> int:
        """Number of users."""
        return len(self.training.bounds) - 1

    def batches(self, batch_size: int) -> Indices:
        """Return the number of whole batches of each user.

        Args:
            batch_size: records of a batch.
        """
        return np.diff(self.training.bounds) // batch_size

    @functools.cached_property
    def products(self) -> tuple[tuple[Floats, Floats], ...]:
        """Inner products of each user's training records, and of its test records with its training records."""
        pairs = []
        for index in range(self.count):
            own = self.training.features[self.training.user(index)]
            tests = self.test.features[self.test.user(index)]
            pairs.append((_dense(own @ own.T), _dense(tests @ own.T)))
        return tuple(pairs)


@dataclass(frozen=True, kw_only=True)
class ClassifierTraining:
    """Settings of a training run with a shared model and a personal model of each user, except its step size."""

    personalization: float
    """Step size of the shared model divided by that of a personal model; inf for no personal model.

    In the notation of Bietti et al. it is αQ for Q users in a round."""
    noise_multiplier: float
    """Standard deviation of the noise in the sum of clipped gradients, divided by the clipping norm."""
    clipping_norm: float
    participants: int
    """Number Q of users in a round. Towards the end fewer users may have batches left."""
    batch_size: int
    passes: int
    """Passes of each user over its whole batches."""
    target_offset: float
    """Number that is subtracted from every target."""
    measured: Sequence[float]
    """Shares of the rounds after which the accuracy is measured, in increasing order, each in (0, 1]."""


@dataclass(frozen=True)
class UserRound:
    """One round: the users that take part, and the number of the batch of each."""

    users: Indices
    batches: Indices


def draw_rounds(
    batches: Sequence[int] | Indices, *, participants: int, passes: int, generator: np.random.Generator
) -> list[UserRound]:
    """Draw the users of each round without replacement, until every user has made all its passes.

    Each pass of a user goes through its batches in a new order. Users without batches left do not take part.

    Args:
        batches: number of batches of each user.
        participants: number of users in a round.
        passes: number of passes of each user.
        generator: generator of all draws.
    """
    orders = [np.concatenate([generator.permutation(count) for _ in range(passes)]) for count in batches]
    used = np.zeros(len(orders), dtype=np.int64)
    lengths = np.array([len(order) for order in orders])
    rounds = []
    while len(waiting := np.flatnonzero(used < lengths)):
        users = generator.choice(waiting, size=min(participants, len(waiting)), replace=False)
        rounds.append(UserRound(users, np.array([orders[user][used[user]] for user in users], dtype=np.int64)))
        used[users] += 1
    return rounds


def train_classifiers(
    users: ClassifiedUsers, training: ClassifierTraining, step_sizes: Sequence[float], seed: int
) -> npt.NDArray[np.float64]:
    """Train shared and personal models, and return the accuracy on test records for each step size.

    It is the share of the records of which the class of the best score is one of their own.

    All step sizes see the same batches and the same noise. A run that diverges has the accuracy 0.

    Args:
        users: the users and their records.
        training: settings of the runs.
        step_sizes: for each run, the larger of the step sizes of the shared and the personal models.
        seed: seed of rounds and noise.

    Returns:
        Array of shape (measured shares, step sizes).
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    rounds = draw_rounds(
        users.batches(training.batch_size),
        participants=training.participants,
        passes=training.passes,
        generator=generator,
    )
    run = _ClassifierRuns(users, training, step_sizes)
    ends = [math.ceil(share * len(rounds)) for share in training.measured]
    accuracies = []
    with np.errstate(over="ignore", invalid="ignore"):
        for start, end in pairwise([0, *ends]):
            for participation in rounds[start:end]:
                run.step(participation, generator)
            accuracies.append(run.measure())
    return np.array(accuracies)


class _ClassifierRuns:
    """Shared and personal models of one run for each step size.

    Arrays with an axis of step sizes and classes have the classes of the first step size first.

    Args:
        users: the users and their records.
        training: settings of the run.
        step_sizes: the larger of the step sizes of the shared and the personal models.
    """

    def __init__(self, users: ClassifiedUsers, training: ClassifierTraining, step_sizes: Sequence[float]) -> None:
        self._users, self._training = users, training
        records, self._classes = users.training.targets.shape
        self._steps = len(step_sizes)
        shared, personal = split_steps(np.asarray(step_sizes, dtype=np.float32), training.personalization)
        self._shared_steps = np.repeat(shared, self._classes)
        self._personal_steps = np.repeat(personal, self._classes)
        width = self._steps * self._classes
        dimension = users.training.features.shape[1]
        self._learned = np.zeros((dimension, width), dtype=np.float32)
        self._noise = np.zeros((dimension, self._classes), dtype=np.float32)
        self._has_shared, self._has_personal = bool(shared.any()), bool(personal.any())
        self._residuals = np.zeros((records if self._has_personal else 0, width), dtype=np.float32)

    def step(self, participation: UserRound, generator: np.random.Generator) -> None:
        """Train for one round.

        Args:
            participation: users and batches of the round.
            generator: generator of the noise.
        """
        size, bounds = self._training.batch_size, self._users.training.bounds
        offsets = size * participation.batches
        rows = (bounds[participation.users] + offsets)[:, None] + np.arange(size)
        features = self._users.training.features[rows.ravel()]
        targets = self._users.training.targets[rows.ravel()] - np.float32(self._training.target_offset)
        residuals = self._shared_scores(features) - np.tile(targets, self._steps)
        norms = np.empty((len(rows), self._steps), dtype=np.float32)
        by_user = residuals.reshape(len(rows), size, -1)
        for own, norm, user, offset in zip(by_user, norms, participation.users, offsets, strict=True):
            products = self._users.products[user][0][offset : offset + size]
            if self._has_personal:
                np.subtract(own, self._personal_scores(user, products), out=own)
                self._residuals[bounds[user] + offset : bounds[user] + offset + size] += own
            squares = np.sum((products[:, offset : offset + size] @ own) * own, axis=0)
            norm[:] = np.sqrt(np.maximum(squares.reshape(self._steps, -1).sum(axis=1), 0.0)) / size
        if self._has_shared:
            self._step_shared(features, by_user, norms, generator)

    def _step_shared(
        self, features: Features, residuals: Floats, norms: Floats, generator: np.random.Generator
    ) -> None:
        """Move the shared models by the mean of the clipped gradients of the users, with noise.

        Args:
            features: features of all batches.
            residuals: (users, batch size, step sizes and classes).
            norms: norm of each user's gradient, (users, step sizes).
            generator: generator of the noise.
        """
        training, (users, size, width) = self._training, residuals.shape
        scales = 1.0 / (np.maximum(1.0, norms / np.float32(training.clipping_norm)) * np.float32(size * users))
        residuals *= np.repeat(scales, self._classes, axis=1)[:, None, :]
        flat, steps = residuals.reshape(-1, width), self._shared_steps
        if isinstance(features, np.ndarray):
            self._learned -= (features.T @ flat) * steps
        else:  # only the models' rows of the words that occur change
            words = np.unique(features.indices)
            columns: Any = features
            self._learned[words] -= (columns[:, words].T @ flat) * steps
        noise = generator.standard_normal(self._noise.shape, dtype=np.float32)
        self._noise += noise * np.float32(training.noise_multiplier * training.clipping_norm / users)

    def _shared_scores(self, features: Features) -> Floats:
        """Return the scores of records by the shared models.

        The noise is the same for all step sizes. So its sum is kept once, and each model has it times its step size.

        Args:
            features: features of the records.
        """
        scores: Floats = features @ self._learned
        scores -= np.tile(features @ self._noise, self._steps) * self._shared_steps
        return scores

    def _personal_scores(self, user: int, products: Floats) -> Floats:
        """Return the scores by a user's own model, with the opposite sign.

        Args:
            user: number of the user.
            products: inner products of some records with the user's training records.
        """
        residuals = self._residuals[self._users.training.user(user)]
        scores: Floats = (products @ residuals) * (self._personal_steps / np.float32(self._training.batch_size))
        return scores

    def measure(self) -> npt.NDArray[np.float64]:
        """Return the test accuracy of each step size."""
        test = self._users.test
        hits = np.zeros(self._steps)
        for user in range(self._users.count):
            records = test.user(user)
            scores = self._shared_scores(test.features[records])
            if self._has_personal:
                scores = scores - self._personal_scores(user, self._users.products[user][1])
            by_step = scores.reshape(-1, self._steps, self._classes)
            best = by_step.argmax(axis=2)
            correct = np.take_along_axis(test.targets[records], best, axis=1) > 0.0
            hits += np.sum(correct & np.isfinite(by_step).all(axis=2), axis=0)
        return hits / len(test.targets)


def _dense(products: Any) -> Floats:
    """Return a product of dense or sparse matrices as an array."""
    dense: Floats = products if isinstance(products, np.ndarray) else products.toarray()
    return dense

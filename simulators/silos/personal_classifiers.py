"""PPSGD of Bietti et al. on records of real users, for many step sizes at once.

User i scores class k by ⟨w_k + θ_{i,k}, x⟩, with a shared model w and a personal model θ_i. The loss is half the
squared distance of the scores from the targets: 1 for the record's classes and 0 for all others, less an offset. In
each round some users take part, each with its next batch. The shared step uses clipped gradients with Gaussian noise.
The personal step needs no noise, because the personal model never leaves its user.

A personal model is a sum of outer products of its user's training records with residuals. Instead of the model, the
program keeps the sum of residuals of each record. The scores follow from the inner products of the user's records.
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
    """Records of all users with their classes, in one table, one user after another.

    Attributes:
        features: features of the records, (records, d), for d features, dense or sparse.
        targets: 1 for the classes of a record, and 0 for others, (records, classes).
        bounds: user i has the records from `bounds[i]` up to `bounds[i + 1]`, (users + 1).
    """

    features: Features
    targets: Floats
    bounds: Indices

    def user(self, index: int) -> slice:
        """Return the rows of the table with the records of one user, as a slice.

        Args:
            index: number of the user, from 0.
        """
        return slice(int(self.bounds[index]), int(self.bounds[index + 1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifiedUsers:
    """Users with records for training and for tests.

    Attributes:
        training: training records of all users.
        test: test records of the same users, in the same order.
    """

    training: ClassifiedRecords
    test: ClassifiedRecords

    @property
    def count(self) -> int:
        """Number of users."""
        return len(self.training.bounds) - 1

    def batches(self, batch_size: int) -> Indices:
        """Return the number of whole batches of each user; surplus records are left out.

        Args:
            batch_size: records of a batch.
        """
        return np.diff(self.training.bounds) // batch_size

    @functools.cached_property
    def products(self) -> tuple[tuple[Floats, Floats], ...]:
        """Two matrices of inner products of features for each user, with n training records and T test records.

        The first, (n, n), has the products of the training records with each other. The second, (T, n), has the
        products of the test records with the training records. Personal models are computed from these products only.
        """
        pairs = []
        for index in range(self.count):
            training = self.training.features[self.training.user(index)]
            test = self.test.features[self.test.user(index)]
            pairs.append((_dense(training @ training.T), _dense(test @ training.T)))
        return tuple(pairs)


@dataclass(frozen=True, kw_only=True)
class ClassifierTraining:
    """Settings of a training run with a shared model and a personal model of each user.

    The step size is not part of the settings, because several step sizes are tried.

    Attributes:
        personalization: step size of the shared model divided by that of a personal model; inf for no personal model.
            In the notation of Bietti et al. it is αQ for Q users in a round.
        noise_multiplier: standard deviation of the noise in the sum of clipped gradients, divided by the clipping norm.
        clipping_norm: largest norm of a user's gradient of the shared model.
        participants: number Q of users in a round. Towards the end fewer users may have batches left.
        batch_size: number of records of a user's batch.
        passes: passes of each user over its whole batches.
        target_offset: number that is subtracted from every target.
        measured: shares of the rounds after which the accuracy is measured, in increasing order, each in (0, 1].
    """

    personalization: float
    noise_multiplier: float
    clipping_norm: float
    participants: int
    batch_size: int
    passes: int
    target_offset: float
    measured: Sequence[float]


@dataclass(frozen=True)
class UserRound:
    """Draw of one round of training.

    Attributes:
        users: indices of the users that take part.
        batches: number of the batch that each of them trains on.
    """

    users: Indices
    batches: Indices


def draw_rounds(
    batches: Sequence[int] | Indices, *, participants: int, passes: int, generator: np.random.Generator
) -> list[UserRound]:
    """Draw which users take part in each round, and with which batch, until every user has made all its passes.

    Users of a round are drawn without replacement. Each pass of a user goes through its batches in a new order. Users
    without batches left do not take part.

    Args:
        batches: number of batches of each user.
        participants: number of users in a round.
        passes: number of passes of each user.
        generator: generator of all draws.

    Returns:
        The participants of each round, with their batches.
    """
    orders = []
    for count in batches:
        orders_of_passes = [generator.permutation(count) for _ in range(passes)]
        orders.append(np.concatenate(orders_of_passes))
    lengths = np.array([len(order) for order in orders])
    used = np.zeros(len(orders), dtype=np.int64)  # batches that each user has already trained on
    rounds = []
    while np.any(used < lengths):
        available = np.flatnonzero(used < lengths)
        users = generator.choice(available, size=min(participants, len(available)), replace=False)
        next_batches = [orders[user][used[user]] for user in users]
        rounds.append(UserRound(users, np.array(next_batches, dtype=np.int64)))
        used[users] += 1
    return rounds


def train_classifiers(
    users: ClassifiedUsers, training: ClassifierTraining, step_sizes: Sequence[float], seed: int
) -> npt.NDArray[np.float64]:
    """Train shared and personal models, and return the accuracy on test records for each step size.

    The accuracy is the share of the records for which the class of the largest score is one of the record's classes.
    Scores that are not finite count as errors. All step sizes have the same batches and the same noise.

    Args:
        users: the users and their records.
        training: settings of the runs.
        step_sizes: for each run, the larger of the step sizes of the shared and the personal models.
        seed: seed of rounds and noise.

    Returns:
        Accuracies at each of the `measured` shares of the rounds, (measured shares, step sizes).
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    rounds = draw_rounds(
        users.batches(training.batch_size),
        participants=training.participants,
        passes=training.passes,
        generator=generator,
    )
    run = _ClassifierRuns(users, training, step_sizes)
    # Numbers of rounds after which the accuracy is measured.
    ends = [math.ceil(share * len(rounds)) for share in training.measured]
    accuracies = []
    # The numbers of a run that diverges may overflow, which is not an error.
    with np.errstate(over="ignore", invalid="ignore"):
        for start, end in pairwise([0, *ends]):
            for participation in rounds[start:end]:
                run.step(participation, generator)
            accuracies.append(run.measure())
    return np.array(accuracies)


class _ClassifierRuns:
    """Shared and personal models of one run for each of S step sizes.

    An axis of length S · classes has the classes of the first step size first. The noise of the shared models is the
    same for all step sizes, except for its scale. Its sum is therefore kept once, in addition to a model without noise
    for each step size.
    """

    def __init__(self, users: ClassifiedUsers, training: ClassifierTraining, step_sizes: Sequence[float]) -> None:
        """Start all models at 0, for one training run per step size.

        Args:
            users: the users and their records.
            training: settings that the runs share, such as the degree of personalisation.
            step_sizes: for each run, the larger of the step sizes of the shared and the personal models.
        """
        self._users = users
        self._training = training
        records, self._classes = users.training.targets.shape
        self._steps = len(step_sizes)
        # One column of a model for each pair of step size and class.
        shared, personal = split_steps(np.asarray(step_sizes, dtype=np.float32), training.personalization)
        self._shared_steps = np.repeat(shared, self._classes)
        self._personal_steps = np.repeat(personal, self._classes)
        width = self._steps * self._classes
        dimension = users.training.features.shape[1]
        # Shared models without noise, and the sum of the noise that all runs share.
        self._learned = np.zeros((dimension, width), dtype=np.float32)
        self._noise = np.zeros((dimension, self._classes), dtype=np.float32)
        self._has_shared = bool(shared.any())
        self._has_personal = bool(personal.any())
        # Sum of the residuals of each training record, from which the personal models follow.
        kept_records = records if self._has_personal else 0
        self._residuals = np.zeros((kept_records, width), dtype=np.float32)

    def step(self, participation: UserRound, generator: np.random.Generator) -> None:
        """Train the shared and the personal models of all runs for one round.

        The mean gradient of a user's batch is XᵀR/b, with the features X and residuals R of its b records. Its norm
        follows from R and the inner products XXᵀ, without the gradient itself:

            ‖XᵀR‖² = the sum of the entries of R times those of (XXᵀ)R.

        Args:
            participation: users and batches of the round.
            generator: generator of the noise.
        """
        size = self._training.batch_size
        bounds = self._users.training.bounds
        offsets = size * participation.batches  # first record of each user's batch among its records
        rows = (bounds[participation.users] + offsets)[:, None] + np.arange(size)
        features = self._users.training.features[rows.ravel()]
        targets = self._users.training.targets[rows.ravel()] - np.float32(self._training.target_offset)

        # Residuals of the shared model, to which the loop adds the personal scores; the norm of each user's gradient.
        residuals = self._shared_scores(features) - np.tile(targets, self._steps)
        norms = np.empty((len(rows), self._steps), dtype=np.float32)
        by_user = residuals.reshape(len(rows), size, -1)  # a view of the same numbers
        for user_residuals, norm, user, offset in zip(by_user, norms, participation.users, offsets, strict=True):
            batch = slice(offset, offset + size)
            products_of_user, _ = self._users.products[user]
            products = products_of_user[batch]
            if self._has_personal:
                # The result is written to `residuals` too.
                np.subtract(user_residuals, self._negative_personal_scores(user, products), out=user_residuals)
                first_row = bounds[user] + offset
                self._residuals[first_row : first_row + size] += user_residuals
            products_of_batch = products[:, batch]
            squares_by_column = np.sum((products_of_batch @ user_residuals) * user_residuals, axis=0)
            squared_norms = squares_by_column.reshape(self._steps, -1).sum(axis=1)  # over the classes
            norm[:] = np.sqrt(np.maximum(squared_norms, 0.0)) / size  # rounding may make a square negative
        if self._has_shared:
            self._step_shared(features, by_user, norms, generator)

    def _step_shared(
        self, features: Features, residuals: Floats, norms: Floats, generator: np.random.Generator
    ) -> None:
        """Move the shared models by the mean of the clipped gradients of the users, with noise.

        The residuals are multiplied in place by the users' clipping factors.

        Args:
            features: features of all batches, (users · batch size, d), for d features.
            residuals: scores minus targets, (users, batch size, S · classes), for S step sizes.
            norms: norm of each user's gradient, (users, S).
            generator: generator of the noise.
        """
        training = self._training
        users, size, width = residuals.shape
        # Clip each user's gradient, and divide by the number of records in the round.
        divisors = np.maximum(1.0, norms / np.float32(training.clipping_norm))
        scales = 1.0 / (divisors * np.float32(size * users))
        scale_of_column = np.repeat(scales, self._classes, axis=1)  # columns are step sizes times classes
        residuals *= scale_of_column[:, None, :]
        flat = residuals.reshape(-1, width)
        if isinstance(features, np.ndarray):
            self._learned -= (features.T @ flat) * self._shared_steps
        else:  # update only the rows of the model for words that occur
            words = np.unique(features.indices)
            columns: Any = features
            self._learned[words] -= (columns[:, words].T @ flat) * self._shared_steps

        # Noise of the mean of the users' gradients. All step sizes share it, so only its sum over rounds is kept, which
        # `_shared_scores` multiplies by each step size.
        noise = generator.standard_normal(self._noise.shape, dtype=np.float32)
        noise_std = np.float32(training.noise_multiplier * training.clipping_norm / users)
        self._noise += noise * noise_std

    def _shared_scores(self, features: Features) -> Floats:
        """Return the scores that the shared models give records for each class.

        The sum of the noise is kept once for all step sizes. The noise of a model is this sum times its step size.

        Args:
            features: features of the records, (records, d), for d features.

        Returns:
            Scores, (records, S · classes), for S step sizes.
        """
        scores: Floats = features @ self._learned
        scores -= np.tile(features @ self._noise, self._steps) * self._shared_steps
        return scores

    def _negative_personal_scores(self, user: int, products: Floats) -> Floats:
        """Return the scores that a user's personal models give records for each class, with reversed sign.

        A personal model is a sum of the user's training records, weighted by their residuals. So its scores follow from
        inner products of records.

        Args:
            user: number of the user, from 0.
            products: inner products of the records with the user's n training records, (records, n).

        Returns:
            Negative scores, (records, S · classes), for S step sizes.
        """
        residuals = self._residuals[self._users.training.user(user)]
        steps_over_batch = self._personal_steps / np.float32(self._training.batch_size)
        scores: Floats = (products @ residuals) * steps_over_batch
        return scores

    def measure(self) -> npt.NDArray[np.float64]:
        """Return the share of all users' test records that are classified correctly, for each step size.

        A record with a score that is not finite counts as an error.

        Returns:
            Accuracies, (S), for S step sizes.
        """
        test = self._users.test
        hits = np.zeros(self._steps)
        for user in range(self._users.count):
            records = test.user(user)
            scores = self._shared_scores(test.features[records])
            if self._has_personal:
                _, test_products = self._users.products[user]
                scores = scores - self._negative_personal_scores(user, test_products)
            by_step = scores.reshape(-1, self._steps, self._classes)
            best = by_step.argmax(axis=2)
            correct = np.take_along_axis(test.targets[records], best, axis=1) > 0.0
            hits += np.sum(correct & np.isfinite(by_step).all(axis=2), axis=0)
        return hits / len(test.targets)


def _dense(products: Any) -> Floats:
    """Return a dense or sparse matrix as a dense array."""
    if isinstance(products, np.ndarray):
        return products
    dense: Floats = products.toarray()
    return dense

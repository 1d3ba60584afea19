"""PPSGD of Bietti et al. on their synthetic regression, for many settings at once.

User i predicts ⟨w + θ_i, x⟩, with a shared model w and a personal model θ_i. All users take part in each round, each
with a batch of new records. The shared step uses clipped gradients with Gaussian noise; the personal step is private,
because it never leaves the user.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
CHUNK = 400_000
"""Numbers in the models of the users that are stepped together: 1.6 MB, so that they stay in the cache of a core."""


@dataclass(frozen=True, kw_only=True)
class SyntheticUsers:
    """Synthetic users of Section 6 of Bietti et al., with optimal models that differ in a few coordinates.

    Features are Gaussian, and feature k has variance 1/k. A shared optimum has independent normal coordinates of
    standard deviation `optimum_std`. The optimum of a user differs from it in the last `own` coordinates, by
    independent normal changes of standard deviation `own_std`.

    Attributes:
        users: number N of users.
        dimension: number d of features.
        own: number of coordinates in which optimal models differ.
        optimum_std: standard deviation of a coordinate of the shared optimum.
        own_std: standard deviation of a user's change of a coordinate.
        target_std: standard deviation of the noise of the targets.
    """

    users: int = 1000
    dimension: int = 100
    own: int = 5
    optimum_std: float = 10.0
    own_std: float = 0.01
    target_std: float = 0.01

    def variances(self) -> Floats:
        """Return the variance of each feature, 1/k for k = 1, …, d, as a vector of shape (d)."""
        return (1.0 / np.arange(1, self.dimension + 1)).astype(np.float32)

    def draw_optima(self, generator: np.random.Generator) -> Floats:
        """Draw the optimal model of each of N users.

        It is a random model that all users share, plus a random change for each user in the last `own` coordinates.

        Args:
            generator: source of randomness.

        Returns:
            Models, (N, d), for d features.
        """
        optima = np.tile(self.optimum_std * generator.standard_normal(self.dimension), (self.users, 1))
        optima[:, -self.own :] += self.own_std * generator.standard_normal((self.users, self.own))
        return optima.astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class PersonalRun:
    """A training run with one shared model and a personal model of each user.

    Attributes:
        step_size: the larger of the step sizes of the shared and the personal models.
        personalization: step size of the shared model divided by that of a personal model; inf for no personal model.
            In the notation of Bietti et al. it is αQ for Q users in a round.
        noise_multiplier: standard deviation of the noise in the sum of clipped gradients, divided by the clipping norm.
    """

    step_size: float
    personalization: float
    noise_multiplier: float


@dataclass(frozen=True, kw_only=True)
class PersonalTraining:
    """Settings of personalised training that several runs have in common.

    Attributes:
        clipping_norm: largest norm of a user's gradient of the shared model.
        batch_size: fresh records of each user in a round.
        measured: rounds after which the excess risk is measured, in increasing order.
    """

    clipping_norm: float
    batch_size: int
    measured: Sequence[int]


def excess_risks(
    users: SyntheticUsers, training: PersonalTraining, runs: Sequence[PersonalRun], seed: int
) -> npt.NDArray[np.float64]:
    """Train personalised least-squares models in several runs, and measure their excess risks.

    The excess risk is the mean over all users i of:

        (w + θ_i − θ_i*)ᵀ C (w + θ_i − θ_i*).

    Here w is the shared model, θ_i the personal model of the user, θ_i* the user's optimum, and C the covariance of
    the features. All runs see the same records, and the same noise up to its standard deviation.

    Args:
        users: the users and their data.
        training: settings of all runs.
        runs: step sizes and noise of each run.
        seed: seed of data and noise.

    Returns:
        Excess risks, (measured rounds, runs). They are infinite for a run that has diverged.
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    optima = users.draw_optima(generator)
    variances = users.variances()
    models = _Models(users, training, runs)
    risks = []
    with np.errstate(over="ignore", invalid="ignore"):
        for rounds in range(1, max(training.measured) + 1):
            shape = (users.users, training.batch_size, users.dimension)
            features = generator.standard_normal(shape, dtype=np.float32) * np.sqrt(variances)
            targets = np.matmul(features, optima[:, :, None])
            targets += np.float32(users.target_std) * generator.standard_normal(targets.shape, dtype=np.float32)
            noise = generator.standard_normal((users.dimension, 1), dtype=np.float32)
            models.step(features, targets, noise)
            if rounds in training.measured:
                risks.append(models.excess(optima, variances))
    excess = np.asarray(risks, dtype=np.float64)
    return np.where(np.isfinite(excess), excess, math.inf)


class _Models:
    """Current models of S runs: the shared models, (d, S), and the personal models of N users, (N, d, S).

    Users are stepped in chunks of about `CHUNK` numbers, which stay in the cache of a core.
    """

    def __init__(self, users: SyntheticUsers, training: PersonalTraining, runs: Sequence[PersonalRun]) -> None:
        """Set all models to 0.

        Args:
            users: the users.
            training: settings of all runs.
            runs: step sizes and noise of each run.
        """
        steps = [split_steps(np.array([run.step_size], np.float32), run.personalization) for run in runs]
        self._shared_steps = np.concatenate([shared for shared, _ in steps])
        self._personal_steps = np.concatenate([personal for _, personal in steps])
        scale = training.clipping_norm / users.users  # the noise is on the mean over all users
        self._noise_std = np.array([run.noise_multiplier * scale for run in runs], np.float32)
        self._clipping_norm = np.float32(training.clipping_norm)
        self._shared = np.zeros((users.dimension, len(runs)), np.float32)
        self._personal = np.zeros((users.users, users.dimension, len(runs)), np.float32)
        # Users are stepped in groups of which the models fit into the cache of a core.
        size = max(1, CHUNK // self._shared.size)
        self._chunks = [slice(start, start + size) for start in range(0, users.users, size)]

    def step(self, features: Floats, targets: Floats, noise: Floats) -> None:
        """Train the shared and the personal models of all runs for one round.

        For a user with b records, the rows of X, and residuals r, the gradient is Xᵀr/b and its norm √(rᵀXXᵀr)/b. The
        norms and the sum of the clipped gradients therefore follow without the gradient of each user.

        Args:
            features: records of each user, (N, b, d), for N users and d features.
            targets: targets of the records, (N, b, 1).
            noise: standard normal noise of the shared models, (d, 1).
        """
        users, batch_size, dimension = features.shape
        clipped_sum = np.zeros_like(self._shared)
        for chunk in self._chunks:
            records, personal = features[chunk], self._personal[chunk]
            rows = records.reshape(-1, dimension)
            # The prediction by the sum of both models, minus the target.
            residuals = np.matmul(records, personal)
            residuals += (rows @ self._shared).reshape(residuals.shape) - targets[chunk]
            residuals /= np.float32(batch_size)  # now r/b, so that products with X are gradients

            transposed = records.swapaxes(1, 2)
            products = np.matmul(np.matmul(records, transposed), residuals)
            norms = np.sqrt(np.sum(residuals * products, axis=1, keepdims=True).clip(0.0))
            clipped = residuals / np.maximum(1.0, norms / self._clipping_norm)
            clipped_sum += rows.T @ clipped.reshape(len(rows), -1)
            personal -= np.matmul(transposed, residuals * self._personal_steps)
        noisy_mean = clipped_sum / np.float32(users) + self._noise_std * noise
        self._shared -= self._shared_steps * noisy_mean

    def excess(self, optima: Floats, variances: Floats) -> npt.NDArray[np.float64]:
        """Return the excess risk of each run's models.

        It is the mean over users of the squared distance to their optima, weighted by the features' variances.

        Args:
            optima: optimum of each user, (N, d), for N users and d features.
            variances: variance of each feature, (d).

        Returns:
            Excess risk of each run, (S), for S runs.
        """
        total = np.zeros(self._shared.shape[1])
        for chunk in self._chunks:
            errors = np.square(self._shared + self._personal[chunk] - optima[chunk, :, None])
            total += np.einsum("k,nks->s", variances, errors)
        return total / len(optima)


def split_steps(step_sizes: Floats, personalization: float) -> tuple[Floats, Floats]:
    """Return the step sizes of the shared and of a personal model, from the larger one and their ratio.

    Args:
        step_sizes: the larger step size of each run.
        personalization: ratio of the shared step to the personal one, at least 0; inf for no personal model.

    Returns:
        The step of the shared model and the step of a personal model, for each run.
    """
    if math.isinf(personalization):
        return step_sizes, np.zeros_like(step_sizes)
    if personalization <= 1.0:
        return step_sizes * np.float32(personalization), step_sizes
    return step_sizes, step_sizes / np.float32(personalization)

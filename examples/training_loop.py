"""Federated training of a logistic regression, with calibrated noise and the spent ε at each evaluation.

python examples/training_loop.py

Five hospitals hold the records of scikit-learn's breast-cancer data. In each round every record takes part with
probability RATE. Each hospital sends the sum of its clipped gradients to a trusted server, which adds Gaussian noise
and releases the next model. Every record is protected against an adversary that sees all models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

import epsilond

Array = NDArray[np.float64]

HOSPITALS = 5
RATE, ROUNDS, EVALUATE_EVERY = 0.1, 150, 30
EPSILON, DELTA = 2.0, 1e-4
CLIPPING_NORM, STEP_SIZE = 1.0, 2.0


@dataclass(frozen=True)
class Hospital:
    """Records of one hospital: features with a constant, and labels of −1 or 1."""

    features: Array
    labels: Array

    def clipped_sum(self, model: Array, chosen: NDArray[np.bool_]) -> Array:
        """Return the sum of the chosen records' gradients of the logistic loss, each clipped to the clipping norm."""
        features, labels = self.features[chosen], self.labels[chosen]
        slopes = -labels / (1.0 + np.exp(labels * (features @ model)))
        gradients = slopes[:, None] * features
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        clipped: Array = gradients * np.minimum(1.0, CLIPPING_NORM / np.maximum(norms, 1e-300))
        return clipped.sum(axis=0)


@dataclass(frozen=True)
class Evaluation:
    """The certified ε and the accuracy on held-out records after a number of rounds."""

    round: int
    epsilon: float
    accuracy: float


def data(generator: np.random.Generator) -> tuple[list[Hospital], Hospital]:
    """Return the hospitals, and a fifth of all records held out.

    The range of each feature is public, because the description of the data prints it. A range from private records
    would be a release that costs ε.
    """
    table = load_breast_cancer()
    low, high = table.data.min(axis=0), table.data.max(axis=0)
    features = np.column_stack([2.0 * (table.data - low) / (high - low) - 1.0, np.ones(len(table.data))])
    labels = 2.0 * table.target - 1.0
    order = generator.permutation(len(labels))
    held_out, private = np.split(order, [len(order) // 5])
    parts = np.array_split(private, HOSPITALS)
    return [Hospital(features[part], labels[part]) for part in parts], Hospital(features[held_out], labels[held_out])


def train(seed: int = 0) -> Iterator[Evaluation]:
    """Train for ROUNDS rounds within (EPSILON, DELTA), and yield evaluations.

    The noise of this simulation comes from numpy. A deployment must draw it from an unpredictable source.
    """
    generator = np.random.default_rng(seed)
    hospitals, held_out = data(generator)
    records = sum(len(hospital.labels) for hospital in hospitals)

    # The smallest noise at which the whole run is certified to meet the target.
    calibration = epsilond.calibrate(
        "gaussian",
        solve_for="noise_multiplier",
        relation="add-or-remove-one",
        sampling="poisson",
        rate=RATE,
        rounds=ROUNDS,
        epsilon=EPSILON,
        delta=DELTA,
        unit="record",
        observer="released-models",
    )
    noise_multiplier = calibration.parameters.noise_multiplier
    step = epsilond.Subsampled(
        sampling="poisson", rate=RATE, mechanism=epsilond.Gaussian(noise_multiplier=noise_multiplier)
    )

    model = np.zeros(held_out.features.shape[1])
    for done in range(1, ROUNDS + 1):
        sums = (hospital.clipped_sum(model, generator.random(len(hospital.labels)) < RATE) for hospital in hospitals)
        noise = noise_multiplier * CLIPPING_NORM * generator.standard_normal(len(model))
        model -= STEP_SIZE * (sum(sums) + noise) / (RATE * records)
        if done % EVALUATE_EVERY == 0:
            # The ε of the rounds so far, by the same accountant.
            account = epsilond.account(
                epsilond.Repeated(times=done, mechanism=step),
                relation="add-or-remove-one",
                unit="record",
                observer="released-models",
            )
            _, epsilon = account.guarantee.curve.epsilon(delta=DELTA)
            accuracy = float(np.mean(np.sign(held_out.features @ model) == held_out.labels))
            yield Evaluation(done, epsilon, accuracy)


if __name__ == "__main__":
    print(f"target: ε = {EPSILON} at δ = {DELTA}")
    for evaluation in train():
        print(f"round {evaluation.round:4d}: ε ≤ {evaluation.epsilon:.4f}, accuracy {evaluation.accuracy:.3f}")

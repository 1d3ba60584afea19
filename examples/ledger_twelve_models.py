"""Twelve models from one budget, each chosen by the results of the earlier ones, and a thirteenth that is rejected.

python examples/ledger_twelve_models.py [FOLDER]

A ledger for ε = 8 has the budget of the data. Every model is a thousand steps of DP-SGD, reserved, committed in chunks
and only then run. Its learning rate depends on the results of the earlier models. The theorem of the ledger allows
this, and a sum of separate accounts does not. Training that does not improve is stopped, and its steps become credit.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import epsilond
from epsilond.ledgers.client.ledgers import Ledger

RATE, NOISE, STEPS, CHUNK = 0.01, 1.0, 1000, 250
STEP = epsilond.Subsampled(
    sampling="poisson", rate=RATE, mechanism=epsilond.Gaussian(noise_multiplier=NOISE)
)  # of a sum of gradients of norm at most 1
FEATURES, RECORDS, PUBLIC = 20, 4000, 2000
RANDOM = np.random.default_rng(2)  # a program that protects somebody draws its noise from the system's randomness
TRUTH = RANDOM.standard_normal(FEATURES)


def people(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels of -1 or 1."""
    features = RANDOM.standard_normal((count, FEATURES))
    return features, np.sign(features @ TRUTH + 2.0 * RANDOM.standard_normal(count))


PRIVATE, HELD_OUT = people(RECORDS), people(PUBLIC)  # the second is of other people, who published it


def train(model: np.ndarray, learning_rate: float, steps: int) -> np.ndarray:
    """Return a model after more steps on the private data: each a Poisson batch, clipped, with Gaussian noise."""
    features, labels = PRIVATE
    for _ in range(steps):
        batch = RANDOM.random(RECORDS) < RATE
        margins = labels[batch] * (features[batch] @ model)
        gradients = -(labels[batch] / (1.0 + np.exp(margins)))[:, None] * features[batch]
        gradients /= np.maximum(1.0, np.linalg.norm(gradients, axis=1))[:, None]
        noisy = gradients.sum(axis=0) + NOISE * RANDOM.standard_normal(FEATURES)
        model = model - learning_rate * noisy / (RATE * RECORDS)
    return model


def accuracy(model: np.ndarray) -> float:
    """Return the accuracy on the public data; on the private data it would be a further release."""
    features, labels = HELD_OUT
    return float(np.mean(np.sign(features @ model + 1e-12) == labels))


def train_model(ledger: Ledger, name: str, learning_rate: float) -> tuple[float, int]:
    """Train a model until a chunk does not improve it, and return its best accuracy and its number of steps."""
    model, best, done = np.zeros(FEATURES), 0.0, 0
    with ledger.reserve(name, spec=epsilond.Repeated(times=STEPS, mechanism=STEP), slot="gdp") as run:
        while done < STEPS:
            run.commit(CHUNK)  # first spent, then run
            model, done = train(model, learning_rate, CHUNK), done + CHUNK
            present = accuracy(model)
            if present < best:
                break
            best = max(best, present)
    return best, done  # the steps that were not committed are credit now


def main(folder: Path) -> None:
    """Train until the ledger rejects a model, and print the rest of the budget."""
    with epsilond.ledger(folder / "ledger.db") as books:
        ledger = books.open(
            name="twelve models",
            dataset="people",
            unit="record",
            relation="add-or-remove-one",
            observer="released-models",
            epsilon=8.0,
            delta=1e-6,
            slots=["gdp"],
            sealed=True,
        )
        learning_rate, factor, before, trial = 32.0, 0.5, 0.0, 0
        while True:
            trial += 1
            try:
                best, steps = train_model(ledger, f"model {trial}", learning_rate)
            except epsilond.LedgerExhausted as refused:
                noise = refused.nearest["smallest_noise_multiplier"]
                print(f"model {trial} is refused; it would fit with noise multiplier {noise:.3g}")
                break
            print(f"model {trial}: learning rate {learning_rate:.3g}, accuracy {best:.3f} in {steps} steps")
            if best < before:
                factor = 1.0 / factor  # the other direction
            before, learning_rate = best, learning_rate * factor
        credit = sum(item["credit"] for item in ledger.show().plan)
        print(f"{credit} steps of stopped models are credit: they may still be run, whatever came out")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))

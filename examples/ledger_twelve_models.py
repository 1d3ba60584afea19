"""Twelve models from one budget, each chosen by how the ones before came out, and a thirteenth that is refused.

python examples/ledger_twelve_models.py [FOLDER]

A ledger for ε = 8 holds the budget of the data. Every model is a thousand steps of DP-SGD, reserved, committed in
chunks and only then run; its learning rate depends on what was seen of the earlier ones, which a ledger's theorem
allows and a sum of separate accounts does not. Training that does not get better is stopped, and its steps are kept
as credit.
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
    """Features and labels, -1 or 1."""
    features = RANDOM.standard_normal((count, FEATURES))
    return features, np.sign(features @ TRUTH + 2.0 * RANDOM.standard_normal(count))


PRIVATE, HELD_OUT = people(RECORDS), people(PUBLIC)  # the second is of other people, who published it


def trained(model: np.ndarray, learning_rate: float, steps: int) -> np.ndarray:
    """The model after so many steps on the private data: each a Poisson batch, clipped, with Gaussian noise."""
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
    """On the public data: on the private data it would be a release of its own."""
    features, labels = HELD_OUT
    return float(np.mean(np.sign(features @ model + 1e-12) == labels))


def tried(ledger: Ledger, name: str, learning_rate: float) -> tuple[float, int]:
    """How well a model does, and after how many steps: it stops once a chunk makes it no better."""
    model, best, done = np.zeros(FEATURES), 0.0, 0
    with ledger.reserve(name, spec=epsilond.Repeated(times=STEPS, mechanism=STEP), slot="gdp") as run:
        while done < STEPS:
            run.commit(CHUNK)  # first spent, then run
            model, done = trained(model, learning_rate, CHUNK), done + CHUNK
            reached = accuracy(model)
            if reached < best:
                break
            best = max(best, reached)
    return best, done  # what was not committed is credit by now


def main(folder: Path) -> None:
    """Train until the ledger refuses, and show what is left."""
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
                reached, steps = tried(ledger, f"model {trial}", learning_rate)
            except epsilond.LedgerExhausted as refused:
                noise = refused.nearest["smallest_noise_multiplier"]
                print(f"model {trial} is refused; it would fit with noise multiplier {noise:.3g}")
                break
            print(f"model {trial}: learning rate {learning_rate:.3g}, accuracy {reached:.3f} in {steps} steps")
            if reached < before:
                factor = 1.0 / factor  # the other way
            before, learning_rate = reached, learning_rate * factor
        credit = sum(item["credit"] for item in ledger.show().plan)
        print(f"{credit} steps of stopped models are credit: they may still be run, whatever came out")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))

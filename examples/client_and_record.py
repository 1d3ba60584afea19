"""Whose data is protected: one record, or everything that a client holds. Three runs on the same people, side by side.

python examples/client_and_record.py

Forty clinics hold nine patients each, of scikit-learn's breast-cancer records. The same ε = 8 at δ = 1e-4 is asked for
a record against the server, for a whole clinic against the server, and for a whole clinic against everyone but a
trusted server. The noise is of one coordinate of the mean of all clinics' reports.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import epsilond

CLINICS, PATIENTS, PUBLIC, ROUNDS = 40, 9, 200, 30
TARGET = {"epsilon": 8.0, "delta": 1e-4}
LOCAL: dict[str, Any] = {
    "rounds": ROUNDS,
    "batch_size": PATIENTS,
    "diameter": 10.0,
    "sampling": "full",
    "relation": "replace-one",
    "observer": "server",
}
CENTRAL: dict[str, Any] = {
    "rounds": ROUNDS,
    "clipping_norm": 1.0,
    "diameter": 10.0,
    "relation": "add-or-remove-one",
    "unit": "client",
    "observer": "released-models",
}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "a record, against the server": ("mb-sgd", LOCAL | {"unit": "record"}),
    "a clinic, against the server": ("mb-sgd", LOCAL | {"unit": "client"}),
    "a clinic, server trusted": ("dp-fedavg", CENTRAL),
}


def people() -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    """The clinics, and people who published their records: those scale the features and judge the models."""
    features, labels = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    features, labels = features[order], np.where(labels[order] == 1, 1.0, -1.0)
    features = (
        (features - features[:PUBLIC].mean(axis=0)) / features[:PUBLIC].std(axis=0) / math.sqrt(features.shape[1])
    )
    starts = range(PUBLIC, PUBLIC + CLINICS * PATIENTS, PATIENTS)
    clinics = [(features[start : start + PATIENTS], labels[start : start + PATIENTS]) for start in starts]
    return clinics, features[:PUBLIC], labels[:PUBLIC]


def noise_of_mean(trained: Any) -> float:
    """Of one coordinate."""
    found = trained.calibration.parameters
    if trained.calibration.algorithm == "dp-fedavg":
        return float(found.noise_std_of_mean)
    return float(found.noise_std) / math.sqrt(CLINICS)


def main() -> None:
    """One line for each promise."""
    clinics, features, labels = people()
    print(f"{'protected':30}{'ε at most':>10}{'noise of the mean':>20}{'accuracy':>10}")
    for promise, (algorithm, asked) in RUNS.items():
        trained = epsilond.train(algorithm, clinics, loss="logistic", **TARGET, **asked)
        right = float(np.mean(np.sign(features @ trained.model) == labels))
        print(f"{promise:30}{trained.guarantee.epsilon.upper:10.4f}{noise_of_mean(trained):20.4f}{right:10.2f}")


if __name__ == "__main__":
    main()

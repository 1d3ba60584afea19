"""Protect one record, or all data of a client: three runs on the same data.

python examples/client_and_record.py

Forty clinics hold nine patients each, from scikit-learn's breast-cancer records. The target is always ε = 8 at
δ = 1e-4: for a record against the server, for a whole clinic against the server, and for a whole clinic against
everyone except a trusted server. The printed noise is that of one coordinate of the mean of all clinics' reports.
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
    """Return the clinics, and the features and labels of public records, which scale features and test models."""
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
    """Return the standard deviation of the noise in one coordinate of the mean."""
    parameters = trained.calibration.parameters
    if trained.calibration.algorithm == "dp-fedavg":
        return float(parameters.noise_std_of_mean)
    return float(parameters.noise_std) / math.sqrt(CLINICS)


def main() -> None:
    """Train with each guarantee, and print one line for each."""
    clinics, features, labels = people()
    print(f"{'protected':30}{'ε at most':>10}{'noise of the mean':>20}{'accuracy':>10}")
    for protected, (algorithm, fields) in RUNS.items():
        trained = epsilond.train(algorithm, clinics, loss="logistic", **TARGET, **fields)
        accuracy = float(np.mean(np.sign(features @ trained.model) == labels))
        epsilon = trained.guarantee.epsilon.upper
        print(f"{protected:30}{epsilon:10.4f}{noise_of_mean(trained):20.4f}{accuracy:10.2f}")


if __name__ == "__main__":
    main()

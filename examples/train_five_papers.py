"""The algorithms of five papers, each trained on a data set that scikit-learn ships, with its guarantee.

python examples/train_five_papers.py

A part of every data set is public: its people published their records. It scales the features and tests the models.
Clients hold the other records, and only the models are released. A guarantee is for one record against the named
observer, and in ppsgd for a whole client against all other clients, at δ = 1e-4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import datasets

import epsilond
from epsilond.training import huber

PUBLIC = 200
DELTA = 1e-4
Part = tuple[np.ndarray, np.ndarray]


def people(name: str) -> tuple[Part, Part]:
    """Return the private and the public part of a data set.

    Features have norm about 1, and the last one is constant. Labels are ±1, and targets are near 0.
    """
    features, targets = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(targets))
    features, targets = features[order], targets[order].astype(float)
    mean, deviation = features[:PUBLIC].mean(axis=0), features[:PUBLIC].std(axis=0)
    features = (features - mean) / np.where(deviation > 0.0, deviation, 1.0) / np.sqrt(features.shape[1])
    features = np.column_stack([features, np.full(len(features), 0.3)])
    if name == "digits":
        targets = np.where(targets >= 5.0, 1.0, -1.0)
    elif name == "breast_cancer":
        targets = np.where(targets == 1.0, 1.0, -1.0)
    else:
        targets = (targets - targets[:PUBLIC].mean()) / (2.5 * targets[:PUBLIC].std())
    return (features[PUBLIC:], targets[PUBLIC:]), (features[:PUBLIC], targets[:PUBLIC])


def split(part: Part, records: int) -> list[Part]:
    """Split a part into clients of equal numbers of records; the last few records are left out."""
    features, targets = part
    return [
        (features[start : start + records], targets[start : start + records])
        for start in range(0, len(targets) - records + 1, records)
    ]


def accuracy(model: np.ndarray, public: Part) -> tuple[float, float]:
    """Return the accuracy of a model, and that of the most frequent label."""
    features, labels = public
    frequent = float(max(np.mean(labels > 0), np.mean(labels < 0)))
    return float(np.mean(np.where(features @ model > 0.0, 1.0, -1.0) == labels)), frequent


def explained_variance(model: np.ndarray, public: Part) -> tuple[float, float]:
    """Return the share of the targets' variance that a model explains, and that of the mean, which is 0."""
    features, targets = public
    return 1.0 - float(np.mean(np.square(targets - features @ model)) / np.var(targets)), 0.0


AGAINST_THE_SERVER = {"relation": "replace-one", "unit": "record", "observer": "server"}
AGAINST_THE_SHUFFLED_SERVER = AGAINST_THE_SERVER | {"observer": "shuffled-server"}
AGAINST_USERS_OF_THE_MODEL = AGAINST_THE_SERVER | {"observer": "final-model"}
AGAINST_USERS_OF_ALL_MODELS = AGAINST_THE_SERVER | {"observer": "released-models"}
AGAINST_OTHER_CLIENTS = {"relation": "replace-one", "unit": "client", "observer": "other-clients"}


@dataclass(frozen=True)
class Run:
    """An algorithm on a data set: the records of a client, the fields of the calibration, and the step sizes."""

    paper: str
    algorithm: str
    data_set: str
    records: int
    question: dict[str, Any]
    epsilon: float = 4.0
    steps: dict[str, float] = field(default_factory=dict)


RUNS = (
    Run(
        "Lowy and Razaviyayn",
        "mb-sgd",
        "breast_cancer",
        36,
        {"diameter": 12.0, "rounds": 40, "batch_size": 18, **AGAINST_THE_SERVER},
    ),
    Run(
        "Lowy and Razaviyayn",
        "one-pass-accelerated-mb-sgd",
        "breast_cancer",
        36,
        {"diameter": 12.0, "rounds": 4, "batch_size": 9, **AGAINST_THE_SERVER},
    ),
    Run(
        "Lowy and Razaviyayn",
        "accelerated-mb-sgd",
        "digits",
        150,
        {"diameter": 12.0, "rounds": 30, "batch_size": 75, **AGAINST_THE_SERVER},
    ),
    Run(
        "Lowy and Razaviyayn",
        "shuffled-mb-sgd",
        "breast_cancer",
        1,
        {"diameter": 8.0, "rounds": 10, "batch_size": 1, **AGAINST_THE_SHUFFLED_SERVER},
        epsilon=8.0,
        steps={"step_size": 0.5},
    ),
    Run(
        "Das et al.",
        "norm-fedavg",
        "breast_cancer",
        1,
        {
            "participants": 369,
            "rounds": 2,
            "local_steps": 3,
            "quantization_levels": 128,
            "quasar_convexity": 1.0,
            "initial_distance": 6.0,
            **AGAINST_THE_SERVER,
        },
        epsilon=8.0,
        steps={"step_size": 1.0, "local_step_size": 4.0},
    ),
    Run(
        "Asoodeh et al.",
        "projected-sgd",
        "diabetes",
        1,
        {
            "radius": 1.5,
            "participants": 60,
            "step_schedule": {"kind": "constant", "value": 2.0},
            **AGAINST_USERS_OF_THE_MODEL,
        },
    ),
    Run(
        "Bietti et al.",
        "ppsgd",
        "digits",
        3,
        {
            "rounds": 60,
            "clipping_norm": 1.0,
            "batch_size": 3,
            "optimum_norm": 6.0,
            "personalization": 0.01,
            **AGAINST_OTHER_CLIENTS,
        },
        steps={"step_size": 1.0, "local_step_size": 0.02},
    ),
    Run(
        "Reshef and Levy",
        "mu2-sgd",
        "breast_cancer",
        4,
        {"diameter": 4.0, "rounds": 4, "server": "trusted", **AGAINST_USERS_OF_ALL_MODELS},
    ),
)


def train_all() -> Iterable[tuple[Run, epsilond.Trained, float, float]]:
    """Yield every run, its result, the score of its model, and the score of a constant."""
    for run in RUNS:
        private, public = people(run.data_set)
        regression = run.data_set == "diabetes"
        clients = epsilond.tabular(split(private, run.records), loss=huber(0.3) if regression else "logistic")
        result = epsilond.train(run.algorithm, clients, epsilon=run.epsilon, delta=DELTA, **run.steps, **run.question)
        score = explained_variance if regression else accuracy
        good, trivial = score(result.model, public)
        yield run, result, good, trivial


def main() -> None:
    """Train all models, and print a line for each."""
    for run, result, good, trivial in train_all():
        guarantee = result.guarantee
        bounds = f"[{guarantee.epsilon.lower:.3f}, {guarantee.epsilon.upper:.3f}]"
        measure = "explains" if run.data_set == "diabetes" else "is right in"
        print(
            f"{run.paper}, {run.algorithm}: the model {measure} {good:.0%}, a constant {trivial:.0%}; "
            f"one {guarantee.unit} against {guarantee.observer} has ε in {bounds}"
        )


if __name__ == "__main__":
    main()

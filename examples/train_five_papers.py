"""The algorithms of five papers, each trained on a data set that scikit-learn ships, with its guarantee.

python examples/train_five_papers.py

A part of every data set is public: its people published their records. It scales the features and tells how good a
model is; the others' records are held by clients, and the models are what is released. A guarantee is for one record
against whoever is named, of ppsgd for a whole client against all others, at δ = 1e-4.
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
    """(private, public): features of norm about 1, the last of them constant, and labels ±1 or targets near 0."""
    features, targets = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(targets))
    features, targets = features[order], targets[order].astype(float)
    centre, spread = features[:PUBLIC].mean(axis=0), features[:PUBLIC].std(axis=0)
    features = (features - centre) / np.where(spread > 0.0, spread, 1.0) / np.sqrt(features.shape[1])
    features = np.column_stack([features, np.full(len(features), 0.3)])
    if name == "digits":
        targets = np.where(targets >= 5.0, 1.0, -1.0)
    elif name == "breast_cancer":
        targets = np.where(targets == 1.0, 1.0, -1.0)
    else:
        targets = (targets - targets[:PUBLIC].mean()) / (2.5 * targets[:PUBLIC].std())
    return (features[PUBLIC:], targets[PUBLIC:]), (features[:PUBLIC], targets[:PUBLIC])


def dealt(part: Part, records: int) -> list[Part]:
    """Clients of so many records each; the last few people take no part."""
    features, targets = part
    return [
        (features[start : start + records], targets[start : start + records])
        for start in range(0, len(targets) - records + 1, records)
    ]


def accuracy(model: np.ndarray, public: Part) -> tuple[float, float]:
    """Of the model, and of whoever always says what is most frequent."""
    features, labels = public
    frequent = float(max(np.mean(labels > 0), np.mean(labels < 0)))
    return float(np.mean(np.where(features @ model > 0.0, 1.0, -1.0) == labels)), frequent


def explained(model: np.ndarray, public: Part) -> tuple[float, float]:
    """The share of the targets' variance that the model explains; whoever always says the mean explains none."""
    features, targets = public
    return 1.0 - float(np.mean(np.square(targets - features @ model)) / np.var(targets)), 0.0


AGAINST_THE_SERVER = {"relation": "replace-one", "unit": "record", "observer": "server"}
AGAINST_THE_SHUFFLED_SERVER = AGAINST_THE_SERVER | {"observer": "shuffled-server"}
AGAINST_USERS_OF_THE_MODEL = AGAINST_THE_SERVER | {"observer": "final-model"}
AGAINST_USERS_OF_ALL_MODELS = AGAINST_THE_SERVER | {"observer": "released-models"}
AGAINST_OTHER_CLIENTS = {"relation": "replace-one", "unit": "client", "observer": "other-clients"}


@dataclass(frozen=True)
class Run:
    """One algorithm on one data set: the records of a client, what is asked of the calibration, and the steps."""

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


def trained() -> Iterable[tuple[Run, epsilond.Trained, float, float]]:
    """Every run, its answer, how good the model is, and how good doing nothing is."""
    for run in RUNS:
        private, public = people(run.data_set)
        regression = run.data_set == "diabetes"
        clients = epsilond.tabular(dealt(private, run.records), loss=huber(0.3) if regression else "logistic")
        found = epsilond.train(run.algorithm, clients, epsilon=run.epsilon, delta=DELTA, **run.steps, **run.question)
        good, trivial = (explained if regression else accuracy)(found.model, public)
        yield run, found, good, trivial


def main() -> None:
    """A line a run."""
    for run, found, good, trivial in trained():
        said, measure = found.guarantee, "explains" if run.data_set == "diabetes" else "is right in"
        print(
            f"{run.paper}, {run.algorithm}: the model {measure} {good:.0%}, a constant {trivial:.0%}; one {said.unit} "
            f"against {said.observer} has ε in [{said.epsilon.lower:.3f}, {said.epsilon.upper:.3f}]"
        )


if __name__ == "__main__":
    main()

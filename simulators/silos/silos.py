"""Records of silos: training records of each silo, and one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats


@dataclass(frozen=True)
class SiloRecords:
    """Training records of N silos, and the test records of all of them together.

    Attributes:
        features: features of the n_i training records of each silo i, (n_i, d), for d features.
        targets: targets of the training records of each silo i, (n_i).
        test_features: features of the T test records, (T, d).
        test_targets: targets of the test records, (T).
    """

    features: tuple[Floats, ...]
    targets: tuple[Floats, ...]
    test_features: Floats
    test_targets: Floats

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of training records of each silo."""
        return tuple(map(len, self.targets))

    @property
    def dimension(self) -> int:
        """Number of features of a record."""
        return int(self.test_features.shape[1])

    def all_training(self) -> tuple[Floats, Floats]:
        """Return the features and the targets of the training records of all silos, one silo after another."""
        return np.concatenate(self.features), np.concatenate(self.targets)


def split_silos(features: Sequence[Floats], targets: Sequence[Floats], test_share: float, seed: int) -> SiloRecords:
    """Split each silo's records at random into training and test records.

    Args:
        features: features of the n_i records of each silo i, (n_i, d), for d features.
        targets: targets of the records of each silo i, (n_i).
        test_share: share of the test records of each silo. Their number is rounded up.
        seed: seed of the split.

    Returns:
        The silos, with the test records of all of them in one set.
    """
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    training: list[tuple[Floats, Floats]] = []
    test: list[tuple[Floats, Floats]] = []
    for silo_features, silo_targets in zip(features, targets, strict=True):
        order = generator.permutation(len(silo_targets))
        test_size = int(np.ceil(test_share * len(silo_targets)))
        test_rows, training_rows = np.split(order, [test_size])
        test.append((silo_features[test_rows], silo_targets[test_rows]))
        training.append((silo_features[training_rows], silo_targets[training_rows]))

    training_features, training_targets = zip(*training, strict=True)
    test_features, test_targets = zip(*test, strict=True)
    return SiloRecords(
        features=tuple(training_features),
        targets=tuple(training_targets),
        test_features=np.concatenate(test_features),
        test_targets=np.concatenate(test_targets),
    )

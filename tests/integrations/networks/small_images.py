"""Small files of the three image data sets, and experiments that are as small."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilond.simulators.files import federated_emnist, images
from epsilond.witness.experiments.networks import bietti_figure_1d, das_arms, das_noise
from tests.simulators.files.small_files import write_colours, write_digits, write_writers

CACHES = (
    images.read_images,
    federated_emnist.read_writers,
    das_arms.deal_images,
    das_noise.noise_of,
    das_noise.certified_epsilon,
    bietti_figure_1d.read_users,
)
WRITERS = 12


def write_images(folder: Path) -> dict[str, Path]:
    """Write small files of all three data sets, and return their folders."""
    folders = {name: folder / name for name in ("fashion-mnist", "cifar-10", "federated-emnist")}
    write_digits(folders["fashion-mnist"], per_class=50, test=50)
    write_colours(folders["cifar-10"], per_class=10, test=50)
    write_writers(folders["federated-emnist"], writers=WRITERS, training=20, test=5)
    return folders


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the experiments be as small as the files."""
    for name, value in {
        "HIDDEN": {"cifar-10": (4, 4), "fashion-mnist": (4, 4)},
        "ROUNDS": 6,
        "CURVE_ROUNDS": (3, 6),
        "LAST": 2,
        "LOCAL_STEPS": 2,
        "PARTICIPANTS": 4,
        "BATCH_SIZE": 8,
    }.items():
        monkeypatch.setattr(das_arms, name, value)
    monkeypatch.setattr(bietti_figure_1d, "USERS", WRITERS)
    monkeypatch.setattr(bietti_figure_1d, "PARTICIPANTS", 3)
    monkeypatch.setattr(bietti_figure_1d, "MEASURED", (2, 4))
    monkeypatch.setattr(bietti_figure_1d, "STEPS", (0.05, 0.5))
    for cache in CACHES:
        cache.cache_clear()

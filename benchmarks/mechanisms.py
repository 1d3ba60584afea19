"""What the mechanisms cost on one core: python -m benchmarks.mechanisms prints seconds of processor time.

Vectors have as many coordinates as a small convolutional network has weights; random bits are the operating system's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from epsilond.mechanisms.calibrated.quantized import QuantizedRelease
from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.discrete_laplace import noise_tables
from epsilond.mechanisms.randomness import secure
from epsilond.mechanisms.two_sided import discrete_gaussian

DIMENSION = 2_210_410
LEVELS, NOISE_LEVELS = 1 << 20, 105_205
RUNS = 3


def message(update: np.ndarray) -> None:
    """Round, noise, pack and decode an update; the table of the noise is made anew."""
    noise_tables.cache_clear()
    release = QuantizedRelease(
        algorithm="qtdl", guarantee=None, declared_conditions=None, left_open=(), quantization_levels=LEVELS,
        noise_levels=NOISE_LEVELS, decay_rate=1e-4, normalised=False, dimension=DIMENSION,
    )  # fmt: skip
    release.decode(release.encode(update))


def seconds(run: Callable[[], Any]) -> float:
    """Return processor time, the least of a few runs."""
    spent = []
    for _ in range(RUNS):
        begun = time.process_time()
        run()
        spent.append(time.process_time() - begun)
    return min(spent)


def main() -> None:
    """Print a row for each mechanism."""
    update, source, shape = np.random.default_rng(0).standard_normal(DIMENSION), secure(), (DIMENSION,)
    update /= np.linalg.norm(update)
    mechanisms: dict[str, Callable[[], Any]] = {
        "a message there and back": lambda: message(update),
        "Gaussian noise": lambda: gaussian(1.0, shape, source),
        "discrete Gaussian, σ = 1": lambda: discrete_gaussian(1.0, shape, source),
        "discrete Gaussian, σ = 10⁶": lambda: discrete_gaussian(1e6, shape, source),
        "clipping, l2": lambda: clip(update, 0.5),
    }
    print(f"{DIMENSION} coordinates, one core: seconds of processor time, millions of coordinates a second")
    for name, run in mechanisms.items():
        spent = seconds(run)
        print(f"{name:30} {spent:8.3f} {DIMENSION / spent / 1e6:8.1f}")


if __name__ == "__main__":
    main()

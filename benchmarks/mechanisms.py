"""What the mechanisms cost on one core: `python -m benchmarks.mechanisms` prints seconds of processor time.

Vectors have as many coordinates as a small convolutional network has weights; random bits are the operating system's.
The bound on a message, encoded and decoded, is the one that we hold ourselves to.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from epsilond.mechanisms.binomial import centred_binomial
from epsilond.mechanisms.calibrated.quantized import QuantizedRelease
from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.continuous import gaussian, laplace
from epsilond.mechanisms.discrete_laplace import noise_tables, truncated_discrete_laplace
from epsilond.mechanisms.grid import snapped
from epsilond.mechanisms.packing import pack, unpack
from epsilond.mechanisms.quantization import stochastic_rounding
from epsilond.mechanisms.randomness import secure
from epsilond.mechanisms.responses import randomized_response
from epsilond.mechanisms.two_sided import discrete_gaussian, discrete_laplace

DIMENSION = 2_210_410
LEVELS, NOISE_LEVELS, DECAY_RATE = 1 << 20, 105_205, 1e-4
MOST_SECONDS = 5.0
RUNS = 3


def seconds(run: Callable[[], Any]) -> float:
    """Of processor time, the least of three runs."""
    found = math.inf
    for _ in range(RUNS):
        begun = time.process_time()
        run()
        found = min(found, time.process_time() - begun)
    return found


def message_seconds(update: np.ndarray) -> float:
    """Quantised, noised, packed, and decoded; the table of the noise is made anew each time."""
    release = QuantizedRelease(
        algorithm="qtdl", guarantee=None, declared_conditions=None, left_open=(), quantization_levels=LEVELS,
        noise_levels=NOISE_LEVELS, decay_rate=DECAY_RATE, normalised=False, dimension=DIMENSION,
    )  # fmt: skip

    def run() -> None:
        noise_tables.cache_clear()
        message = release.encode(update)
        assert len(message) == -(-DIMENSION * release.bits_per_coordinate // 8)
        release.decode(message)

    return seconds(run)


def parts(update: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Each mechanism on a vector of that dimension."""
    source, shape, bits = secure(), (DIMENSION,), (2 * (LEVELS + NOISE_LEVELS)).bit_length()
    integers = np.random.default_rng(0).integers(0, 2 * (LEVELS + NOISE_LEVELS), endpoint=True, size=DIMENSION)
    packed = pack(integers, bits)
    return {
        "random words": lambda: source.words(shape),
        "clip, l2": lambda: clip(update, 0.5),
        "clip, l2, 100 records": lambda: clip(update[: DIMENSION // 100 * 100].reshape(100, -1), 0.5, records=True),
        "Gaussian noise": lambda: gaussian(1.0, shape, source),
        "Laplace noise": lambda: laplace(1.0, shape, source),
        "discrete Gaussian, σ = 1": lambda: discrete_gaussian(1.0, shape, source),
        "discrete Gaussian, σ = 10⁶": lambda: discrete_gaussian(1e6, shape, source),
        "discrete Laplace, α = 10⁻³": lambda: discrete_laplace(1e-3, shape, source),
        "truncated discrete Laplace": lambda: truncated_discrete_laplace(DECAY_RATE, NOISE_LEVELS, shape, source),
        "stochastic rounding": lambda: stochastic_rounding(update, LEVELS, source),
        "snapping towards zero": lambda: snapped(update, 2.0**-20, "towards-zero", source),
        "binomial, 1024 trials": lambda: centred_binomial(1024, shape, source),
        "randomized response, k = 10": lambda: randomized_response(integers % 10, epsilon=1.0, categories=10),
        f"packing, {bits} bits": lambda: pack(integers, bits),
        f"unpacking, {bits} bits": lambda: unpack(packed, DIMENSION, bits),
        "a permutation": lambda: source.permutations((), DIMENSION),
    }


def main() -> None:
    """Print a row for each mechanism, and the whole message beside its bound."""
    update = np.random.default_rng(0).standard_normal(DIMENSION)
    update /= np.linalg.norm(update)
    print(f"{DIMENSION} coordinates, one core: seconds of processor time, millions of coordinates a second")
    for name, run in parts(update).items():
        spent = seconds(run)
        print(f"{name:30} {spent:8.3f} {DIMENSION / spent / 1e6:8.1f}")
    print(f"a message there and back: {message_seconds(update):.2f} s, at most {MOST_SECONDS:.2f} s")


if __name__ == "__main__":
    main()

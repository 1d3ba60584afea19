"""The noise of a privatizer of jax_privacy: its standard deviation, and the bands of its strategy matrix C."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import optax
    from jax_privacy.matrix_factorization.streaming_matrix import StreamingMatrix

_NEGLIGIBLE: Final = 1e-5
"""Entries of C below this share of the largest one count as 0: single precision leaves 1e-6 where C has none."""
_LARGEST: Final = 2**22
"""Largest number of entries of C that are computed; matrices of more are described by their first column only."""


@dataclass(frozen=True, kw_only=True)
class NoiseReading:
    """Noise of a privatizer, C⁻¹ z with z of independent Gaussian variables, as it was read from its parts.

    Attributes:
        stddev: standard deviation of z.
        bands: number of bands of C: the noise of iterations that are as far apart or further is independent.
        column_norm: largest Euclidean norm of a column of C.
        columns: shape (iterations, bands): entry (j, i) is C[j + i, j]; empty where C is too large.
    """

    stddev: float
    bands: int
    column_norm: float
    columns: NDArray[np.float64]


def read_noise(transform: optax.GradientTransformation, *, iterations: int) -> NoiseReading | None:
    """Return the noise of a `matrix_factorization_privatizer`, or None for another transformation.

    Its update is a closure over the noising matrix C⁻¹ and the standard deviation. C follows from C⁻¹ by forward
    substitution, so that every streaming matrix and every dense one is read.

    Args:
        transform: an `optax.GradientTransformation`.
        iterations: number of rows of C.
    """
    try:
        parts = inspect.getclosurevars(transform.update).nonlocals
        matrix, stddev = parts["noising_matrix"], float(parts["stddev"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    if hasattr(matrix, "multiply_next"):
        return _read_streaming(matrix, stddev, iterations)
    return _read_dense(np.linalg.inv(np.asarray(matrix, dtype=np.float64)), stddev)


def _read_dense(strategy: NDArray[np.float64], stddev: float) -> NoiseReading:
    size = len(strategy)
    rows, columns = np.nonzero(np.abs(strategy) > _NEGLIGIBLE * np.abs(strategy).max())
    bands = int((rows - columns).max()) + 1
    band_columns = np.zeros((size, bands))
    for below in range(bands):
        band_columns[: size - below, below] = np.diagonal(strategy, -below)
    norm = float(np.linalg.norm(strategy, axis=0).max())
    return NoiseReading(stddev=stddev, bands=bands, column_norm=norm, columns=band_columns)


def _read_streaming(matrix: StreamingMatrix, stddev: float, iterations: int) -> NoiseReading:
    """Read C from the products with combs. The distance of the teeth is the number of bands of C.

    The products of two combs of different heights agree only if no column has an entry below its bands.
    """
    places = sorted({0, iterations // 2})
    impulses = np.zeros((iterations, len(places)))
    impulses[places, range(len(places))] = 1.0
    bands = _bandwidth(_multiply(matrix, impulses), places)
    while iterations * bands <= _LARGEST:
        heights = np.random.default_rng(0).uniform(1.0, 2.0, size=(2, iterations))
        first, second = (_multiply(matrix, _combs(height, bands)) for height in heights)
        columns = _teeth(first, bands) / heights[0][:, None]
        expected = columns * heights[1][:, None]
        if np.allclose(_teeth(second, bands), expected, rtol=0.0, atol=_NEGLIGIBLE * np.abs(columns).max()):
            norm = float(np.linalg.norm(columns, axis=1).max())
            return NoiseReading(stddev=stddev, bands=bands, column_norm=norm, columns=columns)
        if bands == iterations:
            break
        bands = min(2 * bands, iterations)
    return NoiseReading(stddev=stddev, bands=bands, column_norm=float("nan"), columns=np.empty((0, 0)))


def _bandwidth(products: NDArray[np.float64], places: list[int]) -> int:
    """Return the largest number of rows from the diagonal down to the last entry of these columns."""
    widths = []
    for column, place in enumerate(places):
        entries = np.abs(products[:, column])
        widths.append(int(np.nonzero(entries > _NEGLIGIBLE * entries.max())[0][-1]) - place + 1)
    return max(widths)


def _combs(heights: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return `period` columns; column g has these heights in rows g, g + period and so on."""
    rows = np.arange(len(heights))
    combs = np.zeros((len(heights), period))
    combs[rows, rows % period] = heights
    return combs


def _teeth(products: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return for each row j the next `period` entries, from row j on, of the column that has a tooth there."""
    size = len(products)
    padded = np.vstack([products, np.zeros((period, products.shape[1]))])
    rows = np.arange(size)
    return np.stack([padded[rows + below, rows % period] for below in range(period)], axis=1)


def _multiply(matrix: StreamingMatrix, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return C times these columns, given C⁻¹ as a streaming matrix.

    Row t of the product is the input for which row t of C⁻¹ gives the entry of `vectors`. That row of C⁻¹ is affine in
    its input, with a slope and an offset that follow from the inputs 0 and 1.
    """
    zero = jnp.zeros(vectors.shape[1])

    def step(state: object, target: jax.Array) -> tuple[object, jax.Array]:
        """Solve for the next entry of each vector."""
        offset, _ = matrix.multiply_next(zero, state)
        raised, _ = matrix.multiply_next(zero + 1.0, state)
        entry = (target - offset) / (raised - offset)
        _, state = matrix.multiply_next(entry, state)
        return state, entry

    _, product = jax.lax.scan(step, matrix.init_multiply(zero), jnp.asarray(vectors))
    return np.asarray(product, dtype=np.float64)

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
    """Parameters of correlated Gaussian noise C⁻¹ z, where z has independent Gaussian entries.

    C is the strategy matrix, which is lower triangular, with one row and one column for each iteration.

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
    """Read the parameters of the noise that a `matrix_factorization_privatizer` of jax_privacy adds.

    Its update function is a closure over the noising matrix C⁻¹ and the standard deviation. The strategy matrix C is
    computed by inverting C⁻¹.

    Args:
        transform: an `optax.GradientTransformation`.
        iterations: number of rows of C.

    Returns:
        None if the transformation is not such a privatizer.
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
    """Read a banded strategy matrix C from products with few vectors, given C⁻¹ as a streaming matrix.

    A comb is a vector whose entries, the teeth, are nonzero at every b-th row only. If C has b bands, the columns of C
    at the teeth do not overlap in the product, so that each column is read from it. The columns that two combs with
    different teeth give agree only if no column has an entry below its bands. Otherwise b is doubled.

    Args:
        matrix: C⁻¹.
        stddev: standard deviation of the noise before the multiplication.
        iterations: number of rows of C.

    Returns:
        The columns of C, their largest norm and b. The norm is NaN, without columns, if no b up to `_LARGEST` entries
        fits.
    """
    impulse_rows = sorted({0, iterations // 2})
    impulses = np.zeros((iterations, len(impulse_rows)))
    impulses[impulse_rows, range(len(impulse_rows))] = 1.0
    bands = _bandwidth(_multiply(matrix, impulses), impulse_rows)
    while iterations * bands <= _LARGEST:
        first_teeth, second_teeth = np.random.default_rng(0).uniform(1.0, 2.0, size=(2, iterations))
        first_product = _multiply(matrix, _combs(first_teeth, bands))
        second_product = _multiply(matrix, _combs(second_teeth, bands))
        columns = _teeth(first_product, bands) / first_teeth[:, None]
        expected = columns * second_teeth[:, None]
        tolerance = _NEGLIGIBLE * np.abs(columns).max()
        if np.allclose(_teeth(second_product, bands), expected, rtol=0.0, atol=tolerance):
            norm = float(np.linalg.norm(columns, axis=1).max())
            return NoiseReading(stddev=stddev, bands=bands, column_norm=norm, columns=columns)
        if bands == iterations:
            break
        bands = min(2 * bands, iterations)
    return NoiseReading(stddev=stddev, bands=bands, column_norm=float("nan"), columns=np.empty((0, 0)))


def _bandwidth(products: NDArray[np.float64], places: list[int]) -> int:
    """Return the largest number of bands that some columns of a matrix have.

    Args:
        products: the columns, each with its diagonal entry in the row that `places` names.
        places: index of each column in the matrix.
    """
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
    """Return C times the columns of `vectors`, given the lower triangular C⁻¹ as a streaming matrix.

    The product is computed by forward substitution: its row t is the input at which row t of C⁻¹ returns row t of
    `vectors`. Given the earlier rows, that output is affine in the input. The outputs at the inputs 0 and 1 give its
    offset and slope.

    Args:
        matrix: C⁻¹, which maps one row of its input after another to rows of its output.
        vectors: one vector per column.
    """
    zeros = jnp.zeros(vectors.shape[1])

    def solve_row(state: object, target: jax.Array) -> tuple[object, jax.Array]:
        """Return the next state of the stream, and the input at which its next output is `target`."""
        output_at_zero = matrix.multiply_next(zeros, state)[0]
        output_at_one = matrix.multiply_next(zeros + 1.0, state)[0]
        row = (target - output_at_zero) / (output_at_one - output_at_zero)
        next_state = matrix.multiply_next(row, state)[1]
        return next_state, row

    product = jax.lax.scan(solve_row, matrix.init_multiply(zeros), jnp.asarray(vectors))[1]
    return np.asarray(product, dtype=np.float64)

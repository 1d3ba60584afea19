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
        bands: number b of bands of C: the entry C[i, j] is 0 if i − j ≥ b.
        column_norm: largest Euclidean norm of a column of C.
        columns: nonzero entries of the columns of C, shape (iterations, bands). Entry (j, i) is C[j + i, j]. The array
            is empty if C is too large.
    """

    stddev: float
    bands: int
    column_norm: float
    columns: NDArray[np.float64]


def read_noise(transform: optax.GradientTransformation, *, iterations: int) -> NoiseReading | None:
    """Return the parameters of the noise that a `matrix_factorization_privatizer` of jax_privacy adds.

    The update function of such a transformation is a closure over the noising matrix C⁻¹ and the standard deviation.
    The strategy matrix C is computed by inverting C⁻¹.

    Args:
        transform: an `optax.GradientTransformation`.
        iterations: number of rows of C.

    Returns:
        The standard deviation, and the bands and columns of C. None if the transformation is not such a privatizer.
    """
    try:
        parts = inspect.getclosurevars(transform.update).nonlocals
        matrix = parts["noising_matrix"]
        stddev = float(parts["stddev"])
    except (AttributeError, KeyError, TypeError, ValueError):  # another transformation lacks these parts
        return None

    is_streaming = hasattr(matrix, "multiply_next")
    if is_streaming:
        return _read_streaming(matrix, stddev, iterations)
    strategy = np.linalg.inv(np.asarray(matrix, dtype=np.float64))
    return _read_dense(strategy, stddev)


def _read_dense(strategy: NDArray[np.float64], stddev: float) -> NoiseReading:
    """Return the number of bands, the columns and the largest column norm of a strategy matrix C.

    Args:
        strategy: strategy matrix C, shape (iterations, iterations), lower triangular.
        stddev: standard deviation of the noise before the multiplication by C⁻¹.

    Returns:
        The description of the noise, with the non-zero entries of each column.
    """
    size = len(strategy)
    magnitudes = np.abs(strategy)
    # The bands reach to the entry that is farthest below the main diagonal.
    rows, columns = np.nonzero(magnitudes > _NEGLIGIBLE * magnitudes.max())
    bands = int((rows - columns).max()) + 1

    # Column `offset` of the result has the entries of C on that diagonal below the main one.
    band_columns = np.zeros((size, bands))
    for offset in range(bands):
        band_columns[: size - offset, offset] = np.diagonal(strategy, -offset)
    largest_norm = float(np.linalg.norm(strategy, axis=0).max())
    return NoiseReading(stddev=stddev, bands=bands, column_norm=largest_norm, columns=band_columns)


def _read_streaming(matrix: StreamingMatrix, stddev: float, iterations: int) -> NoiseReading:
    """Read a banded strategy matrix C from products with few vectors, given C⁻¹ as a streaming matrix.

    A comb is a vector that is nonzero at every b-th row only; these entries are its teeth. If C has b bands, the
    columns of C at the teeth do not overlap in the product, so each of them can be read from it. Combs with other
    values of the teeth must give the same columns. Otherwise C has more than b bands, and b is doubled.

    Args:
        matrix: the noising matrix C⁻¹.
        stddev: standard deviation of the noise before the multiplication.
        iterations: number of rows of C.

    Returns:
        The columns of C, their largest norm and b. The norm is NaN, and there are no columns, if no b fits for which
        the columns have at most `_LARGEST` entries.
    """
    bands = _estimate_bands(matrix, iterations)
    while iterations * bands <= _LARGEST:
        columns = _read_columns(matrix, iterations, bands)
        if columns is not None:
            norm = float(np.linalg.norm(columns, axis=1).max())
            return NoiseReading(stddev=stddev, bands=bands, column_norm=norm, columns=columns)
        if bands == iterations:
            break
        bands = min(2 * bands, iterations)
    return NoiseReading(stddev=stddev, bands=bands, column_norm=float("nan"), columns=np.empty((0, 0)))


def _estimate_bands(matrix: StreamingMatrix, iterations: int) -> int:
    """Estimate the number of bands of the strategy matrix C from its first and its middle column.

    Args:
        matrix: the noising matrix C⁻¹.
        iterations: number of rows of C.

    Returns:
        The larger number of bands of the two columns.
    """
    # C times a unit vector is a column of C.
    indices = sorted({0, iterations // 2})
    unit_vectors = np.zeros((iterations, len(indices)))
    unit_vectors[indices, range(len(indices))] = 1.0
    columns = np.abs(_multiply(matrix, unit_vectors))

    # The bands of a column reach from the main diagonal to its last entry that is not negligible.
    bands = []
    for index, column in zip(indices, columns.T, strict=True):
        nonzero_rows = np.nonzero(column > _NEGLIGIBLE * column.max())[0]
        bands.append(int(nonzero_rows[-1]) - index + 1)
    return max(bands)


def _read_columns(matrix: StreamingMatrix, iterations: int, bands: int) -> NDArray[np.float64] | None:
    """Read all columns of a banded matrix C from its products with few vectors; None if C has more bands.

    A comb is a vector that is 0 except at its teeth, which are `bands` rows apart. If the assumption holds, the columns
    of C at the teeth do not overlap in the product. The columns are read twice, by combs with other teeth. If columns
    overlap, the two readings differ.

    Args:
        matrix: the noising matrix C⁻¹.
        iterations: number of rows of C.
        bands: assumed number of bands of C.

    Returns:
        The columns, shape (iterations, bands): entry (j, i) is C[j + i, j]. None if the columns overlap.
    """
    # With random teeth, readings of overlapping columns do not agree by chance. The readings are divided by the teeth,
    # which therefore stay away from 0. The seed is fixed, so that equal plans give equal results.
    first_teeth, second_teeth = np.random.default_rng(0).uniform(1.0, 2.0, size=(2, iterations))
    first_product = _multiply(matrix, _combs(first_teeth, bands))
    second_product = _multiply(matrix, _combs(second_teeth, bands))

    # Columns that do not overlap are in both products, times the teeth.
    columns: NDArray[np.float64] = _entries_at_teeth(first_product, bands) / first_teeth[:, None]
    expected_entries = columns * second_teeth[:, None]
    second_entries = _entries_at_teeth(second_product, bands)
    tolerance = _NEGLIGIBLE * np.abs(columns).max()
    if not np.allclose(second_entries, expected_entries, rtol=0.0, atol=tolerance):
        return None
    return columns


def _combs(teeth: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return vectors from which all columns of a banded matrix C can be read, by products with C.

    Such a vector is a comb: it is 0 except at its teeth, which are `period` rows apart. No two combs have a tooth in
    the same row. If C has at most `period` bands, the columns at the teeth of a comb do not overlap in the product.

    Args:
        teeth: value of the tooth in each row, shape (rows,).
        period: number of rows from one tooth of a comb to the next.

    Returns:
        The combs, shape (rows, period): column g is the comb with teeth in the rows g, g + period and so on.
    """
    rows = np.arange(len(teeth))
    combs = np.zeros((len(teeth), period))
    combs[rows, rows % period] = teeth
    return combs


def _entries_at_teeth(products: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return the columns of a banded matrix C times the teeth of combs, read from products of C with the combs.

    Column g of `_combs` is a comb: it is 0 except at its teeth, in the rows g, g + period and so on. For each row j,
    the result has `period` entries, from row j on, of the product of C with the comb that has a tooth in row j. Entries
    after the last row count as 0.

    Args:
        products: shape (rows, period): column g is the product of C with column g of `_combs`.
        period: number of rows from one tooth of a comb to the next.

    Returns:
        The entries, shape (rows, period): entry (j, i) is in row j + i of the product with the comb of row j.
    """
    size = len(products)
    padded = np.vstack([products, np.zeros((period, products.shape[1]))])
    rows = np.arange(size)
    return np.stack([padded[rows + offset, rows % period] for offset in range(period)], axis=1)


def _multiply(matrix: StreamingMatrix, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return C times the columns of `vectors`, given the lower triangular C⁻¹ as a streaming matrix.

    The product X solves C⁻¹X = `vectors`. Forward substitution finds one row of X after the other. Given the earlier
    rows, row t of the output C⁻¹X is an affine function of row t of X. The outputs at the inputs 0 and 1 give its
    offset and its slope.

    Args:
        matrix: C⁻¹, which maps one row of its input after another to rows of its output.
        vectors: one vector per column.

    Returns:
        The product, in the shape of `vectors`.
    """
    zeros = jnp.zeros(vectors.shape[1])

    def solve_row(state: object, target: jax.Array) -> tuple[object, jax.Array]:
        """Return the next state of the stream, and the input at which its next output is `target`."""
        output_at_zero, _state = matrix.multiply_next(zeros, state)
        output_at_one, _state = matrix.multiply_next(zeros + 1.0, state)
        row = (target - output_at_zero) / (output_at_one - output_at_zero)
        # The stream continues with the solved row as its input.
        _output, next_state = matrix.multiply_next(row, state)
        return next_state, row

    first_state = matrix.init_multiply(zeros)
    _last_state, product = jax.lax.scan(solve_row, first_state, jnp.asarray(vectors))
    return np.asarray(product, dtype=np.float64)

"""Logarithms with bounds on their errors, for the places of a record in a run.

Place v means that the record is used v steps before the release of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


class LogProduct(NamedTuple):
    """The log of the product of the contraction factors of all steps after some place, and a bound on its error.

    Place v means that the record is used v steps before the release.
    """

    value: float = 0.0
    error: float = 0.0


class LogValues(NamedTuple):
    """Logarithms of bounds on δ, or of factors that multiply δ, with bounds on their numerical errors.

    Attributes:
        value: the logarithms, one for each place of a record, its number of steps from use to release.
        error: bound on the error of each logarithm.
    """

    value: FloatArray
    error: FloatArray


def replace_by_smaller(best: LogValues, candidates: LogValues, places: slice) -> None:
    """Replace the values at some places, with their errors, by candidates that are smaller.

    A place is a number of steps from a record's use to the release of the model.

    Args:
        best: logarithms and bounds on their errors, one for each place; both arrays are changed.
        candidates: logarithms and bounds on their errors, one for each place of `places`.
        places: range of the places that the candidates are for.
    """
    is_better = candidates.value < best.value[places]
    best.value[places] = np.where(is_better, candidates.value, best.value[places])
    best.error[places] = np.where(is_better, candidates.error, best.error[places])


def running_products(product: LogProduct, factors: LogValues, last: int) -> LogValues:
    """Return the logs of running products: of a given product, and of it times the first 1, 2, … further factors.

    The factors are the contraction factors of steps, by which a step multiplies a bound on δ.

    Args:
        product: log of the product of the previous factors, with its error.
        factors: logs of the further factors, with bounds on their errors.
        last: number of all factors, which bounds the number of roundings of a running sum.

    Returns:
        One logarithm more than `factors` has, with bounds on the errors.
    """
    # A factor of 0 is replaced by a tiny one, so that sums stay finite.
    logs = np.maximum(factors.value, LEAST_LOG_FACTOR)
    sums = np.append(product.value, product.value + np.cumsum(logs))
    errors = np.append(product.error, product.error + np.cumsum(factors.error))
    # The sums themselves are rounded as well.
    errors += UNIT_ROUNDOFF * last * np.abs(sums)
    return LogValues(sums, errors)

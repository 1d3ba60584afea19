"""Number of levels of truncated Laplace noise that a probability of escapes needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.calibrators.qtdl.family import IntegerRelease


def real_levels(release: IntegerRelease, rate: float, log_escape: float) -> float:
    """Estimate the largest absolute value m of the noise at which an escape has a given probability.

    The noise is an integer y with |y| ≤ m and probability proportional to e^(−α|y|). An escape is a message that only
    one of two neighbours can send, because the noise of the other one is limited to |y| ≤ m.

    Args:
        release: the messages of all rounds.
        rate: decay rate α.
        log_escape: natural logarithm of the probability of an escape in any round.

    Returns:
        The number m, which need not be an integer.

    Source: F7 of the catalogue (docs/catalogue/das.md).
    """
    largest_shift, _ = release.parts[0]  # largest difference of two neighbours in a coordinate

    # A coordinate with this shift escapes with some probability p. `total` is the sum of all shifts of all rounds, so
    # there are about total/largest_shift such coordinates. A client participates with the problem's rate. So the
    # probability of any escape is about p · rate · total/largest_shift.
    log_coordinate_escape = log_escape - math.log(release.problem.rate * release.total / largest_shift)

    # Solve p = (e^(α·shift) − 1)/(e^(α(m + 1)) (1 + e^(−α)) − 2) for the number m of levels.
    log_shift_term = _log_expm1(rate * largest_shift)
    log_numerator = np.logaddexp(log_shift_term, math.log(2.0) + log_coordinate_escape)
    return float(log_numerator - log_coordinate_escape - math.log1p(math.exp(-rate))) / rate - 1.0


def _log_expm1(x: float) -> float:
    """Return log(e^x − 1) for x > 0; above 40 it is x to the precision of doubles."""
    return x if x > 40.0 else math.log(math.expm1(x))

"""The listed outcomes of Skellam noise with their privacy losses, and a sum over them without cancellation."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.integers.skellam_table import SkellamTable, skellam_table

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


class ListedOutcomes(NamedTuple):
    """The outcomes y from k − R to R of Skellam noise, with their privacy losses against the noise shifted by k.

    R is the largest value in the table of the noise.

    Attributes:
        table: probabilities of the noise at 0, …, R.
        least: losses in nats, moved towards 0 by their error.
        most: losses in nats, moved away from 0 by their error.
        log_masses: log probabilities of the outcomes under the noise.
    """

    table: SkellamTable
    least: FloatArray
    most: FloatArray
    log_masses: FloatArray


def positive_sum(losses: FloatArray, log_masses: FloatArray, excess: float) -> tuple[float, float]:
    """Return the part of a moment of the privacy loss from listed outcomes, as a sum of positive terms.

    The moment is E[e^{tL}] − 1 of the loss L. E[e^{−L}] = 1, so E[e^{tL}] − 1 = E[(e^{tL} − 1) + t (e^{−L} − 1)]. No
    summand is negative.

    Args:
        losses: losses L of the outcomes, in nats.
        log_masses: log probabilities of the outcomes.
        excess: exponent t > 0.

    Returns:
        The sum, at least 0, and a bound on its absolute error by cancellation within the summands.
    """
    masses = np.exp(log_masses)
    moment_terms = masses * np.expm1(excess * losses)
    balance_terms = excess * masses * np.expm1(-losses)
    total = float(np.sum(moment_terms + balance_terms))
    # Each difference within a summand is rounded by units of its terms.
    cancellation = 16 * UNIT_ROUNDOFF * float(np.sum(np.abs(moment_terms) + np.abs(balance_terms)))
    return max(total, 0.0), cancellation


@lru_cache(maxsize=8)
def listed_losses(variance: float, shift: int, reach: int) -> ListedOutcomes:
    """Return the privacy losses and log probabilities of Skellam noise against its shift, for listed outcomes.

    The losses are moved by the error of the table to either side, for lower and upper bounds.

    Args:
        variance: variance μ of the noise.
        shift: shift k ≥ 1.
        reach: R, at least that of the usual table. The outcomes are those from k − R to R.

    Returns:
        The outcomes with their losses, moved by their error to either side, and their log probabilities.
    """
    table = skellam_table(variance, reach)
    outcomes = np.arange(float(shift - reach), reach + 1.0)
    losses = table.losses(outcomes, shift)
    signs = np.sign(losses)
    least = signs * np.maximum(np.abs(losses) - table.error, 0.0)
    most = losses + signs * table.error
    log_masses = table.log_at_zero - table.falls[np.abs(outcomes).astype(np.int64)]
    return ListedOutcomes(table, least, most, log_masses)

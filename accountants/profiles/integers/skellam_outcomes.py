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
    """Compute the part of E[e^{tL}] − 1 that comes from listed outcomes, for the privacy loss L.

    Because E[e^{−L}] = 1:

        E[e^{tL}] − 1 = E[(e^{tL} − 1) + t (e^{−L} − 1)].

    No term on the right is negative, so that the terms do not cancel.

    Args:
        losses: losses L of the outcomes, in nats.
        log_masses: log probabilities of the outcomes.
        excess: exponent t > 0.

    Returns:
        The sum of the terms, at least 0, and a bound on its absolute error from cancellation within the terms.
    """
    masses = np.exp(log_masses)
    moment_terms = masses * np.expm1(excess * losses)
    balance_terms = excess * masses * np.expm1(-losses)
    total = float(np.sum(moment_terms + balance_terms))
    # Within a term two numbers of opposite sign are added. Its error is proportional to their absolute values.
    cancellation = 16 * UNIT_ROUNDOFF * float(np.sum(np.abs(moment_terms) + np.abs(balance_terms)))
    return max(total, 0.0), cancellation


@lru_cache(maxsize=8)
def listed_losses(variance: float, shift: int, reach: int) -> ListedOutcomes:
    """Return the privacy losses of the outcomes k − R to R of Skellam noise against its shift by k.

    Args:
        variance: variance μ of the noise.
        shift: shift k ≥ 1.
        reach: R, at least that of the usual table of the noise.

    Returns:
        The log probabilities of the outcomes, and bounds on the losses on either side.
    """
    table = skellam_table(variance, reach)
    outcomes = np.arange(float(shift - reach), reach + 1.0)
    losses = table.losses(outcomes, shift)
    signs = np.sign(losses)
    least = signs * np.maximum(np.abs(losses) - table.error, 0.0)
    most = losses + signs * table.error
    log_masses = table.log_at_zero - table.falls[np.abs(outcomes).astype(np.int64)]
    return ListedOutcomes(table, least, most, log_masses)

"""Logarithms of the probabilities that a record is in a truncated Poisson batch, or outside of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.numerics.binomial_law import Binomial
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF


@dataclass(frozen=True)
class TruncatedMasses:
    """Log probabilities of the size of a Poisson batch that is cut to at most B records, and that a record is in it.

    Besides this record there are n − 1 others, of which A ~ Bin(n − 1, q) are drawn.

    Attributes:
        below: log P(A ≤ B − 2).
        next_to_full: log P(A = B − 1).
        untruncated: log P(A ≤ B − 1).
        full: log P(A ≥ B).
        retained: log probability that A ≥ B, and the record is drawn and kept: (B/n) P(Bin(n, q) ≥ B + 1).
        margin: bound on the error of each finite logarithm.
    """

    below: float
    next_to_full: float
    untruncated: float
    full: float
    retained: float
    margin: float

    @classmethod
    def of(cls, *, population: int, rate: float, largest_batch: int) -> TruncatedMasses:
        """Compute the log probabilities for a Poisson batch that is cut to at most B records.

        If more than B records are drawn, each of these is kept with probability B over their number.

        Args:
            population: number n of records, including this record.
            rate: probability q that a record is drawn, 0 < q < 1.
            largest_batch: largest number B of records in a batch, 1 ≤ B < n.

        Returns:
            The natural logarithms, with a bound on the error of each finite one.
        """
        # Distributions of the number of drawn and of absent other records, and of all drawn records.
        other_records = np.asarray(float(population - 1))
        drawn_others = Binomial(other_records, rate, 1.0 - rate)
        absent_others = Binomial(other_records, 1.0 - rate, rate)
        drawn_of_all = Binomial(np.asarray(float(population)), rate, 1.0 - rate)
        full = np.asarray([float(largest_batch)])

        # P(A ≤ a) is the probability that at least n − 1 − a of the others are not drawn; here a = B − 1 and B − 2.
        least_absent = np.asarray([float(population - largest_batch), population - largest_batch + 1.0])
        log_untruncated, log_below = absent_others.log_tail(least_absent).tolist()
        # For B = 1 the tail is that of n or more of n − 1 records, but P(A ≤ −1) = 0 must be exact.
        if largest_batch == 1:
            log_below = -math.inf

        log_next_to_full = float(drawn_others.log_mass(full - 1.0)[0])
        log_full = float(drawn_others.log_tail(full)[0])
        log_retained = float(drawn_of_all.log_tail(full + 1.0)[0]) + math.log(largest_batch / population)

        # `accuracy` is relative, so the error is proportional to the largest logarithm. 4 and 16 are margins.
        logs = (log_below, log_next_to_full, log_untruncated, log_full, log_retained)
        largest_log = max(abs(value) for value in logs if math.isfinite(value))
        return cls(
            below=log_below,
            next_to_full=log_next_to_full,
            untruncated=log_untruncated,
            full=log_full,
            retained=log_retained,
            margin=4.0 * (drawn_of_all.accuracy + 16 * UNIT_ROUNDOFF) * (1.0 + largest_log),
        )

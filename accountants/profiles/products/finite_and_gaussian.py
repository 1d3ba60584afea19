"""The product of finitely many losses and one Gaussian mechanism: a weighted sum of the Gaussian's shifted profile.

Suppose that the loss of one part takes the values l_i with masses p_i under its first distribution. The other part is
N(μ, 1) against N(0, 1). With E(x) the Gaussian's profile at any real x:

    δ(ε) = Σ p_i E(ε − l_i),   E(x) = 1 − e^x + e^x E(−x) for x < 0.

These are sums of positive terms, so that no cancellation occurs. The tails are likewise sums of normal tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, logsumexp

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

_MOST_AT_ONCE = 2**18
"""Number of values of one pass: two megabytes for each array."""
_TAIL_UNITS = 64
"""Bound on the error of a log normal tail, in units of roundoff."""


@dataclass(frozen=True, eq=False)
class FiniteAndGaussianProfile(Profile):
    """The privacy profile of a composition of a mechanism with finitely many losses and a Gaussian mechanism.

    In one direction, with the privacy losses l_i of probability p_i of the finite part, it is:

        δ(ε) = Σ p_i E(ε − l_i).

    E is the profile of N(μ, 1) against N(0, 1), continued to negative ε.

    Attributes:
        losses: the losses l_i of the finite part in nats, each within `loss_error`.
        log_masses: log p_i, natural logarithms, each within `log_error`.
        loss_error: bound on the error of each loss, in nats.
        log_error: bound on the error of each log probability, per unit of 1 + |log probability|.
        mu: distance μ > 0 of the means of the Gaussian part, in standard deviations.
        log_infinite_mass: upper bound on the log probability of an infinite loss.
    """

    losses: FloatArray
    log_masses: FloatArray
    loss_error: float
    log_error: float
    mu: float
    log_infinite_mass: float = -np.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|.

        It contains roundings, errors of the probabilities, and the effect of the raised losses on the tail of the
        second distribution. The difference ε − l_i is rounded, and a log normal tail changes by up to 1/μ times that.
        """
        steepness = _TAIL_UNITS * (1.0 + float(np.max(np.abs(self.losses)))) / self.mu
        rounding = (4 * self.losses.size + _TAIL_UNITS + steepness) * UNIT_ROUNDOFF
        return self.log_error + 2.0 * self.loss_error + rounding

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of the composition.

        δ(ε) is Σ p_i E(ε − l_i), with the losses l_i and probabilities p_i of the finite part. E is the profile of the
        Gaussian part. The probability of an infinite loss is added to the upper bound. Each l_i is known within
        `loss_error`. E decreases, so it is evaluated at points moved up by this error for the lower bound, and moved
        down for the upper bound.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, one for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        # The error of a loss, and the rounding of the difference ε − l_i.
        shift = self.loss_error + 8 * UNIT_ROUNDOFF * (points + float(np.max(np.abs(self.losses))))
        gaussian = gaussian_pair(self.mu).forward
        lower = self._log_sum_over_losses(points + shift, lambda x: _log_delta_anywhere(gaussian, x).lower)
        upper = self._log_sum_over_losses(points - shift, lambda x: _log_delta_anywhere(gaussian, x).upper)
        upper = np.logaddexp(upper, self.log_infinite_mass)

        # Widen by the errors of the probabilities and of the sum.
        rounding = self.log_error + 4 * UNIT_ROUNDOFF * (self.losses.size + 8)
        return Enclosure(lower - rounding * _size(lower), np.minimum(upper + rounding * _size(upper), 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the total privacy loss, with the losses of the finite part raised by their error.

        The raised losses dominate. With the losses l_i and probabilities p_i of the finite part, the probability p_∞ of
        an infinite loss, and the normal distribution function Φ:

            P(L > ε) = p_∞ + Σ p_i Φ(μ/2 − (ε − l_i)/μ),
            Q(L > ε) = Σ p_i e^{−l_i} Φ(−μ/2 − (ε − l_i)/μ).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε.
        """

        def log_p_tail(x: FloatArray) -> FloatArray:
            """Return log P(L > x) of the Gaussian loss L under the first distribution."""
            return np.asarray(log_ndtr(0.5 * self.mu - x / self.mu))

        def log_q_tail(x: FloatArray) -> FloatArray:
            """Return log Q(L > x) under the second distribution."""
            return np.asarray(log_ndtr(-0.5 * self.mu - x / self.mu))

        # Losses are raised by their error, which is the same as a smaller ε.
        points = np.asarray(epsilon, dtype=np.float64) - self.loss_error
        log_p = self._log_sum_over_losses(points, log_p_tail)
        log_q = self._log_sum_over_losses(points, log_q_tail, self.log_masses - self.losses)
        log_p = np.logaddexp(log_p, self.log_infinite_mass)
        return Tails(np.minimum(log_p, 0.0), np.minimum(log_q, 0.0))

    def _log_sum_over_losses(
        self, points: FloatArray, log_value: Callable[[FloatArray], FloatArray], log_weights: FloatArray | None = None
    ) -> FloatArray:
        """Return log Σ_i w_i v(x − l_i) over the losses l_i of the finite part at every x.

        The values of x are taken in blocks, so that the arrays with an entry for each x and i have a limited size.

        Args:
            points: array of x, in nats.
            log_value: function from arrays of x to log v(x).
            log_weights: log w_i; the log probabilities of the losses if None.

        Returns:
            Natural logarithms, in the shape of `points`.
        """
        weights = self.log_masses if log_weights is None else log_weights
        flat_points = np.atleast_1d(points).ravel()
        rows = max(1, _MOST_AT_ONCE // self.losses.size)
        sums = []
        for start in range(0, flat_points.size, rows):
            block = flat_points[start : start + rows, None]
            log_values = log_value(block - self.losses)
            sums.append(logsumexp(log_values + weights, axis=1))
        return np.asarray(np.concatenate(sums).reshape(np.shape(points)))


def _size(log_value: FloatArray) -> FloatArray:
    """Return 1 + |log value|, by which errors are multiplied; 1 for −∞, so that an exact zero remains exact."""
    finite_value = np.where(np.isneginf(log_value), 0.0, log_value)
    return np.asarray(1.0 + np.abs(finite_value))


def _log_delta_anywhere(gaussian: Profile, points: FloatArray) -> Enclosure:
    """Enclose log E(x) of a symmetric pair at any real x, where E(x) is its δ at ε = x.

    A pair (P, Q) is symmetric if Q against P has the same δ. Then, for x < 0:

        E(x) = 1 − e^x + e^x E(−x).

    Args:
        gaussian: privacy profile of the pair, for x ≥ 0.
        points: array of x, in nats.

    Returns:
        Lower and upper bounds on log E(x), one for each x.
    """
    is_negative = points < 0.0
    at_size = gaussian.log_delta(np.abs(points))
    negative_part = np.minimum(points, 0.0)
    with np.errstate(divide="ignore"):
        log_gap = np.log(-np.expm1(negative_part))  # log(1 − e^x)
    lower = np.where(is_negative, np.logaddexp(log_gap, negative_part + at_size.lower), at_size.lower)
    upper = np.where(is_negative, np.logaddexp(log_gap, negative_part + at_size.upper), at_size.upper)
    # Rounding of the sum of two exponentials.
    slack = 8 * UNIT_ROUNDOFF * _size(upper)
    return Enclosure(lower - slack, np.minimum(upper + slack, 0.0))

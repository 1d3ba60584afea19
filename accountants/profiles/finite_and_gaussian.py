"""The product of finitely many losses and one Gaussian mechanism: a weighted sum of the Gaussian's shifted profile.

Suppose that the loss of one part takes the values l_i with masses p_i under its first distribution. The other part is
N(μ, 1) against N(0, 1). With E(x) the Gaussian's profile at any real x

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


@dataclass(frozen=True, eq=False)
class FiniteAndGaussianProfile(Profile):
    """One direction of the product.

    Attributes:
        losses: the values of the finite part, each within `misplacement`.
        log_masses: log p_i, each within `log_error`.
        misplacement: bound on the error of each loss, in nats.
        log_error: bound on the error of each log mass.
        mu: μ of the Gaussian part, positive.
        log_infinite_mass: upper bound on the log-probability P of an infinite loss.
    """

    losses: FloatArray
    log_masses: FloatArray
    misplacement: float
    log_error: float
    mu: float
    log_infinite_mass: float = -np.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails: roundings, errors of the masses, and the effect of raised losses.

        The raised losses affect the tail of the second distribution. A difference ε − l is rounded by units of both
        numbers. A normal tail is steep in it, by up to the reciprocal of μ.
        """
        steep = _TAIL_UNITS * (1.0 + float(np.max(np.abs(self.losses)))) / self.mu
        rounding = (4 * self.losses.size + _TAIL_UNITS + steep) * UNIT_ROUNDOFF
        return self.log_error + 2.0 * self.misplacement + rounding

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ, evaluated at shifted ε for which the misplacement makes it smaller and larger."""
        at = np.asarray(epsilon, dtype=np.float64)
        slack = self.misplacement + 8 * UNIT_ROUNDOFF * (at + float(np.max(np.abs(self.losses))))
        gaussian = gaussian_pair(self.mu).forward
        lower = self._log_sum_over_losses(at + slack, lambda x: _anywhere(gaussian, x).lower)
        upper = self._log_sum_over_losses(at - slack, lambda x: _anywhere(gaussian, x).upper)
        rounding = self.log_error + 4 * UNIT_ROUNDOFF * (self.losses.size + 8)
        total = np.logaddexp(upper, self.log_infinite_mass)
        lower, total = (end + side * rounding * _size(end) for end, side in ((lower, -1.0), (total, 1.0)))
        return Enclosure(lower, np.minimum(total, 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the distribution with all losses raised by the misplacement, which dominates."""
        at = np.asarray(epsilon, dtype=np.float64) - self.misplacement
        first = self._log_sum_over_losses(at, lambda x: log_ndtr(0.5 * self.mu - x / self.mu))
        second = self._log_sum_over_losses(
            at, lambda x: log_ndtr(-0.5 * self.mu - x / self.mu), self.log_masses - self.losses
        )
        return Tails(np.minimum(np.logaddexp(first, self.log_infinite_mass), 0.0), np.minimum(second, 0.0))

    def _log_sum_over_losses(
        self, at: FloatArray, value: Callable[[FloatArray], FloatArray], weights: FloatArray | None = None
    ) -> FloatArray:
        """Return log Σ e^{w_i + value(x − l_i)} at every x, in blocks of limited size."""
        log_weights = self.log_masses if weights is None else weights
        flat = np.atleast_1d(at).ravel()
        rows = max(1, _MOST_AT_ONCE // self.losses.size)
        values = [
            logsumexp(value(part[:, None] - self.losses) + log_weights, axis=1)
            for part in (flat[start : start + rows] for start in range(0, flat.size, rows))
        ]
        return np.asarray(np.concatenate(values).reshape(np.shape(at)))


def _size(log_value: FloatArray) -> FloatArray:
    """Return 1 + |value|, and 1 for −∞, so that an exact zero remains exact."""
    return np.asarray(1.0 + np.abs(np.where(np.isneginf(log_value), 0.0, log_value)))


def _anywhere(gaussian: Profile, at: FloatArray) -> Enclosure:
    """Return the profile of a symmetric pair at any real ε."""
    positive = gaussian.log_delta(np.abs(at))
    below = np.minimum(at, 0.0)
    with np.errstate(divide="ignore"):
        log_gap = np.log(-np.expm1(below))
    bounds = [np.where(at < 0.0, np.logaddexp(log_gap, below + end), end) for end in (positive.lower, positive.upper)]
    slack = 8 * UNIT_ROUNDOFF * _size(bounds[1])
    return Enclosure(bounds[0] - slack, np.minimum(bounds[1] + slack, 0.0))

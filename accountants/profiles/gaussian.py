"""Profiles of two concrete pairs: a shifted normal distribution, and two equal distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import erfcx

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Enclosure, Interval, Tails
from epsilond.accountants.curve.facts import GaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.numerics.special import (
    LEAST_LOG,
    LOG_ACCURACY,
    UNIT_ROUNDOFF,
    log_normal_tail,
    log_theta,
    theta_logs,
)

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


_MOST_STEPS = 100
"""Largest number of Newton steps or bisections. Fifty bisections reach a relative width of 1e-15."""
_NEARLY_ONE = -20.0
"""Point a, in standard deviations, below which the normal tail 1 − Φ(a) differs from 1 by less than e^−200."""


@dataclass(frozen=True)
class ZeroProfile(Profile):
    """The privacy profile of two equal distributions: δ(ε) = 0 at every ε ≥ 0.

    It describes a mechanism with an output that does not depend on the record, such as one without a contribution.

    Attributes:
        log_infinite_mass: log of the probability of an infinite privacy loss, −∞ because no loss is infinite.
        tail_accuracy: bound on the error of the log tails, 0 because they are exact.
    """

    closed_form: ClassVar[bool] = True

    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 0.0

    @property
    def supremum(self) -> float:
        """Smallest ε from which on δ is zero, in nats: 0, because no privacy loss is positive."""
        return 0.0

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return log δ = −∞ at each ε, as both bounds.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Bounds of the shape of `epsilon`, all −∞.
        """
        log_zero = np.full(np.shape(epsilon), -np.inf)
        return Enclosure(log_zero, log_zero)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return log P(L > ε) = log Q(L > ε) = −∞ at each ε, because the privacy loss L is always 0.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two arrays of −∞ with the shape of `epsilon`.
        """
        return Tails(*self.log_delta(epsilon))


@dataclass(frozen=True)
class GaussianProfile(Profile):
    """The privacy profile of N(μ, 1) against N(0, 1), that is, of exact μ-Gaussian differential privacy.

    With the normal distribution function Φ it is δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ). Both directions of the pair
    have this profile.

    Source: Balle and Wang 2018, Theorem 8.

    Attributes:
        mu: distance μ > 0 of the two means, in standard deviations of the noise.
        log_infinite_mass: log of the probability of an infinite privacy loss, −∞ because no loss is infinite.
    """

    closed_form: ClassVar[bool] = True
    root_search: ClassVar[RootSearch] = "solve"

    mu: float
    log_infinite_mass: float = -math.inf

    @property
    def lossy(self) -> bool:
        """True if δ(0) > 0 is known without an evaluation, which is the case for every μ > 0."""
        return self.mu > 0.0

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|.

        A unit of roundoff in ε/μ − μ/2 changes a log tail by at most (1 + μ)(1 + |log tail|) units.
        """
        return LOG_ACCURACY * (1.0 + self.mu)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of N(μ, 1) against N(0, 1) at each ε.

        μ may be rounded by up to four units in the last place. δ increases with μ, so the lower bound uses a slightly
        smaller μ and the upper bound a slightly larger one.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, one for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)

        # The two values of μ get an axis of their own before the axes of the points.
        rounded_mus = self.mu * np.asarray([1 - 4 * UNIT_ROUNDOFF, 1 + 4 * UNIT_ROUNDOFF])
        at_smaller_mu, at_larger_mu = log_theta(points, rounded_mus.reshape(2, *(1,) * points.ndim))

        lower = Enclosure.around(at_smaller_mu, LOG_ACCURACY).lower
        upper = Enclosure.around(at_larger_mu, LOG_ACCURACY).upper
        return Enclosure(lower, upper)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε. It is quicker than `log_delta` on an array of a single element.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ.
        """
        return Interval(self.lower_log_delta(epsilon), self.upper_log_delta(epsilon))

    def lower_log_delta(self, epsilon: float) -> float:
        """Return a lower bound on log δ at one ε, from a μ that is smaller by four units of roundoff.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound; −∞ if δ is too small for a logarithm with a bounded error.
        """
        # δ increases with μ, and μ may be rounded by four units, so the smaller μ gives a lower bound.
        value, _ = theta_logs(epsilon, self.mu * (1 - 4 * UNIT_ROUNDOFF))
        if value <= LEAST_LOG:
            return -math.inf
        return value - LOG_ACCURACY * (1.0 + abs(value))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return an upper bound on log δ at one ε, from a μ that is larger by four units of roundoff.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound, at most 0.
        """
        # δ increases with μ, and μ may be rounded by four units, so the larger μ gives an upper bound.
        value, _ = theta_logs(epsilon, self.mu * (1 + 4 * UNIT_ROUNDOFF))
        if math.isinf(value):
            return value
        return min(value + LOG_ACCURACY * (1.0 + abs(value)), 0.0)

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Solve for the ε at which N(μ, 1) against N(0, 1) has a given δ, by Newton's method.

        The root is below μ²/2 + μ √(2 log 1/δ), by the tail bound Φ(−t) ≤ e^{−t²/2}.

        Args:
            log_delta: the target log δ, natural logarithm, at most 0.

        Returns:
            The root with an estimate of its error. None if no ε in (0, `LARGEST_EPSILON`) is a root, or if μ is so
            small that the difference of Mills' ratios in `_excess_and_steepness` loses its digits.
        """
        # The interval (0, high) must contain the root: δ is above the target at 0 and below it at the upper end.
        largest_log_delta = -1e-300  # keeps the square root positive if log δ is 0
        high = self.mu * (0.5 * self.mu + math.sqrt(-2.0 * min(log_delta, largest_log_delta)))
        if not high < LARGEST_EPSILON:
            return None
        excess_at_zero, _ = self._excess_and_steepness(0.0, log_delta)
        excess_at_high, _ = self._excess_and_steepness(high, log_delta)
        if not excess_at_zero > 0.0 > excess_at_high:
            return None

        root, steepness = self._newton_root(log_delta, high)
        # The root is not used if it is a tiny part of the bracket, or if no slope is known.
        is_reliable = steepness > 0.0 and root > 1e-9 * high
        if not is_reliable:
            return None

        # An error of log δ moves the root by that error divided by the steepness.
        error_of_value = 2.0 * LOG_ACCURACY * (1.0 + abs(log_delta)) / steepness
        pad = error_of_value + 4 * UNIT_ROUNDOFF * root
        return EpsilonEstimate(root, pad, steepness)

    def _newton_root(self, log_delta: float, high: float) -> tuple[float, float]:
        """Solve for the ε at which log δ has a given value, by Newton's method with a bracket.

        The search starts at the bracket's upper end. A step that would leave the bracket is replaced by a bisection.

        Args:
            log_delta: the target log δ.
            high: an ε above the root, in nats; the bracket is (0, `high`) at first.

        Returns:
            The last ε, and |d log δ/dε| at the ε before it.
        """
        low, root, steepness = 0.0, high, 0.0
        for _ in range(_MOST_STEPS):
            excess, steepness = self._excess_and_steepness(root, log_delta)

            # Narrow the bracket: δ decreases with ε, so a δ above the target puts the root to the right.
            if excess > 0.0:
                low = root
            else:
                high = root

            newton = root + excess / steepness if steepness > 0.0 else math.inf
            if low < newton < high:
                # Newton's method doubles the correct digits. After a change below 1e-9 all are correct.
                has_converged = abs(newton - root) <= 1e-9 * root
                root = newton
            else:
                # The bracket is as narrow as the last digits allow.
                has_converged = high - low <= 1e-15 * high
                root = 0.5 * (low + high)
            if has_converged:
                break
        return root, steepness

    def _excess_and_steepness(self, epsilon: float, log_delta: float) -> tuple[float, float]:
        """Compute the distance of log δ(ε) to a target, and the derivative of log δ.

        Let R = (1 − Φ)/φ be Mills' ratio of the standard normal distribution function Φ and density φ. With
        a = ε/μ − μ/2 and b = a + μ:

            δ(ε) = φ(a) (R(a) − R(b)),   dδ/dε = −φ(a) R(b).

        `scaled_tail` is R/√(2π).

        Args:
            epsilon: ε ≥ 0, in nats.
            log_delta: the target log δ.

        Returns:
            log δ(ε) minus the target, and |d log δ/dε|. A δ that is nearly 1 counts as 1, with steepness 0.
        """
        middle, half_mu = epsilon / self.mu, 0.5 * self.mu
        a = middle - half_mu
        b = middle + half_mu
        if a < _NEARLY_ONE:
            return -log_delta, 0.0

        mills_at_a, mills_at_b = scaled_tail(a), scaled_tail(b)
        least_positive = 1e-320  # keeps the logarithm finite if the two ratios round to the same double
        difference = max(mills_at_a - mills_at_b, least_positive)
        log_value = -0.5 * a**2 + math.log(difference)
        return log_value - log_delta, mills_at_b / difference

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities that the privacy loss L exceeds ε, under N(μ, 1) and under N(0, 1).

        They are P(L > ε) = Φ(μ/2 − ε/μ) and Q(L > ε) = Φ(−μ/2 − ε/μ).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε.
        """
        middle = epsilon / self.mu
        log_p = log_normal_tail(middle - 0.5 * self.mu)
        log_q = log_normal_tail(middle + 0.5 * self.mu)
        return Tails(log_p, log_q)


def scaled_tail(x: float) -> float:
    """Return the upper tail of the standard normal distribution, divided by e^{−x²/2}.

    The quotient (1 − Φ(x))/e^{−x²/2} does not underflow for large x. It is Mills' ratio divided by √(2π).

    Args:
        x: a point on the line, in standard deviations.

    Returns:
        The quotient, positive.
    """
    return 0.5 * float(erfcx(x * math.sqrt(0.5)))


def gaussian_pair(mu: float) -> Pair:
    """Return the pair of N(μ, 1) and N(0, 1), the output distributions of a Gaussian mechanism on two neighbours.

    Both directions have the same profile. For μ = 0 the distributions are equal, and δ is 0.

    Args:
        mu: distance μ ≥ 0 of the means, in standard deviations of the noise.

    Returns:
        The pair, with its exact distribution of the privacy loss.
    """
    if not mu > 0:
        return Pair(ZeroProfile(), ZeroProfile(), gaussian_dp_mu=mu, law=GaussianLaw(mu))
    profile = GaussianProfile(mu)
    return Pair(profile, profile, gaussian_dp_mu=mu, law=GaussianLaw(mu))

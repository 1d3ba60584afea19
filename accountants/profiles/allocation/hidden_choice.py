"""Pairs of a contribution to a hidden one of m sets of outputs, by a union of tests of one set each.

Let A_i be a test of the outputs of set i. Let p = P_i(A_i) for the distribution P_i of outputs with the contribution in
set i, and q = Q(A_i) without it. With P the mean of the P_i and A the union of the A_i:

    P(A) ≥ p,   Q(A) ≤ m q,   hence E_γ(P‖Q) ≥ p − γ m q for every γ ≥ 0.

For the tests {L > x} of one set, with its profile δ, the largest line at γ = e^ε is δ(ε + log m). Lines w p − γ M q
with other factors w ≤ 1 and M are treated likewise (docs/random-allocation.md, Small noise).

The largest of these lines and of 1 − γ is a convex function of γ and at most E_γ(P‖Q) at every γ. So it belongs to a
pair that the outputs dominate, and its compositions are lower bounds. In this pair all outcomes outside the widest test
are one outcome. Its loss gives the reverse direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.special import LOG_ACCURACY, UNIT_ROUNDOFF, log_difference, log_normal_tail
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.attained_tails import attained_or_own_tails
from epsilond.accountants.profiles.gaussian import ZeroProfile, gaussian_pair

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_SHARES = (0.9, 0.5)
"""Approximate probabilities that no output is below −b, one for each b that tests of a replaced contribution use."""
_REST_ROUNDING = 1e-12
"""Amount by which the probabilities of the outcome outside the widest test are rounded outward."""


@dataclass(frozen=True)
class HiddenChoiceProfile(Profile):
    """A lower bound on the privacy profile of a contribution to a hidden one of m sets of outputs.

    It is the largest of the lines w p − γ M q with γ = e^ε. p and q are the probabilities of a test {L > x} of one set,
    for its privacy loss L and x ≥ 0. For a union of the tests of all sets w = 1 and M = m. The result is
    w δ(ε + log M − log w) for the profile δ of one set, where the argument is not negative. Elsewhere it is the line of
    the test {L > 0}.

    Attributes:
        base: privacy profile of the outputs of one known set.
        log_weight: lower bound on log w, at most 0.
        log_factor: upper bound on log M.
    """

    base: Profile
    log_weight: float
    log_factor: float

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the tails of the base pair, with the rounding of both factors."""
        return self.base.tail_accuracy + 8 * UNIT_ROUNDOFF

    def _base_epsilons(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on the arguments ε + log M − log w of the profile of one set.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            The arguments in nats, one for each ε.
        """
        value = np.asarray(epsilon, dtype=np.float64) + (self.log_factor - self.log_weight)
        sizes = np.abs(epsilon) + abs(self.log_factor) + abs(self.log_weight)
        # Rounded up by the errors of the sums.
        return np.asarray(value + 4 * UNIT_ROUNDOFF * sizes)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return lower bounds on log δ, each as both bounds of an enclosure.

        A contribution is in a hidden one of several sets of outputs. A test of one known set has the true positive rate
        p and the false positive rate q. Such tests of all sets together have rates of at least w p and at most M q. So
        δ(ε) is at least w δ₁(ε + log M − log w), with the δ₁ of one set. Where this argument is negative, the bound
        is w p − e^ε M q for the test {L > 0} of the privacy loss L of one set.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            The lower bounds. They are no upper bounds.
        """
        base_epsilon = self._base_epsilons(epsilon)
        shifted = self.base.log_delta(np.maximum(base_epsilon, 0.0)).lower

        # The line of the test {L > 0}, for a negative argument of the base profile.
        log_p, log_q = self._widest_test()
        with np.errstate(invalid="ignore"):
            log_scaled_q = np.minimum(base_epsilon, 0.0) + log_q
            line = log_difference(np.full_like(base_epsilon, log_p), np.minimum(log_scaled_q, log_p))

        log_delta = np.where(base_epsilon >= 0.0, shifted, line)
        # The factor w is rounded down: log w is negative.
        lower = np.minimum(log_delta + self.log_weight * (1.0 + 4 * UNIT_ROUNDOFF), 0.0)
        return Enclosure(lower, lower)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of the test that gives the lower bound on δ at each ε, under both distributions.

        They are log(w p) and log(M q). p and q are the probabilities of {L > x} under the two distributions of one set,
        with its privacy loss L. x is ε + log M − log w, but at least 0.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two arrays, one entry for each ε, each at most 0 up to `tail_accuracy`.
        """
        thresholds = np.maximum(self._base_epsilons(epsilon), 0.0)
        log_p, log_q = attained_or_own_tails(self.base, thresholds)
        return Tails(log_p + self.log_weight, np.minimum(log_q + self.log_factor, 0.0))

    def _widest_test(self) -> tuple[float, float]:
        """Return a lower bound on log p and an upper bound on log q of the test {L > 0} of one set."""
        log_p, log_q = attained_or_own_tails(self.base, np.zeros(1))
        return _outward(float(log_p[0]), float(log_q[0]), self.tail_accuracy)

    def reverse(self) -> Profile:
        """Return a lower bound on the privacy profile in the reverse direction, by one outcome with a positive loss.

        The test {L > 0} for the privacy loss L of one set, applied to all sets, has a probability of at least wp with
        the contribution and of at most Mq without it (`log_tails`). The outcome is outside this test. Its probabilities
        are 1 − wp and 1 − Mq, of which the former is rounded up and the latter down.

        Returns:
            The profile with one loss; the zero profile if the loss may be 0 or less.
        """
        tails = self.log_tails(np.zeros(1))
        log_p, log_q = _outward(float(tails.log_p[0]), float(tails.log_q[0]), self.tail_accuracy)
        rest_p = max(-math.expm1(log_p), 0.0) + _REST_ROUNDING
        rest_q = -math.expm1(min(log_q, 0.0)) - _REST_ROUNDING
        if not rest_q > rest_p:
            return ZeroProfile()
        # The loss is rounded down by the errors of the quotient and of the logarithm.
        rounding = 16 * UNIT_ROUNDOFF
        loss = math.log(rest_q / rest_p) * (1.0 - rounding) - rounding
        if not loss > 0.0:
            return ZeroProfile()
        return AtomicProfile((loss,), (math.log(rest_q) - rounding,))


def _outward(log_p: float, log_q: float, accuracy: float) -> tuple[float, float]:
    """Return a lower bound on log p and an upper bound on log q, at most 0, from computed values.

    Args:
        log_p: log p, natural logarithm, up to the accuracy.
        log_q: log q, natural logarithm, up to the accuracy.
        accuracy: bound on the error of each, per unit of 1 + its size.

    Returns:
        log p, rounded down, and log q, rounded up.
    """
    return log_p - accuracy * (1.0 + abs(log_p)), min(log_q + accuracy * (1.0 + abs(log_q)), 0.0)


def hidden_choice_pair(base: Pair, log_factor: float, log_weight: float = 0.0) -> Pair:
    """Return a pair for lower bounds on δ of a contribution that is in one of m sets of outputs, a hidden one.

    An attacker may test each set, and accept if any test accepts. Compared with a known set, this multiplies the false
    positive rate by at most M, and the true positive rate by at least w.

    Args:
        base: pair of the outputs of one set, which the mechanism attains if the set is known.
        log_factor: upper bound on log M, the factor of false positive rates; log m for a union of tests of all sets.
        log_weight: lower bound on log w, the factor of true positive rates, at most 0.

    Returns:
        The pair of two directions. Its δ is at most that of the mechanism at every ε.
    """
    forward = HiddenChoiceProfile(base.forward, log_weight, log_factor)
    return Pair(forward, forward.reverse(), below=base)


def log_choices(steps: int, times_chosen: int, allocations: int) -> float:
    """Return an upper bound on the log of the number of possible sets of batches.

    The number is C(t, k)^r for r independent choices of k batches of t. It is computed from log Γ. Each value of log Γ
    has a relative error of some units of roundoff.

    Args:
        steps: number t of batches.
        times_chosen: number k of chosen batches.
        allocations: number r of allocations.

    Returns:
        Natural logarithm of the number of sets, rounded up.
    """
    log_factorials = [math.lgamma(number + 1.0) for number in (steps, times_chosen, steps - times_chosen)]
    log_all, log_chosen, log_unchosen = log_factorials
    # The error of three values of log Γ.
    rounding = 16 * UNIT_ROUNDOFF * (1.0 + math.fsum(log_factorials))
    log_binomial = log_all - log_chosen - log_unchosen + rounding
    # Rounded up: relative error of the product.
    return allocations * max(log_binomial, 0.0) * (1.0 + 4 * UNIT_ROUNDOFF)


def replaced_choice_pairs(shift: float, steps: int, times_chosen: int, allocations: int) -> list[Pair]:
    """Return pairs for lower bounds on δ of replacing a contribution by its opposite in hidden batches.

    The noise is Gaussian, and the contribution is in k of t batches, in each of r allocations. So K = k r of N = t r
    outputs have it. An attacker tests each possible set of K outputs: their sum must be large, and no output at all may
    be below −b, for a bound b. Compared with the test of a known set, the true positive rate is multiplied by at least
    w, and the false positive rate by at most M. With the distribution function Φ of the noise and the shift c:

        w = Φ(b + c)^K Φ(b)^(N − K),   M = C(t, k)^r (Φ(b − c)/Φ(b))^K.

    Proof: docs/random-allocation.md, Small noise.

    Args:
        shift: c > 0, norm of each of the two contributions, in standard deviations of the noise.
        steps: number t of batches.
        times_chosen: number k < t of batches with the contribution.
        allocations: number r of independent allocations.

    Returns:
        A pair for each b that is tried.
    """
    chosen, unchosen = times_chosen * allocations, (steps - times_chosen) * allocations
    # Rounded down by more than the error of the square root and the product.
    base = gaussian_pair(math.sqrt(chosen) * shift * (1.0 - 8 * UNIT_ROUNDOFF))
    pairs = []
    for share in _SHARES:
        below = _quantile(-math.log(share) / (chosen + unchosen))  # b
        log_far = _log_normal(below)
        log_far_shifted = _log_normal(below - shift)
        log_weight = chosen * _log_normal(below + shift) + unchosen * log_far
        log_ratio = log_far_shifted - log_far

        # A bound on the rounding errors of both factors.
        sizes = (chosen + unchosen) * (abs(log_far) + abs(log_far_shifted) + 1e-300)
        slack = 16 * LOG_ACCURACY * (1.0 + shift + below) * (1.0 + sizes)
        log_factor = log_choices(steps, times_chosen, allocations) + chosen * log_ratio + slack
        pairs.append(hidden_choice_pair(base, log_factor, min(log_weight - slack, 0.0)))
    return pairs


def _log_normal(x: float) -> float:
    """Return log Φ(x) of the normal distribution function, accurately also where Φ is close to 1.

    Args:
        x: a point on the line, in standard deviations.

    Returns:
        The natural logarithm of Φ(x).
    """
    log_tail = float(log_normal_tail(np.asarray([abs(x)]))[0])
    if x > 0.0:
        return math.log1p(-math.exp(log_tail))
    return log_tail


def _quantile(log_loss: float) -> float:
    """Find the b ≥ 0 with −log Φ(b) about a given number by bisection, for the normal distribution function Φ.

    Every b gives a valid test, so that the result need not be exact.

    Args:
        log_loss: the given number, positive.

    Returns:
        b, in standard deviations.
    """
    low, high = 0.0, 38.0  # a normal tail at 38 is below 1e-315
    for _ in range(40):
        middle = 0.5 * (low + high)
        if -_log_normal(middle) > log_loss:
            low = middle
        else:
            high = middle
    return high

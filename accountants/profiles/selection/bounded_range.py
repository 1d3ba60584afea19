"""The profile of ε-bounded-range mechanisms: losses within an interval of length ε, such as the exponential mechanism.

At every ε' in [−ε, ε] the largest δ of such a mechanism is (1 − e^{(ε' − ε)/2})²/(1 − e^{−ε}). This function of e^ε' is
convex, so it is the profile of a pair. The loss of the pair has a density on [−ε, ε], ∝ e^{x/2} under P and ∝ e^{−x/2}
under Q. Its tails are:

    P(L > ε') = (1 − e^{(ε' − ε)/2})/(1 − e^{−ε}),   Q(L > ε') = e^{−(ε + ε')/2} P(L > ε').

Source: docs/selection.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.finite_law import FiniteLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile, RootSearch
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_one_minus_exp
from epsilond.accountants.profiles.atoms import AtomicProfile

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ACCURACY = 32 * UNIT_ROUNDOFF
"""Bound on the error of a logarithm, per unit of 1 + |logarithm|."""


@dataclass(frozen=True)
class BoundedRangeProfile(Profile):
    """The largest privacy profile of mechanisms with privacy losses in an interval of length ε.

    The exponential mechanism is one of them. The profile is δ(ε') = (1 − e^{(ε' − ε)/2})²/(1 − e^{−ε}) in either
    direction.

    Guarantees: `log_delta` encloses log δ(ε'), and is exactly −∞ from ε' = ε on.

    Attributes:
        loss_width: ε, the length of the interval of losses, in nats.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
        tail_accuracy: bound on the error of a log tail, per unit of 1 + |log tail|.
    """

    root_search: ClassVar[RootSearch] = "sweep"

    loss_width: float
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = ACCURACY

    @property
    def lossy(self) -> bool:
        """True: δ at ε' = 0 is tanh(ε/4)."""
        return True

    @property
    def supremum(self) -> float:
        """Largest loss ε, in nats."""
        return self.loss_width

    def _log_tail(self, epsilon: FloatArray) -> FloatArray:
        """Return log P(L > ε'), the log of (1 − e^{(ε' − ε)/2})/(1 − e^{−ε}), without cancellation for small ε."""
        tail = np.expm1(0.5 * np.minimum(epsilon - self.loss_width, 0.0)) / math.expm1(-self.loss_width)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(tail))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε'), the privacy profile at each ε'.

        It is the sum of log P(L > ε') and log(1 − e^{(ε' − ε)/2}). The privacy loss L lies in an interval of length ε
        (`loss_width`).

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, one for each ε'; −∞ from ε on.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        log_factor = log_one_minus_exp(0.5 * (points - self.loss_width))
        return Enclosure.around(self._log_tail(points) + log_factor, ACCURACY)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss above x under both distributions P and Q, for several x.

        The losses are in an interval of length ε. Their density gives Q(L > x) = e^{−(ε + x)/2} P(L > x).

        Args:
            epsilon: array of x ≥ 0, in nats.

        Returns:
            log P(L > x) and log Q(L > x) for each x; −∞ from x = ε on.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        log_p = self._log_tail(points)
        return Tails(np.minimum(log_p, 0.0), log_p - 0.5 * (self.loss_width + points))


def bounded_range_pair(epsilon: float) -> Pair:
    """Return the symmetric pair that dominates every mechanism with privacy losses in an interval of length ε [nat]."""
    profile = BoundedRangeProfile(epsilon)
    return Pair(profile, profile)


def two_outcome_pair(
    losses: tuple[float, float], log_first: tuple[float, float], log_second: tuple[float, float]
) -> Pair:
    """Return the pair of two distributions on two outcomes.

    The losses are separate arguments, because differences of logarithms would lose digits.

    Args:
        losses: privacy loss of each outcome, the log ratio of its two probabilities, increasing, in nats.
        log_first: log probabilities of the outcomes under the first distribution.
        log_second: log probabilities of the outcomes under the second distribution.

    Returns:
        The pair, with the privacy profiles of both directions and the list of its outcomes.
    """
    least_loss, largest_loss = losses
    forward = AtomicProfile(losses, log_first, mass_accuracy=ACCURACY)
    # In the reverse direction, the losses have the other sign and the opposite order.
    backward = AtomicProfile((-largest_loss, -least_loss), log_second[::-1], mass_accuracy=ACCURACY)
    return Pair(forward, backward, atoms=FiniteLaw(losses, log_first, log_second, accuracy=ACCURACY))


def largest_loss_pair(epsilon: float, share: float) -> Pair:
    """Return two output distributions of an exponential mechanism with two candidates, for lower bounds on δ.

    The candidates have the privacy losses (1 − s) ε and −s ε. The one with the positive loss has the probability
    (1 − e^{−sε})/(1 − e^{−ε}) under the first distribution. The weights of the candidates are fixed such that this
    holds, and the scores of the two candidates change by 1 in opposite directions.

    Args:
        epsilon: ε, the length of the interval of losses, in nats.
        share: s in (0, 1), a power of one half, so that s ε is exact.

    Returns:
        The pair of the two candidates' probabilities on two neighbours.
    """
    fall = share * epsilon  # the size of the negative loss

    # The logarithms of 1 − e^{−ε}, 1 − e^{−sε} and 1 − e^{−(1−s)ε}.
    log_whole = math.log(-math.expm1(-epsilon))
    log_fall = math.log(-math.expm1(-fall))
    log_rise = math.log(-math.expm1(fall - epsilon))

    # Log probabilities of the negative and of the positive loss; their differences are the losses.
    log_first = (log_rise - fall - log_whole, log_fall - log_whole)
    log_second = (log_rise - log_whole, log_fall - (epsilon - fall) - log_whole)
    return two_outcome_pair((-fall, epsilon - fall), log_first, log_second)

"""Profiles of pairs that are met with some probability only, as when the draw of a batch is public."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import thin_plateau
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.profiles.sampling.inclusion import NUDGE

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class ThinnedProfile(Profile):
    """The privacy profile q δ(ε) of a mechanism that runs with probability q only.

    The observer may see whether it ran. If it does not run, the outputs on two neighbours are equal, and the privacy
    loss is zero. All other losses keep their size, and only their probabilities are multiplied by q.

    Attributes:
        base: profile δ of the mechanism, if it runs.
        rate: probability q that the mechanism runs, in (0, 1].
    """

    base: Profile
    rate: float

    @property
    def log_infinite_mass(self) -> float:
        """Log of the probability of an infinite privacy loss: log q plus that of the mechanism, if it runs."""
        return self.base.log_infinite_mass + math.log(self.rate)

    @property
    def lossy(self) -> bool:
        """True if δ at ε = 0 is known to be above 0 without an evaluation."""
        return self.base.lossy

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|, with the rounding of log q."""
        return self.base.tail_accuracy + NUDGE

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(q δ(ε)) at each ε.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds, widened by the rounding of log q.
        """
        lower, upper = self.base.log_delta(epsilon)
        log_rate = math.log(self.rate)
        slack = NUDGE * (1.0 + abs(log_rate))
        return Enclosure(lower + log_rate - slack, np.minimum(upper + log_rate + slack, 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss above ε under both distributions.

        They are those of the mechanism, if it runs, plus log q.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε.
        """
        return self._scale(self.base.log_tails(epsilon))

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return log tails of the privacy loss of a pair that the mechanism attains, for lower bounds on δ.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε; None if those of `log_tails` are attained.
        """
        tails = self.base.attained_log_tails(epsilon)
        return None if tails is None else self._scale(tails)

    def _scale(self, tails: Tails) -> Tails:
        """Return log tails of the mechanism, if it runs, with log q added to each."""
        log_rate = math.log(self.rate)
        return Tails(tails.log_p + log_rate, tails.log_q + log_rate)


def thin(base: Pair, rate: float) -> Pair:
    """Return the pair of a mechanism that runs with probability q only, where the observer sees whether it ran.

    Its δ at every ε is q times that of the mechanism. If the mechanism has an (ε₀, δ₀) guarantee that holds for all
    ε ≥ ε₀ (a plateau), the result has (ε₀, qδ₀). The mechanism itself dominates the result, so its large losses can
    serve as bounds (`below`).

    Args:
        base: the pair of the mechanism, if it runs.
        rate: probability q, in (0, 1].

    Returns:
        The pair; the given one for q = 1.
    """
    if rate == 1.0:
        return base
    forward = ThinnedProfile(base.forward, rate)
    backward = forward if base.symmetric else ThinnedProfile(base.backward, rate)
    return with_plateau(Pair(forward, backward, below=base), thin_plateau(base.plateau, Fraction(rate)))

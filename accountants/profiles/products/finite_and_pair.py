"""The product of finitely many losses and any other pair: a weighted sum of the other pair's shifted profile.

Suppose that the loss of one part takes the values l_i with masses p_i under its first distribution, and the value ∞
with the remaining mass p_∞. Let (P, Q) be the other part, with E(x) = E_{e^x}(P‖Q) at any real x. Then:

    δ(ε) = p_∞ + Σ p_i E(ε − l_i),   E(x) = 1 − e^x + e^x E_{e^{−x}}(Q‖P) for x < 0.

*Proof.* Let q_i = p_i e^{−l_i}. An outcome of infinite loss is impossible under the second distribution, so its whole
mass counts. On an outcome of loss l_i, p_i P − γ q_i Q = p_i (P − γ e^{−l_i} Q). The integral of its positive part is
p_i E(ε − l_i). Outcomes that are impossible under the first distribution add nothing. ∎ All terms are positive, so that
no cancellation occurs. The other part keeps the accuracy of its own engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from epsilond.accountants.curve.enclosure import Interval, Tails
from epsilond.accountants.curve.profile import PointwiseProfile, RootSearch
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp_at, log_sum

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True, eq=False)
class FiniteAndPairProfile(PointwiseProfile):
    """The privacy profile of a composition of a mechanism with finitely many losses and any other mechanism.

    With the privacy losses l_i of probability p_i of the finite part, and its infinite loss of probability p_∞, it is:

        δ(ε) = p_∞ + Σ p_i E(ε − l_i).

    E is the profile of the other part in the same direction, continued to negative ε.

    Attributes:
        losses: the losses l_i of the finite part in nats, increasing, each within `loss_error`.
        log_masses: log p_i, natural logarithms, each within `log_error`.
        log_infinite: upper bound on log p_∞, within `log_error`; −∞ if no loss is infinite.
        loss_error: bound on the error of each loss, in nats.
        log_error: bound on the error of each log probability, per unit of 1 + |log probability|.
        forward: profile of the other part in this direction.
        backward: profile of the other part in the opposite direction.
        lattice: function that computes the same profile on a lattice, a grid of losses. It gives the tails of the loss.
    """

    root_search: ClassVar[RootSearch] = "spare"

    losses: FloatArray
    log_masses: FloatArray
    log_infinite: float
    loss_error: float
    log_error: float
    forward: Profile
    backward: Profile
    lattice: Callable[[], Profile]

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of the composition at one ε.

        δ(ε) is p_∞ + Σ p_i E(ε − l_i), with the losses l_i and probabilities p_i of the finite part. E is δ of the
        other part, and p_∞ the probability of an infinite loss. E decreases. It is therefore evaluated at ε − l_i plus
        an error for the lower bound, and minus this error for the upper bound.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ.
        """
        largest_loss = float(max(abs(self.losses[0]), abs(self.losses[-1])))
        # The error of a loss, and the rounding of the difference ε − l_i.
        shift = self.loss_error + 8 * UNIT_ROUNDOFF * (epsilon + largest_loss)

        # Start the sums with log p_∞. Its upper bound exceeds it by at most twice its error.
        log_lower, log_upper = -math.inf, self.log_infinite
        if self.log_infinite > -math.inf:
            log_lower = self.log_infinite - 2.0 * self._slack(self.log_infinite)

        for loss, log_mass in zip(self.losses.tolist(), self.log_masses.tolist(), strict=True):
            bounds = self._shifted_bounds(epsilon - loss, shift)
            log_lower = log_sum(log_lower, log_mass + bounds.lower)
            log_upper = log_sum(log_upper, log_mass + bounds.upper)
        return Interval(log_lower - self._slack(log_lower), min(log_upper + self._slack(log_upper), 0.0))

    def _slack(self, log_value: float) -> float:
        """Return a bound on the error of the log of a sum over all losses; 0 for log 0, which is exact."""
        if log_value == -math.inf:
            return 0.0
        relative_error = self.log_error + 4 * UNIT_ROUNDOFF * (self.losses.size + 8)
        return relative_error * (1.0 + abs(log_value))

    def _shifted_bounds(self, x: float, shift: float) -> Interval:
        """Return bounds on log E of the other part that hold at every real number within `shift` of x."""
        return Interval(self._at(x + shift).lower, self._at(x - shift).upper)

    def _at(self, x: float) -> Interval:
        """Enclose log E(x), where E(x) is δ of the other part of the composition at ε = x, of any sign.

        For x < 0 the δ in the opposite direction, E', is used: E(x) = 1 − e^x + e^x E'(−x).

        Args:
            x: ε in nats, of any sign.

        Returns:
            Lower and upper bound on log E(x).
        """
        if x >= 0.0:
            return self.forward.log_delta_bounds(x)
        backward = self.backward.log_delta_bounds(-x)
        log_gap = log1m_exp_at(x)  # log(1 − e^x)
        lower = log_sum(log_gap, x + backward.lower)
        upper = log_sum(log_gap, x + backward.upper)
        # Rounding of the sum of two exponentials.
        rounding = 8 * UNIT_ROUNDOFF * (1.0 + abs(upper))
        return Interval(lower - rounding, min(upper + rounding, 0.0))

    @cached_property
    def _lattice(self) -> Profile:
        """The profile of the composition on a lattice, computed on first use."""
        return self.lattice()

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log-probability of an infinite loss."""
        return self._lattice.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail of the lattice, per unit of 1 + |log tail|."""
        return self._lattice.tail_accuracy

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the loss on the lattice, which dominates the composition."""
        return self._lattice.log_tails(epsilon)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the attained log tails of the composition on the lattice, for lower bounds on δ of products."""
        return self._lattice.attained_log_tails(epsilon)

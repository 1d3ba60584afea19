"""Pairs of distributions with finitely many outcomes, which enumeration composes.

An outcome has the mass p under the first distribution and q under the second. Its loss is log p − log q. It is stored
next to both masses, because their difference would lose digits if the loss is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

_LARGEST_LOSS = 600.0
"""Largest loss in nats of which a mixture is computed; its exponential is far below the largest double."""


@dataclass(frozen=True)
class FiniteLaw:
    """An ordered pair of distributions (P, Q) on finitely many outcomes, all of which are listed.

    An outcome has the probability p under P and q under Q. Its privacy loss is log p − log q.

    Attributes:
        losses: privacy loss of each outcome that both distributions can give, finite, within a relative `accuracy`.
        log_first: log p of these outcomes, within `accuracy` per unit of 1 + |log p|.
        log_second: log q of these outcomes, within `accuracy` per unit of 1 + |log q|.
        log_infinite: upper bound on the log probability under P of the outcomes that Q cannot give, within `accuracy`;
            −∞ if there are none.
        log_missing: upper bound on the log probability under Q of the outcomes that P cannot give, within `accuracy`;
            −∞ if there are none.
        accuracy: bound on the errors above.
    """

    losses: tuple[float, ...]
    log_first: tuple[float, ...]
    log_second: tuple[float, ...]
    log_infinite: float = -math.inf
    log_missing: float = -math.inf
    accuracy: float = 8 * UNIT_ROUNDOFF

    def reverse(self) -> FiniteLaw:
        """Return the pair in the other direction."""
        losses = tuple(-loss for loss in self.losses)
        return FiniteLaw(
            losses, self.log_second, self.log_first, self.log_missing, self.log_infinite, accuracy=self.accuracy
        )

    def mix(self, rate: float, absent: float) -> FiniteLaw | None:
        """Return the pair under Poisson sampling with the inclusion probability q.

        The pair is (1 − q) Q + q P against Q. A privacy loss l becomes log(1 − q + q e^l). The outcomes that P cannot
        give become an outcome of loss log(1 − q).

        Args:
            rate: q, 0 < q < 1, rounded once.
            absent: 1 − q, rounded once.

        Returns:
            The pair; None if a loss is beyond ±600, where exponentials could overflow.
        """
        if max(map(abs, self.losses), default=0.0) > _LARGEST_LOSS:
            return None

        log_rate = math.log(rate)
        losses = [_mixed_loss(loss, rate, absent) for loss in self.losses]
        errors = [
            self._mixed_error(loss, mixed, rate, log_rate) for loss, mixed in zip(self.losses, losses, strict=True)
        ]
        # Outcomes that P cannot give have the loss log(1 − q) in the mixture.
        log_second = list(self.log_second)
        if math.isfinite(self.log_missing):
            losses.append(math.log1p(-rate) if rate < 0.5 else math.log(absent))
            log_second.append(self.log_missing)

        # The log probability under the mixture is the new loss plus the log probability under Q.
        log_first = [loss + log_mass for loss, log_mass in zip(losses, log_second, strict=True)]
        accuracy = self._mixture_accuracy(max([self.accuracy, *errors]), losses, log_first, log_second)
        log_infinite = self.log_infinite + log_rate
        return FiniteLaw(tuple(losses), tuple(log_first), tuple(log_second), log_infinite, accuracy=accuracy)

    def _mixture_accuracy(
        self, loss_accuracy: float, losses: list[float], log_first: list[float], log_second: list[float]
    ) -> float:
        """Return a bound on the relative errors of the losses and log probabilities of a mixture.

        The mixture is (1 − q) Q + q P. The log probability of an outcome under the mixture is its loss plus its
        log probability under Q. An error of a log probability x is relative to 1 + |x|.

        Args:
            loss_accuracy: bound on the relative errors of the losses.
            losses: privacy losses of the mixture, in nats.
            log_first: sums of each loss and the log probability under Q.
            log_second: log probabilities under Q.

        Returns:
            The larger one of both kinds of relative errors.
        """
        accuracy = loss_accuracy
        for loss, log_sum, log_mass in zip(losses, log_first, log_second, strict=True):
            # The absolute error of the sum of a loss and a log probability.
            error = loss_accuracy * abs(loss) + (self.accuracy + 2 * UNIT_ROUNDOFF) * (1.0 + abs(log_mass))
            accuracy = max(accuracy, error / (1.0 + abs(log_sum)) + 2 * UNIT_ROUNDOFF)
        return accuracy + 4 * UNIT_ROUNDOFF  # with the rounding of these bounds

    def _mixed_error(self, loss: float, mixed: float, rate: float, log_rate: float) -> float:
        """Return a bound on the relative error of a mixed loss log(1 − q + q e^l).

        The derivative in l is q e^l/(1 − q + q e^l). `_mixed_loss` itself errs by 16 units of roundoff. For l < 0 and
        q > 1/2 it adds l to a logarithm, which adds an error of 8 units of |l|.

        Args:
            loss: the loss l, within a relative `accuracy`.
            mixed: the mixed loss, from `_mixed_loss`.
            rate: q.
            log_rate: log q.

        Returns:
            The relative error of the mixed loss.
        """
        rounding = 16 * UNIT_ROUNDOFF
        if mixed == 0.0:
            return rounding
        derivative = math.exp(min(log_rate + loss - mixed, 0.0))
        adds_loss = loss < 0.0 and rate > 0.5
        added = 8 * UNIT_ROUNDOFF if adds_loss else 0.0
        # The factor 1.01 exceeds the errors of second order.
        return abs(loss) * (1.01 * self.accuracy * derivative + added) / abs(mixed) + rounding


def _mixed_loss(loss: float, rate: float, absent: float) -> float:
    """Return the privacy loss of an outcome under Poisson sampling, without loss of digits.

    A loss l becomes log(1 − q + q e^l). Three formulas are used, each where it keeps its digits.

    Args:
        loss: l, the privacy loss of an outcome without sampling, in nats.
        rate: inclusion probability q.
        absent: 1 − q, computed separately so that it keeps its digits.

    Returns:
        log(1 − q + q e^l), the privacy loss in nats.
    """
    if loss >= 0.0 or rate <= 0.5:
        return math.log1p(rate * math.expm1(loss))
    # For a negative loss and a large q, the argument above may be near −1, and this form keeps the digits.
    if loss > -30.0:
        return loss + math.log1p(absent * math.expm1(-loss))
    # For a very negative loss, the exponential above would be large. The sum of two positive terms keeps its digits.
    return math.log(absent + rate * math.exp(loss))

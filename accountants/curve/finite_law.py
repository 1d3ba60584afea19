"""Laws of a privacy loss with finitely many values, known exactly: what enumeration composes.

Outcomes have masses p under the first law and q under the second; the loss of each is log p − log q, kept beside both
masses because their difference would lose its digits where the loss is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

_LARGEST_LOSS = 600.0


@dataclass(frozen=True)
class FiniteLaw:
    """An ordered pair of laws (P, Q) over finitely many outcomes, all of them: the masses sum to one.

    Attributes:
        losses: log p − log q of each outcome that both laws can give, finite, within a relative `accuracy`.
        log_first: log p, within `accuracy` per unit of 1 + |log p|.
        log_second: log q, likewise.
        log_infinite: log P of what Q cannot give, an upper bound within `accuracy`; −inf if there is none.
        log_missing: log Q of what P cannot give, likewise.
        accuracy: bound of the errors above.
    """

    losses: tuple[float, ...]
    log_first: tuple[float, ...]
    log_second: tuple[float, ...]
    log_infinite: float = -math.inf
    log_missing: float = -math.inf
    accuracy: float = 8 * UNIT_ROUNDOFF

    def reversed(self) -> FiniteLaw:
        """The pair in the other order."""
        losses = tuple(-loss for loss in self.losses)
        return FiniteLaw(
            losses, self.log_second, self.log_first, self.log_missing, self.log_infinite, accuracy=self.accuracy
        )

    def mixed(self, rate: float, absent: float) -> FiniteLaw | None:
        """(1 − q) Q + q P against Q, for 0 < q < 1 and its complement, each rounded once; None for losses beyond 600.

        What P cannot give becomes an outcome of loss log(1 − q). Of log(1 − q + q e^l) the slope in l is q e^l over its
        argument, and its form is good to 16 units and, where it adds l to a logarithm, 8 units of l.
        """
        if max(map(abs, self.losses), default=0.0) > _LARGEST_LOSS:
            return None
        log_rate, worst = math.log(rate), self.accuracy
        losses, first, second = [], [], list(self.log_second)
        for loss in self.losses:
            mixed = _mixed_loss(loss, rate, absent)
            slope = math.exp(min(log_rate + loss - mixed, 0.0))
            added = 8 * UNIT_ROUNDOFF if loss < 0.0 and rate > 0.5 else 0.0
            error = abs(loss) * (1.01 * self.accuracy * slope + added) / abs(mixed) if mixed != 0.0 else 0.0
            worst = max(worst, error + 16 * UNIT_ROUNDOFF)
            losses.append(mixed)
        if math.isfinite(self.log_missing):
            losses.append(math.log1p(-rate) if rate < 0.5 else math.log(absent))
            second.append(self.log_missing)
        accuracy = worst
        for loss, mass in zip(losses, second, strict=True):
            first.append(loss + mass)
            error = worst * abs(loss) + (self.accuracy + 2 * UNIT_ROUNDOFF) * (1.0 + abs(mass))
            accuracy = max(accuracy, error / (1.0 + abs(first[-1])) + 2 * UNIT_ROUNDOFF)
        log_infinite = self.log_infinite + log_rate
        accuracy += 4 * UNIT_ROUNDOFF
        return FiniteLaw(tuple(losses), tuple(first), tuple(second), log_infinite, accuracy=accuracy)


def _mixed_loss(loss: float, rate: float, absent: float) -> float:
    """log(1 − q + q e^l), in the form that keeps its digits."""
    if loss >= 0.0 or rate <= 0.5:
        return math.log1p(rate * math.expm1(loss))
    if loss > -30.0:
        return loss + math.log1p(absent * math.expm1(-loss))
    return math.log(absent + rate * math.exp(loss))

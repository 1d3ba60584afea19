"""Coordinates in which a search for noise is nearly straight; they decide no answer.

log δ is far from a straight line in the noise. By the central limit of composition δ is read as the μ that has it at
the target ε, and noise as the μ that the central limit gives it: then one log μ is nearly a straight line in the other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from epsilond.accountants.numerics.root_search import bisect_reals

_LEAST_SQUARE = 1e-6
"""From here down drawing at random is as good as none."""
_HALVINGS = 60
"""Bisections for s², which leave the last digit of a double."""
_MOST_EXPONENT = 700.0


class Chart(NamedTuple):
    """log 1/μ, but for a constant, of noise whose share of the sensitivity is s at `start`: μ ∝ √(e^{s²} − 1).

    `square` is s² there, 0 where nothing is drawn at random.
    """

    start: float = 0.0
    square: float = 0.0

    @classmethod
    def of_fall(cls, start: float, fall: float) -> Chart:
        """The chart in which log μ falls by `fall` for each e-fold of noise at the start: s²/(1 − e^{−s²})."""

        def too_small(square: float) -> bool:
            """Tell whether s² is below the root of s² = (1 − e^{−s²}) · fall."""
            return square < -math.expm1(-square) * fall

        square, _ = bisect_reals(too_small, 0.0, max(fall, 1.0), steps=_HALVINGS)
        return cls(start, square) if square > _LEAST_SQUARE else cls()

    def _square_at(self, log_noise: float) -> float:
        return self.square * math.exp(min(-2.0 * (log_noise - self.start), _MOST_EXPONENT))

    def of(self, log_noise: float) -> float:
        """The coordinate of a noise, by its logarithm."""
        if not self.square:
            return log_noise
        square = self._square_at(log_noise)
        return -0.5 * (square + math.log(-math.expm1(-square)))

    def back(self, place: float) -> float:
        """The logarithm of the noise at a coordinate."""
        if not self.square:
            return place
        square = -2.0 * place if place < -350.0 else math.log1p(math.exp(-2.0 * place))
        return self.start - 0.5 * math.log(max(square, 1e-300) / self.square)

    def fall(self, log_noise: float) -> float:
        """By how much the coordinate rises with the logarithm of the noise."""
        square = self._square_at(log_noise) if self.square else 0.0
        return square / -math.expm1(-square) if square else 1.0

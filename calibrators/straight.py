"""Coordinates in which a search for noise is nearly straight: nothing here is certified, and it decides no answer.

By the central limit of composition a run is about μ-Gaussian differentially private. So δ is read as the μ that has it
at the target ε, and noise as the μ that the central limit gives it: log μ of the one is nearly a straight line in log μ
of the other, where log δ is none in the noise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import erfcx

_STEPS, _SMOOTH, _LONGEST, _EXACT = 120, 10, 2.0, 1e-14
"""Steps in all, those before every other one halves the bracket, and the longest."""
_LEAST_SQUARE = 1e-6
"""From here down drawing at random is as good as none."""
_MOST_EXPONENT = 700.0


def central_log_delta(epsilon: float, mu: float) -> float:
    """About log δ at ε of μ-Gaussian differential privacy (Balle and Wang 2018, Theorem 8), below 0."""
    far = epsilon / mu - 0.5 * mu
    near = 0.5 * float(erfcx((far + mu) * math.sqrt(0.5)))
    if far < 0.0:  # then 1 − δ keeps its digits
        rest = 0.5 * math.erfc(-far * math.sqrt(0.5)) + near * math.exp(-0.5 * far * far)
        return min(math.log1p(-min(rest, 1.0 - 1e-16)), -1e-300)
    tails = 0.5 * float(erfcx(far * math.sqrt(0.5))) - near
    return math.log(max(tails, 1e-300)) - 0.5 * far * far


def central_log_mu(epsilon: float, log_delta: float, start: float) -> float:
    """About the log μ at which log δ(ε) is as given, below 0: from a start, by secant steps on log |log δ|.

    That falls, and a step that leaves the bracket is halved into it: for huge ε, log δ all but jumps where the mean
    loss passes ε.
    """
    wanted = math.log(-log_delta)

    def excess(log_mu: float) -> float:
        return math.log(-central_log_delta(epsilon, math.exp(log_mu))) - wanted

    low, high = -math.inf, math.inf
    before, value_before, here = math.nan, math.nan, start
    for attempt in range(_STEPS):
        value = excess(here)
        if abs(value) <= _EXACT * (1.0 + abs(wanted)) or here in (low, high):
            break
        low, high = (here, high) if value > 0.0 else (low, here)
        change = value - value_before
        step = -value * (here - before) / change if change else 0.5 * value  # NaN at first
        if math.isnan(step):
            step = 0.5 * value
        before, value_before = here, value
        here += min(max(step, -_LONGEST), _LONGEST)
        halved = attempt >= _SMOOTH and attempt % 2 == 0
        if (halved or not low < here < high) and math.isfinite(high - low):
            here = 0.5 * (low + high)
    return here


class Chart(NamedTuple):
    """log 1/μ, but for a constant, of noise whose share of the sensitivity is s at `start`: μ ∝ √(e^{s²} − 1).

    `square` is s² there, 0 where nothing is drawn at random.
    """

    start: float = 0.0
    square: float = 0.0

    @classmethod
    def of_fall(cls, start: float, fall: float) -> Chart:
        """The chart in which log μ falls by `fall` for each e-fold of noise at the start: s²/(1 − e^{−s²})."""
        low, high = 0.0, max(fall, 1.0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if middle < -math.expm1(-middle) * fall else (low, middle)
        return cls(start, low) if low > _LEAST_SQUARE else cls()

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

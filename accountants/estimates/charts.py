"""A change of variable after which a search for noise is nearly linear. It affects only the speed of the search."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from epsilond.accountants.numerics.root_search import bisect_reals

_LEAST_SQUARE = 1e-6
"""Value of s² below which random sampling has nearly no effect."""
_CHART_HALVINGS = 60
"""Number of bisections for s², which give about the accuracy of a double."""
_MOST_EXPONENT = 700.0
"""Largest exponent of a ratio of squared noises; its exponential is a double."""


class Chart(NamedTuple):
    """A transformation of log noise, after which a search for noise is nearly linear. It affects only the speed.

    The search represents δ by the μ of Gaussian differential privacy with this δ at the target ε. By the central limit
    theorem, a noise has μ ∝ √(e^{s²} − 1), where s is the sensitivity divided by the noise. The coordinate of the noise
    is log 1/μ, up to a constant. Without random sampling it is log noise.

    Attributes:
        start: logarithm of a reference noise.
        square: s² at the reference noise; 0 without random sampling.
    """

    start: float = 0.0
    square: float = 0.0

    @classmethod
    def of_fall(cls, start: float, fall: float) -> Chart:
        """Return the chart in which log μ decreases at a given rate in log noise at a reference noise.

        The rate is s²/(1 − e^{−s²}), which is solved for s² by bisection.

        Args:
            start: logarithm of the reference noise.
            fall: the rate −d log μ/d log noise, at least 1. It is 1 without random sampling.

        Returns:
            The chart. If s² is negligible, it is the chart without random sampling.
        """
        too_small = functools.partial(_is_below_square, fall=fall)
        square, _ = bisect_reals(too_small, 0.0, max(fall, 1.0), steps=_CHART_HALVINGS)
        if square <= _LEAST_SQUARE:
            return cls()
        return cls(start, square)

    def _square_at(self, log_noise: float) -> float:
        """Return s², the squared ratio of sensitivity and noise, at a noise with this natural logarithm."""
        log_ratio = -2.0 * (log_noise - self.start)
        return self.square * math.exp(min(log_ratio, _MOST_EXPONENT))

    def of(self, log_noise: float) -> float:
        """Return the coordinate −½ log(e^{s²} − 1) of a noise, or its logarithm without random sampling.

        Args:
            log_noise: natural logarithm of the noise.

        Returns:
            The coordinate, a real number that increases with the noise.
        """
        if not self.square:
            return log_noise
        square = self._square_at(log_noise)
        return -0.5 * (square + math.log(-math.expm1(-square)))

    def back(self, coordinate: float) -> float:
        """Return the natural logarithm of the noise with a given coordinate.

        With random sampling, the coordinate is c = −½ log(e^{s²} − 1), where s is the sensitivity divided by the noise.
        So s² = log(1 + e^{−2c}). Without random sampling, the coordinate is the logarithm itself.

        Args:
            coordinate: any real number c.
        """
        has_random_sampling = bool(self.square)
        if not has_random_sampling:
            return coordinate
        least_square = 1e-300  # keeps the logarithm finite
        square = max(_log_one_plus_exp(-2.0 * coordinate), least_square)
        # s² is inversely proportional to the squared noise, and is `self.square` at the log noise `self.start`.
        return self.start - 0.5 * math.log(square / self.square)

    def fall(self, log_noise: float) -> float:
        """Return how fast the coordinate of a noise changes with log noise.

        It is s²/(1 − e^{−s²}), or 1 for s = 0, where s is the sensitivity divided by the noise.

        Args:
            log_noise: natural logarithm of the noise.

        Returns:
            The slope, at least 1.
        """
        square = self._square_at(log_noise) if self.square else 0.0
        if not square:
            return 1.0
        return square / -math.expm1(-square)


def _log_one_plus_exp(exponent: float) -> float:
    """Return log(1 + e^x) without overflow.

    Args:
        exponent: x.

    Returns:
        The natural logarithm.
    """
    if exponent > _MOST_EXPONENT:  # the 1 does not count
        return exponent
    return math.log1p(math.exp(exponent))


def _is_below_square(square: float, *, fall: float) -> bool:
    """Return whether a squared ratio s² is below the solution of s²/(1 − e^{−s²}) = fall, for a bisection.

    The left side is the rate −d log μ/d log noise for μ ∝ √(e^{s²} − 1), where s is the sensitivity divided by the
    noise.

    Args:
        square: s², at least 0.
        fall: the required rate.

    Returns:
        True if s² is below the solution.
    """
    return square < -math.expm1(-square) * fall

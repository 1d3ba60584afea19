"""A privacy curve as callers ask it: ε and δ by name, in the units of every request and answer.

Inside, curves speak natural logarithms; here a δ is given as `delta` or as `log10_delta`, nothing else is taken for
either, and no number is positional.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from epsilond.accountants.curve import Curve, Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import DELTA, EPSILON, LOG10_DELTA, natural_log_delta, request

ANY_EPSILON = replace(EPSILON, gt=None, ge=0.0)
"""Of a question: δ(0) is the largest advantage of an attacker."""
LOG_10 = math.log(10.0)


@request
class _AtDelta:
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    def check(self) -> None:
        natural_log_delta(self.delta, self.log10_delta)


@request
class _AtEpsilon:
    epsilon: Annotated[float, ANY_EPSILON]


@dataclass(frozen=True)
class PrivacyCurve:
    """What is known of a mechanism's ε and δ: asked at a δ it gives ε, asked at an ε it gives δ.

    Every answer is an `Interval(lower, upper)` that encloses the truth over all neighbours of the guarantee's relation.
    ε is in nats; δ is a probability, `log10_delta` its base-10 logarithm, for a δ below every double.

    Example:
        >>> import epsilond
        >>> curve = epsilond.account(epsilond.Gaussian(noise_multiplier=1.0), relation="replace-one").guarantee.curve
        >>> print(f"{curve.epsilon(delta=1e-5).upper:.4f} {curve.delta(epsilon=1.0).upper:.4f}")
        9.9973 0.5099
    """

    known: Curve
    """The same in natural logarithms, as the mathematics reads it."""

    def epsilon(self, *, delta: float | None = None, log10_delta: float | None = None) -> Interval:
        """The smallest ε ≥ 0 [nat] at which δ(ε) is at most the δ given; the upper end is math.inf if none is proved.

        Raises:
            InvalidInput: both or neither are given, `delta` is outside (0, 1), or `log10_delta` outside [−1e9, 0).
        """
        asked = _AtDelta(delta=_plain(delta, "delta"), log10_delta=_plain(log10_delta, "log10_delta"))
        return self.known.epsilon(natural_log_delta(asked.delta, asked.log10_delta))

    def delta(self, *, epsilon: float) -> Interval:
        """δ at an ε ≥ 0 [nat], as a probability; below the doubles the ends are 0 and the least positive double.

        Raises:
            InvalidInput: `epsilon` is negative, above 1e9 or no number.
        """
        return delta_ends(self.known.log_delta(_AtEpsilon(epsilon=_plain(epsilon, "epsilon")).epsilon))

    def log10_delta(self, *, epsilon: float) -> Interval:
        """log10 δ at an ε ≥ 0 [nat]; −math.inf is a δ of zero, as a lower end also one of which nothing is known.

        Raises:
            InvalidInput: `epsilon` is negative, above 1e9 or no number.
        """
        return log10_ends(self.known.log_delta(_AtEpsilon(epsilon=_plain(epsilon, "epsilon")).epsilon))


def _plain(value: Any, name: str) -> Any:
    """A number of numpy as Python's own."""
    if isinstance(value, np.ndarray):
        raise InvalidInput.at(f"/{name}", "is one number: ask for each by itself")
    return value.item() if isinstance(value, np.generic) else value


def delta_ends(log_delta: Interval) -> Interval:
    """δ from ln δ, rounded outward; below the doubles the ends are 0 and the least positive double."""
    low, high = (math.exp(end) for end in log_delta)
    most = 0.0 if log_delta.upper == -math.inf else min(math.nextafter(high, 1.0), 1.0)
    return Interval(math.nextafter(low, 0.0), most)


def log10_ends(log_delta: Interval) -> Interval:
    """log10 δ from ln δ, rounded outward; −inf stays.

    The double nearest to ln 10 is above it by less than an ulp and the quotient is rounded once: two steps cover both.
    """
    low, high = (end / LOG_10 for end in log_delta)
    most = high if high == -math.inf else min(math.nextafter(high, 0.0), 0.0)
    return Interval(math.nextafter(math.nextafter(low, -math.inf), -math.inf), most)

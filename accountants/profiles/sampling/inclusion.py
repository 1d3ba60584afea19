"""The inclusion probability of a record in a batch, and the change of ε that subsampling with it causes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import Subsampled

NUDGE = 8 * UNIT_ROUNDOFF
"""Relative rounding of a change of variable."""


@dataclass(frozen=True)
class Share:
    """The probability q that a record is in a batch, and 1 − q, each rounded separately to a double.

    1 − q is stored because subtraction would lose its digits if q is close to 1.

    Attributes:
        rate: the double nearest to q, 0 < q ≤ 1.
        absent: the double nearest to 1 − q.
        exact: True if `rate` is exactly q.
    """

    rate: float
    absent: float
    exact: bool = True

    @classmethod
    def of(cls, spec: Subsampled) -> Share:
        """Return the inclusion probability of a Poisson batch, or of a batch of a fixed size without replacement.

        For a batch of a fixed size it is the batch size over the population, an exact fraction before rounding.

        Args:
            spec: the subsampled run. It has a rate for Poisson batches, or a batch size and a population.

        Returns:
            q and 1 − q, each rounded to a double.
        """
        if spec.rate is not None:  # a Poisson batch
            return cls.at(spec.rate)
        batch_size, population = spec.batch_size or 1, spec.population or 1
        exact_rate = Fraction(batch_size, population)
        rate = float(exact_rate)
        return cls(rate, float(1 - exact_rate), exact=Fraction(rate) == exact_rate)

    @classmethod
    def at(cls, rate: float) -> Share:
        """Return the inclusion probability that is exactly the given double.

        Args:
            rate: q, in (0, 1].

        Returns:
            q and 1 − q.
        """
        return cls(rate, 1.0 - rate)

    @property
    def around(self) -> tuple[float, float]:
        """A double at or below q, and a double at or above q. Both are q if q is a double."""
        if self.exact:
            return self.rate, self.rate
        return math.nextafter(self.rate, 0.0), math.nextafter(self.rate, 1.0)


def base_epsilon(epsilon: FloatArray, rate: float) -> FloatArray:
    """Convert an ε' of a subsampled mechanism to the ε of the mechanism without subsampling.

    The two are related by ε = log(1 + (e^ε' − 1)/q), with the inclusion probability q. The result is accurate to a few
    units in the last place for every ε' ≥ 0.

    Args:
        epsilon: array of ε' ≥ 0, in nats.
        rate: inclusion probability q, in (0, 1].

    Returns:
        The ε in nats, of the shape of `epsilon`.
    """
    largest_direct = 30.0  # a larger e^ε' is taken out of the logarithm
    limited = np.minimum(epsilon, largest_direct)
    with np.errstate(over="ignore", divide="ignore"):
        quotient = np.expm1(limited) / rate
        # For a very small q the quotient overflows, and the 1 in the logarithm is negligible.
        log_quotient = np.log(np.expm1(limited)) - math.log(rate)
        for_small = np.where(np.isinf(quotient), log_quotient, np.log1p(quotient))

    # 1 + (e^ε' − 1)/q = (e^ε'/q) (1 − (1 − q) e^−ε')
    correction = np.log1p((rate - 1.0) * np.exp(-np.maximum(epsilon, largest_direct)))
    for_large = epsilon - math.log(rate) + correction
    return np.asarray(np.where(epsilon < largest_direct, for_small, for_large))


def outward(bounds_at: Callable[[FloatArray], Enclosure], epsilon: FloatArray) -> Enclosure:
    """Enclose a decreasing function δ(ε) at arguments with a relative error of at most `NUDGE`.

    Such arguments are results of `base_epsilon`. The upper bound is evaluated at a smaller argument, and the lower
    bound at a larger one. This is valid because δ decreases with ε.

    Args:
        bounds_at: function from ε to bounds on log δ that do not include errors of the argument.
        epsilon: array of ε ≥ 0, in nats.

    Returns:
        Lower and upper bounds on log δ, one for each ε.
    """
    lower = bounds_at(epsilon * (1 + NUDGE)).lower
    upper = bounds_at(epsilon * (1 - NUDGE)).upper
    return Enclosure(lower, upper)


def log_complement(rate: float, absent: float | None = None) -> float:
    """Return log(1 − q) for an inclusion probability q, accurately also for q near 0 and near 1.

    Args:
        rate: q, in (0, 1].
        absent: 1 − q, if it is known more accurately than from the double nearest to q.

    Returns:
        The natural logarithm; −∞ for q = 1.
    """
    # For a small q, the double nearest to 1 − q has lost the digits of q.
    if absent is None or rate < 0.5:
        return math.log1p(-rate) if rate < 1.0 else -math.inf
    return math.log(absent) if absent > 0 else -math.inf

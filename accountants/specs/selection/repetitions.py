"""Distributions of the random number of runs of which the best is released."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import Quantity, Tagged, request

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = Quantity(description="distribution of the number of runs")
MEAN = Quantity(symbol="E[K]", gt=0, le=1e9, description="expected number of runs of the mechanism")
MEAN_FROM_ONE = Quantity(
    symbol="E[K]", ge=1, le=1e9, description="expected number of runs of the mechanism, which is at least 1"
)
SHAPE = Quantity(
    symbol="η",
    gt=-1,
    le=1e3,
    description="shape parameter η of the negative binomial distribution. 1 gives the geometric distribution, "
    "0 the logarithmic one",
)
LARGEST_ODDS = 1e30
"""Largest odds (1 − γ)/γ that the search for the parameter γ reaches. They suffice for every mean if η ≥ −0.69."""


@request
class PoissonRepetitions:
    """A Poisson number of runs. If it is 0, an output that does not depend on the data is released."""

    kind: Annotated[Literal["poisson"], KIND] = "poisson"
    mean: Annotated[float, MEAN]

    shape: ClassVar[float] = math.inf


@request
class GeometricRepetitions:
    """A geometric number of runs: after each run one stops with probability 1/mean."""

    kind: Annotated[Literal["geometric"], KIND] = "geometric"
    mean: Annotated[float, MEAN_FROM_ONE]

    shape: ClassVar[float] = 1.0

    @property
    def odds(self) -> tuple[float, float]:
        """Bounds on (1 − γ)/γ = mean − 1, with the probability γ of stopping."""
        odds = self.mean - 1.0
        # Rounded down and up by the relative error 2^−52, more than that of one subtraction.
        return odds * (1.0 - 2.0**-52), odds * (1.0 + 2.0**-52)


@request
class NegativeBinomialRepetitions:
    """A negative binomial number of runs, given that it is at least 1 (Papernot and Steinke 2022, Definition 1).

    K runs have probability proportional to (1 − γ)^K Γ(K + η)/K! for K ≥ 1. Here η is `shape`, and γ is determined by
    `mean`.
    """

    kind: Annotated[Literal["negative-binomial"], KIND] = "negative-binomial"
    mean: Annotated[float, MEAN_FROM_ONE]
    shape: Annotated[float, SHAPE]

    def check(self) -> None:
        """Require that the odds (1 − γ)/γ that give this mean are at most `LARGEST_ODDS`.

        Raises:
            InvalidInput: the mean is too large for a shape near −1.
        """
        largest_mean = self._mean_bounds(LARGEST_ODDS)[0]
        if self.mean > max(largest_mean, 1.0):
            raise InvalidInput.at("/mean", "is too large for this shape", allowed=f"≤ {largest_mean:.6g}")

    def _mean_bounds(self, odds: float) -> tuple[float, float]:
        """Return a lower and an upper bound on the mean number of runs at the odds c = (1 − γ)/γ.

        For the shape η it is:

            mean = η c/(1 − (1 + c)^−η),  or c/log(1 + c) for η = 0.

        It increases with c.

        Args:
            odds: c, above 0.
        """
        exponent = -self.shape * math.log1p(odds)
        # Near η = 0 the formula is 0/0. Two terms of its series are exact to a relative 1e-18 if |exponent| < 1e-9.
        if abs(exponent) < 1e-9:
            mean = odds / math.log1p(odds) * (1.0 - 0.5 * exponent)
        else:
            mean = self.shape * odds / -math.expm1(exponent)
        # The exponent x has a relative error of three units. The exponential multiplies it by at most 1 + |x|. The
        # other operations have at most six units.
        relative_error = (6.0 + 3.0 * (1.0 + abs(exponent))) * UNIT_ROUNDOFF
        return mean * (1.0 - 2.0 * relative_error), mean * (1.0 + 2.0 * relative_error)

    @property
    def odds(self) -> tuple[float, float]:
        """Lower and upper bound on c = (1 − γ)/γ, with the parameter γ that gives the expected number of runs `mean`.

        Their relative distance is about 1e-12, and larger for means next to 1 or shapes next to −1. There the roundings
        of the mean limit it.
        """
        if self.mean == 1.0:
            return 0.0, 0.0
        # The mean increases with c.
        lower, _ = _bisect_odds(lambda odds: self._mean_bounds(odds)[1] <= self.mean)
        _, upper = _bisect_odds(lambda odds: self._mean_bounds(odds)[0] < self.mean)
        return lower, upper


def _bisect_odds(is_below: Callable[[float], bool]) -> tuple[float, float]:
    """Return an interval of odds in which a condition changes from true to false, by bisection.

    Args:
        is_below: the condition. It is true for small odds, and false for `LARGEST_ODDS`.

    Returns:
        Odds at which the condition is true, and odds at which it is false. They differ by a relative 1e-12 at most. If
        the condition is false down to 1e-30, the first value is 0.
    """
    low, high = 0.0, LARGEST_ODDS
    while high - low > 1e-12 * high and high > 1e-30:
        middle = _middle_of_odds(low, high)
        if is_below(middle):
            low = middle
        else:
            high = middle
    return low, high


def _middle_of_odds(low: float, high: float) -> float:
    """Return the next point of a bisection between bounds that may differ by many powers of ten.

    Halving such an interval would need many steps to reach a small number.

    Args:
        low: lower bound, at least 0.
        high: upper bound, above `low`.

    Returns:
        The geometric mean if 0 < 4 `low` < `high`; an eighth of `high` if `low` is 0 and `high` above 1e-6; otherwise
        the arithmetic mean.
    """
    if low > 0.0 and high > 4.0 * low:
        return math.sqrt(low * high)
    if low == 0.0 and high > 1e-6:
        return 0.125 * high
    return 0.5 * (low + high)


Repetitions = TypeAliasType(
    "Repetitions",
    Annotated[PoissonRepetitions | GeometricRepetitions | NegativeBinomialRepetitions, Tagged("kind")],
)

"""Facts about a pair, as data: exact distributions of its loss, and concentration.

A *law* names an ordered pair (P, Q). The transform K(z) = log E_P[e^{zL}] of its loss L = log dP/dQ is known, not
merely bounded. The contour engine composes pairs that carry laws. Pairs without a law are composed from their profiles.

A *finite law* has finitely many outcomes, with masses p under the first distribution and q under the second. The loss
of each outcome is log p − log q. It is stored next to both masses, because their difference would lose digits if the
loss is small. Enumeration composes finite laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal, Self, TypeAlias

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

_LARGEST_LOSS = 600.0
_SUM_ACCURACY = 1e-9
"""Largest error of a sum of probabilities that rounding explains."""

Direction: TypeAlias = Literal["remove", "add", "replace"]

_REVERSED: dict[Direction, Direction] = {"remove": "add", "add": "remove", "replace": "replace"}


def _demand(pointer: str, holds: bool, allowed: str) -> None:
    if not holds:
        raise InvalidInput.at(pointer, "is outside its range", allowed=allowed)


@dataclass(frozen=True)
class GaussianLaw:
    """N(μ, 1) against N(0, 1), in either direction: the loss is N(μ²/2, μ²) under the first distribution.

    Attributes:
        mu: distance of the means in standard deviations, 0 ≤ μ < ∞. The law belongs to exactly this double.

    Raises:
        InvalidInput: μ is negative or not finite.
    """

    mu: float

    def __post_init__(self) -> None:
        _demand("/mu", 0.0 <= self.mu < math.inf, "0 ≤ μ < ∞")

    @property
    def distance(self) -> float:
        """Distance μ of the means, in standard deviations."""
        return self.mu

    @property
    def is_silent(self) -> bool:
        """True if every loss is zero."""
        return self.mu == 0.0

    def reverse(self) -> GaussianLaw:
        """Return the pair in the other direction, which has the same law."""
        return self


@dataclass(frozen=True)
class SampledGaussianLaw:
    """One step of the Poisson-subsampled Gaussian mechanism, in one direction of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation, q the rate and s the shift:

        "remove"    (1 − q) N_0 + q N_s  against  N_0
        "add"       N_0  against  (1 − q) N_0 + q N_s
        "replace"   (1 − q) N_0 + q N_s  against  (1 − q) N_0 + q N_{−s}

    Attributes:
        rate: probability q that the contribution is included, 0 ≤ q ≤ 1.
        shift: norm of one contribution over the noise's standard deviation (1/z for noise multiplier z), 0 ≤ s < ∞.
            The law belongs to exactly this double. A caller who divides must account for the rounding.
        direction: the name of one of the three pairs.

    Raises:
        InvalidInput: a number is outside its range, or the direction is unknown.
    """

    rate: float
    shift: float
    direction: Direction

    def __post_init__(self) -> None:
        _demand("/rate", 0.0 <= self.rate <= 1.0, "0 ≤ rate ≤ 1")
        _demand("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")
        _demand("/direction", self.direction in _REVERSED, ", ".join(_REVERSED))

    @property
    def distance(self) -> float:
        """Distance of the means if every contribution is included, in standard deviations.

        Both distributions are mixtures with the same weights, and their components are at most this far apart. The pair
        of N(distance, 1) and N(0, 1) therefore dominates (joint convexity).
        """
        return 2.0 * self.shift if self.direction == "replace" else self.shift

    @property
    def is_silent(self) -> bool:
        """True if every loss is zero."""
        return self.rate == 0.0 or self.shift == 0.0

    def reverse(self) -> SampledGaussianLaw:
        """Return the pair in the other direction."""
        return SampledGaussianLaw(self.rate, self.shift, _REVERSED[self.direction])


@dataclass(frozen=True)
class LaplaceLaw:
    """Laplace noise of scale 1 around two locations at distance s, in either direction: the loss is in [−s, s].

    Attributes:
        shift: distance of the locations over the noise's scale, 0 ≤ s < ∞. The law belongs to exactly this double.

    Raises:
        InvalidInput: s is negative or not finite.
    """

    shift: float

    def __post_init__(self) -> None:
        _demand("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")

    @property
    def is_silent(self) -> bool:
        """True if every loss is zero."""
        return self.shift == 0.0

    def reverse(self) -> LaplaceLaw:
        """Return the pair in the other direction, which has the same law."""
        return self


@dataclass(frozen=True)
class DrawnGaussianLaw:
    """One step of a Gaussian mechanism on a batch sampled without replacement, for replace-one: a symmetric pair.

    Its profile H(α) is that of (1 − q) N(0, 1) + q N(d, 1) against N(0, 1) at every α ≥ 1. For α < 1 it is
    H(α) = 1 − α + α H(1/α) (docs/engine-certificate.md, A8).

    Attributes:
        rate: probability q that the batch contains the record, 0 ≤ q ≤ 1.
        shift: distance d of the means if the batch contains the record, in standard deviations of the noise, 0 ≤ d < ∞.

    Raises:
        InvalidInput: a number is outside its range.
    """

    rate: float
    shift: float

    def __post_init__(self) -> None:
        _demand("/rate", 0.0 <= self.rate <= 1.0, "0 ≤ rate ≤ 1")
        _demand("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")

    @property
    def is_silent(self) -> bool:
        """True if the loss is always zero."""
        return self.rate == 0.0 or self.shift == 0.0

    @property
    def distance(self) -> float:
        """Distance d. The pair of N(d, 1) and N(0, 1) dominates: its profile decreases, and q E_γ ≤ E_α for γ ≥ α."""
        return self.shift

    def reverse(self) -> DrawnGaussianLaw:
        """Return the pair in the other direction, which has the same law."""
        return self


@dataclass(frozen=True)
class _MixedLaw:
    """Finitely many sensitivities s_k of a contribution, each with its probability p_k.

    Attributes:
        sensitivities: s_k over the noise's standard deviation, 0 ≤ s_k < ∞, in any order.
        probabilities: p_k ≥ 0. All except the largest are exactly these doubles. The largest is the rest to 1.

    Raises:
        InvalidInput: a number is outside its range, or the probabilities do not sum to 1 within 1e-9.
    """

    sensitivities: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        _demand("/sensitivities", all(0.0 <= value < math.inf for value in self.sensitivities), "0 ≤ each < ∞")
        matched = len(self.probabilities) == len(self.sensitivities) and min(self.probabilities, default=-1.0) >= 0.0
        is_distribution = matched and abs(math.fsum(self.probabilities) - 1.0) <= _SUM_ACCURACY
        _demand("/probabilities", is_distribution, "one for each sensitivity, at least 0, with the sum 1")

    @cached_property
    def components(self) -> tuple[tuple[float, float], ...]:
        """Pairs (s_k, p_k) with p_k > 0 by increasing s_k. The largest p_k is 1 minus the sum of the rest, rounded."""
        pairs = sorted(pair for pair in zip(self.sensitivities, self.probabilities, strict=True) if pair[1] > 0.0)
        place = self._heaviest(pairs)
        rest = sum((Fraction(weight) for k, (_, weight) in enumerate(pairs) if k != place), Fraction(0))
        pairs[place] = (pairs[place][0], float(1 - rest))
        return tuple(pairs)

    @staticmethod
    def _heaviest(components: Sequence[tuple[float, float]]) -> int:
        return max(range(len(components)), key=lambda k: components[k][1])

    @property
    def largest(self) -> float:
        """Largest s_k of positive probability."""
        return self.components[-1][0]

    @property
    def is_silent(self) -> bool:
        """True if every loss is zero."""
        return self.largest == 0.0

    def shorten(self, log_mass: float) -> tuple[Self, float]:
        """Move the largest s_k, of total probability at most e^`log_mass`, to the s_k of the largest probability.

        Guarantees: δ of a composition of T steps falls by at most T e^m, where m is the second number returned; −inf if
        nothing was moved (docs/engine-certificate.md, A10, Components moved).
        """
        components, moved = list(self.components), 0.0
        place = self._heaviest(components)
        least = max(place + 1, 1 if components[place][0] > 0.0 else 2)
        while len(components) > least and moved + components[-1][1] <= math.exp(log_mass):
            moved += components.pop()[1]
        if moved == 0.0:
            return self, -math.inf
        sensitivities, probabilities = zip(*components, strict=True)
        log_excess = math.log(moved) + math.log1p(1.0 / components[place][1]) + 1e-12
        return replace(self, sensitivities=sensitivities, probabilities=probabilities), log_excess


@dataclass(frozen=True)
class GaussianMixtureLaw(_MixedLaw):
    """One step whose contribution has a random sensitivity, in one direction of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation:

        "remove"    Σ p_k N_{s_k}  against  N_0
        "add"       N_0  against  Σ p_k N_{s_k}
        "replace"   Σ p_k N_{s_k}  against  Σ p_k N_{−s_k}

    Attributes:
        direction: the name of one of the three pairs.
    """

    direction: Direction

    @property
    def distance(self) -> float:
        """Distance of the means at the largest sensitivity. The Gaussian pair at this distance dominates."""
        return 2.0 * self.largest if self.direction == "replace" else self.largest

    @property
    def supremum(self) -> float:
        """Largest loss in nats, rounded up; math.inf if the loss is unbounded."""
        least, weight = self.components[0]
        if self.direction != "add" or least > 0.0:
            return math.inf
        rest = math.fsum(weight for _, weight in self.components[1:])
        return -(math.log1p(-rest) if rest <= 0.5 else math.log(weight)) * (1.0 + 16 * UNIT_ROUNDOFF)

    def reverse(self) -> GaussianMixtureLaw:
        """Return the pair in the other direction."""
        return replace(self, direction=_REVERSED[self.direction])


@dataclass(frozen=True)
class DrawnMixtureLaw(_MixedLaw):
    """`DrawnGaussianLaw` with a random, public shift, for replace-one: its profile is Σ p_k H_k, H_k that at s_k.

    Attributes:
        rate: probability q that the batch contains the record, 0 < q < 1.
        log_rest: log-probability of an infinite loss, which is charged in addition to the transform.
    """

    rate: float
    log_rest: float = -math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        _demand("/rate", 0.0 < self.rate < 1.0, "0 < rate < 1")

    @property
    def distance(self) -> float:
        """Largest shift. The Gaussian pair at this distance dominates."""
        return self.largest

    supremum: ClassVar[float] = math.inf

    @property
    def atom(self) -> float:
        """Approximate share of the transform that does not decrease along the line of integration."""
        return (1.0 - self.rate) * math.fsum(
            p * (math.erf(s / math.sqrt(8.0)) if s > 0.0 else 1.0) for s, p in self.components
        )

    def reverse(self) -> DrawnMixtureLaw:
        """Return the pair in the other direction, which has the same law."""
        return self


MixedLaw: TypeAlias = GaussianMixtureLaw | DrawnMixtureLaw
"""A law of several components."""

NormalLaw: TypeAlias = GaussianLaw | SampledGaussianLaw | DrawnGaussianLaw | MixedLaw
"""A law of Gaussian noise, with or without subsampling."""

Law: TypeAlias = NormalLaw | LaplaceLaw
"""A law whose transform is known."""


@dataclass(frozen=True)
class FiniteLaw:
    """An ordered pair of distributions (P, Q) on finitely many outcomes. All are listed: the masses sum to one.

    Attributes:
        losses: log p − log q of each outcome that both distributions can give, finite, within a relative `accuracy`.
        log_first: log p, within `accuracy` per unit of 1 + |log p|.
        log_second: log q, likewise.
        log_infinite: upper bound on log P of the outcomes that Q cannot give, within `accuracy`; −inf if none exists.
        log_missing: the same for log Q of the outcomes that P cannot give.
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
        """Return (1 − q) Q + q P against Q, for 0 < q < 1 and 1 − q, each rounded once; None for losses beyond 600.

        The outcomes that P cannot give become an outcome of loss log(1 − q). The derivative of log(1 − q + q e^l) in l
        is q e^l over its argument. Its formula errs by 16 units of roundoff, and by 8 units of l if it adds l to a
        logarithm.
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
    """Return log(1 − q + q e^l), by the formula that loses no digits."""
    if loss >= 0.0 or rate <= 0.5:
        return math.log1p(rate * math.expm1(loss))
    if loss > -30.0:
        return loss + math.log1p(absent * math.expm1(-loss))
    return math.log(absent + rate * math.exp(loss))


@dataclass(frozen=True)
class Concentrated:
    """ρ-zCDP given an event that has probability S under both distributions, and an infinite loss outside the event.

    Attributes:
        rho: ρ ≥ 0.
        log_survival: log S.
        log_escape: upper bound on log(1 − S).
    """

    rho: float
    log_survival: float = 0.0
    log_escape: float = -math.inf

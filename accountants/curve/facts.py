"""Facts about a pair, as data: exact distributions of its loss, and concentration.

A *law* names an ordered pair (P, Q). The transform K(z) = log E_P[e^{zL}] of its loss L = log dP/dQ is known, not
merely bounded. The contour engine composes pairs that carry laws; pairs without one are composed from their profiles.

A *finite law* has finitely many outcomes, with masses p under the first distribution and q under the second. The loss
of each is log p − log q. It is kept next to both masses, because their difference would lose its digits where the loss
is small. Enumeration composes finite laws.
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
"""Error of a sum of probabilities that roundings explain."""

Direction: TypeAlias = Literal["remove", "add", "replace"]

_REVERSED: dict[Direction, Direction] = {"remove": "add", "add": "remove", "replace": "replace"}


def _demand(pointer: str, holds: bool, allowed: str) -> None:
    if not holds:
        raise InvalidInput.at(pointer, "is outside its range", allowed=allowed)


@dataclass(frozen=True)
class GaussianLaw:
    """N(μ, 1) against N(0, 1), in either order: the loss is N(μ²/2, μ²) under the first law.

    Attributes:
        mu: distance of the means in standard deviations, 0 ≤ μ < ∞. The law is that of this very float.

    Raises:
        InvalidInput: μ is negative or not finite.
    """

    mu: float

    def __post_init__(self) -> None:
        _demand("/mu", 0.0 <= self.mu < math.inf, "0 ≤ μ < ∞")

    @property
    def distance(self) -> float:
        """μ."""
        return self.mu

    @property
    def is_silent(self) -> bool:
        """Whether every loss is zero."""
        return self.mu == 0.0

    def reversed(self) -> GaussianLaw:
        """The pair in the other order: the same law."""
        return self


@dataclass(frozen=True)
class SampledGaussianLaw:
    """One step of the Poisson-subsampled Gaussian mechanism, in one order of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation, q the rate and s the shift:

        "remove"    (1 − q) N_0 + q N_s  against  N_0
        "add"       N_0  against  (1 − q) N_0 + q N_s
        "replace"   (1 − q) N_0 + q N_s  against  (1 − q) N_0 + q N_{−s}

    Attributes:
        rate: probability q that the contribution is drawn, 0 ≤ q ≤ 1.
        shift: norm of one contribution over the noise's standard deviation (1/z for noise multiplier z), 0 ≤ s < ∞.
            The law is that of this very float; who divides rounds, and answers for it.
        direction: which of the three pairs.

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
        """Of the means if every contribution is drawn, in standard deviations.

        Both laws are mixtures with the same weights of laws at most as far apart, so that the pair of N(distance, 1)
        and N(0, 1) dominates (joint convexity).
        """
        return 2.0 * self.shift if self.direction == "replace" else self.shift

    @property
    def is_silent(self) -> bool:
        """Whether every loss is zero."""
        return self.rate == 0.0 or self.shift == 0.0

    def reversed(self) -> SampledGaussianLaw:
        """The pair in the other order."""
        return SampledGaussianLaw(self.rate, self.shift, _REVERSED[self.direction])


@dataclass(frozen=True)
class LaplaceLaw:
    """Laplace noise around two places that are s of its scales apart, in either order: the loss lies in [−s, s].

    Attributes:
        shift: distance of the places over the noise's scale, 0 ≤ s < ∞. The law is that of this very float.

    Raises:
        InvalidInput: s is negative or not finite.
    """

    shift: float

    def __post_init__(self) -> None:
        _demand("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")

    @property
    def is_silent(self) -> bool:
        """Whether every loss is zero."""
        return self.shift == 0.0

    def reversed(self) -> LaplaceLaw:
        """The pair in the other order: the same law."""
        return self


@dataclass(frozen=True)
class DrawnGaussianLaw:
    """One step of a Gaussian mechanism on a batch drawn without replacement, for replace-one: a symmetric pair.

    Its profile is that of (1 − q) N(0, 1) + q N(d, 1) against N(0, 1) at every α ≥ 1, and H(α) = 1 − α + α H(1/α)
    below (docs/engine-certificate.md, A8).

    Attributes:
        rate: probability q that the batch holds the record, 0 ≤ q ≤ 1.
        shift: d, the distance of the means where it does, in standard deviations of the noise, 0 ≤ d < ∞.

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
        """Whether the loss is always zero."""
        return self.rate == 0.0 or self.shift == 0.0

    @property
    def distance(self) -> float:
        """d: the pair of N(d, 1) and N(0, 1) dominates, since its profile falls and q E_γ ≤ E_α for γ ≥ α."""
        return self.shift

    def reversed(self) -> DrawnGaussianLaw:
        """The pair in the other order: the same law."""
        return self


@dataclass(frozen=True)
class _MixedLaw:
    """Sensitivities s_k of a contribution, and the probability p_k of each, over finitely many k.

    Attributes:
        sensitivities: s_k over the noise's standard deviation, 0 ≤ s_k < ∞, in any order.
        probabilities: p_k ≥ 0. All but the largest are these very floats; the largest is what they leave of 1.

    Raises:
        InvalidInput: a number is outside its range, or the probabilities do not sum to 1 within 1e-9.
    """

    sensitivities: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        _demand("/sensitivities", all(0.0 <= each < math.inf for each in self.sensitivities), "0 ≤ each < ∞")
        matched = len(self.probabilities) == len(self.sensitivities) and min(self.probabilities, default=-1.0) >= 0.0
        whole = matched and abs(math.fsum(self.probabilities) - 1.0) <= _SUM_ACCURACY
        _demand("/probabilities", whole, "one for each sensitivity, at least 0, with the sum 1")

    @cached_property
    def components(self) -> tuple[tuple[float, float], ...]:
        """s_k and p_k of every positive p_k by rising s_k, the largest p_k being what the others leave, rounded."""
        found = sorted(pair for pair in zip(self.sensitivities, self.probabilities, strict=True) if pair[1] > 0.0)
        place = self._heaviest(found)
        others = sum((Fraction(weight) for k, (_, weight) in enumerate(found) if k != place), Fraction(0))
        found[place] = (found[place][0], float(1 - others))
        return tuple(found)

    @staticmethod
    def _heaviest(components: Sequence[tuple[float, float]]) -> int:
        return max(range(len(components)), key=lambda k: components[k][1])

    @property
    def largest(self) -> float:
        """The largest s_k of positive probability."""
        return self.components[-1][0]

    @property
    def is_silent(self) -> bool:
        """Whether every loss is zero."""
        return self.largest == 0.0

    def shortened(self, log_mass: float) -> tuple[Self, float]:
        """Move the largest s_k, of probability e^`log_mass` in all at most, to the s_k of the largest probability.

        Guarantees: δ of a composition of T steps falls, by T e^m at most, m the second number that is returned
        (docs/engine-certificate.md, A10, Components moved).
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
    """One step whose contribution has a random sensitivity, in one order of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation:

        "remove"    Σ p_k N_{s_k}  against  N_0
        "add"       N_0  against  Σ p_k N_{s_k}
        "replace"   Σ p_k N_{s_k}  against  Σ p_k N_{−s_k}

    Attributes:
        direction: which of the three pairs.
    """

    direction: Direction

    @property
    def distance(self) -> float:
        """Distance of the means at the largest sensitivity, whose pair dominates."""
        return 2.0 * self.largest if self.direction == "replace" else self.largest

    @property
    def supremum(self) -> float:
        """The largest loss, rounded up."""
        least, weight = self.components[0]
        if self.direction != "add" or least > 0.0:
            return math.inf
        rest = math.fsum(each for _, each in self.components[1:])
        return -(math.log1p(-rest) if rest <= 0.5 else math.log(weight)) * (1.0 + 16 * UNIT_ROUNDOFF)

    def reversed(self) -> GaussianMixtureLaw:
        """The pair in the other order."""
        return replace(self, direction=_REVERSED[self.direction])


@dataclass(frozen=True)
class DrawnMixtureLaw(_MixedLaw):
    """`DrawnGaussianLaw` with a shift that is itself drawn, and public: its profile is Σ p_k H_k, for replace-one.

    Attributes:
        rate: probability q that the batch holds the record, 0 < q < 1.
        log_rest: log-probability of an infinite loss, which is charged next to the transform.
    """

    rate: float
    log_rest: float = -math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        _demand("/rate", 0.0 < self.rate < 1.0, "0 < rate < 1")

    @property
    def distance(self) -> float:
        """The largest shift, whose pair dominates."""
        return self.largest

    supremum: ClassVar[float] = math.inf

    @property
    def atom(self) -> float:
        """About the share of the transform that does not fall along the line."""
        return (1.0 - self.rate) * math.fsum(
            p * (math.erf(s / math.sqrt(8.0)) if s > 0.0 else 1.0) for s, p in self.components
        )

    def reversed(self) -> DrawnMixtureLaw:
        """The pair in the other order: the same law."""
        return self


MixedLaw: TypeAlias = GaussianMixtureLaw | DrawnMixtureLaw
"""A law of several components."""

NormalLaw: TypeAlias = GaussianLaw | SampledGaussianLaw | DrawnGaussianLaw | MixedLaw
"""A law of Gaussian noise, sampled or not."""

Law: TypeAlias = NormalLaw | LaplaceLaw
"""A law whose transform is known."""


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


@dataclass(frozen=True)
class Concentrated:
    """ρ-zCDP given an event of probability S under both distributions, and an infinite loss without it.

    Attributes:
        rho: ρ ≥ 0.
        log_survival: log S.
        log_escape: upper bound on log(1 − S).
    """

    rho: float
    log_survival: float = 0.0
    log_escape: float = -math.inf

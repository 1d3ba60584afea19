"""Facts about a pair, as data: exact distributions of its loss.

A *law* names an ordered pair (P, Q). The transform K(z) = log E_P[e^{zL}] of its loss L = log dP/dQ is known, not
merely bounded. The contour engine composes pairs that carry laws. Pairs without a law are composed from their profiles.
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

_SUM_ACCURACY = 1e-9
"""Largest error of a sum of probabilities that rounding explains."""

Direction: TypeAlias = Literal["remove", "add", "replace"]

_REVERSED: dict[Direction, Direction] = {"remove": "add", "add": "remove", "replace": "replace"}


def _require(pointer: str, holds: bool, allowed: str) -> None:
    """Reject a value of a field unless a condition holds.

    Args:
        pointer: JSON pointer to the field.
        holds: whether the condition holds.
        allowed: description of the allowed values.

    Raises:
        InvalidInput: the condition does not hold.
    """
    if not holds:
        raise InvalidInput.at(pointer, "is outside its range", allowed=allowed)


@dataclass(frozen=True)
class GaussianLaw:
    """The distribution of the privacy loss of N(μ, 1) against N(0, 1), in either direction.

    Under the first distribution of the pair the loss is N(μ²/2, μ²).

    Attributes:
        mu: distance of the means in standard deviations, 0 ≤ μ < ∞. The object describes exactly this double.

    Raises:
        InvalidInput: μ is negative or not finite.
    """

    mu: float

    def __post_init__(self) -> None:
        _require("/mu", 0.0 <= self.mu < math.inf, "0 ≤ μ < ∞")

    @property
    def distance(self) -> float:
        """Distance μ of the means, in standard deviations."""
        return self.mu

    @property
    def is_silent(self) -> bool:
        """True if every loss is zero."""
        return self.mu == 0.0

    def reverse(self) -> GaussianLaw:
        """Return the same object, as the privacy loss of the reversed pair has the same distribution."""
        return self


@dataclass(frozen=True)
class SampledGaussianLaw:
    """The privacy loss of one Poisson-subsampled Gaussian step, in one direction of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation, q the rate and s the shift, the pairs are:

        "remove"    (1 − q) N_0 + q N_s  against  N_0
        "add"       N_0  against  (1 − q) N_0 + q N_s
        "replace"   (1 − q) N_0 + q N_s  against  (1 − q) N_0 + q N_{−s}

    Attributes:
        rate: probability q that the contribution is included, 0 ≤ q ≤ 1.
        shift: norm of one contribution over the noise's standard deviation (1/z for noise multiplier z), 0 ≤ s < ∞. The
            object describes exactly this double. A caller who divides must account for the rounding.
        direction: the name of one of the three pairs.

    Raises:
        InvalidInput: a number is outside its range, or the direction is unknown.
    """

    rate: float
    shift: float
    direction: Direction

    def __post_init__(self) -> None:
        _require("/rate", 0.0 <= self.rate <= 1.0, "0 ≤ rate ≤ 1")
        _require("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")
        _require("/direction", self.direction in _REVERSED, ", ".join(_REVERSED))

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
        """Return the privacy loss of the reversed pair."""
        return SampledGaussianLaw(self.rate, self.shift, _REVERSED[self.direction])


@dataclass(frozen=True)
class LaplaceLaw:
    """The privacy loss between two Laplace distributions of scale 1 at distance s, in either direction.

    The loss is in [−s, s].

    Attributes:
        shift: distance s of the locations over the noise's scale, 0 ≤ s < ∞. The object describes exactly this double.

    Raises:
        InvalidInput: s is negative or not finite.
    """

    shift: float

    def __post_init__(self) -> None:
        _require("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")

    @property
    def is_silent(self) -> bool:
        """True if every loss is zero."""
        return self.shift == 0.0

    def reverse(self) -> LaplaceLaw:
        """Return the same object, as the privacy loss of the reversed pair has the same distribution."""
        return self


@dataclass(frozen=True)
class DrawnGaussianLaw:
    """The privacy loss of one Gaussian step on a batch sampled without replacement, for replace-one neighbours.

    The pair is symmetric. Let H(α) be its hockey-stick divergence as a function of α = e^ε. For α ≥ 1 it is that of
    (1 − q) N(0, 1) + q N(d, 1) against N(0, 1). For α < 1, H(α) = 1 − α + α H(1/α) (docs/engine-certificate.md, A8).

    Attributes:
        rate: probability q that the batch contains the record, 0 ≤ q ≤ 1.
        shift: distance d of the means if the batch contains the record, in standard deviations of the noise, 0 ≤ d < ∞.

    Raises:
        InvalidInput: a number is outside its range.
    """

    rate: float
    shift: float

    def __post_init__(self) -> None:
        _require("/rate", 0.0 <= self.rate <= 1.0, "0 ≤ rate ≤ 1")
        _require("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")

    @property
    def is_silent(self) -> bool:
        """True if the loss is always zero."""
        return self.rate == 0.0 or self.shift == 0.0

    @property
    def distance(self) -> float:
        """Distance d in standard deviations. The pair of N(d, 1) and N(0, 1) dominates.

        With its hockey-stick divergence E_α, H(α) = q E_γ for γ = 1 + (α − 1)/q ≥ α ≥ 1, and E_γ ≤ E_α.
        """
        return self.shift

    def reverse(self) -> DrawnGaussianLaw:
        """Return the same object, as the privacy loss of the reversed pair has the same distribution."""
        return self


@dataclass(frozen=True)
class _MixedLaw:
    """The privacy loss for a contribution with finitely many possible sensitivities s_k, each with its probability p_k.

    Attributes:
        sensitivities: s_k, in standard deviations of the noise, 0 ≤ s_k < ∞, in any order.
        probabilities: p_k ≥ 0. All except the largest are exactly these doubles. The largest is the rest to 1.

    Raises:
        InvalidInput: a number is outside its range, or the probabilities do not sum to 1 within 1e-9.
    """

    sensitivities: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        _require("/sensitivities", all(0.0 <= value < math.inf for value in self.sensitivities), "0 ≤ each < ∞")
        has_same_length = len(self.probabilities) == len(self.sensitivities)
        is_nonnegative = min(self.probabilities, default=-1.0) >= 0.0
        is_distribution = (
            has_same_length and is_nonnegative and abs(math.fsum(self.probabilities) - 1.0) <= _SUM_ACCURACY
        )
        _require("/probabilities", is_distribution, "one for each sensitivity, at least 0, with the sum 1")

    @cached_property
    def components(self) -> tuple[tuple[float, float], ...]:
        """Pairs (s_k, p_k) with p_k > 0 by increasing s_k. The largest p_k is 1 minus all others, rounded."""
        declared = zip(self.sensitivities, self.probabilities, strict=True)
        components = sorted((sensitivity, weight) for sensitivity, weight in declared if weight > 0.0)
        heaviest = self._heaviest(components)
        heaviest_sensitivity, _ = components[heaviest]
        other_weights = [Fraction(weight) for k, (_, weight) in enumerate(components) if k != heaviest]
        components[heaviest] = (heaviest_sensitivity, float(1 - sum(other_weights, Fraction(0))))
        return tuple(components)

    @staticmethod
    def _heaviest(components: Sequence[tuple[float, float]]) -> int:
        """Return the index of the component with the largest probability."""
        return max(range(len(components)), key=lambda k: components[k][1])

    @property
    def largest(self) -> float:
        """Largest s_k of positive probability."""
        return self.components[-1][0]

    @property
    def is_silent(self) -> bool:
        """True if the privacy loss is always zero, because every s_k is."""
        return self.largest == 0.0

    def shorten(self, log_mass: float) -> tuple[Self, float]:
        """Return the mixture without rare large sensitivities. The most probable one gets their probabilities.

        A shorter mixture takes less time to compose.

        Args:
            log_mass: natural logarithm of the largest total probability that may be moved.

        Returns:
            The mixture with fewer sensitivities, and a number m that bounds the effect on δ. If nothing was moved, the
            same mixture and −∞.

        Guarantees: δ of a composition of T steps decreases by at most T e^m.

        Source: docs/engine-certificate.md, A10, Components moved.
        """
        components, moved_mass = list(self.components), 0.0
        heaviest = self._heaviest(components)
        heaviest_sensitivity, heaviest_weight = components[heaviest]

        # Keep the most probable component, and at least one positive sensitivity.
        fewest = max(heaviest + 1, 1 if heaviest_sensitivity > 0.0 else 2)
        while len(components) > fewest:
            _, last_weight = components[-1]
            if moved_mass + last_weight > math.exp(log_mass):
                break
            components.pop()
            moved_mass += last_weight
        if moved_mass == 0.0:
            return self, -math.inf

        shortened = replace(
            self,
            sensitivities=tuple(sensitivity for sensitivity, _ in components),
            probabilities=tuple(weight for _, weight in components),
        )
        rounding = 1e-12  # far above the rounding of the two logarithms
        log_effect = math.log(moved_mass) + math.log1p(1.0 / heaviest_weight) + rounding
        return shortened, log_effect


@dataclass(frozen=True)
class GaussianMixtureLaw(_MixedLaw):
    """The privacy loss of one Gaussian step with a random sensitivity, in one direction of one neighbouring relation.

    The sensitivity is s_k with probability p_k. With N_m = N(m, 1) in units of the noise's standard deviation, the
    pairs are:

        "remove"    Σ p_k N_{s_k}  against  N_0
        "add"       N_0  against  Σ p_k N_{s_k}
        "replace"   Σ p_k N_{s_k}  against  Σ p_k N_{−s_k}

    Attributes:
        direction: the name of one of the three pairs, "remove", "add" or "replace".
    """

    direction: Direction

    @property
    def distance(self) -> float:
        """Distance of the means at the largest sensitivity. The Gaussian pair at this distance dominates."""
        return 2.0 * self.largest if self.direction == "replace" else self.largest

    @property
    def supremum(self) -> float:
        """Largest privacy loss in nats, rounded up; math.inf if the loss is unbounded.

        The largest loss is −log p_0 in the direction "add", with the probability p_0 of the sensitivity 0.
        """
        least_sensitivity, weight_of_zero = self.components[0]
        if self.direction != "add" or least_sensitivity > 0.0:
            return math.inf
        # 1 minus the other probabilities gives log p_0 more accurately if these are the smaller part.
        other_weights = math.fsum(weight for _, weight in self.components[1:])
        log_weight = math.log1p(-other_weights) if other_weights <= 0.5 else math.log(weight_of_zero)
        # The sum, the logarithm and the product err by less than 16 units of roundoff.
        return -log_weight * (1.0 + 16 * UNIT_ROUNDOFF)

    def reverse(self) -> GaussianMixtureLaw:
        """Return the privacy loss of the reversed pair."""
        return replace(self, direction=_REVERSED[self.direction])


@dataclass(frozen=True)
class DrawnMixtureLaw(_MixedLaw):
    """The privacy loss of one Gaussian step on a batch without replacement, with a random shift that is observed.

    The neighbours differ by one replaced record. The shift, the distance of the means if the batch contains the record,
    is s_k with probability p_k, and the adversary sees it. With H_k the profile for the shift s_k (`DrawnGaussianLaw`),
    the profile is Σ p_k H_k.

    Attributes:
        rate: probability q that the batch contains the record, 0 < q < 1.
        log_rest: log-probability of an infinite loss, which the transform leaves out and δ includes; −inf for none.
    """

    rate: float
    log_rest: float = -math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        _require("/rate", 0.0 < self.rate < 1.0, "0 < rate < 1")

    @property
    def distance(self) -> float:
        """Largest shift. The Gaussian pair at this distance dominates."""
        return self.largest

    supremum: ClassVar[float] = math.inf

    @property
    def atom(self) -> float:
        """Approximate probability (1 − q) Σ p_k erf(s_k/√8) of the privacy loss 0, where a zero shift counts fully.

        The modulus of the transform of the loss does not fall below about this probability.
        """
        probabilities = []
        for shift, weight in self.components:
            probability_of_zero = math.erf(shift / math.sqrt(8.0)) if shift > 0.0 else 1.0
            probabilities.append(weight * probability_of_zero)
        return (1.0 - self.rate) * math.fsum(probabilities)

    def reverse(self) -> DrawnMixtureLaw:
        """Return the same object, as the privacy loss of the reversed pair has the same distribution."""
        return self


MixedLaw: TypeAlias = GaussianMixtureLaw | DrawnMixtureLaw
"""A law of several components."""

NormalLaw: TypeAlias = GaussianLaw | SampledGaussianLaw | DrawnGaussianLaw | MixedLaw
"""A law of Gaussian noise, with or without subsampling."""

Law: TypeAlias = NormalLaw | LaplaceLaw
"""A law whose transform is known."""

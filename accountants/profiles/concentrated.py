"""A pair that dominates every mechanism with ρ-zero-concentrated privacy (ρ-zCDP), with tails in closed form.

ρ-zCDP bounds E_{e^ε} by the least over a > 1 of e^{(a−1)(aρ−ε)} (1 − 1/a)^a/(a − 1) (Canonne, Kamath and Steinke 2020,
Corollary 13). At the minimiser b = a − 1, the root of (2b + 1) ρ + log(b/(1 + b)) = ε, this is e^{−ρb²}/(1 + b). It
is convex in e^ε with slope −e^{−ρ(b+1)²}. A dominating pair therefore exists, and its tails are

    P(L > ε) = e^{−ρ b²},   Q(L > ε) = e^{−ρ (b+1)²}.

Near ε = 0 these sum to more than one, which no pair with equal profiles in both directions allows. There the bound is
replaced by its chord between e^ε₀ and e^−ε₀, which bounds every such profile. The chord is linear in e^ε, with
P(L > ε) + Q(L > ε) = 1 (docs/shifted-noise.md).

`concentrated_pair` has the tails of this pair. Its δ is smaller where `profiles/declared/binary_pairs.py` gives a
smaller bound, which has a chord of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.curve.renyi_bounds import Concentrated
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log_difference
from epsilond.accountants.profiles.declared.best_ratios import concentrated_ratios

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.curve.profile import RootSearch
    from epsilond.accountants.curve.renyi_bounds import WholeFormulas
    from epsilond.accountants.numerics.special import FloatArray

_STEPS = 120
_FEW = 16
LARGEST_EXPONENT = 709.0


def minimiser(rho: float, epsilon: FloatArray) -> FloatArray:
    """Return log b for the b that gives the least bound on δ from ρ-zCDP, to a few units in the last place.

    ρ-zCDP bounds the Rényi divergence of every order a by ρ a; here b = a − 1. b is the root of (2b + 1) ρ + log(b/(1 +
    b)) = ε. It is found by Newton's method in log b, with a bracket.

    Args:
        rho: ρ, in (0, 1e9].
        epsilon: values of ε, in [0, 1e9].

    Returns:
        log b for each ε, in an array of the shape of `epsilon`.
    """
    at = np.asarray(epsilon, dtype=np.float64)
    if at.size <= _FEW:
        values = [minimiser_at(rho, value) for value in at.ravel().tolist()]
        return np.asarray(values, dtype=np.float64).reshape(at.shape)
    low = np.minimum(at - rho, 0.0) - 1.0 - math.log1p(2.0 * rho)
    high = np.log(at / (2.0 * rho) + 1.0 / math.sqrt(2.0 * rho))
    log_b = 0.5 * (low + high)
    for _ in range(_STEPS):
        b = np.exp(log_b)
        log_odds = np.where(log_b < 0.0, log_b - np.log1p(b), -np.log1p(np.exp(-np.maximum(log_b, 0.0))))
        excess = (2.0 * b + 1.0) * rho - at + log_odds
        slope = 2.0 * rho * b + 1.0 / (1.0 + b)
        low, high = np.where(excess <= 0, log_b, low), np.where(excess > 0, log_b, high)
        # A step of Newton's method that leaves the bracket is replaced by the middle of the bracket.
        newton = log_b - excess / slope
        next_log_b = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        if np.all(np.abs(next_log_b - log_b) <= UNIT_ROUNDOFF * (1.0 + np.abs(log_b))):
            break
        log_b = next_log_b
    return np.asarray(log_b)


def minimiser_at(rho: float, epsilon: float, *, near: float = UNIT_ROUNDOFF) -> float:
    """Return log b for one ε, where a = b + 1 is the order that gives the least bound on δ from ρ-zCDP.

    b is the root of (2b + 1) ρ + log(b/(1 + b)) = ε. Newton's method in log b finds it, within bounds that are bisected
    where it leaves them. For few numbers this is quicker than `minimiser`.

    Args:
        rho: ρ > 0 of the concentrated guarantee.
        epsilon: ε ≥ 0.
        near: relative step below which the iteration ends.
    """
    low = min(epsilon - rho, 0.0) - 1.0 - math.log1p(2.0 * rho)
    high = math.log(epsilon / (2.0 * rho) + 1.0 / math.sqrt(2.0 * rho))
    log_b = 0.5 * (low + high)
    if epsilon > 3.0 * rho:  # log(b/(1 + b)) is then small, and the root close to (ε − ρ)/2ρ
        log_b = min(max(math.log((epsilon - rho) / (2.0 * rho)), low), high)
    for _ in range(_STEPS):
        b = math.exp(min(log_b, LARGEST_EXPONENT))
        excess = (2.0 * b + 1.0) * rho - epsilon + _log_odds(b, log_b)
        if excess <= 0.0:
            low = log_b
        else:
            high = log_b
        next_log_b = log_b - excess / (2.0 * rho * b + 1.0 / (1.0 + b))
        if not low < next_log_b < high:
            next_log_b = 0.5 * (low + high)
        if abs(next_log_b - log_b) <= near * (1.0 + abs(log_b)):
            break
        log_b = next_log_b
    return log_b


def _log_odds(b: float, log_b: float) -> float:
    """Return log(b/(1 + b)) without cancellation, from b and log b."""
    return log_b - math.log1p(b) if log_b < 0.0 else -math.log1p(math.exp(-log_b))


def concentrated_log_delta(rho: float, epsilon: FloatArray) -> FloatArray:
    """Return the log of the bound on δ at ε from ρ-zCDP. Any b gives a bound, so the root need not be exact.

    The accuracy is 16 units of roundoff times 1 + |value| + b ε at the minimiser b.
    """
    return _log_bound(rho, np.asarray(epsilon, dtype=np.float64), minimiser(rho, epsilon))


def _log_bound(rho: float, epsilon: FloatArray, log_b: FloatArray) -> FloatArray:
    """Return the log of the bound on δ from ρ-zCDP at the order b + 1 of the Rényi divergence.

    It is b ((b + 1) ρ − ε) − log b − (b + 1) log(1 + 1/b).

    Args:
        rho: ρ.
        epsilon: ε, in nats.
        log_b: log b.

    Returns:
        One logarithm for each element, not rounded outward. It may be above 0.
    """
    b = np.exp(log_b)
    # −log b − (b + 1) log(1 + 1/b), without cancellation.
    for_small = b * log_b - (b + 1.0) * np.log1p(b)
    for_large = -log_b - (b + 1.0) * np.log1p(np.exp(-np.maximum(log_b, 0.0)))
    return np.asarray(b * ((b + 1.0) * rho - epsilon) + np.where(log_b < 0.0, for_small, for_large))


class Chord(NamedTuple):
    """The chord that replaces a bound on δ, as a function of α = e^ε, between e^−ε₀ and e^ε₀.

    A theorem's bound on δ need not be the profile of any pair of distributions. With the chord, which is a straight
    line in α, it is one, and can then be composed.

    Attributes:
        epsilon: ε₀ in nats, the chord's upper end.
        log_delta: log of the bound at ε₀.
        log_q: log Q(L > ε) along the chord, which is constant, for the privacy loss L.
    """

    epsilon: float
    log_delta: float
    log_q: float

    @classmethod
    def ending_at(cls, epsilon: float, log_delta: float) -> Chord:
        """Return the chord from e^ε₀, at which the bound on δ is given, to e^−ε₀.

        Args:
            epsilon: ε₀ ≥ 0.
            log_delta: log of an upper bound on δ(ε₀) in both directions.
        """
        return cls(epsilon, log_delta, float(log1m_exp(log_delta)) - float(np.logaddexp(epsilon, 0.0)))

    def log_bound(self, epsilon: FloatArray) -> FloatArray:
        """Return the log of the bound on δ along the chord, δ(ε₀) + (e^ε₀ − e^ε) Q, for ε up to ε₀.

        Args:
            epsilon: values of ε in nats; those above ε₀ are treated as ε₀.

        Returns:
            Logs of the bound, of the shape of `epsilon`.
        """
        inside = np.minimum(epsilon, self.epsilon)
        log_rise = log_difference(np.full_like(inside, self.epsilon), inside) + self.log_q
        return np.asarray(np.logaddexp(self.log_delta, log_rise))


@dataclass(frozen=True)
class ConcentratedProfile(Profile):
    """The profile of ρ-zCDP given an event of probability S under both distributions, and an infinite loss otherwise.

    Attributes:
        rho: ρ in (0, 1e9].
        log_survival: log S.
        log_escape: upper bound on log(1 − S).
    """

    root_search: ClassVar[RootSearch] = "spare"

    rho: float
    log_survival: float = 0.0
    log_escape: float = -math.inf

    @property
    def log_infinite_mass(self) -> float:
        """log(1 − S), the log-probability of an infinite loss."""
        return self.log_escape

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails. Exponents up to ρb² are rounded a few times."""
        return 256 * UNIT_ROUNDOFF

    @cached_property
    def _chord(self) -> Chord:
        """The chord that replaces the bound on δ, as a function of e^ε, up to the least ε with P(L > ε) + Q(L > ε) ≤ 1.

        ε and both tails are functions of the b of `minimiser`. An approximate end of the chord is valid too.
        """
        largest_epsilon = 1.0 + 4.0 * self.rho + 4.0 * math.sqrt(self.rho)
        log_b = self._log_b_of_chord(largest_epsilon)
        b = math.exp(log_b)
        epsilon = min(max((2.0 * b + 1.0) * self.rho + _log_odds(b, log_b), 0.0), largest_epsilon)
        log_delta = min(float(concentrated_log_delta(self.rho, np.asarray(epsilon))) + 64 * UNIT_ROUNDOFF, 0.0)
        return Chord.ending_at(epsilon, log_delta)

    def _log_b_of_chord(self, largest_epsilon: float) -> float:
        """Return log b at the end of the chord, where the tails P(L > ε) and Q(L > ε) of the bound sum to 1.

        The tails are e^{−ρb²} and e^{−ρ(b+1)²} for the b of `minimiser`. b is found by bisection.

        Args:
            largest_epsilon: an ε beyond that end, in nats.
        """
        low, high = minimiser_at(self.rho, 0.0), minimiser_at(self.rho, largest_epsilon)
        while high - low > UNIT_ROUNDOFF * (1.0 + abs(low)):
            middle = 0.5 * (low + high)
            if middle in (low, high):  # neighbouring doubles
                break
            b = math.exp(middle)
            if math.exp(-self.rho * b * b) + math.exp(-self.rho * (b + 1.0) ** 2) > 1.0:
                low = middle
            else:
                high = middle
        return high

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(S δ_ρ(ε) + 1 − S), with S the probability of the event and δ_ρ the bound on δ from ρ-zCDP.

        δ_ρ is `_log_bound` at the b that makes it least (`minimiser`), and the chord for ε below its end.

        Args:
            epsilon: ε ≥ 0, in nats.
        """
        at = np.asarray(epsilon, dtype=np.float64)
        log_b = minimiser(self.rho, at)
        log_bound = np.where(at < self._chord.epsilon, self._chord.log_bound(at), _log_bound(self.rho, at, log_b))
        # The accuracy of `concentrated_log_delta`; the exponent is cut at 600 so that the product is a double.
        slack = 16 * UNIT_ROUNDOFF * (1.0 + np.exp(np.minimum(log_b, 600.0)) * at)
        least = np.logaddexp(self.log_escape, self.log_survival + log_bound - slack)
        largest = np.logaddexp(self.log_escape, self.log_survival + log_bound + slack)
        lower = Enclosure.around(np.asarray(least), 32 * UNIT_ROUNDOFF).lower
        return Enclosure(lower, Enclosure.around(np.asarray(largest), 32 * UNIT_ROUNDOFF).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of e^{−ρb²} and e^{−ρ(b+1)²}, given the event. They are constant along the chord."""
        at = np.asarray(epsilon, dtype=np.float64)
        b = np.exp(minimiser(self.rho, at))
        along = at < self._chord.epsilon
        log_p = np.where(along, log1m_exp(self._chord.log_q), -self.rho * b * b)
        log_q = np.where(along, self._chord.log_q, -self.rho * (b + 1.0) ** 2)
        return Tails(np.asarray(np.logaddexp(self.log_escape, self.log_survival + log_p)), self.log_survival + log_q)


@dataclass(frozen=True)
class BinaryConcentratedProfile(ConcentratedProfile):
    """The profile of ρ-zCDP with a smaller bound on δ, from Rényi divergences of both directions at one order.

    The tails are those of `ConcentratedProfile`. They dominate, and a composition uses them.
    """

    @cached_property
    def _binary_chord(self) -> Chord:
        """The chord up to the ε from which on the best test has rates p + q ≤ 1. Another end is valid, too."""
        ratios = concentrated_ratios(self.rho)
        epsilon = float(ratios.epsilons[0])
        log_bound = float(ratios.log_bound(ratios.epsilons[:1])[0])
        return Chord.ending_at(epsilon, min(log_bound + 64 * UNIT_ROUNDOFF, 0.0))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the bound on log δ: the smaller one of that of `ConcentratedProfile` and that of the best order.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Bounds of the shape of `epsilon`.
        """
        least, most = super().log_delta(epsilon)
        at = np.asarray(epsilon, dtype=np.float64)
        ratios = concentrated_ratios(self.rho)
        if np.all(at > ratios.epsilons[-1]):
            return Enclosure(least, most)
        chord = self._binary_chord
        log_bound = np.where(at < chord.epsilon, chord.log_bound(at), ratios.log_bound(at)) + 64 * UNIT_ROUNDOFF
        total = np.logaddexp(self.log_escape, self.log_survival + np.minimum(log_bound, 0.0))
        upper = np.minimum(most, Enclosure.around(np.asarray(total), 32 * UNIT_ROUNDOFF).upper)
        return Enclosure(np.minimum(least, upper), upper)


def concentrated_pair(
    rho: float, log_survival: float = 0.0, log_escape: float = -math.inf, summands: WholeFormulas = ()
) -> Pair:
    """Return the symmetric pair of a mechanism that is ρ-zero-concentrated given an event of probability S.

    Args:
        rho: ρ.
        log_survival: log S.
        log_escape: upper bound on log(1 − S).
        summands: formulas for the divergences without the event, each with its number of runs; empty if none are known.
    """
    profile = BinaryConcentratedProfile(rho, log_survival, log_escape)
    return Pair(profile, profile, concentrated=Concentrated(rho, log_survival, log_escape, summands))


def log_escape_of(log_survival: float, log_escapes: Iterable[float]) -> float:
    """Return an upper bound on log(1 − S), the log probability that any of several independent events fails.

    S = Π (1 − e_i). If S is too close to 1, the union bound Σ e_i is used.

    Args:
        log_survival: log S.
        log_escapes: log e_i of the parts.
    """
    if log_survival < -1e-14:
        return min(float(log1m_exp(log_survival)) + 64 * UNIT_ROUNDOFF, 0.0)
    return float(np.logaddexp.reduce([-math.inf, *log_escapes]))


def composed_concentrated(parts: Iterable[tuple[Concentrated, int]]) -> Pair:
    """Return the pair of a composition of ρ_i-zCDP mechanisms, each given an event of probability S_i.

    For T_i runs of part i, it has ρ = Σ T_i ρ_i, rounded up, and an event of probability Π S_i^{T_i}.

    Args:
        parts: the parts, each with its number of runs T_i.
    """
    listed = list(parts)
    rho = math.fsum(times * part.rho for part, times in listed) * (1 + 4 * UNIT_ROUNDOFF)
    log_survival = math.fsum(times * part.log_survival for part, times in listed)
    log_escapes = [math.log(times) + part.log_escape for part, times in listed]
    formulas = [(part.formula, times) for part, times in listed]
    present = tuple((formula, times) for formula, times in formulas if formula is not None)
    summands = present if len(present) == len(listed) else ()
    return concentrated_pair(rho, log_survival, log_escape_of(log_survival, log_escapes), summands)

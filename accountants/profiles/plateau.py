"""Pairs whose δ is bounded by a rational number from some ε on, and how sampling and composition carry that on.

An (ε₀, δ₀) guarantee has δ(ε) ≤ δ₀ for ε ≥ ε₀ with both numbers as they were told. Its profile, in logarithms, is
above log δ₀ by the roundings that are charged, so that a search on the profile alone finds no ε at δ₀ itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from epsilond.accountants.asked import asks_for
from epsilond.accountants.curve import Interval, Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

MOST_PARTS = 1000
"""Rational numbers of a composition of more parts would be too long."""


@dataclass(frozen=True)
class Plateau:
    """δ(ε) ≤ `delta` in both orders at every ε ≥ `epsilon`."""

    epsilon: float
    delta: Fraction


@dataclass(frozen=True)
class PlateauPair(Pair):
    """A pair with a plateau, at which ε(δ) needs no search."""

    plateau: Plateau = Plateau(math.inf, Fraction(1))

    def epsilon(self, log_delta: float) -> Interval:
        """Enclosure of the smallest ε ≥ 0 with δ(ε) at most what is asked; math.inf where there is none."""
        found = super().epsilon(log_delta)
        if found.upper <= self.plateau.epsilon or not asks_for(log_delta, self.plateau.delta):
            return found
        return Interval(min(found.lower, self.plateau.epsilon), self.plateau.epsilon)


def with_plateau(pair: Pair, plateau: Plateau | None) -> Pair:
    """The pair, with a plateau where there is one."""
    if plateau is None:
        return pair
    return PlateauPair(pair.forward, pair.backward, pair.gaussian_dp_mu, pair.law, plateau=plateau)


def amplified_plateau(base: Pair, rate: Fraction) -> Plateau | None:
    """Of q δ(log(1 + (e^ε' − 1)/q)), and of the other order, which is nowhere larger; `rate` is at least q.

    From ε' = log(1 + q (e^ε₀ − 1)) on, rounded up, δ' is at most q δ₀.
    """
    if not isinstance(base, PlateauPair):
        return None
    epsilon, share = base.plateau.epsilon, float(rate)
    moved = math.log1p(share * math.expm1(epsilon)) if epsilon < 700.0 else epsilon
    moved += 16 * UNIT_ROUNDOFF * (1.0 + abs(moved)) if moved > 1e-3 else 16 * UNIT_ROUNDOFF * moved
    return Plateau(min(moved, epsilon), rate * base.plateau.delta)


def thinned_plateau(base: Pair, rate: Fraction) -> Plateau | None:
    """Of q δ(ε)."""
    return Plateau(base.plateau.epsilon, rate * base.plateau.delta) if isinstance(base, PlateauPair) else None


def composed_plateau(parts: Sequence[tuple[Pair, int]]) -> Plateau | None:
    """Σ ε_i, rounded up, and 1 − Π (1 − δ_i): what is left without the infinite losses has losses of at most Σ ε_i."""
    plateaus = [(pair.plateau, times) for pair, times in parts if isinstance(pair, PlateauPair)]
    if len(plateaus) < len(parts) or sum(times for _, times in plateaus) > MOST_PARTS:
        return None
    epsilon = sum((Fraction(one.epsilon) * times for one, times in plateaus), Fraction(0))
    kept = math.prod(((1 - one.delta) ** times for one, times in plateaus), start=Fraction(1))
    rounded = float(epsilon)
    return Plateau(rounded if Fraction(rounded) >= epsilon else math.nextafter(rounded, math.inf), 1 - kept)

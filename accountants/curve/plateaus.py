"""Plateaus: (ε₀, δ₀) guarantees, with both numbers exactly as declared.

The guarantee is δ(ε) ≤ δ₀ for ε ≥ ε₀. Its profile in logarithms is slightly above log δ₀, by the roundings that are
charged. A search on the profile therefore finds no ε at δ₀ itself. Sampling and composition preserve plateaus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

MOST_PARTS = 1000
"""Limit on the number of runs whose plateaus are composed. More runs would give rational numbers that are too long."""


@dataclass(frozen=True)
class Plateau:
    """The guarantee δ(ε) ≤ `delta` in both directions at every ε ≥ `epsilon`, with ε in nats."""

    epsilon: float
    delta: Fraction


def amplify_plateau(base: Plateau | None, rate: Fraction) -> Plateau | None:
    """Return the plateau of a mechanism that is amplified by subsampling, with δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)).

    A plateau is a pair (ε₀, δ₀) with δ(ε) ≤ δ₀ for every ε ≥ ε₀. The amplified δ' is at most q δ₀ from
    log(1 + q (e^ε₀ − 1)) on, which is rounded up. The other direction of the pair is nowhere larger.

    Args:
        base: the plateau of δ, if it has one.
        rate: a rational number that is at least q.
    """
    if base is None:
        return None
    epsilon, share = base.epsilon, float(rate)
    moved = math.log1p(share * math.expm1(epsilon)) if epsilon < 700.0 else epsilon
    moved += 16 * UNIT_ROUNDOFF * (1.0 + abs(moved)) if moved > 1e-3 else 16 * UNIT_ROUNDOFF * moved
    return Plateau(min(moved, epsilon), rate * base.delta)


def thin_plateau(base: Plateau | None, rate: Fraction) -> Plateau | None:
    """Return the plateau of q δ(ε)."""
    return None if base is None else Plateau(base.epsilon, rate * base.delta)


def compose_plateaus(parts: Sequence[tuple[Plateau | None, int]]) -> Plateau | None:
    """Return the plateau of a composition: Σ ε_i, rounded up, and 1 − Π (1 − δ_i).

    A plateau is a pair (ε_i, δ_i) with δ(ε) ≤ δ_i for every ε ≥ ε_i. Except with probability 1 − Π (1 − δ_i), the total
    loss is at most Σ ε_i.

    Args:
        parts: the plateau of each part, and the number of runs of the part.

    Returns:
        The plateau; None if a part has no plateau or if there are more than `MOST_PARTS` runs.
    """
    plateaus = [(plateau, times) for plateau, times in parts if plateau is not None]
    if len(plateaus) < len(parts) or sum(times for _, times in plateaus) > MOST_PARTS:
        return None
    epsilon = sum((Fraction(plateau.epsilon) * times for plateau, times in plateaus), Fraction(0))
    complement = math.prod(((1 - plateau.delta) ** times for plateau, times in plateaus), start=Fraction(1))
    rounded = float(epsilon)
    return Plateau(rounded if Fraction(rounded) >= epsilon else math.nextafter(rounded, math.inf), 1 - complement)

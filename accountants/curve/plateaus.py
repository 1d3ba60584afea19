"""Plateaus: (ε₀, δ₀) guarantees, with both numbers exactly as declared.

The guarantee is δ(ε) ≤ δ₀ for ε ≥ ε₀. Its profile is slightly above log δ₀, because it is rounded up. A search on the
profile therefore finds no ε at δ₀ itself. A plateau does, and sampling and composition preserve plateaus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

MOST_PARTS = 1000
"""Limit on the number of composed runs with a positive δ. More runs would give too long rational numbers."""


@dataclass(frozen=True)
class Plateau:
    """An (ε, δ) guarantee: δ(ε') ≤ δ in both directions at every ε' ≥ ε.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        delta: δ as an exact fraction; 0 for a pure guarantee.
    """

    epsilon: float
    delta: Fraction

    @cached_property
    def log_delta(self) -> float:
        """Logarithm of `delta`, rounded up; −∞ for a pure guarantee."""
        if self.delta == 0:
            return -math.inf
        value = math.log(self.delta.numerator) - math.log(self.delta.denominator)
        size = 1.0 + math.log(self.delta.numerator) + math.log(self.delta.denominator)
        return min(value + 8 * UNIT_ROUNDOFF * size, 0.0)  # rounded up


def pure_plateau(epsilon: Fraction) -> Plateau:
    """Return the plateau of an ε-differentially private mechanism: δ is zero from ε on, which is rounded up."""
    return Plateau(round_up(epsilon), Fraction(0))


def amplify_plateau(base: Plateau | None, rate: Fraction) -> Plateau | None:
    """Return an (ε, δ) guarantee of a mechanism after subsampling, from one of the mechanism itself.

    A plateau is a pair (ε₀, δ₀) with δ(ε) ≤ δ₀ for every ε ≥ ε₀. Subsampling gives:

        δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)).

    This is at most q δ₀ for ε' ≥ log(1 + q (e^ε₀ − 1)), which is rounded up. The other direction of the pair is nowhere
    larger.

    Args:
        base: the plateau of δ; None if there is none.
        rate: a rational number that is at least the inclusion probability q.

    Returns:
        The plateau of δ'; None if δ has none.
    """
    if base is None:
        return None
    epsilon = base.epsilon
    amplified = epsilon
    if epsilon < 700.0:  # e^ε does not overflow
        amplified = math.log1p(float(rate) * math.expm1(epsilon))
    # Rounding errors are relative to 1 + ε, or to ε itself if it is small.
    size = 1.0 + abs(amplified) if amplified > 1e-3 else amplified
    rounded_up = amplified + 16 * UNIT_ROUNDOFF * size
    return Plateau(min(rounded_up, epsilon), rate * base.delta)  # the amplified ε never exceeds the given one


def thin_plateau(base: Plateau | None, rate: Fraction) -> Plateau | None:
    """Return the (ε, δ) guarantee of a mechanism that runs with probability q only, if it is seen whether it ran.

    The ε is that of the mechanism, and the δ is q times its δ.

    Args:
        base: the guarantee of the mechanism; None if there is none.
        rate: probability q, a rational number.

    Returns:
        The guarantee; None if the mechanism has none.
    """
    return None if base is None else Plateau(base.epsilon, rate * base.delta)


def compose_plateaus(parts: Sequence[tuple[Plateau | None, int]]) -> Plateau | None:
    """Return an (ε, δ) guarantee of a composition by basic composition.

    A plateau is a pair (ε_i, δ_i) with δ(ε) ≤ δ_i for every ε ≥ ε_i. Those of all runs give a plateau with Σ ε_i,
    rounded up, and 1 − Π (1 − δ_i), because the total loss is at most Σ ε_i except with this probability.

    Args:
        parts: the plateau of each part, and the number of runs of the part.

    Returns:
        The plateau; None if a part has no plateau or if more than `MOST_PARTS` runs have a positive δ_i.
    """
    plateaus = [(plateau, times) for plateau, times in parts if plateau is not None]
    if len(plateaus) < len(parts):
        return None
    runs_with_delta = sum(times for plateau, times in plateaus if plateau.delta > 0)
    if runs_with_delta > MOST_PARTS:
        return None
    epsilon = sum((Fraction(plateau.epsilon) * times for plateau, times in plateaus), Fraction(0))
    complement = math.prod(((1 - plateau.delta) ** times for plateau, times in plateaus), start=Fraction(1))
    return Plateau(round_up(epsilon), 1 - complement)

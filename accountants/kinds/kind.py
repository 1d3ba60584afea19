"""Facts about a kind of mechanism that are not theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilond.accountants.specs.mechanisms import Mechanism


@dataclass(frozen=True, kw_only=True)
class Concentration:
    """Zero-concentrated privacy of a mechanism: δ-approximate ρ-zCDP, for all neighbours and in both directions.

    Attributes:
        rho: ρ ≥ 0: except with probability δ, the Rényi divergence of every order a > 1 is at most ρ a, in nats.
        delta: δ in [0, 1).
    """

    rho: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class MechanismKind:
    """Facts about one kind of mechanism: a description in words, an example, and its zero-concentrated privacy.

    Attributes:
        sentence: function that describes a spec in words. Its argument has every given field of the spec as text.
        at_noise: function from an amount of noise to a spec. More noise never increases δ at any ε.
        concentration: function from a spec to the zero-concentrated privacy that a theorem of the kind proves, or to
            None if the theorem does not cover the spec. None for a kind without such a theorem.
    """

    sentence: Callable[[Mapping[str, str]], str]
    at_noise: Callable[[float], Mechanism]
    concentration: Callable[[Any], Concentration | None] | None = None

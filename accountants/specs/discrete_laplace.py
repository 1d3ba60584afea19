"""The spec of the discrete Laplace mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import DecayRate, IntegerSensitivity, request
from epsilond.accountants.specs.primitives import KIND, IntegerShift, NoisyIntegers


@request
class DiscreteLaplace:
    """Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each coordinate of integers.

    `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's relation.

    Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed record
    may count where an absent one does not: 1000 |S| + Σ x has distance 1 under zero-out-one if every x is 0 or 1. So a
    Poisson batch of them is thinned under zero-out-one (δ' = q δ at the same ε) and not amplified.
    """

    kind: Annotated[Literal["discrete_laplace"], KIND] = "discrete_laplace"
    decay_rate: DecayRate
    sensitivity: IntegerSensitivity

    @property
    def primitive(self) -> NoisyIntegers:
        """Two-sided geometric noise without a bound."""
        return NoisyIntegers(self.decay_rate, IntegerShift(l1=self.sensitivity, linf=self.sensitivity))

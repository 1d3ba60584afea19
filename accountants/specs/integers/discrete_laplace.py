"""The spec of the discrete Laplace mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import DecayRate, request
from epsilond.accountants.quantities.mechanisms import IntegerSensitivity
from epsilond.accountants.specs.primitives import KIND, IntegerShift, NoisyIntegers


@request
class DiscreteLaplace:
    """Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each coordinate of integers.

    `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's relation.

    Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed record
    may count where an absent one does not. An example is 1000 |S| + Σ x for a set S of records x, each 0 or 1, which
    has distance 1 under zero-out-one. Poisson sampling with rate q therefore keeps ε under zero-out-one, and only gives
    δ' = q δ.
    """

    kind: Annotated[Literal["discrete_laplace"], KIND] = "discrete_laplace"
    decay_rate: DecayRate
    sensitivity: IntegerSensitivity

    @property
    def primitive(self) -> NoisyIntegers:
        """Two-sided geometric noise without a bound, with the largest shift of the integers between neighbours."""
        return NoisyIntegers(self.decay_rate, IntegerShift(l1=self.sensitivity, linf=self.sensitivity))

"""The spec of the truncated discrete Laplace mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import DecayRate, Dimension, NoiseLevels, request
from epsilond.accountants.quantities.mechanisms import L1_SENSITIVITY, L2_SENSITIVITY, LINF_SENSITIVITY
from epsilond.accountants.specs.primitives import KIND, IntegerShift, NoisyIntegers


@request
class TruncatedDiscreteLaplace:
    """Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to each of `dimension` integers.

    The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
    relation; a real bound means its floor. Outputs that are possible for only one of two neighbours have infinite loss.

    Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.
    """

    kind: Annotated[Literal["truncated_discrete_laplace"], KIND] = "truncated_discrete_laplace"
    noise_levels: NoiseLevels
    decay_rate: DecayRate
    dimension: Dimension
    l1_sensitivity: Annotated[float, L1_SENSITIVITY]
    linf_sensitivity: Annotated[float, LINF_SENSITIVITY]
    l2_sensitivity: Annotated[float | None, L2_SENSITIVITY] = None

    @property
    def primitive(self) -> NoisyIntegers:
        """Two-sided geometric noise of at most `noise_levels`, with the largest shift of the integers of neighbours."""
        shift = IntegerShift(self.l1_sensitivity, self.linf_sensitivity, self.l2_sensitivity, self.dimension)
        return NoisyIntegers(self.decay_rate, shift, self.noise_levels)

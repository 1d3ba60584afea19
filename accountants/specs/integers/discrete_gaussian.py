"""The spec of the discrete Gaussian mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Dimension, Quantity, request
from epsilond.accountants.quantities.mechanisms import L2_SENSITIVITY
from epsilond.accountants.specs.primitives import KIND, IntegerShift, ShiftedIntegers

SCALE = Quantity(
    symbol="σ",
    unit="grid step",
    ge=2.0**-20,
    le=2.0**40,
    description="scale σ of the discrete Gaussian noise, in grid steps: the integer y has probability "
    "proportional to e^(−y²/(2σ²))",
)


@request
class DiscreteGaussian:
    """Adds noise with P(y) ∝ e^(−y²/(2 scale²)) on the integers to each of `dimension` integers.

    `l2_sensitivity` bounds the ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in the
    request's relation. Nothing is doubled for replace-one.

    Admits: integers that depend on the data arbitrarily within that distance, as `discrete_laplace` does. The noise of
    one party is meant. A sum of several parties' discrete Gaussian noises has another distribution.
    """

    kind: Annotated[Literal["discrete_gaussian"], KIND] = "discrete_gaussian"
    scale: Annotated[float, SCALE]
    l2_sensitivity: Annotated[float, L2_SENSITIVITY]
    dimension: Dimension

    @property
    def primitive(self) -> ShiftedIntegers:
        """Discrete Gaussian noise on integers, with the largest shift of the integers between neighbours."""
        return ShiftedIntegers(
            "discrete-gaussian", self.scale, IntegerShift.within(self.l2_sensitivity, dimension=self.dimension)
        )

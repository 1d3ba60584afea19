"""The spec of the Skellam mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Dimension, Quantity, request
from epsilond.accountants.quantities.mechanisms import L1_SENSITIVITY, L2_SENSITIVITY
from epsilond.accountants.specs.primitives import KIND, IntegerShift, ShiftedIntegers

VARIANCE = Quantity(
    symbol="μ",
    unit="grid step²",
    ge=2.0**-20,
    le=2.0**22,
    description="variance μ of the Skellam noise on one coordinate, in squared grid steps. The noise is the "
    "difference of two Poisson variables of mean μ/2",
)


@request
class Skellam:
    """Adds the difference of two independent Poisson variables of mean variance/2 to each of `dimension` integers.

    The sensitivities bound the ℓ1 and ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in the
    request's relation. Nothing is doubled for replace-one. A sum of independent Skellam noises is Skellam noise, and
    the variances add. With dropouts, `variance` is that of the noise that remains.

    Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.
    """

    kind: Annotated[Literal["skellam"], KIND] = "skellam"
    variance: Annotated[float, VARIANCE]
    l1_sensitivity: Annotated[float, L1_SENSITIVITY]
    l2_sensitivity: Annotated[float, L2_SENSITIVITY]
    dimension: Dimension

    @property
    def primitive(self) -> ShiftedIntegers:
        """Skellam noise on integers, with the largest shift of the integers between neighbours."""
        shift = IntegerShift.within(self.l2_sensitivity, dimension=self.dimension, l1=self.l1_sensitivity)
        return ShiftedIntegers("skellam", self.variance, shift)

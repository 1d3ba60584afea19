"""The spec of the Gaussian mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import NoiseMultiplier, request
from epsilond.accountants.specs.primitives import KIND, NoisySum


@request
class Gaussian:
    """Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ = noise_multiplier · C.

    Admits: a sum to which each record adds one vector that does not depend on the other records. A record that is
    absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

    Not covered: dividing by the actual batch size, or adding noise per record.
    """

    kind: Annotated[Literal["gaussian"], KIND] = "gaussian"
    noise_multiplier: NoiseMultiplier

    @property
    def primitive(self) -> NoisySum:
        """Gaussian noise on a sum, as the basic mechanism that theorems are about."""
        return NoisySum("gaussian", self.noise_multiplier)

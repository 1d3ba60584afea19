"""The spec of Gaussian noise on a sum to which each record adds a contribution of random size."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import NoiseMultiplier, Quantity, request
from epsilond.accountants.quantities.mechanisms import (
    MIXTURE_PROBABILITIES,
    MIXTURE_PROBABILITY,
    MIXTURE_SENSITIVITIES,
    MIXTURE_SENSITIVITY,
)
from epsilond.accountants.quantity import check_value
from epsilond.accountants.specs.primitives import KIND, RandomSum

MOST_COMPONENTS = 1000
"""Largest number of sensitivities; the work of a composition grows with their number."""
LARGEST_SHIFT = 1e6
"""Largest sensitivity over the noise multiplier; a Gaussian mechanism has no larger one at its least noise."""
SUM_ACCURACY = 1e-9
"""Largest difference of the sum of the probabilities from 1, which roundings of the caller explain."""


@request
class GaussianMixture:
    """Adds N(0, σ²) per coordinate to a sum of contributions of random size, with σ = noise_multiplier · C.

    A record's contribution has ℓ2 norm at most `sensitivities[i]` · C with probability `probabilities[i]`. The largest
    probability is read as 1 minus the others.

    Admits: a sum to which each record adds one random vector. In every release an index i is drawn afresh for each
    record, independently of the data and of other records. The vector may depend on the data and on i. A record that is
    absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

    Not covered: indices that are seen, or that several records share.
    """

    kind: Annotated[Literal["gaussian_mixture"], KIND] = "gaussian_mixture"
    sensitivities: Annotated[tuple[Annotated[float, MIXTURE_SENSITIVITY], ...], MIXTURE_SENSITIVITIES]
    probabilities: Annotated[tuple[Annotated[float, MIXTURE_PROBABILITY], ...], MIXTURE_PROBABILITIES]
    noise_multiplier: NoiseMultiplier

    def check(self) -> None:
        """Check that there is one probability for each sensitivity, that they add up to 1, and that all are in range.

        Raises:
            InvalidInput: the lists are empty, too long or of different lengths, or an entry is out of range. Also if
                the probabilities do not add up to 1, or a sensitivity exceeds `LARGEST_SHIFT` noise multipliers.
        """
        if not 1 <= len(self.sensitivities) <= MOST_COMPONENTS:
            raise InvalidInput.at(
                "/sensitivities", "has too few or too many entries", allowed=f"1 to {MOST_COMPONENTS}"
            )
        if len(self.probabilities) != len(self.sensitivities):
            message = "must have one entry for each sensitivity"
            raise InvalidInput.at("/probabilities", message, allowed=f"{len(self.sensitivities)} entries")
        _check_entries("sensitivities", self.sensitivities, MIXTURE_SENSITIVITY)
        _check_entries("probabilities", self.probabilities, MIXTURE_PROBABILITY)

        total_probability = math.fsum(self.probabilities)
        if not abs(total_probability - 1.0) <= SUM_ACCURACY:
            raise InvalidInput.at("/probabilities", "must add up to 1", allowed=f"a sum within {SUM_ACCURACY:g} of 1")
        largest_sensitivity = LARGEST_SHIFT * self.noise_multiplier
        if max(self.sensitivities) > largest_sensitivity:
            message = "is larger than any that the noise hides"
            raise InvalidInput.at("/sensitivities", message, allowed=f"≤ {LARGEST_SHIFT:g} · noise_multiplier")

    @property
    def primitive(self) -> RandomSum:
        """Gaussian noise on a sum of contributions of random size, as the basic mechanism that theorems are about."""
        return RandomSum(self.sensitivities, self.probabilities, self.noise_multiplier)


def _check_entries(name: str, entries: tuple[object, ...], quantity: Quantity) -> None:
    """Check that each entry of a list is a number in its range.

    Args:
        name: name of the field of the request.
        entries: entries of the field, as they were received.
        quantity: meaning and range of an entry.

    Raises:
        InvalidInput: an entry is not a number, or is out of range. The error points to the first such entry.
    """
    for index, entry in enumerate(entries):
        fault = check_value(f"/{name}/{index}", entry, float, quantity)
        if fault is not None:
            raise InvalidInput(fault)

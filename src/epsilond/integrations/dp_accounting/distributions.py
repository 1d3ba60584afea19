"""A `PrivacyLossDistribution` of dp-accounting as a spec of kind `profile`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import DeclaredProfile
from epsilond.profiles import LEAST_LOG10_DELTA

if TYPE_CHECKING:
    from dp_accounting.pld import privacy_loss_distribution

POINTS = 400
"""Number of points, dense near ε = 0. Between them the profile is the line in e^ε, above that of the distribution."""
ROUNDING = 1.0 + 1e-9
"""Factor on every δ, for the roundings of the distribution's own sums."""
LEAST_DELTA = 1e-15
"""δ to which the points reach, above the mass of infinite losses. Smaller ones are lost in roundings."""
LARGEST_EPSILON = 700.0
"""ε to which the points reach. Above 709 dp-accounting's δ is NaN, because e^ε is no double."""


def profile_from_pld(distribution: privacy_loss_distribution.PrivacyLossDistribution) -> DeclaredProfile:
    """Return the `profile` of a privacy loss distribution, in both directions.

    The caller vouches for the distribution: that it is a pessimistic estimate, and of which mechanism. Its
    `get_delta_for_epsilon`, the larger δ of both directions, is read at `POINTS` values of ε and rounded up.

    Args:
        distribution: the distribution. It is not changed.

    Raises:
        InvalidInput: δ is 1 at every ε.
    """
    infinite = float(distribution.get_delta_for_epsilon(LARGEST_EPSILON))
    end = float(distribution.get_epsilon_for_delta(infinite * ROUNDING**2 + LEAST_DELTA))
    end = min(end, LARGEST_EPSILON)
    epsilons = max(end, 1e-3) * np.linspace(0.0, 1.0, POINTS) ** 1.5
    deltas = np.minimum(np.asarray(distribution.get_delta_for_epsilon(epsilons)) * ROUNDING + LEAST_DELTA, 1.0)
    if deltas.min() >= 1.0:
        raise InvalidInput.at("", "has δ = 1 at every ε")
    points = zip(epsilons.tolist(), deltas.tolist(), strict=True)
    return DeclaredProfile(
        points=tuple((epsilon, max(math.log10(delta), LEAST_LOG10_DELTA)) for epsilon, delta in points)
    )

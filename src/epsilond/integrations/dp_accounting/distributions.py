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
"""Number of points of a profile. Between two points it is linear in e^ε, which is above δ, a convex function of e^ε."""
ROUNDING = 1.0 + 1e-9
"""Factor on every δ, for the roundings of the distribution's own sums."""
LEAST_DELTA = 1e-15
"""δ to which the points reach, above the mass of infinite losses. Smaller ones are lost in roundings."""
LEAST_RANGE = 1e-3
"""Smallest ε to which the points reach, so that the points of a distribution with almost no loss differ."""
DENSITY_POWER = 1.5
"""Power of the equally spaced numbers in [0, 1] that gives the points: above 1, they are dense near ε = 0."""
LARGEST_EPSILON = 700.0
"""ε to which the points reach. Above 709 dp-accounting's δ is NaN, because e^ε is not a double."""


def profile_from_pld(distribution: privacy_loss_distribution.PrivacyLossDistribution) -> DeclaredProfile:
    """Convert a privacy loss distribution to a privacy profile, a table of upper bounds on δ by ε.

    Its `get_delta_for_epsilon`, the larger δ of both directions, is evaluated at `POINTS` values of ε and rounded up.
    The profile is valid only if the distribution is a pessimistic estimate for the caller's mechanism.

    Args:
        distribution: the distribution. It is not changed.

    Returns:
        The profile: points (ε, log10 δ), each with an upper bound on the δ of the mechanism.

    Raises:
        InvalidInput: δ is 1 at every ε.
    """
    # At the largest ε, δ is almost the probability of an infinite loss. The points end where δ comes close to it.
    infinite_mass = float(distribution.get_delta_for_epsilon(LARGEST_EPSILON))
    epsilon_near_infinite_mass = float(distribution.get_epsilon_for_delta(infinite_mass * ROUNDING**2 + LEAST_DELTA))
    last_epsilon = max(min(epsilon_near_infinite_mass, LARGEST_EPSILON), LEAST_RANGE)
    # The power makes the points dense near ε = 0, where δ changes fast.
    epsilons = last_epsilon * np.linspace(0.0, 1.0, POINTS) ** DENSITY_POWER
    computed_deltas = np.asarray(distribution.get_delta_for_epsilon(epsilons))
    # The factor covers the rounding errors of the distribution's sums, and the summand those of tiny δ.
    deltas = np.minimum(computed_deltas * ROUNDING + LEAST_DELTA, 1.0)
    if deltas.min() >= 1.0:
        raise InvalidInput.at("", "has δ = 1 at every ε")
    points = []
    for epsilon, delta in zip(epsilons.tolist(), deltas.tolist(), strict=True):
        points.append((epsilon, max(math.log10(delta), LEAST_LOG10_DELTA)))
    return DeclaredProfile(points=tuple(points))

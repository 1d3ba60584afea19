"""ρ of zero-concentrated privacy by the parts of a pair: D_a ≤ ρ a at every order a > 1.

A part below N(μ, 1) against N(0, 1) has ρ = μ²/2. A pure part has ε²/2 (Bun and Steinke 2016, Proposition 1.4). A part
may also be known by its ρ, or by a formula or a pair above it that has a ρ. All ρ add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.profiles.atoms import AtomicProfile

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.curve.renyi_bounds import RenyiFormula

ROUNDED = 1.0 + 2.0**-48
"""Factor above the rounding of a stored μ, of its square and of a sum of squares."""


def concentration_of_part(part: Pair) -> float:
    """Return a ρ for which a single pair of distributions is ρ-zero-concentrated private.

    This means that its Rényi divergence of every order a > 1 is at most ρ a. It holds with ρ = μ²/2 for μ-Gaussian
    privacy, and with ρ = s²/2 if no privacy loss exceeds s.

    Args:
        part: a pair that is not a composition. It may have alternatives, that is, pairs that dominate the same
            mechanism.

    Returns:
        The least ρ that is known, of all alternatives; math.inf if none is known.
    """
    if part.alternatives:
        return min(concentration_of_parts(alternative) for alternative in part.alternatives)
    bounds = [math.inf]

    # A Gaussian pair, or a step with random batches, which a Gaussian pair dominates if no loss is infinite.
    if part.gaussian_dp_mu is not None:
        bounds.append(0.5 * part.gaussian_dp_mu**2)
    if part.law is not None and getattr(part.law, "log_rest", -math.inf) == -math.inf:
        bounds.append(0.5 * part.law.distance**2)

    # A bounded loss, a formula for the divergences, or a pair that dominates this one.
    largest = largest_loss(part)
    if math.isfinite(largest):
        bounds.append(0.5 * largest * largest)
    bounds.extend(formula.rho for formula in formulas_of(part))
    if part.below is not None:
        bounds.append(concentration_of_parts(part.below))
    return min(bounds)


def formulas_of(part: Pair) -> list[RenyiFormula]:
    """Return the known formulas for the Rényi divergences of a pair that is not a composition of other pairs.

    Args:
        part: the pair of distributions.

    Returns:
        Up to two formulas: that of the pair itself, and that of ρ-zCDP if the pair has a bound of this kind.
    """
    formulas = [part.formula, None if part.concentrated is None else part.concentrated.formula]
    return [formula for formula in formulas if formula is not None]


def concentration_of_parts(pair: Pair) -> float:
    """Return a ρ of zero-concentrated privacy of a composition: the sum over its parts, rounded up.

    Args:
        pair: a pair of distributions, which may be a composition.

    Returns:
        ρ; math.inf if no ρ is known for some part.
    """
    return math.fsum(times * concentration_of_part(part) for part, times in unfold(((pair, 1),))) * ROUNDED


def largest_loss(pair: Pair) -> float:
    """Return an ε from which on δ of a pair is zero in both directions.

    The largest privacy losses of the parts of a composition add up.

    Args:
        pair: a pair of distributions, which may be a composition.

    Returns:
        ε in nats, rounded up; math.inf if none is known.
    """
    losses = [times * _largest_loss_of_part(part) for part, times in unfold(((pair, 1),))]
    return math.fsum(losses) * ROUNDED


def _largest_loss_of_part(part: Pair) -> float:
    """Return an ε from which on δ of a pair is zero, because its privacy loss does not exceed it.

    Args:
        part: a pair of distributions that is not a composition.

    Returns:
        ε in nats, for both directions; math.inf if none is known.
    """
    law = part.atoms
    if law is not None and law.log_infinite == law.log_missing == -math.inf:
        # The factor exceeds the relative error of the losses.
        return max(map(abs, law.losses), default=0.0) * (1.0 + 2.0 * law.accuracy)
    return max(map(_largest_loss_of_profile, part.directions()))


def _largest_loss_of_profile(profile: Profile) -> float:
    """Return an ε from which on δ of one direction is zero; math.inf if none is known."""
    if isinstance(profile, AtomicProfile) and profile.log_infinite_mass == -math.inf:
        return max(profile.losses, default=0.0)
    return profile.supremum

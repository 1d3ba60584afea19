"""Losses at which the profiles of a pair are evaluated. The choice affects the tightness, not the validity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.cells import spread_bounds
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.concentrated import ConcentratedProfile
from epsilond.accountants.profiles.declared.renyi_bounds import RenyiProfile
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.gaussian_mixtures import MixtureProfile
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.profiles.integers.shifted_noise import ShiftedNoiseProfile
from epsilond.accountants.profiles.laplace import LaplaceProfile
from epsilond.accountants.profiles.selection.bounded_range import BoundedRangeProfile

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

LARGEST_LOSS = 400.0
"""Largest loss of a finite value, in nats. Larger losses count as infinite. See *Underflow* in the error terms."""
_LEAST_LOG_DELTA = -690.0
"""log δ below which losses do not matter."""
_FINE = 1024
"""Number of losses at which the tails of a profile in closed form are evaluated, to place the cells."""
_FEW_LOSSES = 128
"""Number of losses at which other profiles are evaluated, such as those of compositions."""
_LEAST_SHARE = 1e-3
"""The least of these losses, as a fraction of the largest one that matters."""
_MODERATE_LOG_DELTA = -80.0
"""log δ below which the losses of such a profile are less dense."""
_MOST_LISTED = 1500
"""Largest number of atoms of a profile that are all used."""
EXACT_TAILS: tuple[type[Profile], ...] = (
    GaussianProfile,
    MixtureProfile,
    LaplaceProfile,
    GeometricProfile,
    ShiftedNoiseProfile,
)
"""Profiles with the tails of the attained pair. The tails of a composed profile may be those of a larger one."""
_CLOSED_FORMS: tuple[type[Profile], ...] = (
    *EXACT_TAILS,
    AtomicProfile,
    BoundedRangeProfile,
    ConcentratedProfile,
    RenyiProfile,
)
"""Profiles that cost little at many losses."""
LOSS_UNITS = 8.0
"""Distance of the logarithm of a double e^{±ε} from ε, in units of roundoff of 1 + ε."""


def earlier_losses(losses: FloatArray) -> FloatArray:
    """Return losses at which δ is at least that at the losses of the doubles nearest to e^{±ε}."""
    return np.asarray(np.maximum(losses - LOSS_UNITS * UNIT_ROUNDOFF * (1.0 + losses), 0.0))


def pure_loss(profile: Profile, pair: Pair | None = None) -> float:
    """Return an ε in nats from which on δ is 0; math.inf if none is known.

    It is the largest privacy loss, or the ε of a known guarantee with δ = 0 if that is smaller.

    Args:
        profile: the privacy profile ε ↦ δ(ε) of one direction of a pair of distributions.
        pair: the pair, which may have such a guarantee (`plateau`); None if there is no pair.

    Returns:
        The least such ε that is known.
    """
    end = profile.supremum
    # A list of finite losses shows the largest one.
    if isinstance(profile, AtomicProfile) and profile.log_infinite_mass == -math.inf:
        end = profile.losses[-1] if profile.losses else 0.0
    plateau = None if pair is None else pair.plateau
    # A guarantee with δ = 0 may have a smaller ε.
    if plateau is None or plateau.delta != 0:
        return end
    return min(end, plateau.epsilon)


def choose_losses(profile: Profile, end: float, cells: int) -> FloatArray:
    """Choose increasing privacy losses from 0 to the largest that matters, at which a profile is evaluated.

    If the privacy loss has a known list of values, these are chosen. Otherwise the chosen losses are dense where the
    loss has its probability, or near 0 for an expensive profile. The choice affects the tightness of a bound, not its
    validity.

    Args:
        profile: the privacy profile ε ↦ δ(ε) of one direction of a pair of distributions.
        end: an ε from which on δ is 0, in nats; math.inf if none is known.
        cells: approximate number of losses of a profile that is evaluated at little cost; not used for others.

    Returns:
        The losses, in nats.
    """
    listed = _listed_losses(profile, end)
    if listed is not None:
        return listed
    end = _largest_loss(profile, end)

    # An expensive profile is evaluated at few losses, on three grids.
    if not isinstance(profile, _CLOSED_FORMS):
        middle = _largest_loss(profile, end, _MODERATE_LOG_DELTA)
        whole_range = np.linspace(0.0, end, _FEW_LOSSES // 4)
        lower_range = np.linspace(0.0, middle, 64)
        near_zero = np.geomspace(_LEAST_SHARE * middle, middle, _FEW_LOSSES)
        return np.unique(np.concatenate((whole_range, lower_range, near_zero)))

    # For other profiles, the tails at many losses give the masses of small intervals.
    fine = np.linspace(0.0, end, _FINE + 1)
    tails = profile.log_tails(fine)
    masses = -np.diff(np.exp(tails.log_p) + np.exp(tails.log_q))
    even = np.linspace(0.0, end, cells // 4)
    return np.unique(np.concatenate((even, spread_bounds(fine, masses, cells))))


def _listed_losses(profile: Profile, end: float) -> FloatArray | None:
    """Return 0 and all possible positive privacy losses in increasing order, if there are few.

    The privacy loss is the log likelihood ratio of an output on two neighbouring data sets. If it takes few values,
    tables of δ need entries only there.

    Args:
        profile: the privacy profile of one direction.
        end: an ε from which on δ is 0, in nats; math.inf if none is known.

    Returns:
        The losses in nats, 0 included. Of very many values of a finite list, only a part is returned. None if the
        possible losses are too many or not known.
    """
    if end == 0.0:
        return np.zeros(1)

    # A profile with finitely many losses. The largest one is always listed.
    if isinstance(profile, AtomicProfile):
        losses = np.asarray(profile.losses)
        losses = losses[(losses > 0.0) & (losses <= LARGEST_LOSS)]
        every = max(1, math.ceil(losses.size / _MOST_LISTED))
        from_the_end = -1 - np.arange(losses.size)
        return np.append(0.0, losses[from_the_end % every == 0])

    # Differences of geometric noise have losses of the decay rate times s, s − 2, …, for the shift s.
    if isinstance(profile, GeometricProfile) and profile.shift <= _MOST_LISTED:
        losses = profile.decay_rate * np.arange(profile.shift % 2, profile.shift + 1, 2.0)
        return np.unique(np.append(0.0, losses[losses <= LARGEST_LOSS]))

    # Losses that are multiples of one number.
    span = profile.span
    if span is None or not span > 0.0:
        return None
    largest = _largest_loss(profile, end)
    if largest / span > _MOST_LISTED:
        return None
    multiples = span * np.arange(math.ceil(largest / span) + 1)
    return np.asarray(multiples[multiples <= LARGEST_LOSS])


def interval_bounds(profile: Profile, end: float, cells: int) -> FloatArray:
    """Choose increasing bounds of intervals of positive privacy losses, from 0 on.

    If the loss has a list of values (`_listed_losses`), each listed positive one is inside an interval of its own.
    Otherwise the bounds are the losses of `choose_losses`.

    Args:
        profile: the privacy profile ε ↦ δ(ε) of one direction of a pair of distributions.
        end: an ε from which on δ is 0, in nats; math.inf if none is known.
        cells: `cells` of `choose_losses`; not used if the loss has a list of values.

    Returns:
        The bounds, in nats.
    """
    listed = _listed_losses(profile, end)
    if listed is None:
        return choose_losses(profile, end, cells)
    middles = 0.5 * (listed[1:] + listed[:-1])
    # A bound slightly above the last loss; the second term is for a last loss of 0.
    beyond_last = listed[-1] * (1.0 + 1e-9) + 1e-300
    return np.concatenate(([0.0], middles, [beyond_last]))


def _largest_loss(profile: Profile, end: float, least_log_delta: float = _LEAST_LOG_DELTA) -> float:
    """Search by bisection for the largest privacy loss that matters, at most `LARGEST_LOSS`.

    Beyond it δ is negligible, or hardly above the probability of the infinite loss.

    Args:
        profile: the privacy profile of one direction.
        end: an ε from which on δ is 0, in nats; math.inf if none is known.
        least_log_delta: log δ below which δ is negligible.

    Returns:
        The loss in nats, about 0.1 % too large at most.
    """
    limit = min(end, LARGEST_LOSS)
    # The floor is slightly above the probability of the infinite loss, to which δ tends.
    floor = max(least_log_delta, profile.log_infinite_mass + 1e-9)
    low, high = 0.0, limit
    for _ in range(30):
        middle = 0.5 * (low + high)
        if profile.upper_log_delta(middle) > floor:
            low = middle
        else:
            high = middle
        # A loss that is 0.1 % too large is close enough.
        if high - low <= 1e-3 * high:
            break
    return high

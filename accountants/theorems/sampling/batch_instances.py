"""What neighbours realise when a batch is drawn: concrete data sets for the lower end, named in words.

Each function answers pairs of output laws of one instance that the spec admits. Noise is added to a sum; C is the
bound on a contribution.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.facts import GaussianMixtureLaw
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import Share, drawn_or_not, with_laws_around
from epsilond.accountants.profiles.binned import Mixture, Noise, cells_pair
from epsilond.accountants.profiles.gaussian import GaussianMixture, mixture_pair
from epsilond.accountants.profiles.laplace import opposite_laplace_pair
from epsilond.accountants.profiles.weighted_groups import gaussian_mixture_pair
from epsilond.accountants.specs import Spec
from epsilond.accountants.specs.primitives import NoisyIntegers, NoisySum
from epsilond.accountants.structure import (
    draws,
    gaussian_multiplier,
    leaves,
    may_sum_contributions,
    sums_bounded_contributions,
)
from epsilond.accountants.theorems.sampling.multiplicities import MOST_ERROR, round_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.specs import Spec, Subsampled
    from epsilond.accountants.theorems.sampling.multiplicities import Multiplicities

MOST_GROUPS = 256
"""Multiplicities told apart in a witness: those that weigh most. The others count as the next lower one."""


def opposite_gaussian(shift: float, share: Share) -> tuple[Pair, Pair]:
    """(1 − q) N(0, 1) + q N(s, 1) against its mirror image: opposite contributions, the rest at zero.

    A pair above, and one that is realised.
    """
    weights = (math.log(share.absent), math.log(share.rate))
    pair = mixture_pair(GaussianMixture(weights, (0.0, shift)), GaussianMixture(weights, (0.0, -shift)))
    return with_laws_around(pair.forward, pair.backward, share, shift, "replace")


def opposite_contributions(mechanism: Spec, share: Share, inner: Guarantee | None = None) -> tuple[Pair, ...]:
    """Under replace-one: contributions C and −C, drawn with probability q, and all others at zero.

    Several Gaussian releases of one batch are one along the line through both contributions; `inner` is their
    replace-one guarantee.
    """
    if isinstance(mechanism.primitive, NoisySum):
        contribution = 1.0 / mechanism.primitive.multiplier
        if mechanism.primitive.distribution == "gaussian":
            return opposite_gaussian(contribution, share)[1:]
        return (opposite_laplace_pair(share.rate, contribution, absent=share.absent),)
    mu = None if inner is None or not inner.curve.tight else inner.curve.upper.gaussian_dp_mu
    if mu is not None and share.rate < 1.0 and _adds_gaussian_noise(mechanism) and not draws(mechanism):
        return opposite_gaussian(0.5 * mu * (1.0 - 8 * UNIT_ROUNDOFF), share)[1:]
    return ()


def _adds_gaussian_noise(spec: Spec) -> bool:
    """Return whether every mechanism in it adds Gaussian noise to a sum."""
    return all(gaussian_multiplier(leaf) is not None for leaf in leaves(spec))


def fixed_batch(spec: Subsampled, inner: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Under replace-one with a batch of fixed size.

    All other records equal to the replacing one: the batch without the record is then the same whichever it holds, and
    the laws are (1 − q) Q + q P against Q. For contributions of bounded norm also opposite ones, all others at zero.
    """
    mechanism = spec.mechanism
    if draws(mechanism) or not inner.curve.tight or not may_sum_contributions(mechanism):
        return ()
    return (drawn_or_not(inner.curve.upper, share)[1], *opposite_contributions(mechanism, share, inner))


def zeroed_in_a_batch(mechanism: Spec, zeroed: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Under zero-out-one with a batch of fixed size: a contribution of C or none, drawn with probability q.

    All others at zero: the batch without the record sums to zero either way, (1 − q) ν₀ + q ν_s against ν₀. All others
    at −C: seen from a batch of these alone it is (1 − q) ν₀ + q ν_2s against (1 − q) ν₀ + q ν_s.
    `zeroed` is the mechanism's own zero-out-one guarantee.
    """
    if draws(mechanism) or not zeroed.curve.tight or not sums_bounded_contributions(mechanism):
        return ()
    found = (drawn_or_not(zeroed.curve.upper, share)[1],)
    mu = zeroed.curve.upper.gaussian_dp_mu
    # Several Gaussian releases are one along the line of the contributions.
    noise_and_shift = (Noise("gaussian"), mu) if mu is not None else noise_of_contribution(mechanism)
    if noise_and_shift is None or share.rate == 1.0:
        return found
    noise, shift = noise_and_shift
    weights = (math.log(share.absent), math.log(share.rate))
    return (*found, cells_pair(Mixture((0.0, 2.0 * shift), weights), Mixture((0.0, shift), weights), noise))


def noise_of_contribution(mechanism: Spec) -> tuple[Noise, float] | None:
    """Return the noise on one coordinate, and the shift of one contribution.

    Returns:
        The noise in units of its scale, and the shift of a contribution of norm C, or of the integers' sensitivity, in
        the same unit. None if the mechanism does not add noise on an unbounded range.
    """
    primitive = mechanism.primitive
    if isinstance(primitive, NoisySum):
        return Noise(primitive.distribution), 1.0 / primitive.multiplier
    if isinstance(primitive, NoisyIntegers) and primitive.noise_levels is None and primitive.shift.fits_one_axis:
        return Noise("geometric", primitive.decay_rate), primitive.decay_rate * math.floor(primitive.shift.l1)
    return None


def drawn_several_times(drawn: Multiplicities, mechanism: Spec, *, zeroed: bool) -> tuple[Pair, ...]:
    """With replacement: the record's contribution counts as often as it is drawn.

    Replaced: from C to −C with all other records at −C, for Gaussian noise also with all others at zero; for integers
    from their sensitivity to zero, all others at zero. Zeroed: from C to zero with all others at zero, and with all
    others at −C. Rounding multiplicities down brings the laws of a replaced record closer: they are one law moved.
    """
    absent = ((drawn.log_absent, 0),) if drawn.rate < 1.0 else ()
    kept = (*absent, *zip(drawn.log_weights, drawn.least, strict=True))
    noise_and_shift = noise_of_contribution(mechanism)
    assert noise_and_shift is not None
    noise, shift = noise_and_shift
    if noise.kind == "gaussian" and not zeroed:
        if drawn.accuracy < MOST_ERROR:
            return _several_gaussian(kept, 2.0 * shift, "remove", drawn), _several_gaussian(
                kept, shift, "replace", drawn
            )
        one_sided = mixture_pair(_mixture(kept, 2.0 * shift), GaussianMixture((0.0,), (0.0,)))
        return one_sided, mixture_pair(_mixture(kept, shift), _mixture(kept, -shift))
    weights = _told_apart(kept)
    span = 1.0 if zeroed or noise.kind == "geometric" else 2.0
    if noise.kind == "gaussian" and drawn.accuracy < MOST_ERROR:
        pair = _several_gaussian(kept, shift, "remove", drawn)
    else:
        pair = cells_pair(_moved(weights, span * shift), Mixture((0.0,), (0.0,)), noise, drawn.accuracy)
    if not zeroed or any(low != high for low, high in zip(drawn.least, drawn.most, strict=True)):
        return (pair,)
    return pair, cells_pair(_moved(weights, 2.0 * shift), _moved(weights, shift), noise, drawn.accuracy)


def _several_gaussian(
    kept: Sequence[tuple[float, int]], shift: float, direction: Direction, drawn: Multiplicities
) -> Pair:
    """Return the pair of Gaussian noise with its law; probabilities are rounded towards smaller multiplicities.

    That brings the laws closer (docs/engine-certificate.md, A10).
    """
    probabilities = round_probabilities([weight for weight, _ in kept], drawn.accuracy, upward=False)
    shifts = tuple(shift * times for _, times in kept)
    return gaussian_mixture_pair(GaussianMixtureLaw(shifts, probabilities, direction))


def _moved(weights: dict[int, float], scale: float) -> Mixture:
    return Mixture(tuple(scale * times for times in weights), tuple(weights.values()))


def _mixture(kept: tuple[tuple[float, int], ...], scale: float) -> GaussianMixture:
    return GaussianMixture(tuple(weight for weight, _ in kept), tuple(scale * times for _, times in kept))


def _told_apart(kept: tuple[tuple[float, int], ...]) -> dict[int, float]:
    """Log weights by multiplicity, in rising order; a light one is added to the one below it that is kept."""
    heavy = {times for _, times in sorted(kept, reverse=True)[:MOST_GROUPS]} | {min(times for _, times in kept)}
    found: dict[int, float] = {}
    for weight, times in sorted(kept, key=lambda each: each[1]):
        place = times if times in heavy else max(found)
        found[place] = float(np.logaddexp(found.get(place, -math.inf), weight))
    return found

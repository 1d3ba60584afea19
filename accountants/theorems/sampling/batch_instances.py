"""Instances of neighbouring data sets when a batch is drawn at random, for lower bounds on δ.

Each function returns pairs of output distributions of instances that the spec admits. Noise is added to a sum, and C is
the bound on the norm of a contribution.
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
"""Largest number of distinct multiplicities of an instance; less probable ones are rounded down to one of these."""


def opposite_gaussian(shift: float, share: Share) -> tuple[Pair, Pair]:
    """Return the pair (1 − q) N(0, 1) + q N(s, 1) against (1 − q) N(0, 1) + q N(−s, 1), as an upper and a lower bound.

    It belongs to opposite contributions of the record, with all other contributions zero.

    Args:
        shift: s, in standard deviations of the noise.
        share: inclusion probability q.

    Returns:
        A pair for upper bounds on δ, and a pair that neighbours attain.
    """
    weights = (math.log(share.absent), math.log(share.rate))
    pair = mixture_pair(GaussianMixture(weights, (0.0, shift)), GaussianMixture(weights, (0.0, -shift)))
    return with_laws_around(pair.forward, pair.backward, share, shift, "replace")


def opposite_contributions(mechanism: Spec, share: Share, inner: Guarantee | None = None) -> tuple[Pair, ...]:
    """Return the pair of contributions C and −C of a record under replace-one, with all other contributions zero.

    Several Gaussian releases of one batch are one Gaussian release along the line through both contributions.

    Args:
        mechanism: the mechanism that is run on the batch.
        share: inclusion probability of the record.
        inner: replace-one guarantee of the mechanism, for several Gaussian releases.

    Returns:
        One pair, or none if the mechanism adds no such noise.
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
    """Return whether every mechanism of the spec adds Gaussian noise to a sum."""
    return all(gaussian_multiplier(leaf) is not None for leaf in leaves(spec))


def fixed_batch(spec: Subsampled, inner: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Return pairs that neighbouring data sets attain under replace-one, for a batch of fixed size.

    In the first example all other records equal the replacing record. The pair is then (1 − q) Q + q P against Q. For
    contributions of bounded norm, the second example has opposite contributions of the record, with all others zero.
    There are no pairs if the mechanism samples again, is not tight, or is no sum of contributions.

    Args:
        spec: the subsampled mechanism.
        inner: replace-one guarantee of the mechanism on the batch.
        share: inclusion probability of the record.
    """
    mechanism = spec.mechanism
    if draws(mechanism) or not inner.curve.tight or not may_sum_contributions(mechanism):
        return ()
    return (drawn_or_not(inner.curve.upper, share)[1], *opposite_contributions(mechanism, share, inner))


def zeroed_in_a_batch(mechanism: Spec, zeroed: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Return pairs that neighbouring data sets attain under zero-out-one, for a batch of fixed size.

    The record contributes C or zero. Let ν_s be the noise shifted by s, the size of C, and measure outputs from the sum
    of a batch without the record. If all other contributions are zero, the pair is (1 − q) ν₀ + q ν_s against ν₀. If
    all others are −C, it is (1 − q) ν₀ + q ν_2s against (1 − q) ν₀ + q ν_s. There are no pairs if the mechanism samples
    again, is not tight, or is no sum of bounded contributions.

    Args:
        mechanism: the mechanism that is run on the batch.
        zeroed: zero-out-one guarantee of the mechanism.
        share: inclusion probability q of the record.
    """
    if draws(mechanism) or not zeroed.curve.tight or not sums_bounded_contributions(mechanism):
        return ()
    zero_others = drawn_or_not(zeroed.curve.upper, share)[1]
    mu = zeroed.curve.upper.gaussian_dp_mu
    # Several Gaussian releases are one Gaussian release along the line of the contributions.
    noise_and_shift = (Noise("gaussian"), mu) if mu is not None else noise_of_contribution(mechanism)
    if noise_and_shift is None or share.rate == 1.0:
        return (zero_others,)
    noise, shift = noise_and_shift
    weights = (math.log(share.absent), math.log(share.rate))
    opposite_others = cells_pair(Mixture((0.0, 2.0 * shift), weights), Mixture((0.0, shift), weights), noise)
    return zero_others, opposite_others


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


def multiplicity_pairs(drawn: Multiplicities, mechanism: Spec, *, zeroed: bool) -> tuple[Pair, ...]:
    """Return pairs that neighbouring data sets attain under sampling with replacement, for lower bounds on δ.

    If the record is replaced, its contribution changes from C to −C, and all others are −C; for Gaussian noise a second
    pair has all others zero. Integers change from their sensitivity to zero, with all others zero. If the record is
    zeroed, its contribution changes from C to zero, and all others are zero, or all are −C. Multiplicities are rounded
    down. This brings the two distributions of a replaced record closer, because they are shifts of one distribution.

    Args:
        drawn: distribution of the number of times that the record is drawn.
        mechanism: spec of a mechanism that has a `noise_of_contribution`.
        zeroed: True for zero-out-one, False for replace-one.
    """
    absent = ((drawn.log_absent, 0),) if drawn.rate < 1.0 else ()
    groups = (*absent, *zip(drawn.log_weights, drawn.least, strict=True))
    noise_and_shift = noise_of_contribution(mechanism)
    assert noise_and_shift is not None
    noise, shift = noise_and_shift
    if noise.kind == "gaussian" and not zeroed:
        if drawn.accuracy < MOST_ERROR:
            one_sided = _gaussian_pair(groups, 2.0 * shift, "remove", drawn)
            return one_sided, _gaussian_pair(groups, shift, "replace", drawn)
        one_sided = mixture_pair(_gaussian_mixture(groups, 2.0 * shift), GaussianMixture((0.0,), (0.0,)))
        return one_sided, mixture_pair(_gaussian_mixture(groups, shift), _gaussian_mixture(groups, -shift))
    weights = _merge_light_groups(groups)
    span = 1.0 if zeroed or noise.kind == "geometric" else 2.0
    if noise.kind == "gaussian" and drawn.accuracy < MOST_ERROR:
        pair = _gaussian_pair(groups, shift, "remove", drawn)
    else:
        pair = cells_pair(_shifted_mixture(weights, span * shift), Mixture((0.0,), (0.0,)), noise, drawn.accuracy)
    if not zeroed or any(low != high for low, high in zip(drawn.least, drawn.most, strict=True)):
        return (pair,)
    opposite_others = cells_pair(
        _shifted_mixture(weights, 2.0 * shift), _shifted_mixture(weights, shift), noise, drawn.accuracy
    )
    return pair, opposite_others


def _gaussian_pair(
    groups: Sequence[tuple[float, int]], shift: float, direction: Direction, drawn: Multiplicities
) -> Pair:
    """Return the pair of Gaussian noise as an exact mixture, for lower bounds on δ.

    The probabilities are rounded so that small multiplicities become more likely. This brings the two distributions
    closer (docs/engine-certificate.md, A10).

    Args:
        groups: (log weight, multiplicity) pairs.
        shift: shift of the noise per draw of the record, in standard deviations.
        direction: direction of the pair.
        drawn: the distribution of multiplicities, which states the error of the weights.
    """
    probabilities = round_probabilities([weight for weight, _ in groups], drawn.accuracy, upward=False)
    shifts = tuple(shift * times for _, times in groups)
    return gaussian_mixture_pair(GaussianMixtureLaw(shifts, probabilities, direction))


def _shifted_mixture(weights: dict[int, float], shift: float) -> Mixture:
    """Return the mixture of shifts k · `shift`, with the log weight of each multiplicity k."""
    return Mixture(tuple(shift * times for times in weights), tuple(weights.values()))


def _gaussian_mixture(groups: tuple[tuple[float, int], ...], shift: float) -> GaussianMixture:
    """Return the Gaussian mixture of means k · `shift`, from (log weight, k) pairs."""
    return GaussianMixture(tuple(weight for weight, _ in groups), tuple(shift * times for _, times in groups))


def _merge_light_groups(groups: tuple[tuple[float, int], ...]) -> dict[int, float]:
    """Return log weights by increasing multiplicity; a light group is added to the next smaller heavy one.

    Args:
        groups: (log weight, multiplicity) pairs. The `MOST_GROUPS` heaviest and the smallest multiplicity are heavy.
    """
    heavy = {times for _, times in sorted(groups, reverse=True)[:MOST_GROUPS]}
    heavy.add(min(times for _, times in groups))
    merged: dict[int, float] = {}
    for weight, times in sorted(groups, key=lambda group: group[1]):
        target = times if times in heavy else max(merged)
        merged[target] = float(np.logaddexp(merged.get(target, -math.inf), weight))
    return merged

"""Lower bounds on δ of a mechanism on a random batch, from examples of neighbouring data sets.

An example gives a pair of distributions: those of the output on the two data sets. Their hockey-stick divergence is at
most δ. Noise is added to a sum, and C is the bound on the norm of a contribution.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.facts import GaussianMixtureLaw
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import pairs_around_rate, subsample_pair
from epsilond.accountants.profiles.binned import Mixture, Noise, cells_pair
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from epsilond.accountants.profiles.laplace import opposite_laplace_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.profiles.weighted_groups import gaussian_mixture_pair, sampled_mixture_pairs
from epsilond.accountants.specs import Spec
from epsilond.accountants.specs.primitives import NoisyIntegers, NoisySum, RandomSum
from epsilond.accountants.structure import (
    draws,
    gaussian_multiplier,
    leaves,
    may_sum_contributions,
    sums_bounded_contributions,
)
from epsilond.accountants.theorems.sampling.multiplicities import MOST_ERROR, round_probabilities

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.specs import Spec, Subsampled
    from epsilond.accountants.theorems.sampling.multiplicities import Multiplicities

MOST_GROUPS = 256
"""Number of most probable multiplicities (numbers of draws of a record) that a pair keeps; others are rounded down."""


def opposite_gaussian(shift: float, share: Share) -> tuple[Pair, Pair]:
    """Return output distributions of a noisy sum with a sampled contribution s or −s, for upper and lower bounds on δ.

    They are (1 − q) N(0, 1) + q N(s, 1) and (1 − q) N(0, 1) + q N(−s, 1). Neighbours attain them by opposite
    contributions of the record, with all other contributions zero.

    Args:
        shift: s, in standard deviations of the noise.
        share: probability q that the record is in the batch, with the doubles around it.

    Returns:
        A pair for upper bounds on δ, and a pair for lower bounds. They differ only if q is not a double.
    """
    weights = (math.log(share.absent), math.log(share.rate))
    pair = mixture_pair(LineMixture(weights, (0.0, shift)), LineMixture(weights, (0.0, -shift)))
    return pairs_around_rate(pair.forward, pair.backward, share, shift, "replace")


def opposite_contributions(mechanism: Spec, share: Share, inner: Guarantee | None = None) -> tuple[Pair, ...]:
    """Return output distributions for lower bounds on δ if a record contributes C or −C, and all others contribute 0.

    The relation is replace-one. Several Gaussian releases of one batch are together as private as a single one, with
    the parameter μ of Gaussian differential privacy.

    Args:
        mechanism: the mechanism that is run on the batch.
        share: probability that the record is in the batch, with the doubles around it.
        inner: replace-one guarantee of the mechanism; None is enough for a single noisy sum.

    Returns:
        One pair of distributions, or none: if the mechanism is neither a noisy sum nor a run of Gaussian releases, if
        the guarantee of such a run is not exactly that of a Gaussian mechanism, or if its batch has all records.
    """
    primitive = mechanism.primitive
    if isinstance(primitive, NoisySum):
        contribution = 1.0 / primitive.multiplier
        if primitive.distribution != "gaussian":
            return (opposite_laplace_pair(share.rate, contribution, absent=share.absent),)
        _, attained = opposite_gaussian(contribution, share)  # the pair for lower bounds
        return (attained,)
    if inner is None or not inner.curve.tight or not _is_gaussian_run(mechanism):
        return ()
    mu = inner.curve.upper.gaussian_dp_mu
    if mu is None or share.rate == 1.0:
        return ()
    # C and −C are μ standard deviations apart, so each is μ/2 from zero, rounded down.
    contribution = 0.5 * mu * (1.0 - 8 * UNIT_ROUNDOFF)
    _, attained = opposite_gaussian(contribution, share)
    return (attained,)


def _is_gaussian_run(spec: Spec) -> bool:
    """Return whether the spec consists of Gaussian releases only, and does not sample again."""
    if draws(spec):
        return False
    return all(gaussian_multiplier(leaf) is not None for leaf in leaves(spec))


def fixed_batch(spec: Subsampled, inner: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Return output distributions on replace-one neighbours, for lower bounds on δ of a batch of fixed size.

    A batch has the record with probability q. Let P be the distribution of the output on a batch with the replaced
    record, and Q that with the replacing record. In the first example all other records equal the replacing one, so the
    outputs are (1 − q) Q + q P and Q. In the second example, for contributions of bounded norm, the record has opposite
    contributions, and all others are zero.

    Args:
        spec: the subsampled mechanism.
        inner: replace-one guarantee of the mechanism on the batch.
        share: probability q that the record is in the batch, with the doubles around it.

    Returns:
        The pairs of both examples, or those of `random_among_zeros` for a sum of contributions of random
        size. There are none if the mechanism samples again or is not a sum of contributions.
    """
    mechanism = spec.mechanism
    if isinstance(mechanism.primitive, RandomSum):
        return random_among_zeros(inner, share)
    if draws(mechanism) or not may_sum_contributions(mechanism):
        return ()
    attained: tuple[Pair, ...] = inner.curve.single_witnesses
    if inner.curve.tight:
        attained = (inner.curve.upper,)
    others_equal_replacing: list[Pair] = []
    for pair in attained:
        _, attained_on_batch = subsample_pair(pair, share)  # the first result is for upper bounds
        others_equal_replacing.append(attained_on_batch)
    others_zero = opposite_contributions(mechanism, share, inner)
    return (*others_equal_replacing, *others_zero)


def zeroed_in_a_batch(mechanism: Spec, zeroed: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Return output distributions on zero-out-one neighbours, for lower bounds on δ of a batch of fixed size.

    The record contributes C or zero, and is in the batch with probability q. Outputs are measured from the sum of a
    batch without the record; ν_x is the noise shifted by x, and C shifts it by s. If all other contributions are zero,
    the outputs are (1 − q) ν₀ + q ν_s and ν₀. If all others are −C, the record takes the place of one of them, so the
    outputs are (1 − q) ν₀ + q ν_2s and (1 − q) ν₀ + q ν_s.

    Args:
        mechanism: the mechanism that is run on the batch.
        zeroed: zero-out-one guarantee of the mechanism.
        share: probability q that the record is in the batch, with the doubles around it.

    Returns:
        One or two pairs, the first one with all others zero. There are none if the mechanism samples again, if its
        guarantee is not tight, or if it is not a sum of bounded contributions.
    """
    if isinstance(mechanism.primitive, RandomSum):
        return random_among_zeros(zeroed, share)
    if draws(mechanism) or not zeroed.curve.tight or not sums_bounded_contributions(mechanism):
        return ()

    # All other contributions are zero.
    _, others_zero = subsample_pair(zeroed.curve.upper, share)
    contribution = noise_of_contribution(mechanism)
    mu = zeroed.curve.upper.gaussian_dp_mu
    if mu is not None:
        # Several Gaussian releases are one Gaussian release along the line of the contributions.
        contribution = ContributionNoise(Noise("gaussian"), mu)
    if contribution is None or share.rate == 1.0:
        return (others_zero,)

    # All other contributions are −C.
    noise, shift = contribution
    weights = (math.log(share.absent), math.log(share.rate))
    with_record = Mixture((0.0, 2.0 * shift), weights)
    record_zeroed = Mixture((0.0, shift), weights)
    others_opposite = cells_pair(with_record, record_zeroed, noise)
    return others_zero, others_opposite


def random_among_zeros(inner: Guarantee, share: Share) -> tuple[Pair, ...]:
    """Return output distributions for lower bounds on δ of a sampled contribution of random size, if all others are 0.

    Args:
        inner: guarantee of the mechanism on a batch that has the contribution.
        share: probability that the contribution is in the batch, with the doubles around it.

    Returns:
        One pair for each attained pair of `inner` that is a Gaussian mixture; the tuple may be empty.
    """
    attained_pairs = []
    for witness in inner.curve.witnesses:
        if isinstance(witness.law, GaussianMixtureLaw):
            _, attained = sampled_mixture_pairs(witness.law, share)
            attained_pairs.append(attained)
    return tuple(attained_pairs)


class ContributionNoise(NamedTuple):
    """The noise on one coordinate of a sum, and the shift of the sum by one contribution.

    Attributes:
        noise: distribution of the noise, with scale one.
        shift: shift by a contribution of norm C, or by the sensitivity of integers, in scales of the noise.
    """

    noise: Noise
    shift: float


def noise_of_contribution(mechanism: Spec) -> ContributionNoise | None:
    """Return the noise that a mechanism adds to a sum, and the shift of the sum by one contribution.

    Args:
        mechanism: the mechanism, such as a noisy sum of clipped contributions or of integers.

    Returns:
        The noise and the shift. None if the mechanism adds no noise to a sum, if the noise is bounded, or if no single
        integer coordinate may change by the whole sensitivity.
    """
    primitive = mechanism.primitive
    if isinstance(primitive, NoisySum):
        return ContributionNoise(Noise(primitive.distribution), 1.0 / primitive.multiplier)
    if isinstance(primitive, NoisyIntegers) and primitive.noise_levels is None and primitive.shift.fits_one_axis:
        # The largest integer change of one coordinate, in units of the scale of geometric noise.
        shift = primitive.decay_rate * math.floor(primitive.shift.l1)
        return ContributionNoise(Noise("geometric", primitive.decay_rate), shift)
    return None


class _MultiplicityGroup(NamedTuple):
    """A multiplicity (number of times that the record is drawn into the batch) with its probability.

    Attributes:
        log_weight: natural logarithm of the probability.
        multiplicity: the number of draws, at least 0.
    """

    log_weight: float
    multiplicity: int


_MultiplicityGroups = tuple[_MultiplicityGroup, ...]
_NO_SHIFT = Mixture((0.0,), (0.0,))
"""The noise without a contribution."""


def replaced_pairs(drawn: Multiplicities, contribution: ContributionNoise) -> tuple[Pair, ...]:
    """Return output distributions on replace-one neighbours, for lower bounds on δ of sampling with replacement.

    Gaussian and Laplace noise: the record's contribution changes from C to −C, where C has the largest norm. All others
    are −C, or, in a second pair for Gaussian noise, zero. Geometric noise: it changes from the sensitivity to zero, and
    all others are zero. Numbers of draws of the record are in groups, and count as the least one of their group,
    because smaller shifts bring the two distributions closer.

    Args:
        drawn: distribution of the number of draws of the record.
        contribution: noise, and shift by one contribution.

    Returns:
        One pair; for Gaussian noise two, the first one with all others −C.
    """
    noise, shift = contribution
    groups = _least_multiplicities(drawn)

    # Geometric and Laplace noise: a mixture of shifted noise against the noise.
    if noise.kind != "gaussian":
        change = shift if noise.kind == "geometric" else 2.0 * shift
        shifted = _shifted_mixture(_merge_light_groups(groups), change)
        return (cells_pair(shifted, _NO_SHIFT, noise, drawn.accuracy),)

    # Gaussian noise; the kernel needs probabilities that are known accurately.
    if drawn.accuracy < MOST_ERROR:
        others_opposite = _gaussian_pair(groups, 2.0 * shift, "remove", drawn)
        others_zero = _gaussian_pair(groups, shift, "replace", drawn)
    else:
        no_shift = LineMixture((0.0,), (0.0,))
        others_opposite = mixture_pair(_gaussian_mixture(groups, 2.0 * shift), no_shift)
        others_zero = mixture_pair(_gaussian_mixture(groups, shift), _gaussian_mixture(groups, -shift))
    return others_opposite, others_zero


def zeroed_pairs(drawn: Multiplicities, contribution: ContributionNoise) -> tuple[Pair, ...]:
    """Return output distributions on zero-out-one neighbours, for lower bounds on δ of sampling with replacement.

    The record's contribution changes from C, of the largest norm, to zero. All others are zero, or, in a second pair,
    −C. The number of draws of the record may be known in groups only. It then counts as the least of its group, which
    lowers δ in the first pair. In the second one, it would move both distributions, so that pair is omitted.

    Args:
        drawn: distribution of the multiplicity.
        contribution: noise, and shift by one contribution.

    Returns:
        One or two pairs of output distributions, the first one with all other contributions zero.
    """
    noise, shift = contribution
    groups = _least_multiplicities(drawn)
    weights = _merge_light_groups(groups)
    shifted = _shifted_mixture(weights, shift)
    if noise.kind == "gaussian" and drawn.accuracy < MOST_ERROR:
        others_zero = _gaussian_pair(groups, shift, "remove", drawn)
    else:
        others_zero = cells_pair(shifted, _NO_SHIFT, noise, drawn.accuracy)
    are_grouped = drawn.least != drawn.most
    if are_grouped:
        return (others_zero,)
    shifted_twice = _shifted_mixture(weights, 2.0 * shift)
    others_opposite = cells_pair(shifted_twice, shifted, noise, drawn.accuracy)
    return others_zero, others_opposite


def _least_multiplicities(drawn: Multiplicities) -> _MultiplicityGroups:
    """Return the least multiplicity of each group, with the probability of the group.

    Args:
        drawn: distribution of the multiplicity (number of draws of a record), in groups of neighbouring numbers.

    Returns:
        The multiplicities in increasing order. The first one is 0, unless the record is always drawn.
    """
    groups = tuple(
        _MultiplicityGroup(log_weight, times) for log_weight, times in zip(drawn.log_weights, drawn.least, strict=True)
    )
    if drawn.rate < 1.0:
        return (_MultiplicityGroup(drawn.log_absent, 0), *groups)
    return groups


def _gaussian_pair(groups: _MultiplicityGroups, shift: float, direction: Direction, drawn: Multiplicities) -> Pair:
    """Return output distributions of a Gaussian noisy sum under sampling with replacement, for lower bounds on δ.

    They are mixtures over the number of draws of a record, its multiplicity. The probabilities are rounded so that
    small multiplicities, which shift the sum less, become more likely (docs/engine-certificate.md, A10).

    Args:
        groups: multiplicities in increasing order, with their log probabilities.
        shift: shift of the sum by one draw of the record, in standard deviations of the noise.
        direction: "replace" for the mixture against its mirror image, otherwise against only the noise.
        drawn: the distribution of multiplicities, which states the error of the log probabilities.

    Returns:
        The pair of distributions.
    """
    log_weights = [group.log_weight for group in groups]
    probabilities = round_probabilities(log_weights, drawn.accuracy, upward=False)
    shifts = tuple(shift * group.multiplicity for group in groups)
    return gaussian_mixture_pair(GaussianMixtureLaw(shifts, probabilities, direction))


def _shifted_mixture(log_weights: dict[int, float], shift: float) -> Mixture:
    """Return the mixture of noise shifted by k contributions, for a record that is drawn k times.

    Args:
        log_weights: natural logarithm of the probability, by the number k of draws.
        shift: shift of the sum by one draw of the record, in scales of the noise.

    Returns:
        The shifts of the components with their log probabilities.
    """
    shifts = tuple(shift * times for times in log_weights)
    return Mixture(shifts, tuple(log_weights.values()))


def _gaussian_mixture(groups: _MultiplicityGroups, shift: float) -> LineMixture:
    """Return the mixture of Gaussians N(k · shift, 1), for a record that is drawn k times.

    Args:
        groups: numbers k of draws, with their log probabilities.
        shift: shift of the sum by one draw of the record, in standard deviations of the noise.

    Returns:
        The means of the components with their log probabilities.
    """
    log_weights = tuple(group.log_weight for group in groups)
    means = tuple(shift * group.multiplicity for group in groups)
    return LineMixture(log_weights, means)


def _merge_light_groups(groups: _MultiplicityGroups) -> dict[int, float]:
    """Merge unlikely multiplicities into the next smaller likely one, so that few are left.

    A multiplicity is likely if its probability is among the `MOST_GROUPS` largest, or if it is the least one.

    Args:
        groups: multiplicities (numbers of draws of a record) with their log probabilities.

    Returns:
        Natural logarithm of the probability by multiplicity, in increasing order of the multiplicities.
    """
    by_weight = sorted(groups, reverse=True)  # a group begins with its log weight
    likely = {group.multiplicity for group in by_weight[:MOST_GROUPS]}
    likely.add(min(group.multiplicity for group in groups))
    log_weight_of: dict[int, float] = {}
    for group in sorted(groups, key=lambda group: group.multiplicity):
        target = group.multiplicity
        if target not in likely:
            target = max(log_weight_of)  # the largest multiplicity so far is the next smaller likely one
        log_weight_before = log_weight_of.get(target, -math.inf)
        log_weight_of[target] = float(np.logaddexp(log_weight_before, group.log_weight))
    return log_weight_of

"""Sampling with replacement: a record that is drawn k times shifts the release k times as far."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.facts import DrawnMixtureLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.profiles.laplace import LaplaceProfile, laplace_pair
from epsilond.accountants.profiles.weighted_groups import (
    GaussianGroups,
    GroupProfiles,
    MultiplicityProfile,
    SeparateGroups,
    drawn_mixture_pair,
)
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Spec
from epsilond.accountants.specs.primitives import NoisyIntegers, NoisySum
from epsilond.accountants.structure import NO_ORDER, SECRET_DRAW
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import (
    MOST_GROUPS,
    ContributionNoise,
    noise_of_contribution,
    replaced_pairs,
    zeroed_pairs,
)
from epsilond.accountants.theorems.sampling.draw_checks import reject_other_draw, reject_unknown_replacement
from epsilond.accountants.theorems.sampling.multiplicities import (
    MOST_DRAWS,
    MOST_ERROR,
    NEGLIGIBLE_LOG_WEIGHT,
    Multiplicities,
    multiplicities,
)
from epsilond.accountants.theorems.sampling.subsampling import amplified_guarantee, guarantee_of_relation
from epsilond.accountants.theorems.sampling.unseen_multiplicities import (
    UNSEEN_MULTIPLICITIES,
    larger_multiplicities,
    unseen_multiplicities_pair,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.specs import Spec, Subsampled

WITH_REPLACEMENT = Theorem(
    id="balle-barthe-gaboardi-2018.10",
    title="Amplification by sampling with replacement",
    statement=(
        "Replacing one record has δ'(ε') = Σ_k Bin(K, 1/n)(k) δ_k(log(1 + (e^ε' − 1)/η)). Here η = 1 − (1 − "
        "1/n)^K, and δ_k is the base profile for a group of k. It is composed as the symmetrised pair"
    ),
    source=Source("balle2018privacy", "Theorem 10"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW, NO_ORDER),
)


def with_replacement(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a noisy sum under sampling with replacement.

    The bound is Theorem 10 of Balle, Barthe and Gaboardi 2018, in which the number of draws of a record is public. For
    Gaussian noise another bound replaces it, which hides this number (`unseen_multiplicities`). It is nowhere larger
    for one batch. For many composed batches, its numerical table may raise ε slightly: by at most 0.003 % in tests, and
    only if a record is hardly ever drawn twice. Lower bounds come from examples of neighbouring data sets.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee; a refusal with the reason for other draws and mechanisms, and if a record is drawn too often.
    """
    if refusal := reject_other_draw("with-replacement", WITH_REPLACEMENT, spec, case):
        return refusal
    if refusal := reject_unknown_replacement(WITH_REPLACEMENT, spec, case):
        return refusal
    contribution = noise_of_contribution(spec.mechanism)
    if contribution is None:
        return Refusal(WITH_REPLACEMENT, "needs the base profile for every group size, which is not known of this base")
    batch_size, population = spec.batch_size or 1, spec.population or 1
    drawn = multiplicities(batch_size, population)
    if drawn is None:
        return Refusal(WITH_REPLACEMENT, f"a record is drawn more than {MOST_DRAWS:g} times on average")

    # The guarantee of Theorem 10 for replace-one. A record that is drawn every time gives another upper bound, which is
    # used for large privacy losses (`below`).
    relation = case.setting.relation
    replace_one = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(spec.mechanism, replace_one)
    public = public_draws_pair(spec.mechanism, batch_size, relation)
    upper = replace(dominating_pair(spec.mechanism, drawn), below=public)
    guarantee = amplified_guarantee(inner, Curve(upper, ()), WITH_REPLACEMENT, spec)

    if relation == "zero-out-one":
        finer = multiplicities(batch_size, population, single_groups=MOST_GROUPS)
        lower_bound_pairs = zeroed_pairs(finer or drawn, contribution)
    else:
        lower_bound_pairs = replaced_pairs(drawn, contribution)
    guarantee = guarantee_of_relation(guarantee, case.setting, lower_bound_pairs)
    return _tighten_for_gaussian_noise(guarantee, drawn, contribution)


def public_draws_pair(mechanism: Spec, draws: int, relation: Relation) -> Pair:
    """Return two distributions that dominate a noisy sum in which a record is drawn in all K draws of the batch.

    Dominating means that their hockey-stick divergence bounds δ. The pair also dominates sampling with replacement. The
    two outputs are mixtures with the weights of the draws. Given the draws, the record counts at most K times in both.
    By joint convexity the largest divergence of the components bounds the divergence of the mixtures.

    Args:
        mechanism: spec of a mechanism that has a `noise_of_contribution`.
        draws: number of draws K.
        relation: replace-one or zero-out-one.

    Returns:
        The pair of two distributions of the noise, shifted against each other by K changes of a contribution, rounded
        up.
    """
    primitive = mechanism.primitive
    if isinstance(primitive, NoisyIntegers):
        noise = GeometricProfile(primitive.decay_rate, draws * math.floor(primitive.shift.l1))
        return Pair(noise, noise)
    assert isinstance(primitive, NoisySum)  # no other primitive has a `noise_of_contribution`
    change_of_contribution = 1.0 if relation == "zero-out-one" else 2.0
    shift = draws * change_of_contribution / primitive.multiplier * (1.0 + 4 * UNIT_ROUNDOFF)
    if primitive.distribution == "gaussian":
        return gaussian_pair(shift)
    return laplace_pair(shift)


def _tighten_for_gaussian_noise(
    guarantee: Guarantee, drawn: Multiplicities, contribution: ContributionNoise
) -> Guarantee:
    """Return the guarantee of sampling with replacement with a smaller bound for Gaussian noise; otherwise unchanged.

    The smaller bound is `unseen_multiplicities_pair`, which hides how often the record is drawn. If a record is drawn
    at most once, both bounds are the same under replace-one. That of Theorem 10 is then kept, because its composition
    needs no table.

    Args:
        guarantee: the guarantee of Theorem 10 of Balle, Barthe and Gaboardi 2018, for the requested relation.
        drawn: distribution of the number of times that the record is drawn.
        contribution: noise, and shift by one contribution.

    Returns:
        The guarantee with the smaller bound, if it is known, and with the same lower bounds.
    """
    has_equal_bounds = drawn.most == (1,) and guarantee.setting.relation == "replace-one"
    if contribution.noise.kind != "gaussian" or has_equal_bounds:
        return guarantee
    pair = unseen_multiplicities_pair(drawn, contribution.shift, guarantee.setting.relation)
    if pair is None:
        return guarantee
    step = UNSEEN_MULTIPLICITIES.because(guarantee.derivation)
    curve = Curve(replace(pair, below=guarantee.curve.upper.below), guarantee.curve.witnesses)
    return replace(guarantee, curve=curve, derivation=step)


def dominating_pair(mechanism: Spec, drawn: Multiplicities) -> Pair:
    """Return two distributions that dominate a noisy sum under sampling with replacement.

    Dominating means that their hockey-stick divergence bounds δ. For Gaussian noise the pair is a mixture over the
    number of times that the record is drawn. This requires probabilities with an error below `MOST_ERROR`, and a record
    that may be absent.

    Args:
        mechanism: specification of a mechanism that has a `noise_of_contribution`.
        drawn: distribution of the number of times that the record is drawn.

    Returns:
        The pair, with the same privacy profile in both directions.
    """
    # The log probability of the numbers of draws that are left out, rounded up.
    log_rest = NEGLIGIBLE_LOG_WEIGHT + 1.0 if drawn.rate < 1.0 else -math.inf
    groups = group_profiles(mechanism, drawn.most)
    rate = drawn.rate * (1.0 + 32 * UNIT_ROUNDOFF)  # rounded up, which raises the profile
    if isinstance(groups, GaussianGroups) and rate < 1.0 and drawn.accuracy < MOST_ERROR:
        return drawn_mixture_pair(DrawnMixtureLaw(groups.mus, larger_multiplicities(drawn), rate, log_rest))
    profile = MultiplicityProfile(groups, drawn.log_weights, drawn.rate, drawn.accuracy, log_rest)
    return Pair(profile, profile)


def group_profiles(mechanism: Spec, counts: Sequence[int]) -> GroupProfiles:
    """Return the privacy profile of replacing a record that is drawn k times for a noisy sum, for each k.

    Replacing it moves the sum by k times the replace-one sensitivity.

    Args:
        mechanism: specification of a Gaussian, Laplace or geometric mechanism, with a `noise_of_contribution`.
        counts: values of k, each at least 1.

    Returns:
        The profiles, in the order of `counts`. For Gaussian noise, the shifts of the sum over the standard deviation of
        the noise represent them.
    """
    primitive = mechanism.primitive
    if isinstance(primitive, NoisySum):
        # Two contributions differ by at most twice the norm bound, to which the noise multiplier refers.
        shifts = tuple(times * 2.0 / primitive.multiplier for times in counts)
        if primitive.distribution == "gaussian":
            return GaussianGroups(shifts)
        return SeparateGroups(tuple(LaplaceProfile(shift) for shift in shifts))
    assert isinstance(primitive, NoisyIntegers)  # no other primitive has a `noise_of_contribution`
    sensitivity = math.floor(primitive.shift.l1)  # ℓ1 distance of two contributions
    return SeparateGroups(tuple(GeometricProfile(primitive.decay_rate, times * sensitivity) for times in counts))


THEOREMS: tuple[Theorem, ...] = (WITH_REPLACEMENT,)
RULES: tuple[Rule, ...] = (Rule(WITH_REPLACEMENT, "subsampled", with_replacement),)

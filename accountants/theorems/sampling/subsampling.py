"""Amplification by Poisson sampling and by sampling without replacement, for each neighbouring relation.

For replace-one the amplified profile holds in both directions, and the *symmetrised* pair composes. The larger of two
one-sided compositions is not a bound (docs/engine-certificate.md).

Two conditions give a smaller ε. The members of the batch are secret. A batch without the unit is as close to one with
it as two batches that differ in the unit. If the spec does not imply both, `thinning` has a bound on δ at the same ε.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.facts import GaussianMixtureLaw
from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import amplify_plateau
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.profiles.amplification import amplify_symmetrically, subsample_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.profiles.weighted_groups import sampled_mixture_pairs
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Subsampled
from epsilond.accountants.specs.primitives import RandomSum
from epsilond.accountants.structure import (
    NO_ORDER,
    SECRET_DRAW,
    drawn_level,
    draws,
    gaussian_multiplier,
    may_tell_places,
    open_level,
    removing_is_replacing,
)
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import (
    fixed_batch,
    opposite_gaussian,
    random_among_zeros,
    zeroed_in_a_batch,
)
from epsilond.accountants.theorems.sampling.draw_checks import (
    drawn_mechanism,
    reject_open_level,
    reject_other_draw,
    reject_unknown_replacement,
)
from epsilond.accountants.theorems.sampling.zeroed_batches import ZEROED_IN_A_BATCH, zeroed_pair

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition

FULL_BATCH = Theorem(
    id="epsilond.full-batch",
    title="A full batch",
    statement="A batch that always contains every record is not random: the guarantee is that of the mechanism",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)
POISSON = Theorem(
    id="balle-barthe-gaboardi-2018.8",
    title="Amplification by Poisson sampling",
    statement=(
        "Let (P, Q) dominate the base mechanism with and without one record. Adding or removing it changes the "
        "output distribution between (1 − q) Q + q P and Q. Hence δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)) for "
        "removal"
    ),
    source=Source("balle2018privacy", "Theorem 8"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW,),
)
WITHOUT_REPLACEMENT = Theorem(
    id="balle-barthe-gaboardi-2018.9",
    title="Amplification by sampling without replacement",
    statement=(
        "Replacing one record has δ'(ε') = (K/n) δ(log(1 + (e^ε' − 1) n/K)) with δ the base profile for "
        "replace-one. It is the same in both directions, and composed as the symmetrised pair"
    ),
    source=Source("balle2018privacy", "Theorem 9"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW, NO_ORDER),
)
POISSON_REPLACE_ONE = Theorem(
    id="epsilond.poisson-replace-one",
    title="Poisson sampling under replace-one, for the Gaussian mechanism",
    statement=(
        "One pair dominates every pair of neighbours, in any dimension. It is (1 − q) N(0, σ²) + q N(C, σ²) "
        "against (1 − q) N(0, σ²) + q N(−C, σ²), or the same with a random C (docs/mixtures.md)"
    ),
    source=Source("epsilond", "docs/engine-certificate.md, Poisson replace-one"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW,),
)
ZEROED_IS_REPLACED = Theorem(
    id="epsilond.zeroed-is-replaced",
    title="Zeroing a record is one way of replacing it",
    statement="A contribution of zero is within every norm bound, so a replace-one guarantee covers zero-out-one",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)


def full_batch(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the mechanism, without amplification, for a batch that always contains every record.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. If the batch may leave records out, or if no valid bound is known, a refusal with the reason.
    """
    relation, unit = case.setting.relation, case.setting.unit
    is_truncated = spec.largest_batch is not None
    is_full = spec.sampling != "with-replacement" and spec.inclusion_probability >= 1.0 and not is_truncated
    if not is_full:
        return Refusal(FULL_BATCH, "the batch leaves records out")
    if spec.records_of_one_client is not None and unit == "client":
        return Refusal(FULL_BATCH, "the noise refers to one record, and a client may have several")

    # If a record is removed, a batch of fixed size has another record in its place, or a batch of another size.
    has_fixed_size = spec.sampling == "without-replacement" and spec.batch_size is not None
    # A spec may omit whether it draws records or clients. It then counts as a draw of protected units.
    draws_protected_units = drawn_level(spec, unit) == f"{unit}s" or open_level(spec)
    if relation == "add-or-remove-one" and has_fixed_size and draws_protected_units:
        return Refusal(
            FULL_BATCH, "a batch of fixed size from n + 1 or n records: no valid pair is known for any mechanism"
        )
    if refusal := reject_open_level(FULL_BATCH, spec, case):
        return refusal

    mechanism = spec.mechanism
    if unit == "client" and draws(mechanism):
        mechanism = drawn_mechanism(spec, case.setting)
    inner = case.account(mechanism, case.setting)
    derivation = FULL_BATCH.because(inner.derivation)
    return Guarantee(setting=case.setting, curve=inner.curve, derivation=derivation, declared=inner.declared)


def poisson(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the amplified guarantee of Poisson sampling (Balle, Barthe and Gaboardi 2018, Theorem 8).

    It covers add-or-remove-one for every mechanism, and zero-out-one for noisy sums. A zeroed record and a record that
    is not drawn add the same to a sum, so both relations have the same bound. The guarantee is tight if the mechanism's
    guarantee is.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other kinds of sampling, and for replace-one, a refusal with the reason.
    """
    if refusal := reject_other_draw("poisson", POISSON, spec, case):
        return refusal
    if case.setting.relation == "replace-one":
        return Refusal(POISSON, "the pair of this theorem is for a record that is added, removed or zeroed")
    mechanism = drawn_mechanism(spec, case.setting)
    if case.setting.relation == "zero-out-one" and not removing_is_replacing(mechanism, case.setting.unit):
        return Refusal(POISSON, "a record that is not drawn may do less than one that is drawn and zeroed")
    inner = case.account(mechanism, case.setting)
    share = Share.of(spec)
    upper, attained = subsample_pair(inner.curve.upper, share)
    if inner.curve.tight:
        return amplified_guarantee(inner, Curve(upper, (attained,)), POISSON, spec)
    # If the mechanism's bound is not tight, its pairs for lower bounds are subsampled in the same way.
    attained_pairs: list[Pair] = []
    for witness in inner.curve.witnesses:
        _, attained_on_batch = subsample_pair(witness, share)
        attained_pairs.append(attained_on_batch)
    return amplified_guarantee(inner, Curve(upper, tuple(attained_pairs)), POISSON, spec)


def poisson_replace_one(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of Poisson sampling of a Gaussian mechanism under replace-one.

    Let q be the inclusion probability, and s the bound on a contribution's norm over the standard deviation of the
    noise. Then δ is the hockey-stick divergence of the two mixtures:

        (1 − q) N(0, 1) + q N(s, 1)   and   (1 − q) N(0, 1) + q N(−s, 1),

    because the worst neighbours replace a contribution by its negative (docs/engine-certificate.md).

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other kinds of sampling, relations and mechanisms a refusal with the reason.
    """
    if refusal := reject_other_draw("poisson", POISSON_REPLACE_ONE, spec, case):
        return refusal
    if case.setting.relation != "replace-one":
        return Refusal(POISSON_REPLACE_ONE, "the pair of this theorem is for a record that is replaced")
    noise_multiplier = gaussian_multiplier(spec.mechanism)
    has_random_size = isinstance(spec.mechanism.primitive, RandomSum)
    if noise_multiplier is None and not has_random_size:
        return Refusal(POISSON_REPLACE_ONE, "proved for a Gaussian base mechanism only")
    inner = case.account(spec.mechanism, case.setting)
    share = Share.of(spec)
    if noise_multiplier is not None:
        upper, attained = opposite_gaussian(1.0 / noise_multiplier, share)
        return amplified_guarantee(inner, Curve(upper, (attained,)), POISSON_REPLACE_ONE, spec)

    # For a contribution of random size, a Gaussian mixture takes the place of each shifted Gaussian.
    mixture = inner.curve.upper.law
    assert isinstance(mixture, GaussianMixtureLaw)
    upper, attained = sampled_mixture_pairs(mixture, share)
    instances: tuple[Pair, ...] = (attained,)
    if not inner.curve.tight:
        instances = random_among_zeros(inner, share)
    return amplified_guarantee(inner, Curve(upper, instances), POISSON_REPLACE_ONE, spec)


def without_replacement(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of sampling without replacement, under replace-one or zero-out-one.

    The upper bound is q δ(log(1 + (e^ε − 1)/q)) in both directions, where q is the inclusion probability and δ the
    replace-one bound of the mechanism. Under zero-out-one, a smaller bound holds for a Gaussian mechanism. The lower
    bounds come from examples of neighbours, in which all other records equal the replacing one, or contribute zero.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other kinds of sampling, and if no replace-one guarantee covers the batch, a refusal with the
        reason.
    """
    if refusal := reject_other_draw("without-replacement", WITHOUT_REPLACEMENT, spec, case):
        return refusal
    if refusal := reject_unknown_replacement(WITHOUT_REPLACEMENT, spec, case):
        return refusal

    mechanism = drawn_mechanism(spec, case.setting)
    replace_one = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(mechanism, replace_one)
    share = Share.of(spec)
    _, upper_rate = share.around  # the doubles below and above q
    # A plateau is an (ε₀, δ₀) with δ(ε) ≤ δ₀ for every ε ≥ ε₀.
    plateau = amplify_plateau(inner.curve.upper.plateau, Fraction(upper_rate))
    upper = with_plateau(amplify_symmetrically(inner.curve.upper, share), plateau)
    guarantee = amplified_guarantee(inner, Curve(upper, ()), WITHOUT_REPLACEMENT, spec)
    if case.setting.relation == "replace-one":
        return guarantee_of_relation(guarantee, case.setting, fixed_batch(spec, inner, share))

    # Mechanisms other than the Gaussian one keep the replace-one bound, because zeroing is a way of replacing.
    zeroed = case.account(mechanism, case.setting)
    lower_bound_pairs = zeroed_in_a_batch(spec.mechanism, zeroed, share)
    mu = zeroed.curve.upper.gaussian_dp_mu
    if lower_bound_pairs and share.rate < 1.0 and mu is not None:
        return amplified_guarantee(zeroed, Curve(zeroed_pair(mu, share), lower_bound_pairs), ZEROED_IN_A_BATCH, spec)
    return guarantee_of_relation(guarantee, case.setting, lower_bound_pairs)


def guarantee_of_relation(guarantee: Guarantee, setting: Setting, instances: tuple[Pair, ...]) -> Guarantee:
    """Restate a replace-one guarantee for replace-one or zero-out-one, with lower bounds for that relation.

    Zeroing a record is one way of replacing it, so the upper bound is valid for both.

    Args:
        guarantee: replace-one guarantee with the upper bound on δ.
        setting: the requested neighbouring relation, protected unit and observer.
        instances: pairs of output distributions on neighbours in the requested relation, for lower bounds on δ.

    Returns:
        The guarantee for the requested setting.
    """
    step = guarantee.derivation
    if setting.relation == "zero-out-one":
        step = ZEROED_IS_REPLACED.because(step)
    curve = Curve(guarantee.curve.upper, instances)
    return Guarantee(setting=setting, curve=curve, derivation=step, declared=guarantee.declared)


def amplified_guarantee(inner: Guarantee, curve: Curve, theorem: Theorem, spec: Subsampled) -> Guarantee:
    """Return the guarantee of a subsampled mechanism, with the condition that the members of the batch are secret.

    If the mechanism may reveal the order of a batch, a second condition is that it does not.

    Args:
        inner: guarantee of the mechanism on the batch. Its derivation and conditions become part of the result.
        curve: amplified curve.
        theorem: theorem that gives the curve.
        spec: the subsampled mechanism.

    Returns:
        The guarantee for the neighbouring relation, unit and observer of `inner`.
    """
    step = theorem.because(inner.derivation, sampling=spec.sampling, rate=spec.inclusion_probability)
    conditions: tuple[Condition, ...] = (SECRET_DRAW,)
    if spec.sampling != "poisson" and may_tell_places(spec.mechanism):
        conditions = (SECRET_DRAW, NO_ORDER)
    declared = tuple(dict.fromkeys((*inner.declared, *conditions)))
    return Guarantee(setting=inner.setting, curve=curve, derivation=step, declared=declared)


THEOREMS: tuple[Theorem, ...] = (
    FULL_BATCH,
    POISSON,
    WITHOUT_REPLACEMENT,
    POISSON_REPLACE_ONE,
    ZEROED_IS_REPLACED,
)
RULES: tuple[Rule, ...] = (
    Rule(FULL_BATCH, "subsampled", full_batch),
    Rule(POISSON, "subsampled", poisson),
    Rule(POISSON_REPLACE_ONE, "subsampled", poisson_replace_one),
    Rule(WITHOUT_REPLACEMENT, "subsampled", without_replacement),
)

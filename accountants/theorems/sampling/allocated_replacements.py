"""Privacy of random allocation under replace-one, for noise on sums over the batches.

Each unit (record or client) is in k random batches of the t batches of an epoch. Replacing the unit is two changes: its
contribution becomes zero, and then the other value.

Proofs: docs/random-allocation.md, Replace-one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import alternatives_of, least_of
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.outward import root_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.batch_pairs import group_pair
from epsilond.accountants.profiles.allocation.hidden_choice import replaced_choice_pairs
from epsilond.accountants.profiles.allocation.statistics import noisy_batches_pair
from epsilond.accountants.profiles.binned import Noise
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.structure import gaussian_multiplier, removing_is_replacing
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.composition.rounds import flatten
from epsilond.accountants.theorems.sampling.allocated_mechanisms import (
    allocation_values,
    public_pair,
    reject_batches,
)
from epsilond.accountants.theorems.sampling.batch_instances import ContributionNoise, noise_of_contribution
from epsilond.accountants.theorems.sampling.random_allocation import (
    CELLS,
    REACHES,
    SECRET_ALLOCATION,
    sum_of_squares,
)

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import RandomAllocation, Spec

_LEAST_SHIFT, _LARGEST_SHIFT = 1e-5, 40.0
"""Shifts by a contribution, in scales of the noise, between which statistics of sums are computed.

For a smaller shift the cells of the outputs are too narrow.
"""
_LEAST_HIDDEN_SHIFT = 4.0
"""Least shift for the tests of `replaced_choice_pairs`; smaller contributions are hidden by the noise."""
REPLACED = Theorem(
    id="epsilond.allocation-replace-one",
    title="A replaced unit in k of t batches, for noise on sums",
    statement=(
        "Let δ_P and δ_Q be the profiles of all epochs with the unit against zero in its place, and of the reverse. "
        "Replacing the unit has δ(ε) ≤ δ_P(ε₁) + e^ε₁ δ_Q(ε − ε₁) for every ε₁. It is also at most that of kE runs, "
        "composed, whose batches are public"
    ),
    source=Source("epsilond", "docs/random-allocation.md, Replace-one"),
    status=Status.PROVED,
    conditions=(SECRET_ALLOCATION,),
)


def replaced_unit(spec: RandomAllocation, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of noisy sums over randomly allocated batches under replace-one.

    The upper bound is the smaller of two at each ε: group privacy from zero-out-one, and the bound for public batches.
    The lower bounds come from two examples: opposite contributions of the unit with all other contributions zero, and
    replacing a contribution by zero. A unit in all batches has the bounds for public batches only.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, or a refusal, which says why the theorem does not apply: for other relations and mechanisms, and
        for an observer who sees the batches.
    """
    if case.setting.relation != "replace-one":
        return Refusal(REPLACED, "the bound of this theorem is for a unit that is replaced")
    if refusal := reject_batches(REPLACED, spec, case):
        return refusal
    if not removing_is_replacing(spec.mechanism, case.setting.unit):
        return Refusal(REPLACED, "a unit that is in another batch may do less than either value of it")

    # The bounds for public batches are valid for secret ones, and exact if a unit is in all batches.
    inner = case.account(spec.mechanism, case.setting)
    upper = public_pair(spec, case, inner.curve.upper)
    attained = tuple(public_pair(spec, case, pair) for pair in inner.curve.witnesses)
    derivation = inner.derivation

    # Secret batches: group privacy from the guarantee for zeroing a unit.
    if spec.times_chosen < spec.steps:
        zeroed = case.account(spec, replace(case.setting, relation="zero-out-one"))
        if _protects(zeroed.curve.upper):
            upper = least_of([group_pair(zeroed.curve.upper, CELLS), upper])
        attained = (*_opposite_pairs(spec, case), *zeroed.curve.witnesses)
        derivation = zeroed.derivation
    step = REPLACED.because(derivation, **allocation_values(spec))
    declared = tuple(dict.fromkeys((*inner.declared, SECRET_ALLOCATION)))
    return Guarantee(setting=case.setting, curve=Curve(upper, attained), derivation=step, declared=declared)


def _protects(pair: Pair) -> bool:
    """Return whether group privacy from zeroing a unit can give a useful upper bound.

    It cannot if the privacy loss is infinite with a probability of nearly 1, that is, if δ is nearly 1 at every ε.

    Args:
        pair: dominating pair of zeroing the unit in all epochs.

    Returns:
        True if in both directions the probability of an infinite loss is below about 1 − 1e-9.
    """
    largest_log_mass = -1e-9  # about the logarithm of 1 − 1e-9
    first_alternative = alternatives_of(pair)[0]
    return all(profile.log_infinite_mass < largest_log_mass for profile in first_alternative.directions())


def _opposite_pairs(spec: RandomAllocation, case: Case) -> list[Pair]:
    """Return output distributions for lower bounds on δ, if the two values of a unit have opposite contributions.

    All other contributions are zero. For each noise of `_noises_of_batch` an attacker has up to two tests. For large
    shifts by Gaussian noise, it tests each set of batches that the unit may be in. For moderate shifts, it adds up
    likelihood ratios of the batches, each limited by a cap.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The pairs of all tests. If units stay in the same batches for several epochs, only Gaussian noise has tests.
    """
    pairs: list[Pair] = []
    keeps_batches = spec.kept and spec.epochs > 1
    for noise, one_shift in _noises_of_batch(spec.mechanism):
        if keeps_batches and noise.kind != "gaussian":
            continue
        shift, runs = one_shift, spec.epochs
        if keeps_batches:  # the sum of a batch's outputs over the E epochs has shift √E
            shift, runs = one_shift * math.sqrt(spec.epochs), 1
        shift *= 1.0 - 8 * UNIT_ROUNDOFF  # rounded down, for lower bounds

        # A test of each set of batches that the unit may be in.
        if noise.kind == "gaussian" and _LEAST_HIDDEN_SHIFT <= shift < math.inf:
            pairs += replaced_choice_pairs(shift, spec.steps, spec.times_chosen, runs)

        # Sums of capped likelihood ratios.
        if _LEAST_SHIFT <= shift <= _LARGEST_SHIFT:
            opposite_shifts = shift, -shift
            for cap in _caps(noise, shift):
                pair = noisy_batches_pair(noise, opposite_shifts, spec.steps, spec.times_chosen, CELLS, cap)
                if pair is not None:
                    pairs.append(composed_pair([(pair, runs)], case.effort))
    return pairs


def _caps(noise: Noise, shift: float) -> list[float]:
    """Choose caps for sums of likelihood ratios over the batches, from which lower bounds on δ are computed.

    A ratio counts at most as the cap. A cap of 0 means the sum of logarithms, as `noisy_batches_pair` defines it. Every
    cap gives a valid bound, so several are tried.

    Args:
        noise: the noise on the sum of a batch.
        shift: the shift of a sum by one contribution, in scales of the noise.

    Returns:
        The caps in increasing order, beginning with 0.
    """
    if noise.kind != "gaussian":  # the ratio of Laplace or geometric noise is at most e^shift
        return [0.0, math.exp(shift)]
    # The likelihood ratio of an output s + r is e^{s(s + r) − s²/2}, for a shift s and r standard deviations.
    largest_log_ratio = 600.0  # its exponential is a double
    caps = [0.0]
    for reach in REACHES:
        log_ratio = shift * (shift + reach) - 0.5 * shift * shift
        caps.append(math.exp(min(log_ratio, largest_log_ratio)))
    return caps


def _noises_of_batch(mechanism: Spec) -> list[ContributionNoise]:
    """Return the noise on sums of a batch, with the shift by one contribution, for lower bounds on δ.

    All Gaussian releases together are one Gaussian release. Of the other releases only the one with the largest shift
    is used: ignoring outputs is post-processing, so lower bounds stay valid.

    Args:
        mechanism: the mechanism that is run on the batch.

    Returns:
        At most two noises with their shifts: first the Gaussian one, if any, then another one, if any.
    """
    releases = [(release, gaussian_multiplier(release), times) for release, times in flatten(mechanism)]
    noises = []

    # Combine all Gaussian releases.
    gaussian = [(multiplier, times) for _, multiplier, times in releases if multiplier is not None]
    if gaussian:
        shift = root_up(sum_of_squares(gaussian))
        noises.append(ContributionNoise(Noise("gaussian"), shift))

    # Of the other releases, keep the one with the largest shift.
    candidates = (noise_of_contribution(release) for release, multiplier, _ in releases if multiplier is None)
    contributions = [contribution for contribution in candidates if contribution is not None]
    if contributions:
        noises.append(max(contributions, key=lambda contribution: contribution.shift))
    return noises


THEOREMS: tuple[Theorem, ...] = (REPLACED,)
RULES: tuple[Rule, ...] = (Rule(REPLACED, "random_allocation", replaced_unit),)

"""Random allocation of each unit to some batches of an epoch, for every mechanism with a dominating pair.

The mechanism may be a composition: all releases from one batch. Its pair is the product of the pairs of its parts.
Proofs and error terms: docs/random-allocation.md, Any mechanism.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.curve.pair import with_plateau
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.allocation.batch_pairs import (
    AllocatedBatches,
    attained_one_of_several,
    may_be_coarse,
    one_of_several_pair,
)
from epsilond.accountants.profiles.allocation.composed_cells import cells_of_batch
from epsilond.accountants.profiles.allocation.statistics import batches_pair
from epsilond.accountants.profiles.amplification import subsample_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs.primitives import CategoryReport, SummedTrials
from epsilond.accountants.structure import leaves, primitives, removing_is_replacing
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.random_allocation import (
    CELLS,
    SECRET_ALLOCATION,
    block_sizes,
    reject_seen_batches,
)

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import RandomAllocation

CAP_QUANTILES = (0.6, 0.75, 0.9)
"""Quantiles of the likelihood ratios of all cells at which they are capped in a statistic."""
MOST_WITNESSES = 2
"""Number of attained pairs of the mechanism on a batch from which lower bounds are computed."""
ALLOCATION_WITHOUT_DATA = Condition(
    "allocation-independent-of-data",
    "the batches of every unit are drawn independently of the data. They may be public",
)
ANY_MECHANISM = Theorem(
    id="epsilond.allocation-of-any-mechanism",
    title="A unit in k of t batches, for every mechanism with a dominating pair",
    statement=(
        "Let (P, Q) dominate the mechanism on a batch with and without one unit, in both directions. Then (1/t) Σᵢ "
        "Qⁱ⁻¹ × P × Qᵗ⁻ⁱ against Qᵗ dominates an epoch in which each unit is in one of t batches. A unit in k of t "
        "batches is dominated by k such allocations to blocks of ⌊t/k⌋ or ⌈t/k⌉ batches, composed. If the batches are "
        "kept for E epochs, (P, Q) is the pair of E runs. Several releases from one batch have their product. "
        "Under zero-out-one the mechanism adds noise to a sum"
    ),
    source=Source("epsilond", "docs/random-allocation.md, Any mechanism"),
    status=Status.PROVED,
    conditions=(SECRET_ALLOCATION,),
)
PUBLIC_BATCHES = Theorem(
    id="epsilond.allocation-to-public-batches",
    title="A unit in k of t batches that may be public",
    statement=(
        "Given the batches of all units, replacing or zeroing a unit changes k batches of each epoch. So kE runs of "
        "the mechanism on a batch, composed, dominate E epochs"
    ),
    source=Source("epsilond", "docs/random-allocation.md, Replace-one"),
    status=Status.PROVED,
    conditions=(ALLOCATION_WITHOUT_DATA,),
)


def allocated_mechanism(spec: RandomAllocation, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of any mechanism on randomly allocated batches, under add-or-remove-one or zero-out-one.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, or a refusal (an object that says why the theorem does not apply). It refuses replace-one, a
        mechanism that needs batches of a fixed size, and an observer who sees the batches. It also refuses zero-out-one
        if removing a unit is not the same as zeroing it.
    """
    # The cases to which the theorem does not apply.
    relation = case.setting.relation
    if refusal := reject_batches(ANY_MECHANISM, spec, case):
        return refusal
    if relation == "replace-one":
        return Refusal(ANY_MECHANISM, "the pair of this theorem is for a unit that is added, removed or zeroed")
    if relation == "zero-out-one" and not removing_is_replacing(spec.mechanism, case.setting.unit):
        return Refusal(ANY_MECHANISM, "a unit that is in another batch may do less than one that is zeroed")
    # The upper bound, the lower bounds, and the derivation.
    inner = case.account(spec.mechanism, case.setting)
    upper = _upper_pair(spec, case, inner.curve.upper)
    attained = attained_pairs(spec, case, inner.curve.witnesses)
    step = ANY_MECHANISM.because(inner.derivation, **allocation_values(spec))
    declared = tuple(dict.fromkeys((*inner.declared, SECRET_ALLOCATION)))
    return Guarantee(setting=case.setting, curve=Curve(upper, attained), derivation=step, declared=declared)


def _upper_pair(spec: RandomAllocation, case: Case, pair: Pair) -> Pair:
    """Return two distributions that dominate a random allocation of records or clients to batches.

    Dominating means that their hockey-stick divergence bounds δ. The pair is computed for secret batches. If that pair
    may be coarse, the smaller of its δ and the δ for public batches is taken. If each record or client is in all
    batches, the pair is that of public batches.

    Args:
        spec: the allocation.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        pair: dominating pair of one run on a batch.

    Returns:
        The pair for all epochs together.
    """
    public = public_pair(spec, case, pair)
    if spec.times_chosen == spec.steps:
        return public
    # The bound for secret batches, limited by that for public ones if it may be coarse.
    secret = _allocated_pair(spec, case, pair)
    epochs, _ = epochs_and_runs(spec)
    if may_be_coarse(pair, epochs):
        secret = least_of([secret, public])
    return with_plateau(secret, public.plateau)


def _allocated_pair(spec: RandomAllocation, case: Case, pair: Pair) -> Pair:
    """Return two distributions that dominate a random allocation of a record or client to k of t secret batches.

    Dominating means that their hockey-stick divergence bounds δ. The batches are divided into k blocks, and the unit
    (the record or client) is taken to be in one batch of each block. This dominates the allocation.

    Args:
        spec: specification of the allocation: t batches, of which k have the unit, and the epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        pair: dominating pair of one run of the mechanism on a batch.

    Returns:
        The pair for all epochs together.
    """
    epochs, runs = epochs_and_runs(spec)
    # The pair of each block, and the number of times that it is composed.
    blocks = []
    for size, count in block_sizes(spec.steps, spec.times_chosen):
        block_pair = one_of_several_pair(pair, AllocatedBatches(size, epochs), CELLS, case.effort)
        blocks.append((block_pair, runs * count))
    return composed_pair(blocks, case.effort)


def public_batches(spec: RandomAllocation, case: Case) -> Guarantee | Refusal:
    """Return a guarantee that holds even if it is public which units are in which batches; or a refusal.

    A unit is a record or client. The guarantee is the composition of the batches that a unit is in, under replace-one
    or zero-out-one. No privacy comes from the allocation itself.

    Args:
        spec: specification of the random allocation of each unit to some of the batches.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, with upper and lower bounds on δ. A refusal, which says why the theorem does not apply, under
        add-or-remove-one and if batches cannot have random sizes.
    """
    if refusal := reject_batches(PUBLIC_BATCHES, spec, case):
        return refusal
    if case.setting.relation == "add-or-remove-one":
        return Refusal(PUBLIC_BATCHES, "public batches show whether the unit is in one")
    inner = case.account(spec.mechanism, case.setting)
    upper = public_pair(spec, case, inner.curve.upper)
    has_named_reports = any(isinstance(primitive, CategoryReport) for primitive in primitives(spec.mechanism))
    if has_named_reports:  # a report under a name shows the batch, so the batches are public
        attained = tuple(public_pair(spec, case, pair) for pair in inner.curve.witnesses)
    else:
        attained = attained_pairs(spec, case, inner.curve.witnesses)
    step = PUBLIC_BATCHES.because(inner.derivation, **allocation_values(spec))
    declared = tuple(dict.fromkeys((*inner.declared, ALLOCATION_WITHOUT_DATA)))
    return Guarantee(setting=case.setting, curve=Curve(upper, attained), derivation=step, declared=declared)


def reject_batches(theorem: Theorem, spec: RandomAllocation, case: Case) -> Refusal | None:
    """Check whether a mechanism can run on batches of random size, and whether the batches are secret.

    The size of a batch in a random allocation is random.

    Args:
        theorem: the theorem that the refusal names.
        spec: specification of the allocation.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply, if the mechanism needs batches of a fixed size, or the
        observer sees the batches. None otherwise.
    """
    for leaf in leaves(spec.mechanism):
        if isinstance(leaf.primitive, SummedTrials):
            return Refusal(theorem, f"{leaf.kind} is of a fixed number of clients, and that of a batch is random")
    return reject_seen_batches(theorem, case)


def allocation_values(spec: RandomAllocation) -> dict[str, float]:
    """Return the parameters of a random allocation by name, for the derivation of a guarantee.

    Args:
        spec: specification of the allocation.

    Returns:
        The number of batches, how many of them have a unit, whether they are kept, and the number of epochs.
    """
    return {"steps": spec.steps, "times_chosen": spec.times_chosen, "kept": spec.kept, "epochs": spec.epochs}


def epochs_and_runs(spec: RandomAllocation) -> tuple[int, int]:
    """Return the number of epochs with the same batches, and the number of independent allocations.

    Args:
        spec: specification of the allocation. Either its batches are kept over all epochs, or each epoch is
            independent.

    Returns:
        The two numbers, of which at least one is 1.
    """
    if spec.kept:
        return spec.epochs, 1
    return 1, spec.epochs


def public_pair(spec: RandomAllocation, case: Case, pair: Pair) -> Pair:
    """Return two distributions that dominate a random allocation of records or clients to public batches.

    Dominating means that their hockey-stick divergence bounds δ. They are the composition of all runs on batches that
    have the unit, that is, the record or client.

    Args:
        spec: specification of the allocation, with the batches that have the unit in an epoch, and the epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        pair: dominating pair of one run on a batch.

    Returns:
        The composition of one run for each epoch and each batch with the unit.
    """
    runs_with_unit = spec.times_chosen * spec.epochs
    return composed_pair([(pair, runs_with_unit)], case.effort)


def attained_pairs(spec: RandomAllocation, case: Case, witnesses: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return output distributions of a random allocation on concrete neighbours, for lower bounds on δ.

    A unit is a record or client. On these neighbours, a batch without the unit equals a batch with the unit's other
    value. A unit in all batches attains the composition. For a unit in one batch the whole likelihood ratio is
    evaluated. For several batches the statistics of `profiles/allocation/statistics.py` are used. In a further example
    the unit contributes to the first batch only, which has the unit with probability k/t.

    Args:
        spec: the allocation of each unit to k of t batches.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        witnesses: pairs that the mechanism attains on a batch with one or the other value of the unit.

    Returns:
        Pairs of distributions of all epochs together. There is at least one for each witness that is used.
    """
    if spec.times_chosen == spec.steps:
        return tuple(public_pair(spec, case, pair) for pair in witnesses)
    attained = []
    epochs, runs = epochs_and_runs(spec)
    share = share_of(spec.times_chosen, spec.steps)
    for witness in witnesses[:MOST_WITNESSES]:
        # The likelihood ratio of all batches, for a unit in one of them.
        if spec.times_chosen == 1:
            by_ratio = attained_one_of_several(witness, AllocatedBatches(spec.steps, epochs), CELLS)
            if by_ratio is not None:
                attained.append(composed_pair([(by_ratio, runs)], case.effort))

        # The unit contributes to the first batch only.
        one_batch = composed_pair([(witness, epochs)], case.effort)
        _, first_batch_only = subsample_pair(one_batch, share)
        attained.append(composed_pair([(first_batch_only, runs)], case.effort))

        attained += _attained_by_sums(spec, case, witness)
    return tuple(attained)


def share_of(chosen: int, number: int) -> Share:
    """Return the probability k/t of being in a given batch, with the doubles around it.

    The quotient is computed exactly as a fraction, so that it is known whether it is a double.

    Args:
        chosen: number k of chosen batches, or of units in a batch.
        number: number t ≥ k of all batches, or of all units.

    Returns:
        The double nearest to k/t, that nearest to 1 − k/t, and whether the first one is exact.
    """
    exact_share = Fraction(chosen, number)
    nearest = float(exact_share)
    nearest_absent = float(1 - exact_share)
    return Share(nearest, nearest_absent, Fraction(nearest) == exact_share)


def _attained_by_sums(spec: RandomAllocation, case: Case, witness: Pair) -> list[Pair]:
    """Return distributions of a statistic of the outputs, for lower bounds on δ of a record or client in some batches.

    The statistic is the sum over the batches of their likelihood ratios, each capped at some value, or of logarithms of
    these ratios. Its distribution does not depend on which batches the unit is in. As post-processing it can only lower
    δ.

    Args:
        spec: the allocation.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        witness: pair that the mechanism attains on a batch.

    Returns:
        One pair of distributions for each cap. There are none for a unit in one batch, or for batches that are kept
        over several epochs. There are also none if the likelihood ratio of the witness cannot be made discrete.
    """
    cells = cells_of_batch(witness, CELLS)
    keeps_batches = spec.kept and spec.epochs > 1
    if cells is None or spec.times_chosen == 1 or keeps_batches:
        return []
    ratios = cells.present / cells.absent
    quantiles = [float(np.quantile(ratios, level)) for level in CAP_QUANTILES]
    # Without repetitions; a cap of 0 means the sum of logarithms.
    caps = dict.fromkeys((0.0, float(ratios.max()), *quantiles))
    pairs = [batches_pair(cells, spec.steps, spec.times_chosen, CELLS, cap) for cap in caps]
    return [composed_pair([(pair, spec.epochs)], case.effort) for pair in pairs if pair is not None]


THEOREMS: tuple[Theorem, ...] = (ANY_MECHANISM, PUBLIC_BATCHES)
RULES: tuple[Rule, ...] = (
    Rule(ANY_MECHANISM, "random_allocation", allocated_mechanism, inner_effort="default"),
    Rule(PUBLIC_BATCHES, "random_allocation", public_batches),
)

"""Privacy of random allocation, in which each unit is in k random batches of the t batches of an epoch.

A unit is the protected record or client. The bounds are for every mechanism on a batch that has a dominating pair: two
distributions with a hockey-stick divergence of at least δ at every ε. The mechanism may be several releases from one
batch; its pair is then the product of theirs. Proofs and error terms: docs/random-allocation.md, Any mechanism.
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
"""Quantiles of the likelihood ratios of the output cells that serve as caps on these ratios in a statistic."""
MOST_WITNESSES = 2
"""Largest number of attained pairs of the mechanism on a batch for which lower bounds are computed."""
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
        The guarantee, or a refusal, which says why the theorem does not apply. The theorem applies neither to
        replace-one, nor to a mechanism that needs batches of a fixed size, nor to an observer who sees the batches. It
        applies to zero-out-one only if removing a unit is the same as zeroing it.
    """
    relation = case.setting.relation
    if refusal := reject_batches(ANY_MECHANISM, spec, case):
        return refusal
    if relation == "replace-one":
        return Refusal(ANY_MECHANISM, "the pair of this theorem is for a unit that is added, removed or zeroed")
    if relation == "zero-out-one" and not removing_is_replacing(spec.mechanism, case.setting.unit):
        return Refusal(ANY_MECHANISM, "a unit that is in another batch may do less than one that is zeroed")

    inner = case.account(spec.mechanism, case.setting)
    upper = _upper_pair(spec, case, inner.curve.upper)
    attained = attained_pairs(spec, case, inner.curve.witnesses)
    step = ANY_MECHANISM.because(inner.derivation, **allocation_values(spec))
    declared = tuple(dict.fromkeys((*inner.declared, SECRET_ALLOCATION)))
    return Guarantee(setting=case.setting, curve=Curve(upper, attained), derivation=step, declared=declared)


def _upper_pair(spec: RandomAllocation, case: Case, pair: Pair) -> Pair:
    """Return a dominating pair of a random allocation, which gives the upper bounds on δ.

    It is the pair for secret batches. The numerical bound for it may be larger than that for public batches. If so, the
    smaller δ is taken at each ε. If each unit is in all batches, nothing is secret, and the pair for public batches is
    returned. A known (ε₀, δ₀) with δ(ε) ≤ δ₀ for all ε ≥ ε₀ (a plateau) for public batches holds in all cases.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        pair: dominating pair of one run on a batch.

    Returns:
        The pair for all epochs together.
    """
    public = public_pair(spec, case, pair)
    if spec.times_chosen == spec.steps:
        return public
    secret = _allocated_pair(spec, case, pair)
    epochs, _ = epochs_and_runs(spec)
    if may_be_coarse(pair, epochs):
        secret = least_of([secret, public])
    return with_plateau(secret, public.plateau)


def _allocated_pair(spec: RandomAllocation, case: Case, pair: Pair) -> Pair:
    """Return a dominating pair of an allocation of each unit to k of t secret batches.

    The allocation is dominated by a simpler one: the batches are divided into k blocks, and the unit is in one random
    batch of each block.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        pair: dominating pair of one run of the mechanism on a batch.

    Returns:
        The pair for all epochs together.
    """
    epochs, runs = epochs_and_runs(spec)
    pairs_and_runs = []
    for size, count in block_sizes(spec.steps, spec.times_chosen):
        block_pair = one_of_several_pair(pair, AllocatedBatches(size, epochs), CELLS, case.effort)
        pairs_and_runs.append((block_pair, runs * count))
    return composed_pair(pairs_and_runs, case.effort)


def public_batches(spec: RandomAllocation, case: Case) -> Guarantee | Refusal:
    """Return a guarantee that holds even if it is public which units are in which batches.

    It is the composition of the runs on the batches that a unit is in, under replace-one or zero-out-one. The
    randomness of the allocation is not used.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, or a refusal, which says why the theorem does not apply: under add-or-remove-one, and if
        `reject_batches` refuses the batches.
    """
    if refusal := reject_batches(PUBLIC_BATCHES, spec, case):
        return refusal
    if case.setting.relation == "add-or-remove-one":
        return Refusal(PUBLIC_BATCHES, "public batches show whether the unit is in one")
    inner = case.account(spec.mechanism, case.setting)
    upper = public_pair(spec, case, inner.curve.upper)
    has_named_reports = any(isinstance(primitive, CategoryReport) for primitive in primitives(spec.mechanism))
    if has_named_reports:  # a report under the name of its client shows the batch
        attained = tuple(public_pair(spec, case, pair) for pair in inner.curve.witnesses)
    else:
        attained = attained_pairs(spec, case, inner.curve.witnesses)
    step = PUBLIC_BATCHES.because(inner.derivation, **allocation_values(spec))
    declared = tuple(dict.fromkeys((*inner.declared, ALLOCATION_WITHOUT_DATA)))
    return Guarantee(setting=case.setting, curve=Curve(upper, attained), derivation=step, declared=declared)


def reject_batches(theorem: Theorem, spec: RandomAllocation, case: Case) -> Refusal | None:
    """Refuse a mechanism that cannot run on batches of random size, and an observer who sees the batches.

    The batches of a random allocation have random sizes.

    Args:
        theorem: the theorem that the refusal names.
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The refusal, which says why the theorem does not apply; None if there is no such reason.
    """
    for leaf in leaves(spec.mechanism):
        if isinstance(leaf.primitive, SummedTrials):
            return Refusal(theorem, f"{leaf.kind} is of a fixed number of clients, and that of a batch is random")
    return reject_seen_batches(theorem, case)


def allocation_values(spec: RandomAllocation) -> dict[str, float]:
    """Return the parameters of a random allocation by name, for the derivation of a guarantee.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.

    Returns:
        `steps` (the number t of batches), `times_chosen` (k), `kept` (whether all epochs have the same batches) and
        `epochs` (E).
    """
    return {"steps": spec.steps, "times_chosen": spec.times_chosen, "kept": spec.kept, "epochs": spec.epochs}


def epochs_and_runs(spec: RandomAllocation) -> tuple[int, int]:
    """Return the number of epochs for which one allocation is used, and the number of independent allocations.

    Args:
        spec: the allocation. Its batches are either kept for all E epochs or drawn again in each epoch.

    Returns:
        (E, 1) if the batches are kept, otherwise (1, E).
    """
    if spec.kept:
        return spec.epochs, 1
    return 1, spec.epochs


def public_pair(spec: RandomAllocation, case: Case, pair: Pair) -> Pair:
    """Return a dominating pair of an allocation to public batches: the composition of all runs with the unit.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        pair: dominating pair of one run on a batch.

    Returns:
        The pair of k E runs. If `pair` is attained by neighbours, so is the result.
    """
    runs_with_unit = spec.times_chosen * spec.epochs
    return composed_pair([(pair, runs_with_unit)], case.effort)


def attained_pairs(spec: RandomAllocation, case: Case, witnesses: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return output distributions of a random allocation on concrete neighbours, for lower bounds on δ.

    A unit is the protected record or client, which has one of two values. On these neighbours, a batch without the unit
    equals a batch with its second value. If the unit is in all batches, the outputs are those of a composition.
    Otherwise there are several examples:

    - a unit in one batch, by the likelihood ratio of all outputs;
    - a unit in several batches, by the statistics of `_attained_by_sums`;
    - a unit that contributes to the first batch only, which has the unit with probability k/t.

    Args:
        spec: the allocation of each unit to k of t batches.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        witnesses: pairs of output distributions of one run, on a batch with the first and with the second value.

    Returns:
        Pairs of distributions of all epochs together, at least one for each of the first `MOST_WITNESSES` witnesses.
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
    """Return the probability k/t of being in a given batch, as doubles with a record of rounding.

    Args:
        chosen: number k of chosen batches, or of units in a batch.
        number: number t ≥ k of all batches, or of all units.

    Returns:
        The double nearest to k/t, the double nearest to 1 − k/t, and whether the first one equals k/t exactly.
    """
    exact_share = Fraction(chosen, number)
    nearest = float(exact_share)
    nearest_absent = float(1 - exact_share)
    return Share(nearest, nearest_absent, Fraction(nearest) == exact_share)


def _attained_by_sums(spec: RandomAllocation, case: Case, witness: Pair) -> list[Pair]:
    """Return distributions of sums over the batches, for lower bounds on δ of a unit in several batches.

    Let X be the likelihood ratio of the output of a batch. The terms of a sum are min(X, C) for a constant C, or
    log(1 + (k/t)(X − 1)). The distribution does not depend on which batches the unit is in. As post-processing, a sum
    can only lower δ. Several C are tried: the largest X, and some quantiles of X.

    Args:
        spec: the allocation of each unit to k of t batches, over E epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        witness: pair that the mechanism attains on a batch.

    Returns:
        At most one pair for each sum; a sum that is the same for all outputs has none. There are none for a unit in one
        batch, for batches that are kept for several epochs, or if the outputs cannot be divided into cells.
    """
    cells = cells_of_batch(witness, CELLS)
    keeps_batches = spec.kept and spec.epochs > 1
    if cells is None or spec.times_chosen == 1 or keeps_batches:
        return []
    ratios = cells.present / cells.absent
    quantiles = [float(np.quantile(ratios, level)) for level in CAP_QUANTILES]
    largest_ratio = float(ratios.max())
    sum_of_logarithms = 0.0  # the value of the cap C for which `batches_pair` adds logarithms
    caps = dict.fromkeys((sum_of_logarithms, largest_ratio, *quantiles))  # without repetitions
    pairs = [batches_pair(cells, spec.steps, spec.times_chosen, CELLS, cap) for cap in caps]
    return [composed_pair([(pair, spec.epochs)], case.effort) for pair in pairs if pair is not None]


THEOREMS: tuple[Theorem, ...] = (ANY_MECHANISM, PUBLIC_BATCHES)
RULES: tuple[Rule, ...] = (
    Rule(ANY_MECHANISM, "random_allocation", allocated_mechanism, inner_effort="default"),
    Rule(PUBLIC_BATCHES, "random_allocation", public_batches),
)

"""Epochs of a shuffled loader: every epoch permutes the records and cuts them into batches of a fixed size.

No amplification by the order is proved if a batch may depend on outputs of earlier batches. The upper bound therefore
takes the order as public. The lower bounds are those of concrete neighbours. Proofs: docs/random-allocation.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.batch_pairs import AllocatedBatches, attained_one_of_several
from epsilond.accountants.profiles.allocation.maxima import largest_sum_pair
from epsilond.accountants.profiles.allocation.pairs import has_allocation_pairs, unequal_attained_pair
from epsilond.accountants.profiles.amplification import subsample_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs.primitives import CategoryReport
from epsilond.accountants.structure import drawn_level, gaussian_multiplier, primitives
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.allocated_mechanisms import MOST_WITNESSES, share_of
from epsilond.accountants.theorems.sampling.random_allocation import CELLS

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import Spec, Subsampled

ORDER_WITHOUT_DATA = Condition(
    "order-independent-of-data", "the order of every epoch is drawn independently of the data. The order may be public"
)
SHUFFLED_EPOCHS = Theorem(
    id="epsilond.shuffled-epochs",
    title="Epochs of a shuffled loader, without amplification",
    statement=(
        "A unit is in at most one batch of each epoch. Given the orders of all epochs, replacing or zeroing it changes "
        "one batch of each, so E runs of the mechanism on a batch, composed, dominate E epochs"
    ),
    source=Source("epsilond", "docs/random-allocation.md, Shuffled epochs"),
    status=Status.PROVED,
    conditions=(ORDER_WITHOUT_DATA,),
)
MOST_STEPS = 10**6
"""Largest number of batches of an epoch of which a lower bound is computed, as many as an allocation may have."""


def shuffled_epochs(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a mechanism that runs on all batches of a shuffled data set, once in each epoch.

    A unit (the protected record or client) is in at most one batch of each epoch. So the upper bound is the composition
    of one run for each epoch. The lower bounds come from concrete neighbours.

    Args:
        spec: specification of the shuffled epochs.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For add-or-remove-one, or if the shuffled units are not the protected ones, a refusal, which says
        why the theorem does not apply.
    """
    unit, relation = case.setting.unit, case.setting.relation
    level = drawn_level(spec, unit)
    if level != f"{unit}s":
        return Refusal(SHUFFLED_EPOCHS, f"{level} are shuffled where a {unit} is protected")
    if relation == "add-or-remove-one":
        return Refusal(
            SHUFFLED_EPOCHS,
            f"without one {unit} the cut of the order moves, so another batch changes too and a batch may vanish. "
            "Request zero-out-one or replace-one, or a Poisson or random-allocation sampler",
        )
    inner = case.account(spec.mechanism, case.setting)
    epochs = spec.epochs or 1
    upper = composed_pair([(inner.curve.upper, epochs)], case.effort)

    # If the order hides nothing, neighbours attain the composition itself.
    hides_nothing = spec.batch_size == spec.population or shows_batches(spec.mechanism)
    pairs_of_epoch = inner.curve.witnesses if hides_nothing else _attained_pairs(spec, case, inner)
    attained = [composed_pair([(pair, epochs)], case.effort) for pair in pairs_of_epoch]
    step = SHUFFLED_EPOCHS.because(
        inner.derivation, epochs=epochs, batch_size=spec.batch_size, population=spec.population
    )
    declared = tuple(dict.fromkeys((*inner.declared, ORDER_WITHOUT_DATA)))
    return Guarantee(setting=case.setting, curve=Curve(upper, tuple(attained)), derivation=step, declared=declared)


def shows_batches(mechanism: Spec) -> bool:
    """Return whether the outputs of a mechanism name the units of a batch, so that the order is public."""
    return all(isinstance(primitive, CategoryReport) for primitive in primitives(mechanism))


def _attained_pairs(spec: Subsampled, case: Case, inner: Guarantee) -> list[Pair]:
    """Return output distributions of one shuffled epoch on concrete neighbours, for lower bounds on δ.

    The neighbours differ in one unit, a record or client. For a Gaussian mechanism under replace-one, all other
    contributions equal the replacing one, and the replaced one is its negative. Under zero-out-one, all other
    contributions are zero, or the negative of the unit's. For other mechanisms, all other units equal the replacing or
    zeroed one. So a batch without the unit has the same output as in the second data set.

    Args:
        spec: the shuffled epochs. If the batch size does not divide the number of units, the last batch is smaller.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        inner: guarantee of the mechanism on a batch.

    Returns:
        The pairs; none if an epoch has more than `MOST_STEPS` batches.
    """
    batch_size, population = spec.batch_size or 1, spec.population or 1
    steps, remainder = divmod(population, batch_size)
    if steps > MOST_STEPS:
        return []
    share, last_share = batch_size / population, remainder / population
    noise_multiplier = gaussian_multiplier(spec.mechanism)
    if noise_multiplier is not None:
        shift = (1.0 - 4 * UNIT_ROUNDOFF) / noise_multiplier  # rounded down, for lower bounds
        return _gaussian_pairs(shift, steps, share, last_share, is_replaced=case.setting.relation == "replace-one")

    batches = AllocatedBatches(steps, share=share, last_share=last_share)
    pairs: list[Pair] = []
    for witness in inner.curve.witnesses[:MOST_WITNESSES]:
        _, one_batch_only = subsample_pair(witness, share_of(batch_size, population))
        pairs.append(one_batch_only)
        all_batches = attained_one_of_several(witness, batches, CELLS)
        if all_batches is not None:
            pairs.append(all_batches)
    return pairs


def _gaussian_pairs(shift: float, steps: int, share: float, last_share: float, *, is_replaced: bool) -> list[Pair]:
    """Return output distributions of a Gaussian mechanism in one shuffled epoch, for lower bounds on δ.

    They are the distributions of the mean likelihood ratio of the batches' noisy sums, and of the largest of these
    sums.

    Args:
        shift: norm of a contribution, in standard deviations of the noise, rounded down.
        steps: number of batches of full size.
        share: probability that the unit (record or client) is in a given one of them.
        last_share: probability that it is in a further, smaller batch; 0 if there is none.
        is_replaced: whether the relation is replace-one; otherwise it is zero-out-one.

    Returns:
        At most two pairs of distributions; none if the shift is outside the range that is computed.
    """
    pairs: list[Pair] = []
    change = 2.0 * shift if is_replaced else shift

    if has_allocation_pairs(change):
        pairs.append(unequal_attained_pair(change, steps, share, last_share, CELLS))

    # Under replace-one, the largest sum is used only if there is no other pair.
    uses_largest_sum = not is_replaced or not pairs
    if math.isfinite(shift) and uses_largest_sum:
        batch_count = steps
        if last_share > 0.0:
            batch_count += 1
        shift_of_second = 0.0 if is_replaced else shift
        pairs.append(largest_sum_pair(2.0 * shift, shift_of_second, steps=batch_count, times_chosen=1))
    return pairs


THEOREMS: tuple[Theorem, ...] = (SHUFFLED_EPOCHS,)
RULES: tuple[Rule, ...] = (Rule(SHUFFLED_EPOCHS, "shuffled-epochs", shuffled_epochs),)

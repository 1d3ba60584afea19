"""Pairs of a unit that is in a random set of batches, from the pair of the mechanism on one batch.

Proofs: docs/random-allocation.md.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.least import alternatives_of
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.allocation.attained_ratios import ratio_below
from epsilond.accountants.profiles.allocation.group_profiles import GroupMinimum, GroupProfile
from epsilond.accountants.profiles.allocation.losses import LARGEST_LOSS, earlier_losses
from epsilond.accountants.profiles.allocation.pairs import attained_pair, dominating_pair
from epsilond.accountants.profiles.allocation.products import multiply_copies, multiply_ratios
from epsilond.accountants.profiles.allocation.profile_ratios import BoundedPoint, ratio_above, ratio_of_bounds
from epsilond.accountants.profiles.allocation.ratios import sum_copies
from epsilond.accountants.profiles.atoms import AtomicProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.allocation.ratios import FiniteRatio
    from epsilond.accountants.rule import Effort

_LITTLE_DIFFERENCE = math.log(1e-3)
"""Log of the δ at ε = 0 of one batch below which the cells of a sum may be too wide for its pair."""
_NEGLIGIBLE = -500.0
"""log δ at `LARGEST_LOSS` up to which larger losses do not matter."""
MOST_PRODUCTS = 1024
"""Largest number of runs with likelihood ratios that are multiplied in cells. More runs are composed first."""
_MOST_FACTORS = 16
"""Largest number of different releases with likelihood ratios that are multiplied, tens of milliseconds each."""
_GROUP_LOSSES = 400
"""Number of ε at which δ of two changes is bounded, on each of two grids."""
_SPLITS = 96
"""Number of splits of each such ε into two."""
_FLOOR = -690.0
"""log δ from which on a group bound is not resolved."""


class AllocatedBatches(NamedTuple):
    """The batches of a run of which exactly one, chosen at random, has a given unit.

    A unit is the record or client that is protected.

    Attributes:
        steps: number t of batches of equal probability.
        epochs: number of epochs in which the unit is in the same batch.
        share: probability of each batch; None for 1/t.
        last_share: probability of a further last batch; 0 if there is none.
    """

    steps: int
    epochs: int = 1
    share: float | None = None
    last_share: float = 0.0


def one_of_several_pair(run: Pair, batches: AllocatedBatches, cells: int, effort: Effort) -> Pair:
    """Return a dominating pair for a unit that is in exactly one of several batches at random.

    The unit is the record or client that is protected. The likelihood ratio of all outputs is the mean of t independent
    ratios of one batch.

    Args:
        run: dominating pair of the mechanism on a batch with the unit against a batch without it.
        batches: the batches. All have the same probability.
        cells: number of cells, into which the values of each sum are merged.
        effort: limit on the work of a composition.

    Returns:
        A pair of distributions. Its hockey-stick divergence at e^ε is at least δ(ε) of all batches together, in both
        directions.
    """
    steps, epochs = batches.steps, batches.epochs
    if steps == 1:
        return composed_pair([(run, epochs)], effort)
    ratio = _ratio_of_batch_above(run, epochs, cells)
    mean_ratio = sum_copies(ratio, steps, cells).scale(1.0 / steps)
    return dominating_pair(mean_ratio)


def attained_one_of_several(run: Pair, batches: AllocatedBatches, cells: int) -> Pair | None:
    """Return a pair that the mechanism dominates, for a unit in exactly one of several batches at random.

    The unit is the record or client that is protected. The pair (an attained pair) gives lower bounds on δ.

    Args:
        run: pair that the mechanism attains on a batch with the unit against a batch without it.
        batches: the batches.
        cells: number of cells, into which the values of each sum are merged.

    Returns:
        The pair; None if no positive loss of `run` is known in one of the directions, or if there are more releases
        than `factors_of` accepts.
    """
    ratio = _ratio_of_batch_below(run, batches.epochs, cells)
    if ratio is None:
        return None
    # The ratio of all batches is the mean of their ratios, weighted by the probabilities.
    share = 1.0 / batches.steps if batches.share is None else batches.share
    mean_ratio = sum_copies(ratio, batches.steps, cells).scale(share)
    # A further last batch has a probability of its own.
    if batches.last_share > 0.0:
        mean_ratio = mean_ratio.add(ratio.scale(batches.last_share), cells)
    return attained_pair(mean_ratio)


def _ratio_of_batch_above(run: Pair, epochs: int, cells: int) -> FiniteRatio:
    """Return a bound above, in the convex order, on the likelihood ratio of all outputs of one batch.

    The ratios of all releases are multiplied. If there are too many, their composition gives the ratio instead.

    Args:
        run: dominating pair of the mechanism on a batch, which may be a composition.
        epochs: number of epochs with the same batch.
        cells: number of cells, intervals of values, into which the values of each product are merged.

    Returns:
        A ratio with finitely many values. Its expectations of nonnegative convex functions are at least the true ones.
    """

    def multiply(first: FiniteRatio, second: FiniteRatio) -> FiniteRatio:
        """Multiply two ratios, with the values of the product merged into cells."""
        return multiply_ratios(first, second, cells)

    factors = factors_of(run, epochs)
    if factors is None:
        # The table of the composition is part of the bound, so that it must not depend on the effort.
        return ratio_above(composed_pair([(run, epochs)], "default"), cells)
    ratios = [multiply_copies(ratio_above(pair, cells), times, cells) for pair, times in factors]
    return functools.reduce(multiply, ratios)


def _ratio_of_batch_below(run: Pair, epochs: int, cells: int) -> FiniteRatio | None:
    """Return a bound below, in the convex order, on the likelihood ratio of all outputs of one batch.

    Releases with unknown tails are left out. This is post-processing, which does not increase δ.

    Args:
        run: pair that the mechanism attains on a batch, which may be a composition.
        epochs: number of epochs with the same batch.
        cells: number of cells, intervals of values, into which the values of each product are merged.

    Returns:
        A ratio with finitely many values; None if no release has known tails, or if there are too many releases.
    """

    def multiply(first: FiniteRatio, second: FiniteRatio) -> FiniteRatio:
        """Multiply two ratios, with the values of the product merged into cells."""
        return multiply_ratios(first, second, cells)

    factors = factors_of(run, epochs) or ()
    bounds = [(ratio_below(pair, cells), times) for pair, times in factors]
    ratios = [multiply_copies(ratio, times, cells) for ratio, times in bounds if ratio is not None]
    if not ratios:
        return None
    return functools.reduce(multiply, ratios)


def factors_of(run: Pair, epochs: int) -> Sequence[tuple[Pair, int]] | None:
    """Return the different releases from one batch in several epochs, and how often each is made.

    Args:
        run: the pair of the mechanism on a batch, which may be a composition.
        epochs: number of epochs with the same batch.

    Returns:
        The pair of each release with its number of runs. None if the product of their likelihood ratios would be too
        expensive: more than `MOST_PRODUCTS` runs in all, or more than `_MOST_FACTORS` different releases.
    """
    factors = [(pair, times * epochs) for pair, times in run.parts or ((run, 1),)]
    number_of_runs = sum(times for _, times in factors)
    if len(factors) > _MOST_FACTORS or number_of_runs > MOST_PRODUCTS:
        return None
    return factors


def may_be_coarse(run: Pair, epochs: int) -> bool:
    """Return whether the bound for a random batch may be looser than that for a known batch.

    The bound for a random batch merges likelihood ratios into cells. This is coarse if several ratios are multiplied,
    if δ at ε = 0 is small, or if privacy losses above `LARGEST_LOSS` matter.

    Args:
        run: dominating pair of the mechanism on a batch.
        epochs: number of epochs in which the unit is in the same batch.

    Returns:
        True if the bound for a known batch may be smaller, so that both must be computed.
    """
    # `parts` are the factors of a product of pairs, whose ratios are multiplied as well.
    if epochs > 1 or run.parts or run.upper_log_delta(0.0) < _LITTLE_DIFFERENCE:
        return True
    log_delta_of_large_losses = max(profile.upper_log_delta(LARGEST_LOSS) for profile in run.directions())
    return log_delta_of_large_losses > _NEGLIGIBLE


def group_pair(pair: Pair, cells: int) -> Pair:
    """Return a dominating pair for replacing a unit, from the pair for removing one.

    A unit is the record or client that is protected. A replacement is two steps, over the data set without the unit.
    With the profile δ_P of the pair and δ_Q of its reverse, δ(ε) ≤ δ_P(ε₁) + e^{ε₁} δ_Q(ε − ε₁) for 0 ≤ ε₁ ≤ ε.

    Args:
        pair: dominating pair of a data set with a unit against that without it.
        cells: approximate number of values to which the likelihood ratio is reduced, if the pair is not such a table.

    Returns:
        A pair of distributions. Its hockey-stick divergence at e^ε is at least δ(ε) of a replacement, in both
        directions.
    """
    # Every alternative dominates the mechanism, so that the first of them is valid.
    composed = alternatives_of(pair)[0]
    step = composed
    if not isinstance(step.forward, AtomicProfile):
        step = dominating_pair(ratio_above(step, cells))

    # The ε at which δ is bounded, dense near 0. Beyond the sum of the largest losses of both steps, δ hardly decreases.
    largest = min(_largest_loss(step.forward) + _largest_loss(step.backward), LARGEST_LOSS)
    fine_losses = np.geomspace(1e-5 * largest, largest, _GROUP_LOSSES)
    even_losses = np.linspace(0.0, largest, _GROUP_LOSSES)
    losses = np.unique(np.concatenate(([0.0], fine_losses, even_losses)))

    deltas = _group_deltas(step, losses)
    points = list(map(BoundedPoint, losses.tolist(), deltas.tolist()))
    table = dominating_pair(ratio_of_bounds(points, points))
    minimum = GroupMinimum(composed, step)
    return Pair(_group_profile(table.forward, minimum), _group_profile(table.backward, minimum))


def _group_profile(table: Profile, minimum: GroupMinimum) -> GroupProfile:
    """Add lower bounds on δ to a table of upper bounds on δ, as one profile.

    Args:
        table: privacy profile of one direction, with finitely many values of the privacy loss.
        minimum: the lower bounds. The table bounds the same function of ε from above.

    Returns:
        The profile with both bounds, for the same direction.
    """
    assert isinstance(table, AtomicProfile)
    return GroupProfile(table.losses, table.log_masses, table.log_infinite_mass, table.mass_accuracy, minimum)


def _group_deltas(pair: Pair, losses: FloatArray) -> FloatArray:
    """Return upper bounds on δ for replacing a unit, the record or client that is protected, at several ε.

    Replacing is removing and then adding, with the profiles δ₁ and δ₂. So for every split 0 ≤ ε₁ ≤ ε:

        δ(ε) ≤ δ₁(ε₁) + e^{ε₁} δ₂(ε − ε₁).

    The least value over several splits is taken.

    Args:
        pair: pair of distributions for removing a unit.
        losses: array of ε ≥ 0, in nats. Each bound also holds at the logarithms of the doubles nearest to e^{±ε}.

    Returns:
        One bound for each ε, at least 1e-300.
    """
    # A row for each ε, and a column for each split. Both parts together must not exceed ε.
    splits = np.linspace(0.0, 1.0, _SPLITS)
    of_removal = np.multiply.outer(earlier_losses(losses), splits)
    of_addition = earlier_losses(np.maximum(earlier_losses(losses)[:, None] - of_removal, 0.0))

    log_removal = pair.forward.log_delta(of_removal.ravel()).upper.reshape(of_removal.shape)
    log_addition = pair.backward.log_delta(of_addition.ravel()).upper.reshape(of_removal.shape) + of_removal
    log_delta = np.logaddexp(log_removal, log_addition).min(axis=1)

    # Rounded up: 1e-13 exceeds the errors of a few exponentials and logarithms, relative to their size.
    rounding = 1e-13 * (1.0 + np.abs(log_delta) + losses)
    rounded = np.exp(np.minimum(log_delta + rounding, 0.0))
    # A positive bound remains positive, also below the normal doubles.
    return np.asarray(np.maximum(rounded, 1e-300))


def _largest_loss(profile: Profile) -> float:
    """Search by bisection for a privacy loss beyond which δ hardly decreases, at most `LARGEST_LOSS`.

    Args:
        profile: the privacy profile of one direction.

    Returns:
        The loss, in nats. There δ is about the probability of the infinite loss, or is negligible.
    """
    # Slightly above the probability of the infinite loss, to which δ tends.
    floor = max(_FLOOR, profile.log_infinite_mass + 1e-9)
    low, high = 0.0, LARGEST_LOSS
    # 40 halvings resolve the loss to 1e-12 of the range.
    for _ in range(40):
        middle = 0.5 * (low + high)
        if profile.upper_log_delta(middle) > floor:
            low = middle
        else:
            high = middle
    return high

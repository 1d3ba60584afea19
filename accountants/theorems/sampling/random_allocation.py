"""Random allocation of each unit to a fixed number of batches of an epoch, for the Gaussian mechanism.

Several Gaussian releases from one batch are one. Proofs and error terms: docs/random-allocation.md.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.outward import root_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.hidden_choice import hidden_choice_pair, log_choices
from epsilond.accountants.profiles.allocation.maxima import largest_sum_pair
from epsilond.accountants.profiles.allocation.pairs import allocation_pairs, has_allocation_pairs
from epsilond.accountants.profiles.allocation.statistics import several_batches_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.structure import ONE_SUM, gaussian_multiplier, sees_clients_drawn
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.composition.rounds import flatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import RandomAllocation, Spec

CELLS = 1000
"""Number of cells of a sum of likelihood ratios. The width of δ falls with its square, and the time grows with it."""
REACHES = (2.0, 4.0, 7.0)
"""Outputs, in standard deviations beyond a contribution, above which a statistic caps likelihood ratios."""
_LOG_STATISTIC = 0.0
"""Value in place of such an output, for the statistic with the log of the likelihood ratio of independent batches."""
_SCALE = 2**200
"""Denominator to which a square of a shift is rounded, relative to the largest term."""
_LITTLE_SHIFT = 1e-3
"""Shift below which the bound of public batches is used, too. The cells of a sum may be too wide for it."""
SECRET_ALLOCATION = Condition(
    "secret-allocation",
    "the batches of a unit are drawn uniformly, independently of the data and of the batches of all other units. They "
    "show only in the outputs of the mechanism",
)
ONE_OF_T = Theorem(
    id="epsilond.allocation-one-of-t",
    title="A unit in one of t batches, for the Gaussian mechanism",
    statement=(
        "(1/t) Σ N(c e_i, I) against N(0, I) dominates an epoch in which each unit is in one of t batches, and "
        "neighbours attain it. c is 1/σ if the batch is drawn again in each epoch, and epochs compose. It is √E/σ for "
        "all E epochs together if the batch is kept. Gaussian releases from one batch are one with 1/σ² = Σ 1/σᵢ²"
    ),
    source=Source("epsilond", "docs/random-allocation.md, One of t"),
    status=Status.PROVED,
    conditions=(ONE_SUM, SECRET_ALLOCATION),
)
K_OF_T = Theorem(
    id="epsilond.allocation-k-of-t",
    title="A unit in k of t batches, for the Gaussian mechanism",
    statement=(
        "k independent allocations to one batch each, of t mod k blocks of ⌈t/k⌉ batches and other blocks of ⌊t/k⌋, "
        "dominate an allocation to k of t batches. For k = t it is the composition of t full batches"
    ),
    source=Source("epsilond", "docs/random-allocation.md, k of t"),
    status=Status.PROVED,
    conditions=(ONE_SUM, SECRET_ALLOCATION),
)


def one_of_t(spec: RandomAllocation, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the Gaussian mechanism if each unit is in one random and secret batch of each epoch.

    A unit is the protected record or client.

    Args:
        spec: specification of the allocation of units to batches.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, with upper and lower bounds on δ. For other mechanisms, allocations and relations a refusal,
        which says why the theorem does not apply.
    """
    if refusal := _reject_setting(ONE_OF_T, case):
        return refusal
    if squared_shift(spec.mechanism) is None:
        return Refusal(ONE_OF_T, "the pair of this theorem is for the Gaussian mechanism")
    if spec.times_chosen > 1 or spec.steps == 1:
        return Refusal(ONE_OF_T, f"a unit is in {spec.times_chosen} of {spec.steps} batches")
    shift, runs = _shift_and_runs(spec)

    # For extreme noise the pair of the theorem is not computed. The bound for public batches is valid.
    if not has_allocation_pairs(shift):
        public_curve = Curve(_public_batches_pair(spec), _extreme_noise_pairs(spec, case))
        return _guarantee(spec, case, ONE_OF_T, public_curve)

    pairs = allocation_pairs(shift, spec.steps, CELLS)
    upper = composed_pair([(pairs.upper, runs)], case.effort)
    attained = composed_pair([(pairs.attained, runs)], case.effort)
    # Under much noise, the bound for public batches may be smaller, because the cells are too wide for small losses.
    if shift < _LITTLE_SHIFT:
        upper = least_of([upper, _public_batches_pair(spec)])
    attained_pairs = (attained, _sum_of_outputs(spec), *_hidden_sets(spec))
    return _guarantee(spec, case, ONE_OF_T, Curve(upper, attained_pairs))


def k_of_t(spec: RandomAllocation, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the Gaussian mechanism if each unit is in k of the t batches of an epoch.

    A unit is the protected record or client. Its k batches are random and secret. The lower bounds come from statistics
    of the outputs: the sum of capped likelihood ratios, the sum of all outputs and, for small noise, the largest
    output. If every unit is in all batches, the bounds are exact.

    Args:
        spec: the allocation of units to batches.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, with upper and lower bounds on δ. For other mechanisms and relations a refusal, which says why
        the theorem does not apply.
    """
    if refusal := _reject_setting(K_OF_T, case):
        return refusal
    if squared_shift(spec.mechanism) is None:
        return Refusal(K_OF_T, "the pairs of this theorem are for the Gaussian mechanism")
    if spec.times_chosen == spec.steps:
        return _guarantee(spec, case, K_OF_T, Curve(_public_batches_pair(spec), (_sum_of_outputs(spec),)))
    shift, runs = _shift_and_runs(spec)

    # For extreme noise the pairs of the theorem are not computed. The bound for public batches is valid.
    if not has_allocation_pairs(shift):
        public_curve = Curve(_public_batches_pair(spec), _extreme_noise_pairs(spec, case))
        return _guarantee(spec, case, K_OF_T, public_curve)

    # k independent allocations, to one batch of each block, dominate an allocation to k batches.
    blocks = [(_block_pair(shift, size), runs * count) for size, count in block_sizes(spec.steps, spec.times_chosen)]
    upper = composed_pair(blocks, case.effort)
    if shift < _LITTLE_SHIFT:
        upper = least_of([upper, _public_batches_pair(spec)])

    attained = []
    for reach in (*REACHES, _LOG_STATISTIC):
        statistic_pair = several_batches_pair(shift, spec.steps, spec.times_chosen, CELLS, reach)
        attained.append(composed_pair([(statistic_pair, runs)], case.effort))
    return _guarantee(spec, case, K_OF_T, Curve(upper, (*attained, *_extreme_noise_pairs(spec, case))))


def block_sizes(steps: int, times_chosen: int) -> list[tuple[int, int]]:
    """Return the sizes of k blocks that divide t batches evenly, with the number of blocks of each size.

    Args:
        steps: number t of batches.
        times_chosen: number k of blocks, from 1 to t.

    Returns:
        Each size with the number of blocks of this size: one size if k divides t, otherwise two that differ by 1.

    Example:
        >>> block_sizes(10, 4)
        [(3, 2), (2, 2)]
    """
    size, remainder = divmod(steps, times_chosen)
    if remainder == 0:
        return [(size, times_chosen)]
    return [(size + 1, remainder), (size, times_chosen - remainder)]


def reject_seen_batches(theorem: Theorem, case: Case) -> Refusal | None:
    """Check whether the batches of a protected client are secret, because amplification requires it.

    Args:
        theorem: the theorem that the refusal names.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal if a client is protected and the observer sees in which batches it is; None otherwise.
    """
    setting = case.setting
    if setting.unit == "client" and sees_clients_drawn(setting.observer, "random-allocation"):
        return Refusal(theorem, f"the observer {setting.observer} sees in which batches a client is")
    return None


def _reject_setting(theorem: Theorem, case: Case) -> Refusal | None:
    """Check whether the theorems of this module are for the requested relation and observer.

    Args:
        theorem: the theorem that the refusal names.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal for replace-one, and for an observer who sees the batches of a protected client; None otherwise.
    """
    if case.setting.relation == "replace-one":
        return Refusal(theorem, "the pair of this theorem is for a unit that is added, removed or zeroed")
    return reject_seen_batches(theorem, case)


def _block_pair(shift: float, size: int) -> Pair:
    """Return a dominating pair of a Gaussian mechanism that runs on several batches, of which one has the unit.

    Args:
        shift: norm of the contribution of the unit (record or client), in standard deviations of the noise.
        size: number of the batches, at least 1. The unit is in each with the same probability.

    Returns:
        Two distributions with a hockey-stick divergence of at least δ.
    """
    if size == 1:
        return gaussian_pair(shift * (1.0 + 4 * UNIT_ROUNDOFF))
    return allocation_pairs(shift, size, CELLS).upper


def squared_shift(mechanism: Spec) -> Fraction | None:
    """Return the squared shift c² = Σ 1/σᵢ² of one Gaussian release that is equivalent to all releases from a batch.

    The noise multiplier σᵢ is the standard deviation of a release's noise over the norm bound of a contribution.

    Args:
        mechanism: specification of a Gaussian mechanism, or of a composition or repetition of such mechanisms.

    Returns:
        The squared shift, in standard deviations of the noise, computed by `sum_of_squares`. None if another mechanism
        is among the releases.
    """
    releases = [(gaussian_multiplier(release), times) for release, times in flatten(mechanism)]
    gaussian = [(multiplier, times) for multiplier, times in releases if multiplier is not None]
    runs_other_mechanisms = len(gaussian) < len(releases)
    return None if runs_other_mechanisms else sum_of_squares(gaussian)


def sum_of_squares(releases: Sequence[tuple[float, int]]) -> Fraction:
    """Return Σ 1/σᵢ² over Gaussian releases with the noise multipliers σᵢ, as an exact or slightly smaller fraction.

    The sum is exact for equal noise multipliers. Otherwise each term is rounded down by less than 2^−200 of the
    largest.

    Args:
        releases: at least one release: its noise multiplier, and the number of its runs.

    Returns:
        The sum.
    """
    runs: Counter[float] = Counter()
    for multiplier, times in releases:
        runs[multiplier] += times
    # Relative to the largest term, 1/least², terms are rounded down to multiples of 1/_SCALE. So fractions stay short.
    least = Fraction(min(runs))
    scaled_sum = 0
    for multiplier, times in runs.items():
        scaled_sum += times * _SCALE * least**2 // Fraction(multiplier) ** 2
    return Fraction(scaled_sum, _SCALE) / least**2


def _shift_and_runs(spec: RandomAllocation) -> tuple[float, int]:
    """Return the shift of one allocation in standard deviations, and the number of independent allocations.

    If a unit keeps its batches over E epochs, the E outputs of a batch amount to one output, with a shift that is √E
    times as large. Otherwise every epoch is an independent allocation.

    Args:
        spec: specification of the allocation of units to batches.

    Returns:
        The shift, rounded up by at most two units of roundoff, and the number of allocations that are composed.
    """
    square = _squared_shift(spec)
    if spec.kept:
        return root_up(square * spec.epochs), 1
    return root_up(square), spec.epochs


def _squared_shift(spec: RandomAllocation) -> Fraction:
    """Return the square of the shift by one contribution, in standard deviations, of all releases from a batch."""
    square = squared_shift(spec.mechanism)
    assert square is not None  # the rules reject other mechanisms first
    return square


def _public_batches_pair(spec: RandomAllocation) -> Pair:
    """Return the Gaussian pair of all contributions of a unit if its batches are public, rounded up."""
    mu = root_up(_squared_shift(spec) * spec.times_chosen * spec.epochs)
    return gaussian_pair(mu * (1.0 + 4 * UNIT_ROUNDOFF))


def _extreme_noise_pairs(spec: RandomAllocation, case: Case) -> tuple[Pair, ...]:
    """Return distributions of statistics of the outputs, for lower bounds on δ of a random allocation.

    A statistic is post-processing, so the divergence of its distributions on neighbours is a lower bound on δ. The
    statistics are the sum of the outputs; the largest output, if the noise is small; and the test of `_hidden_sets`.

    Args:
        spec: specification of the allocation.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        Pairs of distributions, at least one.
    """
    shift, runs = _shift_and_runs(spec)
    total = _sum_of_outputs(spec)
    if shift < 1.0 or not math.isfinite(shift):
        return (total, *_hidden_sets(spec))
    lower_shift = shift * (1.0 - 4 * UNIT_ROUNDOFF)  # rounded down, for a lower bound
    largest = largest_sum_pair(lower_shift, 0.0, spec.steps, spec.times_chosen)
    return total, composed_pair([(largest, runs)], case.effort), *_hidden_sets(spec)


def _hidden_sets(spec: RandomAllocation) -> tuple[Pair, ...]:
    """Return distributions for a lower bound on δ by an attacker who tests each possible set of batches.

    The unit, a record or client, is in one of m secret sets of batches. The attacker tests each set, and decides that
    the unit is present if any test does. Let μ be the Gaussian-DP parameter for a known set.

    Args:
        spec: specification of the allocation of units to batches.

    Returns:
        One pair of distributions. The tuple is empty if m ≥ e^{μ²/2}, because most privacy losses would be negative,
        or if μ is infinite.
    """
    shift, runs = _shift_and_runs(spec)
    mu = shift * math.sqrt(spec.times_chosen * runs) * (1.0 - 4 * UNIT_ROUNDOFF)  # rounded down, for a lower bound
    log_sets = log_choices(spec.steps, spec.times_chosen, runs)
    mean_loss = 0.5 * mu * mu
    if log_sets < mean_loss < math.inf:
        return (hidden_choice_pair(gaussian_pair(mu), log_sets),)
    return ()


def _sum_of_outputs(spec: RandomAllocation) -> Pair:
    """Return two Gaussian distributions for lower bounds on δ of a random allocation, from sums of the outputs.

    In each epoch, the outputs of all batches are added up. The sum does not depend on the batches of the unit.

    Args:
        spec: specification of the allocation of units to batches.

    Returns:
        The two distributions, with their Gaussian DP parameter rounded down.
    """
    mu = root_up(_squared_shift(spec) * spec.times_chosen**2 * spec.epochs / spec.steps)
    return gaussian_pair(mu * (1.0 - 4 * UNIT_ROUNDOFF))


def _guarantee(spec: RandomAllocation, case: Case, theorem: Theorem, curve: Curve) -> Guarantee:
    """Return the guarantee of a random allocation with given bounds on δ.

    Args:
        spec: specification of the allocation.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        theorem: the theorem that gives the curve.
        curve: the privacy curve, with upper and lower bounds on δ.

    Returns:
        The guarantee for the requested setting. It is declared, not proved, that each release is one sum over the batch
        with noise, and that nobody sees which batches a unit is in.
    """
    # Several Gaussian releases from one batch are equivalent to one with a smaller noise multiplier.
    noise_multiplier = gaussian_multiplier(spec.mechanism) or 1.0 / root_up(_squared_shift(spec))
    step = theorem.because(
        steps=spec.steps,
        times_chosen=spec.times_chosen,
        kept=spec.kept,
        epochs=spec.epochs,
        noise_multiplier=noise_multiplier,
    )
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=(ONE_SUM, SECRET_ALLOCATION))


THEOREMS: tuple[Theorem, ...] = (ONE_OF_T, K_OF_T)
RULES: tuple[Rule, ...] = (
    Rule(ONE_OF_T, "random_allocation", one_of_t),
    Rule(K_OF_T, "random_allocation", k_of_t),
)

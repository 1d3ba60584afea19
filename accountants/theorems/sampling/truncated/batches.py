"""Truncated Poisson batches of the Gaussian mechanism: upper bounds by a public symbol, and a lower bound.

A batch is drawn by Poisson sampling, and cut down to B random members if more than B records are drawn. In the upper
bounds the observer also sees a symbol, which says something about the number of the other records that are drawn.

Proofs: docs/mixtures.md, Truncated batches.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.profiles.amplification import AmplifiedProfile, subsample_pair
from epsilond.accountants.profiles.gaussian import GaussianProfile, gaussian_pair
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Subsampled
from epsilond.accountants.structure import ONE_SUM, SECRET_DRAW, drawn_level, gaussian_multiplier
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import opposite_gaussian
from epsilond.accountants.theorems.sampling.draw_checks import observes_draw
from epsilond.accountants.theorems.sampling.truncated.masses import TruncatedMasses
from epsilond.accountants.theorems.sampling.truncated.symbol_renyi import ShownSymbol, SymbolRenyi
from epsilond.accountants.theorems.sampling.truncated.symbols import Symbol, symbol_pair

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation

MOST_MARGIN = 2.0**-14
"""Largest error of the logarithms of probabilities [nat]; many steps multiply it."""
TRUNCATED = Theorem(
    id="epsilond.truncated-poisson",
    title="Poisson batches of a largest size, for the Gaussian mechanism",
    statement=(
        "Of n records each is drawn with probability q. If more than B are drawn, a uniform subset of B is kept. The "
        "number of others in the batch is public. Below B − 1 the pair is that of Poisson sampling. At B − 1 the "
        "record is in the batch with the mass b q + t. Here b = P(Bin(n − 1, q) = B − 1) and t = (B/n) P(Bin(n, q) > "
        "B). At B it is not. Alternatively only truncation is public, and the record takes the place of another one"
    ),
    source=Source("epsilond", "docs/mixtures.md, Truncated batches"),
    status=Status.PROVED,
    conditions=(ONE_SUM, SECRET_DRAW),
)


def truncated_batch(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a Gaussian mechanism on a Poisson batch with a largest size.

    If more records are drawn than this size, a uniform subset of them is kept. The lower bound on δ comes from data in
    which all other records contribute zero.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee; that of plain Poisson sampling if the largest size is at least the population. A refusal if the
        batch has no largest size, the unit is not drawn in secret, the mechanism is not one Gaussian release, or the
        population is too large for accurate probabilities.
    """
    if spec.largest_batch is None or spec.rate is None or spec.population is None:
        return Refusal(TRUNCATED, "the batch has no largest size")
    unit = case.setting.unit
    drawn_units = drawn_level(spec, unit)
    if drawn_units != f"{unit}s":
        return Refusal(TRUNCATED, f"{drawn_units} are drawn where a {unit} is protected")
    if observes_draw(spec, case.setting):
        return Refusal(TRUNCATED, f"the observer {case.setting.observer} sees which clients are drawn")
    multiplier = gaussian_multiplier(spec.mechanism)
    if multiplier is None:
        return Refusal(TRUNCATED, "proved for one Gaussian release of each batch")
    if spec.largest_batch >= spec.population:
        untruncated = replace(spec, largest_batch=None, population=None)
        return case.account(untruncated, case.setting)
    shift = round_up(1 / Fraction(multiplier))
    masses = _masses_of(spec.population, spec.rate, spec.largest_batch)
    if masses.margin > MOST_MARGIN:
        return Refusal(TRUNCATED, "the probabilities of so large a population are not known accurately")
    upper = dominating_pair(masses, spec.rate, shift, case.setting.relation)
    attained = attained_pair(masses, spec.rate, math.nextafter(shift, 0.0), case.setting.relation)
    step = TRUNCATED.because(
        rate=spec.rate, population=spec.population, largest_batch=spec.largest_batch, noise_multiplier=multiplier
    )
    return Guarantee(
        setting=case.setting, curve=Curve(upper, (attained,)), derivation=step, declared=(ONE_SUM, SECRET_DRAW)
    )


def _masses_of(population: int, rate: float, largest_batch: int) -> TruncatedMasses:
    """Return the log probabilities of the sizes of a Poisson batch that is cut to at most B records.

    Args:
        population: number n of records.
        rate: probability q that a record is drawn, in (0, 1].
        largest_batch: largest size B of a batch, below n.

    Returns:
        The log probabilities, also that the record is in a batch that was cut, with a bound on their errors.
    """
    if rate < 1.0:
        return TruncatedMasses.of(population=population, rate=rate, largest_batch=largest_batch)
    # If q = 1, every batch is truncated, and the record is kept with probability B/n.
    return TruncatedMasses(
        below=-math.inf,
        next_to_full=-math.inf,
        untruncated=-math.inf,
        full=0.0,
        retained=math.log(largest_batch / population),
        margin=2.0**-40,  # above the rounding error of the logarithm
    )


def dominating_pair(masses: TruncatedMasses, rate: float, shift: float, relation: Relation) -> Pair:
    """Return two distributions that dominate a Gaussian mechanism on a Poisson batch cut to at most B records.

    Dominating means that their hockey-stick divergence bounds δ. The result is the smaller of two upper bounds.

    - `_counted_pair` makes the number of the other records in the batch public. It is left out if no batch has exactly
      B − 1 other records, or if the record is nearly always in a truncated batch.
    - `_exchanged_pair` exchanges the record for another one in a truncated batch. It is left out if truncation is rare
      (`_is_rare`), because the first bound is then smaller.

    Args:
        masses: probabilities of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm of a contribution, in standard deviations of the noise.
        relation: the neighbouring relation.

    Returns:
        The pair. Its δ is at most that of two Gaussians at the largest distance of the two sums.
    """
    public = gaussian_pair(_distance(shift, relation))
    exchanged = replace(_exchanged_pair(masses, rate, shift, relation), below=public)
    # Close to 1, the relative error of 1 − P(kept | full) is too large for the other bound.
    is_nearly_always_kept = masses.full - masses.retained < 1e-6
    if masses.next_to_full == -math.inf or is_nearly_always_kept:
        return exchanged
    counted = replace(_counted_pair(masses, rate, shift, relation), below=public)
    if _is_rare(masses, rate, shift):
        return counted
    return least_of([counted, exchanged])


def _is_rare(masses: TruncatedMasses, rate: float, shift: float) -> bool:
    """Return whether truncation is so rare that publishing the number of the other records costs little privacy.

    Let t be the probability that the record is in a truncated batch. Let p be the probability that the number of other
    records is one below the largest batch size. Publishing this number then costs a privacy loss of about t/p, with the
    variance p (t/p)² = t²/p. The noisy sum has a loss of variance about (q s)², for small s. The result affects only
    which of two valid bounds is used.

    Args:
        masses: probabilities of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm s of a contribution, in standard deviations of the noise.

    Returns:
        True if t < p/8 and t²/p < (q s)²/100.
    """
    least_mass_ratio, least_variance_ratio = 8.0, 100.0  # heuristic
    is_less_likely = masses.retained < masses.next_to_full - math.log(least_mass_ratio)
    number_log_variance = 2.0 * masses.retained - masses.next_to_full
    sum_log_variance = 2.0 * (math.log(rate) + math.log(shift))
    has_small_variance = number_log_variance < sum_log_variance - math.log(least_variance_ratio)
    return is_less_likely and has_small_variance


def _counted_pair(masses: TruncatedMasses, rate: float, shift: float, relation: Relation) -> Pair:
    """Return two distributions that dominate a truncated batch, in which the number of other records is partly public.

    Let B be the largest size of a batch. The observer sees which of three cases (symbols) occurs: fewer than B − 1,
    exactly B − 1, or B other records in the batch. A public symbol only helps the observer. So the hockey-stick
    divergence of the pair bounds δ from above.

    Args:
        masses: probabilities of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm of a contribution, in standard deviations of the noise.
        relation: the neighbouring relation.

    Returns:
        The pair, with formulas for its Rényi divergences.
    """
    # Log probabilities of B − 1 others in the batch, with or without the record, and of B others.
    next_or_kept = _log_sum(masses.next_to_full, masses.retained)
    log_kept_share = masses.retained - masses.full
    not_kept = masses.full + math.log1p(-math.exp(log_kept_share))

    # Probability that the record is in the batch, given B − 1 others. It is rounded up: `margin` bounds the error of
    # each of the four logarithms.
    drawn_or_kept = _log_sum(masses.next_to_full + math.log(rate), masses.retained)
    share = min(math.exp(drawn_or_kept - next_or_kept) * (1.0 + 8.0 * masses.margin), 1.0)

    # A record that is replaced or zeroed is still drawn, so each symbol has one probability on both data sets. Without
    # the record, the symbols have the probabilities of the number of the other records that are drawn.
    is_shared = relation != "add-or-remove-one"
    next_without_record = next_or_kept if is_shared else masses.next_to_full
    full_without_record = not_kept if is_shared else masses.full
    symbols = (
        Symbol(masses.below, masses.below, _included_pair(rate, shift, relation), is_shared=True),
        Symbol(next_or_kept, next_without_record, _included_pair(share, shift, relation), is_shared),
        Symbol(not_kept, full_without_record, None, is_shared),
    )

    # The error of log(1 − kept/full) is at most that of log(kept/full) over 1 − kept/full.
    margin = 8.0 * masses.margin / -math.expm1(log_kept_share)
    inclusion_rates = (rate, share, 0.0)
    shown = tuple(
        ShownSymbol(symbol.log_p, symbol.log_q, inclusion_rate, shift)
        for symbol, inclusion_rate in zip(symbols, inclusion_rates, strict=True)
    )
    formula = SymbolRenyi(shown, relation == "replace-one", _distance(shift, relation), margin)
    return replace(symbol_pair(symbols, margin), formula=formula)


def _exchanged_pair(masses: TruncatedMasses, rate: float, shift: float, relation: Relation) -> Pair:
    """Return two distributions that dominate a truncated batch, in which it is public whether the others fill it.

    The other records fill the batch if at least as many are drawn as its largest size. Then the record can only take
    the place of another one. This public symbol (full or not) only helps the observer. So the hockey-stick divergence
    of the two distributions bounds δ from above.

    Args:
        masses: log probabilities of the sizes of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm of a contribution, in standard deviations of the noise.
        relation: neighbouring relation, such as "replace-one".

    Returns:
        The pair; under add-or-remove-one it has formulas for its Rényi divergences.
    """
    # Probability that the record is in the batch if the others fill it. It is rounded up: `margin` bounds the error of
    # both logarithms.
    share = min(math.exp(masses.retained - masses.full) * (1.0 + 8.0 * masses.margin), 1.0)
    margin = 8.0 * masses.margin

    # If fewer than B others are drawn, the record is in the batch as in Poisson sampling.
    included = _included_pair(rate, shift, relation)
    untruncated = Symbol(masses.untruncated, masses.untruncated, included, is_shared=True)

    # In a full batch the record takes the place of another one, so that two contributions differ.
    if relation != "add-or-remove-one":
        profile = AmplifiedProfile(GaussianProfile(2.0 * shift), share)
        truncated = Symbol(masses.full, masses.full, Pair(profile, profile), is_shared=True)
        return symbol_pair((untruncated, truncated), margin)

    # Without the record another one is in its place, so the contributions are at most 2s apart.
    exchanged = _included_pair(share, 2.0 * shift, relation)
    truncated = Symbol(masses.full, masses.full, exchanged, is_shared=True)
    shown = (
        ShownSymbol(masses.untruncated, masses.untruncated, rate, shift),
        ShownSymbol(masses.full, masses.full, share, 2.0 * shift),
    )
    formula = SymbolRenyi(shown, is_replaced=False, distance=2.0 * shift, margin=margin)
    return replace(symbol_pair((untruncated, truncated), margin), formula=formula)


def _distance(shift: float, relation: Relation) -> float:
    """Return an upper bound on the distance of the means of noisy sums over two batches, in standard deviations.

    A zeroed record is drawn as before, so that the sum changes by its contribution only. Otherwise another record takes
    its place in the batch, and two contributions change.

    Args:
        shift: norm of a contribution, in standard deviations of the noise.
        relation: neighbouring relation, such as "zero-out-one".

    Returns:
        The distance s or 2s, with s the norm of a contribution.
    """
    if relation == "zero-out-one":
        return shift
    return 2.0 * shift


def _included_pair(rate: float, shift: float, relation: Relation) -> Pair:
    """Return the output distributions of a noisy sum on two data sets, if a record is drawn with a given probability.

    On the first data set the record contributes the vector s. On the second one it contributes −s under replace-one,
    and otherwise nothing.

    Args:
        rate: probability in (0, 1] that the record is in the batch.
        shift: norm of the contribution, in standard deviations of the noise.
        relation: neighbouring relation, such as "replace-one".

    Returns:
        A pair of mixtures of Gaussians of variance 1 on the line, along the direction of the contribution.
    """
    log_weights: tuple[float, ...] = (0.0,)
    means: tuple[float, ...] = (shift,)
    if rate < 1.0:
        log_weights = (math.log1p(-rate), math.log(rate))
        means = (0.0, shift)
    with_record = LineMixture(log_weights, means)
    if relation == "replace-one":
        return mixture_pair(with_record, LineMixture(log_weights, tuple(-mean for mean in means)))
    without_record = LineMixture((0.0,), (0.0,))
    return mixture_pair(with_record, without_record)


def attained_pair(masses: TruncatedMasses, rate: float, shift: float, relation: Relation) -> Pair:
    """Return output distributions for lower bounds on δ of a truncated batch, if all other records contribute zero.

    Let A be the number of other records that are drawn, and B the largest size of a batch. The record is in the batch
    with probability q P(A < B) + t, where t = e^`masses.retained`. This probability is rounded down.

    Args:
        masses: probabilities of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm of a contribution, in standard deviations of the noise.
        relation: the neighbouring relation.

    Returns:
        The pair of output distributions on these data and their neighbour.
    """
    # The factor rounds down by more than the error of the logarithms.
    included = math.exp(_log_sum(masses.untruncated + math.log(rate), masses.retained))
    share = Share.at(min(included, 1.0) * (1.0 - 8.0 * masses.margin))
    if relation == "replace-one":
        _, attained = opposite_gaussian(shift, share)
    else:
        _, attained = subsample_pair(gaussian_pair(shift), share)
    return attained


def _log_sum(x: float, y: float) -> float:
    """Compute log(e^x + e^y) without overflow. At most one of x and y is −∞."""
    larger, smaller = max(x, y), min(x, y)
    return larger + math.log1p(math.exp(smaller - larger))


THEOREMS: tuple[Theorem, ...] = (TRUNCATED,)
RULES: tuple[Rule, ...] = (Rule(TRUNCATED, "subsampled", truncated_batch),)

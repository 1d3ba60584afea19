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

    A batch that is drawn too large is cut to a random subset of the largest size. The lower bound comes from data in
    which all other records contribute zero. The record is then in the batch with exactly the probability that it is
    drawn and kept.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, or a refusal for other batches and mechanisms, and if the probabilities are not known accurately.
    """
    if spec.largest_batch is None or spec.rate is None or spec.population is None:
        return Refusal(TRUNCATED, "the batch has no largest size")
    # The theorem is for units that are drawn in secret, and for one Gaussian release.
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
    """Return the log probabilities of the sizes of a truncated Poisson batch, and that the record is kept in one.

    A truncated batch is cut down to B random members if more records are drawn.

    Args:
        population: number n of records.
        rate: probability q that a record is drawn, in (0, 1].
        largest_batch: largest size B of a batch, below n.

    Returns:
        The natural logarithms, with a bound on their errors.
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
        The pair, at most that of two Gaussians at the largest distance of the sums.
    """
    # "Nearly always" is a log probability above −1e-6, given a truncated batch.
    public = gaussian_pair(_distance(shift, relation))
    exchanged = replace(_exchanged_pair(masses, rate, shift, relation), below=public)
    if masses.next_to_full == -math.inf or masses.full - masses.retained < 1e-6:
        return exchanged
    counted = replace(_counted_pair(masses, rate, shift, relation), below=public)
    if _is_rare(masses, rate, shift):
        return counted
    return least_of([counted, exchanged])


def _is_rare(masses: TruncatedMasses, rate: float, shift: float) -> bool:
    """Return whether truncation of a batch is so rare that making the number of the other records public costs little.

    B is the largest size of a batch. Let t be the probability that the record is in a truncated batch, and p that of
    exactly B − 1 other records. If the number is public, it has a privacy loss of about t/p at B − 1 others. The
    variance of this loss does not fall with the noise. It is compared with that of the noisy sum, about (q s)² for
    small s. The answer affects the tightness only, because both bounds are valid.

    Args:
        masses: probabilities of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm s of a contribution, in standard deviations of the noise.

    Returns:
        True if truncation is rare in both comparisons: of probabilities, and of variances of the privacy loss.
    """
    least_mass_ratio, least_variance_ratio = 8.0, 100.0  # heuristic thresholds of the two comparisons
    is_less_likely = masses.retained < masses.next_to_full - math.log(least_mass_ratio)
    number_log_variance = 2.0 * masses.retained - masses.next_to_full
    sum_log_variance = 2.0 * (math.log(rate) + math.log(shift))
    has_small_variance = number_log_variance < sum_log_variance - math.log(least_variance_ratio)
    return is_less_likely and has_small_variance


def _counted_pair(masses: TruncatedMasses, rate: float, shift: float, relation: Relation) -> Pair:
    """Return two distributions that dominate a truncated batch if the number of the other records is partly public.

    Let B be the largest size of a batch. The observer sees which of three cases (symbols) occurs: fewer than B − 1,
    exactly B − 1, or B other records in the batch. A public symbol only helps the observer, so the pair bounds δ from
    above.

    Args:
        masses: probabilities of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm of a contribution, in standard deviations of the noise.
        relation: the neighbouring relation.

    Returns:
        The pair, with formulas for its Rényi divergences.
    """
    # Log probabilities of B − 1 others, the record included in the last place or not, and of B others.
    next_or_kept = _log_sum(masses.next_to_full, masses.retained)
    log_kept_share = masses.retained - masses.full
    not_kept = masses.full + math.log1p(-math.exp(log_kept_share))

    # Probability that the record is in a batch with B − 1 others, rounded up. `margin` bounds the error of each log
    # mass.
    drawn_or_kept = _log_sum(masses.next_to_full + math.log(rate), masses.retained)
    share = min(math.exp(drawn_or_kept - next_or_kept) * (1.0 + 8.0 * masses.margin), 1.0)

    # Where the record may be absent, the others are B − 1 with its place free, or B.
    is_shared = relation != "add-or-remove-one"
    next_without_record = next_or_kept if is_shared else masses.next_to_full
    full_without_record = not_kept if is_shared else masses.full
    symbols = (
        Symbol(masses.below, masses.below, _included_pair(rate, shift, relation), is_shared=True),
        Symbol(next_or_kept, next_without_record, _included_pair(share, shift, relation), is_shared),
        Symbol(not_kept, full_without_record, None, is_shared),
    )

    # The error of log(1 − kept/full) is that of log(kept/full) times kept/(full − kept).
    margin = 8.0 * masses.margin / -math.expm1(log_kept_share)
    inclusion_rates = (rate, share, 0.0)
    shown = tuple(
        ShownSymbol(symbol.log_p, symbol.log_q, inclusion_rate, shift)
        for symbol, inclusion_rate in zip(symbols, inclusion_rates, strict=True)
    )
    formula = SymbolRenyi(shown, relation == "replace-one", _distance(shift, relation), margin)
    return replace(symbol_pair(symbols, margin), formula=formula)


def _exchanged_pair(masses: TruncatedMasses, rate: float, shift: float, relation: Relation) -> Pair:
    """Return two distributions that dominate a truncated batch if it is public whether it is full without the record.

    A batch with more than B records is cut down to B random members. It is full if B or more other records are drawn;
    the record then takes the place of another one. The public symbol (full or not) only helps the observer. So the
    hockey-stick divergence of the two distributions bounds δ from above.

    Args:
        masses: log probabilities of the sizes of a truncated batch.
        rate: probability q that a record is drawn.
        shift: norm of a contribution, in standard deviations of the noise.
        relation: neighbouring relation, such as "replace-one".

    Returns:
        The pair; under add-or-remove-one it has formulas for its Rényi divergences.
    """
    # Probability that the record is in a full batch, rounded up. `margin` bounds the error of each log probability.
    share = min(math.exp(masses.retained - masses.full) * (1.0 + 8.0 * masses.margin), 1.0)
    margin = 8.0 * masses.margin

    # If fewer than B others are drawn, the record is in the batch as in Poisson sampling.
    included = _included_pair(rate, shift, relation)
    untruncated = Symbol(masses.untruncated, masses.untruncated, included, is_shared=True)

    # The exchange is a replacement in a batch of fixed size.
    if relation != "add-or-remove-one":
        profile = AmplifiedProfile(GaussianProfile(2.0 * shift), share)
        truncated = Symbol(masses.full, masses.full, Pair(profile, profile), is_shared=True)
        return symbol_pair((untruncated, truncated), margin)

    # Without the record another one is in its place, so the contributions are at most 2s apart.
    exchanged = _included_pair(share, 2.0 * shift, relation)
    truncated = Symbol(masses.full, masses.full, exchanged, is_shared=True)
    # Formulas for the Rényi divergences of the same pair.
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
    """Return the output distributions of a Gaussian noisy sum to which a record contributes with a given probability.

    The first distribution has the contribution. Under replace-one it has the opposite sign in the second distribution,
    otherwise it is missing there.

    Args:
        rate: probability in (0, 1] that the record is in the batch.
        shift: norm of the contribution, in standard deviations of the noise.
        relation: neighbouring relation, such as "replace-one".

    Returns:
        A pair of Gaussian mixtures on the line, along the direction of the contribution.
    """
    # With certainty the mixture has a single component.
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


def _log_sum(first: float, second: float) -> float:
    """Compute log(e^x + e^y) for two logarithms x and y, without leaving the range of doubles.

    Args:
        first: natural logarithm x.
        second: natural logarithm y. One of both may be −∞.

    Returns:
        The natural logarithm of the sum.
    """
    larger, smaller = max(first, second), min(first, second)
    return larger + math.log1p(math.exp(smaller - larger))


THEOREMS: tuple[Theorem, ...] = (TRUNCATED,)
RULES: tuple[Rule, ...] = (Rule(TRUNCATED, "subsampled", truncated_batch),)

"""Sampling of single records where clients are protected: a client contributes a random number of records.

Proofs: docs/mixtures.md, Records of one client.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.facts import GaussianMixtureLaw
from epsilond.accountants.curve.mixture_laws import round_shifts
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.profiles.binned import Noise
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.weighted_groups import gaussian_mixture_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Subsampled
from epsilond.accountants.specs.gaussian_mixture import LARGEST_SHIFT
from epsilond.accountants.structure import SECRET_DRAW, gaussian_multiplier, sensitivity_factor
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import ContributionNoise, replaced_pairs, zeroed_pairs
from epsilond.accountants.theorems.sampling.mixtures.record_counts import fixed_size_counts, independent_counts
from epsilond.accountants.theorems.sampling.multiplicities import MOST_DRAWS, Multiplicities, round_probabilities
from epsilond.accountants.theorems.sampling.subsampling import ZEROED_IS_REPLACED
from epsilond.accountants.theorems.sampling.unseen_multiplicities import (
    UNSEEN_MULTIPLICITIES,
    unseen_multiplicities_pair,
)

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.theorem import Step

FEW_RECORDS = Condition(
    "few-records-of-one-client",
    "no client has more records than stated. Noise is added to a sum. Every drawn record adds one contribution of norm "
    "at most C to it, for any contributions of the others. A record that is absent, not drawn or zeroed adds exactly "
    "zero. The noise is the same with and without it. In batches of fixed size, a client and its replacement have "
    "equally many records",
)
"""Condition on a bounded number of records of one client, which the caller declares."""

CLIENT_RECORDS = Theorem(
    id="epsilond.client-records",
    title="Clients whose records are sampled one by one, for the Gaussian mechanism",
    statement=(
        "A client has at most k records, of which J are drawn. Poisson sampling is dominated by N(J C, σ²) against "
        "N(0, σ²) to add, remove or zero the client, and by N(J C, σ²) against N(−J C, σ²) to replace it. Here J is "
        "Bin(k, q). A batch of fixed size is dominated by N(2 J C, σ²) against N(0, σ²) to add or remove the client, "
        "with J hypergeometric. All of them are attained"
    ),
    source=Source("epsilond", "docs/mixtures.md, Records of one client"),
    status=Status.PROVED,
    conditions=(FEW_RECORDS, SECRET_DRAW),
)


class _ClientPairs(NamedTuple):
    """Pairs of output distributions, with and without a client, for upper and lower bounds on δ.

    Attributes:
        upper: dominating pair. Its hockey-stick divergence bounds δ from above.
        attained: pairs that the mechanism has on some neighbouring data sets, for lower bounds on δ.
        step: derivation of the upper bound, with the theorem and its parameters.
    """

    upper: Pair
    attained: tuple[Pair, ...]
    step: Step


def client_records(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a client with a bounded number of records, which are sampled one by one.

    The number of the client's records in a batch is random. So the output is a Gaussian mixture over this number.

    Args:
        spec: specification of the subsampled mechanism, with the bound on the records of one client.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. Or a refusal with the reason why the theorem does not apply: clients are not protected, the bound
        on their records is not given, the mechanism is not a single Gaussian release, or the numbers are too large.
    """
    if spec.records_of_one_client is None or case.setting.unit != "client":
        return Refusal(CLIENT_RECORDS, "needs records_of_one_client, where clients are protected")
    multiplier = gaussian_multiplier(spec.mechanism)
    if multiplier is None:
        return Refusal(CLIENT_RECORDS, "proved for one Gaussian release of each batch")
    if spec.records_of_one_client > LARGEST_SHIFT * multiplier:
        return Refusal(CLIENT_RECORDS, f"the records of one client exceed {LARGEST_SHIFT:g} standard deviations")

    pairs = _build_client_pairs(spec, case.setting.relation, multiplier)
    if isinstance(pairs, Refusal):
        return pairs
    return Guarantee(
        setting=case.setting,
        curve=Curve(pairs.upper, pairs.attained),
        derivation=pairs.step,
        declared=(FEW_RECORDS, SECRET_DRAW),
    )


def _build_client_pairs(spec: Subsampled, relation: Relation, multiplier: float) -> _ClientPairs | Refusal:
    """Build output distributions for upper and lower bounds on δ of a client with records that are sampled.

    Args:
        spec: specification of the subsampled mechanism.
        relation: neighbouring relation, such as "replace-one".
        multiplier: standard deviation of the noise over the norm bound of one record.

    Returns:
        The pairs of output distributions and the derivation. Or a refusal with the reason why there is no bound, for
        example because too many of the client's records are drawn on average.
    """
    records = spec.records_of_one_client or 1
    step = CLIENT_RECORDS.because(
        sampling=spec.sampling, rate=spec.inclusion_probability, records_of_one_client=records, noise=multiplier
    )
    if spec.inclusion_probability >= 1.0:
        return _pairs_without_sampling(spec, relation, records / Fraction(multiplier), step)
    if spec.sampling != "poisson":
        return _pairs_of_fixed_size(spec, relation, multiplier, step)

    # If the rate is not a double, upper bounds use a larger rate, and lower bounds a smaller one.
    lower_rate = upper_rate = spec.inclusion_probability
    if spec.rate is None:
        lower_rate, upper_rate = _rates_around(spec)
    below = independent_counts(records, lower_rate)
    above = independent_counts(records, upper_rate)
    if below is None or above is None:
        return Refusal(CLIENT_RECORDS, f"more than {MOST_DRAWS:g} records of one client are drawn on average")
    direction: Direction = "replace" if relation == "replace-one" else "remove"
    return _build_mixture_pairs(below, above, multiplier, direction, step)


def _rates_around(spec: Subsampled) -> tuple[float, float]:
    """Return the largest double at or below the rate of a Poisson batch, and the smallest one at or above it.

    The rate is the exact quotient of the expected batch size and the population.

    Args:
        spec: specification of the subsampled mechanism, with both counts.

    Returns:
        The two doubles. They are equal if the rate is a double, and neighbours otherwise.
    """
    rate = Fraction(spec.batch_size or 1, spec.population or 1)
    above = round_up(rate)
    is_double = Fraction(above) == rate
    if is_double:
        return above, above
    return math.nextafter(above, 0.0), above


def _pairs_without_sampling(
    spec: Subsampled, relation: Relation, shift: Fraction, step: Step
) -> _ClientPairs | Refusal:
    """Build output distributions for bounds on δ of a client that has all its records in every batch.

    They are Gaussian, shifted by the contribution of all records together.

    Args:
        spec: specification of the subsampled mechanism.
        relation: neighbouring relation, such as "replace-one".
        shift: largest norm of the client's contribution, in standard deviations of the noise, as an exact fraction.
        step: derivation of the bound.

    Returns:
        The pairs of distributions and the derivation. Or a refusal, if a batch of this size does not exist without the
        client.
    """
    if spec.sampling == "without-replacement" and relation == "add-or-remove-one":
        return Refusal(CLIENT_RECORDS, "a batch of this fixed size does not exist without the client")
    exact_mu = Fraction(sensitivity_factor(relation)) * shift
    # Upper bounds use the mean rounded up, and lower bounds the next double below it.
    upper_mu = round_up(exact_mu)
    upper = gaussian_pair(upper_mu)
    if Fraction(upper_mu) == exact_mu:
        return _ClientPairs(upper, (upper,), step)
    attained = gaussian_pair(math.nextafter(upper_mu, 0.0))
    return _ClientPairs(upper, (attained,), step)


def _build_mixture_pairs(
    below: Multiplicities, above: Multiplicities, multiplier: float, direction: Direction, step: Step
) -> _ClientPairs:
    """Build Gaussian mixtures over a client's number of records in a batch, for upper and lower bounds on δ.

    δ increases if this number becomes stochastically larger. So its distribution is rounded towards larger numbers for
    the upper bound, and towards smaller ones for the lower bound.

    Args:
        below: distribution of the number at a rate that is at most the exact one.
        above: distribution of the number at a rate that is at least the exact one.
        multiplier: standard deviation of the noise, over the shift of the sum by one record.
        direction: direction of the two distributions, such as "remove" or "replace".
        step: derivation of the bound.

    Returns:
        The mixture for upper bounds, the one for lower bounds, and the derivation.
    """
    larger = _build_mixture(above, above.most, multiplier, direction, upward=True)
    smaller = _build_mixture(below, below.least, multiplier, direction, upward=False)
    return _ClientPairs(gaussian_mixture_pair(larger), (gaussian_mixture_pair(smaller),), step)


def _build_mixture(
    counts: Multiplicities, numbers: tuple[int, ...], multiplier: float, direction: Direction, *, upward: bool
) -> GaussianMixtureLaw:
    """Build the Gaussian mixture over the number of a client's records in a batch, with rounded probabilities.

    Each component is the noise, shifted by the contribution of one possible number of records.

    Args:
        counts: distribution of the number, in groups of neighbouring values.
        numbers: number of records that represents each group.
        multiplier: standard deviation of the noise, over the shift of the sum by one record.
        direction: direction of the pair, such as "remove" or "replace".
        upward: whether the rounded distribution is stochastically larger, for upper bounds on δ; otherwise it is
            smaller.

    Returns:
        The shifts of the components in standard deviations of the noise, with their probabilities.
    """
    # The distribution has no entry for the number 0, so it is added in front.
    log_probabilities = (counts.log_absent, *counts.log_weights)
    probabilities = round_probabilities(log_probabilities, counts.accuracy, upward=upward)
    all_numbers = [float(number) for number in (0, *numbers)]
    shifts = round_shifts(all_numbers, multiplier, upward=upward)
    return GaussianMixtureLaw(shifts, probabilities, direction)


def _pairs_of_fixed_size(spec: Subsampled, relation: Relation, multiplier: float, step: Step) -> _ClientPairs | Refusal:
    """Build output distributions for bounds on δ of a client, for batches of fixed size without replacement.

    The number of the client's records in the batch is hypergeometric.

    Args:
        spec: specification of the subsampled mechanism.
        relation: neighbouring relation, such as "replace-one".
        multiplier: standard deviation of the noise over the norm bound of one record.
        step: derivation of the bound, to which further steps are added.

    Returns:
        The pairs of output distributions and the derivation. Or a refusal with the reason why there is no bound.
    """
    if spec.batch_size is None or spec.population is None:
        return Refusal(CLIENT_RECORDS, "a batch of fixed size needs batch_size and population")
    records = spec.records_of_one_client or 1
    if records + spec.batch_size > spec.population:
        return Refusal(CLIENT_RECORDS, "the records of the other clients do not fill a batch")
    counts = fixed_size_counts(records, spec.batch_size, spec.population)
    if counts is None:
        return Refusal(CLIENT_RECORDS, "the number of records of one client in a batch is too large to be computed")

    # Without the client, other records fill the batch. Each of k records is then replaced by another one, which changes
    # the sum by 2k norm bounds instead of k.
    if relation == "add-or-remove-one":
        return _build_mixture_pairs(counts, counts, 0.5 * multiplier, "remove", step)

    upper = unseen_multiplicities_pair(counts, 1.0 / multiplier, "replace-one")
    if upper is None:
        return Refusal(CLIENT_RECORDS, "the number of records of one client in a batch is not known accurately")
    shift = 1.0 / multiplier * (1.0 - 2.0**-52)  # rounded down by more than the error of the quotient
    contribution = ContributionNoise(Noise("gaussian"), shift)
    step = UNSEEN_MULTIPLICITIES.because(step)
    if relation == "replace-one":
        return _ClientPairs(upper, replaced_pairs(counts, contribution), step)
    return _ClientPairs(upper, zeroed_pairs(counts, contribution), ZEROED_IS_REPLACED.because(step))


THEOREMS: tuple[Theorem, ...] = (CLIENT_RECORDS,)
RULES: tuple[Rule, ...] = (Rule(CLIENT_RECORDS, "subsampled", client_records),)

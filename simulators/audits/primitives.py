"""Attacks on the primitives of mechanisms: the two neighbours that are easiest to distinguish."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs.primitives import (
    BlackBox,
    CategoryReport,
    DeclaredBounds,
    IntegerShift,
    NoisyIntegers,
    NoisySum,
    Primitive,
    RandomSum,
    ScoredChoice,
    ShiftedIntegers,
    SummedTrials,
    ThresholdAnswers,
)
from epsilond.accountants.specs.selection.threshold_crossings import ThresholdOutput, crossings
from epsilond.accountants.specs.selection.two_candidates import log_ratio
from epsilond.mechanisms.discrete_laplace import MOST_NOISE_LEVELS
from epsilond.simulators.audits.integer_draws import MOST_LEVELS
from epsilond.simulators.audits.lattice_noise import DiscreteGaussianNoise, SkellamNoise
from epsilond.simulators.audits.noise import (
    IntegerNoise,
    LaplaceNoise,
    NoiseDistribution,
    NormalNoise,
    noisy_shift,
    noisy_sum,
)
from epsilond.simulators.audits.outcomes import Outcomes, canonical, response, sum_of_trials
from epsilond.simulators.audits.random_sizes import randomly_sized
from epsilond.simulators.audits.sequence import in_sequence
from epsilond.simulators.audits.worlds import AttackedMechanism, AttackSetting

MOST_CANDIDATES = 4096
"""Largest number of coordinate sizes that the search for a shift tries."""
NOISES: Mapping[str, NoiseDistribution] = {"gaussian": NormalNoise(), "laplace": LaplaceNoise()}
"""Distribution of the noise on a sum, with scale 1."""
SHIFTED_NOISES: Mapping[str, Callable[[float], NoiseDistribution]] = {
    "discrete-gaussian": DiscreteGaussianNoise,
    "skellam": SkellamNoise,
}
"""Constructors of noise on integers from its scale or its variance."""


def attack_primitive(primitive: Primitive, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on a basic mechanism: a sampler of its outputs on two neighbouring data sets.

    The data sets are those that are easiest to distinguish by the outputs.

    Args:
        primitive: the mechanism: noise on a sum or on integers, randomized response, or only its ε and δ.
        setting: neighbouring relation of the data sets, and implementation that is attacked.

    Returns:
        A sampler of outputs, with the log density of each output on both data sets.

    Raises:
        InvalidInput: no attack is implemented on neighbouring data sets of the mechanism in this relation.
    """
    if isinstance(primitive, NoisySum):
        # No contribution is easier to distinguish than one with its whole norm on a single coordinate.
        return noisy_sum(NOISES[primitive.distribution], setting.relation, 1.0 / primitive.multiplier)
    if isinstance(primitive, RandomSum):
        sizes = tuple(sensitivity / primitive.multiplier for sensitivity in primitive.sensitivities)
        return randomly_sized(NOISES["gaussian"], setting.relation, sizes, primitive.probabilities)
    if isinstance(primitive, NoisyIntegers):
        return _attack_integers(primitive, setting)
    if isinstance(primitive, CategoryReport):
        return _attack_report(primitive, setting)
    if isinstance(primitive, ScoredChoice):
        return _attack_choice(primitive, setting)
    if isinstance(primitive, ShiftedIntegers):
        noise = SHIFTED_NOISES[primitive.distribution](primitive.scale)
        return noisy_shift(noise, setting.relation, _largest_coordinate(primitive.shift))
    if isinstance(primitive, ThresholdAnswers):
        return _attack_threshold(primitive, setting)
    if isinstance(primitive, SummedTrials):
        return _attack_trials(primitive, setting)
    # Of these mechanisms only bounds are known. The attack is on the mechanism for which ε and δ are exact.
    assert isinstance(primitive, BlackBox | DeclaredBounds)
    return canonical(primitive.epsilon, primitive.delta, _known_worlds(setting))


def _known_worlds(setting: AttackSetting) -> int:
    """Return the number of data sets ("worlds") on which the distribution of the output is known.

    Two of them are neighbours. The third one lacks the record in which they differ. Under replace-one, the distribution
    on the third one is unknown.

    Args:
        setting: neighbouring relation that is attacked.

    Returns:
        2 for the relation replace-one, 3 for the others.
    """
    return 2 if setting.relation == "replace-one" else 3


def _attack_report(report: CategoryReport, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on the randomized response of one client.

    The client has the first category in one data set, and the second category in the neighbouring one. Under
    zero-out-one, a client with a zero record reports like a client of the second category.

    Args:
        report: ε of the report, and the number of categories.
        setting: neighbouring relation.

    Returns:
        The attack, with the probabilities of the reported categories on both data sets.

    Raises:
        InvalidInput: the relation adds or removes a record, which the number of reports reveals.
    """
    if setting.relation == "add-or-remove-one":
        message = "whether a record reports is seen by everyone"
        raise InvalidInput.at("/relation", message, allowed="replace-one, zero-out-one")
    return response(report.epsilon, report.categories)


def _attack_trials(sums: SummedTrials, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on sums of random trials, with a probability of success that rises with the client's value.

    One client has the largest value in the first data set, and the smallest value in the second one. All other clients
    have the smallest value.

    Args:
        sums: trials of a client, success probabilities, and numbers of coordinates and clients.
        setting: neighbouring relation.

    Returns:
        The attack on the sums of all coordinates.

    Raises:
        InvalidInput: a client is absent in one of the data sets, which the number of trials reveals.
    """
    if setting.relation != "replace-one":
        raise InvalidInput.at("/relation", "changes the number of trials", allowed="replace-one")
    all_trials = sums.clients * sums.trials
    probability = 0.5 + sums.theta
    largest = sum_of_trials(sums.trials, all_trials - sums.trials, probability)
    smallest = sum_of_trials(0, all_trials, probability)
    one_coordinate = Outcomes((tuple(largest.tolist()), tuple(smallest.tolist())))
    return in_sequence([(one_coordinate, sums.dimension)])


def _largest_coordinate(shift: IntegerShift) -> int:
    """Return the largest integer difference of neighbours in one coordinate within the bounds on the norms.

    Args:
        shift: bounds on the ℓ1, ℓ2 and ℓ∞ norms of the difference; that on the ℓ2 norm may be None.
    """
    squared_l2 = shift.l1**2 if shift.l2 is None else Fraction(shift.l2) ** 2
    return min(math.floor(shift.l1), math.floor(shift.linf), math.isqrt(math.floor(squared_l2)))


def _attack_threshold(answers: ThresholdAnswers, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on the sparse vector technique that observes only if one particular output occurs.

    The technique compares noisy answers of queries with a noisy threshold. The queries are chosen so that their answers
    differ most between the data sets. The probabilities of the output are those of `ThresholdOutput`, which are at most
    as easy to distinguish as the true ones. Except under replace-one, there is a third data set, which is without the
    changed record. Its answers are those of the second data set.

    Args:
        answers: the noise on the threshold and on the queries.
        setting: neighbouring relation.

    Returns:
        The attack, with the probabilities of the output on each data set.
    """
    outputs = crossings(answers.noise)  # the output that distinguishes best is the first one
    reveals_nothing = ThresholdOutput(0.5, 0.5)
    first_probability, second_probability = outputs[0] if outputs else reveals_nothing
    log_first = (math.log(first_probability), math.log1p(-first_probability))
    log_second = (math.log(second_probability), math.log1p(-second_probability))
    if setting.relation == "replace-one":
        return Outcomes((log_first, log_second))
    return Outcomes((log_first, log_second, log_second))


def _attack_choice(choice: ScoredChoice, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on a private choice between two candidates by noisy scores.

    The two candidates exchange their scores between the neighbouring data sets. Under add-or-remove-one and
    zero-out-one the second data set is the one without the changed record. Under replace-one the scores without it are
    unknown.

    Args:
        choice: ε of the choice, and the distribution of the noise on the scores.
        setting: neighbouring relation of the data sets.

    Returns:
        The attack on the randomized response that has the same privacy loss.
    """
    privacy_loss = log_ratio(choice.epsilon, choice.noise)
    return canonical(privacy_loss, 0.0, _known_worlds(setting))


def _attack_integers(integers: NoisyIntegers, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on integers with discrete Laplace noise.

    For untruncated noise, the neighbours differ in one coordinate, if the bounds on their difference allow it. For
    truncated noise, they differ in several coordinates, which `realised_shift` chooses.

    Args:
        integers: decay rate of the noise, its largest absolute value `noise_levels` (None for no truncation), and
            bounds on the difference between neighbours.
        setting: neighbouring relation and implementation that are attacked.

    Returns:
        The attack on the coordinates in which the neighbours differ.

    Raises:
        InvalidInput: `noise_levels` is more than an attack can draw.
    """
    if integers.noise_levels is None and integers.shift.fits_one_axis:
        noise = IntegerNoise(integers.decay_rate, None)
        return noisy_shift(noise, setting.relation, math.floor(integers.shift.l1))

    # The sampler that clients run has another limit than the formula.
    is_exact = setting.attack == "implemented"
    limit = MOST_NOISE_LEVELS if is_exact else MOST_LEVELS
    if integers.noise_levels is not None and integers.noise_levels > limit:
        raise InvalidInput.at("/noise_levels", "is more than an audit can draw", allowed=f"≤ {limit}")

    # One mechanism for each size of a coordinate, repeated for the coordinates of this size.
    noise = IntegerNoise(integers.decay_rate, integers.noise_levels, is_exact)
    sizes_and_counts = realised_shift(integers.shift) or ((0, 1),)
    parts = [(noisy_shift(noise, setting.relation, size), count) for size, count in sizes_and_counts]
    return in_sequence(parts)


def realised_shift(bounds: IntegerShift) -> tuple[tuple[int, int], ...]:
    """Return a large difference of two neighbours' integer vectors that given bounds allow.

    The difference has coordinates of one size, and at most one smaller coordinate. The `MOST_CANDIDATES` largest sizes
    are tried. The result has the largest ℓ1 norm among them and, of equal norms, the largest size.

    Args:
        bounds: bounds on the norms of the difference, and the number of coordinates.

    Returns:
        Pairs of a size and the number of coordinates of this size.
    """
    l1 = math.floor(bounds.l1)
    linf = math.floor(bounds.linf)
    # Any integer vector with ‖x‖₁ ≤ Δ₁ has ‖x‖₂² ≤ Δ₁², and at most Δ₁ coordinates that are not 0.
    squared_l2 = l1**2 if bounds.l2 is None else math.floor(Fraction(bounds.l2) ** 2)
    dimension = l1 if bounds.dimension is None else bounds.dimension

    # Try each size of the equal coordinates, from the largest one that the bounds allow.
    best_parts: tuple[tuple[int, int], ...] = ()
    best_norm = 0
    largest = min(l1, linf, math.isqrt(squared_l2))
    for size in range(largest, max(0, largest - MOST_CANDIDATES), -1):
        count = min(dimension, l1 // size, squared_l2 // size**2)
        # One more coordinate, if the dimension allows it, uses what the bounds leave.
        smaller = 0
        if count < dimension:
            smaller = min(size, l1 - count * size, math.isqrt(squared_l2 - count * size**2))
        norm = count * size + smaller
        if norm > best_norm:
            best_norm = norm
            best_parts = ((size, count), (smaller, 1)) if smaller else ((size, count),)
    return best_parts

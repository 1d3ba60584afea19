"""Attacks on the primitives of mechanisms: the two neighbours that are easiest to distinguish."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs.primitives import (
    BlackBox,
    CategoryReport,
    IntegerShift,
    NoisyIntegers,
    NoisySum,
    Primitive,
)
from epsilond.mechanisms.discrete_laplace import MOST_NOISE_LEVELS
from epsilond.simulators.audits.integer_draws import MOST_LEVELS
from epsilond.simulators.audits.noise import (
    IntegerNoise,
    LaplaceNoise,
    NoiseDistribution,
    NormalNoise,
    noisy_shift,
    noisy_sum,
)
from epsilond.simulators.audits.outcomes import canonical, response
from epsilond.simulators.audits.sequence import in_sequence
from epsilond.simulators.audits.worlds import AttackedMechanism, AttackSetting

MOST_CANDIDATES = 4096
"""Largest number of coordinate sizes that the search for a shift tries."""
NOISES: Mapping[str, NoiseDistribution] = {"gaussian": NormalNoise(), "laplace": LaplaceNoise()}
"""Distribution of the noise on a sum, with scale 1."""


def attack_primitive(primitive: Primitive, setting: AttackSetting) -> AttackedMechanism:
    """Return the mechanism on the worlds that an attacker distinguishes.

    Raises:
        InvalidInput: the mechanism has no neighbours in the relation that an attack can be stated for.
    """
    if isinstance(primitive, NoisySum):
        # The whole norm of a contribution is on one coordinate.
        return noisy_sum(NOISES[primitive.distribution], setting.relation, 1.0 / primitive.multiplier)
    if isinstance(primitive, NoisyIntegers):
        return _attack_integers(primitive, setting)
    if isinstance(primitive, CategoryReport):
        return _attack_report(primitive, setting)
    assert isinstance(primitive, BlackBox)
    return canonical(primitive.epsilon, primitive.delta, 2 if setting.relation == "replace-one" else 3)


def _attack_report(report: CategoryReport, setting: AttackSetting) -> AttackedMechanism:
    """Attack randomized response on categories. A client with a zeroed record reports as one of the second category.

    Raises:
        InvalidInput: the relation adds or removes a record, which the number of reports reveals.
    """
    if setting.relation == "add-or-remove-one":
        message = "whether a record reports is seen by everyone"
        raise InvalidInput.at("/relation", message, allowed="replace-one, zero-out-one")
    return response(report.epsilon, report.categories)


def _attack_integers(integers: NoisyIntegers, setting: AttackSetting) -> AttackedMechanism:
    """Attack integers with discrete Laplace noise.

    Untruncated noise is attacked by neighbours that differ in one coordinate, if the bounds allow it. Truncated noise
    is attacked by neighbours that differ in several coordinates, chosen by `realised_shift`.

    Raises:
        InvalidInput: the noise has more levels than an attack can draw.
    """
    if integers.noise_levels is None and integers.shift.fits_one_axis:
        noise = IntegerNoise(integers.decay_rate, None)
        return noisy_shift(noise, setting.relation, math.floor(integers.shift.l1))
    exact = setting.attack == "implemented"
    limit = MOST_NOISE_LEVELS if exact else MOST_LEVELS
    if integers.noise_levels is not None and integers.noise_levels > limit:
        raise InvalidInput.at("/noise_levels", "is more than an audit can draw", allowed=f"≤ {limit}")
    noise = IntegerNoise(integers.decay_rate, integers.noise_levels, exact)
    parts = [(noisy_shift(noise, setting.relation, size), count) for size, count in realised_shift(integers.shift)]
    return in_sequence(parts or [(noisy_shift(noise, setting.relation, 0), 1)])


def realised_shift(bounds: IntegerShift) -> tuple[tuple[int, int], ...]:
    """Return a difference of neighbours' integer vectors within the bounds, as (size, number of coordinates) pairs.

    It has coordinates of one size, and at most one smaller coordinate. Among all such vectors it has the largest ℓ1
    norm, and among those the largest size.

    Args:
        bounds: bounds on the norms of the difference, and the number of coordinates.
    """
    l1, linf = math.floor(bounds.l1), math.floor(bounds.linf)
    square = math.inf if bounds.l2 is None else math.floor(Fraction(bounds.l2) ** 2)
    dimension = math.inf if bounds.dimension is None else bounds.dimension
    best: tuple[int, int, int] = (0, 0, 0)
    largest = min(l1, linf) if square == math.inf else min(l1, linf, math.isqrt(int(square)))
    for size in range(largest, max(0, largest - MOST_CANDIDATES), -1):
        count = int(min(dimension, l1 // size, square // size**2))
        rest = 0
        if count < dimension:
            remaining_square = square - count * size**2
            rest = min(size, l1 - count * size)
            if remaining_square < math.inf:
                rest = min(rest, math.isqrt(int(remaining_square)))
        if count * size + rest > best[0] * best[1] + best[2]:
            best = (size, count, rest)
    size, count, rest = best
    return tuple((step, times) for step, times in ((size, count), (rest, 1)) if step and times)

"""Mixtures of Gaussian distributions that are rounded to doubles so that they bound a given mixture.

A stochastically larger distribution of the sensitivity dominates (docs/engine-certificate.md, A10, Stochastic order).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from epsilond.accountants.curve.facts import GaussianMixtureLaw


def round_shifts(sensitivities: Sequence[float], multiplier: float, *, upward: bool) -> tuple[float, ...]:
    """Return each sensitivity divided by the noise multiplier, rounded up or down to a double.

    Args:
        sensitivities: sensitivities, in units of the norm bound of one contribution.
        multiplier: standard deviation of the noise, in the same unit.
        upward: True to round up, False to round down.

    Returns:
        Shifts in standard deviations of the noise, in the same order.
    """
    exact = [Fraction(sensitivity) / Fraction(multiplier) for sensitivity in sensitivities]
    return tuple(_round(shift, upward=upward) for shift in exact)


def mixtures_around(
    law: GaussianMixtureLaw, rates: tuple[float, float]
) -> tuple[GaussianMixtureLaw, GaussianMixtureLaw]:
    """Return two distributions of the loss of a subsampled contribution, for a lower and an upper bound on δ.

    The contribution is included with a probability q that need not be a double. The δ of the first distribution is at
    most the true one, and the δ of the second one at least. If q is a double, they differ by roundings only.

    Args:
        law: mixture over the sensitivity of the contribution itself, in any direction.
        rates: the doubles at or next below q, and at or next above q.

    Returns:
        The distribution for the lower bound, and that for the upper bound.
    """
    below, above = rates
    return sampled_mixture(law, below, upward=False), sampled_mixture(law, above, upward=True)


def sampled_mixture(law: GaussianMixtureLaw, rate: float, *, upward: bool) -> GaussianMixtureLaw:
    """Return the mixture for a contribution that is included with probability q, and is zero otherwise.

    Probabilities are rounded so that the sensitivity is stochastically larger than the exact one, or smaller.

    Args:
        law: mixture over the sensitivity of the contribution itself, in any direction.
        rate: probability q of the inclusion, 0 < q ≤ 1.
        upward: True for a stochastically larger distribution, False for a smaller one.

    Returns:
        The mixture, which includes the sensitivity 0 if q < 1.
    """
    if rate == 1.0:
        return law
    included = Fraction(rate)
    probabilities = {Fraction(0): 1 - included}
    for sensitivity, probability in _exact_components(law):
        exact_sensitivity = Fraction(sensitivity)
        previous = probabilities.get(exact_sensitivity, Fraction(0))
        probabilities[exact_sensitivity] = previous + included * probability
    sensitivities = sorted(probabilities)
    rounded = _round_probabilities([probabilities[sensitivity] for sensitivity in sensitivities], upward=upward)
    return GaussianMixtureLaw(tuple(float(value) for value in sensitivities), tuple(rounded), law.direction)


def _round_probabilities(exact: Sequence[Fraction], *, upward: bool) -> list[float]:
    """Round the probabilities of increasing sensitivities to doubles that bound the sensitivity on one side.

    The largest probability becomes 1 minus the others. To raise the sensitivity, the probabilities after the largest
    one are rounded up, and those before it down.

    Args:
        exact: the exact probabilities, in the order of increasing sensitivity.
        upward: True to make the sensitivity stochastically larger, False to make it smaller.

    Returns:
        The doubles, in the same order.
    """
    heaviest = max(range(len(exact)), key=exact.__getitem__)
    rounded = []
    for index, weight in enumerate(exact):
        is_above_heaviest = index > heaviest
        rounded.append(_round(weight, upward=is_above_heaviest == upward))
    rounded[heaviest] = 0.0
    rounded[heaviest] = 1.0 - math.fsum(rounded)
    return rounded


def _exact_components(law: GaussianMixtureLaw) -> list[tuple[float, Fraction]]:
    """Return the sensitivities of a mixture with exact probabilities, of which the largest is 1 minus the others.

    Args:
        law: loss of a Gaussian step with a random sensitivity, with probabilities that are doubles.

    Returns:
        Pairs of a sensitivity and its probability, in increasing order.
    """
    components = [(sensitivity, Fraction(probability)) for sensitivity, probability in law.components]
    heaviest = max(range(len(components)), key=lambda index: components[index][1])
    heaviest_sensitivity, _ = components[heaviest]
    lighter = components[:heaviest] + components[heaviest + 1 :]
    remaining = 1 - sum((probability for _, probability in lighter), Fraction(0))
    components[heaviest] = (heaviest_sensitivity, remaining)
    return components


def _round(value: Fraction, *, upward: bool) -> float:
    """Return the double nearest to a number on one side of it.

    Args:
        value: a number, at least 0.
        upward: True for a double at or above the number, False for one at or below it.

    Returns:
        The double at or next to the number, on the requested side.
    """
    nearest = float(value)
    if upward:
        return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)

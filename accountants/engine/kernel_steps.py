"""Steps of a composition in the format of the compiled kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, get_args

from epsilond.accountants.curve.facts import (
    Direction,
    DrawnGaussianLaw,
    GaussianLaw,
    GaussianMixtureLaw,
    LaplaceLaw,
    MixedLaw,
    SampledGaussianLaw,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.numerics.compiled import MixedSteps, SampledSteps

_DIRECTION_NUMBERS: dict[Direction, int] = {direction: place for place, direction in enumerate(get_args(Direction))}
"""Numbers of the directions in the kernel, in the order of their type."""
_DRAWN_NUMBER = len(_DIRECTION_NUMBERS)
"""Number of a batch without replacement in the kernel."""


def as_steps(law: SampledGaussianLaw | DrawnGaussianLaw, count: int) -> SampledSteps:
    """Convert equal subsampled Gaussian steps to the format of the compiled kernel.

    Args:
        law: distribution of the privacy loss of one step.
        count: number of steps.

    Returns:
        Inclusion rate, shift (sensitivity over the noise), number of the direction, and number of steps.
    """
    direction = _DRAWN_NUMBER if isinstance(law, DrawnGaussianLaw) else _DIRECTION_NUMBERS[law.direction]
    return law.rate, law.shift, direction, float(count)


def _as_mixed_steps(law: MixedLaw, count: int) -> MixedSteps:
    """Convert equal Gaussian steps with a random sensitivity to the format of the compiled kernel.

    Args:
        law: distribution of the privacy loss of one step; its shift (sensitivity in standard deviations) is random.
        count: number of steps.

    Returns:
        Inclusion rate, largest shift, number of the direction, number of steps, shifts, and their probabilities.
    """
    if isinstance(law, GaussianMixtureLaw):
        # The kernel ignores the inclusion rate of these steps; 1/2 is a placeholder.
        rate, direction, components = 0.5, _DIRECTION_NUMBERS[law.direction], law.components
    else:
        rate, direction = law.rate, _DRAWN_NUMBER
        components = tuple((shift, weight) for shift, weight in law.components if shift > 0.0)
    shifts = tuple(shift for shift, _ in components)
    weights = tuple(weight for _, weight in components)
    return rate, law.largest, direction, float(count), shifts, weights


class StepKinds(NamedTuple):
    """Steps of a composition as the numbers that the compiled kernel takes, sorted by their noise and sampling.

    Attributes:
        gaussian_squares: the total T d² of T equal Gaussian steps without sampling, one number for each sensitivity d
            in standard deviations of the noise.
        laplace: for T equal Laplace steps, the sensitivity in scales of the noise, and T.
        random_gaussian: equal Gaussian steps with sampling, or with a random sensitivity.
    """

    gaussian_squares: list[float]
    laplace: list[tuple[float, float]]
    random_gaussian: list[SampledSteps | MixedSteps]


def sort_steps(counted: Iterable[tuple[Law, int]]) -> StepKinds:
    """Sort the steps of a composition by noise and sampling, and convert them to numbers for the compiled kernel.

    Args:
        counted: different distributions of the privacy loss of one step, each with its number of steps.

    Returns:
        The Gaussian steps without sampling, the Laplace steps, and the other Gaussian steps. A Gaussian mixture with a
        single component, and sampling with rate 1, are Gaussian steps without sampling.
    """
    kinds = StepKinds([], [], [])
    for law, count in counted:
        if isinstance(law, LaplaceLaw):
            kinds.laplace.append((law.shift, float(count)))
        elif isinstance(law, GaussianMixtureLaw) and len(law.components) == 1:
            kinds.gaussian_squares.append(count * law.distance * law.distance)
        elif isinstance(law, MixedLaw):
            kinds.random_gaussian.append(_as_mixed_steps(law, count))
        elif isinstance(law, GaussianLaw) or law.rate == 1.0:
            kinds.gaussian_squares.append(count * law.distance * law.distance)
        else:
            kinds.random_gaussian.append(as_steps(law, count))
    return kinds

"""The range of steps for which tables of the total loss are used, and settings of the searches on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Region:
    """Limits within which tables of the total loss are used instead of the contour integral; they affect no bound.

    The steps are Poisson-subsampled Gaussian steps with the inclusion rate q and a shift, the sensitivity over the
    noise. The least loss of a step is log(1 − q). The limits follow from measurements (docs/low-noise.md, Range).

    Attributes:
        least_shift: smallest shift. Below it, the compiled kernel has narrower bounds within milliseconds.
        largest_shift: largest shift. Above it, the lattice is too coarse.
        least_rate: smallest rate q. Below it, few steps have any loss, and other bounds are close.
        near_least: distance in nats from the least loss up to which a loss counts as close to it.
        least_likely: smallest log of the probability, after weighting by e^{λS}, that all steps have about the least
            loss. Above it, the contour integral needs ten thousands of frequencies, or does not converge.
        least_likely_of_tests: the same limit for tests, for which the contour integral takes longer.
        few_included: expected number of included contributions up to which the limit for tests applies.
        deepest: largest −log δ for which the tables are used; the width of their bounds grows with it.
        most_laws: largest number of different kinds of steps, which take two transforms each.
        refinements: factors of the number of points for a second table, if the bounds of the first one are too wide.
        steep: if the logarithm of a bound changes by more than this over a bracket of its root, the bracket is halved.
        close: the search for the lower bound on ε starts at this relative distance below the upper bound.
    """

    least_shift: float = 2.0
    largest_shift: float = 200.0
    least_rate: float = 1e-12
    near_least: float = 1e-3
    least_likely: float = -12.0
    least_likely_of_tests: float = -60.0
    few_included: float = 5.0
    deepest: float = 40.0
    most_laws: int = 4
    refinements: tuple[float, ...] = (2.0, 4.0)
    steep: float = 3.0
    close: float = 1e-4


REGION = Region()

"""Lower bounds of products of bounds, symbols, groups or the least of several pairs are below the truth.

The truth is between the divergence of binned outcomes (tests/oracles/binned_outcomes.py) and the same plus the change
from bins of twice the width. That change is about three times the loss by the bins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.bound import Bound, bound_pair
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.profiles.thinned import thin
from epsilond.accountants.profiles.weighted_groups import GaussianGroups, MultiplicityProfile
from epsilond.accountants.rule import Effort
from epsilond.accountants.theorems.conversions.escape import EscapeBound, escape_pair
from epsilond.accountants.theorems.sampling.truncated.symbols import Symbol, symbol_pair
from epsilond.accountants.theorems.shuffling.tails import PairBound, scaled_pair
from tests.oracles.binned_outcomes import Outcomes, binned, concentrated, gaussian, laplace

EFFORTS: tuple[Effort, ...] = ("coarse", "default", "fine")
SEEN = 1e-9
"""Least δ that sums of doubles resolve."""
SHORT = 0.25
"""Largest distance of a lower bound of log δ from the truth, per unit of 1 + |log δ|."""


@dataclass(frozen=True)
class Gaussians(Bound):
    """The profile of N(μ, 1) against N(0, 1), as a bound with a numerical error."""

    mu: float
    error: float = 1e-12

    def log_bound(self, epsilon: float) -> Interval:
        value = float(log_theta(epsilon, self.mu))
        return Interval(value - self.error, value + self.error)


@dataclass(frozen=True)
class Case:
    """A part of a product, how often it is run, and the outcomes of one run in bins of a width."""

    part: Pair
    times: int
    outcomes: Callable[[float], Outcomes]


def least_and_sampled() -> Pair:
    """Return a sampled composition of a concentrated and a Laplace mechanism."""
    return subsample_at(composed_pair([(concentrated_pair(0.02), 1), (laplace_pair(0.2), 1)], "default"), 0.1)


def multiplicity_pair(log_rest: float) -> Pair:
    """Return the pair of a contribution that is always there, once or twice, with a charge for more."""
    profile = MultiplicityProfile(GaussianGroups((0.5, 1.0)), (math.log(0.75), math.log(0.25)), 1.0, 1e-15, log_rest)
    return Pair(profile, profile)


def multiplicity_outcomes(width: float) -> Outcomes:
    """Return the outcomes with the number public: 0.75 of the one with μ = 0.5, and 0.25 of the other."""
    return mixture(gaussian(0.5, width), gaussian(1.0, width), (0.75, 0.25), (0.75, 0.25))


def mixture(first: Outcomes, second: Outcomes, shares: tuple[float, float], others: tuple[float, float]) -> Outcomes:
    """Return the outcomes of a public symbol, with its probabilities under both distributions, by their losses."""
    p = np.concatenate((shares[0] * first.p, shares[1] * second.p))
    q = np.concatenate((others[0] * first.q, others[1] * second.q))
    return binned(p, q, first.width)


def symbols(margin: float) -> Pair:
    """Return the pair of two symbols, with probabilities that are known within a margin."""
    return symbol_pair(
        [
            Symbol(math.log(0.6), math.log(0.7), gaussian_pair(0.5), is_shared=False),
            Symbol(math.log(0.4), math.log(0.3), gaussian_pair(0.3), is_shared=False),
        ],
        margin,
    )


def hidden(mu: float) -> Pair:
    """Return a Gaussian pair as a product that does not know it."""
    pair = compose([(gaussian_pair(mu / 2.0), 4)])
    return Pair(pair.forward, pair.backward)


CASES = {
    "least of a product and of divergences": Case(
        least_and_sampled(), 5, lambda width: concentrated(0.02, width).product(laplace(0.2, width)).sample(0.1)
    ),
    "concentrated": Case(
        subsample_at(concentrated_pair(0.02), 0.1), 20, lambda width: concentrated(0.02, width).sample(0.1)
    ),
    "bound": Case(subsample_at(bound_pair(Gaussians(0.5)), 0.2), 10, lambda width: gaussian(0.5, width).sample(0.2)),
    "wide bound": Case(bound_pair(Gaussians(0.5, 0.05)), 3, lambda width: gaussian(0.5, width)),
    "bound by a pair": Case(
        subsample_at(scaled_pair(PairBound(hidden(0.5))), 0.2), 10, lambda width: gaussian(0.5, width).sample(0.2)
    ),
    "multiplicities": Case(multiplicity_pair(math.log(0.01)), 4, multiplicity_outcomes),
    "symbols": Case(
        symbols(1e-3),
        6,
        lambda width: mixture(gaussian(0.5, width), gaussian(0.3, width), (0.6, 0.4), (0.7, 0.3)),
    ),
    "nested": Case(
        subsample_at(composed_pair([(subsample_at(hidden(0.5), 0.5), 3)], "default"), 0.2),
        4,
        lambda width: gaussian(0.5, width).sample(0.5).power(3).sample(0.2),
    ),
}


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bounds_enclose_products_of_binned_outcomes(case: Case, effort: Effort) -> None:
    coarse, exact = (case.outcomes(width).power(case.times) for width in (1e-3, 5e-4))
    pair = composed_pair([(case.part, case.times)], effort)
    for direction, wide, narrow in (
        (pair.forward, coarse, exact),
        (pair.backward, coarse.reverse(), exact.reverse()),
    ):
        for epsilon in (0.0, 0.1, 0.3, 1.0):
            least = narrow.delta(epsilon)
            if least < SEEN:
                continue
            most = least + max(least - wide.delta(epsilon), 0.0) + 1e-13
            lower, upper = direction.log_delta_bounds(epsilon)
            assert lower <= math.log(most) + 1e-9
            assert upper >= math.log(least) - 1e-9
            assert lower >= math.log(least) * (1.0 + SHORT) - SHORT


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("times", [1, 2, 100])
def test_bounds_of_all_efforts_intersect(case: Case, times: int) -> None:
    pairs = [composed_pair([(case.part, times)], effort) for effort in EFFORTS]
    for epsilon in (0.0, 0.2, 2.0, 20.0):
        bounds = [pair.log_delta_bounds(epsilon) for pair in pairs]
        assert all(lower <= upper for lower, upper in bounds)
        assert max(lower for lower, _ in bounds) <= min(upper for _, upper in bounds) + 1e-12


@pytest.mark.parametrize("times", [2, 1000])
def test_the_hull_of_an_escape_composes(times: int) -> None:
    """A run that escapes with probability p has p of an infinite loss, and little else is known of it."""
    log_escape = math.log(1e-4)
    pair = composed_pair([(escape_pair(EscapeBound(Fraction(1, 2), log_escape - 1e-12, log_escape)), times)], "default")
    escapes = math.log(-math.expm1(times * math.log1p(-1e-4)))
    lower, upper = pair.log_delta_bounds(times * 0.5 + 0.1)
    assert lower <= escapes + 1e-9
    assert escapes <= upper + 1e-12
    assert lower >= escapes - 1e-6


def test_the_least_pair_is_that_with_the_least_tails_at_any_effort() -> None:
    smaller, larger = bound_pair(Gaussians(0.5)), bound_pair(Gaussians(0.6))
    least = least_of([larger, smaller]).forward
    points = np.asarray([0.0, 0.3])
    attained, own = least.attained_log_tails(points), smaller.forward.attained_log_tails(points)
    assert attained is not None
    assert own is not None
    assert np.array_equal(attained.log_p, own.log_p)


@pytest.mark.parametrize("rate", [1e-6, 1.0 - 1e-6])
def test_thinned_bounds_of_a_rate_near_zero_or_one(rate: float) -> None:
    exact, bounds = (
        composed_pair([(thin(pair, rate), 50)], "default") for pair in (hidden(0.5), bound_pair(Gaussians(0.5)))
    )
    for epsilon in (0.0, 1.0):
        assert bounds.log_delta_bounds(epsilon).lower <= exact.log_delta_bounds(epsilon).upper
        assert exact.log_delta_bounds(epsilon).lower <= bounds.log_delta_bounds(epsilon).upper

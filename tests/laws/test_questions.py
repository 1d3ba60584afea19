"""Laws of every question about a profile and a pair, for each method of composition and each wrapper."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.composition.methods import METHODS
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import Plateau
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.curve.renyi_bounds import RenyiBounds
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import approximate_pair
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.profiles.amplification import amplify_symmetrically, subsample_at
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.bound import Bound, bound_pair
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.declared.renyi_bounds import renyi_pair
from epsilond.accountants.profiles.deferred import deferred_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from epsilond.accountants.profiles.geometric import geometric_pair
from epsilond.accountants.profiles.laplace import laplace_pair, opposite_laplace_pair
from epsilond.accountants.profiles.powers import powers_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.profiles.thinned import thin
from epsilond.accountants.theorems.conversions.escape import EscapeBound, escape_pair, with_failure

EPSILONS = (0.0, 0.05, 0.7, 3.0)
SIZES = (1e-3, 0.1)
QUESTIONS = {
    "attained_log_tails",
    "best_tests",
    "closed_decides",
    "closed_form",
    "delta_at_zero_by_tails",
    "log_delta_bounds",
    "log_delta_bounds_in_search",
    "estimated",
    "exact_epsilon",
    "finds_best_tests",
    "guess",
    "is_at_most",
    "likely_log_delta",
    "likely_meets",
    "log_delta",
    "log_infinite_mass",
    "log_tails",
    "lossy",
    "lower_log_delta",
    "near_tests",
    "one_sided",
    "pointwise",
    "quick_upper_log_delta",
    "root_search",
    "shares_nodes",
    "solve",
    "span",
    "supremum",
    "tail_accuracy",
    "upper_log_delta",
    "upper_log_deltas",
}
"""Every question of `Profile`. The laws below ask each of them."""


@dataclass(frozen=True)
class Theta(Bound):
    """A bound known at one ε at a time."""

    shift: float

    def log_bound(self, epsilon: float) -> Interval:
        value = float(log_theta(epsilon, self.shift))
        return Interval(value - 1e-12, value + 1e-12)


def guaranteed(pair: Pair) -> Pair:
    """Return the dominating pair of a guarantee with this pair in a mechanism that may fail."""
    from epsilond.accountants.account import account
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.specs import Gaussian

    base = account(Gaussian(noise_multiplier=1.0), relation="replace-one").guarantee
    guarantee: Guarantee = replace(base, curve=Curve(pair))
    return with_failure(guarantee, -9.0).curve.upper


GAUSSIAN, LAPLACE, RESPONSE = gaussian_pair(0.8), laplace_pair(0.5), response_pair(0.6, 3)
DRAWN = subsample_at(GAUSSIAN, 0.1)
MIXTURES = mixture_pair(LineMixture((math.log(0.9), math.log(0.1)), (0.0, 1.0)), LineMixture((0.0,), (0.0,)))
LATTICE = composed_pair([(subsample_at(LAPLACE, 0.2), 5), (MIXTURES, 1)], "coarse")
BASES = {
    "gaussian": GAUSSIAN,
    "nothing": gaussian_pair(0.0),
    "laplace": LAPLACE,
    "opposite laplace": opposite_laplace_pair(0.2, 0.7),
    "geometric": geometric_pair(0.3, 4),
    "geometric, many losses": geometric_pair(0.02, 90, 4000),
    "responses": RESPONSE,
    "approximate": approximate_pair(0.5, 1e-5),
    "concentrated": concentrated_pair(0.02, -1e-6, math.log(1e-6)),
    "powers": powers_pair((2.0, 8.0), (-2.0, -8.0)),
    "mixtures": MIXTURES,
    "cells": finite_pair(np.log([0.5, 0.3, 0.2]), np.log([0.2, 0.3, 0.5])),
    "bound": bound_pair(Theta(0.5)),
    "escapes": escape_pair(EscapeBound(Fraction(1, 2), -12.0, -11.9999)),
}
WRAPPERS = {
    "subsampled": DRAWN,
    "subsampled responses": subsample_at(RESPONSE, 0.3),
    "subsampled product": subsample_at(LATTICE, 0.3),
    "subsampled, both directions": amplify_symmetrically(GAUSSIAN, Share.at(0.1)),
    "thinned": thin(LAPLACE, 0.2),
    "failing": guaranteed(GAUSSIAN),
    "deferred": deferred_pair(lambda: RESPONSE),
    "least of bounds": least_of([bound_pair(Theta(0.5)), bound_pair(Theta(0.6))]),
    "least of a product and a bound": least_of([LATTICE, concentrated_pair(0.3)]),
    "plateau": with_plateau(LATTICE, Plateau(1.0, Fraction(1, 2))),
}
DIVERGENCES = renyi_pair(RenyiBounds((2.0, 8.0, 32.0), (0.02, 0.08, 0.4)))
PRODUCTS = {
    "Gaussian": composed_pair([(GAUSSIAN, 3)], "coarse"),
    "Concentrated": composed_pair([(concentrated_pair(0.02), 4)], "coarse"),
    "Renyi": composed_pair([(DIVERGENCES, 3)], "coarse"),
    "Enumerated": composed_pair([(RESPONSE, 5)], "coarse"),
    "Enumerated, and Gaussian": composed_pair([(RESPONSE, 5), (GAUSSIAN, 1)], "coarse"),
    "Rare": composed_pair([(amplify_symmetrically(gaussian_pair(1.0), Share.at(1e-12)), 10**9)], "coarse"),
    "Contour, exact laws": composed_pair([(DRAWN, 50)], "coarse"),
    "Contour, Laplace": composed_pair([(LAPLACE, 30), (GAUSSIAN, 1)], "coarse"),
    "Lattice": LATTICE,
}
PAIRS = BASES | WRAPPERS | PRODUCTS


def test_the_laws_ask_every_question() -> None:
    assert {name for name in vars(Profile) if not name.startswith("_")} == QUESTIONS


SLOW_TAILS = pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, id=name, marks=pytest.mark.slow if name == "Rare" else ()) for name, pair in PAIRS.items()],
)
"""All pairs; the one with expensive tails is slow."""


@SLOW_TAILS
def test_attained_lines_are_below_the_profile(pair: Pair) -> None:
    points = np.asarray(EPSILONS, dtype=np.float64)
    for profile in pair.directions():
        tails = profile.attained_log_tails(points)
        if tails is None:
            continue
        upper = np.exp(profile.log_delta(points).upper)
        first = np.exp(tails.log_p)[:, None]
        second = np.exp(np.minimum(tails.log_q[:, None] + points, 700.0))
        digits = 1.0 + np.where(np.isneginf(tails.log_q), 0.0, np.abs(tails.log_q))[:, None]
        errors = (profile.tail_accuracy + 1e-12) * digits * (first + second)
        excess = first - second - upper
        assert (excess <= errors).all(), (excess - errors).max()


def test_every_method_has_a_product() -> None:
    assert {name.split(",")[0] for name in PRODUCTS} == {
        type(method).__name__.removesuffix("Method") for method in METHODS
    }


def overlap(*bounds: Interval) -> bool:
    """Return whether intervals may enclose one number, up to roundings of what is evaluated twice."""
    return max(each.lower for each in bounds) <= min(each.upper for each in bounds) + 1e-12


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_every_profile_answers_alike_at_an_epsilon(pair: Pair) -> None:
    for profile in pair.directions():
        for epsilon in EPSILONS:
            lower, upper = (float(bound[0]) for bound in profile.log_delta(np.asarray([epsilon])))
            enclosure = Interval(lower, upper)
            assert lower <= upper
            both = profile.log_delta_bounds_in_search([epsilon, epsilon + 0.01], lower=True)[0]
            above = profile.log_delta_bounds_in_search([epsilon, epsilon + 0.01], lower=False)[0]
            assert overlap(enclosure, profile.log_delta_bounds(epsilon), both)
            uppers = (
                profile.upper_log_delta(epsilon),
                profile.upper_log_deltas([epsilon, epsilon + 0.01])[0],
                above.upper,
            )
            assert min(uppers) >= lower - 1e-12
            quick = profile.quick_upper_log_delta(epsilon)
            assert quick >= lower - 1e-12 or (profile.estimated and quick == -math.inf)
            assert profile.lower_log_delta(epsilon) <= upper + 1e-12
            assert not profile.is_at_most(epsilon, lower - 1e-6)
            assert isinstance(profile.likely_meets(epsilon, -5.0), bool)
            assert not math.isnan(profile.likely_log_delta(epsilon))
            assert isinstance(profile.closed_decides(epsilon, 0.5), bool)


@SLOW_TAILS
def test_the_first_delta_of_tails_is_the_difference_of_their_masses(pair: Pair) -> None:
    for profile in pair.directions():
        log_p, log_q = (float(log_mass[0]) for log_mass in profile.log_tails(np.zeros(1)))
        difference = math.exp(log_p) - math.exp(log_q)
        assert profile.delta_at_zero_by_tails() == pytest.approx(difference, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_what_a_profile_says_without_an_evaluation_is_true(pair: Pair) -> None:
    for profile in pair.directions():
        assert 0.0 <= profile.tail_accuracy < 1e-6
        assert profile.log_infinite_mass <= 0.0
        if profile.supremum < math.inf:
            assert profile.log_delta(np.asarray([profile.supremum])).lower[0] == -math.inf
        if profile.lossy:
            assert profile.log_delta(np.zeros(1)).upper[0] > -math.inf
        if profile.span is not None:
            assert profile.span > 0.0
        assert profile.root_search in {"bracket", "solve", "sweep", "spare"}
        assert profile.pointwise or not profile.estimated
        assert profile.one_sided or not profile.shares_nodes
        assert not (profile.closed_form and profile.estimated)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_tests_of_given_sizes_keep_the_bounds_of_their_profile(pair: Pair) -> None:
    profile = pair.forward
    found = profile.near_tests(SIZES)
    assert len(found) in {0, len(SIZES)}
    for test in found:
        if test is not None and test.epsilon > 0.0:
            assert overlap(test.log_delta(test.epsilon), profile.log_delta_bounds(test.epsilon))


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_best_tests_are_no_worse_than_any_threshold(pair: Pair) -> None:
    profile = pair.forward
    best = profile.best_tests(SIZES)
    assert best is None or profile.finds_best_tests
    for rate, test in best.by_rate.items() if best is not None else ():
        if test is not None:
            lower, upper = test.true_positive_rate
            at_threshold = math.exp(test.epsilon) * rate + math.exp(profile.log_delta_bounds(abs(test.epsilon)).upper)
            assert rate * (1.0 - 1e-12) <= lower <= upper <= 1.0
            assert test.epsilon < 0.0 or lower <= at_threshold
            assert overlap(best.log_delta_at_zero, profile.log_delta_bounds(0.0))


@pytest.mark.parametrize("log_delta", [-3.0, -11.0])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_every_search_ends_on_its_side_of_the_target(pair: Pair, log_delta: float) -> None:
    for profile in pair.directions():
        exact, solution, guess = profile.exact_epsilon(log_delta), profile.solve(log_delta), profile.guess(log_delta)
        assert exact is None or exact.lower <= exact.upper
        assert solution is None or not math.isnan(solution.epsilon)
        assert guess.epsilon >= 0.0
    plain, near = pair.epsilon(log_delta), pair.epsilon(log_delta, 0.5)
    uppers = (plain.upper, near.upper, pair.upper_epsilon(log_delta), pair.upper_epsilon(log_delta, 0.5))
    lowers = (plain.lower, near.lower, pair.lower_epsilon(log_delta), pair.lower_epsilon(log_delta, 0.5))
    assert max(lowers) <= min(uppers)
    if pair.plateau is None:
        assert all(math.isinf(upper) or pair.upper_log_delta(upper) <= log_delta for upper in uppers)
    assert all(lower == 0.0 or pair.lower_log_delta(lower) > log_delta for lower in lowers)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_pair_is_the_larger_of_its_directions(pair: Pair) -> None:
    for epsilon in EPSILONS:
        bounds = pair.log_delta_bounds(epsilon)
        each = [profile.log_delta_bounds(epsilon) for profile in pair.directions()]
        assert bounds.lower >= max(one.lower for one in each) - 1e-12
        assert bounds.upper <= max(min(max(one.upper for one in each), 0.0), bounds.lower)
        array = pair.log_delta(np.asarray([epsilon]))
        assert overlap(bounds, Interval(float(array.lower[0]), float(array.upper[0])))
        assert pair.upper_log_delta(epsilon) >= bounds.lower
        assert pair.lower_log_delta(epsilon) <= bounds.upper
        assert pair.upper_log_delta_next_to(epsilon, epsilon + 0.01) >= bounds.lower
        assert pair.symmetric or overlap(pair.reverse().log_delta_bounds(epsilon), bounds)


def test_a_deferred_profile_answers_as_the_one_that_is_made() -> None:
    inner = RESPONSE.forward
    deferred = deferred_pair(lambda: RESPONSE).forward
    assert {name for name in QUESTIONS if name not in vars(type(deferred))} == {
        "closed_form",
        "estimated",
        "one_sided",
        "pointwise",
        "root_search",
        "shares_nodes",
    }
    assert deferred.solve(-3.0) == inner.solve(-3.0)
    assert [near and near.epsilon for near in deferred.near_tests(SIZES)] == [
        near and near.epsilon for near in inner.near_tests(SIZES)
    ]


def test_a_plateau_hides_nothing_that_is_known_of_a_pair() -> None:
    plateau = WRAPPERS["plateau"]
    assert plateau.parts == LATTICE.parts
    for epsilon in (0.5, 5.0, 50.0):
        assert plateau.likely_meets(epsilon, -10.0) == LATTICE.likely_meets(epsilon, -10.0)
    assert plateau.likely_meets(50.0, -10.0)

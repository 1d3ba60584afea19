"""Test dominating pairs of subsampled mechanisms, computed from the base pair, against sums over outcomes and a search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from mpmath import mp

from epsilond.accountants.account import account
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import NearTest
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.meaning import meaning
from epsilond.accountants.profiles.amplification import AmplifiedProfile, DilutedProfile, subsample_at, subsample_pair
from epsilond.accountants.profiles.drawn import amplified_epsilon
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.specs import Composed, Laplace, Subsampled
from tests.oracles.finite import Law, hockey_stick, joint, mixture, response

RATE = 0.125
ROUNDING = 1e-12


@cache
def laws() -> tuple[Law, Law]:
    """Four responses of three categories and two of two, drawn together: with the record, drawn or not, and without."""
    first, second = (
        joint(
            [*(response(side, 3, Fraction(2)) for _ in range(4)), *(response(side, 2, Fraction(3)) for _ in range(2))]
        )
        for side in (0, 1)
    )
    return mixture([1 - Fraction(RATE), Fraction(RATE)], [second, first]), second


def drawn_responses() -> Pair:
    """The same as the lattice engine composes it."""
    base = compose([(response_pair(math.log(2.0), 3), 4), (response_pair(math.log(3.0), 2), 2)])
    return subsample_at(base, RATE)


def truth(epsilon: float, *, turned: bool = False) -> float:
    p, q = laws()[::-1] if turned else laws()
    return float(hockey_stick(p, q, Fraction(math.exp(epsilon))))


@pytest.mark.parametrize("log_delta", [-2.5, -4.0, -6.0, -9.0])
def test_epsilon_is_where_the_larger_order_meets_the_target(log_delta: float) -> None:
    lower, upper = drawn_responses().epsilon(log_delta)
    assert 0.0 < lower <= upper <= lower * 1.002
    for turned in (False, True):
        assert math.log(max(truth(upper, turned=turned), 1e-300)) <= log_delta + ROUNDING
    assert math.log(truth(lower)) >= log_delta - ROUNDING


def test_the_ends_of_epsilon_alone_are_ends() -> None:
    pair = drawn_responses()
    assert math.log(truth(pair.upper_epsilon(-5.0))) <= -5.0 + ROUNDING
    assert math.log(truth(pair.lower_epsilon(-5.0))) >= -5.0 - ROUNDING


@pytest.mark.parametrize("log_delta", [-1e-3, -0.5, -2.0])
def test_epsilon_is_zero_where_delta_at_zero_meets_the_target(log_delta: float) -> None:
    assert truth(0.0) <= math.exp(log_delta)
    assert drawn_responses().epsilon(log_delta).lower == 0.0
    assert drawn_responses().epsilon(log_delta).upper <= 1e-3


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("shift", [0.05, 1.0, 9.0])
def test_the_other_order_of_a_symmetric_base_is_nowhere_larger(rate: float, shift: float) -> None:
    base = laplace_pair(shift)
    at = np.concatenate([[0.0], np.geomspace(1e-8, shift, 60)])
    forward, backward = AmplifiedProfile(base.forward, rate), DilutedProfile(base.backward, rate)
    assert np.all(backward.log_delta(at).lower <= forward.log_delta(at).upper)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("log_delta", [-1.5, -5.0, -14.0, -40.0])
def test_it_answers_as_a_search_that_knows_no_base(rate: float, log_delta: float) -> None:
    base = composed_pair([(laplace_pair(0.3), 5)], "default")
    pair = subsample_at(base, rate)
    plain = Pair(pair.forward, pair.backward)
    found, expected = pair.epsilon(log_delta), plain.epsilon(log_delta)
    assert found.upper == pytest.approx(expected.upper, rel=1e-6, abs=1e-12)
    assert found.lower == pytest.approx(expected.lower, rel=1e-6, abs=1e-12)
    if found.upper > 0.0:
        assert plain.upper_log_delta(found.upper) <= log_delta
    if found.lower > 0.0:
        assert plain.lower_log_delta(found.lower) > log_delta


def test_tests_are_those_of_the_base_and_keep_its_ends_at_any_epsilon() -> None:
    """Also next to log(1 − q), where E_γ' is 1 − γ' and nothing is said of it, and at an ε beyond every double."""
    for epsilon in (-0.2, 0.0, 1.0, 80.0):
        base = NearTest(epsilon, far_down, 1e-9, 2.0)
        profile = AmplifiedProfile(_Finder(1.0, near=base), RATE)
        (near,) = profile.near_tests([1e-3])
        assert near is not None
        assert near.epsilon == pytest.approx(amplified_epsilon(epsilon, RATE))
        assert near.log_delta(2.0 * math.log1p(-RATE)) == (-math.inf, 0.0)
        assert near.log_delta(800.0).upper <= math.log(RATE) + ROUNDING


@dataclass(frozen=True)
class _Finder(GaussianProfile):
    """A base that finds one test."""

    near: NearTest | None = None

    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        return [self.near for _ in sizes]


def far_down(epsilon: float) -> Interval:
    """Ends that hold for any profile up to an ε, and smaller ones beyond."""
    return Interval(-math.inf, 0.0 if epsilon < 1000.0 else -1.0)


@pytest.mark.parametrize("rate", [1e-12, 0.01, 0.5])
@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 29.0, 31.0, 500.0, 1e6])
def test_the_change_of_variable_inverts(rate: float, epsilon: float) -> None:
    with mp.workdps(40):
        exact = mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(epsilon)))
        assert abs(amplified_epsilon(epsilon, rate) - exact) <= 4 * 2.0**-53 * max(exact, epsilon * (epsilon > 30.0))


def test_true_positive_rates_enclose_the_best_tests_of_enumerated_outcomes() -> None:
    pair = drawn_responses()
    sense = meaning(Curve(pair, (pair,)))
    for one in sense.true_positives:
        best = max(best_rate(*laws(), one.false_positive_rate), best_rate(*laws()[::-1], one.false_positive_rate))
        lower, upper = one.true_positive_rate
        assert lower <= best * (1.0 + ROUNDING)
        assert best <= upper * (1.0 + ROUNDING)
        assert upper - lower <= 1e-3 * upper


def best_rate(p: Law, q: Law, size: float) -> float:
    """The true positive rate of the most powerful randomised test, outcome by outcome."""
    left, power = Fraction(size), Fraction(0)
    for outcome in sorted(p, key=lambda outcome: -p[outcome] / q[outcome]):
        share = min(Fraction(1), left / q[outcome])
        left, power = left - share * q[outcome], power + share * p[outcome]
    return float(power)


def test_a_batch_of_many_different_mechanisms_is_answered_on_few_transforms() -> None:
    """Counted in transforms, not in seconds."""
    from epsilond.accountants.engine.contour import composition, line

    laid = 0
    build = line.build_integrand

    def counting(*asked: object, **more: object) -> object:
        nonlocal laid
        laid += 1
        return build(*asked, **more)  # type: ignore[arg-type]

    inner = Composed(mechanisms=tuple(Laplace(scale_multiplier=5.0 + 0.2 * place) for place in range(50)))
    spec = Subsampled(sampling="poisson", rate=0.1, mechanism=inner)
    curve = account(spec, relation="add-or-remove-one").guarantee.curve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composition, "build_integrand", counting)
        found = curve.epsilon(math.log(1e-6))
        sense = meaning(curve)
    assert laid <= 24
    assert found.upper - found.lower <= 1e-3 * found.upper
    assert all(one.true_positive_rate.upper <= 1.001 * one.true_positive_rate.lower for one in sense.true_positives)


def test_a_share_that_is_no_double_has_its_pair() -> None:
    base = composed_pair([(laplace_pair(0.3), 5)], "default")
    upper, realised = subsample_pair(base, Share(float(Fraction(1, 3)), float(Fraction(2, 3)), exact=False))
    assert upper is realised
    assert 0.0 < upper.epsilon(-10.0).lower <= upper.epsilon(-10.0).upper

"""Test several bounds of one mechanism: the least of them, and bounds that are known at one ε only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.laws import TiltedEvaluation
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.profiles.bound import Bound, BoundProfile, bound_pair
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.geometric import geometric_pair
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.composition.least_of import least
from epsilond.accountants.theorems.hidden_states.contraction import LEMMA_2
from tests.oracles.contraction import theta

EPSILONS = (0.0, 0.03, 0.4, 1.7, 6.0)


@dataclass(frozen=True)
class Theta(Bound):
    """θ_ε(r) scaled: a convex bound."""

    shift: float
    scale: float = 1.0

    def log_bound(self, epsilon: float) -> Interval:
        value = math.log(self.scale) + float(log_theta(epsilon, self.shift))
        return Interval(value - 1e-12, value + 1e-12)


def gaussian(noise: float, relation: str = "replace-one") -> Guarantee:
    return account(Gaussian(noise_multiplier=noise), relation=relation).guarantee  # type: ignore[arg-type]


def known(shift: float, scale: float) -> Guarantee:
    """A guarantee that is known by its values."""
    base = gaussian(2.0)
    pair = bound_pair(Theta(shift, scale))
    return replace(base, curve=replace(base.curve, upper=pair, witnesses=()), derivation=LEMMA_2.because())


def test_one_bound_that_is_least_everywhere_stands_alone() -> None:
    loose, tight = gaussian(2.0), gaussian(3.0)
    assert least([loose, tight]).derivation == tight.derivation
    assert least([tight, loose]).curve.upper is tight.curve.upper
    assert least([loose, loose]).derivation == loose.derivation


def test_where_bounds_cross_the_least_holds_and_both_are_named() -> None:
    often, rarely = gaussian(2.0), known(2.5, 0.01)
    joined = least([often, rarely])
    assert joined.derivation.theorem == "epsilond.least-bound"
    assert {step.theorem for step in joined.derivation.premises} == {"balle-wang-2018.8", "asoodeh.lemma-2"}
    both = [[each.curve.bound_log_delta(epsilon).upper for each in (often, rarely)] for epsilon in EPSILONS]
    assert [joined.curve.bound_log_delta(epsilon).upper for epsilon in EPSILONS] == [min(pair) for pair in both]
    assert len({pair.index(min(pair)) for pair in both}) == 2


def test_witnesses_of_every_bound_are_kept() -> None:
    joined = least([gaussian(2.0), known(0.5, 1.0)])
    assert joined.derivation.theorem == "asoodeh.lemma-2"
    assert joined.curve.log_delta(0.3).lower > -math.inf
    assert not joined.curve.tight


def test_what_an_engine_composed_is_kept_unseen() -> None:
    spec = Repeated(
        times=3, mechanism=Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=1.0))
    )
    composed = account(spec, relation="replace-one", effort="coarse").guarantee
    assert least([composed, gaussian(2.0)]).derivation.theorem == "epsilond.least-bound"


def test_a_composed_bound_is_evaluated_beside_a_closed_one_only_where_it_may_be_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    composed = compose([(geometric_pair(0.02, 30, 1000), 100)])
    asked: list[float] = []
    whole = ComposedProfile.evaluation

    def evaluation(profile: ComposedProfile, epsilon: float) -> TiltedEvaluation:
        asked.append(epsilon)
        return whole(profile, epsilon)

    monkeypatch.setattr(ComposedProfile, "evaluation", evaluation)
    for rho, evaluated in ((1e-3, False), (0.1, False), (17.0, True), (40.0, True)):
        closed = concentrated_pair(rho)
        for epsilon in (5.0, 30.0):
            asked.clear()
            joined = least_of([composed, closed])
            upper = joined.upper_log_delta(epsilon)
            assert bool(asked) == evaluated
            assert upper == joined.log_delta_bounds(epsilon).upper
            assert upper == min(composed.log_delta_bounds(epsilon).upper, closed.log_delta_bounds(epsilon).upper)


def test_bounds_of_different_settings_do_not_join() -> None:
    with pytest.raises(InvalidInput, match="cannot combine"):
        least([gaussian(2.0), gaussian(2.0, "zero-out-one")])


@pytest.mark.parametrize("scale", [1.0, 0.2])
def test_the_tails_of_a_bound_dominate_it_closely(scale: float) -> None:
    profile = BoundProfile(Theta(1.3, scale))
    for epsilon in EPSILONS:
        at = np.asarray([epsilon])
        (log_p,), (log_q,) = profile.log_tails(at)
        from_tails = math.exp(log_p) - math.exp(epsilon + log_q)
        value = scale * theta(epsilon, 1.3)
        assert value * (1 - 1e-9) <= from_tails <= value * 1.05
    assert profile.log_infinite_mass < -700.0


def test_a_bound_composes_as_the_profile_it_is() -> None:
    exact = account(Repeated(times=4, mechanism=Gaussian(noise_multiplier=4.0)), relation="replace-one").guarantee
    single = gaussian(4.0)
    assert single.curve.upper.gaussian_dp_mu == pytest.approx(0.5)
    profile = BoundProfile(Theta(0.5))
    tails = profile.log_tails(np.asarray([0.2]))
    truth = single.curve.upper.forward.log_tails(np.asarray([0.2]))
    assert tails.log_p[0] == pytest.approx(truth.log_p[0], abs=0.05)
    assert exact.curve.upper.gaussian_dp_mu == pytest.approx(1.0)

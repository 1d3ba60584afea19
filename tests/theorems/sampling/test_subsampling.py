"""Amplified profiles against the hockey-stick divergence of the densities they stand for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.profiles.amplification import AmplifiedProfile, DilutedProfile
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.sampling.inclusion import base_epsilon
from epsilond.accountants.specs import Gaussian, Laplace, Repeated, Subsampled
from epsilond.accountants.theorems.sampling.multiplicities import multiplicities
from epsilond.accountants.theorems.sampling.with_replacement import dominating_pair
from tests.oracles.hockey_stick import gaussian_mixture, hockey_stick

RATE, SHIFT = 0.03, 1.3
WITHOUT = gaussian_mixture([1], [0])
with mp.workdps(30):
    WITH = gaussian_mixture([1 - mp.mpf(RATE), RATE], [0, SHIFT])


@pytest.fixture(autouse=True)
def _thirty_digits() -> Iterator[None]:
    with mp.workdps(30):
        yield


def encloses(profile: object, epsilon: float, truth: mp.mpf) -> bool:
    ends = profile.log_delta(np.asarray([epsilon]))  # type: ignore[attr-defined]
    if truth == 0:
        return bool(np.isneginf(ends.lower[0]))
    return float(ends.lower[0]) <= float(mp.log(truth)) + 1e-15 and float(mp.log(truth)) <= float(ends.upper[0]) + 1e-15


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.01, 0.2, 1.0, 3.0])
def test_poisson_removal(epsilon: float) -> None:
    assert encloses(
        AmplifiedProfile(GaussianProfile(SHIFT), RATE), epsilon, hockey_stick(WITH, WITHOUT, epsilon, -12, 20)
    )


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.01, 0.02, 0.03, 0.0304])
def test_poisson_addition(epsilon: float) -> None:
    assert encloses(
        DilutedProfile(GaussianProfile(SHIFT), RATE), epsilon, hockey_stick(WITHOUT, WITH, epsilon, -20, 12)
    )


@pytest.mark.parametrize("missing", [1, 7])
@pytest.mark.parametrize("population", [10**10 + 9, 10**14 + 31])
def test_a_batch_that_leaves_out_next_to_nobody(population: int, missing: int) -> None:
    """1 − q is a ten-billionth and less: formed from a rounded q it would be wrong in its sixth digit, and δ too low."""
    spec = Subsampled(
        sampling="poisson",
        batch_size=population - missing,
        population=population,
        mechanism=Gaussian(noise_multiplier=1 / SHIFT),
    )
    pair = account(spec, relation="add-or-remove-one").guarantee.curve.upper
    with mp.workdps(60):
        absent = mp.mpf(missing) / population
        with_record = gaussian_mixture([absent, 1 - absent], [0, SHIFT])
        # log(1 + u q/(1 − q)) is where the loss ends: close to it a relative error of 1 − q shows most.
        for share in (0.5, 0.999, 0.9999999):
            epsilon = float(mp.log1p(share * (1 - absent) / absent))
            gamma = mp.e ** mp.mpf(epsilon)
            end = mp.log((1 / gamma - absent) / (1 - absent)) / SHIFT + mp.mpf(SHIFT) / 2
            without, drawn = (mp.erfc((mean - end) / mp.sqrt(2)) / 2 for mean in (0, mp.mpf(SHIFT)))
            truth = without - gamma * (absent * without + (1 - absent) * drawn)
            assert encloses(pair.backward, epsilon, truth)
            ends = pair.backward.log_delta(np.asarray([epsilon]))
            assert ends.upper[0] - ends.lower[0] < 1e-7 * abs(ends.upper[0])
        assert encloses(pair.forward, 0.5, hockey_stick(with_record, WITHOUT, 0.5, -12, 20))


def test_a_composed_loss_is_that_of_doubles_around_the_quotient() -> None:
    spec = Subsampled(sampling="poisson", batch_size=1, population=3, mechanism=Gaussian(noise_multiplier=1.0))
    for relation in ("add-or-remove-one", "replace-one"):
        curve = account(spec, relation=relation).guarantee.curve
        above, below = (Fraction(pair.law.rate) for pair in (curve.upper, curve.witnesses[0]))
        assert below < Fraction(1, 3) < above
        assert above - below < Fraction(1, 2**52)
        lower, upper = account(Repeated(times=1000, mechanism=spec), relation=relation).guarantee.curve.log_delta(30.0)
        assert lower < upper < lower + 1e-6
    even = Subsampled(sampling="poisson", batch_size=1, population=4, mechanism=Gaussian(noise_multiplier=1.0))
    assert account(even, relation="add-or-remove-one").guarantee.tight == "proved"


def test_addition_has_a_largest_loss() -> None:
    beyond = np.asarray([-math.log1p(-RATE) * (1 + 1e-12), 0.5, 700.0])
    diluted = DilutedProfile(GaussianProfile(SHIFT), RATE)
    assert np.isneginf(diluted.log_delta(beyond).upper).all()
    assert np.isneginf(diluted.log_tails(beyond).log_p).all()


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.1, 1.0])
def test_poisson_replacement_is_the_pair_of_opposite_mixtures(epsilon: float) -> None:
    spec = Subsampled(sampling="poisson", rate=RATE, mechanism=Gaussian(noise_multiplier=1 / 0.8))
    curve = account(spec, relation="replace-one").guarantee.curve
    away = gaussian_mixture([1 - mp.mpf(RATE), RATE], [0, -0.8])
    truth = hockey_stick(gaussian_mixture([1 - mp.mpf(RATE), RATE], [0, 0.8]), away, epsilon, -14, 14)
    assert encloses(curve.upper.forward, epsilon, truth)
    assert curve.upper.symmetric
    assert curve.tight


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.7])
def test_without_replacement_is_attained_by_its_one_sided_instance(epsilon: float) -> None:
    spec = Subsampled(
        sampling="without-replacement", batch_size=3, population=100, mechanism=Gaussian(noise_multiplier=2 / SHIFT)
    )
    curve = account(spec, relation="replace-one").guarantee.curve
    truth = hockey_stick(WITH, WITHOUT, epsilon, -12, 20)
    assert encloses(curve.upper.forward, epsilon, truth)
    assert curve.log_delta(epsilon).lower == pytest.approx(float(mp.log(truth)), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.5])
def test_with_replacement_agrees_with_the_published_figures(epsilon: float) -> None:
    # Twenty records, ten draws, noise 3 over the sensitivity 2C: cases acc-03 and acc-04 of tests/golden/lowy.json.
    spec = Subsampled(
        sampling="with-replacement", batch_size=10, population=20, mechanism=Gaussian(noise_multiplier=6.0)
    )
    curve = account(spec, relation="replace-one").guarantee.curve
    known = curve.log_delta(epsilon)
    drawn = multiplicities(10, 20)
    assert drawn is not None
    theorem_10 = dominating_pair(spec.mechanism, drawn).upper_log_delta(epsilon)
    assert math.exp(theorem_10) == pytest.approx(0.00435652567197582, rel=1e-12)
    assert known.upper < theorem_10
    assert math.exp(known.lower) >= 0.00160059485715838 * (1 - 1e-9)


def test_multiplicities_are_binomial() -> None:
    drawn = multiplicities(10, 20)
    assert drawn is not None
    exact = [mp.binomial(10, k) * mp.mpf(19) ** (10 - k) / mp.mpf(20) ** 10 for k in range(1, 11)]
    assert np.allclose(drawn.log_weights, [float(mp.log(w)) for w in exact], rtol=1e-14)
    assert drawn.rate == pytest.approx(float(mp.fsum(exact)), rel=1e-15)


def test_grouped_multiplicities_lose_no_weight() -> None:
    drawn = multiplicities(40_000, 1_000)
    assert drawn is not None
    assert drawn.least[0] == 1
    assert all(low == high + 1 for low, high in zip(drawn.least[1:], drawn.most[:-1], strict=True))
    assert math.fsum(map(math.exp, drawn.log_weights)) == pytest.approx(drawn.rate, rel=1e-9)
    assert multiplicities(10**12, 3) is None


@pytest.mark.parametrize("rate", [3e-308, 1e-300, 1e-9, 0.3, 1 - 1e-9])
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1.0, 19.0, 29.9, 30.1, 1e4])
def test_change_of_variable(rate: float, epsilon: float) -> None:
    with mp.workdps(40):
        exact = mp.log1p(mp.expm1(mp.mpf(epsilon)) / mp.mpf(rate))
        assert float(base_epsilon(np.asarray(epsilon), rate)) == pytest.approx(float(exact), rel=4e-16)


@pytest.mark.parametrize("epsilon", [10.0, 19.0, 25.0, 29.99, 30.0, 31.0])
def test_bounds_hold_the_truth_at_rates_near_the_smallest_double(epsilon: float) -> None:
    rate, mu = 1e-300, 50.0
    with mp.workdps(60):
        base = mp.log1p(mp.expm1(mp.mpf(epsilon)) / mp.mpf(rate))
        delta = mp.ncdf(mu / 2 - base / mu) - mp.exp(base) * mp.ncdf(-mu / 2 - base / mu)
        exact = float(mp.log(mp.mpf(rate)) + mp.log(delta))
    lower, upper = AmplifiedProfile(GaussianProfile(mu), rate, 1.0).log_delta(np.asarray([epsilon]))
    assert lower[0] <= exact <= upper[0]
    assert upper[0] - lower[0] < 1e-9


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
def test_fixed_size_batches_have_no_pair_for_add_or_remove(sampling: str) -> None:
    spec = Subsampled(
        sampling=sampling,  # type: ignore[arg-type]
        batch_size=2,
        population=10,
        mechanism=Gaussian(noise_multiplier=1.0),
    )
    with pytest.raises(ConditionViolated, match="no valid pair is known"):
        account(spec, relation="add-or-remove-one")


def test_zero_out_is_covered_by_replacement_and_says_so() -> None:
    spec = Subsampled(
        sampling="without-replacement", batch_size=2, population=10, mechanism=Laplace(scale_multiplier=1.0)
    )
    zeroed = account(spec, relation="zero-out-one").guarantee
    assert "epsilond.zeroed-is-replaced" in zeroed.theorems()
    assert (
        zeroed.curve.log_delta(0.3).upper == account(spec, relation="replace-one").guarantee.curve.log_delta(0.3).upper
    )


def test_zero_out_of_gaussian_sums_has_a_smaller_bound_of_its_own() -> None:
    spec = Subsampled(
        sampling="without-replacement", batch_size=2, population=10, mechanism=Gaussian(noise_multiplier=1.0)
    )
    zeroed = account(spec, relation="zero-out-one").guarantee
    assert "epsilond.zeroed-in-a-batch" in zeroed.theorems()
    known = zeroed.curve.log_delta(0.3)
    assert known.upper < account(spec, relation="replace-one").guarantee.curve.log_delta(0.3).upper
    assert known.upper - 1e-2 < known.lower <= known.upper


def test_a_full_batch_changes_nothing() -> None:
    base = Repeated(times=3, mechanism=Gaussian(noise_multiplier=2.0))
    for spec in (
        Subsampled(sampling="full", mechanism=base),
        Subsampled(sampling="poisson", rate=1.0, mechanism=base),
        Subsampled(sampling="without-replacement", batch_size=7, population=7, mechanism=base),
    ):
        full = account(spec, relation="replace-one").guarantee.curve.log_delta(1.0)
        assert full == account(base, relation="replace-one").guarantee.curve.log_delta(1.0)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"sampling": "poisson"}, "/rate"),
        ({"sampling": "poisson", "rate": 0.1, "batch_size": 1, "population": 10}, "/rate"),
        ({"sampling": "without-replacement", "batch_size": 11, "population": 10}, "/batch_size"),
        ({"sampling": "with-replacement", "rate": 0.1}, "/rate"),
        ({"sampling": "poisson", "rate": 1.5}, "/rate"),
    ],
)
def test_batches_that_no_run_can_have(fields: dict[str, object], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Subsampled(mechanism=Gaussian(noise_multiplier=1.0), **fields)  # type: ignore[arg-type]
    assert caught.value.faults[0].pointer == pointer

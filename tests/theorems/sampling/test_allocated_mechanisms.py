"""Random allocation of any mechanism: against enumerated outputs, integrals, the Gaussian pair, and adaptive runs."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.allocation.attained_ratios import ratio_below
from epsilond.accountants.profiles.allocation.batch_pairs import (
    AllocatedBatches,
    attained_one_of_several,
    group_pair,
    one_of_several_pair,
)
from epsilond.accountants.profiles.allocation.pairs import allocation_pairs
from epsilond.accountants.profiles.allocation.profile_ratios import ratio_above
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianMixture,
    Laplace,
    PoissonBinomial,
    RandomAllocation,
    RandomizedResponse,
    Repeated,
    Skellam,
    Subsampled,
    Zcdp,
)
from epsilond.reading import read
from tests.oracles.allocated_atoms import allocated, discrete_laplace, divergences, epochs_of
from tests.oracles.allocation import adaptive_run, divergence, mixture
from tests.oracles.hostile_kinds import _normal

ANY = pytest.mark.compares("epsilond.allocation-of-any-mechanism")
PUBLIC = pytest.mark.compares("epsilond.allocation-to-public-batches")
REPLACED = pytest.mark.compares("epsilond.allocation-replace-one")
SEVERAL = pytest.mark.compares("epsilond.allocation-k-of-t")
EPSILONS = (0.0, 0.1, 0.5, 1.0)


def spec_of(mechanism: Any, steps: int, *, chosen: int = 1, kept: bool = False, epochs: int = 1) -> RandomAllocation:
    return RandomAllocation(steps=steps, times_chosen=chosen, kept=kept, epochs=epochs, mechanism=mechanism)


@functools.cache
def guarantee(spec: Any, relation: Any = "add-or-remove-one", **setting: Any) -> Guarantee:
    setting.setdefault("observer", "released-models")
    return account(spec, relation=relation, **setting).guarantee


def bounds(curve: Curve, epsilon: float) -> tuple[float, float]:
    ends = curve.log_delta(epsilon)
    return math.exp(ends.lower), math.exp(ends.upper)


@ANY
@pytest.mark.parametrize(("steps", "epochs"), [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize(("decay_rate", "shift"), [(0.5, 3), (2.0, 1), (0.1, 2)])
def test_discrete_laplace_by_enumeration(decay_rate: float, shift: int, steps: int, epochs: int) -> None:
    batch = epochs_of(discrete_laplace(decay_rate, shift), epochs)
    outputs = list(allocated(batch, steps))
    mechanism = DiscreteLaplace(decay_rate=decay_rate, sensitivity=shift)
    curve = guarantee(spec_of(mechanism, steps, kept=True, epochs=epochs)).curve
    for epsilon in EPSILONS:
        lower, upper = bounds(curve, epsilon)
        truth = max(divergences(outputs, epsilon))
        assert lower <= truth * (1 + 1e-9) + 1e-13
        assert truth <= upper * (1 + 1e-9) + 1e-13
        assert upper - lower <= 1e-5 * truth + 1e-12


@ANY
@SEVERAL
@pytest.mark.parametrize(("steps", "chosen"), [(3, 2), (4, 2), (5, 2), (5, 3), (4, 4)])
def test_several_batches_by_enumeration(steps: int, chosen: int) -> None:
    """All k-subsets are listed. Blocks of unequal size use every batch, so that 2 of 3 are below two public ones."""
    outputs = list(allocated(discrete_laplace(0.5, 2), steps, chosen))
    mechanism = DiscreteLaplace(decay_rate=0.5, sensitivity=2)
    curve = guarantee(spec_of(mechanism, steps, chosen=chosen)).curve
    public = guarantee(Repeated(times=chosen, mechanism=mechanism)).curve
    for epsilon in EPSILONS:
        lower, upper = bounds(curve, epsilon)
        truth = max(divergences(outputs, epsilon))
        assert lower <= truth * (1 + 1e-9)
        assert truth <= upper * (1 + 1e-9)
        assert lower >= 0.5 * truth
        if chosen < steps:
            assert upper < bounds(public, epsilon)[1]


@ANY
@pytest.mark.parametrize("steps", [2, 3, 5])
def test_a_declared_guarantee_by_enumeration(steps: int) -> None:
    """The pair of (ε, δ) has four outcomes, two of which only one distribution has."""
    epsilon, delta = 1.0, 0.01
    high, low = (1.0 - delta) / (1.0 + math.exp(-epsilon)), (1.0 - delta) / (1.0 + math.exp(epsilon))
    outputs = list(allocated([(high, low), (low, high), (delta, 0.0), (0.0, delta)], steps))
    curve = guarantee(spec_of(Approximate(epsilon=epsilon, delta=delta), steps)).curve
    for at in EPSILONS:
        upper = bounds(curve, at)[1]
        assert max(divergences(outputs, at)) == pytest.approx(upper, rel=1e-9)


def of_two_laplace_batches(shift: float, epsilon: float) -> list[float]:
    """Both divergences of one of two batches with Laplace noise, by an integral over both ratios in fifteen digits."""
    with mp.workdps(15):
        s, gamma = mp.mpf(shift), mp.exp(mp.mpf(epsilon))

        def expectation(payoff: Any, corners: list[Any]) -> Any:
            """The mean of a function of the ratio, which has atoms at both ends; the function has these corners."""
            kinks = sorted({mp.mpf(0), s, *((mp.log(ratio) + s) / 2 for ratio in corners if -s < mp.log(ratio) < s)})
            middle = mp.quad(lambda y: mp.exp(-y) / 2 * payoff(mp.exp(2 * y - s)), kinks)
            return payoff(mp.exp(-s)) / 2 + middle + mp.exp(-s) / 2 * payoff(mp.exp(s))

        def mean(sign: int, strike: Any) -> Any:
            """E max{±(X₁ + X₂ − strike), 0}."""

            def inner(first: Any) -> Any:
                rest = strike - first
                return expectation(lambda second: max(sign * (second - rest), 0), [rest] if rest > 0 else [])

            return expectation(inner, [ratio for ratio in (strike - mp.exp(s), strike - mp.exp(-s)) if ratio > 0])

        return [float(mean(1, 2 * gamma) / 2), float(gamma * mean(-1, 2 / gamma) / 2)]


@ANY
@pytest.mark.parametrize("shift", [0.2, 1.0, 4.0])
def test_laplace_in_one_of_two_batches_by_an_integral(shift: float) -> None:
    pair = laplace_pair(shift)
    upper = one_of_several_pair(pair, AllocatedBatches(2), 1000, "default")
    lower = attained_one_of_several(pair, AllocatedBatches(2), 1000)
    assert lower is not None
    for epsilon in (0.0, 0.1, 0.6):
        for name, truth in zip(("forward", "backward"), of_two_laplace_batches(shift, epsilon), strict=True):
            least = math.exp(getattr(lower, name).log_delta_bounds(epsilon).lower)
            most = math.exp(getattr(upper, name).log_delta_bounds(epsilon).upper)
            assert least <= truth * (1 + 1e-9) + 1e-15
            assert truth <= most * (1 + 1e-9) + 1e-15
            assert most - least <= 1e-3 * truth + 1e-9


@ANY
@pytest.mark.parametrize(("shift", "steps"), [(0.1, 30), (1.0, 2), (1.0, 100), (3.0, 20)])
def test_the_gaussian_profiles_give_the_gaussian_pair(shift: float, steps: int) -> None:
    pair, known = gaussian_pair(shift), allocation_pairs(shift, steps, 1000)
    upper = one_of_several_pair(pair, AllocatedBatches(steps), 1000, "default")
    lower = attained_one_of_several(pair, AllocatedBatches(steps), 1000)
    assert lower is not None
    for name, epsilon in itertools.product(("forward", "backward"), (0.0, 0.1 * shift, 0.5 * shift)):
        most, known_most = (
            math.exp(getattr(each, name).log_delta_bounds(epsilon).upper) for each in (upper, known.upper)
        )
        least, known_least = (
            math.exp(getattr(each, name).log_delta_bounds(epsilon).lower) for each in (lower, known.attained)
        )
        assert least <= known_most
        assert known_least <= most
        assert most == pytest.approx(known_most, rel=1e-2)
        assert least == pytest.approx(known_least, rel=1e-2)


@ANY
@pytest.mark.parametrize("pair", [laplace_pair(1e-9), laplace_pair(50.0), gaussian_pair(1e-4), gaussian_pair(30.0)])
def test_finite_ratios_of_a_pair_are_ordered(pair: Any) -> None:
    above, below = ratio_above(pair, 200), ratio_below(pair, 200)
    assert below is not None
    for ratio in (above, below):
        assert ratio.weights.sum() == pytest.approx(1.0, rel=1e-9)
        infinite = math.exp(ratio.log_infinite)
        assert ratio.weights @ ratio.places + infinite == pytest.approx(1.0, rel=1e-9)
    for strike in (0.3, 0.99, 1.0, 1.01, 2.0, 50.0):
        calls = [
            ratio.weights @ np.maximum(ratio.places - strike, 0.0) + math.exp(ratio.log_infinite)
            for ratio in (above, below)
        ]
        puts = [ratio.weights @ np.maximum(strike - ratio.places, 0.0) for ratio in (above, below)]
        assert calls[0] >= calls[1] - 1e-15
        assert puts[0] >= puts[1] - 1e-15


MECHANISMS = (
    Laplace(scale_multiplier=0.01),
    Laplace(scale_multiplier=1e6),
    DiscreteGaussian(scale=2.0, l2_sensitivity=1.0, dimension=1),
    Skellam(variance=4.0, l1_sensitivity=1.0, l2_sensitivity=1.0, dimension=1),
    GaussianMixture(sensitivities=(0.5, 1.0), probabilities=(0.5, 0.5), noise_multiplier=1.0),
    Exponential(epsilon=1.0, monotonic=False),
    RandomizedResponse(epsilon=1.0, categories=3),
    Zcdp(rho=0.1),
    Approximate(epsilon=1e4, delta=0.0),
    Approximate(epsilon=300.0, delta=1e-9),
)


@ANY
@PUBLIC
@REPLACED
@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one", "replace-one"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_bounds_are_ordered_and_below_public_batches(mechanism: Any, relation: Any) -> None:
    if isinstance(mechanism, RandomizedResponse) and relation == "add-or-remove-one":
        pytest.skip("an absent unit sends no report")
    for fields in ({}, {"kept": True, "epochs": 2}, {"chosen": 2}):
        curve = guarantee(spec_of(mechanism, 7, **fields), relation).curve  # type: ignore[arg-type]
        runs = fields.get("chosen", 1) * fields.get("epochs", 1)
        public = guarantee(Repeated(times=runs, mechanism=mechanism), relation).curve
        for epsilon in EPSILONS:
            ends = curve.log_delta(epsilon)
            assert ends.lower <= ends.upper <= 0.0
            assert ends.upper <= max(public.log_delta(epsilon).upper + 1e-3, -30.0)


@PUBLIC
def test_reports_by_name_show_the_batch() -> None:
    curve = guarantee(spec_of(RandomizedResponse(epsilon=1.0, categories=3), 9, epochs=2), "replace-one").curve
    lower, upper = bounds(curve, 0.5)
    assert upper == pytest.approx(lower, rel=1e-9)
    repeated = guarantee(Repeated(times=2, mechanism=RandomizedResponse(epsilon=1.0, categories=3)), "replace-one")
    assert upper == pytest.approx(bounds(repeated.curve, 0.5)[1], rel=1e-9)


def test_a_mechanism_of_a_fixed_number_of_clients_is_refused() -> None:
    mechanism = PoissonBinomial(trials=4, theta=0.1, dimension=1, clients=10)
    with pytest.raises(ConditionViolated, match="fixed number of clients"):
        guarantee(spec_of(mechanism, 5), "replace-one")


@REPLACED
@pytest.mark.parametrize(("noise", "epsilon"), list(itertools.product((0.7, 1.0, 3.0), (0.0, 0.3, 1.0))))
def test_opposite_contributions_in_one_of_two_batches_by_an_integral(noise: float, epsilon: float) -> None:
    """By Kahane's inequality this pair is the largest, so the truth is the integral."""
    c, gamma = 1.0 / noise, math.exp(epsilon)
    nodes, weights = np.polynomial.legendre.leggauss(1200)
    z, mass = 10.0 * nodes, 10.0 * weights * np.exp(-50.0 * nodes**2) / math.sqrt(2 * math.pi)
    first = np.exp(c * z - c * c / 2) - gamma * np.exp(-c * z - c * c / 2)
    truth = 0.5 * float(mass @ np.maximum(np.add.outer(first, first), 0.0) @ mass)
    lower, upper = bounds(guarantee(spec_of(Gaussian(noise_multiplier=noise), 2), "replace-one").curve, epsilon)
    assert 0.9 * truth <= lower <= truth * (1 + 1e-4)
    assert truth * (1 - 1e-4) <= upper <= 2.5 * truth


@REPLACED
def test_no_adaptive_run_exceeds_the_bound_of_a_replaced_unit() -> None:
    """The unit contributes 1 or −1 by the last output, its replacement the opposite; the others follow the first."""

    def with_unit(batch: int, sign: int) -> Any:
        def total(step: int, outputs: tuple[int, ...]) -> Fraction | None:
            if step == 2:
                return None
            of_others = Fraction(1 if outputs and outputs[0] > 12 else 0)
            own = sign * (-1 if outputs and outputs[-1] > 9 else 1)
            return of_others + (own if step == batch else 0)

        return adaptive_run(total, lambda centre: _normal(centre, Fraction(1)))

    first, second = (mixture([with_unit(batch, sign) for batch in (0, 1)]) for sign in (1, -1))
    curve = guarantee(spec_of(Gaussian(noise_multiplier=1.0), 2), "replace-one").curve
    for gamma in map(Fraction, ("1", "9/8", "3/2", "4")):
        upper = bounds(curve, math.log(gamma))[1]
        for one, other in ((first, second), (second, first)):
            assert float(divergence(one, other, gamma)) <= upper * (1 + 1e-9) + 1e-13


@REPLACED
@pytest.mark.parametrize("shift", [0.3, 1.0, 3.0])
def test_two_gaussian_steps_are_above_one_of_twice_the_shift(shift: float) -> None:
    group, exact = group_pair(gaussian_pair(shift), 1000), gaussian_pair(2.0 * shift)
    for log_delta in (-2.0, -14.0, -40.0):
        epsilon = exact.epsilon(log_delta).lower
        assert epsilon <= group.epsilon(log_delta).upper <= 1.35 * epsilon + 1e-3


@REPLACED
@pytest.mark.parametrize(
    ("spec", "lower", "upper", "public"),
    [
        (spec_of(Gaussian(noise_multiplier=1.0), 50, epochs=2), 1.939, 2.766, 16.9),
        (spec_of(Gaussian(noise_multiplier=1.0), 1000, epochs=10), 0.908, 1.124, 49.3),
        (spec_of(Gaussian(noise_multiplier=3.0), 100, chosen=5), 1.448, 1.497, 7.75),
        (spec_of(Laplace(scale_multiplier=1.0), 50, epochs=2), 1.355, 1.635, 4.00),
    ],
)
def test_golden_figures_of_a_replaced_unit(spec: Any, lower: float, upper: float, public: float) -> None:
    """The table of docs/random-allocation.md."""
    ends = guarantee(spec, "replace-one").curve.epsilon(math.log(1e-6))
    runs = Repeated(times=spec.times_chosen * spec.epochs, mechanism=spec.mechanism)
    assert ends.lower == pytest.approx(lower, abs=1e-3)
    assert ends.upper == pytest.approx(upper, abs=1e-3)
    assert guarantee(runs, "replace-one").curve.epsilon(math.log(1e-6)).upper == pytest.approx(public, rel=3e-3)


@pytest.mark.parametrize("shift", [1e-3, 0.3, 1.0, 3.0])
def test_the_group_bound_is_enclosed_by_the_pair_of_both_shifts(shift: float) -> None:
    """The composed trade-off functions of two shifts are those of their sum, also where no split is within [0, ε]."""
    group, both = group_pair(gaussian_pair(shift), 1000), gaussian_pair(2.0 * shift)
    for epsilon in (0.0, 0.05, 0.7, 2.0):
        ends, exact = group.log_delta_bounds(epsilon), both.log_delta_bounds(epsilon)
        assert ends.lower <= exact.upper
        assert exact.lower <= ends.upper
        if exact.lower > -100.0:
            assert ends.lower >= exact.lower - 3e-4 * (1.0 - exact.lower)


@pytest.mark.parametrize(
    "mechanism",
    [Gaussian(noise_multiplier=1.0), pytest.param(Laplace(scale_multiplier=2.0), marks=pytest.mark.slow)],
)
def test_every_effort_of_a_replaced_unit_encloses_one_number(mechanism: Any) -> None:
    spec = spec_of(mechanism, 20, epochs=3)
    curves = [guarantee(spec, "replace-one", effort=effort).curve for effort in ("coarse", "default", "fine")]
    for epsilon in EPSILONS:
        ends = [curve.bound_log_delta(epsilon) for curve in curves]
        assert max(lower for lower, _ in ends) <= min(upper for _, upper in ends)
        assert max(upper - lower for lower, upper in ends) < 0.5
        for curve in curves:
            assert curve.log_delta(epsilon).lower <= curve.log_delta(epsilon).upper


def test_every_effort_of_many_kept_epochs_encloses_one_number() -> None:
    spec = spec_of(DiscreteGaussian(scale=50.0, l2_sensitivity=1.0, dimension=1), 10, kept=True, epochs=1500)
    ends = [guarantee(spec, effort=effort).curve.bound_log_delta(0.3) for effort in ("coarse", "default", "fine")]
    assert max(lower for lower, _ in ends) <= min(upper for _, upper in ends)


@REPLACED
def test_a_replaced_unit_composes() -> None:
    spec = spec_of(Laplace(scale_multiplier=2.0), 20)
    twice = guarantee(Composed(mechanisms=(spec, spec)), "replace-one").curve.epsilon(math.log(1e-5))
    once = guarantee(spec, "replace-one").curve.epsilon(math.log(1e-5))
    assert once.upper < twice.upper <= 2.0 * once.upper + 1e-6
    assert twice.lower <= twice.upper


@SEVERAL
def test_small_noise_is_enclosed_by_the_logarithmic_statistic() -> None:
    ends = guarantee(spec_of(Gaussian(noise_multiplier=0.5), 100, chosen=10)).curve.epsilon(math.log(1e-6))
    assert 24.2 < ends.lower < ends.upper < 28.7


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
@pytest.mark.parametrize(("batch_size", "population"), [(2, 4), (2, 5)])
def test_shuffled_epochs_of_other_noise_have_a_witness(relation: Any, batch_size: int, population: int) -> None:
    """All other units equal the second value, so that the batch of the unit has the pair of the mechanism."""
    mechanism = DiscreteLaplace(decay_rate=0.5, sensitivity=3)
    spec = Subsampled(
        sampling="shuffled-epochs", batch_size=batch_size, population=population, epochs=1, mechanism=mechanism
    )
    curve = guarantee(spec, relation).curve
    batch, steps = discrete_laplace(0.5, 3), -(-population // batch_size)
    shares = [min(batch_size, population - batch_size * step) / population for step in range(steps)]
    outputs = []
    for run in itertools.product(batch, repeat=steps):
        absent = math.prod(masses[1] for masses in run)
        present = math.fsum(share * absent * masses[0] / masses[1] for share, masses in zip(shares, run, strict=True))
        outputs.append((present, absent))
    for epsilon in EPSILONS:
        lower, upper = bounds(curve, epsilon)
        assert lower == pytest.approx(max(divergences(outputs, epsilon)), rel=1e-4)
        assert lower <= upper


def test_a_fault_of_the_inner_mechanism_is_named_alone() -> None:
    body = {"kind": "random_allocation", "steps": 10, "times_chosen": 1, "kept": False, "epochs": 1}
    with pytest.raises(InvalidInput) as caught:
        read(RandomAllocation, body | {"mechanism": {"kind": "gaussian"}})
    assert [fault.pointer for fault in caught.value.faults] == ["/mechanism/noise_multiplier"]

"""Rare steps of which one is large: against exact fractions, integration, and the contour engine."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.products.one_large_step import OneLargeStep, RepeatedStep, step_pair
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, GaussianMixture, Repeated, Subsampled
from epsilond.accountants.theorems.composition.one_large_step import ONE_LARGE_STEP, RareStepsInputs
from tests.oracles.enclosure import log_of
from tests.oracles.finite import Law, hockey_stick, joint

RARE: tuple[Law, Law] = (
    {"large": Fraction(1, 1000), "small": Fraction(49, 1000), "none": Fraction(95, 100)},
    {"large": Fraction(1, 10000), "small": Fraction(48, 1000), "none": Fraction(9519, 10000)},
)
SKEWED: tuple[Law, Law] = (
    {"large": Fraction(1, 500), "middle": Fraction(1, 100), "none": Fraction(494, 500)},
    {"large": Fraction(1, 50000), "middle": Fraction(1, 200), "none": Fraction(49749, 50000)},
)


def atoms(p: Law, q: Law) -> AtomicProfile:
    found = sorted((math.log(p[x] / q[x]), log_of(p[x])) for x in p if p[x] > q[x])
    return AtomicProfile(tuple(loss for loss, _ in found), tuple(mass for _, mass in found))


@pytest.mark.parametrize("laws", [RARE, SKEWED])
@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0, 2.0, 2.29])
def test_it_encloses_a_few_steps_in_exact_fractions(laws: tuple[Law, Law], times: int, epsilon: float) -> None:
    assert all(sum(law.values()) == 1 for law in laws)
    p, q = laws
    bounds = OneLargeStep((RepeatedStep(Pair(atoms(p, q), atoms(q, p)), times),)).log_delta(epsilon)
    truth = log_of(hockey_stick(joint([p] * times), joint([q] * times), Fraction(math.exp(epsilon))))
    assert bounds.lower - 1e-12 <= truth <= bounds.upper + 1e-12
    if times == 5 and epsilon == 2.0:
        assert bounds.upper - bounds.lower < 4.0


def test_unlike_steps_in_exact_fractions() -> None:
    steps = tuple(RepeatedStep(Pair(atoms(p, q), atoms(q, p)), 2) for p, q in (RARE, SKEWED))
    p, q = (joint([RARE[side], RARE[side], SKEWED[side], SKEWED[side]]) for side in (0, 1))
    for epsilon in (0.5, 2.0, 4.0):
        bounds = OneLargeStep(steps).log_delta(epsilon)
        truth = log_of(hockey_stick(p, q, Fraction(math.exp(epsilon))))
        assert bounds.lower - 1e-12 <= truth <= bounds.upper + 1e-12


@pytest.mark.parametrize("law", [RARE, SKEWED])
def test_moments_of_negative_losses_are_bounds(law: tuple[Law, Law]) -> None:
    p, q = law
    square, drift = RepeatedStep(Pair(atoms(p, q), atoms(q, p)), 1).negative_moments
    losses = [(math.log(p[x] / q[x]), float(p[x])) for x in p if p[x] < q[x]]
    assert square >= sum(mass * loss**2 for loss, mass in losses) > 0.4 * square
    assert drift >= sum(mass * (loss - 1 + math.exp(-loss)) for loss, mass in losses) > 0.4 * drift


@pytest.mark.parametrize(("rate", "shift", "epsilon"), [(1e-3, 1.0, 0.5), (1e-5, 1.3, 0.01), (1e-2, 0.7, 1.0)])
def test_two_sampled_gaussians_by_integration(rate: float, shift: float, epsilon: float) -> None:
    """δ = ∫ p(x) E_{γ e^{−L(x)}} dx, the inner divergence of one step in closed form."""
    with mp.workdps(40):
        q, s = mp.mpf(rate), mp.mpf(shift)

        def loss(x: mp.mpf) -> mp.mpf:
            return mp.log1p(q * mp.expm1(s * x - s * s / 2))

        def once(level: mp.mpf) -> mp.mpf:
            """E_P[(1 − e^{level − L})₊]: the event is a half-line, or everything below the least loss."""
            if level <= mp.log1p(-q):
                return 1 - mp.exp(level)
            end = mp.log1p(mp.expm1(level) / q) / s + s / 2
            first = (1 - q) * mp.ncdf(-end) + q * mp.ncdf(s - end)
            return first - mp.exp(level) * mp.ncdf(-end)

        def integrand(x: mp.mpf) -> mp.mpf:
            return ((1 - q) * mp.npdf(x) + q * mp.npdf(x, s)) * once(mp.mpf(epsilon) - loss(x))

        where = mp.log1p((mp.expm1(mp.mpf(epsilon))) / q) / s + s / 2
        truth = mp.quad(integrand, sorted([*range(-12, 30, 1), where, where + mp.mpf("0.3"), where - mp.mpf("0.3")]))
    bounds = OneLargeStep.of([(SampledGaussianLaw(rate, shift, "remove"), 2)]).log_delta(epsilon)
    assert bounds.lower <= float(mp.log(truth)) <= bounds.upper


@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    ("rate", "shift", "times", "epsilon"),
    [
        (1e-2, 1.0, 100, 2.5),
        (1e-3, 0.8, 3000, 0.3),
        (0.05, 0.5, 50, 1.0),
    ],
)
def test_it_encloses_what_the_contour_engine_finds(
    rate: float, shift: float, times: int, epsilon: float, direction: Direction
) -> None:
    laws = [(SampledGaussianLaw(rate, shift, direction), times)]
    exact = contour.log_delta(laws, epsilon)
    bounds = OneLargeStep.of(laws).log_delta(epsilon)
    assert bounds.lower <= exact.upper
    assert exact.lower <= bounds.upper


def test_one_step_is_that_step() -> None:
    law = SampledGaussianLaw(1e-6, 1.0, "remove")
    ends = step_pair(law).forward.log_delta(np.asarray([0.5]))
    assert OneLargeStep.of([(law, 1)]).log_delta(0.5) == (ends.lower[0], ends.upper[0])


@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one", "replace-one"])
def test_rare_steps_at_a_tiny_delta_are_known_to_a_thousandth(relation: str) -> None:
    batch = Subsampled(sampling="poisson", rate=2.2e-8, mechanism=Gaussian(noise_multiplier=1.229))
    curve = account(Repeated(times=11978, mechanism=batch), relation=relation).guarantee.curve  # type: ignore[arg-type]
    found = curve.epsilon(-150.48)
    assert 0.0195 < found.lower <= found.upper < 0.0205
    assert found.upper <= found.lower * 1.002
    assert curve.log_delta(found.upper).upper <= -150.48 < curve.log_delta(found.lower).lower
    one = account(batch, relation=relation).guarantee.curve.epsilon(-150.48)  # type: ignore[arg-type]
    assert one.upper < found.lower


def test_ends_fall_with_epsilon_and_rise_with_the_number_of_steps() -> None:
    law = SampledGaussianLaw(1e-7, 1.0, "remove")
    places = [0.01 * 2.0**k for k in range(9)]
    tables = [[OneLargeStep.of([(law, times)]).log_delta(place) for place in places] for times in (10, 1000, 100_000)]
    for table in tables:
        for left, right in itertools.pairwise(table):
            assert right.lower <= left.upper
        assert all(ends.lower <= ends.upper <= 0.0 for ends in table)
    for fewer, more in itertools.pairwise(tables):
        assert all(few.lower <= many.upper for few, many in zip(fewer, more, strict=True))


def test_the_formula_has_both_ends() -> None:
    inputs = RareStepsInputs(rate=1e-7, noise_multiplier=1.0, rounds=1000, relation="add-or-remove-one", epsilon=0.07)
    outputs = ONE_LARGE_STEP.evaluate(inputs).outputs
    assert outputs["log10_lower_delta"] < outputs["log10_delta"] < outputs["log10_lower_delta"] + 0.2


@pytest.mark.parametrize("times", [2, 5, 100])
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_steps_that_reveal_nothing_compose_to_nothing(times: int, relation: Relation) -> None:
    """The step has no loss at all, so that no large step exists."""
    step = GaussianMixture(sensitivities=(0.0,), probabilities=(1.0,), noise_multiplier=1.0)
    curve = account(Repeated(times=times, mechanism=step), relation=relation, observer="server").guarantee.curve
    assert curve.epsilon(math.log(1e-300)) == (0.0, 0.0)
    assert curve.log_delta(0.0).upper == -math.inf

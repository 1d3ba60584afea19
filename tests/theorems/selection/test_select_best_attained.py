"""Lower bounds of the best of a random number of runs, against its distributions by enumeration and by quadrature."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Interval, Tails
from epsilond.accountants.curve.near_tests import BestTest, BestTests
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.selection.best_of_runs import RunsDistribution
from epsilond.accountants.profiles.selection.best_of_runs_attained import attained_selection_pairs
from epsilond.accountants.specs import (
    Approximate,
    Gaussian,
    GeometricRepetitions,
    Laplace,
    NegativeBinomialRepetitions,
    PoissonRepetitions,
    RandomizedResponse,
    Repeated,
    SelectBest,
    Subsampled,
)
from epsilond.accountants.theorems.selection.select_best import runs_distribution

REPETITIONS = [
    PoissonRepetitions(mean=0.1),
    PoissonRepetitions(mean=3.0),
    GeometricRepetitions(mean=1.5),
    GeometricRepetitions(mean=20.0),
    NegativeBinomialRepetitions(mean=5.0, shape=-0.5),
    NegativeBinomialRepetitions(mean=5.0, shape=0.0),
    NegativeBinomialRepetitions(mean=5.0, shape=4.0),
]


def count_probabilities(repetitions: Any, most: int = 4000) -> list[Any]:
    """Return the probabilities of 0, 1, … runs from the recursion of their distribution.

    Args:
        repetitions: distribution of the number of runs.
        most: largest number of runs.
    """
    runs = runs_distribution(repetitions)
    if math.isinf(runs.shape):
        mean = mp.mpf(runs.mean)
        terms = [mp.exp(-mean)]
        for number in range(1, 200):
            terms.append(terms[-1] * mean / number)
        return terms
    odds = (mp.mpf(runs.odds[0]) + mp.mpf(runs.odds[1])) / 2
    failure, shape = odds / (1 + odds), mp.mpf(runs.shape)
    # P(K = k) is proportional to (1 − γ)^k Γ(k + η)/(Γ(η) k!), and to (1 − γ)^k/k for η = 0.
    terms = [mp.mpf(0), failure]
    for number in range(2, most):
        terms.append(terms[-1] * failure * (number - 1 + shape) / number)
    total = mp.fsum(terms)
    return [term / total for term in terms]


def generate(probabilities: list[Any], x: Any) -> Any:
    """Return the generating function E[x^K] by Horner's rule."""
    value = mp.mpf(0)
    for probability in reversed(probabilities):
        value = value * x + probability
    return value


@pytest.mark.parametrize("repetitions", REPETITIONS, ids=repr)
def test_probabilities_of_sets_are_those_of_the_generating_function(repetitions: Any) -> None:
    runs = runs_distribution(repetitions)
    with mp.workdps(60):
        probabilities = count_probabilities(repetitions)
    for inside in (1e-30, 1e-6, 0.2, 0.5, 0.9, 1.0 - 1e-9, 1.0):
        outside = 1.0 - inside
        with mp.workdps(60):
            p = mp.mpf(inside)
            some = 1 - generate(probabilities, 1 - p)
            every = generate(probabilities, p) - generate(probabilities, mp.mpf(0))
        for bounds, truth in ((runs.some_in, some), (runs.all_in, every)):
            lower, upper = (
                float(bounds(np.asarray([inside]), np.asarray([outside]), up=up)[0]) for up in (False, True)
            )
            assert lower * (1 - runs.rounding) <= truth <= upper * (1 + runs.rounding)
            assert upper - lower <= 1e-7 * upper


@pytest.mark.parametrize("repetitions", REPETITIONS, ids=repr)
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0])
def test_randomized_response_attains_what_enumeration_gives(repetitions: Any, epsilon: float) -> None:
    """The better answer is released if any run gave it, and the other one if all runs gave it."""
    spec = SelectBest(mechanism=RandomizedResponse(epsilon=epsilon, categories=2), repetitions=repetitions)
    setting = {"relation": "replace-one", "unit": "record", "observer": "shuffled-server"}
    curve = account(spec, **setting).guarantee.curve
    probabilities = count_probabilities(repetitions)
    with mp.workdps(40):
        keep = mp.exp(epsilon) / (1 + mp.exp(epsilon))
        alpha = mp.exp(mp.mpf(epsilon) / 2)
        none = generate(probabilities, mp.mpf(0))
        outputs = [
            (1 - generate(probabilities, 1 - share), generate(probabilities, 1 - share) - none)
            for share in (keep, 1 - keep)
        ]
        # If both answers are equally good, the released one is distributed like any of them.
        truth = (1 - none) * (keep - alpha * (1 - keep))
        for first, second in (outputs, outputs[::-1]):
            truth = max(truth, mp.fsum(max(p - alpha * q, 0) for p, q in zip(first, second, strict=True)))
    lower, upper = (math.exp(bound) for bound in curve.log_delta(epsilon / 2))
    assert float(truth) * (1 - 1e-4) - 1e-9 <= lower <= float(truth) * (1 + 1e-9)
    assert float(truth) <= upper * (1 + 1e-9)


@pytest.mark.parametrize("mean", [2.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_gaussian_runs_attain_the_integral_of_their_best_output(mean: float, epsilon: float) -> None:
    """The density of the best of a geometric number of runs is f′(Φ(x − a)) φ(x − a)."""
    runs = runs_distribution(GeometricRepetitions(mean=mean))
    base = gaussian_pair(1.0)
    grid = np.linspace(0.0, 8.0, 400)
    pairs = attained_selection_pairs(base, runs, grid)

    def density(x: float, shift: float, sign: int) -> float:
        above = 0.5 * math.erfc(sign * (x - shift) / math.sqrt(2.0))
        # f(z) = γ z/(1 − (1 − γ) z) with γ = 1/mean
        return math.exp(-0.5 * (x - shift) ** 2) / math.sqrt(2.0 * math.pi) * mean / (1.0 + (mean - 1.0) * above) ** 2

    alpha = math.exp(epsilon)
    for pair, sign in zip(pairs, (1, -1), strict=True):
        for profile, (first, second) in ((pair.forward, (1.0, 0.0)), (pair.backward, (0.0, 1.0))):

            def excess(x: float, a: float = first, b: float = second, s: int = sign) -> float:
                return max(density(x, a, s) - alpha * density(x, b, s), 0.0)

            truth = math.fsum(
                quad(excess, start, start + 0.25, epsabs=1e-14)[0] for start in np.arange(-12, 12.25, 0.25)
            )
            lower = math.exp(profile.log_delta_bounds(epsilon).lower)
            assert 0.99 * truth - 1e-7 <= lower <= truth * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("mechanism", [Gaussian(noise_multiplier=2.0), Laplace(scale_multiplier=3.0)])
def test_one_run_always_is_the_run_itself(mechanism: Any) -> None:
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    spec = SelectBest(mechanism=mechanism, repetitions=GeometricRepetitions(mean=1.0))
    selected, plain = (account(each, **setting).guarantee.curve for each in (spec, mechanism))
    for epsilon in (0.0, 0.3, 1.0):
        assert selected.log_delta(epsilon) == plain.log_delta(epsilon)


@pytest.mark.parametrize("repetitions", [*REPETITIONS, PoissonRepetitions(mean=2000.0)], ids=repr)
@pytest.mark.parametrize(
    "mechanism",
    [
        Gaussian(noise_multiplier=1e-3),
        Gaussian(noise_multiplier=0.03),
        Gaussian(noise_multiplier=1e3),
        Laplace(scale_multiplier=1e-3),
        Repeated(times=5, mechanism=Gaussian(noise_multiplier=3.0)),
        Approximate(epsilon=1.0, delta=1e-3),
    ],
    ids=repr,
)
def test_bounds_are_ordered_at_every_epsilon(mechanism: Any, repetitions: Any) -> None:
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    curve = account(SelectBest(mechanism=mechanism, repetitions=repetitions), **setting).guarantee.curve
    for epsilon in (0.0, 1e-3, 0.5, 3.0, 100.0, 1e3, 1e4, 1e6, 1e8):
        lower, upper = curve.log_delta(epsilon)
        assert lower <= upper <= 0.0


@pytest.mark.parametrize("repetitions", [GeometricRepetitions(mean=30.0), PoissonRepetitions(mean=30.0)], ids=repr)
def test_composed_runs_attain_nearly_what_their_equal_does(repetitions: Any) -> None:
    """Four Gaussian releases with σ = 2 are one with σ = 1, which has its tails in closed form."""
    runs = runs_distribution(repetitions)
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    step = Subsampled(sampling="poisson", rate=0.5, mechanism=Gaussian(noise_multiplier=2.0))
    composed = account(Repeated(times=4, mechanism=step), **setting).guarantee.curve
    (witness,) = composed.witnesses
    assert witness.forward.attained_log_tails(np.zeros(1)) is not None
    pairs = attained_selection_pairs(witness, runs, np.linspace(0.0, 8.0, 100))
    for pair in pairs:
        for profile, direction in zip(pair.directions(), witness.directions(), strict=True):
            for epsilon in (0.5, 1.0, 2.0):
                # The best of several runs differs by at most their expected number times the difference of one.
                lower = profile.log_delta_bounds(epsilon).lower
                assert lower <= direction.upper_log_delta(0.0) + math.log(runs.mean)
    plain = [pair.forward.log_delta_bounds(1.0).lower for pair in pairs]
    assert max(plain) > witness.forward.upper_log_delta(1.0)


def test_a_composition_without_known_tests_gives_no_pair() -> None:
    composed = account(
        Repeated(times=2, mechanism=Laplace(scale_multiplier=3.0)),
        relation="add-or-remove-one",
        unit="record",
        observer="released-models",
    ).guarantee.curve
    runs = RunsDistribution(mean=3.0, shape=math.inf)
    searched = [pair for pair in composed.witnesses if pair.forward.best_tests((0.1,)) is None]
    for witness in searched:
        if witness.forward.attained_log_tails(np.zeros(1)) is not None:
            assert attained_selection_pairs(witness, runs, np.linspace(0.0, 1.0, 5)) == ()


@pytest.mark.parametrize("mean", [3.0, 30.0])
def test_best_tests_give_the_bounds_that_tails_give(mean: float) -> None:
    """The trade-off function of Gaussian noise is known in closed form: Φ(Φ⁻¹(α) + μ)."""
    base, runs = gaussian_pair(1.0), runs_distribution(GeometricRepetitions(mean=mean))

    class Tests(type(base.forward)):  # type: ignore[misc]
        """The same profile, with the most powerful tests in place of tails."""

        def attained_log_tails(self, epsilon: Any) -> Any:
            """Return tails of a smaller pair."""
            return Tails(np.full(np.shape(epsilon), -np.inf), np.full(np.shape(epsilon), -np.inf))

        def best_tests(self, rates: Any) -> BestTests:
            """Return the tests in closed form."""
            tests = {}
            for rate in rates:
                power = float(mp.ncdf(normal_quantile(rate) + 1))
                tests[rate] = BestTest(Interval(power * (1 - 1e-12), min(power * (1 + 1e-12), 1.0)), 0.0)
            return BestTests(tests, Interval(-math.inf, 0.0))

    profile = Tests(**{field.name: getattr(base.forward, field.name) for field in fields(base.forward)})
    tested = attained_selection_pairs(Pair(profile, profile), runs, np.linspace(0.0, 8.0, 400))
    exact = attained_selection_pairs(base, runs, np.linspace(0.0, 8.0, 400))
    for first, second in zip(tested, exact, strict=True):
        for epsilon in (0.1, 1.0, 2.0):
            lower = math.exp(first.forward.log_delta_bounds(epsilon).lower)
            reference = math.exp(second.forward.log_delta_bounds(epsilon).lower)
            assert 0.96 * reference <= lower <= 1.01 * reference


def normal_quantile(rate: float) -> Any:
    """Return Φ⁻¹(α) with high precision."""
    return mp.sqrt(2) * mp.erfinv(2 * mp.mpf(rate) - 1)

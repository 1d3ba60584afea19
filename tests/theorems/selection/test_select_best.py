"""The best of a random number of runs: against distributions of the best run, enumerated or integrated."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    Gaussian,
    GeometricRepetitions,
    Laplace,
    NegativeBinomialRepetitions,
    PoissonRepetitions,
    RandomizedResponse,
    Repeated,
    SelectBest,
    Subsampled,
    Zcdp,
)
from epsilond.accountants.target import natural_log_delta
from epsilond.accountants.theorems.selection.select_best import (
    PURE_SELECTION,
    SELECTION,
    PureSelectionInputs,
    SelectionInputs,
)

GEOMETRIC, LOGARITHMIC = GeometricRepetitions(mean=10.0), NegativeBinomialRepetitions(mean=10.0, shape=0.0)
NUMBERS: tuple[Any, ...] = (
    GEOMETRIC,
    LOGARITHMIC,
    NegativeBinomialRepetitions(mean=5.0, shape=0.5),
    NegativeBinomialRepetitions(mean=20.0, shape=-0.5),
    NegativeBinomialRepetitions(mean=3.0, shape=4.0),
    PoissonRepetitions(mean=10.0),
    PoissonRepetitions(mean=0.5),
)


@cache
def gamma_of(mean: float, shape: float) -> Any:
    """γ of Definition 1 of Papernot and Steinke, solved in thirty digits."""

    def excess(gamma: Any) -> Any:
        if shape == 0.0:
            return (1 / gamma - 1) / mp.log(1 / gamma) - mean
        return shape * (1 - gamma) / (gamma * (1 - gamma**shape)) - mean

    return mp.findroot(excess, (mp.mpf("1e-9"), mp.mpf(1) - mp.mpf("1e-9")), solver="anderson", tol=1e-25, verify=False)


def probability(number: Any, runs: int) -> Any:
    """P(K = runs), from the definitions."""
    if isinstance(number, PoissonRepetitions):
        return mp.exp(-mp.mpf(number.mean)) * mp.mpf(number.mean) ** runs / mp.factorial(runs)
    if runs == 0:
        return mp.mpf(0)
    shape, gamma = mp.mpf(number.shape), gamma_of(number.mean, number.shape)
    if shape == 0:
        return (1 - gamma) ** runs / (runs * mp.log(1 / gamma))
    rising = mp.fprod((step + shape) / (step + 1) for step in range(runs))
    return (1 - gamma) ** runs / (gamma**-shape - 1) * rising


def generating(number: Any, x: Any) -> Any:
    """E[x^K], in closed form; `test_the_generating_function_is_the_series` compares it with the definition."""
    if isinstance(number, PoissonRepetitions):
        return mp.exp(number.mean * (x - 1))
    gamma, shape = gamma_of(number.mean, number.shape), mp.mpf(number.shape)
    if shape == 0:
        return mp.log(1 - (1 - gamma) * x) / mp.log(gamma)
    return ((1 - (1 - gamma) * x) ** -shape - 1) / (gamma**-shape - 1)


def best(number: Any, law: list[Any]) -> list[Any]:
    """The law of the best output of K runs, by its number, with "no run" as the last outcome."""
    reached = [generating(number, mp.fsum(law[:place])) for place in range(len(law) + 1)]
    return [high - low for low, high in itertools.pairwise(reached)] + [reached[0]]


def hockey_stick(p: list[Any], q: list[Any], epsilon: float) -> float:
    return float(
        mp.fsum(max(one - mp.exp(mp.mpf(epsilon)) * other, mp.mpf(0)) for one, other in zip(p, q, strict=True))
    )


def orders_of(p: list[Any], q: list[Any]) -> Any:
    """Every order of a few outcomes."""
    for order in itertools.permutations(range(len(p))):
        yield [p[index] for index in order], [q[index] for index in order]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_no_order_of_the_outputs_of_a_response_exceeds_the_bound(number: Any, epsilon: float) -> None:
    spec = SelectBest(mechanism=RandomizedResponse(epsilon=epsilon, categories=3), repetitions=number)
    curve = account(spec, relation="replace-one").guarantee.curve
    weight = mp.exp(mp.mpf(epsilon)) + 2
    p = [mp.exp(mp.mpf(epsilon)) / weight, 1 / weight, 1 / weight]
    q = [p[1], p[0], p[2]]
    nearest = 0.0
    for here, there in orders_of(p, q):
        released = best(number, here), best(number, there)
        for at in (0.0, 0.3 * epsilon, epsilon, 1.5 * epsilon, 2.0 * epsilon):
            truth = hockey_stick(*released, at)
            upper = math.exp(curve.log_delta(at).upper)
            assert truth <= upper * (1 + 1e-9) + 1e-13
            nearest = max(nearest, truth / upper if upper > 0.0 else 0.0)
    assert nearest > 0.05


@pytest.mark.parametrize("number", NUMBERS)
def test_the_lower_bound_is_a_run_of_a_mechanism_whose_outputs_are_equally_good(number: Any) -> None:
    spec = SelectBest(mechanism=RandomizedResponse(epsilon=1.0, categories=2), repetitions=number)
    guarantee = account(spec, relation="replace-one").guarantee
    assert guarantee.tight == "witnessed"
    some = 1 - float(probability(number, 0))
    attained = some * (math.exp(1.0) - math.exp(0.4)) / (math.exp(1.0) + 1.0)
    assert math.exp(guarantee.curve.log_delta(0.4).lower) >= attained * (1.0 - 1e-9)


def generating_slope(number: Any, x: Any) -> Any:
    """f′(x) of the generating function, by its series."""
    if isinstance(number, PoissonRepetitions):
        return number.mean * np.exp(number.mean * (x - 1.0))
    gamma = float(gamma_of(number.mean, number.shape))
    return number.mean * (gamma / (1.0 - (1.0 - gamma) * x)) ** (1.0 + number.shape)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_generating_function_is_the_series(number: Any) -> None:
    with mp.workdps(30):
        weights = [probability(number, runs) for runs in range(90)]
        for x in (0.0, 0.2, 0.4):
            series = mp.fsum(weight * mp.mpf(x) ** runs for runs, weight in enumerate(weights))
            assert float(generating(number, mp.mpf(x))) == pytest.approx(float(series), rel=1e-12, abs=1e-20)
            slope = mp.fsum(runs * weight * mp.mpf(x) ** (runs - 1) for runs, weight in enumerate(weights) if runs)
            assert generating_slope(number, x) == pytest.approx(float(slope), rel=1e-9)


@pytest.mark.compares("papernot-steinke-2022.lemma-7")
@pytest.mark.parametrize("number", [number for number in NUMBERS if number.mean >= 1.0])
@pytest.mark.parametrize(("order", "noise"), [(2.0, 1.0), (32.0, 5.0)])
def test_the_divergence_of_the_largest_value_is_below_the_bound(number: Any, order: float, noise: float) -> None:
    """The released value is the largest of K normal values: its density is φ(x) f′(Φ(x))."""
    shape = None if isinstance(number, PoissonRepetitions) else number.shape
    inputs = SelectionInputs(order=order, noise_multiplier=noise, mean=number.mean, shape=shape)
    bound = SELECTION.evaluate(inputs).outputs["renyi_divergence"]
    mu, none = 1.0 / noise, float(probability(number, 0))

    def moment(first: float, second: float) -> float:
        def density(x: float) -> float:
            ratio = norm.logpdf(x, first) + np.log(generating_slope(number, norm.cdf(x, first)))
            other = norm.logpdf(x, second) + np.log(generating_slope(number, norm.cdf(x, second)))
            return float(np.exp(order * ratio - (order - 1.0) * other))

        reach = order * mu + 12.0
        return quad(density, -reach, reach, limit=500, points=[0.0, mu])[0] + none

    truth = max(math.log(moment(mu, 0.0)), math.log(moment(0.0, mu))) / (order - 1.0)
    assert truth <= bound * (1 + 1e-7)
    assert bound <= _theorems_of_the_paper(number, order, noise) * (1 + 1e-3)


GAUSSIAN_RUNS = ((2.0, 1.0, 10.0, 1.0), (32.0, 5.0, 10.0, 0.0), (4.0, 2.0, 5.0, 0.5), (8.0, 3.0, 10.0, None))
"""Order, noise, mean and shape of the number of runs; without a shape it is Poisson."""


def number_of_runs(mean: float, shape: float | None) -> Any:
    """The number of runs."""
    return PoissonRepetitions(mean=mean) if shape is None else NegativeBinomialRepetitions(mean=mean, shape=shape)


def weights_of_runs(number: Any) -> np.ndarray[Any, Any]:
    """P(K = k) for k = 0, 1, … until the rest is below 1e-14, from the definition."""
    with mp.workdps(30):
        if isinstance(number, PoissonRepetitions):
            weights = [probability(number, runs) for runs in range(90)]
            return np.asarray([float(weight) for weight in weights])
        # Neighbouring probabilities have the quotient (1 − γ)(k + η)/(k + 1).
        gamma, shape = gamma_of(number.mean, number.shape), mp.mpf(number.shape)
        weights, rest = [mp.mpf(0), probability(number, 1)], 1 - probability(number, 1)
        while rest > mp.mpf(10) ** -14:
            runs = len(weights) - 1
            weights.append(weights[-1] * (1 - gamma) * (runs + shape) / (runs + 1))
            rest -= weights[-1]
        return np.asarray([float(weight) for weight in weights])


def law_of_the_best(masses: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The best of K outputs, from worst to best, by a sum over K; the first outcome is "no run"."""
    reached = np.minimum(np.concatenate([[0.0], np.cumsum(masses)]), 1.0)
    runs = np.arange(weights.size)
    log_reached = np.log(np.maximum(reached, 1e-300))
    best = np.zeros(masses.size)
    for start in range(0, runs.size, 256):
        block = slice(start, start + 256)
        powers = np.exp(np.outer(runs[block], log_reached))
        best += weights[block] @ np.diff(powers, axis=1)
    return np.concatenate([[weights[0]], best])


@pytest.mark.parametrize(("order", "noise", "mean", "shape"), GAUSSIAN_RUNS)
def test_no_ranking_of_gaussian_outputs_exceeds_the_bound(
    order: float, noise: float, mean: float, shape: float | None
) -> None:
    """Outputs in 600 cells, ranked up, down, by their distance from a centre, and with two ends best."""
    inputs = SelectionInputs(order=order, noise_multiplier=noise, mean=mean, shape=shape)
    bound = SELECTION.evaluate(inputs).outputs["renyi_divergence"]
    weights = weights_of_runs(number_of_runs(mean, shape))
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights @ np.arange(weights.size) == pytest.approx(mean, rel=1e-9)
    reach = 9.0 + order / noise
    edges = np.linspace(-reach, reach, 601)
    p, q = (np.diff(norm.cdf(edges, place)) for place in (1.0 / noise, 0.0))
    # Cells above the middle by their upper tails, which keep their digits.
    p, q = (
        np.where(edges[:-1] > 0.0, -np.diff(norm.sf(edges, place)), lower)
        for place, lower in ((1.0 / noise, p), (0.0, q))
    )
    middles = 0.5 * (edges[1:] + edges[:-1])
    rankings = [
        middles,
        -middles,
        *(sign * np.abs(middles - centre) for sign in (1, -1) for centre in (-1.0, 0.0, 2.0)),
    ]
    truths = []
    for ranking in rankings:
        places = np.argsort(ranking, kind="stable")
        first, second = law_of_the_best(p[places], weights), law_of_the_best(q[places], weights)
        is_usable = (first > 1e-200) & (second > 1e-200)
        for one, other in ((first, second), (second, first)):
            logs = order * np.log(one[is_usable]) + (1.0 - order) * np.log(other[is_usable])
            truths.append(float(np.logaddexp.reduce(logs)) / (order - 1.0))
    assert max(truths) <= bound * (1 + 1e-9)
    assert bound <= max(truths) * WIDEST


WIDEST = 1.7
"""Quotient of the bound and the worst ranking that is tried: tests of all sizes are bounded at once."""


@pytest.mark.compares("papernot-steinke-2022.lemma-7", within=5e-3)
@pytest.mark.parametrize(("order", "noise", "mean", "shape"), GAUSSIAN_RUNS)
def test_the_bound_is_the_supremum_over_all_tests(order: float, noise: float, mean: float, shape: float | None) -> None:
    """Lemma 7 with the exact trade-off of the Gaussian, 1 − q′ = Φ(Φ⁻¹(1 − q) + μ), on a dense grid of tests."""
    inputs = SelectionInputs(order=order, noise_multiplier=noise, mean=mean, shape=shape)
    bound = SELECTION.evaluate(inputs).outputs["renyi_divergence"]
    number = number_of_runs(mean, shape)
    places = np.linspace(-12.0, 12.0, 200_001)
    one, second = norm.cdf(places), norm.cdf(places - 1.0 / noise)
    gain = order * np.log(generating_slope(number, one)) - (order - 1.0) * np.log(generating_slope(number, second))
    log_moment = order * (order - 1.0) / (2.0 * noise**2) + float(gain.max())
    supremum = float(np.logaddexp(log_moment, -mean) if shape is None else log_moment) / (order - 1.0)
    assert supremum * (1 - 1e-9) <= bound <= supremum * (1 + 2e-3)


def _theorems_of_the_paper(number: Any, order: float, noise: float) -> float:
    """Theorem 2, at its best second order, and Theorem 6 with the exact curve of the Gaussian."""
    divergence = order / (2.0 * noise**2)
    mean = number.mean
    if isinstance(number, PoissonRepetitions):
        epsilon = math.log1p(1.0 / (order - 1.0))
        mu = 1.0 / noise
        delta = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return float(divergence + mean * delta + math.log(mean) / (order - 1.0))
    gamma, shape = float(gamma_of(mean, number.shape)), number.shape
    seconds = 1.0 + np.geomspace(1e-4, 1e4, 4001)
    added = (1.0 + shape) * ((1.0 - 1.0 / seconds) * seconds / (2.0 * noise**2) + math.log(1.0 / gamma) / seconds)
    return float(divergence + added.min() + math.log(mean) / (order - 1.0))


@pytest.mark.compares("papernot-steinke-2022.corollary-3")
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 2.0, 20.0])
def test_pure_runs_are_attained_by_rare_outputs(epsilon: float) -> None:
    """A response whose rare output is the best, with a rate of runs that matches: the loss tends to (2 + η) ε."""
    for shape in (0.0, 1.0):
        outputs = PURE_SELECTION.evaluate(PureSelectionInputs(epsilon=epsilon, shape=shape)).outputs
        assert outputs["epsilon"] == pytest.approx((2.0 + shape) * epsilon, rel=1e-15)
    with mp.workdps(60):
        eps, odds = mp.mpf(epsilon), mp.mpf(10) ** 30
        rare, often = mp.mpf(10) ** -15, mp.mpf(10) ** -15 * mp.exp(eps)
        # The best output is missed by a run with probability `rare` or `often`.
        slope = [(1 + odds * missed) ** -2 for missed in (rare, often)]
        assert float(mp.log(slope[0] / slope[1]) + eps) == pytest.approx(3.0 * epsilon, rel=1e-6)


@pytest.mark.parametrize("number", NUMBERS)
def test_pure_runs_stay_pure(number: Any) -> None:
    spec = SelectBest(mechanism=Laplace(scale_multiplier=1.0), repetitions=number)
    most = account(spec, relation="add-or-remove-one").guarantee.curve.epsilon(-math.inf).upper
    limit = 1.0 + number.mean * math.tanh(0.5) if isinstance(number, PoissonRepetitions) else 2.0 + number.shape
    assert 1.0 <= most <= limit * (1 + 1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [
        Gaussian(noise_multiplier=2.0),
        Repeated(
            times=100, mechanism=Subsampled(sampling="poisson", rate=0.02, mechanism=Gaussian(noise_multiplier=1.0))
        ),
        Approximate(epsilon=0.5, delta=1e-7),
        Zcdp(rho=0.1),
    ],
)
def test_more_runs_cost_more_and_one_run_costs_what_it_does(mechanism: Any) -> None:
    target = natural_log_delta(1e-5, None)

    def epsilon(mean: float) -> float:
        spec = SelectBest(mechanism=mechanism, repetitions=GeometricRepetitions(mean=mean))
        return account(spec, relation="add-or-remove-one").guarantee.curve.epsilon(target).upper

    alone = account(mechanism, relation="add-or-remove-one").guarantee.curve.epsilon(target).upper
    found = [epsilon(mean) for mean in (1.0, 2.0, 5.0)]
    assert alone <= found[0] * (1 + 1e-12) <= alone * 1.01
    assert found == sorted(found)


@pytest.mark.parametrize("noise", [0.2, 0.1, 0.05])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_choice_adds_little_to_the_large_losses_of_small_noise(number: Any, noise: float) -> None:
    """It adds at most log f′(1)/f′(0), and δ grows at most by the mean, however small the noise of one run is."""
    gaussian = Gaussian(noise_multiplier=noise)
    one, best_run = (
        account(spec, relation="add-or-remove-one").guarantee.curve
        for spec in (gaussian, SelectBest(mechanism=gaussian, repetitions=number))
    )
    most = math.log(generating_slope(number, 1.0) / generating_slope(number, 0.0))
    log_delta = math.log(1e-5)
    ends = best_run.epsilon(log_delta)
    assert ends.lower <= ends.upper <= one.epsilon(log_delta - math.log(max(number.mean, 1.0))).upper + most + 2.0


def test_two_selections_compose() -> None:
    spec = SelectBest(mechanism=Gaussian(noise_multiplier=4.0), repetitions=GEOMETRIC)
    target = natural_log_delta(1e-5, None)
    one, two = (
        account(each, relation="add-or-remove-one").guarantee.curve.epsilon(target).upper
        for each in (spec, Composed(mechanisms=(spec, spec)))
    )
    assert one < two < 2.0 * one


def test_a_selection_on_a_batch_is_rejected() -> None:
    inside = SelectBest(mechanism=Gaussian(noise_multiplier=1.0), repetitions=GEOMETRIC)
    with pytest.raises(InvalidInput, match="no theorem covers a selection"):
        Subsampled(sampling="poisson", rate=0.1, mechanism=inside)


@pytest.mark.parametrize(("mean", "shape"), [(0.5, 1.0), (10.0, -1.0), (1e9, -0.999)])
def test_numbers_of_runs_that_do_not_exist_are_rejected(mean: float, shape: float) -> None:
    with pytest.raises(InvalidInput):
        NegativeBinomialRepetitions(mean=mean, shape=shape)

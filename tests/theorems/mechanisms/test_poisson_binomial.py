"""The Poisson binomial mechanism against sums of fractions over all values of clients, and its published setting."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.accountants.kinds.integers.poisson_binomial import SUMS
from epsilond.accountants.profiles.integers.binomial_sums import LOG_UNLISTED, binomial, two_binomials
from epsilond.accountants.profiles.integers.poisson_binomial import pure_epsilon
from epsilond.accountants.specs import PoissonBinomial, RandomizedResponse, Repeated, Shuffled, Subsampled

SETTING: Any = {"relation": "replace-one", "observer": "released-models"}
EPSILONS = (0.0, 0.25, 0.7, 1.5, 3.0)


def one(trials: int, theta: float, clients: int = 1, dimension: int = 1) -> Any:
    """A mechanism."""
    return PoissonBinomial(trials=trials, theta=theta, clients=clients, dimension=dimension)


def curve(spec: Any) -> Any:
    """The curve of a spec."""
    return account(spec, **SETTING).guarantee.curve


def law(probabilities: list[Fraction]) -> list[Fraction]:
    """The sum of independent trials, exactly."""
    masses = [Fraction(1)]
    for p in probabilities:
        masses = [
            (masses[k] * (1 - p) if k < len(masses) else Fraction(0)) + (masses[k - 1] * p if k else Fraction(0))
            for k in range(len(masses) + 1)
        ]
    return masses


def delta(p: list[Fraction], q: list[Fraction], epsilon: float) -> Fraction:
    """Σ (p − e^ε q)₊ with e^ε as a double."""
    gamma = Fraction(math.exp(epsilon))
    return sum((max(a - gamma * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def sums(values: tuple[Fraction, ...], trials: int, theta: float) -> list[Fraction]:
    """The mechanism's output for values of the clients in [−1, 1]."""
    return law([Fraction(1, 2) + Fraction(theta) * value for value in values for _ in range(trials)])


@pytest.mark.compares("epsilond.poisson-binomial")
@pytest.mark.parametrize(("trials", "theta"), [(1, 0.25), (4, 0.25), (5, 0.1), (7, 0.45), (1, 2.0**-20), (40, 0.3)])
def test_one_client_is_exact(trials: int, theta: float) -> None:
    p, q = (sums((Fraction(sign),), trials, theta) for sign in (1, -1))
    for epsilon in EPSILONS:
        truth = delta(p, q, epsilon)
        bounds = curve(one(trials, theta)).log_delta(epsilon)
        outputs = SUMS.evaluate(
            SUMS.request(trials=trials, theta=theta, dimension=1, clients=1, at_epsilon=epsilon)
        ).outputs
        if truth == 0:
            assert bounds.lower == bounds.upper == -math.inf
            assert outputs["delta_of_one_coordinate"] == 0.0
            continue
        exact = math.log(truth)
        assert bounds.lower <= exact + 1e-12
        assert exact <= bounds.upper + 1e-12
        assert bounds.upper - bounds.lower <= 1e-6
        assert outputs["delta_of_one_coordinate"] == pytest.approx(float(truth), rel=1e-6, abs=0.0)
        assert outputs["lower_delta_of_one_coordinate"] == pytest.approx(float(truth), rel=1e-6, abs=0.0)


@pytest.mark.compares("epsilond.poisson-binomial")
@pytest.mark.parametrize("theta", [0.05, 0.25, 0.45])
def test_one_trial_of_one_client_is_randomized_response(theta: float) -> None:
    ours = curve(one(1, theta))
    response = curve(RandomizedResponse(epsilon=pure_epsilon(1, theta), categories=2))
    for epsilon in (0.0, 0.1, 0.3):
        assert ours.log_delta(epsilon).upper == pytest.approx(response.log_delta(epsilon).upper, abs=1e-10)


@pytest.mark.parametrize(
    ("trials", "theta", "clients"), [(1, 0.25, 3), (1, 0.4, 5), (2, 0.25, 3), (3, 0.1, 3), (2, 0.49, 2), (4, 0.25, 2)]
)
def test_every_choice_of_values_is_enclosed(trials: int, theta: float, clients: int) -> None:
    known = curve(one(trials, theta, clients))
    grid = tuple(Fraction(step, 2) for step in range(-2, 3))
    neighbours = []
    for others in itertools.combinations_with_replacement(grid, clients - 1):
        laws = [sums((value, *others), trials, theta) for value in grid]
        neighbours.extend(itertools.permutations(laws, 2))
    for epsilon in EPSILONS:
        most = float(max(delta(p, q, epsilon) for p, q in neighbours))
        bounds = known.log_delta(epsilon)
        assert most <= math.exp(bounds.upper) * (1 + 1e-9)
        assert math.exp(bounds.lower) <= most * (1 + 1e-9)
        assert most == 0.0 or math.exp(bounds.lower) >= 0.8 * most
        assert most == 0.0 or math.exp(bounds.upper) <= 1.2 * most


@pytest.mark.parametrize(("trials", "theta", "clients"), [(1, 0.25, 40), (2, 0.25, 60), (8, 0.1, 30)])
def test_blocks_enclose_the_extremes(trials: int, theta: float, clients: int) -> None:
    known = curve(one(trials, theta, clients))
    others = (clients - 1) * trials
    high, low = 0.5 + theta, 0.5 - theta

    def masses(raised: int) -> Any:
        """The sum of trials in doubles."""
        whole = np.ones(1)
        for p, count in ((high, raised), (low, others + trials - raised)):
            k = np.arange(count + 1)
            logs = [math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1) for i in k]
            whole = np.convolve(whole, np.exp(np.asarray(logs) + k * math.log(p) + (count - k) * math.log1p(-p)))
        return whole

    listed = [masses(raised) for raised in range(others + trials + 1)]
    for epsilon in (0.0, 0.2, 0.6):
        gamma = math.exp(epsilon)
        found = [
            float(np.maximum(listed[raised + trials] - gamma * listed[raised], 0.0).sum())
            for raised in range(others + 1)
        ]
        bounds = known.log_delta(epsilon)
        assert max(found) <= math.exp(bounds.upper) * (1 + 1e-9)
        assert math.exp(bounds.lower) <= max(found[::trials]) * (1 + 1e-9)
        assert bounds.upper <= math.log(max(found)) + 0.1


def test_two_rounds_and_two_coordinates_are_products() -> None:
    trials, theta, clients = 2, 0.25, 2
    extremes = []
    for other in (-1, 0, 1):
        p, q = (sums((Fraction(sign), Fraction(other)), trials, theta) for sign in (1, -1))
        extremes += [(p, q), (q, p)]
    twice = Repeated(times=2, mechanism=one(trials, theta, clients))
    for known in (curve(twice), curve(one(trials, theta, clients, 2))):
        for epsilon in (0.0, 0.5, 2.0):
            most = 0.0
            for (p, q), (r, s) in itertools.product(extremes, repeat=2):
                first = [a * b for a in p for b in r]
                most = max(most, float(delta(first, [a * b for a in q for b in s], epsilon)))
            bounds = known.log_delta(epsilon)
            assert most <= math.exp(bounds.upper) * (1 + 1e-9)
            assert 0.8 * most <= math.exp(bounds.lower) <= most * (1 + 1e-9)


@pytest.mark.parametrize(("high", "low", "theta"), [(0, 5, 0.25), (30, 7, 0.1), (3, 150, 0.49), (170, 170, 2.0**-20)])
def test_listed_masses_are_those_of_the_definition(high: int, low: int, theta: float) -> None:
    p = Fraction(1, 2) + Fraction(theta)
    exact = law([p] * high + [1 - p] * low)
    listed = two_binomials(high, low, theta)
    truths = exact[listed.first : listed.first + listed.log_masses.size]
    for found, truth in zip(listed.log_masses.tolist(), truths, strict=True):
        logarithm = mp.log(mp.mpf(truth.numerator) / truth.denominator)
        assert abs(found - logarithm) <= listed.error + 1e-12
    rest = float(sum(exact) - sum(truths))
    assert rest <= math.exp(LOG_UNLISTED)


def test_a_large_sum_is_near_normal() -> None:
    listed = two_binomials(2**16, 2**16, 0.25)
    variance = 2.0**17 * (0.25 - 0.25**2)
    assert float(np.max(listed.log_masses)) == pytest.approx(-0.5 * math.log(2 * math.pi * variance), abs=1e-4)
    assert listed.error < 1e-8
    assert binomial(0, 0.25).log_masses.tolist() == [0.0]


def test_more_clients_hide_more() -> None:
    uppers = [curve(one(4, 0.25, clients)).epsilon(math.log(1e-6)).upper for clients in (1, 10, 100, 1000)]
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[0] == pytest.approx(4 * math.log(3), rel=1e-5)
    assert uppers[-1] < 0.3


def test_a_thousand_rounds_are_enclosed() -> None:
    bounds = curve(Repeated(times=1000, mechanism=one(16, 0.05, 1000))).epsilon(math.log(1e-6))
    assert 3.8 < bounds.lower < bounds.upper < 1.02 * bounds.lower


@pytest.mark.parametrize(
    ("trials", "theta", "clients"),
    [(1, 2.0**-20, 2**17), (2**17, 0.5 - 2.0**-20, 1), (1000, 0.5 - 2.0**-20, 2), (1, 0.5 - 2.0**-20, 100)],
)
def test_extremes_are_enclosed(trials: int, theta: float, clients: int) -> None:
    known = curve(one(trials, theta, clients))
    for epsilon in (0.0, 1e-6, 1.0, 1e3, 1e9):
        bounds = known.log_delta(epsilon)
        assert bounds.lower <= bounds.upper <= 0.0
    assert known.log_delta(1e9).upper == -math.inf


def test_a_random_batch_is_enclosed() -> None:
    base = curve(one(2, 0.25, 10)).log_delta(0.5).upper
    drawn = Subsampled(sampling="without-replacement", batch_size=10, population=100, mechanism=one(2, 0.25, 10))
    assert curve(drawn).log_delta(0.5).upper <= base + math.log(0.1) + 1e-9


@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one"])
def test_an_absent_client_has_no_bound(relation: Any) -> None:
    with pytest.raises(EpsilondError):
        account(one(2, 0.25, 10), relation=relation, observer="released-models")


@pytest.mark.parametrize("observer", ["server", "shuffled-server"])
def test_a_server_that_sees_messages_sees_no_sums_alone(observer: Any) -> None:
    with pytest.raises(EpsilondError, match="sees messages of single clients"):
        account(one(2, 0.25, 10), relation="replace-one", unit="client", observer=observer)
    alone = account(one(2, 0.25), relation="replace-one", unit="client", observer=observer).guarantee.curve
    assert alone.log_delta(0.5) == curve(one(2, 0.25)).log_delta(0.5)


@pytest.mark.parametrize(
    ("pointer", "fields"),
    [
        ("/sampling", {"sampling": "poisson", "rate": 0.1}),
        ("/sampling", {"sampling": "with-replacement", "batch_size": 20, "population": 100}),
        ("/batch_size", {"sampling": "without-replacement", "batch_size": 9, "population": 100}),
    ],
)
def test_a_sum_needs_as_many_clients_as_it_is_over(pointer: str, fields: dict[str, Any]) -> None:
    """A batch of five clients of a sum over ten would have δ(4.69) = 4.45e-6 where 1e-6 was certified."""
    for mechanism in (one(2, 0.25, 10), Repeated(times=2, mechanism=one(2, 0.25, 10))):
        with pytest.raises(InvalidInput) as error:
            Subsampled(**fields, level="clients", mechanism=mechanism)
        assert error.value.faults[0].pointer == pointer
    Subsampled(**fields, level="records", mechanism=one(2, 0.25, 10))
    with pytest.raises(InvalidInput, match="no sum over clients"):
        Shuffled(clients=100, mechanism=one(2, 0.25, 10))


@pytest.mark.parametrize(
    "fields",
    [{"trials": 0}, {"theta": 0.0}, {"theta": 0.5}, {"dimension": 0}, {"clients": 0}, {"trials": 2, "clients": 2**17}],
)
def test_mechanisms_that_no_run_can_have(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        PoissonBinomial(**{"trials": 1, "theta": 0.25, "dimension": 1, "clients": 1, **fields})

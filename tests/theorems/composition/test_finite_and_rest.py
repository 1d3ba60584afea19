"""Parts with finitely many losses next to other mechanisms, against integrals of densities in thirty digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Repeated,
    Subsampled,
)
from epsilond.accountants.target import natural_log_delta

Density = Callable[[Any], Any]
EPSILONS = (0.0, 0.3, 1.0, 1.4)


def laplace(place: float) -> Density:
    return lambda x: mp.exp(-abs(x - place)) / 2


def sampled(rate: str) -> Density:
    return lambda x: (1 - mp.mpf(rate)) * mp.npdf(x) + mp.mpf(rate) * mp.npdf(x, 1)


def atoms(epsilon: float, delta: str) -> list[tuple[Any, Any]]:
    """Masses of the four outcomes of a loosest (ε, δ) mechanism under both inputs."""
    mass = mp.mpf(delta)
    true = (1 - mass) / (1 + mp.exp(-mp.mpf(epsilon)))
    false = 1 - mass - true
    return [(mass, mp.mpf(0)), (true, false), (false, true), (mp.mpf(0), mass)]


def divergence(epsilon: float, box: list[tuple[Any, Any]], first: Density, second: Density) -> Any:
    """∫ (P − e^ε Q)₊ over outcomes of the box and a real number."""
    gamma, total = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
    for p, q in box:

        def excess(x: Any, p: Any = p, q: Any = q) -> Any:
            return p * first(x) - gamma * q * second(x)

        grid = [mp.mpf(step) / 4 for step in range(-60, 61)]
        signs = [excess(x) > 0 for x in grid]
        roots = [
            mp.findroot(excess, (left, right), solver="anderson", tol=1e-25)
            for left, right, one, two in zip(grid, grid[1:], signs, signs[1:], strict=False)
            if one != two
        ]
        places = sorted([-mp.inf, *roots, mp.mpf(0), mp.mpf(1), mp.inf])
        for left, right in zip(places, places[1:], strict=False):
            middle = (left + right) / 2 if mp.isfinite(left) and mp.isfinite(right) else None
            if middle is None:
                middle = right - 1 if mp.isfinite(right) else left + 1
            if left != right and excess(middle) > 0:
                total += mp.quad(excess, [left, right])
    return total


CASES: dict[str, tuple[Any, Density, Density]] = {
    "laplace": (Laplace(scale_multiplier=1.0), laplace(1.0), laplace(0.0)),
    "sampled": (
        Subsampled(sampling="poisson", rate=0.25, mechanism=Gaussian(noise_multiplier=1.0)),
        sampled("0.25"),
        mp.npdf,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("declared", [(0.5, "0.0"), (0.5, "1e-6"), (0.0, "0.01")])
def test_the_upper_bound_is_the_integral(name: str, declared: tuple[float, str]) -> None:
    spec, first, second = CASES[name]
    box = Approximate(epsilon=declared[0], delta=float(declared[1]))
    curve = account(Composed(mechanisms=(spec, box)), relation="add-or-remove-one").guarantee.curve
    with mp.workdps(30):
        for epsilon in EPSILONS:
            both = [
                divergence(epsilon, atoms(*declared), one, other) for one, other in ((first, second), (second, first))
            ]
            truth = float(max(both))
            upper = math.exp(curve.log_delta(epsilon).upper)
            assert truth * (1 - 1e-12) <= upper <= truth * (1 + 1e-9) + 1e-15


def of(*parts: Any, relation: Any = "add-or-remove-one") -> Guarantee:
    return account(Composed(mechanisms=parts), relation=relation).guarantee


BOX = Approximate(epsilon=0.5, delta=1e-6)
RESTS = {
    "gaussian": Gaussian(noise_multiplier=2.0),
    "training": Repeated(
        times=200, mechanism=Subsampled(sampling="poisson", rate=0.02, mechanism=Gaussian(noise_multiplier=0.9))
    ),
    "laplace": Laplace(scale_multiplier=0.7),
    "integers": DiscreteLaplace(decay_rate=0.5, sensitivity=3),
}


@pytest.mark.parametrize("name", RESTS)
@pytest.mark.parametrize("delta", [1e-5, 1e-3])
def test_a_part_with_an_upper_bound_only_leaves_the_lower_bound_of_the_rest(name: str, delta: float) -> None:
    rest = RESTS[name]
    target = natural_log_delta(delta, None)
    without = account(rest, relation="add-or-remove-one").guarantee.curve.epsilon(target)
    guarantee = of(rest, BOX)
    assert guarantee.tight == "witnessed"
    found = guarantee.curve.epsilon(target)
    assert found.lower == pytest.approx(without.lower, rel=1e-9)
    assert without.upper < found.upper <= without.upper + 0.5 + 0.1


@pytest.mark.parametrize("name", RESTS)
def test_a_part_that_reveals_nothing_changes_nothing(name: str) -> None:
    rest = RESTS[name]
    nothing = Approximate(epsilon=0.0, delta=0.0)
    for epsilon in EPSILONS:
        alone = account(rest, relation="add-or-remove-one").guarantee.curve.log_delta(epsilon)
        assert of(rest, nothing).curve.log_delta(epsilon).upper == pytest.approx(alone.upper, abs=1e-6)


@pytest.mark.parametrize("times", [1, 3, 64, 1000])
def test_infinite_masses_compose_exactly(times: int) -> None:
    run = Repeated(times=times, mechanism=Approximate(epsilon=0.0, delta=1e-6))
    upper = account(run, relation="zero-out-one").guarantee.curve.log_delta(0.0).upper
    with mp.workdps(40):
        survival = (1 - mp.mpf(1e-6)) ** times
        truth = float(mp.log(1 - survival))
    assert truth <= upper <= truth + times * 1e-13
    beside = of(RESTS["training"], run)
    alone = account(RESTS["training"], relation="add-or-remove-one").guarantee.curve.log_delta(1.0)
    with mp.workdps(40):
        truth = float(mp.log(1 - survival + survival * mp.exp(alone.upper)))
    assert beside.curve.log_delta(1.0).upper == pytest.approx(truth, abs=1e-8)


PURE = (
    (Repeated(times=3, mechanism=Laplace(scale_multiplier=1.0)), "add-or-remove-one", 3.0),
    (Composed(mechanisms=(Laplace(scale_multiplier=1.0), Laplace(scale_multiplier=0.5))), "add-or-remove-one", 3.0),
    (Repeated(times=3, mechanism=Approximate(epsilon=1.0, delta=0.0)), "zero-out-one", 3.0),
    (Repeated(times=2, mechanism=DiscreteLaplace(decay_rate=0.5, sensitivity=3)), "replace-one", 3.0),
    (Repeated(times=6, mechanism=RandomizedResponse(epsilon=0.5, categories=5)), "replace-one", 3.0),
    (Repeated(times=10**6, mechanism=Approximate(epsilon=2.0**-20, delta=0.0)), "zero-out-one", 10**6 / 2.0**20),
)


@pytest.mark.parametrize(("spec", "relation", "epsilon"), PURE)
def test_pure_mechanisms_have_no_delta_from_their_sum_on(spec: Any, relation: Any, epsilon: float) -> None:
    curve = account(spec, relation=relation).guarantee.curve
    assert curve.log_delta(epsilon).upper == -math.inf
    assert curve.epsilon(-math.inf).upper == epsilon
    assert curve.log_delta(epsilon * (1 - 1e-6)).upper > -math.inf


@pytest.mark.parametrize(
    "sampling",
    [{"sampling": "poisson", "rate": 0.1}, {"sampling": "without-replacement", "batch_size": 1, "population": 10}],
)
def test_a_sampled_list_of_pure_mechanisms_is_pure(sampling: dict[str, Any]) -> None:
    inside = Composed(mechanisms=(Laplace(scale_multiplier=1.0), Laplace(scale_multiplier=2.0)))
    relation: Any = "add-or-remove-one" if sampling["sampling"] == "poisson" else "replace-one"
    factor = 1.0 if sampling["sampling"] == "poisson" else 2.0
    found = account(Subsampled(mechanism=inside, **sampling), relation=relation).guarantee.curve.epsilon(-math.inf)
    with mp.workdps(40):
        truth = mp.log1p(mp.mpf(0.1) * mp.expm1(factor * mp.mpf(1.5)))
        assert truth <= mp.mpf(found.upper) <= truth * (1 + mp.mpf(10) ** -14)


def test_with_noise_of_unbounded_loss_nothing_is_pure() -> None:
    mixed = of(Gaussian(noise_multiplier=1.0), Laplace(scale_multiplier=1.0))
    assert mixed.curve.epsilon(-math.inf).upper == math.inf
    assert of(BOX, Laplace(scale_multiplier=1.0)).curve.epsilon(-math.inf).upper == math.inf

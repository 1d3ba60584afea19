"""Compositions of random parameters against the enumeration of cells, from the definitions of the mechanisms."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest

import epsilond
from epsilond.accountants.meaning import meaning
from tests.oracles import cells, finite, shuffling
from tests.oracles.cells import Cells, both_ends, divergence, power

Body = Mapping[str, Any]
FACTOR = {"add-or-remove-one": 1.0, "replace-one": 2.0}
SLACK = 1e-9
"""Of sums of some millions of positive doubles, relative."""


def one_after_another(*specs: Body) -> Body:
    return {"kind": "composed", "mechanisms": list(specs)}


def meets(answer: Any, ends: tuple[float, float]) -> bool:
    """Whether two intervals that hold the same number do."""
    return bool(answer.lower <= ends[1] * (1.0 + SLACK) and ends[0] * (1.0 - SLACK) <= answer.upper)


Orders = Sequence[tuple[cells.Masses, cells.Masses]]
"""From below and from above, of both orders."""


def orders_of(parts: Sequence[Cells]) -> Orders:
    return both_ends(parts), both_ends([part.reversed() for part in parts])


def larger(orders: Orders, value: Callable[[cells.Masses], float]) -> tuple[float, float]:
    """Both ends of the larger of both orders."""
    return max(value(low) for low, _ in orders), max(value(high) for _, high in orders)


def drawn(generator: random.Random, kind: str, factor: float, count: int) -> tuple[Body, Cells]:
    """A mechanism with random parameters, and its cells."""
    if kind == "laplace":
        scale = math.exp(generator.uniform(math.log(0.7), math.log(8.0)))
        return {"kind": kind, "scale_multiplier": scale}, cells.laplace(scale, factor, count)
    if kind == "gaussian":
        noise = generator.uniform(0.8, 4.0)
        pair = cells.normal_mixtures([(1.0, factor)], [(1.0, 0.0)], noise, count)
        return {"kind": kind, "noise_multiplier": noise}, pair
    if kind == "sampled":
        noise, rate = generator.uniform(0.7, 2.0), math.exp(generator.uniform(math.log(0.01), math.log(0.6)))
        spec = {"kind": "gaussian", "noise_multiplier": noise}
        moved = [(1.0 - rate, 0.0), (rate, 1.0)]
        pair = cells.normal_mixtures(moved, [(1.0, 0.0)], noise, count)
        return {"kind": "subsampled", "sampling": "poisson", "rate": rate, "mechanism": spec}, pair
    if kind == "response":
        odds, categories = generator.uniform(1.2, 6.0), generator.randint(2, 5)
        spec = {"kind": "randomized_response", "epsilon": math.log(odds), "categories": categories}
        return spec, cells.response(odds, categories)
    decay, distance = generator.uniform(0.1, 1.0), generator.randint(1, 4)
    return {"kind": kind, "decay_rate": decay, "sensitivity": distance}, cells.discrete_laplace(decay, distance)


def checked(spec: Body, relation: str, parts: Sequence[Cells], generator: random.Random) -> None:
    """δ at three ε below the largest that matters."""
    curve = epsilond.account(spec, relation=relation, unit="record", observer="server").guarantee.curve  # type: ignore[call-overload]
    top = curve.epsilon(delta=1e-4).upper
    orders = orders_of(parts)
    for share in (0.0, generator.uniform(0.1, 0.6), generator.uniform(0.6, 1.0)):
        epsilon = share * top
        ends = larger(orders, lambda masses, epsilon=epsilon: divergence(masses, epsilon))  # type: ignore[misc]
        assert ends[0] <= ends[1] * (1.0 + SLACK)
        assert ends[1] <= 1.02 * ends[0] + 1e-12, "the oracle says too little"
        assert meets(curve.delta(epsilon=epsilon), ends)


@pytest.mark.parametrize("seed", range(6))
def test_laplaces(seed: int) -> None:
    generator = random.Random(seed)
    relation = generator.choice(list(FACTOR))
    steps = [drawn(generator, "laplace", FACTOR[relation], 500) for _ in range(2)]
    checked(one_after_another(*(spec for spec, _ in steps)), relation, [pair for _, pair in steps], generator)


@pytest.mark.parametrize("seed", range(4))
def test_one_laplace_three_times(seed: int) -> None:
    generator = random.Random(seed)
    spec, pair = drawn(generator, "laplace", 1.0, 100)
    checked({"kind": "repeated", "times": 3, "mechanism": spec}, "add-or-remove-one", [pair] * 3, generator)


@pytest.mark.parametrize(
    ("kinds", "relation"),
    [
        (("laplace", "gaussian"), "replace-one"),
        (("laplace", "response", "discrete_laplace"), "replace-one"),
        (("gaussian", "response", "response"), "replace-one"),
        (("gaussian", "discrete_laplace", "response"), "replace-one"),
        (("laplace", "sampled"), "add-or-remove-one"),
        (("sampled", "sampled"), "add-or-remove-one"),
        (("gaussian", "sampled"), "add-or-remove-one"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_mixed_kinds(kinds: tuple[str, ...], relation: str, seed: int) -> None:
    generator = random.Random(seed)
    steps = [drawn(generator, kind, FACTOR[relation], 500) for kind in kinds]
    checked(one_after_another(*(spec for spec, _ in steps)), relation, [pair for _, pair in steps], generator)


@pytest.mark.parametrize("seed", range(4))
def test_true_positive_rates_of_sampled_gaussians(seed: int) -> None:
    """What an attack attains at most, of all tests of the runs themselves."""
    generator = random.Random(seed)
    steps = [drawn(generator, "sampled", 1.0, 500) for _ in range(2)]
    spec = one_after_another(*(spec for spec, _ in steps))
    answer = meaning(
        epsilond.account(spec, relation="add-or-remove-one", unit="record", observer="server").guarantee.curve.natural
    )  # type: ignore[call-overload]
    orders = orders_of([pair for _, pair in steps])
    assert meets(answer.advantage, larger(orders, lambda masses: divergence(masses, 0.0)))
    for one in answer.true_positives:
        ends = larger(orders, lambda masses, size=one.false_positive_rate: power(masses, size))  # type: ignore[misc]
        assert one.false_positive_rate <= ends[0] <= ends[1] <= 1.05 * ends[0]
        assert meets(one.true_positive_rate, ends)


@pytest.mark.parametrize(("draws", "population", "noise"), [(5, 20, 1.0), (3, 4, 1.5), (10, 1000, 0.8)])
def test_draws_with_replacement_twice(draws: int, population: int, noise: float) -> None:
    """The bound is above both instances, one record among zeros or among opposites; the lower end below the worst."""
    weights = [
        (math.comb(draws, j) * (1 / population) ** j * (1 - 1 / population) ** (draws - j), j) for j in range(draws + 1)
    ]
    among_zeros = ([(w, float(j)) for w, j in weights], [(w, -float(j)) for w, j in weights])
    among_opposites = ([(w, 2.0 * j) for w, j in weights], [(1.0, 0.0)])
    instances = [orders_of([cells.normal_mixtures(*pair, noise, 600)] * 2) for pair in (among_zeros, among_opposites)]
    mechanism = {"kind": "gaussian", "noise_multiplier": noise}
    batch = {"kind": "subsampled", "sampling": "with-replacement", "batch_size": draws, "population": population}
    spec = {"kind": "repeated", "times": 2, "mechanism": {**batch, "mechanism": mechanism}}
    curve = epsilond.account(spec, relation="replace-one", unit="record", observer="server").guarantee.curve
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        answer = curve.delta(epsilon=epsilon)
        ends = [larger(one, lambda masses: divergence(masses, epsilon)) for one in instances]  # noqa: B023
        assert answer.upper >= max(low for low, _ in ends) * (1.0 - SLACK)
        assert answer.lower <= max(high for _, high in ends) * (1.0 + SLACK)


@pytest.mark.parametrize(("clients", "odds", "times"), [(2, 3, 3), (3, 5, 2), (4, 2, 3), (5, 3, 2)])
def test_shuffled_responses_composed(clients: int, odds: int, times: int) -> None:
    """The bound is above every choice of the others' contributions in every round, the lower end below the worst."""
    rows = shuffling.response_rows(odds, 2)
    worlds = []
    for others in itertools.combinations_with_replacement(rows, clients - 1):
        pair = [shuffling.shuffled([*others, row]) for row in rows]
        worlds += [(pair[0], pair[1]), (pair[1], pair[0])]
    local = {"kind": "randomized_response", "epsilon": math.log(odds), "categories": 2}
    mechanism = {"kind": "shuffled", "clients": clients, "mechanism": local}
    spec = {"kind": "repeated", "times": times, "mechanism": mechanism}
    curve = epsilond.account(spec, relation="replace-one", observer="shuffled-server", unit="record").guarantee.curve
    for gamma in (Fraction(1), Fraction(3, 2), Fraction(odds), Fraction(odds * odds)):
        worst = max(
            finite.hockey_stick(finite.joint([p for p, _ in chosen]), finite.joint([q for _, q in chosen]), gamma)
            for chosen in itertools.combinations_with_replacement(worlds, times)
        )
        answer = curve.delta(epsilon=math.log(gamma))
        assert answer.lower <= float(worst) * (1.0 + SLACK)
        assert answer.upper >= float(worst) * (1.0 - SLACK)

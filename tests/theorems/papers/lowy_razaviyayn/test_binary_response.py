"""Lemma F.1: random pairs of distributions as randomized responses, in exact fractions and by the shuffled rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.theorems.papers.lowy_razaviyayn.binary_response import DECOMPOSITION
from tests.oracles.finite import mixture, response


def decompose(first: Any, second: Any, **fields: Any) -> Any:
    return DECOMPOSITION.evaluate(DECOMPOSITION.request(first=tuple(first), second=tuple(second), **fields))


def random_pair(seed: int) -> tuple[list[float], list[float]]:
    """Two distributions on 2 to 7 outcomes, as far apart as 1e-9 or 1e6 of each other."""
    rng = np.random.default_rng(seed)
    first = rng.dirichlet(np.ones(int(rng.integers(2, 8))))
    second = first * np.exp(10.0 ** rng.uniform(-9, 0.8) * rng.normal(size=len(first)))
    return list(map(float, first)), list(map(float, second / second.sum()))


@pytest.mark.compares("lowy.lemma-f.1")
@pytest.mark.parametrize("seed", range(60))
def test_random_pairs_are_responses_between_two_distributions(seed: int) -> None:
    first, second = random_pair(seed)
    p, q = ([Fraction(each) / sum(map(Fraction, law)) for each in law] for law in (first, second))
    ratio = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    extra = 0.0 if seed % 3 else 0.3
    epsilon = math.log1p(float(ratio - 1)) + extra
    found = decompose(first, second, **({"epsilon": epsilon} if extra else {}))
    served = found.outputs
    assert found.conditions[0].holds == "yes"
    assert served["epsilon"] == pytest.approx(epsilon, rel=1e-13)
    assert served["least_epsilon"] == pytest.approx(epsilon - extra, rel=1e-12)
    # From the definition: solve the two equations of the lemma for each outcome.
    odds = ratio if not extra else Fraction(math.exp(epsilon))
    weight = odds / (odds + 1)
    assert served["weight"] == pytest.approx(float(weight), rel=1e-14)
    components = [
        [(weight * a - (1 - weight) * b) / (2 * weight - 1) for a, b in zip(*pair, strict=True)]
        for pair in ((p, q), (q, p))
    ]
    for name, exact in zip(("first_component", "second_component"), components, strict=True):
        assert min(exact) >= 0
        assert min(served[name]) >= 0.0
        assert math.fsum(served[name]) == pytest.approx(1.0, abs=1e-14)
        assert served[name] == pytest.approx([float(each) for each in exact], rel=1e-9, abs=1e-14)
    mixed = [
        mixture([w, 1 - w], [dict(enumerate(component)) for component in components]) for w in (weight, 1 - weight)
    ]
    assert [list(law.values()) for law in mixed] == [p, q]


@pytest.mark.parametrize("odds", [Fraction(3), Fraction(21, 20)])
def test_a_randomized_response_is_between_two_points(odds: Fraction) -> None:
    """The registered mechanism itself: two categories, whose components are the two certain answers."""
    laws = [[float(response(side, 2, odds)[outcome]) for outcome in (0, 1)] for side in (0, 1)]
    served = decompose(*laws).outputs
    assert served["least_epsilon"] == pytest.approx(math.log(odds), rel=1e-14)
    assert served["weight"] == pytest.approx(float(odds / (odds + 1)), rel=1e-15)
    assert served["first_component"] == pytest.approx([1.0, 0.0], abs=1e-14)
    assert served["second_component"] == pytest.approx([0.0, 1.0], abs=1e-14)


def test_below_the_least_epsilon_no_such_distributions_exist() -> None:
    found = decompose((0.5, 0.5), (0.25, 0.75), epsilon=0.6)
    assert found.conditions[0].holds == "no"
    assert found.conditions[0].right == pytest.approx(math.log(2.0))
    assert min(min(found.outputs[name]) for name in ("first_component", "second_component")) < -0.01


def test_equal_and_disjoint_distributions() -> None:
    equal = decompose((0.25, 0.75), (0.25, 0.75)).outputs
    assert (equal["epsilon"], equal["weight"]) == (0.0, 0.5)
    assert equal["first_component"] == equal["second_component"] == [0.25, 0.75]
    apart = decompose((1.0, 0.0), (0.0, 1.0)).outputs
    assert apart["least_epsilon"] == math.inf
    assert (apart["weight"], apart["first_component"], apart["second_component"]) == (1.0, [1.0, 0.0], [0.0, 1.0])

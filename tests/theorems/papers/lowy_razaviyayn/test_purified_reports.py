"""Lemma F.5: the nearest purely private laws, by linear programs over finite ones."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_lemmas import PURIFIED, TRANSFER


def evaluated(**given: Any) -> dict[str, Any]:
    return dict(PURIFIED.evaluate(PURIFIED.request(**given)).outputs)


def divergence(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def nearest(p: np.ndarray, q: np.ndarray, epsilon: float, *, both: bool) -> float:
    """The least t with laws P', Q' (Q' = Q unless `both`) within t of P, Q and ε-indistinguishable."""
    n, ratio = len(p), math.exp(epsilon)
    eye, none = np.eye(n), np.zeros((n, n))
    column = np.zeros((n, 1))
    # Variables P', Q', |P' − P|, |Q' − Q|, t.
    rows = [
        np.hstack([eye, -ratio * eye, none, none, column]),
        np.hstack([-ratio * eye, eye, none, none, column]),
        np.hstack([eye, none, -eye, none, column]),
        np.hstack([-eye, none, -eye, none, column]),
        np.hstack([none, eye, none, -eye, column]),
        np.hstack([none, -eye, none, -eye, column]),
    ]
    sums = np.zeros((2, 4 * n + 1))
    sums[0, 2 * n : 3 * n] = sums[1, 3 * n : 4 * n] = 0.5
    sums[:, -1] = -1.0
    bounds = np.concatenate([np.zeros(2 * n), p, -p, q, -q, np.zeros(2)])
    whole = np.zeros((2, 4 * n + 1))
    whole[0, :n] = whole[1, n : 2 * n] = 1.0
    equal, right = [whole], [np.ones(2)]
    if not both:
        equal.append(np.hstack([none, eye, none, none, column]))
        right.append(q)
    found = linprog(
        np.append(np.zeros(4 * n), 1.0),
        A_ub=np.vstack([*rows, sums]),
        b_ub=bounds,
        A_eq=np.vstack(equal),
        b_eq=np.concatenate(right),
    )
    return float(found.fun)


@pytest.mark.compares("lowy.lemma-f.5")
@pytest.mark.parametrize("seed", range(8))
def test_the_nearest_private_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    epsilon = float(rng.uniform(0.05, 1.0))
    delta = max(divergence(p, q, epsilon), divergence(q, p, epsilon))
    found = evaluated(epsilon=epsilon, delta=delta)
    assert nearest(p, q, epsilon, both=False) <= found["distance"] * (1 + 1e-8)
    assert nearest(p, q, epsilon, both=True) == pytest.approx(found["pair_distance"], rel=1e-7)
    if divergence(p, q, epsilon) == delta:
        assert nearest(p, q, epsilon, both=False) == pytest.approx(found["distance"], rel=1e-7)


def test_lemma_f_6_takes_it_back() -> None:
    """Laws within t = δ/(e^ε + 1) of an ε-indistinguishable pair are (ε, δ) again."""
    found = evaluated(epsilon=0.7, delta=1e-5)
    back = TRANSFER.request(epsilon=0.7, log10_delta=-300.0, distance=found["pair_distance"])
    assert TRANSFER.evaluate(back).outputs["delta"] == pytest.approx(1e-5, rel=1e-12)
    assert found["distance"] == pytest.approx(1e-5, rel=1e-14)
    tiny = evaluated(epsilon=800.0, log10_delta=-400.0)
    assert tiny["log10_pair_distance"] == pytest.approx(-400.0 - 800.0 / math.log(10.0))
    assert "distance" not in tiny

"""The weights of Algorithm 1 of Reshef and Levy and the lemmas under its convergence: by running it, in rationals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.reshef_levy.anytime_steps import ANYTIME, LEMMA_A_7, REGRET, WEIGHTS


@pytest.mark.compares("reshef.algorithm-1-weights")
@pytest.mark.parametrize("number", [1, 2, 3, 40])
def test_the_weights_from_their_definition(number: int) -> None:
    found = WEIGHTS.evaluate(WEIGHTS.request(round=number)).outputs
    sums = [Fraction(sum(range(1, t + 1))) for t in (number, number + 1)]
    wanted = {
        "weight": number,
        "weight_sum": float(sums[0]),
        "momentum": float(1 - Fraction(number - 1, number)),
        "share": float(Fraction(number + 1) / sums[1]),
    }
    assert found == pytest.approx(wanted, rel=1e-15)


def test_the_share_keeps_the_mean_by_round() -> None:
    points = [Fraction(k * k % 7, 3) for k in range(1, 30)]
    mean = points[0]
    for number, point in enumerate(points[1:], start=1):
        share = Fraction(2, number + 2)
        mean = (1 - share) * mean + share * point
        total = sum(t * x for t, x in enumerate(points[: number + 1], start=1))
        assert mean == total / Fraction((number + 1) * (number + 2), 2)


def run(eta: float, rounds: int, seed: int) -> dict[str, Any]:
    """w ← Π(w − ηtg), x the mean by round, on Σ c_i|x_i − z_i|^1.5 over the unit ball, with what the lemmas speak of."""
    rng = np.random.default_rng(seed)
    centre, scale = np.asarray([0.3, -0.2, 0.4]), np.asarray([1.0, 2.0, 0.5])

    def loss(x: Any) -> float:
        return float(np.sum(scale * np.abs(x - centre) ** 1.5))

    def gradient(x: Any) -> Any:
        return 1.5 * scale * np.sign(x - centre) * np.sqrt(np.abs(x - centre))

    w = rng.normal(size=3)
    w /= np.linalg.norm(w)
    x, products, moved, regret = w.copy(), [], [], 0.0
    for t in range(1, rounds + 1):
        if t > 1:
            x = x + 2.0 / (t + 1.0) * (w - x)
        slope = gradient(x)
        products.append(float(slope @ (w - centre)))
        noisy = t * (slope + 0.3 * rng.normal(size=3))
        after = w - eta * noisy
        after /= max(1.0, float(np.linalg.norm(after)))
        moved.append(float(np.linalg.norm(after - w)))
        regret += float(noisy @ (after - centre))
        w = after
    return {"excess": loss(x), "products": products, "moved": moved, "regret": regret}


@pytest.mark.compares("reshef.appendix-a.anytime")
@pytest.mark.parametrize("rounds", [1, 4, 60])
def test_the_last_mean_model_has_no_more_than_the_regret(rounds: int) -> None:
    measured = run(0.02, rounds, seed=rounds)
    found = ANYTIME.evaluate(ANYTIME.request(inner_products=measured["products"]))
    exact = sum(t * Fraction(value) for t, value in enumerate(measured["products"], start=1))
    assert found.outputs["weighted_regret"] == pytest.approx(float(exact), rel=1e-13)
    assert found.outputs["excess_risk"] == pytest.approx(float(exact / Fraction(rounds * (rounds + 1), 2)), rel=1e-13)
    assert measured["excess"] <= found.outputs["excess_risk"]
    assert found.conditions[-1].holds == "yes"
    impossible = ANYTIME.evaluate(ANYTIME.request(inner_products=(1.0, -0.75, 5.0)))
    assert impossible.conditions[-1].holds == "no"
    assert impossible.conditions[-1].left == -0.5


@pytest.mark.parametrize("power", [0, 1, 3])
def test_the_mean_model_with_other_weights(power: int) -> None:
    """Weights t^k on f(x) = |x|^1.5: steps along any gradient, means with these weights."""
    rng = np.random.default_rng(power)
    weights = [float(t**power) for t in range(1, 26)]
    w, x, total, products = 1.0, 0.0, 0.0, []
    for weight in weights:
        total += weight
        x += weight / total * (w - x)
        slope = 1.5 * math.copysign(math.sqrt(abs(x)), x)
        products.append(slope * w)
        w = max(min(w - 0.4 * (slope + 0.2 * float(rng.normal())), 1.0), -1.0)
    evaluation = ANYTIME.evaluate(ANYTIME.request(inner_products=products, weights=weights))
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(weights, products, strict=True))
    assert evaluation.outputs["weighted_regret"] == pytest.approx(float(exact), rel=1e-12)
    assert evaluation.outputs["excess_risk"] == pytest.approx(float(exact / sum(map(Fraction, weights))), rel=1e-12)
    assert abs(x) ** 1.5 <= evaluation.outputs["excess_risk"] * (1 + 1e-12)
    if power == 1:
        assert evaluation.outputs == ANYTIME.evaluate(ANYTIME.request(inner_products=products)).outputs


@pytest.mark.erratum("E-R13")
def test_a_start_outside_the_domain_refutes_the_regret() -> None:
    """E-R13: on [0, 1] from w_1 = 3 with η = 1 and q_1 = 0, w_2 = 1 and the left side is ⟨0, 1 − 0⟩ = 0."""
    start, estimate, point = 3.0, 0.0, 0.0
    after = min(max(start - estimate, 0.0), 1.0)
    found = REGRET.evaluate(REGRET.request(diameter=1.0, step_size=1.0, movements=(start - after,))).outputs
    assert found["regret"] == -1.5
    assert estimate * (after - point) > found["regret"]
    inside = REGRET.evaluate(REGRET.request(diameter=1.0, step_size=1.0, movements=(0.0,))).outputs
    assert estimate * (1.0 - point) <= inside["regret"]


@pytest.mark.compares("reshef.appendix-a.regret")
@pytest.mark.parametrize("eta", [0.005, 0.1, 2.0])
def test_the_regret_of_projected_steps(eta: float) -> None:
    measured = run(eta, 25, seed=9)
    found = REGRET.evaluate(REGRET.request(diameter=2.0, step_size=eta, movements=measured["moved"])).outputs
    moved = sum(Fraction(one) ** 2 for one in measured["moved"])
    assert found["regret"] == pytest.approx(float((4 - moved) / (2 * Fraction(eta))), rel=1e-12)
    assert found["plain_regret"] == pytest.approx(2.0 / eta, rel=1e-14)
    assert measured["regret"] <= found["regret"] <= found["plain_regret"]


@pytest.mark.erratum("E-R5")
@pytest.mark.compares("reshef.lemma-a.7")
@pytest.mark.parametrize("rounds", [1, 2, 10, 400])
@pytest.mark.parametrize("feedback", [0.5, 0.125, 0.0])
def test_the_recursion_by_its_extremal_sequence(feedback: float, rounds: int) -> None:
    """Equality in every round, with B_t = B throughout: the largest A_T there is."""
    share, added, values = feedback / rounds, 3.0, []
    for _ in range(rounds):
        values.append((share * math.fsum(values) + added) / (1.0 - share))
    found = LEMMA_A_7.evaluate(LEMMA_A_7.request(added=added, feedback=feedback, rounds=rounds)).outputs
    assert found["sharper_bound"] == pytest.approx(values[-1], rel=1e-11)
    assert found["bound"] == pytest.approx(added / (1.0 - feedback), rel=1e-15)
    assert found["sharper_bound"] <= found["bound"] * (1.0 + 1e-12)
    rng = np.random.default_rng(rounds)
    others, limits = [], np.sort(rng.uniform(0.0, added, size=rounds))
    for limit in limits:
        others.append((share * math.fsum(others) + limit) / (1.0 - share) * rng.uniform())
    assert others[-1] <= found["sharper_bound"]


@pytest.mark.parametrize("feedback", [0.5, 0.125])
def test_the_recursion_as_printed_by_linear_algebra(feedback: float) -> None:
    """A = (h/T)·1ΣA + B·1: all terms are B/(1 − h); smaller right sides give smaller terms, negative ones included."""
    rounds, added = 12, 3.0
    found = LEMMA_A_7.evaluate(LEMMA_A_7.request(added=added, feedback=feedback, rounds=rounds)).outputs
    system = np.eye(rounds) - feedback / rounds * np.ones((rounds, rounds))
    assert np.linalg.solve(system, np.full(rounds, added)) == pytest.approx(np.full(rounds, found["bound"]), rel=1e-12)
    assert found["sharper_bound"] < 0.95 * found["bound"] or feedback < 0.2
    rng = np.random.default_rng(3)
    for _ in range(50):
        terms = np.linalg.solve(system, added - rng.exponential(2.0, size=rounds))
        assert np.max(terms) <= found["bound"] * (1 + 1e-12)


def test_lists_out_of_range_are_refused() -> None:
    for weights in ((1.0,), (1.0, 0.0), (1.0, -2.0)):
        with pytest.raises(InvalidInput, match="/weights"):
            ANYTIME.request(inner_products=(1.0, 2.0), weights=weights)
    for bad in ((), (math.inf,), (-1e101,)):
        with pytest.raises(InvalidInput):
            ANYTIME.request(inner_products=bad)
    with pytest.raises(InvalidInput):
        REGRET.request(diameter=1.0, step_size=1.0, movements=(-1.0,))

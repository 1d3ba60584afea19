"""Adversaries that choose every move by what they saw: under the ledger's rules none passes the opening's δ.

What the best one reaches is found by dynamic programming over the accumulated loss, E[max] at every step, which knows
nothing of the ledger's theorem. Under the refuted rules the same adversaries do pass it.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr

Law = tuple[tuple[float, int], ...]
"""Probabilities under the first law, and losses in units of STEP."""
STEP = 0.1


def random_law(rng: np.random.Generator) -> Law:
    """Randomized responses of several strengths, mixed, so that e^{−loss} has mean one; some of them lopsided."""
    law: Counter[int] = Counter()
    weights = rng.dirichlet(np.ones(3))
    for weight in weights:
        up, down = int(rng.integers(1, 9)), int(rng.integers(1, 9))
        # Two outcomes with losses up and −down: p e^{−up} + (1 − p) e^{down} = 1.
        p = math.expm1(down * STEP) / (math.exp(down * STEP) - math.exp(-up * STEP))
        law[up] += weight * p
        law[-down] += weight * (1.0 - p)
    return tuple((chance, loss) for loss, chance in sorted(law.items()))


def product_delta(laws: tuple[Law, ...], epsilon: float) -> float:
    """Σ p (1 − e^{ε − loss})₊ of the product, by convolution."""
    total: Counter[int] = Counter({0: 1.0})
    for law in laws:
        following: Counter[int] = Counter()
        for at, chance in total.items():
            for p, loss in law:
                following[at + loss] += chance * p
        total = following
    return math.fsum(p * -math.expm1(min(epsilon - STEP * loss, 0.0)) for loss, p in total.items())


def best(laws: tuple[Law, ...], steps: int, once: Law, epsilon: float) -> float:
    """The most that an adversary gets who runs planned laws in any order, steps of a job at any time, and stops."""

    @cache
    def value(left: tuple[int, ...], credit: int, loss: int) -> float:
        found = [-math.expm1(min(epsilon - STEP * loss, 0.0))]
        for place in left:
            rest = tuple(one for one in left if one != place)
            found.append(math.fsum(p * value(rest, credit, loss + moved) for p, moved in laws[place]))
        if credit:
            found.append(math.fsum(p * value(left, credit - 1, loss + moved) for p, moved in once))
            # Exchanged: the step, but only with probability one half, which is below it at every γ.
            half = math.fsum(p * value(left, credit - 1, loss + moved) for p, moved in once)
            found.append(0.5 * half + 0.5 * value(left, credit - 1, loss))
        return max(found)

    return value(tuple(range(len(laws))), steps, 0)


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_and_its_credits_hold_against_any_order_and_any_stop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    laws, once, steps = tuple(random_law(rng) for _ in range(3)), random_law(rng), 3
    for epsilon in (0.0, 0.3, 1.0, 1.7):
        opened = product_delta((*laws, *([once] * steps)), epsilon)
        assert best(laws, steps, once, epsilon) <= opened * (1.0 + 1e-12) + 1e-15
        assert best(laws, steps, once, epsilon) >= opened * (1.0 - 1e-12)  # who runs everything has all of it


@pytest.mark.parametrize("seed", range(4))
def test_replanning_by_the_exact_curve_passes_the_target(seed: int) -> None:
    """After a first law, either of two may be run, of which each composes with it to the target and no more."""
    rng = np.random.default_rng(100 + seed)
    first, epsilon = random_law(rng), 1.0
    strong, mild = random_law(rng), tuple((p, loss) for p, loss in zip((0.5, 0.5), (0, 0), strict=True))
    keep = 1.0 / (1.0 + math.exp(-4.0))
    wide: Law = ((keep, 40), (1.0 - keep, -40))
    target = 0.5 * (product_delta((first, mild), epsilon) + product_delta((first, strong), epsilon))

    def within(law: Law) -> Law:
        """The law, run with the probability that meets the target."""
        low, high = product_delta((first, mild), epsilon), product_delta((first, law), epsilon)
        share = (target - low) / (high - low)
        return (*((share * p, loss) for p, loss in law), (1.0 - share, 0))

    options = [within(strong), within(wide)]
    for option in options:
        assert product_delta((first, option), epsilon) == pytest.approx(target, rel=1e-12)
    chosen = math.fsum(
        p * max(product_delta((option,), epsilon - STEP * loss) for option in options) for p, loss in first
    )
    assert chosen > 1.01 * target


# A Gaussian slot, split at will, beside a response that is charged by its residue ------------------------------------
LOSSES = np.linspace(-8.0, 9.0, 3401)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(81)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
EVERYWHERE = np.linspace(-10.0, 10.0, 4001)


def gaussian_delta(mu: float, at: Any) -> Any:
    if mu == 0.0:
        return np.maximum(-np.expm1(np.minimum(at, 0.0)), 0.0)
    first, second = log_ndtr(mu / 2 - at / mu), at + log_ndtr(-mu / 2 - at / mu)
    return np.exp(first) * -np.expm1(np.minimum(second - first, -1e-300))


def response_cost(loss: float, held: float) -> float:
    """What a randomized response costs in a slot that holds so much, at η = 0; infinite if it does not fit."""
    keep = 1.0 / (1.0 + math.exp(-loss))

    def fits(cost: float) -> bool:
        mu = math.sqrt(held - cost)
        left = keep * gaussian_delta(mu, EVERYWHERE - loss) + (1.0 - keep) * gaussian_delta(mu, EVERYWHERE + loss)
        return bool(np.all(left <= gaussian_delta(math.sqrt(held), EVERYWHERE) * (1.0 + 1e-10) + 1e-14))

    if not fits(held):
        return math.inf
    low, high = 0.0, held
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def best_in_slot(held: float, epsilon: float, responses: tuple[float, ...], moves: int, price: Any) -> Any:
    """The most at each accumulated loss: spend all that is left, or a third of it, or run a response, or stop."""
    spent = gaussian_delta(math.sqrt(held), epsilon - LOSSES)
    if moves == 0:
        return spent
    found = [spent]
    mu = math.sqrt(held / 3)
    after = best_in_slot(held * 2 / 3, epsilon, responses, moves - 1, price)
    found.append(
        sum(w * np.interp(LOSSES + mu * x + mu * mu / 2, LOSSES, after) for x, w in zip(NODES, WEIGHTS, strict=True))
    )
    for loss in responses:
        cost = price(loss, held)
        if cost <= held:
            after = best_in_slot(held - cost, epsilon, responses, moves - 1, price)
            keep = 1.0 / (1.0 + math.exp(-loss))
            found.append(
                keep * np.interp(LOSSES + loss, LOSSES, after) + (1.0 - keep) * np.interp(LOSSES - loss, LOSSES, after)
            )
    return np.max(found, axis=0)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_a_slot_holds_against_responses_charged_at_its_present_value(epsilon: float) -> None:
    held, responses = 0.5, (0.2, 0.45)
    priced = cache(response_cost)
    opened = float(gaussian_delta(math.sqrt(held), np.asarray(epsilon)))
    value = float(np.interp(0.0, LOSSES, best_in_slot(held, epsilon, responses, 3, priced)))
    assert value <= opened * (1.0 + 2e-4)
    assert value >= opened * (1.0 - 1e-9)


def test_a_slot_that_charges_by_the_targets_point_alone_passes_it() -> None:
    """The refuted rule in a slot: a response costs what keeps δ at the target's ε, and nothing is asked elsewhere."""
    held, epsilon = 0.3, 1.5

    def at_the_point(loss: float, at_hand: float) -> float:
        keep = 1.0 / (1.0 + math.exp(-loss))
        low, high = 0.0, at_hand
        for _ in range(50):
            middle = 0.5 * (low + high)
            mu, at = math.sqrt(at_hand - middle), np.asarray(epsilon)
            left = keep * gaussian_delta(mu, at - loss) + (1.0 - keep) * gaussian_delta(mu, at + loss)
            fits = left <= gaussian_delta(math.sqrt(at_hand), at)
            low, high = (low, middle) if fits else (middle, high)
        return high

    opened = float(gaussian_delta(math.sqrt(held), np.asarray(epsilon)))
    value = float(np.interp(0.0, LOSSES, best_in_slot(held, epsilon, (0.45, 1.2), 3, at_the_point)))
    assert value > 1.05 * opened

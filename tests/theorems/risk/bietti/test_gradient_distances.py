"""Lemmas B.2 and B.3 of Bietti et al.: over all draws of clients and records, for squared losses of one coordinate."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.bietti.gradient_distances import LEMMA_B_2, LEMMA_B_3


def scattered(
    slopes: list[tuple[Fraction, Fraction]], model: list[Fraction], alpha: Fraction, rate: Fraction, batches: list[int]
) -> tuple[Fraction, Fraction]:
    """The mean squared distance of the steps, and the excess risk, in rationals.

    Client i has the loss (L/2)(a w + b θ_i − y)² with L = 1, (a, b) its slopes, and the label y of mean 1. The minimiser
    is any z* with a w + b θ_i = 1 for all clients. The gradient's difference is the same for every label.
    """
    total = sum(batches)
    shared, own = model[0], model[1:]
    gaps = [a * shared + b * theta - 1 for (a, b), theta in zip(slopes, own, strict=True)]
    excess = sum(m * gap**2 / 2 for m, gap in zip(batches, gaps, strict=True)) / total
    mean = Fraction(0)
    for drawn in itertools.product((0, 1), repeat=len(batches)):
        chance = Fraction(1)
        for each in drawn:
            chance *= rate if each else 1 - rate
        step = [b * m * gap / (rate * total) for b, m, gap in zip(drawn, batches, gaps, strict=True)]
        together = sum(part * a for part, (a, _) in zip(step, slopes, strict=True))
        alone = sum((part * b) ** 2 for part, (_, b) in zip(step, slopes, strict=True))
        mean += chance * (alpha * together**2 + alone)
    return mean, excess


SHARED, OWN = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
MIXED = (Fraction(3, 5), Fraction(4, 5))
MODELS = [
    [Fraction(2), Fraction(2), Fraction(2), Fraction(2)],
    [Fraction(1, 3), Fraction(-2), Fraction(4), Fraction(1)],
]


@pytest.mark.compares("bietti.lemma-b.2")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(4)])
@pytest.mark.parametrize("kind", [SHARED, OWN, MIXED])
def test_all_clients_over_all_draws(kind: Any, alpha: Fraction, model: Any) -> None:
    mean, excess = scattered([kind] * 3, model, alpha, Fraction(1), [1, 1, 1])
    fields = {"clients": 3, "smoothness": 1.0, "personalization": float(alpha), "excess_risk": float(excess)}
    found = LEMMA_B_2.evaluate(LEMMA_B_2.request(**fields)).outputs
    weighted = max(alpha, Fraction(1, 3))
    assert found["weighted_smoothness"] == pytest.approx(float(weighted), rel=1e-14)
    assert found["squared_distance"] == pytest.approx(float(2 * weighted * excess), rel=1e-13)
    assert float(mean) <= found["squared_distance"] * (1 + 1e-12)
    if kind is (SHARED if alpha >= Fraction(1, 3) else OWN) and model is MODELS[0]:
        assert float(mean) == pytest.approx(found["squared_distance"], rel=1e-12)


@pytest.mark.compares("bietti.lemma-b.3")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("batches", [[1, 1, 1], [1, 2, 5]])
@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 10), Fraction(4)])
@pytest.mark.parametrize("rate", [Fraction(1, 5), Fraction(1)])
@pytest.mark.parametrize("kind", [SHARED, OWN, MIXED])
def test_drawn_clients_over_all_draws(
    kind: Any, rate: Fraction, alpha: Fraction, batches: list[int], model: Any
) -> None:
    mean, excess = scattered([kind] * 3, model, alpha, rate, batches)
    total, largest = sum(batches), max(batches)
    fields = {
        "records": total, "largest_batch": largest, "participation_rate": float(rate), "smoothness": 1.0,
        "personalization": float(alpha), "excess_risk": float(excess),
    }  # fmt: skip
    found = LEMMA_B_3.evaluate(LEMMA_B_3.request(**fields)).outputs
    local = Fraction(largest) / (rate * total)
    printed = max(alpha + alpha * local, local)
    sharper = max(alpha + alpha * (1 - rate) * local, local)
    wanted = {
        "weighted_smoothness": printed,
        "squared_distance": 2 * printed * excess,
        "sharper_weighted_smoothness": sharper,
        "sharper_squared_distance": 2 * sharper * excess,
    }
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-13)
    assert float(mean) <= found["sharper_squared_distance"] * (1 + 1e-12)
    if model is MODELS[0] and batches == [1, 1, 1] and kind is (SHARED if alpha == 4 else OWN):
        assert float(mean) == pytest.approx(found["sharper_squared_distance"], rel=1e-12)


@pytest.mark.erratum("E-B14")
def test_the_printed_sign_fails_for_one_record() -> None:
    """E-B14: f(w) = (w − 1)²/2, z* = 0 and z = 1, where z* minimises the mean with the label −1."""
    gradient = {0: Fraction(-1), 1: Fraction(0)}
    loss = {0: Fraction(1, 2), 1: Fraction(0)}
    left = (gradient[1] - gradient[0]) ** 2
    printed, corrected = (2 * (loss[1] - loss[0] + sign * gradient[0]) for sign in (1, -1))
    assert (left, printed, corrected) == (1, -3, 1)
    # In the mean over the labels 1 and −1 the inner product vanishes, and the lemma holds with equality.
    fields = {"clients": 1, "smoothness": 1.0, "personalization": 1.0, "excess_risk": 0.5}
    assert LEMMA_B_2.evaluate(LEMMA_B_2.request(**fields)).outputs["squared_distance"] == 1.0


def test_a_batch_larger_than_all_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot exceed"):
        LEMMA_B_3.request(**{**LEMMA_B_3.examples[0], "largest_batch": 201})

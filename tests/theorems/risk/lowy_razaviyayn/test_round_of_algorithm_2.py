"""Weights of Algorithm 2 and compressed messages: least points in exact arithmetic, and laws of rounding in full."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_stages import WEIGHTS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.compressed_messages import REMARK_2_1

COMPRESSED: dict[str, Any] = dict(REMARK_2_1.examples[0])


def weights(**given: Any) -> dict[str, Any]:
    return dict(WEIGHTS.evaluate(WEIGHTS.request(**given)).outputs)


@pytest.mark.compares("lowy.algorithm-2.weights")
@pytest.mark.parametrize("round_number", [1, 2, 7, 1000])
@pytest.mark.parametrize("mu", [0.0, 0.25, 8.0])
def test_a_round_is_the_least_point_of_its_model(round_number: int, mu: float) -> None:
    """Fractions throughout: the derivative of the model vanishes at the point that the weights make."""
    r, v, m = round_number, Fraction(3, 2), Fraction(mu)
    alpha, eta = Fraction(2, r + 1), 4 * v / (r * (r + 1))
    found = weights(round_number=r, prox_weight=1.5, strong_convexity=mu)
    assert found["alpha"] == pytest.approx(float(alpha), rel=1e-14)
    assert found["eta"] == pytest.approx(float(eta), rel=1e-14)
    aggregate, iterate, gradient = Fraction(7, 3), Fraction(-5, 4), Fraction(9, 2)
    middle = ((1 - alpha) * (m + eta) * aggregate + alpha * ((1 - alpha) * m + eta) * iterate) / (
        eta + (1 - alpha**2) * m
    )
    ours = found["aggregate_weight"] * float(aggregate) + found["iterate_weight"] * float(iterate)
    assert ours == pytest.approx(float(middle), rel=1e-12)
    point = Fraction(found["middle_weight"]) * middle + Fraction(found["kept_weight"]) * iterate
    point -= Fraction(found["step_size"]) * gradient
    slope = alpha * (gradient + m * (point - middle)) + ((1 - alpha) * m + eta) * (point - iterate)
    assert abs(slope) <= 1e-13 * float(alpha * abs(gradient) + (m + eta) * (abs(middle) + abs(iterate) + 1))
    assert found["aggregate_weight"] + found["iterate_weight"] == pytest.approx(1.0, rel=1e-15)
    assert found["middle_weight"] + found["kept_weight"] == pytest.approx(1.0, rel=1e-15)


@pytest.mark.compares("lowy.remark-2.1")
def test_compressed_messages_from_their_definition() -> None:
    for levels, d in ((1, 3), (16, 1000), (500, 1000)):
        given = {**COMPRESSED, "quantization_levels": levels, "dimension": d}
        found = REMARK_2_1.evaluate(REMARK_2_1.request(**given)).outputs
        omega = min(mpf(d) / (4 * levels**2), mp.sqrt(d) / levels)
        added = omega * (1 + d * mpf("0.1") ** 2) / 20
        bits = 32 + d * math.ceil(mp.log(2 * levels + 1, 2))
        expected = {
            "compression_variance": omega,
            "added_variance": added,
            "compressed_gradient_variance": mpf("0.6") + added,
            "bits_per_message": bits,
            "bits_per_coordinate": mpf(bits) / d,
            "uncompressed_bits_per_message": 32 * d,
        }
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert found[name] == pytest.approx(float(value), rel=1e-13), name


@pytest.mark.parametrize("levels", [1, 2, 5])
def test_no_message_is_rounded_with_more_variance(levels: int) -> None:
    """The law of the rounded message, in full, for random and for the worst messages."""
    rng = np.random.default_rng(levels)
    given = {**COMPRESSED, "quantization_levels": levels, "dimension": 3}
    most = REMARK_2_1.evaluate(REMARK_2_1.request(**given)).outputs["compression_variance"]
    reached = 0.0
    for message in [*rng.normal(size=(300, 3)), np.ones(3), np.array([1.0, 1e-9, 0.0])]:
        norm = np.linalg.norm(message)
        scaled = levels * np.abs(message) / norm
        low = np.floor(scaled)
        up = scaled - low
        mean, square = np.zeros(3), 0.0
        for raised in itertools.product((0, 1), repeat=3):
            share = np.prod(np.where(raised, up, 1 - up))
            value = np.sign(message) * norm * (low + raised) / levels
            mean += share * value
            square += share * np.sum((value - message) ** 2)
        assert mean == pytest.approx(message, abs=1e-12 * norm)
        reached = max(reached, square / norm**2)
    assert reached <= most * (1 + 1e-12)
    assert reached > 0.4 * most

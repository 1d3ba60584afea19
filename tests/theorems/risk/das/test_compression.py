"""γ of Theorem 2 of Das et al.: the mean squared error of a message, by enumeration."""

from __future__ import annotations

import pytest
from mpmath import exp, mp, mpf

from epsilond.accountants.theorems.risk.das.compression import COMPRESSION


@pytest.mark.compares("das.2-compression")
@pytest.mark.parametrize(("levels", "rate"), [(1, 0.0), (9, 0.1), (30, 2.0)])
def test_the_error_of_a_message_by_enumeration(levels: int, rate: float) -> None:
    """Coordinates halfway between two grid points, and every value of the noise."""
    dimension, s = 7, 5
    with mp.workdps(40):
        weights = {y: exp(-mpf(rate) * abs(y)) for y in range(-levels, levels + 1)}
        total = sum(weights.values())
        noise = dimension * sum(w * (mpf(y) / s) ** 2 for y, w in weights.items()) / total
        rounding = dimension * (mpf(1) / (2 * s)) ** 2
        printed = mpf(dimension) / (4 * s * s) * (1 + 4 * mpf(levels) ** 2)
    fields = {"dimension": dimension, "quantization_levels": s, "noise_levels": levels}
    found = COMPRESSION.evaluate(COMPRESSION.request(**fields, decay_rate=rate)).outputs
    wanted = {
        "compression": printed,
        "least_compression": rounding + noise,
        "rounding_term": rounding,
        "noise_term": noise,
    }
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-13)


@pytest.mark.erratum("D-6")
def test_the_printed_compression_is_up_to_three_times_too_large() -> None:
    for levels in (1, 10, 10**6):
        fields = {"dimension": 100, "quantization_levels": 64, "noise_levels": levels}
        found = COMPRESSION.evaluate(COMPRESSION.request(**fields)).outputs
        assert found["least_compression"] <= found["compression"] <= 3.0 * found["least_compression"]
    assert found["compression"] > 2.999 * found["least_compression"]

"""Theorem 3 of Das et al.: the variance a growth condition allows, and what is not a δ."""

from __future__ import annotations

import numpy as np
import pytest

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.das.small_movement import COROLLARY_3_1, THEOREM_3, GrowthInputs


@pytest.mark.erratum("D-11")
def test_the_variance_of_a_growth_condition() -> None:
    """Gradients ±ρḡ with mean ḡ have variance (ρ² − 1)ḡ², not (ρ − 1)ḡ²: the failure probability is Chebyshev's."""
    ratio = 2.0
    share = (1 + 1 / ratio) / 2
    values, weights = np.asarray([ratio, -ratio]), np.asarray([share, 1 - share])
    mean = float(values @ weights)
    assert mean == pytest.approx(1.0)
    assert float((values - mean) ** 2 @ weights) == pytest.approx(ratio**2 - 1)
    inputs = GrowthInputs(growth_ratio=ratio, samples_per_client=1000, quantization_levels=512, dimension=100)
    printed, corrected = (THEOREM_3.evaluate(inputs, reading).outputs for reading in ("printed", "corrected"))
    assert corrected["failure_probability"] == pytest.approx(3 * printed["failure_probability"])
    assert corrected["relative_movement"] < printed["relative_movement"]


def test_it_is_no_privacy_statement() -> None:
    assert THEOREM_3.status is Status.UNPROVED
    assert COROLLARY_3_1.status is Status.REFUTED
    declared = [one for one in THEOREM_3.conditions if not one.checked]
    assert [one.id for one in declared] == ["over-the-data"]


def test_too_few_records() -> None:
    few = GrowthInputs(growth_ratio=10.0, samples_per_client=50, quantization_levels=1, dimension=1)
    enough = GrowthInputs(growth_ratio=10.0, samples_per_client=97, quantization_levels=1, dimension=1)
    assert THEOREM_3.evaluate(few).conditions[0].holds == "no"
    assert THEOREM_3.evaluate(enough).conditions[0].holds == "yes"

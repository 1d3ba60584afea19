"""Partial participation: variances by enumeration, and gaps between reports by simulation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.reshef_levy.variance import (
    APPENDIX_G,
    LEMMA_2_1,
    LEMMA_4_1,
    LEMMA_4_2,
    LEMMA_4_3,
    SpreadInputs,
    SumInputs,
)


@pytest.mark.erratum("E-R12")
def test_the_share_of_the_clients_spread_by_enumeration() -> None:
    """All subsets of unlike clients, each with a two-point record: the lemma is attained; 1/M of the share is too little."""
    means, spread, m = np.asarray([-2.0, 1.0, 0.5, 3.0, -2.5]), 0.7, 2
    clients = len(means)
    errors = [
        np.square(means[list(chosen)].mean() - means.mean()) + spread**2 / m
        for chosen in itertools.combinations(range(clients), m)
    ]
    heterogeneity = math.sqrt(np.square(means - means.mean()).mean())
    inputs = SpreadInputs(clients=clients, participants=m, gradient_std=spread, heterogeneity=heterogeneity)
    found = LEMMA_4_2.evaluate(inputs).outputs["variance"]
    assert found == pytest.approx(np.mean(errors), rel=1e-12)
    printed = (spread**2 + (clients - m) / (clients * (clients - 1)) * heterogeneity**2) / m
    assert printed < np.mean(errors)
    everyone = SpreadInputs(clients=1, participants=1, gradient_std=spread, heterogeneity=9.0)
    assert LEMMA_2_1.evaluate(everyone).outputs["variance"] == pytest.approx(spread**2)


@pytest.mark.compares("reshef.lemma-4.2", "reshef.lemma-4.3")
def test_the_mean_error_falls_as_the_sum_grows() -> None:
    shape: dict[str, Any] = {"clients": 9, "participants": 3, "gradient_std": 1.0, "heterogeneity": 2.0}
    found = LEMMA_4_3.evaluate(SumInputs(**shape, round=7)).outputs
    one = LEMMA_4_2.evaluate(SpreadInputs(**shape)).outputs["variance"]
    assert found["variance"] == pytest.approx(7 * one, rel=1e-14)
    assert found["mean_variance"] == pytest.approx(one / 7, rel=1e-14)


@pytest.mark.erratum("E-R10")
def test_geometric_gaps_by_simulation() -> None:
    draw = np.random.default_rng(2)
    for clients, participants in ((4, 2), (10, 2), (20, 1)):
        gaps = draw.geometric(participants / clients, 200_000).astype(float)
        squares = np.square(gaps).sum() / gaps.sum()
        inputs = APPENDIX_G.request(clients=clients, participants=participants)
        printed = APPENDIX_G.evaluate(inputs, "printed").outputs["factor"]
        corrected = APPENDIX_G.evaluate(inputs, "corrected").outputs["factor"]
        assert corrected == pytest.approx(math.sqrt(squares), rel=0.02)
        assert corrected / printed == pytest.approx(math.sqrt(2 - participants / clients), rel=1e-12)


@pytest.mark.parametrize(
    ("inputs", "fields", "pointer"),
    [
        (SpreadInputs, {"clients": 3, "participants": 4, "gradient_std": 1.0, "heterogeneity": 1.0}, "/participants"),
        (APPENDIX_G.request, {"clients": 3, "participants": 4}, "/participants"),
        (
            LEMMA_4_1.request,
            {
                "clipping_norm": 1.0,
                "gaussian_dp_mu": 1.0,
                "rounds": 3,
                "round": 4,
                "dimension": 1,
                "participants": 1,
            },
            "/round",
        ),
    ],
)
def test_inputs_that_no_run_can_have(inputs: Any, fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inputs(**fields)
    assert [fault.pointer for fault in caught.value.faults] == [pointer]

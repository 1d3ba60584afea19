"""Lower bounds on the risk of a run beside its upper bounds: no run has less than the least, or more than the largest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS, RiskBounder
from epsilond.calibrators.risk.parts import RiskFields
from epsilond.reading import read
from tests.laws import domains
from tests.laws.test_domains import examples_of

MINI_BATCH = [bounder for bounder in RISK_BOUNDS if issubclass(bounder.problem, RiskFields)]
ROUNDING = 1e-12
"""Relative tolerance, for a few roundings."""


def check_bounds(answer: RiskBoundsAnswer, largest: float) -> int:
    """Demand that every lower bound is at most the largest excess, and at most every explicit upper bound.

    The statistical term holds for every algorithm, private or not, so that the noise of the run may be any. The privacy
    term is left out, because the noise may be too small for the target.

    Args:
        answer: bounds of one run.
        largest: LD, which no excess risk exceeds.

    Returns:
        The number of comparisons between a lower and an upper bound.
    """
    compared = 0
    for lower in answer.lower:
        assert 0.0 <= lower.scale <= largest * (1.0 + ROUNDING)
        if any(condition.holds == Verdict.NO for condition in lower.conditions):
            continue
        statistical = lower.terms.get("statistical_term", 0.0)
        for upper in answer.upper:
            holds = upper.constant == "explicit" and not any(one.holds == Verdict.NO for one in upper.conditions)
            if holds and upper.value is not None and lower.problem == answer.objective:
                assert statistical <= upper.value
                compared += 1
    return compared


def bounds_at(bounder: RiskBounder, body: Mapping[str, Any]) -> RiskBoundsAnswer | None:
    """Return the bounds for a body, or None where it is rejected."""
    try:
        return bounder.solve(read(bounder.problem, body))
    except (InvalidInput, NoCertificate):
        return None


@st.composite
def run_bodies(draw: st.DrawFn, bounder: RiskBounder) -> dict[str, Any]:
    """Draw a run with given noise, any curvature, and either objective and trust."""
    body = draw(domains.nearby(bounder.problem, bounder.example))
    exponents = st.floats(-9.0, 0.0)
    body["strong_convexity"] = draw(st.one_of(st.just(0.0), exponents.map(lambda exponent: 10.0**exponent)))
    body["noise_std"] = 10.0 ** draw(st.floats(-6.0, 2.0))
    body["trust"] = draw(st.sampled_from(("local", "shuffle", "central")))
    body["problem"] = draw(st.sampled_from(("population", "empirical")))
    return body


@pytest.mark.parametrize("bounder", MINI_BATCH, ids=lambda one: one.name)
@settings(examples_of, max_examples=60, derandomize=True)
@given(data=st.data())
def test_no_lower_bound_exceeds_an_upper_bound(bounder: RiskBounder, data: st.DataObject) -> None:
    body = data.draw(run_bodies(bounder))
    answer = bounds_at(bounder, body)
    if answer is not None:
        compared = check_bounds(answer, body["lipschitz"] * body["diameter"])
        event(f"{compared} comparisons")


@pytest.mark.parametrize("trust", ["local", "central"])
@pytest.mark.parametrize("strong_convexity", [1e-12, 1e-7, 1e-3])
def test_a_nearly_flat_loss_has_no_larger_lower_bound_than_its_start(trust: str, strong_convexity: float) -> None:
    """φ²/(μnN) alone is 1000 at μ = 1e-7 for 1e4 records, where LD is 0.2 and a proved upper bound is below that."""
    bounder = next(each for each in RISK_BOUNDS if each.name == "mb-sgd")
    body = {
        **{name: bounder.example[name] for name in ("unit", "relation", "observer") if name in bounder.example},
        "epsilon": 1.0,
        "delta": 1e-5,
        "clients": 100,
        "samples_per_client": 100,
        "dimension": 10,
        "lipschitz": 1.0,
        "diameter": 0.2,
        "smoothness": 2.0,
        "batch_size": 10,
        "rounds": 20,
        "noise_std": 0.1,
        "strong_convexity": strong_convexity,
        "trust": trust,
    }
    answer = bounds_at(bounder, body)
    assert answer is not None
    check_bounds(answer, 0.2)
    assert answer.upper[0].value is not None
    assert answer.lower[0].scale < answer.upper[0].value < 0.2

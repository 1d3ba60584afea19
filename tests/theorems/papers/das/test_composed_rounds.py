"""Theorem 2 of Das et al.: what drawing clients does, and rounds composed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Subsampled, TruncatedDiscreteLaplace
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.das.composed_rounds import ROUNDS_OF_CLIENTS, THEOREM_2, RunInputs
from tests.oracles.finite import hockey_stick, mixture, truncated_laplace

BASE: dict[str, Any] = {**THEOREM_2.examples[0]}


@pytest.mark.erratum("D-8")
def test_drawing_clients_does_not_shrink_a_records_epsilon() -> None:
    """One of 50 clients reports; the others' messages are far away. E_γ of the mixtures is E_γ/50, at every γ."""
    levels, rate = 60, Fraction(1, 50)
    decay = Fraction(math.exp(-0.1)).limit_denominator(10**6)  # α = 0.1, shift 3: ε₀ = 0.3
    here, there = truncated_laplace(decay, levels), truncated_laplace(decay, levels, 3)
    away = truncated_laplace(decay, levels, 10_000)
    p, q = (mixture([rate, 1 - rate], [one, away]) for one in (here, there))
    for epsilon in (0.012, 0.1, 0.25):
        gamma = Fraction(math.exp(epsilon))
        assert hockey_stick(p, q, gamma) == rate * hockey_stick(here, there, gamma)
    claimed = Fraction(math.exp(2 * float(rate) * 0.3))
    assert hockey_stick(p, q, claimed) > Fraction(2600, 10**6)
    spec = TruncatedDiscreteLaplace(
        noise_levels=levels, decay_rate=-math.log(float(decay)), dimension=1, l1_sensitivity=3, linf_sensitivity=3
    )
    drawn = Subsampled(sampling="without-replacement", batch_size=1, population=50, level="clients", mechanism=spec)
    known = account(drawn, relation="replace-one", unit="record", observer="released-models").guarantee.curve
    assert math.exp(known.log_delta(0.012).upper) == pytest.approx(float(hockey_stick(p, q, claimed)), rel=1e-4)
    assert THEOREM_2.status is Status.REFUTED


@pytest.mark.erratum("D-9")
@pytest.mark.compares("epsilond.rounds-of-clients")
def test_rounds_compose_to_the_published_figures() -> None:
    fields = {"round_epsilon": 0.01, "round_delta": 1e-12, "rounds": 400, "slack_delta": 1e-9}
    outputs = {
        amplified: ROUNDS_OF_CLIENTS.evaluate(ROUNDS_OF_CLIENTS.inputs(**fields, amplified=amplified, rate=0.1)).outputs
        for amplified in ("none", "record", "client")
    }
    assert outputs["none"]["delta"] == pytest.approx(1.3999999995202e-9, rel=1e-12)
    assert outputs["none"]["delta"] < 400 * 1e-12 + 1e-9  # D-9: the sum is an upper bound, and not the least one
    assert outputs["record"]["epsilon"] == outputs["none"]["epsilon"]
    assert outputs["record"]["round_delta"] == pytest.approx(1e-13, rel=1e-12)
    assert outputs["client"]["round_epsilon"] == pytest.approx(math.log1p(0.1 * math.expm1(0.01)), rel=1e-14)
    # The repaired amplification implies the printed 2q for a client, with e^ε₀ − 1 ≤ √2 ε₀.
    assert outputs["client"]["epsilon"] <= 2 * 0.1 * outputs["none"]["printed_form_epsilon"]


@pytest.mark.erratum("D-10")
@pytest.mark.parametrize(
    ("changes", "failing"),
    [
        ({"epsilon": 6.0}, ["epsilon-range"]),
        ({"delta": 0.106}, ["delta-range"]),
        ({"epsilon": 6.3, "delta": 0.5}, ["epsilon-range", "delta-range", "composed-epsilon"]),
    ],
)
def test_each_condition_violated_once(changes: dict[str, float], failing: list[str]) -> None:
    assert all(one.holds == "yes" for one in THEOREM_2.evaluate(RunInputs(**BASE)).conditions)
    found = THEOREM_2.evaluate(RunInputs(**{**BASE, **changes})).conditions
    assert [one.id for one in found if one.holds == "no"] == failing
    # ε̂ is exactly 1 at (6, e^(−9/16)): nothing between needs the printed range of δ.
    edge = RunInputs(**{**BASE, "epsilon": 6.0, "delta": math.exp(-9 / 16)})
    assert edge.composed_epsilon == pytest.approx(1.0, rel=1e-14)


def test_more_participants_than_clients() -> None:
    with pytest.raises(InvalidInput):
        RunInputs(**{**BASE, "participants": 51})

"""Projected steps along noisy means: the second moment by enumeration, and runs that are never above the bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import root_up
from epsilond.accountants.theorems.risk.averaged_steps import AVERAGED_STEPS

RUN: dict[str, Any] = {
    "clients": 12,
    "participants": 3,
    "dimension": 7,
    "lipschitz": 0.7,
    "diameter": 3.0,
    "noise_std": 0.3,
    "rounds": 25,
}


def squared_count(sampling: str, clients: int, participants: int) -> Fraction:
    """E K², over every number of clients that may turn up."""
    if sampling != "poisson":
        return Fraction(participants**2)
    q = Fraction(participants, clients)
    return sum(
        (Fraction(math.comb(clients, k) * k * k) * q**k * (1 - q) ** (clients - k) for k in range(clients + 1)),
        Fraction(0),
    )


@pytest.mark.compares("epsilond.averaged-noisy-steps")
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "full"])
@pytest.mark.parametrize("rounds", [1, 25, 10**6])
def test_the_bound_against_the_moments_of_the_draw(sampling: str, rounds: int) -> None:
    run = {**RUN, "sampling": sampling, "rounds": rounds}
    if sampling == "full":
        run["participants"] = run["clients"]
    outputs = AVERAGED_STEPS.evaluate(AVERAGED_STEPS.request(**run)).outputs
    many = squared_count(sampling, run["clients"], run["participants"])
    with mp.workdps(40):
        signal = mpf(run["lipschitz"]) ** 2 * mpf(many.numerator) / many.denominator / run["participants"] ** 2
        noise = run["dimension"] * mpf(run["noise_std"]) ** 2
        far = mpf(run["diameter"])
        wanted = {
            "excess_risk": far * mp.sqrt((signal + noise) / rounds),
            "without_noise": far * mp.sqrt(signal / rounds),
            "noise_alone": far * mp.sqrt(noise / rounds),
            "step_size": far / mp.sqrt((signal + noise) * rounds),
        }
        for name, value in wanted.items():
            assert outputs[name] == pytest.approx(float(value), rel=1e-12)
            assert name == "step_size" or mpf(outputs[name]) >= value


@pytest.mark.parametrize("step_size", [1e-3, 0.2, 5.0])
@pytest.mark.parametrize("noise_std", [0.0, 0.3])
def test_a_given_step_size_has_the_bound_of_its_proof(step_size: float, noise_std: float) -> None:
    outputs = AVERAGED_STEPS.evaluate(
        AVERAGED_STEPS.request(**RUN | {"noise_std": noise_std}, sampling="poisson", step_size=step_size)
    ).outputs
    best = AVERAGED_STEPS.evaluate(AVERAGED_STEPS.request(**RUN | {"noise_std": noise_std}, sampling="poisson")).outputs
    far, eta, many = Fraction(3), Fraction(step_size), squared_count("poisson", 12, 3)
    signal, noise = Fraction(0.7) ** 2 * many / 9, 7 * Fraction(noise_std) ** 2
    wanted = far**2 / (2 * eta * 25) + eta * (signal + noise) / 2
    assert outputs["excess_risk"] == pytest.approx(float(wanted), rel=1e-14)
    assert Fraction(outputs["excess_risk"]) >= wanted
    assert outputs["noise_alone"] == pytest.approx(float(eta * noise / 2), rel=1e-14)
    assert outputs["step_size"] == step_size
    assert outputs["excess_risk"] >= best["excess_risk"] * (1 - 1e-14)


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
def test_runs_on_the_steepest_losses_stay_below_it(sampling: str) -> None:
    """|w| on [−D/2, D/2] from its end, as far from the minimiser as the proof allows for half the domain."""
    rng = np.random.default_rng(5)
    clients, participants, rounds, noise, far = 20, 5, 400, 0.5, 2.0
    problem = {**RUN, "sampling": sampling, "clients": clients, "participants": participants, "dimension": 1}
    problem |= {"lipschitz": 1.0, "diameter": far, "noise_std": noise, "rounds": rounds}
    outputs = AVERAGED_STEPS.evaluate(AVERAGED_STEPS.request(**problem)).outputs
    runs = 300
    w, total = np.full(runs, far / 2), np.zeros(runs)
    for _ in range(rounds):
        total += w
        counts = rng.binomial(clients, participants / clients, runs) if sampling == "poisson" else participants
        w -= outputs["step_size"] * (np.sign(w) * counts / participants + noise * rng.standard_normal(runs))
        w = np.clip(w, -far / 2, far / 2)
    risk = float(np.mean(np.abs(total / rounds)))
    assert 0.0 < risk <= outputs["excess_risk"]


@pytest.mark.parametrize(
    "square", [Fraction(2), Fraction(1, 3), Fraction(10) ** -300, Fraction(10) ** 250, Fraction(0)]
)
def test_roots_are_rounded_up_and_hardly(square: Fraction) -> None:
    found = root_up(square)
    assert Fraction(found) ** 2 >= square
    assert Fraction(found) ** 2 <= square * (1 + Fraction(1, 2**49)) + Fraction(1, 2**150)


def test_a_full_round_leaves_nobody_out() -> None:
    with pytest.raises(InvalidInput) as caught:
        AVERAGED_STEPS.evaluate(AVERAGED_STEPS.request(**RUN, sampling="full"))
    assert caught.value.faults[0].pointer == "/participants"

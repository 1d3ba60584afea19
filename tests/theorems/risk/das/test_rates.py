"""FedAvg at any step size and Remark 3 of Das et al.: in rationals, along runs, and for certified noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.numerics.truncated_laplace import largest_rate, least_levels, variance
from epsilond.accountants.theorems.papers.das.noise_law import update_error
from epsilond.accountants.theorems.risk.das.convergence import THEOREM_2_UTILITY, THEOREM_4
from epsilond.accountants.theorems.risk.das.rates import EQUATION_85, REMARK_3

RUN: dict[str, Any] = dict(EQUATION_85.examples[0])
FEDERATION: dict[str, Any] = dict(REMARK_3.examples[0])


@pytest.mark.compares("das.equation-85")
@pytest.mark.parametrize("drawn", [1, 7, 50])
@pytest.mark.parametrize("local_steps", [1, 20])
def test_fedavg_at_a_step_in_rationals(drawn: int, local_steps: int) -> None:
    found = EQUATION_85.evaluate(
        EQUATION_85.request(**{**RUN, "participants": drawn, "local_steps": local_steps, "step_size": 2.0**-12})
    )
    smooth, zeta, eta, n = Fraction(2), Fraction(1, 2), Fraction(1, 4096), 50
    selection = max(2 + Fraction(23 * (n - drawn), drawn * (n - 1)), Fraction(64 * n * (drawn - 1), drawn * (n - 1)))
    largest = min(zeta / (2 * smooth), 1 / (4 * smooth * local_steps), zeta / (selection * smooth * local_steps))
    scale = 32 * smooth / (eta * zeta * local_steps)
    start, optima = scale * 9 / 400, scale * Fraction(1, 16)
    wanted = {
        "squared_gradient_norm": start + optima,
        "start_term": start,
        "client_optima_term": optima,
        "largest_step_size": largest,
    }
    assert found.outputs == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-13)
    assert (found.conditions[0].holds == "yes") == (eta <= largest)


def test_theorem_4_is_this_bound_at_its_step() -> None:
    fields = {name: value for name, value in RUN.items() if name != "step_size"}
    theorem = THEOREM_4.evaluate(THEOREM_4.request(**fields)).outputs
    found = EQUATION_85.evaluate(EQUATION_85.request(**fields, step_size=theorem["local_step_size"]))
    assert found.outputs["squared_gradient_norm"] == pytest.approx(theorem["squared_gradient_norm"], rel=1e-13)
    assert found.conditions[0].holds == "yes"


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_a_run_of_fedavg_stays_within_the_bound(share: float) -> None:
    """f_i = L‖w − w*_i‖²/2, so that ζ = 1 and the mean of the minimisers is the common one."""
    rng = np.random.default_rng(8)
    clients, drawn, steps, rounds, smooth = 6, 2, 4, 60, 2.0
    optima = rng.normal(size=(clients, 3))
    optima -= optima.mean(0)
    start = np.full(3, 2.0)
    fields = {
        "smoothness": smooth, "quasar_convexity": 1.0, "initial_distance": float(np.linalg.norm(start)),
        "client_optimum_distance": float(np.sqrt((optima**2).sum(1).mean())), "rounds": rounds,
        "local_steps": steps, "participants": drawn, "clients": clients,
    }  # fmt: skip
    limit = EQUATION_85.evaluate(EQUATION_85.request(**fields, step_size=1e-3)).outputs["largest_step_size"]
    found = EQUATION_85.evaluate(EQUATION_85.request(**fields, step_size=share * limit))
    contraction = (1.0 - share * limit * smooth) ** steps
    squares = []
    for _ in range(200):
        model = start.copy()
        for _ in range(rounds):
            squares.append(float(((smooth * model) ** 2).sum()))
            chosen = optima[rng.choice(clients, drawn, replace=False)]
            model = (chosen + contraction * (model - chosen)).mean(0)
    assert np.mean(squares) <= found.outputs["squared_gradient_norm"]


@pytest.mark.compares("das.remark-3")
@pytest.mark.parametrize("compression", [0.0, 100.0])
@pytest.mark.parametrize("rounds", [1, 400, 10**6])
@pytest.mark.parametrize("optimum", [0.0, 0.25, 30.0])
def test_the_ratio_of_the_two_theorems(optimum: float, rounds: int, compression: float) -> None:
    changes = {"client_optimum_distance": optimum, "rounds": rounds}
    found = REMARK_3.evaluate(REMARK_3.request(**{**FEDERATION, **changes, "compression": compression}))
    shared = {name: value for name, value in FEDERATION.items() if name not in ("clients", "compression")} | changes
    root = math.isqrt(rounds)
    norm = THEOREM_2_UTILITY.evaluate(
        THEOREM_2_UTILITY.request(**shared, local_steps=root, compression=compression)
    ).outputs["gradient_norm"]
    fedavg = THEOREM_4.evaluate(THEOREM_4.request(**shared, local_steps=root, clients=50)).outputs["gradient_norm"]
    constant = 64 * 50 * 24 / (25 * 49)
    extremes = {"least_ratio": 6, "largest_ratio": 6 * math.sqrt(2 + compression / 25)}
    wanted = {name: value / math.sqrt(32 * constant) for name, value in extremes.items()}
    wanted |= {"gradient_norm": norm, "fedavg_gradient_norm": fedavg, "ratio": norm / fedavg}
    assert found.outputs == pytest.approx(wanted, rel=1e-12)
    assert wanted["least_ratio"] <= found.outputs["ratio"] * (1 + 1e-12)
    assert found.outputs["ratio"] <= wanted["largest_ratio"] * (1 + 1e-12)
    assert found.conditions[0].holds == "yes"
    assert REMARK_3.evaluate(REMARK_3.request(**{**FEDERATION, "rounds": 401})).conditions[0].holds == "no"


def test_the_range_of_the_ratio_is_attained() -> None:
    """Least where only the optima count, largest where the start counts g times as much as they do."""
    factor = math.sqrt(1 + 100 / 25)
    start = FEDERATION["initial_distance"] / 20
    found = REMARK_3.evaluate(REMARK_3.request(**{**FEDERATION, "client_optimum_distance": start / factor})).outputs
    assert found["ratio"] == pytest.approx(found["largest_ratio"], rel=1e-12)
    found = REMARK_3.evaluate(REMARK_3.request(**{**FEDERATION, "client_optimum_distance": 1e9})).outputs
    assert found["ratio"] == pytest.approx(found["least_ratio"], rel=1e-8)


@pytest.mark.erratum("D-16")
def test_certified_noise_grows_with_the_rounds() -> None:
    """D-16: at a fixed ε of all rounds γ/K does not fall, and neither does the start's term of DP-NormFedAvg."""
    terms = []
    for rounds in (100, 400, 1600):
        round_epsilon = 1.0 / (8.0 * math.sqrt(2.0 * rounds * math.log(1e6)))
        parts = [(52, 400)]
        rate = largest_rate(round_epsilon, 52 * 400)
        levels = least_levels(rate, parts, math.log(1e-6 / rounds))
        error = update_error(dimension=400, quantization_levels=512, variance_in_steps=variance(rate, levels))
        fields = {**FEDERATION, "client_optimum_distance": 0.0, "rounds": rounds, "compression": error}
        terms.append(REMARK_3.evaluate(REMARK_3.request(**fields)).outputs)
    norms = [each["gradient_norm"] for each in terms]
    assert norms[2] > 0.99 * norms[0]
    assert terms[2]["fedavg_gradient_norm"] < 0.3 * terms[0]["fedavg_gradient_norm"]

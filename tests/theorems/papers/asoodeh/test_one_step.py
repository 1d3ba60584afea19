"""One step of projected SGD of Asoodeh et al., and two bounds without a sum: against θ_ε in 40 digits and on a line."""

from __future__ import annotations

import math
from typing import Any

import pytest
from mpmath import exp, harmonic, log, mp, mpf, ncdf, sqrt

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import COROLLARY_1
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, THEOREM_2
from epsilond.accountants.theorems.papers.asoodeh.one_step import AFTER_11, AFTER_COROLLARY_3, EQUATION_19
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2

STEP: dict[str, Any] = dict(EQUATION_19.examples[0])
ROOT_NOISE: dict[str, Any] = dict(AFTER_COROLLARY_3.examples[0])


def theta(epsilon: Any, shift: Any) -> Any:
    """θ_ε of the paper's (6), with Q(t) = Φ(−t)."""
    if shift == 0:
        return mpf(0)
    return ncdf(shift / 2 - epsilon / shift) - exp(epsilon) * ncdf(-epsilon / shift - shift / 2)


@pytest.mark.compares("asoodeh.equation-19")
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("participants", [1, 7, 40])
def test_one_step_in_forty_digits(epsilon: float, participants: int) -> None:
    found = EQUATION_19.evaluate(EQUATION_19.request(**{**STEP, "epsilon": epsilon, "participants": participants}))
    with mp.workdps(40):
        root = sqrt(mpf(participants))
        # The step adds noise of deviation ησ/√m to models at most 2ρ apart, or to means that the record moves by 2Lη/m.
        noise = mpf(STEP["step_size"]) * mpf(STEP["noise_std"]) / root
        contraction = 2 * mpf(STEP["radius"]) / noise
        moved = 2 * mpf(STEP["lipschitz"]) * mpf(STEP["step_size"]) / participants / noise
        wanted = {
            "contraction_shift": contraction,
            "sensitivity_shift": moved,
            "contraction": theta(mpf(epsilon), contraction),
            "divergence": theta(mpf(epsilon), moved),
        }
        wanted |= {f"log10_{name}": log(wanted[name]) / log(10) for name in ("contraction", "divergence")}
    assert found.outputs == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-11)
    assert found.conditions[0].holds == "yes"
    longer = EQUATION_19.evaluate(EQUATION_19.request(**{**STEP, "step_size": 1.1}))
    assert longer.conditions[0].holds == "no"


def test_theorem_2_is_made_of_these_steps() -> None:
    """Constant steps: θ_s and θ_c of Theorem 2, by its own sum over the place of the record."""
    step = EQUATION_19.evaluate(EQUATION_19.request(**STEP)).outputs
    fields = {name: STEP[name] for name in ("epsilon", "participants", "lipschitz", "radius", "smoothness")}
    whole = THEOREM_2.evaluate(
        THEOREM_2.request(**fields, clients=100, step_sizes=(STEP["step_size"],), noise_stds=(STEP["noise_std"],))
    ).outputs
    total = sum(step["divergence"] * step["contraction"] ** later for later in range(10)) / 10
    assert whole["delta"] == pytest.approx(total, rel=1e-12)


@pytest.mark.erratum("A-9")
def test_gradients_of_twice_the_lipschitz_constant_would_break_the_step() -> None:
    """A-9: losses ±2Lw have gradients of norm 2L, and one step tells them further apart than (24) allows."""
    step = EQUATION_19.evaluate(EQUATION_19.request(**STEP)).outputs
    moved = 4 * STEP["lipschitz"] * STEP["step_size"] / STEP["participants"]
    noise = STEP["step_size"] * STEP["noise_std"] / math.sqrt(STEP["participants"])
    assert float(theta(mpf(STEP["epsilon"]), mpf(moved / noise))) > 1.5 * step["divergence"]


@pytest.mark.compares("asoodeh.after-11")
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("noise", [0.3, 1.5, 5.0])
def test_the_simple_bound_is_above_bound_11(epsilon: float, noise: float) -> None:
    fields = {"epsilon": epsilon, "participants": 10, "lipschitz": 2.0, "noise_std": noise}
    found = AFTER_11.evaluate(AFTER_11.request(**fields)).outputs
    with mp.workdps(40):
        shift = 2 * mpf(2) / (sqrt(mpf(10)) * mpf(noise))
        exact = theta(mpf(epsilon), shift)
        exponent = log(exact) / log(10)
    wanted = {"sensitivity_shift": shift, "delta": exact, "log10_delta": exponent}
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-11)
    inverse = {**COROLLARY_1.examples[0], **fields, "dimension": 1}
    eleven = COROLLARY_1.evaluate(COROLLARY_1.request(**inverse)).outputs
    assert eleven["log10_delta_eleven"] <= found["log10_delta"] + 1e-12


@pytest.mark.compares("asoodeh.after-corollary-3")
@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("clients", [10, 160, 1000])
def test_root_noise_by_the_paper_s_display(clients: int, reading: Reading) -> None:
    changes = {"clients": clients, "strong_convexity": 0.015, "epsilon": 0.3}
    found = AFTER_COROLLARY_3.evaluate(AFTER_COROLLARY_3.request(**{**ROOT_NOISE, **changes}), reading)
    with mp.workdps(40):
        n, m, curvature, rho, epsilon = mpf(clients), mpf(10), mpf(0.015), mpf(1), mpf(0.3)
        steps = clients // 10
        use = theta(epsilon, 2 / (sqrt(m) * n ** mpf("0.25")))
        later = theta(epsilon, 2 * curvature * rho * n ** mpf("0.75") / sqrt(m))
        total = sum((1 - later**stop) / (1 - later) for stop in range(1, steps + 1))
        noise = sum(1 / (curvature * t) * sqrt(n) for t in range(1, steps + 1)) / n
        delta = use * total / steps**2
        wanted = {
            "delta": delta,
            "log10_delta": log(delta) / log(10),
            "steps": steps,
            "noise_term": noise * (1 if reading == "printed" else mpf(ROOT_NOISE["dimension"]) / 2),
            "optimisation_order": m * log(steps) / (curvature * n),
        }
    assert found.outputs == pytest.approx({name: float(value) for name, value in wanted.items()}, rel=1e-11, abs=1e-15)
    assert next(one for one in found.conditions if one.id == "step-sizes").holds == "yes"


def test_root_noise_is_corollary_3_and_corollary_2_there() -> None:
    n, curvature, steps = 200, 0.01, 20
    shared = {"clients": n, "participants": 10, "lipschitz": 1.0, "radius": 1.0, "smoothness": 0.02}
    sizes = tuple(1.0 / (curvature * t) for t in range(1, steps + 1))
    schedules = {"step_sizes": sizes, "noise_stds": (n**0.25,)}
    here = {**shared, "strong_convexity": curvature}
    found = AFTER_COROLLARY_3.evaluate(AFTER_COROLLARY_3.request(**here, epsilon=0.2, dimension=3), "corrected").outputs
    stopped = COROLLARY_3.evaluate(COROLLARY_3.request(**shared, **schedules, epsilon=0.2)).outputs
    assert found["delta"] == pytest.approx(stopped["delta_twelve"], rel=1e-11)
    assert found["delta"] >= stopped["delta"]
    risk = COROLLARY_2.evaluate(COROLLARY_2.request(**here, **schedules, dimension=3), "corrected").outputs
    assert found["noise_term"] == pytest.approx(risk["noise_term"], rel=1e-12)
    assert float(harmonic(steps)) * 1.5 / (curvature * math.sqrt(n)) == pytest.approx(found["noise_term"], rel=1e-12)


def test_the_rate_falls_as_the_root_of_the_users() -> None:
    """The noise term times √n grows as the logarithm, and the other order times n/m as well."""
    for clients in (10**3, 10**5, 10**7):
        found = AFTER_COROLLARY_3.evaluate(AFTER_COROLLARY_3.request(**{**ROOT_NOISE, "clients": clients})).outputs
        scale = ROOT_NOISE["strong_convexity"] * math.sqrt(clients)
        assert found["noise_term"] * scale <= 1.0 + math.log(clients / 10)
        assert found["optimisation_order"] * ROOT_NOISE["strong_convexity"] * clients / 10 <= math.log(clients)

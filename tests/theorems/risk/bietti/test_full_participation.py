"""Theorem 4.5 of Bietti et al.: constants, steps, limits, and the bound against simulated runs."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from typing import Any, get_type_hints

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import quantity_of
from epsilond.accountants.quantities.algorithms import OPTIMUM_NORM
from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.full_participation import (
    ANY_STEP,
    THEOREM_4_5,
    AnyStepInputs,
    BoundInputs,
)
from epsilond.accountants.theorems.risk.bietti.landscape import Landscape
from epsilond.accountants.theorems.risk.bietti.minimal_norm import minimal_norm
from epsilond.accountants.theorems.risk.bietti.privacy_cost import EQUATION_9, GLOBAL_LIMIT, LOCAL_LIMIT
from epsilond.accountants.theorems.risk.bietti.step_bounds import bound_at_step, simple_bound_at_step, theorem_step
from epsilond.calibrators import CALIBRATORS


def evaluated(**changes: Any) -> Any:
    return THEOREM_4_5.evaluate(BoundInputs(**{**THEOREM_4_5.examples[0], **changes}))


def condition(evaluation: Any, name: str) -> Any:
    return next(one for one in evaluation.conditions if one.id == name)


@pytest.mark.erratum("E-B11")
def test_a_shorter_step_has_a_smaller_constant() -> None:
    """E-B11: at √(2n) for √n the variance term has 2√2 for 3, and the value at a step is below its own bound."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        found = evaluated(
            personalization=float(10 ** rng.uniform(-6, 3)),
            weighted_optimum_norm=float(10 ** rng.uniform(-3, 3)),
            shared_gradient_std=float(10 ** rng.uniform(-3, 3)),
            noise_std=float(10 ** rng.uniform(-4, 2)),
        ).outputs
        assert found["refined_excess_risk"] < found["excess_risk"]
        assert found["excess_risk_at_step"] <= found["excess_risk"] * (1 + 1e-14)
        assert found["excess_risk_at_refined_step"] <= found["refined_excess_risk"] * (1 + 1e-14)


@pytest.mark.erratum("E-B7")
def test_the_step_scales_as_the_theorem_says() -> None:
    """E-B7: with √n σ_tot the step is a length²/loss; with √(nσ_tot) it would not be."""
    far = {"smoothness": 1e-9}
    one = evaluated(**far).outputs["step_size"]
    scaled = evaluated(**far, shared_gradient_std=3.0, local_gradient_std=3.0, noise_std=0.15).outputs["step_size"]
    assert scaled == pytest.approx(one / 3.0, rel=1e-12)
    assert scaled != pytest.approx(one / math.sqrt(3.0), rel=0.1)  # as the proof has it
    assert evaluated(**far, weighted_optimum_norm=10.0).outputs["step_size"] == pytest.approx(5.0 * one, rel=1e-12)


def test_clipping_is_a_condition() -> None:
    """E-B13: G above C, or unknown, as for a squared loss."""
    assert condition(evaluated(), "gradients-below-clipping").holds == "yes"
    broken = condition(evaluated(lipschitz=2.0), "gradients-below-clipping")
    assert (broken.holds, broken.left, broken.right) == ("no", 2.0, 1.0)
    assert condition(evaluated(lipschitz=None), "gradients-below-clipping").holds == "undecidable"


@pytest.mark.erratum("E-B13")
def test_clipped_gradients_of_a_squared_loss_stop_elsewhere() -> None:
    """E-B13: labels 0 and, one in ten, 10: the least risk is at 1. At C = 1 the shared model stops at 1/9."""
    clients, rounds, weight = 10, 10_000, 1e6
    stated = evaluated(
        clients=clients, rounds=rounds, smoothness=1.0, personalization=weight, noise_std=0.0,
        weighted_optimum_norm=1.0 / math.sqrt(weight), shared_gradient_std=3.0, local_gradient_std=3.0,
    ).outputs  # fmt: skip
    labels = 10.0 * (np.random.default_rng(2).random((rounds, clients)) < 0.1)

    def excess(clipping: float) -> float:
        shared, own, mean = 0.0, np.zeros(clients), np.zeros(clients)
        for drawn in labels:
            mean += (shared + own) / rounds
            gradients = shared + own - drawn
            shared -= stated["step_size"] * weight * float(np.clip(gradients, -clipping, clipping).mean())
            own -= stated["step_size"] / clients * gradients
        return float(0.5 * np.mean((mean - 1.0) ** 2))

    assert excess(math.inf) <= stated["excess_risk"]
    assert excess(1.0) == pytest.approx(0.5 * (8 / 9) ** 2, rel=0.1)
    assert excess(1.0) > 5 * stated["excess_risk"]


def test_any_step_conditions_are_violated_once_each() -> None:
    def at(step: float) -> Any:
        inputs = AnyStepInputs(rounds=100, step_size=step, smoothness=2.0, weighted_optimum_norm=1.0, gradient_std=1.0)
        return ANY_STEP.evaluate(inputs)

    assert [condition(at(0.2), name).holds for name in ("step-below-half", "step-below-quarter")] == ["yes", "no"]
    assert condition(at(0.25), "step-below-half").holds == "no"
    assert at(0.25).outputs["excess_risk"] == math.inf
    assert at(0.1).outputs["excess_risk"] <= at(0.1).outputs["simple_excess_risk"]


def test_any_step_at_the_theorems_step() -> None:
    step = theorem_step(smoothness=2.0, norm=1.5, variance=0.7, rounds=400)
    given = {"step": step, "squared_norm": 2.25, "variance": 0.7, "rounds": 400}
    assert bound_at_step(**given, smoothness=2.0) <= simple_bound_at_step(**given)


@pytest.mark.compares("bietti.4.5", "bietti.4.5.equation-9")
def test_equation_9_with_the_least_constant_is_theorem_4_5_at_the_least_noise() -> None:
    example = dict(EQUATION_9.examples[0])
    found = EQUATION_9.evaluate(EQUATION_9.request(**example))
    same = evaluated(
        **{
            name: example[name]
            for name in ("clients", "rounds", "smoothness", "personalization", "weighted_optimum_norm")
        },
        shared_gradient_std=1.0,
        local_gradient_std=1.0,
        shared_dimension=20,
        noise_std=found.outputs["noise_std"],
    ).outputs
    assert found.outputs["joined_excess_risk"] == pytest.approx(same["excess_risk"], rel=1e-13)
    assert found.outputs["excess_risk"] >= found.outputs["joined_excess_risk"]
    longer = EQUATION_9.evaluate(EQUATION_9.request(**{**example, "rounds": 8000})).outputs
    assert longer["privacy_term"] == pytest.approx(found.outputs["privacy_term"], rel=1e-13)
    broken = EQUATION_9.evaluate(EQUATION_9.request(**{**example, "noise_constant": 1.0}))
    assert condition(broken, "constant-suffices").holds == "no"
    assert condition(found, "constant-suffices").holds == "yes"


@pytest.mark.compares("bietti.4.5.global-limit", "bietti.4.5.local-limit")
def test_the_limits_are_those_of_the_landscape() -> None:
    group = GroupOfUsers(clients=100, batch_size=1, shared_gradient_std=0.8, local_gradient_std=1.0)
    landscape = Landscape.of(
        DrawnGradients(groups=(group,), weighting="clients", rate=1.0),
        rounds=500, smoothness=2.0, optimum_norm=1.5, optimum_spread=0.0, noise_std=0.05, dimension=50,
    )  # fmt: skip
    local = LOCAL_LIMIT.evaluate(
        LOCAL_LIMIT.request(clients=100, rounds=500, smoothness=2.0, optimum_norm=1.5, local_gradient_std=1.0)
    ).outputs
    everything = GLOBAL_LIMIT.evaluate(
        GLOBAL_LIMIT.request(
            clients=100, rounds=500, smoothness=2.0, optimum_norm=1.5, shared_gradient_std=0.8, shared_dimension=50,
            noise_std=0.05,
        )
    ).outputs  # fmt: skip
    assert landscape.at(0.0).total == pytest.approx(local["excess_risk"], rel=1e-13)
    assert landscape.at(math.inf).total == pytest.approx(everything["excess_risk"], rel=1e-13)
    assert landscape.at(1e9).total == pytest.approx(everything["excess_risk"], rel=1e-6)
    assert landscape.at(1e-12).total == pytest.approx(local["excess_risk"], rel=1e-6)
    spread = replace(landscape, spread_squared=100 * 0.7**2)
    apart = LOCAL_LIMIT.request(
        clients=100, rounds=500, smoothness=2.0, optimum_norm=1.5, optimum_spread=0.7, local_gradient_std=1.0
    )
    found = LOCAL_LIMIT.evaluate(apart).outputs
    assert spread.at(0.0).total == pytest.approx(found["excess_risk"], rel=1e-13)


@pytest.mark.parametrize("alpha", [0.0, 0.005, 0.05, 0.5])
def test_the_bound_holds_on_simulated_runs(alpha: float) -> None:
    """Algorithm 1 on squared losses with sign features, nothing clipped: 16 runs are below the bound.

    f_i(z) = ½‖w + θ_i − v‖² + τ²/2, the features being orthonormal in expectation; L = 2R² with R² = d.
    """
    clients, dimension, rounds, tau, noise, seeds = 20, 4, 400, 0.5, 0.05, 16
    rng = np.random.default_rng(7)
    v = np.full(dimension, 0.3)
    squared = minimal_norm(alpha=alpha, clients=clients, mean_squared=float(v @ v), spread_squared=0.0)
    std = tau * math.sqrt(dimension)
    found = THEOREM_4_5.evaluate(
        BoundInputs(
            clients=clients, rounds=rounds, smoothness=2.0 * dimension, personalization=alpha,
            weighted_optimum_norm=math.sqrt(squared), shared_gradient_std=std, local_gradient_std=std,
            shared_dimension=dimension, noise_std=noise,
        )
    ).outputs  # fmt: skip
    step = found["step_size"]
    w, theta = np.zeros((seeds, dimension)), np.zeros((seeds, clients, dimension))
    mean_w, mean_theta = np.zeros_like(w), np.zeros_like(theta)
    for _ in range(rounds):
        mean_w += w / rounds
        mean_theta += theta / rounds
        x = rng.choice([-1.0, 1.0], size=theta.shape)
        residual = ((w[:, None] + theta - v) * x).sum(-1) + tau * rng.normal(size=(seeds, clients))
        gradient = residual[..., None] * x
        theta = theta - step / clients * gradient
        w = w - alpha * step * (gradient.mean(1) + noise * rng.normal(size=w.shape))
    excess = 0.5 * ((mean_w[:, None] + mean_theta - v) ** 2).sum(-1).mean(1)
    assert excess.mean() + 3.0 * excess.std() / math.sqrt(seeds) < found["excess_risk_at_step"]
    assert excess.mean() > 1e-3 * found["excess_risk"]


@pytest.mark.parametrize(
    ("name", "value"), [("personalization", -1.0), ("weighted_optimum_norm", 1e200), ("noise_std", -0.1)]
)
def test_inputs_out_of_range(name: str, value: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluated(**{name: value})
    assert f"/{name}" in {fault.pointer for fault in caught.value.faults}


NAMED = {
    theorem.id: theorem
    for theorem in THEOREMS
    if theorem.inputs is not None
    and "weighted_optimum_norm" in {field.name for field in dataclasses.fields(theorem.inputs)}
}


@pytest.mark.parametrize("name", sorted(NAMED))
def test_the_weighted_norm_has_a_name_of_its_own_and_its_older_one(name: str) -> None:
    """optimum_norm is ‖v̄‖; where it has meant ‖z*‖_α it is an older name of weighted_optimum_norm, and never both."""
    theorem = NAMED[name]
    given = dict(theorem.examples[0])
    norm = given.pop("weighted_optimum_norm")
    newer, older = ({**given, field: norm} for field in ("weighted_optimum_norm", "optimum_norm"))
    assert theorem.evaluate(theorem.inputs(**newer)).outputs == theorem.evaluate(theorem.inputs(**older)).outputs
    for wrong in (given, newer | older):
        with pytest.raises(InvalidInput) as caught:
            theorem.inputs(**wrong)
        assert caught.value.faults[0].pointer == "/weighted_optimum_norm"


def test_optimum_norm_alone_is_of_the_mean_optimum() -> None:
    """One name, one quantity: wherever `optimum_norm` is not told to be the older name, it is ‖v̄‖."""
    assert len(NAMED) == 8
    requests = [one.inputs for one in THEOREMS if one.inputs is not None]
    requests += [one.problem for one in CALIBRATORS]
    described = {
        quantity_of(get_type_hints(request, include_extras=True)["optimum_norm"])[1]
        for request in requests
        if request not in {one.inputs for one in NAMED.values()}
        and "optimum_norm" in {field.name for field in dataclasses.fields(request)}
    }
    assert described == {OPTIMUM_NORM}

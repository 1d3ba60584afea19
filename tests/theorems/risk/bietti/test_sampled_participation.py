"""Theorems 5.2 and B.4 of Bietti et al.: smoothness and variance as printed and as true, by simulation and enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    PERSONALIZED_RISK,
    THEOREM_5_2,
    THEOREM_B_4,
    DrawnInputs,
    SampledInputs,
)
from epsilond.accountants.theorems.risk.bietti.step_bounds import simple_bound_at_step

EXAMPLE: dict[str, Any] = dict(THEOREM_B_4.examples[0])


def group(clients: int, batch: int = 1, norm: float = 0.0) -> GroupOfUsers:
    return GroupOfUsers(
        clients=clients, batch_size=batch, shared_gradient_std=1.0, local_gradient_std=0.5, shared_gradient_norm=norm
    )


def evaluated(theorem: Any, reading: Any = "corrected", **changes: Any) -> Any:
    return theorem.evaluate(SampledInputs(**{**EXAMPLE, **changes}), reading)


def verdict(evaluation: Any, name: str) -> Any:
    return next(one for one in evaluation.conditions if one.id == name)


@pytest.mark.erratum("E-B5")
def test_the_printed_smoothness_lets_the_run_diverge() -> None:
    """E-B5: N = 20, q = 1/20, α = 0, f_i = ½(θ_i + w − 1)²: bound 0.02 at a step that diverges, 0.40 corrected."""
    clients, rounds = 20, 400
    equal = [{"clients": clients, "batch_size": 1, "shared_gradient_std": 0.0, "local_gradient_std": 0.0}]
    run = {
        "client_groups": equal, "participation_rate": 0.05, "rounds": rounds, "smoothness": 2.0,
        "personalization": 0.0, "weighted_optimum_norm": math.sqrt(clients), "noise_std": 0.0,
    }  # fmt: skip
    rng = np.random.default_rng(3)

    def excess(step: float) -> float:
        theta, mean = np.zeros(clients), np.zeros(clients)
        for _ in range(rounds):
            mean += theta / rounds
            theta -= step / (0.05 * clients) * (rng.random(clients) < 0.05) * (theta - 1.0)
        return float(0.5 * np.mean((mean - 1.0) ** 2))

    for theorem in (THEOREM_5_2, THEOREM_B_4):
        printed, corrected = evaluated(theorem, "printed", **run), evaluated(theorem, **run)
        assert printed.outputs["excess_risk"] == pytest.approx(0.02)
        assert printed.outputs["step_size"] == pytest.approx(2.5)
        assert excess(printed.outputs["step_size"]) > 1e4
        assert corrected.outputs["excess_risk"] == pytest.approx(0.40)
        assert excess(corrected.outputs["step_size"]) < 0.1
        broken = verdict(printed, "statement-smoothness")
        assert (broken.holds, broken.left, broken.right) == ("no", 0.05, 1.0)


@pytest.mark.erratum("E-B6")
def test_the_printed_selection_variance_is_too_small() -> None:
    """E-B6: N = 50, q = 0.01, gradients ±1: E‖g_w‖² is 1.98, where the statement has 0.0198."""
    clients, rate = 50, 0.01
    gradients = np.resize([1.0, -1.0], clients)
    rng = np.random.default_rng(4)
    drawn = rng.random((400_000, clients)) < rate
    measured = np.mean((drawn @ gradients / (rate * clients)) ** 2)
    federation = DrawnGradients(groups=(group(clients, norm=1.0),), weighting="clients", rate=rate)
    corrected = federation.variances().selection / (rate * clients)
    printed = federation.variances("printed").selection / (rate * clients)
    assert measured == pytest.approx(corrected, rel=0.02)
    assert corrected == pytest.approx(1.98)
    assert printed == pytest.approx(0.0198)
    assert verdict(evaluated(THEOREM_B_4), "statement-variance").holds == "no"
    assert verdict(evaluated(THEOREM_B_4, participation_rate=1.0), "statement-variance").holds == "yes"


def test_the_printed_bound_is_broken_by_a_run() -> None:
    """E-B6: f_i = ±w + huber(w − w₀), flat enough to be walked about on: only the corrected bound covers the excess."""
    clients, rate, rounds, flat, start = 50, 0.01, 40_000, 0.005, 1.0
    run = {
        "client_groups": [
            {
                "clients": clients, "batch_size": 1, "shared_gradient_std": 0.0, "local_gradient_std": 0.0,
                "shared_gradient_norm": 1.0,
            }
        ],
        "participation_rate": rate, "rounds": rounds, "smoothness": 1.0, "personalization": 1.0,
        "weighted_optimum_norm": start, "noise_std": 0.0,
    }  # fmt: skip
    printed, corrected = evaluated(THEOREM_B_4, "printed", **run).outputs, evaluated(THEOREM_B_4, **run).outputs
    assert corrected["excess_risk"] > 5 * printed["excess_risk"]
    rng, seeds = np.random.default_rng(5), 40
    step = printed["step_size"]
    w, mean = np.zeros(seeds), np.zeros(seeds)
    for _ in range(rounds):
        mean += w / rounds
        # Of independent draws only the sums matter: how many of each sign.
        plus, minus = rng.binomial(clients // 2, rate, (2, seeds))
        pull = np.clip(w - start, -flat, flat)
        w -= step * ((plus - minus) + (plus + minus) * pull) / (rate * clients)
    away = np.abs(mean - start)
    measured = np.where(away < flat, 0.5 * away**2, flat * (away - 0.5 * flat))
    spread = 3 * measured.std() / math.sqrt(seeds)
    assert measured.mean() - spread > 3 * printed["excess_risk"]
    at_printed = simple_bound_at_step(step=step, squared_norm=start**2, variance=corrected["variance"], rounds=rounds)
    assert measured.mean() + spread < at_printed


@pytest.mark.parametrize(("clients", "drawn"), [(6, 1), (6, 2), (6, 5), (7, 3)])
def test_a_fixed_number_by_enumeration(clients: int, drawn: int) -> None:
    """E‖Σ b_i D_i/Q‖² over all subsets: at most the bound for any D, and equal to it where they sum to zero."""
    rng = np.random.default_rng(6)
    federation = DrawnGradients(
        groups=(group(clients),), weighting="clients", rate=drawn / clients, draw="fixed-number"
    )
    for centred in (True, False):
        vectors = rng.normal(size=(clients, 3))
        vectors = vectors - vectors.mean(0) if centred else vectors
        exact = np.mean(
            [
                ((vectors[list(chosen)].sum(0) / drawn) ** 2).sum()
                for chosen in itertools.combinations(range(clients), drawn)
            ]
        )
        bound = (vectors.mean(0) ** 2).sum() + federation.selection * (vectors**2).sum() / (drawn * clients)
        assert exact <= bound * (1 + 1e-12)
        if centred:
            assert exact == pytest.approx(bound, rel=1e-12)


def test_independent_draws_by_enumeration() -> None:
    """The same identity over all 2^N draws, where it is an equality; messages add up batches of unequal size."""
    batches, rate = (1, 2, 4), 0.3
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(3, 2)) * np.asarray(batches)[:, None]
    federation = DrawnGradients(groups=tuple(group(1, batch) for batch in batches), weighting="samples", rate=rate)
    drawn = rate * federation.weight
    exact = 0.0
    for chosen in itertools.product((0, 1), repeat=3):
        chance = math.prod(rate if one else 1 - rate for one in chosen)
        exact += chance * ((np.asarray(chosen) @ vectors / drawn) ** 2).sum()
    whole = ((vectors.sum(0) / federation.weight) ** 2).sum()
    rest = federation.selection * (vectors**2).sum() / (drawn * federation.weight)
    assert exact == pytest.approx(whole + rest, rel=1e-12)


@pytest.mark.parametrize("weighting", ["clients", "samples"])
@pytest.mark.parametrize(("draw", "rate"), [("independent", 1.0), ("independent", 0.4), ("fixed-number", 0.4)])
def test_the_variance_is_the_second_moment_at_the_optimum(weighting: Any, draw: Any, rate: float) -> None:
    """σ²_{m,α} = α E‖g_w + ζ‖² + Σ E‖g_θ,i‖² of one round of Algorithms 1 to 3 where ∇f vanishes, by simulation."""
    batches, dimension, noise, alpha, runs = np.asarray([1, 2, 2, 4, 1]), 3, 0.2, 0.7, 40_000
    rng = np.random.default_rng(8)
    message = batches if weighting == "samples" else np.ones(5)
    means = rng.normal(size=(5, dimension))
    means -= (message @ means) / message.sum()  # the weighted mean of the clients' gradients vanishes
    federation = DrawnGradients(
        groups=tuple(
            GroupOfUsers(
                clients=1, batch_size=int(batch), shared_gradient_std=1.5 * math.sqrt(dimension),
                local_gradient_std=0.6, shared_gradient_norm=float(np.linalg.norm(mean)),
            )
            for batch, mean in zip(batches, means, strict=True)
        ),
        weighting=weighting, rate=rate, draw=draw,
    )  # fmt: skip
    if draw == "independent":
        drawn = rng.random((runs, 5)) < rate
    else:
        drawn = rng.permuted(np.tile(np.arange(5) < rate * 5, (runs, 1)), axis=1)
    weight = rate * federation.weight
    shared = means + 1.5 * rng.normal(size=(runs, 5, dimension)) / np.sqrt(batches)[:, None]
    local = 0.6 * rng.normal(size=(runs, 5)) / np.sqrt(batches)
    g_w = ((drawn * message)[..., None] * shared).sum(1) / weight + noise * rng.normal(size=(runs, dimension))
    g_theta = drawn * message * local / weight
    measured = alpha * (g_w**2).sum(1) + (g_theta**2).sum(1)
    steep, flat = federation.variance_factors(noise_std=noise, dimension=dimension)
    assert measured.mean() == pytest.approx(alpha * steep + flat, abs=4 * measured.std() / math.sqrt(runs))
    assert measured.std() / math.sqrt(runs) < 0.01 * measured.mean()


def test_everything_reduces_to_theorem_4_5_with_all_clients() -> None:
    """E-B5: the corrected smoothness does, the printed one does not."""
    federation = DrawnGradients(groups=(group(10),), weighting="clients", rate=1.0)
    assert federation.smoothness_factors() == (1.0, 0.1)
    assert federation.smoothness_factors("printed") == (1.1, 0.1)
    run = {
        "client_groups": [group(10)], "participation_rate": 1.0, "smoothness": 1.0, "personalization": 0.5,
    }  # fmt: skip
    assert evaluated(THEOREM_B_4, **run).outputs["weighted_smoothness"] == 0.5
    assert evaluated(THEOREM_B_4, "printed", **run).outputs["weighted_smoothness"] == pytest.approx(0.55)


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.99, 1.0])
def test_the_proofs_smoothness_is_valid_and_weaker(rate: float) -> None:
    for theorem in (THEOREM_5_2, THEOREM_B_4):
        found = evaluated(theorem, participation_rate=rate).outputs
        assert found["proof_weighted_smoothness"] >= found["weighted_smoothness"]


@pytest.mark.compares("bietti.5.2")
def test_both_weightings_agree_for_equal_batches() -> None:
    equal = [group(100, 4, 0.3)]
    clients = evaluated(THEOREM_B_4, client_groups=equal, noise_std=0.0).outputs
    samples = evaluated(THEOREM_5_2, client_groups=equal, noise_std=0.0).outputs
    for name in ("weighted_smoothness", "variance", "excess_risk", "step_size"):
        assert clients[name] == pytest.approx(samples[name], rel=1e-13), name
    assert samples["clipping_multiplier"] == 4.0


@pytest.mark.erratum("E-B7")
def test_the_coarser_variance_keeps_the_selection() -> None:
    """E-B7: (36) is above (35) whatever the gradients; without σ̃, as (16) has it, it is not."""
    groups = [group(20, 3, norm=5.0)]
    found = evaluated(THEOREM_B_4, client_groups=groups).outputs
    selection = 0.3 * found["selection_variance"] / (0.25 * 20)
    assert found["coarser_variance"] >= found["variance"] * (1 - 1e-14)
    assert found["coarser_variance"] - selection < found["variance"]
    uneven = evaluated(THEOREM_B_4).outputs
    assert uneven["coarser_variance"] > uneven["variance"]


def test_groups_are_counts() -> None:
    one_by_one = [group(1, 2, 0.2) for _ in range(90)] + [group(1, 8) for _ in range(10)]
    counted = [group(90, 2, 0.2), group(10, 8)]
    for theorem in (THEOREM_5_2, THEOREM_B_4):
        apart = evaluated(theorem, client_groups=one_by_one).outputs
        together = evaluated(theorem, client_groups=counted).outputs
        assert {name: pytest.approx(value, rel=1e-12) for name, value in apart.items()} == together


@pytest.mark.compares("bietti.b.4", "epsilond.personalized-sgd-excess-risk")
def test_a_fixed_number_costs_a_little_more_than_independent_draws() -> None:
    drawn = {**EXAMPLE, "client_groups": [group(100, 2, 0.2)]}
    fixed = PERSONALIZED_RISK.evaluate(DrawnInputs(**drawn, sampling="without-replacement")).outputs
    free = PERSONALIZED_RISK.evaluate(DrawnInputs(**drawn, sampling="poisson")).outputs
    assert fixed["selection_variance"] == pytest.approx(free["selection_variance"] * 100 / 99, rel=1e-13)
    assert fixed["excess_risk"] >= free["excess_risk"]
    assert free == {
        name: value for name, value in evaluated(THEOREM_B_4, client_groups=[group(100, 2, 0.2)]).outputs.items()
        if name in free
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sampling", "rate", "pointer"),
    [
        ("full", 0.5, "/participation_rate"),
        ("without-replacement", 0.253, "/participation_rate"),
        ("without-replacement", 1e-9, "/participation_rate"),
        ("with-replacement", 0.5, "/sampling"),
    ],
)
def test_rates_that_a_sampling_cannot_have(sampling: Any, rate: float, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        DrawnInputs(**{**EXAMPLE, "sampling": sampling, "participation_rate": rate})
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_a_single_client_is_always_drawn() -> None:
    federation = DrawnGradients(groups=(group(1),), weighting="clients", rate=1.0, draw="fixed-number")
    assert federation.selection == 0.0

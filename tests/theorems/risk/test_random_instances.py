"""Proved statements about losses, steps and sequences, on random instances with extreme and degenerate figures."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS

FORMULAS: dict[str, Theorem] = {theorem.id: theorem for theorem in THEOREMS if theorem.formula is not None}
SLACK = 1e-9
"""Relative tolerance, for the roundings of a simulated run."""
seeds = pytest.mark.parametrize("seed", range(20))


def serve(name: str, reading: Any = None, **fields: Any) -> Any:
    """Return the outputs of a theorem's formula, of its last reading unless one is named."""
    theorem = FORMULAS[name]
    return theorem.evaluate(theorem.request(**fields), reading or theorem.readings[-1]).outputs


def random_scale(rng: np.random.Generator, low: float = -3.0, high: float = 3.0) -> float:
    """Draw a number whose decimal logarithm is uniform."""
    return float(10.0 ** rng.uniform(low, high))


def random_hessian(rng: np.random.Generator, least: float, largest: float, dimension: int = 4) -> Any:
    """Draw a symmetric matrix with random eigenvectors and eigenvalues between two, both attained."""
    basis = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
    inner = rng.uniform(least, largest, dimension - 2)
    return basis @ np.diag(np.r_[least, largest, inner]) @ basis.T


@seeds
def test_the_start_of_a_quadratic_loss(seed: int) -> None:
    """F(w) = ½wᵀHw with its minimiser at 0: L is the largest gradient on the segment from the start."""
    rng = np.random.default_rng(seed)
    smoothness = random_scale(rng)
    convexity = smoothness * random_scale(rng, -6.0, 0.0)
    hessian = random_hessian(rng, convexity, smoothness)
    start = rng.normal(size=4) * random_scale(rng)
    excess, gradient = 0.5 * start @ hessian @ start, np.linalg.norm(hessian @ start)
    distance = float(np.linalg.norm(start)) * (1.0 + 1e-14)
    known: dict[str, Any] = {
        "initial_distance": distance,
        "lipschitz": float(gradient),
        "smoothness": smoothness,
        "minimiser_gradient_norm": 0.0,
    }
    risk = serve("epsilond.excess-risk-of-the-start", **known, strong_convexity=convexity)
    bounds = [value for name, value in risk.items() if name.startswith("by_")]
    assert len(bounds) == 3
    assert excess <= min(bounds) * (1.0 + SLACK)
    assert gradient <= serve("epsilond.gradient-norm-of-the-start", **known)["gradient_norm"] * (1.0 + SLACK)


@seeds
def test_vectors_drawn_without_replacement(seed: int) -> None:
    """Lemma E.6 with every batch enumerated, one client and all clients among the cases."""
    rng = np.random.default_rng(seed)
    population = int(rng.integers(2, 8))
    batch = int(rng.integers(1, population + 1))
    vectors = rng.normal(size=(population, 3)) * rng.choice([0.0, 1e-3, 1.0, 1e3], size=(population, 1))
    vectors = vectors - vectors.mean(axis=0)
    square = float(np.mean(np.sum(vectors**2, axis=1)))
    batches = itertools.combinations(range(population), batch)
    truth = np.mean([np.sum(vectors[list(members)].mean(axis=0) ** 2) for members in batches])
    for reading in ("printed", "corrected"):
        fields = {"population": population, "batch_size": batch, "mean_square": square}
        assert truth <= serve("lowy.lemma-e.6", reading, **fields)["variance"] * (1.0 + SLACK) + 1e-24 * square
    assert truth == pytest.approx(serve("lowy.lemma-e.6", **fields)["variance"], rel=1e-9, abs=1e-24 * (1.0 + square))


@seeds
def test_the_recursion_of_gradient_steps(seed: int) -> None:
    """Lemma E.9: sequences with r' = (1 − aη) r − bηs + cη² for random s ≥ 0 that keep r ≥ 0, and smaller ones."""
    rng = np.random.default_rng(seed)
    contraction, start = random_scale(rng, -3.0, 1.0), random_scale(rng)
    curvature, variance = contraction * random_scale(rng, 0.001, 3.0), random_scale(rng, -6.0, 3.0)
    rounds = int(random_scale(rng, 0.0, 3.0))
    outputs = serve(
        "lowy.lemma-e.9",
        contraction=contraction,
        curvature=curvature,
        variance=variance,
        start=start,
        rounds=rounds,
    )
    step, progress = outputs["step_size"], random_scale(rng, -1.0, 1.0)
    kept = 1.0 - contraction * step
    value, weighted, total = start, 0.0, 0.0
    for number in range(rounds):
        ceiling = kept * value + variance * step * step
        gap = float(rng.choice([0.0, rng.random(), 1.0])) * ceiling / (progress * step)
        weight = kept ** (rounds - number - 1)  # γ_t times (1 − aη)^T, which cancels in the mean
        weighted, total = weighted + weight * gap, total + weight
        value = (ceiling - progress * step * gap) * float(rng.choice([1.0, 0.9]))
    assert progress * weighted / total + contraction * value <= outputs["bound"] * (1.0 + SLACK)


@seeds
def test_the_recursion_of_anytime_steps(seed: int) -> None:
    """Lemma A.7 at its worst: equality in A_t ≤ (h/T) Σ A_τ + B_t, or less, for random B that never fall."""
    rng = np.random.default_rng(seed)
    rounds = int(random_scale(rng, 0.0, 2.5))
    added = np.sort(rng.gamma(0.5, size=rounds)) * random_scale(rng)
    feedback = float(rng.uniform(0.01, 0.99)) if rounds > 1 else 0.5
    share, total, value = feedback / rounds, 0.0, 0.0
    for each in added:
        value = (share * total + each) / (1.0 - share) * float(rng.choice([1.0, 1.0, 0.5]))
        total += value
    outputs = serve("reshef.lemma-a.7", added=float(added[-1]), rounds=rounds, feedback=feedback)
    assert value <= outputs["sharper_bound"] * (1.0 + SLACK)
    assert outputs["sharper_bound"] <= outputs["bound"] * (1.0 + SLACK)


@seeds
def test_one_record_moves_the_loss_by_the_stability(seed: int) -> None:
    """Lemma E.2: two runs of projected gradient descent on all records, which differ in one record of one client.

    The losses are h(w − x)²/2 on [−1, 1], with L = 2h and β = μ = h. All clients participate with full batches, so that
    the changed record is in every round.
    """
    rng = np.random.default_rng(seed)
    clients, samples, rounds = (int(rng.integers(1, top)) for top in (4, 5, 60))
    if clients * samples == 1:
        samples = 2
    curvature = random_scale(rng, -2.0, 2.0)
    step = float(rng.uniform(0.01, 1.0)) / curvature
    records = rng.uniform(-1.0, 1.0, size=clients * samples)
    changed = np.r_[float(rng.choice([-1.0, 1.0])), records[1:]]

    def run(data: Any, convexity: float) -> float:
        w, mean, total = 0.0, 0.0, 0.0
        for number in range(rounds):
            w = float(np.clip(w - step * curvature * (w - data.mean()), -1.0, 1.0))
            weight = (1.0 - step * convexity) ** (rounds - number)
            mean, total = mean + weight * w, total + weight
        return mean / total if total > 0.0 else w

    fields = {
        "clients": clients,
        "participants": clients,
        "samples_per_client": samples,
        "rounds": rounds,
        "step_size": step,
        "lipschitz": 2.0 * curvature,
        "smoothness": curvature,
    }
    points = np.linspace(-1.0, 1.0, 9)
    for convexity in (0.0, curvature):
        moved = run(records, convexity), run(changed, convexity)
        losses = [0.5 * curvature * (w - points) ** 2 for w in moved]
        served = serve("lowy.lemma-e.2", **fields, strong_convexity=convexity)["stability"]
        assert np.max(np.abs(losses[0] - losses[1])) <= served * (1.0 + SLACK)


# Local steps of Das et al. --------------------------------------------------------------------------------------------
@seeds
def test_local_steps_on_random_quadratics(seed: int) -> None:
    """Lemmas 2, 3 and 4 of Das et al.: E full gradient steps on a quadratic loss with eigenvalues in [−L, L] or [0, L]."""
    rng = np.random.default_rng(seed)
    smoothness, local_steps = random_scale(rng), int(rng.integers(1, 30))
    step = 0.25 / (smoothness * local_steps) * float(rng.choice([1.0, 0.5, 1e-3]))
    steps = int(rng.integers(1, local_steps + 1))
    for least in (-smoothness, 0.0):
        hessian = random_hessian(rng, least, smoothness)
        start = rng.normal(size=4)
        path = [start]
        for _ in range(local_steps):
            path.append(path[-1] - step * hessian @ path[-1])
        gradients = [hessian @ w for w in path[:-1]]
        update, first = np.sum(gradients, axis=0), float(np.linalg.norm(gradients[0]))
        shared = {"local_steps": local_steps, "step_size": step, "smoothness": smoothness}
        distance = serve("das.lemma-4", gradient_norm=first, steps_taken=steps, **shared)
        truth = np.linalg.norm(path[0] - path[steps])
        assert truth <= distance["sharper_distance"] * (1.0 + SLACK) <= distance["distance"] * (1.0 + 2 * SLACK)
        for reading in ("printed", "corrected"):
            served = serve("das.lemma-3", reading, gradient_norm=first, **shared)["update_norm"]
            assert np.linalg.norm(update) >= served * (1.0 - SLACK)
        if least == 0.0:  # convex, so quasar-convex with ζ = 1
            norm = float(np.linalg.norm(update))
            inner = serve("das.lemma-2", update_norm=norm, quasar_convexity=1.0, **shared)
            assert update @ start >= inner["sharper_inner_product"] * (1.0 - SLACK)
            assert inner["sharper_inner_product"] >= inner["inner_product"] * (1.0 - SLACK)


@seeds
def test_directions_of_near_vectors(seed: int) -> None:
    """Lemma 6 of Das et al., for vectors that are equal, near, opposite, or of very different norms."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(200, 3))
    other = first + rng.normal(size=(200, 3)) * 10.0 ** rng.uniform(-8.0, 2.0, size=(200, 1))
    other[:3] = first[:3] * np.array([[1.0], [-1e-6], [1e6]])
    norms = np.linalg.norm(first, axis=1), np.linalg.norm(other, axis=1)
    apart = np.linalg.norm(first / norms[0][:, None] - other / norms[1][:, None], axis=1)
    relative = np.linalg.norm(first - other, axis=1) / norms[0]
    for truth, ratio in zip(apart, relative, strict=True):
        if ratio > 0.0:
            served = serve("das.lemma-6", relative_distance=float(ratio))
            assert truth <= served["sharper_unit_distance"] * (1.0 + SLACK) + 1e-15
            assert truth <= served["unit_distance"] * (1.0 + SLACK) + 1e-15

"""Lemmas E.4 and E.5 with clients that differ and a random number of them: enumeration, simulated runs, definitions."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import LEMMA_E5_FRESH, LEMMA_E5_REUSED
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.noisy_descent import LEMMA_E4, LEMMA_E4_STRONGLY_CONVEX
from tests.oracles.lowy_reused import moments, over_largest

LAW = [(2, 0.25), (5, 0.75)]
PARTICIPATION = [{"participants": m, "probability": p} for m, p in LAW]
GROUPS = [{"clients": 3}, {"clients": 2, "gradient_std": 2.0}, {"clients": 1, "gradient_std": 0.5, "noise_std": 1.5}]
PHIS = [1.0] * 3 + [2.0] * 2 + [0.5]
SIGMAS = [0.4] * 5 + [1.5]
SHARED: dict[str, Any] = {
    "clients": 6, "participants": None, "participation": PARTICIPATION, "client_groups": GROUPS, "batch_size": 10,
    "dimension": 7, "noise_std": 0.4,
}  # fmt: skip
DESCENT: dict[str, Any] = {
    **SHARED, "initial_distance": 1.5, "rounds": 90, "smoothness": 2.0, "empirical_gradient_std": 1.0,
    "empirical_heterogeneity": 0.3,
}  # fmt: skip


def outputs(theorem: Theorem, reading: Any, **given: Any) -> dict[str, Any]:
    return dict(theorem.evaluate(theorem.request(**given), reading).outputs)


def variances(exact: bool) -> dict[str, Any]:
    """Client by client: Φ², Σ² and their largest, or plain means; K = 10, d = 7, v = 0.3."""
    M, rms = moments(LAW)
    found = []
    for each in (PHIS, SIGMAS):
        squares = [mpf(value) ** 2 for value in each]
        printed = min(over_largest(squares, LAW) / rms, max(squares) / M)
        found.append(mp.fsum(squares) / 6 / M if exact else printed)
    between = (1 - (M - 1) / 5) / M * mpf("0.3") ** 2
    return {"sampling_variance": found[0] / 10, "client_variance": between, "noise_variance": 7 * found[1]}


@pytest.mark.parametrize("reading", ["printed", "corrected"])
def test_lemma_e_5_client_by_client(reading: Any) -> None:
    found = outputs(LEMMA_E5_FRESH, reading, **SHARED, gradient_std=1.0, heterogeneity=0.3)
    expected = variances(reading == "corrected")
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), rel=1e-12), name
    assert found["gradient_variance"] == pytest.approx(float(mp.fsum(expected.values())), rel=1e-12)


def test_the_plain_mean_is_exact_and_below_the_printed_minimum() -> None:
    """Every set of participants: the variance of the mean of independent messages with variances x_i."""
    x = np.array(SIGMAS) ** 2
    exact = sum(p * np.mean([x[list(chosen)].sum() / m**2 for chosen in combinations(range(6), m)]) for m, p in LAW)
    printed, corrected = (
        outputs(LEMMA_E5_FRESH, reading, **SHARED, gradient_std=1.0)["noise_variance"]
        for reading in ("printed", "corrected")
    )
    assert corrected == pytest.approx(7 * exact, rel=1e-12)
    assert printed > 1.05 * corrected


@pytest.mark.parametrize("reading", ["printed", "corrected"])
def test_records_used_again_differ_in_their_noise_alone(reading: Any) -> None:
    given = {**SHARED, "client_groups": [{"clients": 5}, {"clients": 1, "noise_std": 1.5}], "samples_per_client": 40}
    given |= {"empirical_gradient_std": 2.0, "empirical_heterogeneity": 0.3}
    found = outputs(LEMMA_E5_REUSED, reading, **given)
    expected = variances(reading == "corrected")
    assert found["noise_variance"] == pytest.approx(float(expected["noise_variance"]), rel=1e-12)
    M, _ = moments(LAW)
    if reading == "printed":
        assert found["sampling_variance"] == pytest.approx(float(4 / (M * 10)), rel=1e-12)
    with pytest.raises(InvalidInput, match="groups differ in noise_std"):
        outputs(LEMMA_E5_REUSED, reading, **{**given, "client_groups": GROUPS})


@pytest.mark.parametrize("reading", ["printed", "corrected"])
def test_lemma_e_4_client_by_client(reading: Any) -> None:
    found = outputs(LEMMA_E4, reading, **DESCENT, step_size=0.1)
    parts = variances(reading == "corrected")
    S, C, N = parts.values()
    eta, R, D = mpf(0.1), 90, mpf("1.5")
    if reading == "printed":
        expected = D**2 / (eta * R) + 2 * eta * (S + C + N / 2)
    else:
        expected = D**2 / (2 * eta * R) + eta * (S + C + N) / (2 * (1 - 2 * eta))
    assert found["excess_risk"] == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.compares("lowy.lemma-e.4.strongly-convex")
@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_equation_14_client_by_client(reading: Any, step_size: float | None) -> None:
    found = outputs(LEMMA_E4_STRONGLY_CONVEX, reading, **DESCENT, strong_convexity=0.5, step_size=step_size)
    S, C, N = variances(False).values()
    c, mu, beta, D, R = 2 * (S + C) + N, mpf("0.5"), mpf(2), mpf("1.5"), 90
    eta = min(1 / (4 * beta), mp.log(max(2, mu**2 * D**2 * R**2 / c)) / (mu * R)) if step_size is None else mpf(0.02)
    if reading == "printed":
        bound = D**2 / eta * (1 - mu * eta) ** R + c * eta
    else:
        total = mp.fsum(variances(True).values())
        bound = D**2 * mu / (2 * ((1 - mu * eta) ** -R - 1)) + eta * total / (2 * (1 - eta * beta))
    expected = {
        "step_size": eta,
        "averaging_ratio": 1 / (1 - mu * eta),
        "excess_risk": bound,
        "scale": 4 * beta * D**2 * mp.exp(-mu * R / (4 * beta)) + c / (mu * R),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), rel=1e-12), name


@pytest.mark.erratum("E-13")
def test_a_constrained_minimum_refutes_14() -> None:
    """E-13: f(w) = 100 w + w²/2 on [−1, 1] from 1, no noise: the printed output at R = 1 is the start, 200 too much."""
    given = {**DESCENT, "participation": None, "participants": 6, "client_groups": None, "noise_std": 1e-12}
    given |= {"initial_distance": 2.0, "empirical_gradient_std": 0.0, "empirical_heterogeneity": 0.0, "rounds": 1}
    given |= {"smoothness": 1.0, "strong_convexity": 1.0}
    printed = outputs(LEMMA_E4_STRONGLY_CONVEX, "printed", **given)
    start_excess = (100 * 1.0 + 0.5) - (-100 + 0.5)
    assert printed["excess_risk"] < 20.0 < start_excess == 200.0
    corrected = outputs(LEMMA_E4_STRONGLY_CONVEX, "corrected", **given)
    after = max(-1.0, 1.0 - corrected["step_size"] * 101.0)
    assert 100 * after + after**2 / 2 - (-100 + 0.5) <= corrected["excess_risk"]


def test_runs_of_unlike_clients_stay_below_both_readings() -> None:
    """Quadratics (w − x_i)²/2 on the line, client means x_i that sum to 0; batches are whole, so φ = 0."""
    rng = np.random.default_rng(4)
    centre = np.array([0.3, 0.3, 0.3, -0.2, -0.2, -0.5])
    given = {**DESCENT, "dimension": 1, "initial_distance": 1.0, "rounds": 30, "smoothness": 1.0}
    given |= {"empirical_gradient_std": 0.0, "empirical_heterogeneity": float(centre.std())}
    given["client_groups"] = [{"clients": 5}, {"clients": 1, "noise_std": 1.5}]
    found = [
        outputs(LEMMA_E4_STRONGLY_CONVEX, reading, **given, strong_convexity=1.0, step_size=0.2)
        for reading in ("printed", "corrected")
    ]
    runs, eta = 4000, 0.2
    w = np.ones((runs, 31))
    for r in range(30):
        counts = rng.choice([2, 5], size=runs, p=[0.25, 0.75])
        order = rng.permuted(np.tile(np.arange(6), (runs, 1)), axis=1)
        taking = np.arange(6) < counts[:, None]
        message = w[:, [r]] - centre[order] + np.array(SIGMAS)[order] * rng.normal(size=(runs, 6))
        w[:, r + 1] = w[:, r] - eta * (message * taking).sum(axis=1) / counts
    weights = (1 - eta) ** -np.arange(1.0, 31.0)
    weights /= weights.sum()
    for answer, kept in zip(found, (w[:, :30], w[:, 1:]), strict=True):
        excess = np.mean((kept @ weights) ** 2) / 2
        assert excess < answer["excess_risk"] < 40 * excess
    assert found[1]["excess_risk"] < found[0]["excess_risk"]


def test_groups_have_to_add_up() -> None:
    for theorem, more in ((LEMMA_E5_FRESH, {"gradient_std": 1.0}), (LEMMA_E5_REUSED, {})):
        base = SHARED if theorem is LEMMA_E5_FRESH else {**SHARED, "samples_per_client": 40}
        base = {**base, **more}
        if theorem is LEMMA_E5_REUSED:
            base |= {"empirical_gradient_std": 1.0, "empirical_heterogeneity": 0.0}
        with pytest.raises(InvalidInput, match="add up to clients"):
            outputs(theorem, "printed", **{**base, "client_groups": [{"clients": 5}]})
        with pytest.raises(InvalidInput, match="at most one of participants and participation"):
            outputs(theorem, "printed", **{**base, "client_groups": None, "participants": 3})

"""How far one record moves a run: exact couplings, and simulations on the same batches."""

import math

import numpy as np
import pytest

from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import READINGS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import (
    LEMMA_E2,
    divergence,
    mean_divergence,
)


def coupled_runs(
    *, curvature: float, clients: int, taking_part: int, n: int, batch: int, step: float, rounds: int, runs: int
) -> np.ndarray:
    """Mean over runs of |w_t − w_t'|, t = 1, …, R, on data differing in one record, without projection.

    Losses w²·curvature/2 ± w: linear for curvature 0; the record's gradients differ by 2 throughout.
    """
    rng = np.random.default_rng(17)
    signs = rng.choice([-1.0, 1.0], size=(clients, n))
    signs[0, 0] = 1.0
    other = signs.copy()
    other[0, 0] = -1.0
    first, second = np.zeros(runs), np.zeros(runs)
    distances = np.zeros(rounds)
    for t in range(rounds):
        chosen = np.argsort(rng.random((runs, clients)), axis=1)[:, :taking_part]
        drawn = np.argsort(rng.random((runs, taking_part, n)), axis=2)[:, :, :batch]
        mean = signs[chosen[:, :, None], drawn].mean(axis=(1, 2))
        mean_other = other[chosen[:, :, None], drawn].mean(axis=(1, 2))
        noise = rng.normal(size=runs)
        first = first - step * (curvature * first + mean + noise)
        second = second - step * (curvature * second + mean_other + noise)
        distances[t] = np.abs(first - second).mean()
    return distances


@pytest.mark.erratum("E-31")
@pytest.mark.parametrize(("curvature", "rounds"), [(0.0, 20), (0.5, 20)])
def test_one_record_moves_a_linear_run_by_exactly_the_sharper_bound(curvature: float, rounds: int) -> None:
    """E-31: equality up to Monte Carlo error, for partial participation; the printed lemma is several times larger."""
    clients, taking_part, n, batch, step, runs = 5, 2, 4, 2, 0.3, 40_000
    distances = coupled_runs(
        curvature=curvature, clients=clients, taking_part=taking_part, n=n, batch=batch, step=step, rounds=rounds,
        runs=runs,
    )  # fmt: skip
    contraction = step * curvature
    expected = [2 * step / (clients * n) * divergence(contraction=contraction, steps=t) for t in range(1, rounds + 1)]
    assert distances == pytest.approx(expected, rel=0.04)
    weights = (1 - contraction) ** -np.arange(1.0, rounds + 1)
    moved = float(np.average(distances, weights=weights))
    record = LEMMA_E2.request(
        lipschitz=1.0, samples_per_client=n, clients=clients, participants=taking_part, step_size=step, rounds=rounds,
        smoothness=1.0, strong_convexity=curvature,
    )  # fmt: skip
    printed, alpha = (LEMMA_E2.evaluate(record, reading).outputs["stability"] for reading in READINGS)
    assert moved == pytest.approx(alpha, rel=0.04)
    if curvature:
        assert alpha < 2 / (curvature * clients * n)
    else:
        assert alpha == pytest.approx(step * (rounds + 1) / (clients * n))
    assert printed > 4 * moved


@pytest.mark.erratum("E-16")
def test_the_printed_divergence_lost_the_step_size() -> None:
    """E-16: f = ±w, one client with one record, step 3: the runs part by 2·3·t, not 2t."""
    first = second = 0.0
    for t in range(1, 6):
        first, second = first - 3.0 * 1.0, second - 3.0 * -1.0
        moved = abs(first - second)
        assert moved > 2.0 * t
        assert moved == 2.0 * 3.0 * divergence(contraction=0.0, steps=t)


@pytest.mark.parametrize("rounds", [1, 2, 7, 1000, 10**9, 10**15])
@pytest.mark.parametrize("contraction", [0.0, 1e-300, 1e-18, 1e-9, 1e-4, 0.01, 0.5, 0.999])
def test_the_mean_divergence_lies_between_its_limits(rounds: int, contraction: float) -> None:
    found = mean_divergence(contraction=contraction, rounds=rounds)
    assert found <= divergence(contraction=contraction, steps=rounds) * (1 + 1e-12)
    if contraction:
        assert found <= 1 / contraction * (1 + 1e-12)
        nearby = mean_divergence(contraction=contraction * (1 + 1e-6), rounds=rounds)
        assert nearby == pytest.approx(found, rel=1e-5)
    if contraction * rounds < 1e-9:
        assert found == pytest.approx((rounds + 1) / 2, rel=1e-8)


def test_the_seam_between_series_and_closed_form() -> None:
    for rounds in (2, 100, 10**6):
        x = 0.25 / rounds
        below, above = (mean_divergence(contraction=x * (1 + shift), rounds=rounds) for shift in (-1e-12, 1e-12))
        assert below == pytest.approx(above, rel=1e-11)


def test_the_printed_stability_needs_more_than_one_record() -> None:
    record = LEMMA_E2.request(
        lipschitz=1.0, samples_per_client=1, clients=1, participants=1, step_size=0.5, rounds=1,
        smoothness=1.0, strong_convexity=1.0,
    )  # fmt: skip
    assert LEMMA_E2.evaluate(record).outputs["stability"] == math.inf

"""Noise cancellation: what a client's messages reveal, from their covariance, and the schedule by simulation."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.power_sums import harmonic, root_sum
from epsilond.accountants.specs import Composed, Gaussian
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import (
    RECORDS,
    SCHEDULE,
    TRUSTED,
    UNTRUSTED,
    ReportsInputs,
    base_std,
    upper_mu,
)
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import CONSTANTS, ConstantsInputs
from epsilond.accountants.verdict import Verdict

NOISES = (3.0, 5.0, 2.0, 7.0, 4.0)


def taken_back(count: int) -> np.ndarray:
    """Message k holds y_k − y_{k−1}: the rows of what is sent, in terms of the noises drawn."""
    return np.eye(count) - np.eye(count, k=-1)


def mu_of(rows: np.ndarray, noises: tuple[float, ...], moved: np.ndarray) -> float:
    """√(moved' Cov⁻¹ moved) of Gaussian messages: what the pair of laws is, with no theorem."""
    covariance = rows @ np.diag(np.square(noises)) @ rows.T
    return math.sqrt(moved @ np.linalg.solve(covariance, moved))


@pytest.mark.compares("epsilond.noise-cancellation-records", "reshef.5.1")
def test_every_record_from_the_covariance_of_the_messages() -> None:
    rows, norm = taken_back(len(NOISES)), 2.5
    found = RECORDS.evaluate(ReportsInputs(clipping_norm=norm, noise_stds=NOISES)).outputs
    each = [mu_of(rows, NOISES, 2 * norm * np.eye(len(NOISES))[j]) for j in range(len(NOISES))]
    assert found["gaussian_dp_mu"] == pytest.approx(max(each), rel=1e-12)
    assert found["first_record_gaussian_dp_mu"] == pytest.approx(each[0], rel=1e-12)
    assert found["last_record_gaussian_dp_mu"] == pytest.approx(each[-1], rel=1e-12)
    assert found["client_gaussian_dp_mu"] == pytest.approx(
        mu_of(rows, NOISES, 2 * norm * np.ones(len(NOISES))), rel=1e-12
    )
    whole = UNTRUSTED.evaluate(ReportsInputs(clipping_norm=norm, noise_stds=NOISES)).outputs
    assert whole["gaussian_dp_mu"] == pytest.approx(each[0], rel=1e-12)
    assert whole["zcdp_rho"] == pytest.approx(each[0] ** 2 / 2, rel=1e-12)
    unlike = (1.0, 4.0, 9.0, 2.0, 3.0)
    refined = RECORDS.evaluate(ReportsInputs(clipping_norm=9.0, noise_stds=NOISES, sensitivities=unlike)).outputs
    each = [mu_of(rows, NOISES, unlike[j] * np.eye(len(NOISES))[j]) for j in range(len(NOISES))]
    assert refined["gaussian_dp_mu"] == pytest.approx(max(each), rel=1e-12)


def test_theorem_5_1_is_the_engines_composition() -> None:
    """account() of the running sums: Gaussians of multipliers σ_k/S, under each relation."""
    spec = Composed(mechanisms=tuple(Gaussian(noise_multiplier=std / 2.5) for std in NOISES))
    for relation in ("replace-one", "zero-out-one", "add-or-remove-one"):
        inputs = ReportsInputs(clipping_norm=2.5, noise_stds=NOISES, relation=relation)
        mu = UNTRUSTED.evaluate(inputs).outputs["gaussian_dp_mu"]
        pair = account(spec, relation=relation).guarantee.curve.upper
        assert pair.gaussian_dp_mu == pytest.approx(mu, rel=1e-13)


def test_a_lost_message_or_a_lost_state_reveals_no_more() -> None:
    """Drop-outs, as covariances: nothing received of report 2; Y forgotten before report 4; a retry that takes y_1 back twice."""
    moved = 2 * 2.5
    whole = RECORDS.evaluate(ReportsInputs(clipping_norm=2.5, noise_stds=NOISES)).outputs["gaussian_dp_mu"]
    lost = np.delete(taken_back(5), 1, axis=0)
    forgotten = taken_back(5)
    forgotten[3, 2] = 0.0
    repeated = taken_back(5)
    repeated[2, 1], repeated[2, 0] = 0.0, -1.0
    for rows in (lost, forgotten, repeated):
        for place in range(len(rows)):
            assert mu_of(rows, NOISES, moved * np.eye(len(rows))[place]) <= whole * (1 + 1e-12)
    # What a drop-out costs is the noise that stays: the server's sum holds y_2 for ever.
    left = lost.sum(axis=0)
    assert left.tolist() == [1.0, -1.0, 0.0, 0.0, 1.0]


def test_the_schedule_by_simulation() -> None:
    """Uniform participation: Lemma 4.1's identity, the noise that is left, and σ² of a report against its count."""
    clients, participants, rounds, dimension, runs = 12, 3, 40, 2, 3000
    draw = np.random.default_rng(5)
    base = base_std(sensitivity=2.0, mu=1.5, participations=rounds)
    counts, held = np.zeros((runs, clients)), np.zeros((runs, clients, dimension))
    total, clean = np.zeros((runs, dimension)), np.zeros((runs, dimension))
    squares: dict[int, list[float]] = {}
    for _ in range(rounds):
        order = np.argsort(draw.random((runs, clients)), axis=1)[:, :participants]
        rows = np.arange(runs)[:, None]
        counts[rows, order] += 1
        fresh = base * np.sqrt(counts[rows, order])[..., None] * draw.standard_normal((runs, participants, dimension))
        sent = draw.uniform(-1, 1, (runs, participants, dimension))
        total += (sent + fresh - held[rows, order]).mean(axis=1)
        clean += sent.mean(axis=1)
        held[rows, order] = fresh
        for count in (1, 4, 9):
            chosen = counts[rows, order] == count
            squares.setdefault(count, []).extend(np.square(fresh[chosen]).ravel())
    left = held.sum(axis=1) / participants
    assert np.allclose(total - clean, left, atol=1e-10)
    norms = np.square(left).sum(axis=1)
    expected = dimension * base**2 * rounds / participants
    assert abs(norms.mean() - expected) < 4 * norms.std() / math.sqrt(runs)
    assert counts.mean() == pytest.approx(participants * rounds / clients)
    for count, found in squares.items():
        spread = math.sqrt(2 / len(found))
        assert abs(np.mean(found) / (base**2 * count) - 1) < 4 * spread


def test_the_losses_of_a_simulated_client_are_those_of_its_mu() -> None:
    """Log-likelihood ratios of the messages themselves have mean ρ²/2 and variance ρ², for the schedule at its cap."""
    count, mu = 6, 1.2
    base = base_std(sensitivity=2.0, mu=mu, participations=count)
    noises = tuple(base * math.sqrt(k) for k in range(1, count + 1))
    rows = taken_back(count)
    inverse = np.linalg.inv(rows @ np.diag(np.square(noises)) @ rows.T)
    moved = np.zeros(count)
    moved[0] = 2.0
    draw = np.random.default_rng(9)
    messages = moved + (draw.standard_normal((40_000, count)) * noises) @ rows.T
    losses = messages @ inverse @ moved - 0.5 * moved @ inverse @ moved
    assert abs(losses.mean() - mu**2 / 2) < 4 * mu / 200
    assert losses.std() == pytest.approx(mu, rel=0.02)


@pytest.mark.erratum("E-R11")
@pytest.mark.compares("epsilond.noise-cancellation-schedule")
def test_the_printed_schedule_gives_more_than_it_says() -> None:
    for rounds, reports in ((1, 1), (10, 3), (1200, 600), (1200, 1200), (10**12, 10**6)):
        shape: dict[str, Any] = {
            "clipping_norm": 3.0,
            "gaussian_dp_mu": 2.0,
            "rounds": rounds,
            "participations": reports,
        }
        printed = SCHEDULE.evaluate(SCHEDULE.request(**shape)).outputs
        assert printed["true_gaussian_dp_mu"] == pytest.approx(
            2.0 * math.sqrt(harmonic(reports) / (1 + math.log(rounds))), rel=1e-13
        )
        assert (printed["true_gaussian_dp_mu"] < 2.0) is (rounds > 1)
        least = SCHEDULE.evaluate(SCHEDULE.request(**shape, most_participations=reports), "corrected").outputs
        assert least["true_gaussian_dp_mu"] == pytest.approx(2.0, rel=1e-13)
        assert upper_mu(sensitivity=6.0, base=least["base_std"], participations=reports) >= 2.0 * (1 - 1e-15)
        assert least["base_std"] <= printed["base_std"] * (1 + 1e-15)


@pytest.mark.erratum("E-R9")
@pytest.mark.compares("reshef.section-4")
def test_a_malicious_server_exceeds_the_printed_norm() -> None:
    """f(x; z) = ½L x² on [−D/2, D/2]: with x_{t−1} at the other end |s_t| passes S, which bounds it for small steps."""
    smooth, diameter, round_ = 3.0, 2.0, 50
    gradient = 0.5 * smooth * diameter
    found = CONSTANTS.evaluate(
        ConstantsInputs(lipschitz=gradient, smoothness=smooth, diameter=diameter, round=round_)
    ).outputs
    far = abs(round_ * gradient - (round_ - 1) * -gradient)
    assert far > found["clipping_norm"]
    assert far <= gradient + (round_ - 1) * smooth * diameter
    step = 2.0 * diameter / (round_ + 1)
    near = abs(round_ * gradient - (round_ - 1) * smooth * (0.5 * diameter - step))
    assert near == pytest.approx(found["round_clipping_norm"], rel=1e-12)
    assert near < found["clipping_norm"]
    # Two records, of loss slopes as far apart as convexity allows, move s by G + S_t at most.
    assert found["convex_sensitivity"] == gradient + found["round_clipping_norm"]


@pytest.mark.erratum("E-R7")
@pytest.mark.compares("reshef.f.1")
def test_the_last_round_of_a_trusted_server_is_not_released() -> None:
    noises = (2.0,) * 10
    found = TRUSTED.evaluate(TRUSTED.request(clipping_norm=3.0, participants=5, noise_stds=noises)).outputs
    assert found["gaussian_dp_mu"] == pytest.approx(2 * 3 / 5 * math.sqrt(10) / 2, rel=1e-14)
    assert found["released_gaussian_dp_mu"] == pytest.approx(found["gaussian_dp_mu"] * math.sqrt(9 / 10), rel=1e-14)
    assert (
        TRUSTED.evaluate(TRUSTED.request(clipping_norm=3.0, participants=5, noise_stds=())).outputs["zcdp_rho"] == 0.0
    )


def test_spreads_beyond_their_bounds_fail_the_condition() -> None:
    fine: dict[str, Any] = {"lipschitz": 1.0, "smoothness": 0.5, "diameter": 2.0}
    for name, most in (
        ("gradient_std", 1.0),
        ("heterogeneity", 1.0),
        ("smoothness_std", 0.5),
        ("smoothness_heterogeneity", 0.5),
    ):
        for value, holds in ((most, True), (1.1 * most, False)):
            condition = CONSTANTS.evaluate(ConstantsInputs(**fine, **{name: value})).conditions[0]
            assert (condition.id, condition.holds) == ("spreads", Verdict.of(holds))
        assert (condition.left, condition.right) == (1.1 * most, most)


def test_sums_in_closed_form() -> None:
    for count in (0, 1, 2, 10, 63, 64, 65, 1000):
        assert harmonic(count) == pytest.approx(float(mp.harmonic(count)), rel=1e-15)
        with mp.workdps(30):
            exact = mp.fsum(mp.sqrt(k) for k in range(1, count + 1))
        assert root_sum(count) == pytest.approx(float(exact), rel=1e-15)
    with mp.workdps(30):
        assert harmonic(10**15) == pytest.approx(float(mp.harmonic(10**15)), rel=1e-15)
        low, high = (float(2 * mp.mpf(n) ** 1.5 / 3) for n in (10**15, 10**15 + 1))  # integrals on either side
        assert low * (1 - 1e-15) <= root_sum(10**15) <= high * (1 + 1e-15)


@pytest.mark.parametrize(
    ("inputs", "fields", "pointer"),
    [
        (ReportsInputs, {"clipping_norm": 1.0, "noise_stds": (1.0, 0.0)}, "/noise_stds/1"),
        (ReportsInputs, {"clipping_norm": 1.0, "noise_stds": (1.0, math.inf)}, "/noise_stds/1"),
        (ReportsInputs, {"clipping_norm": 1.0, "noise_stds": (1.0,), "sensitivities": ()}, "/sensitivities"),
        (TRUSTED.request, {"clipping_norm": 1.0, "participants": 1, "noise_stds": (True,)}, "/noise_stds/0"),
        (
            SCHEDULE.request,
            {"clipping_norm": 1.0, "gaussian_dp_mu": 1.0, "rounds": 5, "participations": 6},
            "/participations",
        ),
        (
            SCHEDULE.request,
            {"clipping_norm": 1.0, "gaussian_dp_mu": 1.0, "rounds": 5, "participations": 2, "most_participations": 6},
            "/most_participations",
        ),
    ],
)
def test_inputs_that_no_run_can_have(inputs: Any, fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inputs(**fields)
    assert [fault.pointer for fault in caught.value.faults] == [pointer]

"""Risk bounds of given runs: figures from the papers' formulas, simulated runs below them, and why there is no bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.calibrators.risk.answer import RiskBoundsAnswer, UpperBound
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.reading import read

BOUNDERS = {bounder.name: bounder for bounder in RISK_BOUNDS}
SETTING = {"epsilon": 1.0, "delta": 1e-5, "relation": "replace-one"}
OF_CLIENTS = {**SETTING, "unit": "client"}
OF_RECORDS = {**SETTING, "unit": "record"}


def bounded(name: str, **body: Any) -> RiskBoundsAnswer:
    answer: RiskBoundsAnswer = BOUNDERS[name].solve(read(BOUNDERS[name].problem, body))
    return answer


def changed(name: str, **changes: Any) -> RiskBoundsAnswer:
    body = {**BOUNDERS[name].example, **changes}
    return bounded(name, **{field: value for field, value in body.items() if value is not None})


def value_of(bound: UpperBound) -> float:
    assert bound.value is not None
    return bound.value


def is_rounded_up(bound: UpperBound, exact: Any) -> bool:
    """Whether a bound is not below its formula in high precision, and above it by roundings only."""
    return bool(exact <= mpf(value_of(bound)) <= exact * (1 + mpf("1e-11")))


# The figures of the papers' formulas --------------------------------------------------------------------------------
DP_FEDAVG = {
    **OF_CLIENTS,
    "observer": "released-models",
    "clients": 40,
    "participants": 10,
    "dimension": 3,
    "clipping_norm": 2.0,
    "lipschitz": 1.5,
    "diameter": 4.0,
    "rounds": 50,
    "noise_std": 0.3,
}


@pytest.mark.parametrize("step_size", [None, 0.05])
def test_dp_fedavg_has_the_bound_of_averaged_steps(step_size: float | None) -> None:
    answer = bounded("dp-fedavg", **DP_FEDAVG, **({} if step_size is None else {"step_size": step_size}))
    with mp.workdps(40):
        moment = mpf(1.5) ** 2 * (1 + (1 - mpf(10) / 40) / 10) + 3 * mpf(0.3) ** 2
        exact = mpf(4) * mp.sqrt(moment / 50)
        if step_size is not None:
            exact = mpf(16) / (2 * mpf(step_size) * 50) + mpf(step_size) * moment / 2
        assert is_rounded_up(answer.upper[0], exact)
    (condition,) = answer.upper[0].conditions
    assert (condition.left, condition.right, condition.holds) == (1.5, 2.0, "yes")
    (lower,) = answer.lower
    assert (lower.theorem, lower.trust, lower.problem) == ("lowy.f.5", "central", "empirical")
    # LR min{1, √d/(εN)} with one loss per client and the radius R = D/2.
    assert lower.scale == pytest.approx(1.5 * 2.0 * math.sqrt(3) / 40, rel=1e-12)


def test_norm_fedavg_has_equation_39_and_theorem_2() -> None:
    body = {
        **OF_RECORDS,
        "observer": "server",
        "clients": 20,
        "participants": 5,
        "rounds": 16,
        "local_steps": 4,
        "dimension": 6,
        "quantization_levels": 8,
        "smoothness": 2.0,
        "quasar_convexity": 0.5,
        "initial_distance": 3.0,
        "client_optimum_distance": 0.25,
        "noise_std": 0.3,
    }
    with mp.workdps(40):
        spread = mp.sqrt(1 + (mpf(6) / (4 * 64) + 6 * mpf(0.3) ** 2) / 5)
        scaled = mpf(2) / mpf(0.5)
        for ratio in (48.0, 10.0):  # 4L‖w₀ − w*‖/ζ = 48 is printed
            first, second = bounded("norm-fedavg", **body, step_ratio=ratio).upper
            exact = (12 * (scaled * 3) ** 2 * 4 / (ratio * 16) + mpf(3) * ratio / 16) * spread + 6 * scaled / 4
            assert is_rounded_up(first, exact)
            if ratio == 48.0:
                assert is_rounded_up(second, 6 * scaled * 3 / 4 * spread + 6 * scaled / 4)
            else:
                assert second.value == math.inf
                assert [one.holds for one in second.conditions] == ["yes", "no"]
                assert (second.conditions[1].left, second.conditions[1].right) == (10.0, 48.0)


def test_a_gaussian_mean_has_the_error_of_its_batches_and_noise() -> None:
    body = {
        **OF_RECORDS,
        "relation": "add-or-remove-one",
        "observer": "released-models",
        "solve_for": "noise_multiplier",
        "sampling": "poisson",
        "rate": 0.125,
        "rounds": 20,
        "records": 64,
        "dimension": 5,
        "contribution_norm": 3.0,
        "noise_std": 1.5,
    }
    answer = bounded("gaussian", **body)
    with mp.workdps(40):
        assert is_rounded_up(answer.upper[0], (mpf(8) * 7 / 8 * 9 + 5 * mpf(1.5) ** 2) / (64 * 20))
    assert answer.baseline is not None
    assert (answer.baseline.value, answer.measure) == (9.0, "squared-error")
    fields = {name: value for name, value in body.items() if name not in ("epsilon", "noise_std")}
    again = bounded("gaussian", **fields | {"solve_for": "epsilon", "noise_multiplier": 0.5})
    assert again.upper == answer.upper


def test_corollary_1_is_served_with_the_noise_of_every_coordinate() -> None:
    body = {
        **OF_RECORDS,
        "observer": "final-model",
        "clients": 1000,
        "participants": 10,
        "dimension": 20,
        "lipschitz": 1.0,
        "radius": 1.0,
        "smoothness": 2.0,
        "strong_convexity": 0.5,
        "step_schedule": {"kind": "inverse-time", "scale": 2.0},
        "noise_std": 0.25,
    }
    ours, interior, printed = bounded("projected-sgd", **body).upper
    assert (printed.theorem, printed.status, printed.reading) == ("asoodeh.corollary-1", "refuted", "corrected")
    with mp.workdps(40):
        assert is_rounded_up(printed, 2 * 2 * (10 + 1 + 20 * mpf(0.25) ** 2) / (mpf(0.25) * 1000))
    assert ours.status == interior.status == "proved"
    assert value_of(interior) < value_of(printed)
    assert value_of(interior) < value_of(ours)
    assert not ours.conditions
    for bound in (interior, printed):
        assert [(one.id, one.holds) for one in bound.conditions] == [("interior-minimiser", "undecidable")]
    stop, order = bounded("projected-sgd", **body, release="random-stop").upper
    assert value_of(stop) > 0.0
    assert (order.theorem, order.constant, order.value, order.status) == (
        "asoodeh.corollary-2",
        "hidden",
        None,
        "unproved",
    )
    suffix = bounded("projected-sgd", **body, release="suffix", suffix_fraction=0.5)
    assert [bound.theorem for bound in suffix.upper] == ["epsilond.one-pass-scheduled-excess-risk"]


def test_the_first_step_of_a_suffix_is_that_of_the_exact_fraction() -> None:
    body = {
        **OF_RECORDS,
        "observer": "final-model",
        "clients": 1000,
        "participants": 10,
        "dimension": 20,
        "lipschitz": 1.0,
        "radius": 1.0,
        "step_schedule": {"kind": "constant", "value": 0.1},
        "noise_std": 0.25,
        "release": "suffix",
    }
    # 0.07 · 100 is 7, but above 7 in doubles. Both suffixes are the steps 7 to 100.
    exact, next_fraction, later = (
        value_of(bounded("projected-sgd", **body, suffix_fraction=fraction).upper[0])
        for fraction in (0.07, 0.065, 0.08)
    )
    assert exact == next_fraction != later


def test_an_order_without_a_constant_is_no_bound() -> None:
    answer = changed("projected-sgd")
    assert [bound.theorem for bound in answer.upper] == [
        "epsilond.one-pass-scheduled-excess-risk",
        "asoodeh.convex-losses",
    ]
    order = answer.upper[1]
    assert (order.value, order.scale, order.status) == (None, pytest.approx(10**-0.5), "unproved")
    assert [condition.holds for condition in order.conditions] == ["undecidable", "undecidable"]


@pytest.mark.parametrize("step_size", [1e-3, 0.4])
def test_ppsgd_has_the_bound_of_its_step_size(step_size: float) -> None:
    body = {
        **OF_CLIENTS,
        "observer": "other-clients",
        "clients": 10,
        "rounds": 100,
        "clipping_norm": 1.0,
        "shared_dimension": 4,
        "smoothness": 2.0,
        "shared_gradient_std": 0.5,
        "local_gradient_std": 0.5,
        "optimum_norm": 1.0,
        "personalization": 0.1,
        "noise_std": 0.2,
        "step_size": step_size,
    }
    (bound,) = bounded("ppsgd", **body).upper
    with mp.workdps(40):
        alpha, eta = mpf(0.1), mpf(step_size)
        variance = (alpha * mpf(0.25) + mpf(0.25)) / 10 + alpha * 4 * mpf(0.2) ** 2
        norm, smooth = mpf(10) / (alpha * 10 + 1), 2 * max(alpha, mpf(1) / 10)
        exact = (norm / 100 + 2 * eta**2 * variance) / (2 * eta * (1 - 2 * eta * smooth))
        assert is_rounded_up(bound, exact)
    assert bound.conditions[0].left == pytest.approx(step_size * 0.2, rel=1e-12)


def test_a_step_beyond_the_theorem_has_no_finite_bound_and_names_both_sides() -> None:
    for name, changes in (
        ("ppsgd", {"personalization": 0.1, "step_size": 10.0}),
        ("mu2-sgd", {"step_size": 1.0}),
        ("mu2-sgd", {"server": "trusted", "observer": "released-models", "step_size": 1.0}),
    ):
        bound = changed(name, **changes).upper[0]
        assert bound.value == math.inf
        (condition,) = bound.conditions
        assert condition.holds == "no"
        assert condition.left is not None
        assert condition.right is not None
        assert condition.left > condition.right


def test_a_trusted_server_has_the_bound_of_theorem_f_2() -> None:
    body = {
        **OF_RECORDS,
        "observer": "released-models",
        "server": "trusted",
        "clients": 20,
        "participants": 4,
        "rounds": 100,
        "dimension": 10,
        "lipschitz": 1.0,
        "smoothness": 0.25,
        "diameter": 2.0,
        "gradient_std": 0.5,
        "heterogeneity": 0.0,
        "smoothness_std": 0.0,
        "smoothness_heterogeneity": 0.0,
        "optimum_gradient_norm": 0.0,
        "noise_std": 0.3,
        "step_size": 0.005,
    }
    answer = bounded("mu2-sgd", **body)
    with mp.workdps(40):
        exact = 2 * mpf(4) / (mpf(0.005) * 10**4) + 8 * mpf(0.5) / mp.sqrt(400)
        exact += 2 * mpf(0.005) * 10 * mpf(0.3) ** 2 / 100
        assert is_rounded_up(answer.upper[0], exact)
    assert answer.lower[0].trust == "central"
    assert answer.lower[0].scale == pytest.approx(2.0 * (1 / 20 + math.sqrt(10) / 400), rel=1e-12)


# Why there is no bound ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("dp-fedavg", {"lipschitz": 3.0}, "lipschitz is 3 and clipping_norm 1"),
        ("dp-fedavg", {"adaptive_clipping": {"count_std": 5.0}}, "bias of clipping"),
        ("ppsgd", {"lipschitz": 2.0}, "bias of clipping"),
        ("projected-sgd", {"convex": False}, "not convex"),
        (
            "projected-sgd",
            {"step_schedule": {"kind": "explicit", "values": [0.1 * (1 + step) for step in range(10)]}},
            "step sizes increase",
        ),
        (
            "mu2-sgd",
            {"participation": {"kind": "uniform", "most_participations": 3}},
            "without a limit on a client's reports",
        ),
    ],
)
def test_where_no_theorem_bounds_the_run_the_answer_says_what_is_open(
    name: str, changes: dict[str, Any], reason: str
) -> None:
    answer = changed(name, **changes)
    assert all(bound.value is None for bound in answer.upper)
    assert answer.no_upper_bound is not None
    assert reason in answer.no_upper_bound
    assert all("both are hidden" in ratio.statement for ratio in answer.ratios)


# Runs stay below the bounds -----------------------------------------------------------------------------------------
def test_a_gaussian_mean_is_as_far_off_as_its_bound_says() -> None:
    """Half of the vectors at C and half at −C, in one coordinate: the sampling error is the largest one."""
    rng = np.random.default_rng(1)
    runs, records, batch, rounds, noise = 4000, 40, 8, 5, 2.0
    vectors = np.where(np.arange(records) % 2 == 0, 1.0, -1.0)
    drawn = rng.random((runs, rounds, records)) < batch / records
    sums = (drawn @ vectors)[..., None] * np.array([1.0, 0.0]) + noise * rng.standard_normal((runs, rounds, 2))
    measured = float(np.mean(np.sum((sums / batch).mean(axis=1) ** 2, axis=1)))
    bound = value_of(
        changed("gaussian", records=records, rate=batch / records, rounds=rounds, dimension=2, noise_std=noise).upper[0]
    )
    assert 0.9 * bound < measured < 1.1 * bound


@pytest.mark.parametrize("step_size", [0.02, 0.2])
def test_dp_fedavg_runs_stay_below_the_bound(step_size: float) -> None:
    """Clients with losses |w − c_i| on [−2, 2], c_i = ±1."""
    rng = np.random.default_rng(2)
    clients, participants, rounds, noise, runs = 40, 10, 50, 0.3, 500
    centres = np.where(np.arange(clients) % 4 == 0, -1.0, 1.0)
    model, total = np.full(runs, -2.0), np.zeros(runs)
    for _ in range(rounds):
        total += model
        takes_part = rng.random((runs, clients)) < participants / clients
        gradients = np.sign(model[:, None] - centres)
        mean = (takes_part * gradients).sum(axis=1) / participants + noise * rng.standard_normal(runs)
        model = np.clip(model - step_size * mean, -2.0, 2.0)
    average = total / rounds
    excess = np.abs(average[:, None] - centres).mean(axis=1) - np.abs(1.0 - centres).mean()
    body = {**DP_FEDAVG, "dimension": 1, "lipschitz": 1.0, "step_size": step_size}
    assert 0.0 < float(np.mean(excess)) < value_of(bounded("dp-fedavg", **body).upper[0])


@pytest.mark.parametrize("alpha", [0.0, 0.1, 2.0])
def test_ppsgd_runs_stay_below_the_bound(alpha: float) -> None:
    """Losses |w + θ_i − x|²/2 with fresh x about a common optimum, averaged over rounds."""
    rng = np.random.default_rng(3)
    clients, rounds, runs, spread, noise, eta = 5, 60, 400, 0.5, 0.3, 0.2
    shared, own = np.zeros(runs), np.zeros((runs, clients))
    total = np.zeros((runs, clients))
    for _ in range(rounds):
        total += shared[:, None] + own
        gradients = shared[:, None] + own - 1.0 + spread * rng.standard_normal((runs, clients))
        shared = shared - alpha * eta * (gradients.mean(axis=1) + noise * rng.standard_normal(runs))
        own = own - eta / clients * gradients
    measured = float(np.mean(0.5 * (total / rounds - 1.0) ** 2))
    answer = bounded(
        "ppsgd",
        **OF_CLIENTS,
        observer="other-clients",
        clients=clients,
        rounds=rounds,
        clipping_norm=1e6,
        shared_dimension=1,
        smoothness=1.0,
        shared_gradient_std=spread,
        local_gradient_std=spread,
        optimum_norm=1.0,
        personalization=alpha,
        noise_std=noise,
        step_size=eta,
    )
    assert 0.0 < measured < value_of(answer.upper[0])


def test_norm_fedavg_runs_stay_below_the_bound() -> None:
    """Losses L(w − w*_i)²/2 in d coordinates, full gradient steps, and messages with noise of the same variance."""
    rng = np.random.default_rng(4)
    clients, participants, rounds, steps, dimension, levels, noise, runs = 6, 3, 36, 3, 4, 8, 0.2, 300
    centres = 0.05 * rng.standard_normal((clients, dimension))
    centres -= centres.mean(axis=0)
    far = np.zeros(dimension)
    far[0] = 1.0
    answer = bounded(
        "norm-fedavg",
        **OF_RECORDS,
        observer="server",
        clients=clients,
        participants=participants,
        rounds=rounds,
        local_steps=steps,
        dimension=dimension,
        quantization_levels=levels,
        smoothness=1.0,
        quasar_convexity=1.0,
        initial_distance=1.0,
        client_optimum_distance=float(np.linalg.norm(centres, axis=1).mean()),
        noise_std=noise,
    )
    eta = answer.run.step_size
    assert eta is not None
    beta = eta * 4.0 * steps / math.sqrt(rounds)  # the ratio of the least bound
    model, norms = np.tile(far, (runs, 1)), []
    for _ in range(rounds):
        norms.append(np.linalg.norm(model, axis=1).mean())
        chosen = np.argsort(rng.random((runs, clients)), axis=1)[:, :participants]
        updates = model[:, None, :] - centres[chosen]
        local = updates * (1.0 - (1.0 - eta) ** steps) / eta
        unit = local / np.linalg.norm(local, axis=2, keepdims=True)
        rounded = np.floor(unit * levels + rng.random(unit.shape)) / levels
        model = model - beta * (rounded + noise * rng.standard_normal(unit.shape)).mean(axis=1)
    assert 0.0 < float(np.mean(norms)) < value_of(answer.upper[0])


@pytest.mark.parametrize("noise", [0.0, 0.1, 2.0])
def test_mu2_runs_stay_below_the_bound(noise: float) -> None:
    """Losses −xw with x = ±1 on [−1, 1]: every report is its record, and only each client's last noise stays."""
    rng = np.random.default_rng(5)
    clients, participants, rounds, runs = 6, 2, 40, 1500
    body = {
        **OF_RECORDS,
        "observer": "server",
        "clients": clients,
        "participants": participants,
        "rounds": rounds,
        "dimension": 1,
        "lipschitz": 1.0,
        "smoothness": 0.0,
        "diameter": 2.0,
        "noise_std": noise,
    }
    answer = bounded("mu2-sgd", **body)
    eta = answer.run.step_size
    assert eta is not None
    total, kept = np.zeros(runs), np.zeros((runs, clients))
    reports = np.zeros((runs, clients))
    iterate, model = np.zeros(runs), np.zeros(runs)
    for number in range(1, rounds + 1):
        if number == rounds:
            break  # x_T is the output
        chosen = np.argsort(rng.random((runs, clients)), axis=1)[:, :participants]
        records = np.where(rng.random((runs, participants)) < 0.625, 1.0, -1.0)
        total -= records.mean(axis=1)
        takes_part = np.zeros((runs, clients), dtype=bool)
        np.put_along_axis(takes_part, chosen, True, axis=1)
        reports += takes_part
        kept = np.where(takes_part, noise * np.sqrt(reports) * rng.standard_normal(kept.shape), kept)
        iterate = np.clip(iterate - eta * (total + kept.sum(axis=1) / participants), -1.0, 1.0)
        model += 2.0 / (number + 2.0) * (iterate - model)
    assert 0.0 < float(np.mean(0.25 * (1.0 - model))) < value_of(answer.upper[0])

"""Shifted interpolation: exact on quadratics, optimal among plans, and never above the printed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import minimize

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import RULES
from epsilond.accountants.theorems.hidden_states.best_plan import least_mu
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import (
    INTERPOLATION,
    ListedSteps,
    periodic_mu,
    powers_sum,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_printed import (
    NOISY_CGD,
    NOISY_CGD_IN_BALL,
    NOISY_GD,
    NOISY_GD_IN_BALL,
    NOISY_SGD,
    Cyclic,
    CyclicInBall,
    FullBatch,
    FullBatchInBall,
)


def law_of_a_quadratic(contractions: list[float], drifts: list[float], noises: list[float]) -> tuple[float, float]:
    """Mean and variance after X ← c X + drift + ν Z from 0, in closed form."""
    mean = variance = 0.0
    for c, drift, noise in zip(contractions, drifts, noises, strict=True):
        mean, variance = c * mean + drift, c * c * variance + noise * noise
    return mean, variance


@pytest.mark.compares("bok-su-altschuler-2024.noisy-gd-strongly-convex")
@pytest.mark.parametrize("curvatures", [(0.5, 1.5), (0.2, 0.2), (0.0, 1.0)])
@pytest.mark.parametrize("steps", [1, 2, 7, 400])
def test_full_batches_are_attained_by_a_quadratic(curvatures: tuple[float, float], steps: int) -> None:
    # Losses λw²/2 ± w·Δ/2 for the record that is replaced: the gradient's difference is Δ at every w.
    step, noise, n, difference = 0.8, 0.3, 20, 1.7
    contraction = max(abs(1 - step * curvature) for curvature in curvatures)
    sign = 1.0 if contraction == abs(1 - step * curvatures[0]) else -1.0
    slopes = (difference / 2, -difference / 2)
    (first, variance), (second, _) = (
        law_of_a_quadratic(
            [sign * contraction] * steps,
            [-step * slope / n * sign ** (steps - 1 - k) for k in range(steps)],
            [step * noise] * steps,
        )
        for slope in slopes
    )
    truth = abs(first - second) / math.sqrt(variance)
    inputs = FullBatch(sensitivity=difference, population=n, noise_std=noise, contraction=contraction, rounds=steps)
    found = NOISY_GD.evaluate(inputs).outputs
    assert found["gaussian_dp_mu"] == pytest.approx(truth, rel=1e-12)
    assert truth * (1 - 1e-14) <= found["best_mu"] <= truth * (1 + 1e-10)


@pytest.mark.compares("epsilond.shifted-interpolation")
def test_any_schedule_is_attained_by_quadratics_if_the_shift_comes_first() -> None:
    contractions, noises = [0.9, 0.5, 0.99, 0.7], [1.0, 0.3, 2.0, 0.4]
    mean, variance = law_of_a_quadratic(contractions, [0.6, 0.0, 0.0, 0.0], noises)
    steps = ListedSteps(contractions=tuple(contractions), shifts=(0.6, 0.0, 0.0, 0.0), noises=tuple(noises))
    found = INTERPOLATION.evaluate(steps).outputs["gaussian_dp_mu"]
    assert found == pytest.approx(mean / math.sqrt(variance), rel=1e-10)


def cheapest(contractions: np.ndarray, shifts: np.ndarray, noises: np.ndarray, start: float) -> float:
    """√ of the least Σ (a/ν)² over all plans, by a general optimiser."""

    def distances(plan: np.ndarray) -> np.ndarray:
        z, found = start, []
        for c, s, a in zip(contractions, shifts, plan, strict=True):
            z = c * z + s - a
            found.append(z)
        return np.asarray(found)

    first, z = [], start
    for c, s in zip(contractions, shifts, strict=True):
        first.append(c * z + s)
        z = 0.0
    constraints = [
        {"type": "ineq", "fun": lambda plan: distances(plan)[:-1]},
        {"type": "eq", "fun": lambda plan: distances(plan)[-1]},
    ]
    options = {"maxiter": 500, "ftol": 1e-14}
    found = minimize(
        lambda a: float(np.sum((a / noises) ** 2)), first, constraints=constraints, method="SLSQP", options=options
    )
    return math.sqrt(found.fun)


@pytest.mark.parametrize("seed", range(8))
def test_no_plan_is_cheaper(seed: int) -> None:
    random = np.random.default_rng(seed)
    contractions, noises = random.uniform(0.5, 1.1, 5), random.uniform(0.5, 2.0, 5)
    shifts, start = random.uniform(0, 1, 5) * (random.random(5) < 0.6), float(random.uniform(0, 1))
    found = least_mu(contractions, shifts, noises, initial_distance=start)
    assert found == pytest.approx(cheapest(contractions, shifts, noises, start), rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_periodic_form_is_the_best_plan_from_any_start(seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    for _ in range(25):
        uses, period = int(random.integers(1, 7)), int(random.integers(1, 6))
        after, c = int(random.integers(0, period)), float(random.choice([1.0, 0.999, 0.9, 0.5, 0.1]))
        shift, diameter = 10 ** random.uniform(-1, 1), 10 ** random.uniform(-1, 1.5)
        found = periodic_mu(
            uses=uses,
            period=period,
            after=np.asarray([float(after)]),
            contraction=c,
            shift=shift,
            diameter=diameter,
        )
        steps = period * (uses - 1) + after + 1
        shifts = np.zeros(steps)
        shifts[::period] = shift
        plans = [least_mu(np.full(steps, c), shifts, np.ones(steps))]
        for start in range(1, steps):
            rest = steps - start
            late = least_mu(np.full(rest, c), shifts[start:], np.ones(rest), initial_distance=diameter)
            plans.append(late)
        assert found[0] == pytest.approx(min(plans), rel=1e-8)
        assert found[0] >= min(plans) * (1 - 1e-12)


def test_the_printed_forms_are_never_better() -> None:
    random = np.random.default_rng(1)
    for _ in range(60):
        c, steps = float(random.uniform(0.5, 1.0)), int(random.integers(1, 60))
        common: dict[str, Any] = {"sensitivity": float(random.uniform(0.1, 3)), "noise_std": random.uniform(1, 3)}
        ball = {"step_size": float(random.uniform(0.01, 2)), "diameter": 10 ** float(random.uniform(-2, 2))}
        cyclic = {"batch_size": int(random.integers(1, 30)), "period": int(random.integers(1, 9)), "rounds": steps}
        population = int(random.integers(1, 40))
        found = [
            NOISY_GD.evaluate(FullBatch(population=population, contraction=c, rounds=steps, **common)),
            NOISY_GD_IN_BALL.evaluate(FullBatchInBall(population=population, rounds=steps, **common, **ball)),
            NOISY_CGD.evaluate(Cyclic(contraction=c, **cyclic, **common)),
            NOISY_CGD_IN_BALL.evaluate(CyclicInBall(**cyclic, **common, **ball)),
        ]
        for evaluation in found:
            assert evaluation.outputs["best_mu"] <= evaluation.outputs["gaussian_dp_mu"] * (1 + 1e-9)


@pytest.mark.parametrize("c", [1.0 - 1e-12, 0.99])
def test_cyclic_batches_without_a_ball_are_the_printed_form(c: float) -> None:
    inputs = Cyclic(sensitivity=1.0, batch_size=10, noise_std=1.0, contraction=c, period=20, rounds=30)
    found = NOISY_CGD.evaluate(inputs).outputs
    assert found["best_mu"] == pytest.approx(found["gaussian_dp_mu"], rel=1e-9)


@pytest.mark.compares("bok-su-altschuler-2024.noisy-cgd-strongly-convex")
@pytest.mark.parametrize("c", [1.0 - 2.0**-53, 1.0 - 1e-12, 1.0 - 1e-9, 1.0 - 1e-5, 0.9, 1e-3])
@pytest.mark.parametrize(("period", "passes"), [(1, 1), (1, 50), (20, 2), (20, 10**6)])
def test_the_printed_cyclic_form_is_rounded_up_near_every_contraction(c: float, period: int, passes: int) -> None:
    inputs = Cyclic(sensitivity=0.7, batch_size=3, noise_std=0.9, contraction=c, period=period, rounds=passes)
    served = NOISY_CGD.evaluate(inputs).outputs["gaussian_dp_mu"]
    with mp.workdps(60):
        q = mpf(c)
        tail = q ** (period * (passes - 1))
        extra = q ** (2 * period - 2) * (1 - q**2) / (1 - q**period) ** 2 * (1 - tail) / (1 + tail)
        truth = mpf(0.7) / (3 * mpf(0.9)) * mp.sqrt(1 + extra)
        assert truth <= mpf(served) <= truth * (1 + mpf(10) ** -13)


@pytest.mark.compares("bok-su-altschuler-2024.noisy-gd-projected")
def test_the_number_of_steps_in_a_ball_is_exact() -> None:
    # In doubles D n/(ηΔ) rounds down to 44; the quotient of these doubles is above 44.
    inputs = FullBatchInBall(sensitivity=0.5, population=8, noise_std=1.0, step_size=0.8, diameter=2.2, rounds=45)
    with mp.workdps(60):
        saturation = mp.ceil(mpf(2.2) * 8 / (mpf(0.8) * mpf(0.5)))
        assert inputs.saturation == int(saturation) == 45
        truth = mp.sqrt(3 * mpf(0.5) * mpf(2.2) / (mpf(0.8) * 8) + (mpf(0.5) / 8) ** 2 * saturation)
        served = NOISY_GD_IN_BALL.evaluate(inputs).outputs["gaussian_dp_mu"]
        assert truth <= mpf(served) <= truth * (1 + mpf(10) ** -13)


def test_more_rounds_stop_costing_in_a_ball() -> None:
    def mu(rounds: int) -> float:
        inputs = FullBatchInBall(
            sensitivity=2.0, population=100, noise_std=0.2, step_size=0.1, diameter=1.0, rounds=rounds
        )
        return float(NOISY_GD_IN_BALL.evaluate(inputs).outputs["best_mu"])

    found = [mu(rounds) for rounds in (10, 100, 1000, 10**6, 10**15)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(found[-2], rel=1e-12)
    # Continuously 4ΔD/(ηn): half the printed constant's square root more at most.
    assert found[-1] == pytest.approx(math.sqrt(4 * 0.02 * 1.0 / 0.1) / 0.2, rel=2e-2)


def test_powers_are_summed_without_cancellation() -> None:
    assert float(powers_sum(0.0, 7.0)) == 7.0
    assert float(powers_sum(1e-18, 1e9)) == pytest.approx(1e9 - 0.5, rel=1e-15)
    assert float(powers_sum(0.3, 5.0)) == pytest.approx(sum(math.exp(-0.3 * k) for k in range(5)), rel=1e-14)


def test_nothing_to_hide_and_nowhere_to_hide_it() -> None:
    assert least_mu([], [], []) == 0.0
    assert least_mu([], [], [], initial_distance=1.0) == math.inf
    assert least_mu([0.0, 1.0], [1.0, 0.0], [1.0, 1.0]) == pytest.approx(math.sqrt(0.5), rel=1e-10)


def test_the_condition_of_the_projected_form_is_checked() -> None:
    example = dict(NOISY_GD_IN_BALL.examples[0])
    enough, few = (FullBatchInBall(**(example | {"rounds": rounds})) for rounds in (10_000, 499))
    assert NOISY_GD_IN_BALL.evaluate(enough).conditions[0].holds == "yes"
    result = NOISY_GD_IN_BALL.evaluate(few).conditions[0]
    assert (result.holds, result.left, result.right) == ("no", 499, 500.0)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"shifts": (0.1,)}, "/shifts"),
        ({"noises": (1.0, 0.0, 1.0)}, "/noises"),
        ({"contractions": (0.9, -0.1, 0.9)}, "/contractions"),
    ],
)
def test_steps_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ListedSteps(**(dict(INTERPOLATION.examples[0]) | changes))
    assert caught.value.faults[0].pointer == pointer


def test_what_could_not_be_checked_is_never_used() -> None:
    assert NOISY_SGD.status is Status.UNPROVED
    assert NOISY_SGD.id not in {rule.theorem.id for rule in RULES}
    assert all(rule.theorem.status is Status.PROVED for rule in RULES if rule.kind == "projected_sgd")


@pytest.mark.parametrize("contraction", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("diameter", [0.0, 5.0, math.inf])
def test_a_record_without_effect_and_one_beyond_doubles_have_their_limits(contraction: float, diameter: float) -> None:
    after = np.asarray([0.0, 3.0])
    run: dict[str, Any] = {"uses": 5, "period": 2, "after": after, "contraction": contraction, "diameter": diameter}
    assert periodic_mu(shift=0.0, **run).tolist() == [0.0, 0.0]
    huge = periodic_mu(shift=1e200, **run)
    assert np.all(huge >= 0.0)
    assert not np.isnan(huge).any()

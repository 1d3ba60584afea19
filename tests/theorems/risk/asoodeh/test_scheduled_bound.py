"""The risk of one pass with any schedules: in high precision, by exact enumeration, and in closed form for long runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.asoodeh import scheduled_bound
from epsilond.accountants.theorems.risk.asoodeh.convex_bound import CONVEX_STOPS
from epsilond.accountants.theorems.risk.asoodeh.scheduled_bound import SCHEDULED_STOPS
from epsilond.reading import read

RUN: dict[str, Any] = {"clients": 36, "participants": 3, "dimension": 7, "lipschitz": 0.7, "radius": 1.5}
CONSTANT = {"kind": "constant", "value": 0.2}
INVERSE = {"kind": "inverse-time", "scale": 3.0}
LISTED = {"kind": "explicit", "values": [0.1, 0.5, 0.02, 0.3, 0.3, 0.2, 1.5, 0.01, 0.4, 0.4, 0.05, 0.6]}
FALLING = {"kind": "explicit", "values": [0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.3, 0.2, 0.1, 0.09, 0.05, 0.04]}


def bounds(**fields: Any) -> Any:
    body = {"noise_schedule": {"kind": "constant", "value": 0.3}, "step_schedule": CONSTANT, **RUN, **fields}
    kept = {name: value for name, value in body.items() if value is not None}
    return SCHEDULED_STOPS.evaluate(read(SCHEDULED_STOPS.inputs, kept)).outputs  # type: ignore[type-var]


def values(schedule: Any, steps: int) -> list[Any]:
    """The schedule from its definition, at steps 1, …, T."""
    if schedule is None:
        return [mpf(0)] * steps
    if schedule["kind"] == "constant":
        return [mpf(schedule["value"])] * steps
    if schedule["kind"] == "inverse-time":
        return [mpf(schedule["scale"]) / t for t in range(1, steps + 1)]
    return list(map(mpf, schedule["values"]))


def largest_sum(sizes: Sequence[Any], moments: Sequence[Any], curvature: Any, square: Any) -> Any:
    """The largest Σ [(1 − λe_t)A_t − A_{t+1} + e_t²r_t²]/(2e_t) over A in [0, 4ρ²], as each term is linear in A."""
    total = mpf(0)
    for t, (size, moment) in enumerate(zip(sizes, moments, strict=True)):
        slope = (1 - curvature * size) / (2 * size) - (1 / (2 * sizes[t - 1]) if t else 0)
        total += max(slope * square, 0) + size * moment / 2
    return total


def oracle(steps_of: Any, noise_of: Any, curvature: float, smoothness: float, stops: int) -> dict[str, Any]:
    steps, square = 12, 4 * mpf(RUN["radius"]) ** 2
    eta, sigma = values(steps_of, steps), values(noise_of, steps)
    s = [mpf(RUN["lipschitz"]) ** 2 + RUN["dimension"] * each**2 / 3 for each in sigma]
    e, r = [*eta[1:], eta[-1]], [*s[1:], mpf(RUN["lipschitz"]) ** 2]
    lam = mpf(curvature)
    wanted = {"at_random_stop": largest_sum(e[-stops:], r[-stops:], lam, square) / stops}
    last = mp.inf
    if all(first >= second for first, second in zip(e[:-1], e[1:], strict=True)):
        mean = (square / 2 + sum(x * x * y for x, y in zip(e, r, strict=True)) / 2) / steps
        for k in range(1, steps):
            mean += sum(x * x * y for x, y in zip(e[-k - 1 :], r[-k - 1 :], strict=True)) / (2 * k * (k + 1))
        last = mean / e[-1]
    if curvature > 0:
        distance = square
        for size, moment in zip(eta, s, strict=True):
            distance = min(max(1 - 2 * lam * size, 0) * distance + size * size * moment, square)
        last = min(last, mpf(RUN["lipschitz"]) * mp.sqrt(distance))
        wanted["of_last_if_interior"] = min(last, mpf(smoothness) * distance / 2)
    return wanted | {"of_last": last}


@pytest.mark.compares("epsilond.one-pass-scheduled-excess-risk")
@pytest.mark.parametrize("step_schedule", [CONSTANT, INVERSE, LISTED, FALLING])
@pytest.mark.parametrize("noise_schedule", [None, {"kind": "constant", "value": 0.3}, INVERSE, LISTED])
@pytest.mark.parametrize(("curvature", "stops"), [(0.0, 12), (0.35, 5), (0.35, 1)])
def test_the_bounds_in_high_precision(step_schedule: Any, noise_schedule: Any, curvature: float, stops: int) -> None:
    outputs = bounds(
        step_schedule=step_schedule,
        noise_schedule=noise_schedule,
        strong_convexity=curvature,
        smoothness=0.5,
        stops=stops,
    )
    with mp.workdps(40):
        for name, value in oracle(step_schedule, noise_schedule, curvature, 0.5, stops).items():
            assert outputs[f"excess_risk_{name}"] == pytest.approx(float(value), rel=2e-12)
            assert mpf(outputs[f"excess_risk_{name}"]) >= value


@pytest.mark.parametrize("stops", [12, 4])
def test_equal_steps_give_hardly_less_than_the_bound_for_equal_steps(stops: int) -> None:
    """The imaginary step has no noise here, and has it there."""
    equal = CONVEX_STOPS.evaluate(CONVEX_STOPS.request(**RUN, noise_std=0.3, step_size=0.2, stops=stops)).outputs
    outputs = bounds(stops=stops)
    for name in ("excess_risk_at_random_stop", "excess_risk_of_last"):
        assert 0.9 * equal[name] < outputs[name] < equal[name]


@pytest.mark.parametrize("steps_of", [CONSTANT, INVERSE, FALLING, {"kind": "constant", "value": 1.2}])
@pytest.mark.parametrize("noise_std", [1e-9, 0.5, 2.0])
@pytest.mark.parametrize("curvature", [0.0, 0.5])
def test_the_distribution_of_runs_on_coin_flips_keeps_all_bounds(
    steps_of: Any, noise_std: float, curvature: float
) -> None:
    """Records ±1 with chance 5/8 of +1, losses λ(w − x/(4λ))²/2 or −xw/… on [−1, 1], noise ±σ: every path."""
    steps, chance = 12, 5 / 8
    sizes = [float(size) for size in values(steps_of, steps)]
    # F(w) = λw²/2 − w/4 with minimiser 1 or 1/(4λ) = 1/2; |∇f| ≤ λ + 1.
    best = 1.0 if curvature == 0.0 else 0.25 / curvature
    least = curvature * best**2 / 2 - best / 4
    laws, last, means = {0.0: 1.0}, 0.0, []
    for size in sizes:
        after: dict[float, float] = {}
        for (model, mass), (record, share), sign in product(
            laws.items(), ((1.0, chance), (-1.0, 1 - chance)), (-1.0, 1.0)
        ):
            moved = round(min(1.0, max(-1.0, model - size * (curvature * model - record + sign * noise_std))), 3)
            after[moved] = after.get(moved, 0.0) + mass * share / 2
        laws = after
        last = sum(mass * (curvature * w**2 / 2 - w / 4 - least) for w, mass in laws.items())
        means.append(last)
    outputs = bounds(
        clients=steps,
        participants=1,
        dimension=1,
        lipschitz=1.0 + curvature,
        radius=1.0,
        strong_convexity=curvature,
        smoothness=curvature or 1.0,
        step_schedule=steps_of,
        noise_schedule={"kind": "constant", "value": noise_std},
    )
    assert 0.0 < np.mean(means) <= outputs["excess_risk_at_random_stop"] + 1e-3
    assert 0.0 < last <= outputs["excess_risk_of_last"] + 1e-3
    if curvature > 0.0:
        assert last <= outputs["excess_risk_of_last_if_interior"] + 1e-3


@pytest.mark.parametrize("step_schedule", [CONSTANT, INVERSE])
@pytest.mark.parametrize(
    "noise_schedule", [None, {"kind": "constant", "value": 0.3}, {"kind": "inverse-time", "scale": 2.0}]
)
@pytest.mark.parametrize("curvature", [0.0, 0.35, 0.5])
def test_the_closed_forms_of_long_runs_are_no_less(
    step_schedule: Any, noise_schedule: Any, curvature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = {
        "clients": 9000,
        "step_schedule": step_schedule,
        "noise_schedule": noise_schedule,
        "strong_convexity": curvature,
        "smoothness": 0.5,
    }
    for stops in (None, 2000):
        exact = bounds(**run, stops=stops)
        with monkeypatch.context() as patched:
            patched.setattr(scheduled_bound, "MOST_STEPS", 1000)
            closed = bounds(**run, stops=stops)
        for name in exact.keys() - {"steps"}:
            assert exact[name] <= closed[name] * (1 + 1e-12)
            if step_schedule is CONSTANT and noise_schedule != {"kind": "inverse-time", "scale": 2.0}:
                assert closed[name] <= 1.05 * exact[name]


@pytest.mark.parametrize("clients", [3, 10**7, 10**15])
@pytest.mark.parametrize("step_schedule", [CONSTANT, INVERSE])
@pytest.mark.parametrize("curvature", [0.0, 0.35])
def test_runs_of_any_length_are_bounded(clients: int, step_schedule: Any, curvature: float) -> None:
    outputs = bounds(clients=clients, step_schedule=step_schedule, strong_convexity=curvature, smoothness=0.5)
    assert all(0.0 < value < math.inf for value in outputs.values())


def test_strong_convexity_and_1_over_lambda_t_give_the_logarithm_of_the_mean() -> None:
    """Where η_t = 1/(λt) no distance remains: the mean risk is s²(ln T)/(2λT) up to constants."""
    outputs = bounds(clients=3 * 10**5, strong_convexity=0.5, step_schedule={"kind": "inverse-time", "scale": 2.0})
    moment = 0.49 + 7 * 0.09 / 3
    assert outputs["excess_risk_at_random_stop"] < 1.2 * moment * (1 + math.log(10**5)) / 10**5


def test_growing_steps_bound_no_last_model_without_curvature() -> None:
    assert bounds(step_schedule=LISTED)["excess_risk_of_last"] == math.inf
    assert bounds(step_schedule=LISTED)["excess_risk_at_random_stop"] < math.inf


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"stops": 13}, "/stops"),
        ({"step_schedule": {"kind": "explicit", "values": [1.0]}}, "/step_schedule/values"),
        ({"noise_schedule": {"kind": "explicit", "values": [1.0]}}, "/noise_schedule/values"),
        ({"strong_convexity": 2.0, "smoothness": 1.0}, "/strong_convexity"),
    ],
)
def test_runs_that_cannot_be_are_rejected(fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        bounds(**fields)
    assert pointer in {fault.pointer for fault in caught.value.faults}

"""Lemmas E.4 and E.9."""

from typing import Any

import pytest

from epsilond.accountants.federation import Federation
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import DescentRun
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.descent_lemmas import (
    recursion_bound,
    recursion_scale,
    recursion_step_size,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.noisy_descent import (
    convex_bound_printed,
    noisy_descent_bound,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import Variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.prescribed_sgd import complete_convex


def projected_run(*, lipschitz: float, step: float, rounds: int) -> list[float]:
    """Iterates w_0, …, w_R of exact descent on f(w) = L w over [−1, 1] from 1."""
    iterates = [1.0]
    for _ in range(rounds):
        iterates.append(max(-1.0, iterates[-1] - step * lipschitz))
    return iterates


def excess(iterates: list[float], lipschitz: float) -> float:
    return lipschitz * (sum(iterates) / len(iterates) + 1.0)


@pytest.mark.erratum("E-13")
@pytest.mark.parametrize("reading", ["printed", "corrected"])
def test_a_constrained_minimum_refutes_the_printed_average(reading: Any) -> None:
    """E-13: f(w) = Lw on [−1, 1] has gradient L at its minimiser −1; no noise, no sampling."""
    nothing = Variance(sampling=0.0, clients=0.0, noise=0.0)
    printed = convex_bound_printed(nothing, initial_distance=2.0, step_size=10.0, rounds=1)
    iterates = projected_run(lipschitz=1.0, step=10.0, rounds=1)
    assert excess(iterates[:-1], 1.0) == 2.0 > printed
    ours = noisy_descent_bound(initial_distance=2.0, step_size=10.0, rounds=1, smoothness=1e-9, variance=0.0)
    assert excess(iterates[1:], 1.0) == 0.0 <= ours < printed

    # Theorem 2.1's own prescription: a million clients, R = 1, so that the printed output is the start itself.
    found = complete_convex(
        DescentRun(
            federation=Federation.of_equal_clients(
                clients=10**6,
                participants=10**6,
                samples_per_client=10**4,
                batch_size=10**4,
                epsilon=1.0,
                log_delta=-11.5,
            ),
            dimension=1,
            lipschitz=1.0,
            diameter=2.0,
            smoothness=1e-9,
        ),
        reading=reading,
    )
    assert found.rounds == 1 >= found.prescribed_rounds
    assert found.step_size is not None
    iterates = projected_run(lipschitz=1.0, step=found.step_size, rounds=1)
    assert excess(iterates[:-1], 1.0) == 2.0 > 10 * found.excess_risk
    assert excess(iterates[1:], 1.0) <= found.excess_risk


@pytest.mark.parametrize("rounds", [1, 5, 60])
@pytest.mark.parametrize("step", [0.01, 0.1, 3.0])
def test_ours_covers_exact_descent_to_a_constrained_minimum(rounds: int, step: float) -> None:
    iterates = projected_run(lipschitz=1.0, step=step, rounds=rounds)
    bound = noisy_descent_bound(initial_distance=2.0, step_size=step, rounds=rounds, smoothness=1e-9, variance=0.0)
    assert excess(iterates[1:], 1.0) <= bound


def test_nothing_is_claimed_beyond_the_largest_step() -> None:
    assert noisy_descent_bound(initial_distance=1.0, step_size=0.6, rounds=9, smoothness=2.0, variance=0.1) == float(
        "inf"
    )
    assert noisy_descent_bound(initial_distance=1.0, step_size=0.5, rounds=9, smoothness=2.0, variance=0.1) == float(
        "inf"
    )
    at_one = noisy_descent_bound(initial_distance=1.0, step_size=0.5, rounds=9, smoothness=2.0, variance=0.0)
    assert at_one == pytest.approx(1 / 9)
    assert recursion_bound(contraction=2.0, variance=0.0, start=1.0, step_size=0.5, averaged=9) == float("inf")


def test_the_recursion_is_followed_to_the_letter() -> None:
    """Weighted sums of the worst sequences, computed by running the recursion with equality."""
    contraction, variance, start, rounds, curvature = 0.3, 0.2, 2.0, 50, 4.0
    step = recursion_step_size(
        contraction=contraction, curvature=curvature, variance=variance, start=start, rounds=rounds
    )
    bound = recursion_bound(contraction=contraction, variance=variance, start=start, step_size=step, averaged=rounds)
    for share in (0.0, 0.3, 1.0):  # how much of the descent shows as excess rather than distance
        r, weighted, total = start, 0.0, 0.0
        for t in range(rounds):
            weight = (1 - contraction * step) ** -(t + 1)
            available = (1 - contraction * step) * r + variance * step**2
            s = share * available / step
            weighted, total, r = weighted + weight * s, total + weight, available - step * s
        assert weighted / total + contraction * r <= bound
    scale = recursion_scale(contraction=contraction, curvature=curvature, variance=variance, start=start, rounds=rounds)
    assert scale < bound

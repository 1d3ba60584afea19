"""Sums of products of contraction factors against the same sums in mpmath, term by term."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.numerics.factor_sums import log_scheduled_sum
from epsilond.accountants.numerics.power_sums import geometric_sum, triangular_sum
from epsilond.accountants.numerics.special import log_theta_complement
from epsilond.accountants.numerics.thetas import many_shifts
from epsilond.accountants.numerics.thetas.many_shifts import log_rest, theta_of_many, theta_with_error
from epsilond.accountants.schedules import Constant, InverseTime
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from tests.oracles.hockey_stick import theta


@pytest.mark.parametrize("rest", [0.0, 1e-300, 1e-12, 1e-5, 0.03, 0.7, 1.0])
@pytest.mark.parametrize("count", [1, 2, 7, 1000, 10**9])
def test_closed_forms(rest: float, count: int) -> None:
    with mp.workdps(60):
        u = mp.mpf(rest)
        geometric = (1 - (1 - u) ** count) / u if rest > 1e-50 else mp.mpf(count)
        triangular = (count - (1 - u) * geometric) / u if rest > 1e-50 else mp.mpf(count) * (count + 1) / 2
        assert geometric_sum(rest, count) == pytest.approx(float(geometric), rel=2e-15)
        assert triangular_sum(rest, count) == pytest.approx(float(triangular), rel=2e-14)


def test_no_steps_sum_to_nothing() -> None:
    assert triangular_sum(0.3, 0) == 0.0


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.3, 5.0, 80.0])
def test_the_error_of_log_theta_is_bounded(epsilon: float) -> None:
    for shift in (0.2, 1.0, 2.5, 6.0, 13.0, 40.0):
        if epsilon / shift > 30:
            continue
        value, error = theta_with_error(epsilon, np.asarray([shift]))
        exact, rest = theta(epsilon, shift)
        with mp.workdps(50):
            log_exact = mp.log1p(-rest) if rest < 0.5 else mp.log(exact)
            assert abs(log_exact - mp.mpf(float(value[0]))) <= error[0]
            log_exact_rest = float(mp.log(rest))
        assert float(log_rest(epsilon, np.asarray([shift]))[0]) == pytest.approx(log_exact_rest, rel=1e-14, abs=1e-15)


def test_both_ways_to_one_minus_theta_agree_where_they_meet() -> None:
    shifts = np.linspace(3.0, 60.0, 5000)
    assert np.allclose(log_rest(0.4, shifts), log_theta_complement(0.4, shifts), rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("spread", [1.12, 1.003, 1.0 + 1e-9])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.3, 2.0, 50.0])
def test_close_shifts_are_read_off_a_table_that_encloses_them(epsilon: float, spread: float) -> None:
    draws = np.random.default_rng(1)
    for least in (1e-3, 0.02, 0.4, 1.0, 2.0, 7.0, 14.0):
        shifts = draws.uniform(least, spread * least * (1 - 1e-12), 5000)
        each, error = theta_with_error(epsilon, shifts)
        value, width = theta_of_many(epsilon, shifts)
        assert (np.abs(value - each) <= width + error).all()
        assert (width <= 2e-7 * (1.0 + np.abs(each) + epsilon)).all()
        table = np.linspace(shifts.min(), shifts.max(), 65)
        value, width = many_shifts._tabulate(epsilon, shifts, table)
        assert (np.abs(value - each) <= width + error).all()


def test_the_ends_of_the_range_of_theta() -> None:
    value, error = theta_with_error(0.5, np.asarray([0.0, np.inf]))
    assert value.tolist() == [-np.inf, 0.0]
    assert error.tolist() == [0.0, 0.0]


@dataclass(frozen=True)
class Listed:
    """Shifts as they are listed."""

    sensitivity: tuple[float, ...]
    contraction: tuple[float, ...]

    @property
    def count(self) -> int:
        return len(self.sensitivity)

    @property
    def largest_sensitivity(self) -> float:
        return max(self.sensitivity)

    @property
    def one_sensitivity(self) -> bool:
        return min(self.sensitivity) == max(self.sensitivity)

    def least_contraction(self, first: int, last: int) -> float:
        return min(self.contraction[first - 1 : last])

    def shifts(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.sensitivity[first - 1 : last]), np.asarray(self.contraction[first - 1 : last])


def by_terms(steps: Listed, epsilon: float, first_stop: int) -> list[mp.mpf]:
    """A_j R_j of every step."""
    exact = {shift: theta(epsilon, shift)[0] for shift in {*steps.sensitivity, *steps.contraction}}
    used, kept = ([exact[shift] for shift in shifts] for shifts in (steps.sensitivity, steps.contraction))
    reached = mp.mpf(0)
    terms = []
    for j in range(steps.count, 0, -1):
        reached = (kept[j] * reached if j < steps.count else 0) + (1 if j >= first_stop else 0)
        terms.append(used[j - 1] * reached)
    return terms


CASES = [
    Listed(tuple(0.5 + 0.1 * (k % 7) for k in range(40)), tuple(0.3 * (k + 1) for k in range(40))),
    Listed((0.7,) * 30, tuple(4.0 + 0.05 * k for k in range(30))),
    Listed((0.7,) * 30, (0.05,) * 30),
]


@pytest.mark.parametrize("steps", CASES)
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
@pytest.mark.parametrize("first_stop", [1, 15, 30])
def test_the_backward_pass_encloses_the_sum_and_the_worst(steps: Listed, epsilon: float, first_stop: int) -> None:
    terms = by_terms(steps, epsilon, first_stop)
    ends = log_scheduled_sum(epsilon, steps, first_stop, worst=False)
    assert ends.lower <= float(mp.log(mp.fsum(terms))) <= ends.upper
    assert ends.upper - ends.lower < 1e-10
    largest = log_scheduled_sum(epsilon, steps, first_stop, worst=True)
    assert largest.lower <= float(mp.log(max(terms))) <= largest.upper


def test_chunks_and_blocks_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = CASES[0]
    whole = [log_scheduled_sum(0.2, steps, stop, worst=False) for stop in (1, 13, 40)]
    monkeypatch.setattr("epsilond.accountants.numerics.factor_sums.CHUNK", 8)
    monkeypatch.setattr("epsilond.accountants.numerics.factor_sums.BLOCK", 3)
    parts = [log_scheduled_sum(0.2, steps, stop, worst=False) for stop in (1, 13, 40)]
    for one, other in zip(whole, parts, strict=True):
        assert one.lower <= other.upper
        assert other.lower <= one.upper
        assert other.upper == pytest.approx(one.upper, abs=1e-11)


def scheduled(steps: int, **changes: object) -> ProjectedRun:
    fields: dict[str, object] = {
        "clients": steps,
        "participants": 1,
        "steps": steps,
        "first_stop": steps,
        "sensitivity": 2.0,
        "lipschitz": 1.0,
        "radius": 1.0,
        "smoothness": 1e-9,
        "strong_convexity": 0.0,
        "convex": True,
        "step_schedule": InverseTime(scale=10.0),
        "noise_schedule": Constant(value=50.0),
    }
    return ProjectedRun(**(fields | changes))  # type: ignore[arg-type]


def test_ten_million_steps() -> None:
    ends = log_scheduled_sum(0.01, scheduled(10**7), 10**7, worst=False)
    assert ends.upper - ends.lower < 1e-9
    # All but the first steps keep everything: Σ A_j is nearly T times the first factor.
    alone = theta_with_error(0.01, np.asarray([2.0 / 50.0]))[0][0] + math.log(10**7)
    assert ends.upper == pytest.approx(alone, abs=1e-3)


def test_strong_contraction_stops_early_and_says_so() -> None:
    run = scheduled(10**7, step_schedule=InverseTime(scale=1e6), noise_schedule=Constant(value=500.0))
    ends = log_scheduled_sum(0.0, run, 10**7, worst=False)
    assert ends.upper - ends.lower < 1e-9

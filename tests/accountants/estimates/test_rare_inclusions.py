"""Runs whose batches rarely include a record: the first estimate of their noise, and ε next to a target."""

from __future__ import annotations

import math

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.estimates.noise import likely_noise
from epsilond.accountants.estimates.runs import nearer_noise
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.calibrators.gaussian.calibrator import CALIBRATOR
from epsilond.calibrators.gaussian.problem import GaussianProblem

RARE = [
    (3.88e-6, 772, 12.8, 3.9e-92, "add-or-remove-one"),
    (1.16e-5, 128, 12.4, 7.4e-145, "zero-out-one"),
    (3.11e-7, 60_032, 59.2, 1e-40, "replace-one"),
]


def problem_of(rate: float, rounds: int, epsilon: float, delta: float, relation: Relation) -> GaussianProblem:
    return GaussianProblem(
        solve_for="noise_multiplier",
        sampling="poisson",
        rate=rate,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        unit="record",
        observer="released-models",
    )


@pytest.mark.parametrize(("rate", "rounds", "epsilon", "delta", "relation"), RARE)
def test_the_noise_of_rare_inclusions_is_estimated_closely(
    rate: float, rounds: int, epsilon: float, delta: float, relation: Relation
) -> None:
    """The kernel has no estimate, and that of the central limit is less than half."""
    target = Target(epsilon, math.log(delta))
    central = likely_noise(target, rate=rate, rounds=rounds, distance=1.0)
    found = nearer_noise(target, central, sampling="poisson", relation=relation, rate=rate, rounds=rounds)
    certified = CALIBRATOR.find(problem_of(rate, rounds, epsilon, delta, relation)).numbers.noise_multiplier
    assert 0.98 * certified <= found <= 1.02 * certified


def test_epsilon_is_enclosed_next_to_a_target_that_is_just_met() -> None:
    """Where the kernel and the contour refuse, the lattice alone knows ε within 15 %, but δ within 0.3 %."""
    rate, rounds, epsilon, delta, relation = RARE[0]
    solution = CALIBRATOR.find(problem_of(rate, rounds, epsilon, delta, relation))
    noise = Gaussian(noise_multiplier=solution.numbers.noise_multiplier)
    run = Repeated(times=rounds, mechanism=Subsampled(sampling="poisson", rate=rate, mechanism=noise))
    curve = account(run, relation=relation, unit="record", observer="released-models").guarantee.curve
    lower, upper = curve.epsilon_of_target(solution.target)
    assert 0.9999 * epsilon <= lower <= upper <= epsilon
    assert curve.bound_log_delta(lower).lower > solution.target.log_delta >= curve.bound_log_delta(upper).upper

"""Local SGD: one local step is mini-batch SGD, many are those of an oracle, and its noise is of the stated size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.simulators.algorithms.local_sgd import ALGORITHM, LocalSgdRun, simulate
from epsilond.simulators.problems.kinds import LeastSquaresProblem, LinearProblem
from epsilond.witness.joins.local_sgd import calibrate

PROBLEM = LeastSquaresProblem(
    clients=4, samples_per_client=6, dimension=3, own_share=1.0, objective="empirical", diameter=1.0
).build()


def generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(count)]


def test_full_batches_without_noise_are_local_gradient_descent() -> None:
    run = LocalSgdRun(rounds=5, local_steps=3, batch_size=6, step_size=0.8, noise_std=0.0)
    found = simulate(PROBLEM, run, generators(2), (2, 5))
    server, outputs = np.zeros(3), []
    for _ in range(5):
        arrived = []
        for features, targets in zip(PROBLEM.population.features, PROBLEM.population.targets, strict=True):
            w = server
            for _ in range(3):
                w = w - 0.8 * sum((x @ w - y) * x for x, y in zip(features, targets, strict=True)) / 6
                w = w * min(1.0, 0.5 / np.linalg.norm(w))
            arrived.append(w)
        server = sum(arrived) / 4
        outputs.append(server)
    expected = [float(PROBLEM.excess(np.mean(outputs[:count], axis=0))) for count in (2, 5)]
    assert found.excess == pytest.approx(np.array([expected, expected]), abs=1e-12)


def test_noise_has_the_stated_size_in_every_local_step() -> None:
    """A linear loss far from the sphere: one round's model has variance η²σ²E/M in each coordinate."""
    problem = LinearProblem(clients=2, samples_per_client=4, dimension=400, diameter=1000.0).build()
    runs = [LocalSgdRun(rounds=1, local_steps=5, batch_size=4, step_size=0.1, noise_std=std) for std in (0.0, 2.0)]
    # Excess is linear in the model: along the slope its variance is ‖slope‖² times that of a coordinate.
    quiet, loud = (simulate(problem, run, generators(400), (1,)).excess[:, 0] for run in runs)
    slope = np.linalg.norm(np.mean(problem.population.features, axis=(0, 1)))
    assert np.std(loud - quiet) == pytest.approx(0.1 * 2.0 * np.sqrt(5 / 2) * slope, rel=0.15)


def test_the_same_clients_take_every_local_step_of_a_round() -> None:
    """One client of four, and as many steps as its gradient descent needs: the model is one of their own minimisers."""
    run = LocalSgdRun(rounds=1, local_steps=400, batch_size=6, participants=1, step_size=0.9, noise_std=0.0)
    found = simulate(PROBLEM, run, generators(30), (1,)).excess[:, 0]
    assert len({round(float(one), 9) for one in found}) == 4


def test_calibrated_noise_is_that_of_all_local_steps() -> None:
    run, answer = calibrate(PROBLEM, LocalSgdRun(rounds=3, local_steps=2, batch_size=2), Target.of(4.0, 1e-3, None))
    multiplier = run.noise_std * 2 / PROBLEM.constants.lipschitz
    mechanism = Subsampled(
        sampling="without-replacement", batch_size=2, population=6, mechanism=Gaussian(noise_multiplier=multiplier)
    )
    found = account(Repeated(times=6, mechanism=mechanism), relation="replace-one", unit="record", observer="server")
    assert found.guarantee.curve.bound_epsilon(math.log(1e-3)).upper == pytest.approx(4.0, rel=1e-2)
    assert answer.guarantee.epsilon.upper <= 4.0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput):
        ALGORITHM.rounds(PROBLEM, LocalSgdRun(rounds=1, local_steps=1, batch_size=7))
    with pytest.raises(InvalidInput):
        ALGORITHM.rounds(PROBLEM, LocalSgdRun(rounds=1, local_steps=1, batch_size=1, participants=5))
    with pytest.raises(InvalidInput):
        simulate(PROBLEM, LocalSgdRun(rounds=1, local_steps=1, batch_size=1), generators(1), (1,))

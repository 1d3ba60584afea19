"""Messages rounded to levels of their norm: the law of the rounding, runs of it, and bounds that are kept."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from epsilond.accountants.theorems.risk.lowy_razaviyayn.compressed_messages import REMARK_2_1
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun, simulate
from epsilond.simulators.federations.compression import Compression
from epsilond.simulators.federations.groups import RunGroup
from epsilond.simulators.federations.weighted_data import build_for
from epsilond.simulators.problems.kinds import LeastSquaresProblem
from epsilond.simulators.seeds import generators
from epsilond.witness.joins import mb_sgd as join

SPEC = LeastSquaresProblem(clients=6, samples_per_client=30, dimension=5, own_share=0.5)
RUN = MbSgdRun(rounds=10, batch_size=5, participants=3, step_size=0.3, noise_std=0.2)


@pytest.mark.parametrize("levels", [1, 3, 16])
def test_rounding_is_right_in_the_mean_and_as_exact_as_the_theorem_says(levels: int) -> None:
    message = np.array([0.3, -1.2, 0.0, 2.0, -0.01])
    (drawn,) = Compression(levels, generators(0, [0])).round_messages(np.broadcast_to(message, (1, 20_000, 5)))
    norm = np.linalg.norm(message)
    whole = drawn / norm * levels
    assert np.abs(whole - np.rint(whole)).max() < 1e-9
    exact = np.abs(message) / norm * levels
    assert np.all((np.floor(exact) - 1e-9 <= np.abs(whole)) & (np.abs(whole) <= np.ceil(exact) + 1e-9))
    variance = (norm / levels) ** 2 * (exact % 1) * (1 - exact % 1)
    assert drawn.mean(axis=0) == pytest.approx(message, abs=5 * norm / levels / 2 / 20_000**0.5)
    assert drawn.var(axis=0) == pytest.approx(variance, abs=0.05 * (norm / levels) ** 2)
    omega = REMARK_2_1.evaluate(
        REMARK_2_1.request(
            participants=1.0,
            dimension=5,
            lipschitz=1.0,
            noise_std=1.0,
            gradient_variance=0.0,
            quantization_levels=levels,
        )
    ).outputs["compression_variance"]
    assert np.sum(variance) <= omega * norm**2


def test_nothing_is_made_of_nothing() -> None:
    (drawn,) = Compression(4, generators(0, [0])).round_messages(np.zeros((1, 2, 3)))
    assert np.array_equal(drawn, np.zeros((2, 3)))


def test_a_compressed_run_draws_what_the_plain_one_does_and_nears_it() -> None:
    problem = SPEC.build()
    plain = simulate(problem, RUN, generators(1, range(3)), (10,))
    for levels, near in ((2**31, 1e-6), (64, 0.1)):
        found = simulate(problem, dataclasses.replace(RUN, quantization_levels=levels), generators(1, range(3)), (10,))
        assert found.models == pytest.approx(plain.models, abs=near)
        assert not np.array_equal(found.models, plain.models)


@pytest.mark.parametrize("groups", [None, (RunGroup(clients=4, samples_per_client=30, weight=3.0),)])
@pytest.mark.parametrize("levels", [1, 4])
def test_the_bound_pays_for_the_rounding(groups: tuple[RunGroup, ...] | None, levels: int) -> None:
    if groups is not None:
        groups = (*groups, RunGroup(clients=2, samples_per_client=15, noise_std=0.5))
    run = dataclasses.replace(RUN, client_groups=groups)
    problem = build_for(SPEC, run)
    compressed = dataclasses.replace(run, quantization_levels=levels)
    (plain, *_), (bound,) = join.bounds(problem, run), join.bounds(problem, compressed)
    # The factor of V² in the bound is η/(2(1 − ηβ)).
    omega = min(5 / (4 * levels**2), 5**0.5 / levels)
    scales, noises = ([1.0], [0.2]) if groups is None else ([9 / 7] * 4 + [3 / 7] * 2, [0.2] * 4 + [0.5] * 2)
    squared = np.mean(np.square(scales)) * problem.constants.lipschitz**2 + 5 * np.mean(np.square(noises))
    smoothness = problem.constants.smoothness
    assert bound.value - plain.value == pytest.approx(
        0.3 / (2 * (1 - 0.3 * smoothness)) * omega * squared / 3, rel=1e-6
    )
    measured = simulate(problem, compressed, generators(2, range(60)), (10,)).excess[:, -1]
    assert measured.mean() <= bound.value
    assert all(condition.holds == "yes" for condition in bound.conditions)

"""Updates on a grid: scaling, both kinds of noise, and what of them is certified."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.mechanisms.binomial import PROVED_EPSILON, binomial_epsilon
from epsilond.accountants.theorems.papers.das.composed_rounds import best_composition
from epsilond.mechanisms.randomness import seeded_side_by_side
from epsilond.simulators.algorithms import grid_fedavg, norm_fedavg
from epsilond.simulators.algorithms.grid_fedavg import GridFedavgRun, draw_noise, scale_updates, simulate
from epsilond.simulators.problems.kinds import LeastSquaresProblem
from epsilond.witness.joins import grid_fedavg as join
from epsilond.witness.joins import norm_fedavg as norm_join

PROBLEM = LeastSquaresProblem(
    clients=6, samples_per_client=5, dimension=3, own_share=1.0, objective="empirical", diameter=20.0
).build()
SHAPE = {"participants": 6, "rounds": 4, "local_steps": 2, "local_step_size": 0.3, "quantization_levels": 64}


def run(**more: object) -> GridFedavgRun:
    return GridFedavgRun(**{**SHAPE, "server_step_size": 0.2, **more})


def generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(count)]


def test_normalised_updates_are_those_of_norm_fedavg_bit_by_bit() -> None:
    more = {"noise_levels": 9, "decay_rate": 0.4}
    mine = simulate(PROBLEM, run(**more), generators(3), (1, 4))
    other = norm_fedavg.NormFedavgRun(**SHAPE, server_step_size=0.2, **more)
    theirs = norm_fedavg.simulate(PROBLEM, other, generators(3), (1, 4))
    assert mine.excess == pytest.approx(theirs.excess, rel=1e-12)


def test_clipped_updates_are_fedavg_where_nothing_is_clipped() -> None:
    """A fine grid, no noise, and βC/C = 1: the mean of the updates themselves."""
    far = run(scaling="clipped", clipping_norm=50.0, server_step_size=1.0, quantization_levels=2**30, noise_levels=0)
    found = simulate(PROBLEM, far, generators(2), (4,))
    model = np.zeros(3)
    for _ in range(4):
        arrived = []
        for features, targets in zip(PROBLEM.population.features, PROBLEM.population.targets, strict=True):
            w = model
            for _ in range(2):
                w = w - 0.3 * np.mean((features @ w - targets)[:, None] * features, axis=0)
            arrived.append(w)
        model = np.mean(arrived, axis=0)
    assert found.excess == pytest.approx(float(PROBLEM.excess(model)), abs=1e-6)
    assert np.all(found.diagnostics["clipped_share"] == 0.0)


def test_scaled_updates_stay_in_the_unit_ball() -> None:
    updates = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [np.inf, 1.0]])
    assert scale_updates(run(noise_levels=0), updates[:2]) == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8]]))
    clipped = scale_updates(run(noise_levels=0, scaling="clipped", clipping_norm=1.0), updates)
    assert clipped == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0], [0.0, 0.0]]))


def test_binomial_noise_has_mean_zero_and_a_quarter_of_its_trials_as_variance() -> None:
    made = generators(2)
    drawn = draw_noise(run(trials=1000), (2, 50, 400), seeded_side_by_side(made), made)
    assert abs(np.mean(drawn)) < 5 * math.sqrt(250 / drawn.size)
    assert np.var(drawn) == pytest.approx(250.0, rel=0.05)


def test_noise_at_the_server_is_added_once_to_the_sum() -> None:
    """One round from 0: the model's variance in each coordinate is (β/(s r))² N/4, against r times that."""
    spread = {}
    for place in ("clients", "server"):
        noisy = run(rounds=1, trials=4000, noise_at=place, quantization_levels=1, server_step_size=0.01)
        loud = simulate(PROBLEM, noisy, generators(600), (1,)).excess[:, 0]
        quiet = simulate(PROBLEM, grid_fedavg.alternatives(noisy)["non-private"], generators(600), (1,)).excess[:, 0]
        spread[place] = float(np.mean(loud) - np.mean(quiet))
    # Excess is quadratic: what noise adds to its mean is proportional to the variance.
    assert spread["clients"] / spread["server"] == pytest.approx(6.0, rel=0.25)


def test_laplace_noise_is_that_of_the_calibrator_whatever_the_scaling() -> None:
    target = Target.of(8.0, 1e-3, None)
    own, answer = join.calibrate(PROBLEM, run(scaling="clipped", clipping_norm=0.5), target)
    theirs, _ = norm_join.calibrate(PROBLEM, norm_fedavg.NormFedavgRun(**SHAPE), target)
    assert (own.noise_levels, own.decay_rate) == (theirs.noise_levels, theirs.decay_rate)
    assert answer.guarantee.epsilon.upper <= 8.0
    trusted, seen = join.calibrate(PROBLEM, run(noise_at="server"), target)
    assert trusted.noise_levels == own.noise_levels
    assert seen.guarantee.observer == "released-models"


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_binomial_trials_are_the_least_that_are_certified(epsilon: float) -> None:
    trials = join.binomial_trials(3, 64, 4, epsilon, 1e-3)
    assert trials is not None
    assert trials % 2 == 0
    found = join.binomial_rounds_epsilon(3, 64, trials, 4, 1e-3)
    assert found <= epsilon
    if found > 0.9 * epsilon:  # else the theorem's own least variance or ε = 1 a round decides
        with_less = binomial_epsilon(join._inputs(3, 64, 4, 1e-3, PROVED_EPSILON), trials - 2)
        assert best_composition(epsilon=with_less, delta=5e-4, rounds=4) > epsilon
    ends = join.certified_epsilon(PROBLEM, run(trials=trials), math.log(1e-3))
    assert (ends.lower, ends.upper) == (0.0, pytest.approx(found))


def test_noise_beyond_its_theorem_has_no_certificate() -> None:
    with pytest.raises(NoCertificate):
        join.certified_epsilon(PROBLEM, run(trials=2), math.log(1e-3))
    with pytest.raises(NoCertificate):
        join.certified_epsilon(PROBLEM, run(noise_levels=5, decay_rate=0.1), math.log(1e-3))


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"scaling": "clipped"}, "/clipping_norm"),
        ({"clipping_norm": 1.0}, "/clipping_norm"),
        ({"noise_levels": 3}, "/decay_rate"),
        ({"trials": 4, "noise_levels": 0}, "/trials"),
        ({"trials": 5}, "/trials"),
    ],
)
def test_what_does_not_go_together_is_refused(more: dict[str, object], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        run(**more)
    assert pointer in {fault.pointer for fault in refused.value.faults}
    with pytest.raises(InvalidInput):
        simulate(PROBLEM, run(), generators(1), (1,))

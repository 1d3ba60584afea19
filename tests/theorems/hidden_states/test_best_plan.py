"""Best plans of shifted interpolation on hostile runs: against the min–max formula, and against runs that attain it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.schedules import Constant, Explicit, InverseTime
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.hidden_states.best_plan import least_mu
from epsilond.accountants.theorems.hidden_states.differing_steps import DifferingSteps
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import INTERPOLATION, periodic_mu

Numbers = list[float]


def weighted(contractions: Numbers, shifts: Numbers, noises: Numbers, start: float) -> tuple[list[mpf], list[mpf]]:
    """Return distance and room of every step in units of the last model."""
    influence, distances, rooms = mpf(1), [], []
    for c, s, noise in reversed(list(zip(contractions, shifts, noises, strict=True))):
        distances.insert(0, influence * mpf(s))
        rooms.insert(0, (influence * mpf(noise)) ** 2)
        influence *= mpf(c)
    distances[0] += influence * mpf(start)
    return distances, rooms


def exact_mu(contractions: Numbers, shifts: Numbers, noises: Numbers, start: float = 0.0) -> mpf:
    """Compute the best plan's μ by the min–max formula of isotonic regression, in multiple precision.

    The slope at step k is the largest over i ≤ k of the least over j ≥ k of the mean slope of steps i, …, j.
    """
    distances, rooms = weighted(contractions, shifts, noises, start)
    first = max((k for k, room in enumerate(rooms) if room == 0), default=-1) + 1
    distances, rooms = distances[first:], rooms[first:]
    steps, total = range(len(rooms)), mpf(0)
    mean = [[sum(distances[i : j + 1]) / sum(rooms[i : j + 1]) if i <= j else None for j in steps] for i in steps]
    for k in steps:
        slope = max(min(mean[i][j] for j in range(k, len(rooms))) for i in range(k + 1))
        total += slope**2 * rooms[k]
    return mp.sqrt(total)


def attained_mu(contractions: Numbers, shifts: Numbers, noises: Numbers) -> mpf:
    """Compute the largest μ of linear runs that have constant maps up to some step: a lower bound on every valid μ."""
    distance, room, influence, largest = mpf(0), mpf(0), mpf(1), mpf(0)
    for c, s, noise in reversed(list(zip(contractions, shifts, noises, strict=True))):
        distance, room = distance + influence * mpf(s), room + (influence * mpf(noise)) ** 2
        largest = max(largest, distance / mp.sqrt(room)) if room else largest
        influence *= mpf(c)
    return largest


def served_mu(contractions: Numbers, shifts: Numbers, noises: Numbers) -> float:
    """Return μ of the theorem's formula."""
    fields = {"contractions": tuple(contractions), "shifts": tuple(shifts), "noises": tuple(noises)}
    return float(INTERPOLATION.evaluate(INTERPOLATION.request(**fields)).outputs["gaussian_dp_mu"])


@pytest.mark.compares("epsilond.shifted-interpolation")
@pytest.mark.parametrize(
    ("contractions", "shifts", "noises", "truth"),
    [
        ([1.0, 1.0], [0.0, 1.0], [1.0, 1e-9], 1e9),
        ([1.1] * 200, [0.0] * 199 + [1.0], [1.0] * 200, 1.0),
        ([2.0] * 28, [0.0] * 27 + [1.0], [1.0] * 28, 1.0),
        ([2.0] * 10_000, [0.0] * 9_999 + [1.0], [1.0] * 10_000, 1.0),
        ([1.0, 1.0], [0.0, 1e-6], [1.0, 1e-6], 1.0),
        ([1.0] * 100_000, [0.0] * 99_999 + [1e-5], [1.0 / k for k in range(1, 100_001)], 1.0),
        ([1.0, 0.0], [1.0, 3.0], [1.0, 1.5], 2.0),
    ],
    ids=["tiny-noise", "growing", "doubled", "doubled-long", "millionth", "falling-noise", "constant-map"],
)
def test_a_last_shift_is_seen_in_the_last_noise(
    contractions: Numbers, shifts: Numbers, noises: Numbers, truth: float
) -> None:
    served = served_mu(contractions, shifts, noises)
    assert truth <= served <= truth * (1 + 1e-14)


def test_a_first_shift_does_not_hide_a_last_one() -> None:
    served = served_mu([1.0, 1.0], [0.001, 1.0], [1e3, 1e-6])
    with mp.workdps(60):
        assert attained_mu([1.0, 1.0], [0.001, 1.0], [1e3, 1e-6]) <= mpf(served)
        truth = exact_mu([1.0, 1.0], [0.001, 1.0], [1e3, 1e-6])
        assert truth <= mpf(served) <= truth * (1 + mpf(2) ** -51)


@pytest.mark.parametrize("seed", range(60))
def test_hostile_runs_are_rounded_up_by_one_double_at_most(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps, reach = int(random.integers(1, 11)), float(random.choice([1.0, 20.0, 150.0, 300.0]))

    def magnitudes() -> np.ndarray:
        return np.asarray(10.0 ** random.uniform(-reach, reach, steps))

    contractions = np.where(random.random(steps) < 0.5, magnitudes(), random.uniform(0.0, 1.2, steps))
    contractions = np.where(random.random(steps) < 0.05, 0.0, contractions).tolist()
    shifts = np.where(random.random(steps) < 0.5, 0.0, magnitudes()).tolist()
    noises = magnitudes().tolist()
    start = float(random.choice([0.0, 1.0, 10.0**reach]))
    served = least_mu(contractions, shifts, noises, initial_distance=start)
    with mp.workdps(60):
        truth = exact_mu(contractions, shifts, noises, start)
        assert truth <= mpf(served)
        largest, least = mpf(float(np.finfo(float).max)), mpf(5e-324)
        assert served == math.inf if truth > largest else mpf(served) <= truth * (1 + mpf(2) ** -51) + least
        assert (served == 0.0) == (truth == 0)


@pytest.mark.parametrize("seed", range(3))
def test_no_long_run_is_below_an_instance_that_attains_more(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps = 3_000
    contractions = random.uniform(0.5, 1.6, steps).tolist()
    shifts = np.where(random.random(steps) < 0.9, 0.0, 10.0 ** random.uniform(-9, 9, steps)).tolist()
    noises = (10.0 ** random.uniform(-9, 9, steps)).tolist()
    with mp.workdps(30):
        assert attained_mu(contractions, shifts, noises) <= mpf(least_mu(contractions, shifts, noises))


@pytest.mark.parametrize("seed", range(40))
def test_the_periodic_form_is_the_best_plan_at_every_magnitude(seed: int) -> None:
    random = np.random.default_rng(seed)
    uses, period = int(random.integers(1, 5)), int(random.integers(1, 5))
    after = int(random.integers(0, period))
    c = float(random.choice([1.0, 1.0 - 2.0**-53, 1.0 - 1e-9, 0.9, 1e-3, 1e-200]))
    shift = float(10.0 ** random.uniform(-140, 140))
    diameter = float(
        shift * 10.0 ** random.uniform(-3, 3) if random.random() < 0.7 else 10.0 ** random.uniform(-140, 140)
    )
    (served,) = periodic_mu(
        uses=uses, period=period, after=np.asarray([float(after)]), contraction=c, shift=shift, diameter=diameter
    )
    steps = period * (uses - 1) + after + 1
    shifts = np.zeros(steps)
    shifts[::period] = shift
    plans = [least_mu(np.full(steps, c), shifts, np.ones(steps))]
    for start in range(1, steps):
        rest = steps - start
        plans.append(least_mu(np.full(rest, c), shifts[start:], np.ones(rest), initial_distance=diameter))
    assert min(plans) <= served
    assert served <= max(min(plans) * (1 + 1e-8), 1e-149)


@pytest.mark.parametrize("size", [0.3, 0.31])
def test_places_of_a_long_run_are_rounded_up(size: float) -> None:
    # The running sum of 300,000 equal logarithms rounds in the same direction at most of its steps.
    steps = 300_000
    run = ProjectedSgd(
        clients=steps,
        participants=1,
        lipschitz=0.7,
        radius=1e9,
        smoothness=1.0,
        strong_convexity=1e-4,
        step_schedule=Explicit(values=(1.1 * size, *[size] * (steps - 1))),
        noise_schedule=Constant(value=1.1),
    )
    pass_once = ProjectedRun.of(run, "replace-one")
    places = DifferingSteps(pass_once)
    contraction = pass_once.lipschitz_constant(np.asarray([size]))
    assert contraction is not None
    with mp.workdps(30):
        c, noise = mpf(float(contraction[0])), mpf(size) * mpf(1.1)
        for v in range(0, steps - 1, 4_999):
            room = noise**2 * (1 - c ** (2 * v + 2)) / (1 - c**2)
            truth = 2 * mpf(0.7) * mpf(size) * c**v / mp.sqrt(room)
            assert truth <= mpf(float(places.mu[v])) <= truth * (1 + mpf(10) ** -8)


def test_noise_whose_square_leaves_the_doubles_is_not_perfect() -> None:
    run = ProjectedSgd(
        clients=4,
        participants=1,
        lipschitz=1e60,
        radius=1e60,
        smoothness=1e-60,
        step_schedule=InverseTime(scale=1e60),
        noise_schedule=Constant(value=1e100),
    )
    mu = DifferingSteps(ProjectedRun.of(run, "replace-one")).mu
    # The last step alone: 2L against σ.
    assert 2e-40 * (1 - 1e-15) <= mu[0] <= 2e-40 * (1 + 1e-9)
    assert np.all(mu > 0.0)
